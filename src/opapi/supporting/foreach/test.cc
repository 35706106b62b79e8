// SPDX-License-Identifier: Apache-2.0
// Operators of lists leave the bits that their siblings of one tensor write.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

/// Three lists of tensors of several shapes, and one to write to.
class SupportingLists : public ::testing::Test {
 protected:
  SupportingLists() {
    for (auto* tensors : {&x_, &y_, &z_}) {
      for (const Dims& dims : {Dims{2, 3}, Dims{70}, Dims{}}) {
        const int64_t count = dims.empty() ? 1 : dims[0] * (dims.size() > 1 ? dims[1] : 1);
        tensors->push_back(Make(ACL_FLOAT, dims, RealValues(random, count, 0.5, 2), random));
      }
    }
    for (const DeviceTensor& x : x_) out_.emplace_back(ACL_FLOAT, x.layout());
  }

  static std::vector<const DeviceTensor*> Of(const std::vector<DeviceTensor>& tensors) {
    return {&tensors[0], &tensors[1], &tensors[2]};
  }

  /// `want` is of an element of x, y and z and the place in the list.
  template <class Want>
  void ExpectOut(const char* name, const Want& want) {
    for (size_t i = 0; i < 3; ++i) {
      const Doubles x = ValuesOf(x_[i]), y = ValuesOf(y_[i]), z = ValuesOf(z_[i]);
      Doubles wanted;
      for (size_t j = 0; j < x.size(); ++j) wanted.push_back(want(x[j], y[j], z[j], i));
      SCOPED_TRACE(name);
      ExpectNear(ValuesOf(out_[i]), wanted, ACL_FLOAT);
      EXPECT_EQ(out_[i].Damage(), "");
    }
  }

  const Device device;
  Random random{63};
  std::vector<DeviceTensor> x_, y_, z_, out_;
};

#define EXPECT_LIST(name, want, ...)                            \
  EXPECT_RUN(device, name, x.get(), ##__VA_ARGS__, out.get());  \
  ExpectOut(#name, [](double x, double y, double z, size_t i) { \
    static_cast<void>(x + y + z + static_cast<double>(i));      \
    return want;                                                \
  })

TEST_F(SupportingLists, OneAndTwo) {
  const ListHandle x(Of(x_)), y(Of(y_)), out(Of(out_));
  const ScalarHandle third(1.0 / 3);
  EXPECT_LIST(ForeachAbs, x);
  EXPECT_LIST(ForeachCopy, x);
  EXPECT_LIST(ForeachReciprocal, 1 / x);
  EXPECT_LIST(ForeachSign, 1);
  EXPECT_LIST(ForeachSqrt, std::sqrt(x));
  EXPECT_LIST(ForeachNeg, -x);
  EXPECT_LIST(ForeachExp, std::exp(x));
  EXPECT_LIST(ForeachAddScalarV2, x + 1.0 / 3, third.get());
  EXPECT_LIST(ForeachDivScalarV2, x * 3, third.get());
  EXPECT_LIST(ForeachMulScalarV2, x / 3, third.get());
  EXPECT_LIST(ForeachSubScalarV2, x - 1.0 / 3, third.get());
  EXPECT_LIST(ForeachDivList, x / y, y.get());
  EXPECT_LIST(ForeachMulList, x * y, y.get());
  EXPECT_LIST(ForeachMaximumList, std::max(x, y), y.get());
  EXPECT_LIST(ForeachAddListV2, x + y / 3, y.get(), third.get());
  EXPECT_LIST(ForeachSubListV2, x - y / 3, y.get(), third.get());
  EXPECT_LIST(ForeachLerpScalar, x + (y - x) / 3, y.get(), third.get());
  EXPECT_LIST(ForeachMinimumList, std::min(x, y), y.get());
  EXPECT_LIST(ForeachPowList, std::pow(x, y), y.get());
  EXPECT_LIST(ForeachPowScalarV2, std::cbrt(x), third.get());
  EXPECT_LIST(ForeachMaximumScalarV2, std::max(x, 1.0 / 3), third.get());
  EXPECT_LIST(ForeachMinimumScalarV2, std::min(x, 1.0 / 3), third.get());
  EXPECT_RUN(device, ForeachPowScalarAndTensor, third.get(), x.get(), out.get());
  ExpectOut("ForeachPowScalarAndTensor",
            [](double x, double, double, size_t) { return std::pow(1.0 / 3, x); });
}

TEST_F(SupportingLists, ThreeAndScalarsOfTheirOwn) {
  const ListHandle x(Of(x_)), y(Of(y_)), z(Of(z_)), out(Of(out_));
  const ScalarHandle third(1.0 / 3), one(1.0), two(2.0), four(4.0);
  const aclScalar* each[] = {one.get(), two.get(), four.get()};
  aclScalarList* scalars = aclCreateScalarList(each, 3);
  EXPECT_LIST(ForeachAddcdivScalarV2, x + y / z / 3, y.get(), z.get(), third.get());
  EXPECT_LIST(ForeachAddcmulScalarV2, x + y * z / 3, y.get(), z.get(), third.get());
  EXPECT_LIST(ForeachAddScalarList, x + (1 << i), scalars);
  EXPECT_LIST(ForeachDivScalarList, x / (1 << i), scalars);
  EXPECT_LIST(ForeachMulScalarList, x * (1 << i), scalars);
  EXPECT_LIST(ForeachSubScalarList, x - (1 << i), scalars);
  EXPECT_LIST(ForeachPowScalarList, std::pow(x, 1 << i), scalars);
  EXPECT_LIST(ForeachMaximumScalarList, std::max<double>(x, 1 << i), scalars);
  EXPECT_LIST(ForeachMinimumScalarList, std::min<double>(x, 1 << i), scalars);
  aclDestroyScalarList(scalars);
}

// Scalars are the elements of a tensor of any rank, which strides may keep apart.
TEST_F(SupportingLists, ScalarsInATensor) {
  const ListHandle x(Of(x_)), y(Of(y_)), z(Of(z_)), out(Of(out_));
  for (const aclDataType type : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
    for (const Dims& dims : {Dims{3}, Dims{3, 1}, Dims{1, 3}, Dims{1, 1, 1, 1, 1, 3, 1, 1}}) {
      const DeviceTensor scalars = Make(type, dims, {1, 2, 4}, random);
      EXPECT_LIST(ForeachAddcdivScalarList, x + y / z * (1 << i), y.get(), z.get(),
                  Handle(scalars));
      EXPECT_LIST(ForeachAddcmulScalarList, x + y * z * (1 << i), y.get(), z.get(),
                  Handle(scalars));
    }
  }
  const DeviceTensor two = Make(ACL_FLOAT, {2}, {1, 2}),
                     square = Make(ACL_FLOAT, {2, 2}, {1, 2, 4, 8});
  for (const DeviceTensor* wrong : {&two, &square}) {
    EXPECT_REFUSED(161002, "expected 3 elements, a number for each tensor of x1",
                   ForeachAddcmulScalarList, x.get(), y.get(), z.get(), Handle(*wrong), out.get());
  }
  EXPECT_REFUSED(161001, "scalars value is null", ForeachAddcmulScalarList, x.get(), y.get(),
                 z.get(), nullptr, out.get());
}

TEST_F(SupportingLists, OneElementIsTheScalarOfAll) {
  const ListHandle x(Of(x_)), y(Of(y_)), z(Of(z_)), out(Of(out_));
  for (const aclDataType type : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
    for (const Dims& dims : {Dims{}, Dims{1}, Dims{1, 1}}) {
      const DeviceTensor scalar = Make(type, dims, {2});
      EXPECT_LIST(ForeachAddScalar, x + 2, Handle(scalar));
      EXPECT_LIST(ForeachSubList, x - 2 * y, y.get(), Handle(scalar));
      EXPECT_LIST(ForeachAddcdivScalar, x + 2 * y / z, y.get(), z.get(), Handle(scalar));
    }
  }
  const DeviceTensor three = Make(ACL_FLOAT, {3}, {1, 2, 4});
  EXPECT_REFUSED(161002, "scalar shape is (3), expected one element", ForeachAddScalar, x.get(),
                 Handle(three), out.get());
}

// Later members would read what the first one wrote.
TEST_F(SupportingLists, ScalarsAreNoOutput) {
  const DeviceTensor one = Make(ACL_FLOAT, {2}, {1, 1}), scalars = Make(ACL_FLOAT, {2}, {1, 2});
  const ListHandle x({&one, &one}), out({&scalars, &one});
  const Outcome outcome =
      Call(device, aclnnForeachAddcmulScalarList, [&](auto* size, auto* executor) {
        return aclnnForeachAddcmulScalarListGetWorkspaceSize(
            x.get(), x.get(), x.get(), Handle(scalars), out.get(), size, executor);
      });
  EXPECT_EQ(outcome.code, 161002) << outcome.message;
}

// So many numbers of 16 bits may be looked up in a table in the workspace, which members share.
TEST_F(SupportingLists, ManyShorts) {
  constexpr int64_t kMany = 262144;
  const DeviceTensor x[] = {Make(ACL_BF16, {kMany}, Doubles(kMany, 4)),
                            Make(ACL_BF16, {kMany + 1}, Doubles(kMany + 1, 9))};
  const DeviceTensor out[] = {Make(ACL_BF16, {kMany}, Doubles(kMany, 0)),
                              Make(ACL_BF16, {kMany + 1}, Doubles(kMany + 1, 0))};
  const ListHandle from({&x[0], &x[1]}), to({&out[0], &out[1]});
  EXPECT_RUN(device, ForeachSqrt, from.get(), to.get());
  EXPECT_EQ(ValuesOf(out[0]), Doubles(kMany, 2));
  EXPECT_EQ(ValuesOf(out[1]), Doubles(kMany + 1, 3));
}

TEST_F(SupportingLists, NormsOfEach) {
  const DeviceTensor norms[] = {Make(ACL_FLOAT, {}, {0}), Make(ACL_FLOAT, {}, {0}),
                                Make(ACL_FLOAT, {}, {0})};
  const ListHandle x(Of(x_)), out({&norms[0], &norms[1], &norms[2]}), short_out({&norms[0]});
  for (const double p : {1.0, 2.0}) {
    const ScalarHandle power(p);
    EXPECT_RUN(device, ForeachNorm, x.get(), power.get(), out.get());
    for (size_t i = 0; i < 3; ++i) {
      double sum = 0;
      for (const double value : ValuesOf(x_[i])) sum += std::pow(value, p);
      ExpectNear(ValuesOf(norms[i]), {std::pow(sum, 1 / p)}, ACL_FLOAT);
    }
  }
  const ScalarHandle two(2.0);
  EXPECT_REFUSED(161002, "", ForeachNorm, x.get(), two.get(), short_out.get());
  EXPECT_REFUSED(161002, "", ForeachAbs, x.get(), short_out.get());
}

}  // namespace
}  // namespace openaclnn::test
