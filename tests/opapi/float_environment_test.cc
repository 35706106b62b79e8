// SPDX-License-Identifier: Apache-2.0
// Phase 1 computes in the float environment of tasks, whatever its thread was set to.
#include <gtest/gtest.h>

#if defined(__SSE2__)
#include <xmmintrin.h>

#include <cfenv>
#include <new>

#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_addmm.h"
#include "aclnnop/aclnn_scaled_masked_softmax.h"
#include "aclnnop/aclnn_scaled_masked_softmax_backward.h"
#include "frame/operation.h"
#include "tests/support/call.h"
#include "tests/support/numbers.h"
#include "tests/support/tensor.h"

namespace openaclnn::test {
namespace {

// Flush to zero, denormals are zero, rounding up; and every exception a signal.
constexpr unsigned kFlushing = 0x1F80 | 0x8040 | _MM_ROUND_UP;
constexpr unsigned kTrapping = 0;
constexpr unsigned kFlags = 0x3F;

/// The thread's setting while it lives. It must be in force at the end as well, with the flags.
class Setting {
 public:
  explicit Setting(unsigned control) : control_(control), before_(_mm_getcsr()) {
    _mm_setcsr(control);
  }
  Setting(const Setting&) = delete;
  ~Setting() {
    const unsigned after = _mm_getcsr();
    _mm_setcsr(before_);
    EXPECT_EQ(after, control_);
  }

 private:
  unsigned control_, before_;
};

/// Phase 1 under a setting, the rest without.
template <class Plan>
Outcome RunUnder(unsigned control, const Device& device, Phase2 phase2, const Plan& plan) {
  const Planned planned = Planned::Plan([&](uint64_t* size, aclOpExecutor** executor) {
    const Setting setting(control);
    return plan(size, executor);
  });
  return planned.outcome().ok() ? Execute(device, planned, phase2) : planned.outcome();
}

DeviceTensor Of(const Dims& dims, const std::vector<double>& values,
                aclDataType dtype = ACL_FLOAT) {
  DeviceTensor tensor(dtype, DenseLayout(dims));
  tensor.Write(ToBytes(dtype, values));
  return tensor;
}

/// Runs the call as it is, under flush to zero and with signals: the bits of `out` are the same.
template <class Plan>
void ExpectSameBits(const Device& device, const DeviceTensor& out, Phase2 phase2,
                    const Plan& plan) {
  ASSERT_EQ(RunUnder(_mm_getcsr(), device, phase2, plan).message, "");
  const std::vector<std::byte> wanted = out.Read();
  for (const unsigned control : {kFlushing, kTrapping}) {
    SCOPED_TRACE(control);
    ASSERT_EQ(RunUnder(control, device, phase2, plan).message, "");
    EXPECT_TRUE(out.Read() == wanted) << testing::PrintToString(ToDoubles(ACL_FLOAT, out.Read()));
  }
}

// The smaller scale is a denormal float, the larger none.
constexpr double kScales[] = {1e-40, 1e300, 0.1};

TEST(FloatEnvironment, OfMaskedSoftmax) {
  const Device device;
  const DeviceTensor x = Of({1, 1, 1, 3}, {3e38, 1e38, -3e38});
  const DeviceTensor mask = Of({1, 1, 1, 3}, {0, 0, 0}, ACL_BOOL);
  const DeviceTensor y(ACL_FLOAT, DenseLayout({1, 1, 1, 3}));
  for (const double scale : kScales) {
    SCOPED_TRACE(scale);
    ExpectSameBits(device, y, aclnnScaledMaskedSoftmax, [&](auto... outputs) {
      return aclnnScaledMaskedSoftmaxGetWorkspaceSize(
          x.handle(), mask.handle(), scale, false, const_cast<aclTensor*>(y.handle()), outputs...);
    });
  }
}

TEST(FloatEnvironment, OfMaskedSoftmaxBackward) {
  const Device device;
  const DeviceTensor dy = Of({1, 1, 1, 3}, {1e30, 2e30, 3e30});
  const DeviceTensor y = Of({1, 1, 1, 3}, {0.5, 0.25, 0.25});
  const DeviceTensor mask = Of({1, 1, 1, 3}, {0, 0, 0}, ACL_BOOL);
  const DeviceTensor out(ACL_FLOAT, DenseLayout({1, 1, 1, 3}));
  for (const double scale : kScales) {
    SCOPED_TRACE(scale);
    ExpectSameBits(device, out, aclnnScaledMaskedSoftmaxBackward, [&](auto... outputs) {
      return aclnnScaledMaskedSoftmaxBackwardGetWorkspaceSize(
          dy.handle(), y.handle(), mask.handle(), scale, false,
          const_cast<aclTensor*>(out.handle()), outputs...);
    });
  }
}

/// A scalar of a type.
class Scalar {
 public:
  Scalar(double value, aclDataType dtype) {
    std::byte bytes[sizeof(double)];
    StoreElement(dtype, value, bytes);
    handle_ = aclCreateScalar(bytes, dtype);
  }
  Scalar(const Scalar&) = delete;
  ~Scalar() { aclDestroyScalar(handle_); }
  const aclScalar* get() const { return handle_; }

 private:
  aclScalar* handle_;
};

// Narrowed by the plan where it is DOUBLE, widened while arguments are read where it is FLOAT.
TEST(FloatEnvironment, OfScalars) {
  const Device device;
  const DeviceTensor self = Of({2}, {0, 1}), out(ACL_FLOAT, DenseLayout({2}));
  const Scalar other(3e38, ACL_FLOAT);
  for (const aclDataType dtype : {ACL_DOUBLE, ACL_FLOAT}) {
    for (const double scale : kScales) {
      SCOPED_TRACE(testing::Message() << dtype << " " << scale);
      const Scalar alpha(scale, dtype);
      ExpectSameBits(device, out, aclnnAdds, [&](auto... outputs) {
        return aclnnAddsGetWorkspaceSize(self.handle(), other.get(), alpha.get(),
                                         const_cast<aclTensor*>(out.handle()), outputs...);
      });
    }
  }
}

TEST(FloatEnvironment, OfMatrixProducts) {
  const Device device;
  const DeviceTensor self = Of({1, 1}, {3e38}), a = Of({1, 1}, {1e19}), b = Of({1, 1}, {1e19});
  const DeviceTensor out(ACL_FLOAT, DenseLayout({1, 1}));
  for (const double scale : kScales) {
    SCOPED_TRACE(scale);
    const Scalar beta(1 / scale, ACL_DOUBLE), alpha(scale, ACL_DOUBLE);
    for (const Scalar* first : {&alpha, &beta}) {
      ExpectSameBits(device, out, aclnnAddmm, [&](auto... outputs) {
        return aclnnAddmmGetWorkspaceSize(self.handle(), a.handle(), b.handle(), first->get(),
                                          alpha.get(), const_cast<aclTensor*>(out.handle()), 0,
                                          outputs...);
      });
    }
  }
}

// What the frame does for an operator, whatever the operator is.

struct NoParams {
  std::array<const Operand*, 0> operands() const { return {}; }
};
struct NoPlan {
  uint64_t workspace_size = 0;
};

unsigned g_in_check = 0, g_in_plan = 0;

Status Look(const NoParams&, const Product&) {
  g_in_check = _mm_getcsr() & ~kFlags;
  return {};
}
Status Refuse(const NoParams&, const Product&) { return Status(161002, "no"); }
NoPlan LookAgain(const NoParams&, const Product&) {
  g_in_plan = _mm_getcsr() & ~kFlags;
  volatile float huge = 3e38F;
  huge = huge * huge;  // leaves flags behind
  return {};
}
NoPlan Throw(const NoParams&, const Product&) { throw std::bad_alloc(); }
Status DoNothing(const NoPlan&, const Buffers&) { return {}; }

int PlanUnder(unsigned control, Status (*check)(const NoParams&, const Product&),
              NoPlan (*plan)(const NoParams&, const Product&)) {
  static constexpr Operator kNothing = {"aclnnNothing", {}};
  const Operation<NoParams, NoPlan> operation = {kNothing, check, plan, DoNothing};
  const Planned planned = Planned::Plan([&](uint64_t* size, aclOpExecutor** executor) {
    const Setting setting(control);  // of which it says whether it is the same afterwards
    return PlanOperation(operation, NoParams(), size, executor);
  });
  return planned.outcome().code;
}

TEST(FloatEnvironment, OfEveryOperatorIsThatOfTasks) {
  const Device device;
  for (const unsigned control : {0x1F80u, 0x1F80u | kFlags, kFlushing, kTrapping}) {
    SCOPED_TRACE(control);
    g_in_check = g_in_plan = 0;
    EXPECT_EQ(PlanUnder(control, Look, LookAgain), 0);
    EXPECT_EQ(g_in_check, 0x1F80u);
    EXPECT_EQ(g_in_plan, 0x1F80u);
    EXPECT_EQ(PlanUnder(control, Refuse, LookAgain), 161002);
    EXPECT_EQ(PlanUnder(control, Look, Throw), 200000);
  }
}

}  // namespace
}  // namespace openaclnn::test
#endif
