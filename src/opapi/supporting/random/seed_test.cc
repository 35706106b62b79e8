// SPDX-License-Identifier: Apache-2.0
// Seeds and offsets that tensors hold: the numbers of the forms that take them as numbers, read
// anew whenever a graph is executed. One seed drops the same elements whatever operator draws.
#include <functional>

#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

constexpr int64_t kCount = 1000, kSeed = -81985529216486896;

/// An operator that takes a seed and an offset as numbers, and one that takes tensors with an
/// offset that is added.
struct Pair {
  const char* name;
  std::function<aclnnStatus(int64_t offset, uint64_t*, aclOpExecutor**)> numbers;
  Phase2 run_numbers;
  std::function<aclnnStatus(uint64_t*, aclOpExecutor**)> tensors;
  Phase2 run_tensors;
  const DeviceTensor* out;
};

struct Draws {
  const DeviceTensor seed = Make64(kSeed);
  DeviceTensor offset = Make64(40);
  const DeviceTensor reals{ACL_FLOAT, DenseLayout({kCount})},
      halves{ACL_FLOAT16, DenseLayout({kCount})}, integers{ACL_INT32, DenseLayout({kCount})},
      mask{ACL_UINT8, DenseLayout({128})}, drawn{ACL_INT64, DenseLayout({kCount})},
      weights = Make(ACL_FLOAT, {4}, {1, 2, 3, 4});
  const IntListHandle shape{IntListSpec{{kCount}}};

  /// An exact integer.
  static DeviceTensor Make64(int64_t value) {
    DeviceTensor tensor(ACL_INT64, DenseLayout({1}));
    Set(&tensor, value);
    return tensor;
  }
  static void Set(DeviceTensor* tensor, int64_t value) {
    std::vector<std::byte> bytes(sizeof(value));
    std::memcpy(bytes.data(), &value, sizeof(value));
    tensor->Write(bytes);
  }

  std::vector<Pair> All() const {
    const aclTensor *const s = seed.handle(), *const o = offset.handle();
    return {
        {"InplaceNormal",
         [=, this](int64_t at, auto... to) {
           return aclnnInplaceNormalGetWorkspaceSize(Handle(reals), 1, 2, kSeed, at, to...);
         },
         aclnnInplaceNormal,
         [=, this](auto... to) {
           return aclnnInplaceNormalTensorGetWorkspaceSize(Handle(reals), 1, 2, s, o, 2, to...);
         },
         aclnnInplaceNormalTensor, &reals},
        {"InplaceUniform",
         [=, this](int64_t at, auto... to) {
           return aclnnInplaceUniformGetWorkspaceSize(Handle(halves), -1, 2, uint64_t(kSeed),
                                                      uint64_t(at), to...);
         },
         aclnnInplaceUniform,
         [=, this](auto... to) {
           return aclnnInplaceUniformTensorGetWorkspaceSize(Handle(halves), -1, 2, s, o, 2, to...);
         },
         aclnnInplaceUniformTensor, &halves},
        {"InplaceRandom",
         [=, this](int64_t at, auto... to) {
           return aclnnInplaceRandomGetWorkspaceSize(Handle(integers), -9, 999, kSeed, at, to...);
         },
         aclnnInplaceRandom,
         [=, this](auto... to) {
           return aclnnInplaceRandomTensorGetWorkspaceSize(Handle(integers), -9, 999, s, o, 2,
                                                           to...);
         },
         aclnnInplaceRandomTensor, &integers},
        {"DropoutGenMaskV2",
         [=, this](int64_t at, auto... to) {
           return aclnnDropoutGenMaskV2GetWorkspaceSize(shape.get(), 0.5, kSeed, at, ACL_FLOAT,
                                                        Handle(mask), to...);
         },
         aclnnDropoutGenMaskV2,
         [=, this](auto... to) {
           return aclnnDropoutGenMaskV2TensorGetWorkspaceSize(shape.get(), 0.5, s, o, 2, ACL_FLOAT,
                                                              Handle(mask), to...);
         },
         aclnnDropoutGenMaskV2Tensor, &mask},
        {"Multinomial",
         [=, this](int64_t at, auto... to) {
           return aclnnMultinomialGetWorkspaceSize(weights.handle(), kCount, true, kSeed, at,
                                                   Handle(drawn), to...);
         },
         aclnnMultinomial,
         [=, this](auto... to) {
           return aclnnMultinomialTensorGetWorkspaceSize(weights.handle(), kCount, true, s, o, 2,
                                                         Handle(drawn), to...);
         },
         aclnnMultinomialTensor, &drawn},
    };
  }

  /// The output of the form that takes numbers.
  static std::vector<std::byte> Numbers(const Device& device, const Pair& pair, int64_t offset) {
    const Outcome done =
        Call(device, pair.run_numbers, [&](auto... to) { return pair.numbers(offset, to...); });
    EXPECT_TRUE(done.ok()) << pair.name << ": " << done.message;
    return pair.out->Read();
  }
};

TEST(Seeds, InTensorsAreThoseInNumbers) {
  const Device device;
  const Draws draws;
  for (const Pair& pair : draws.All()) {
    const auto want = Draws::Numbers(device, pair, 42), other = Draws::Numbers(device, pair, 40);
    EXPECT_NE(want, other) << pair.name;
    const Outcome done = Call(device, pair.run_tensors, pair.tensors);
    EXPECT_TRUE(done.ok()) << pair.name << ": " << done.message;
    EXPECT_EQ(pair.out->Read(), want) << pair.name;
  }
}

TEST(Seeds, InTensorsAreReadWheneverAGraphIsExecuted) {
  const Device device;
  Draws draws;
  for (const Pair& pair : draws.All()) {
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    aclmdlRI graph = nullptr;
    ASSERT_EQ(aclmdlRICaptureBegin(device.stream(), ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), 0);
    ASSERT_EQ(pair.tensors(&size, &executor), 0) << pair.name;
    ASSERT_EQ(size, 0U);
    ASSERT_EQ(pair.run_tensors(nullptr, 0, executor, device.stream()), 0) << pair.name;
    ASSERT_EQ(aclmdlRICaptureEnd(device.stream(), &graph), 0) << pair.name;
    for (const int64_t offset : {40, 7, 1000}) {
      const auto want = Draws::Numbers(device, pair, offset + 2);
      Draws::Set(&draws.offset, offset);
      ASSERT_EQ(aclmdlRIExecuteAsync(graph, device.stream()), 0);
      ASSERT_TRUE(device.Synchronize().ok());
      EXPECT_EQ(pair.out->Read(), want) << pair.name << " at " << offset;
    }
    EXPECT_EQ(aclmdlRIDestroy(graph), 0);
  }
}

TEST(Seeds, InTensorsOfOtherTypesAndShapes) {
  const Device device;
  const Draws draws;
  const DeviceTensor two(ACL_INT64, DenseLayout({2})), narrow(ACL_INT32, DenseLayout({1})),
      scalar(ACL_INT64, DenseLayout({})), seed = Make(ACL_INT64, {1}, {5});
  const auto refused = [&](const DeviceTensor& of_seed, const DeviceTensor& of_offset,
                           const char* says) {
    EXPECT_REFUSED(161002, says, InplaceNormalTensor, Handle(draws.reals), 0, 1, of_seed.handle(),
                   of_offset.handle(), 0);
    EXPECT_REFUSED(161002, says, MultinomialTensor, draws.weights.handle(), kCount, true,
                   of_seed.handle(), of_offset.handle(), 0, Handle(draws.drawn));
  };
  refused(two, seed, "seedTensor shape is (2), expected (1)");
  refused(seed, scalar, "offsetTensor shape is (), expected (1)");
  refused(narrow, seed, "seedTensor dtype is INT32, expected INT64");
  EXPECT_REFUSED(161001, "offsetTensor", InplaceRandomTensor, Handle(draws.integers), 0, 9,
                 seed.handle(), nullptr, 0);
}

// The vendor's page has UINT64, torch-npu INT64.
TEST(Seeds, OfUniformHaveEitherTypeOf64Bits) {
  const Device device;
  const Draws draws;
  std::vector<std::byte> first;
  for (const aclDataType dtype : {ACL_INT64, ACL_UINT64}) {
    DeviceTensor seed(dtype, DenseLayout({1})), offset(dtype, DenseLayout({1}));
    seed.Write(draws.seed.Read());
    offset.Write(draws.offset.Read());
    EXPECT_RUN(device, InplaceUniformTensor, Handle(draws.reals), 0, 1, seed.handle(),
               offset.handle(), 2);
    if (first.empty()) first = draws.reals.Read();
    EXPECT_EQ(draws.reals.Read(), first);
  }
}

// Frameworks draw a mask for a result of its own, and by Bernoulli in place.
TEST(Seeds, DropTheSameWhateverDraws) {
  const Device device;
  const Draws draws;
  for (const double dropped : {0.0, 0.1, 0.3, 0.5, 0.9, 1.0}) {
    EXPECT_RUN(device, DropoutGenMaskV2, draws.shape.get(), dropped, kSeed, 6, ACL_FLOAT,
               Handle(draws.mask));
    const Doubles bytes = ValuesOf(draws.mask);
    Doubles bits;
    for (size_t i = 0; i < kCount; ++i) bits.push_back(int(bytes[i / 8]) >> (i % 8) & 1);
    const ScalarHandle kept(1 - dropped);
    EXPECT_RUN(device, InplaceBernoulli, draws.reals.handle(), kept.get(), kSeed, 6);
    EXPECT_EQ(ValuesOf(draws.reals), bits) << dropped;
    const DeviceTensor each = Of({kCount}, Doubles(kCount, 1 - dropped));
    EXPECT_RUN(device, InplaceBernoulliTensor, draws.halves.handle(), each.handle(), kSeed, 6);
    EXPECT_EQ(ValuesOf(draws.halves), bits) << dropped;
    const DeviceTensor ones = Floats({kCount}, Doubles(kCount, 1)), y = EmptyFloats({kCount}),
                       again(ACL_UINT8, DenseLayout({128}));
    EXPECT_RUN(device, DropoutV3, ones.handle(), nullptr, dropped, kSeed, 6, Handle(y),
               Handle(again));
    EXPECT_EQ(again.Read(), draws.mask.Read());
  }
}

}  // namespace
}  // namespace openaclnn::test
