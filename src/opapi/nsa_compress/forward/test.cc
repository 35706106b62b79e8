// SPDX-License-Identifier: Apache-2.0
// What NsaCompress computes, and how it runs: the reference, bits, views, misuse of phase 2.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <limits>
#include <map>

#include "nsa_compress/forward/reference.h"
#include "nsa_compress/forward/test_case.h"
#include "tests/support/bits.h"
#include "tests/support/misuse.h"
#include "tests/support/numbers.h"
#include "tests/support/small_stack.h"

namespace openaclnn::test::nsa_compress::forward {
namespace {

namespace room = openaclnn::nsa_compress::forward;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr aclDataType kHalves[] = {ACL_FLOAT16, ACL_BF16};

const WindowCase kShape = {"", kEdge, {0, 70, 83, 171}, 171, 5, 48, 48, 32};

std::vector<double> ValuesOf(const DeviceTensor& tensor) {
  return ToDoubles(tensor.dtype(), tensor.Read());
}

TEST(Reference, IsTheFormula) {
  // Two heads; windows at 0, 1 and 4.
  const std::vector<int64_t> start = {0, 1, 4};
  const std::vector<double> x = {1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6}, w = {10, 100, 1, 7};
  std::vector<double> y(6, kNaN);
  room::Reference({2, 1, 2, 3}, start.data(), x.data(), w.data(), y.data());
  EXPECT_EQ(y, (std::vector<double>{12, -114, 23, -221, 56, -542}));
}

// Whole numbers: NsaCompress(x + x', w) = NsaCompress(x, w) + NsaCompress(x', w), and so in w.
TEST(Reference, IsLinearInBoth) {
  EXPECT_TRUE(rc::check([] {
    Random random(*rc::gen::arbitrary<uint32_t>());
    const WindowCase shape = RandomWindowCase(random, true);
    const std::vector<int64_t> start = WindowStarts(shape);
    const auto windows = static_cast<int64_t>(start.size());
    const room::ReferenceSizes sizes = {2, 3, shape.block, windows};
    // Two at random and their sum.
    const auto three = [&](int64_t count) {
      std::array<std::vector<double>, 3> values;
      for (int64_t k = 0; k < count; ++k) {
        values[0].push_back(static_cast<double>(Uniform(random, -1000, 1000)));
        values[1].push_back(static_cast<double>(Uniform(random, -1000, 1000)));
        values[2].push_back(values[0].back() + values[1].back());
      }
      return values;
    };
    const auto x = three(shape.tokens * 6), w = three(shape.block * 2);
    const auto compress = [&](const std::vector<double>& a, const std::vector<double>& b) {
      std::vector<double> y(static_cast<size_t>(windows * 6), kNaN);
      room::Reference(sizes, start.data(), a.data(), b.data(), y.data());
      return y;
    };
    const auto sum = [](std::vector<double> a, const std::vector<double>& b) {
      for (size_t i = 0; i < a.size(); ++i) a[i] += b[i];
      return a;
    };
    RC_ASSERT(compress(x[2], w[0]) == sum(compress(x[0], w[0]), compress(x[1], w[0])));
    RC_ASSERT(compress(x[0], w[2]) == sum(compress(x[0], w[0]), compress(x[0], w[1])));
  }));
}

TEST(NsaCompress, WorkedExample) {
  const Device device;
  for (const aclDataType dtype : kHalves) {
    Problem problem({"", kSmoke, {0, 128, 272}, 272, 64, 128, 32, 16}, dtype);
    Problem::Set(&problem.x, std::vector<double>(272 * 64 * 128, 1));
    Problem::Set(&problem.w, std::vector<double>(32 * 64, 1));
    ASSERT_EQ(problem.Run(device).message, "");
    EXPECT_EQ(ValuesOf(problem.y), std::vector<double>(15 * 64 * 128, 32));
  }
}

TEST(NsaCompress, NamedCases) {
  const Device device;
  uint64_t seed = 0;
  for (const WindowCase& shape : Cases()) {
    if (shape.group == kPerf) continue;
    for (const bool strided : {false, true}) {
      SCOPED_TRACE(shape.name + (strided ? " strided" : ""));
      const Problem problem(shape, kHalves[seed % 2], {seed, kWide, strided});
      seed += strided ? 2 : 1;
      ASSERT_EQ(problem.Run(device).message, "");
      EXPECT_TRUE(problem.IsRight());
    }
  }
}

// Whoever synchronises may run the task: on its own stack, however small.
TEST(NsaCompress, RunsOnASmallStack) {
  const Device device({{"OPENACLNN_NUM_THREADS", "1"}});
  for (const bool strided : {false, true}) {
    const WindowCase shape = {"", kEdge, {}, 200, 2, 256, 128, 16};
    const Problem problem(shape, ACL_BF16, {1, kNormal, strided});
    OnSmallStack([&] {
      ASSERT_EQ(aclrtSetDevice(0), 0);
      for (int i = 0; i < 50; ++i) ASSERT_EQ(problem.Run(device).message, "");
      EXPECT_EQ(aclrtResetDevice(0), 0);
    });
    EXPECT_TRUE(problem.IsRight());
  }
}

TEST(NsaCompress, RandomSegmentsAndViews) {
  const Device device;
  EXPECT_TRUE(rc::check([&] {
    const auto seed = *rc::gen::arbitrary<uint32_t>();
    Random random(seed);
    const WindowCase shape = RandomWindowCase(random, true);
    const Values values = *rc::gen::element(kNormal, kWide, kEqual, kOpposite);
    const Problem problem(shape, *rc::gen::elementOf(std::vector(kHalves, kHalves + 2)),
                          {seed, values, *rc::gen::arbitrary<bool>()});
    const Outcome outcome = problem.Run(device);
    if (!outcome.ok()) RC_FAIL(outcome.message);
    const testing::AssertionResult right = problem.IsRight();
    if (!right) RC_FAIL(std::string(right.message()));
  }));
}

TEST(NsaCompress, NonFiniteValuesFlow) {
  const Device device;
  const double specials[] = {kNaN, kInfinity, -kInfinity};
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    Problem problem(RandomWindowCase(random, true), kHalves[seed % 2],
                    {seed, kNormal, seed % 4 >= 2});
    for (DeviceTensor* input : {&problem.x, &problem.w}) {
      std::vector<double> values = ValuesOf(*input);
      for (int64_t n = Uniform(random, 0, 2); n > 0; --n) {
        const auto last = static_cast<int64_t>(values.size()) - 1;
        values[static_cast<size_t>(Uniform(random, 0, last))] = specials[Uniform(random, 0, 2)];
      }
      Problem::Set(input, values);
    }
    ASSERT_EQ(problem.Run(device).message, "");
    EXPECT_TRUE(problem.IsRight()) << "seed " << seed;
  }
}

// Sums are FP32; only the result is rounded, once.
TEST(NsaCompress, RoundsOnce) {
  const Device device;
  const auto sum = [&](aclDataType dtype, std::vector<double> weight) {
    weight.resize(16);
    Problem problem({"", kEdge, {}, 16, 1, 16, 16, 16}, dtype);
    Problem::Set(&problem.x, std::vector<double>(16 * 16, 1));
    Problem::Set(&problem.w, weight);
    EXPECT_EQ(problem.Run(device).message, "");
    return ValuesOf(problem.y)[0];
  };
  // 2048 + 1 + 1: rounding after each addition would stay at 2048.
  EXPECT_EQ(sum(ACL_FLOAT16, {2048, 1, 1}), 2050);
  // Ties to even.
  EXPECT_EQ(sum(ACL_FLOAT16, {2048, 1}), 2048);
  EXPECT_EQ(sum(ACL_FLOAT16, {2050, 1}), 2052);
  EXPECT_EQ(sum(ACL_BF16, {256, 1}), 256);
  EXPECT_EQ(sum(ACL_BF16, {258, 1}), 260);
  EXPECT_EQ(sum(ACL_FLOAT16, {65504, 65504, -65504}), 65504);
  EXPECT_EQ(sum(ACL_FLOAT16, {65504, 65504}), kInfinity);
}

// The baseline has no FMA: its bits are its own, and within the bound.
TEST(NsaCompressBits, AreThoseOfOneThreadAndEveryFusedInstructionSet) {
  std::map<std::string, std::vector<std::byte>> first;
  UnderEachSetting([&](const std::string& setting, const Device& device) {
    uint64_t number = 0;
    for (const WindowCase& shape : Cases()) {
      if (shape.group != kSmoke && shape.group != kEdge) continue;
      const Problem problem(shape, kHalves[number % 2], {++number, kWide, number % 3 == 0});
      ASSERT_EQ(problem.Run(device).message, "");
      if (setting == "OPENACLNN_SIMD=baseline") {
        EXPECT_TRUE(problem.IsRight()) << shape.name;
        continue;
      }
      const auto [entry, added] = first.emplace(shape.name, problem.y.Read());
      EXPECT_TRUE(added || entry->second == problem.y.Read()) << shape.name << " " << setting;
    }
  });
}

// A view gives the bits that its dense copy gives.
TEST(NsaCompressBits, AreThoseOfDenseViews) {
  const Device device;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const Problem strided(kShape, ACL_BF16, {seed, kNormal, true});
    Problem dense(kShape, ACL_BF16, {seed, kNormal, false});
    dense.x.Write(strided.x.Read());
    dense.w.Write(strided.w.Read());
    ASSERT_EQ(strided.Run(device).message, "");
    ASSERT_EQ(dense.Run(device).message, "");
    EXPECT_EQ(strided.y.Read(), dense.y.Read());
  }
}

// The stride of a dimension of 1 means nothing, however large.
TEST(NsaCompressViews, StridesOfOneElementMeanNothing) {
  const Device device;
  Problem problem({"", kEdge, {}, 40, 1, 16, 32, 16}, ACL_FLOAT16);
  for (const int64_t any : {INT64_MAX, INT64_MIN, int64_t{0}}) {
    const auto spec = [](const DeviceTensor& tensor, const Dims& strides) {
      return TensorSpec{.dims = tensor.layout().dims,
                        .dtype = tensor.dtype(),
                        .strides = strides,
                        .data = tensor.data()};
    };
    Spec call;
    call.input = spec(problem.x, {16, any, 1});
    call.weight = spec(problem.w, {1, any});
    call.block = 32;
    call.stride = 16;
    call.output = spec(problem.y, {any, any, 1});
    problem.y.Scramble();
    ASSERT_EQ(Execute(device, Plan(call), aclnnNsaCompress).message, "") << any;
    EXPECT_TRUE(problem.IsRight()) << any;
  }
}

TEST(NsaCompressExecutor, RunsAgainWithNewAddresses) {
  const Device device;
  Problem first(kShape, ACL_FLOAT16, {1, kNormal, false});
  Problem second(kShape, ACL_FLOAT16, {2, kNormal, false});
  const Planned planned = first.Plan();
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(planned.executor()), 0);
  for (int run = 0; run < 3; ++run) {
    ASSERT_EQ(Execute(device, planned, aclnnNsaCompress).message, "");
    EXPECT_TRUE(first.IsRight());
    first.y.Scramble();
  }
  auto* const any = const_cast<aclTensor*>(first.x.handle());
  const DeviceTensor* operands[] = {&second.x, &second.w, &second.y};
  for (size_t i = 0; i < std::size(operands); ++i) {
    ASSERT_EQ(aclSetTensorAddr(planned.executor(), i, any, operands[i]->data()), 0);
  }
  ASSERT_EQ(Execute(device, planned, aclnnNsaCompress).message, "");
  EXPECT_TRUE(second.IsRight());
  EXPECT_EQ(first.y.Change(), "");
}

// Two runs are in the queue when tensors and executor go; the list went after phase 1.
TEST(NsaCompressExecutor, ArgumentsMayGoBeforeTheWorkRuns) {
  const Device device;
  Problem problem(kShape, ACL_BF16, {3, kNormal, true});
  {
    const Planned planned = problem.Plan();
    const DeviceBuffer workspace(planned.workspace_size());
    ASSERT_EQ(aclSetAclOpExecutorRepeatable(planned.executor()), 0);
    Gate gate(device.stream());
    for (int run = 0; run < 2; ++run) {
      ASSERT_EQ(aclnnNsaCompress(workspace.address(), planned.workspace_size(), planned.executor(),
                                 device.stream()),
                0);
    }
    for (DeviceTensor* tensor : {&problem.x, &problem.w, &problem.y}) tensor->DestroyHandle();
    ASSERT_EQ(aclDestroyAclOpExecutor(planned.executor()), 0);
    EXPECT_EQ(problem.y.Change(), "") << "the work ran behind a closed gate";
  }
  ASSERT_EQ(device.Synchronize().message, "");
  EXPECT_TRUE(problem.IsRight());
}

TEST(NsaCompressMisuse, IsRefused) {
  const Device device;
  const Problem problem(kShape, ACL_FLOAT16);
  ExpectMisuseIsRefused(
      device, {kApi,
               aclnnNsaCompress,
               [&] { return problem.Plan(); },
               {{"input", 0, &problem.x}, {"weight", 1, &problem.w}, {"output", 2, &problem.y}}});
  EXPECT_TRUE(problem.IsRight());
}

}  // namespace
}  // namespace openaclnn::test::nsa_compress::forward
