// SPDX-License-Identifier: Apache-2.0
// WeightQuantBatchMatmulV2: the product of what the weights stand for, and what is refused.
#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

constexpr int64_t kM = 3, kK = 96, kN = 70;

struct Given {
  Given(Random& random, int64_t size)
      : group(size),
        groups(size == 0 ? 1 : kK / size),
        x(RealValues(random, kM * kK)),
        weights(SmallValues(random, kK * kN, -128, 127)),
        scales(RealValues(random, groups * kN, 0.01, 2)) {
    scales = ToDoubles(ACL_FLOAT16, ToBytes(ACL_FLOAT16, scales));
  }

  /// The values of the weights: products of 8 and 11 bits, which are floats.
  Doubles Floats() const {
    Doubles floats = weights;
    for (size_t i = 0; i < floats.size(); ++i) {
      const auto row = static_cast<int64_t>(i) / kN, column = static_cast<int64_t>(i) % kN;
      const int64_t at = group == 0 ? 0 : row / group;
      floats[i] *= scales[static_cast<size_t>(at * kN + column)];
    }
    return floats;
  }

  int64_t group, groups;
  Doubles x, weights, scales;
};

/// The rows of a matrix as columns of memory, as clients keep weights.
DeviceTensor Turned(aclDataType dtype, const Dims& dims, const Doubles& values) {
  DeviceTensor tensor(dtype, Layout{dims, {1, dims[0]}, 0, dims[0] * dims[1]});
  tensor.Write(ToBytes(dtype, values));
  return tensor;
}

TEST(WeightQuant, IsTheProductOfTheFloats) {
  for (const int64_t group : {0, 32}) {
    UnderEachSetting([&](const std::string& name, const Device& device) {
      SCOPED_TRACE(testing::Message() << name << ", groups of " << group);
      Random random(92);
      const Given given(random, group);
      const DeviceTensor x = Make(ACL_FLOAT16, {kM, kK}, given.x),
                         floats = Make(ACL_FLOAT, {kK, kN}, given.Floats()),
                         want(ACL_FLOAT16, DenseLayout({kM, kN}));
      EXPECT_RUN(device, Mm, x.handle(), floats.handle(), Handle(want), 0);
      for (const bool turned : {false, true}) {
        const auto make =
            turned ? Turned : [](aclDataType dtype, const Dims& dims, const Doubles& values) {
              return Make(dtype, dims, values);
            };
        const DeviceTensor weight = make(ACL_INT8, {kK, kN}, given.weights),
                           scale = make(ACL_FLOAT16, {given.groups, kN}, given.scales),
                           y(ACL_FLOAT16, DenseLayout({kM, kN}));
        EXPECT_RUN(device, WeightQuantBatchMatmulV2, x.handle(), weight.handle(), scale.handle(),
                   nullptr, nullptr, nullptr, nullptr, static_cast<int>(group), y.handle());
        EXPECT_EQ(ValuesOf(y), ValuesOf(want));
      }
    });
  }
}

/// Two neighbours a byte, along the rows or, turned, along the columns.
struct Halves {
  Halves(const Doubles& weights, bool turned)
      : bytes(weights.size() / 2),
        handle({.dims = {kK, kN},
                .dtype = ACL_INT4,
                .strides = turned ? Dims{1, kK} : Dims{kN, 1},
                .storage = Dims{kK * kN},
                .data = bytes.address()}) {
    std::vector<std::byte> packed(weights.size() / 2);
    for (int64_t k = 0; k < kK; ++k) {
      for (int64_t n = 0; n < kN; ++n) {
        const auto at = static_cast<size_t>(turned ? n * kK + k : k * kN + n);
        const auto value = static_cast<int>(weights[static_cast<size_t>(k * kN + n)]);
        packed[at / 2] |= static_cast<std::byte>((value & 15) << (at % 2 * 4));
      }
    }
    bytes.Write(packed);
  }

  DeviceBuffer bytes;
  TensorHandle handle;
};

TEST(WeightQuant, OfHalfBytesIsThatOfBytes) {
  for (const int64_t group : {0, 32}) {
    UnderEachSetting([&](const std::string& name, const Device& device) {
      SCOPED_TRACE(testing::Message() << name << ", groups of " << group);
      Random random(93);
      Given given(random, group);
      given.weights = SmallValues(random, kK * kN, -8, 7);
      const DeviceTensor x = Make(ACL_FLOAT16, {kM, kK}, given.x),
                         scale = Make(ACL_FLOAT16, {given.groups, kN}, given.scales),
                         weight = Make(ACL_INT8, {kK, kN}, given.weights),
                         want(ACL_FLOAT16, DenseLayout({kM, kN}));
      EXPECT_RUN(device, WeightQuantBatchMatmulV2, x.handle(), weight.handle(), scale.handle(),
                 scale.handle(), nullptr, nullptr, nullptr, static_cast<int>(group), want.handle());
      for (const bool turned : {false, true}) {
        const Halves halves(given.weights, turned);
        const DeviceTensor y(ACL_FLOAT16, DenseLayout({kM, kN}));
        EXPECT_RUN(device, WeightQuantBatchMatmulV2, x.handle(), halves.handle.get(),
                   scale.handle(), scale.handle(), nullptr, nullptr, nullptr,
                   static_cast<int>(group), y.handle());
        EXPECT_EQ(ValuesOf(y), ValuesOf(want)) << (turned ? "turned" : "rows");
        if (!turned) continue;  // kN is no multiple of 8
        const TensorHandle words({.dims = {kK / 8, kN},
                                  .dtype = ACL_INT32,
                                  .strides = Dims{1, kK / 8},
                                  .storage = Dims{kK / 8 * kN},
                                  .data = halves.bytes.address()});
        const DeviceTensor again(ACL_FLOAT16, DenseLayout({kM, kN}));
        EXPECT_RUN(device, WeightQuantBatchMatmulV3, x.handle(), words.get(), scale.handle(),
                   scale.handle(), nullptr, nullptr, nullptr, static_cast<int>(group), 1,
                   again.handle());
        EXPECT_EQ(ValuesOf(again), ValuesOf(want)) << "words";
      }
    });
  }
}

// Tests elements that are not whole bytes of two neighbours, and views that leave their memory by
// half a byte.
TEST(WeightQuant, HalfBytesThatAreNoPairs) {
  const Device device;
  const DeviceTensor x(ACL_FLOAT16, DenseLayout({kM, kK})), scale(ACL_FLOAT16, DenseLayout({kN})),
      y(ACL_FLOAT16, DenseLayout({kM, kN}));
  const DeviceBuffer bytes(kK * kN / 2);
  const auto refused = [&](const char* says, Dims strides, int64_t offset, int64_t storage) {
    const TensorHandle weight({.dims = {kK, kN},
                               .dtype = ACL_INT4,
                               .strides = std::move(strides),
                               .offset = offset,
                               .storage = Dims{storage},
                               .data = bytes.address()});
    EXPECT_REFUSED(161002, says, WeightQuantBatchMatmulV2, x.handle(), weight.get(), scale.handle(),
                   nullptr, nullptr, nullptr, nullptr, 0, y.handle());
  };
  refused("weight strides are (71, 1) for shape (96, 70) and offset 0, expected two neighbours",
          {kN + 1, 1}, 0, kK * (kN + 1));
  refused("weight strides are (140, 2)", {2 * kN, 2}, 0, 2 * kK * kN);
  refused("and offset 1, expected two neighbours", {kN, 1}, 1, kK * kN + 1);
  refused("weight view is (96, 70)", {kN + 2, 1}, 0, kK * kN);
}

TEST(WeightQuant, Refusals) {
  const Device device;
  const auto of = [](const Dims& dims, aclDataType dtype = ACL_FLOAT16) {
    return DeviceTensor(dtype, DenseLayout(dims));
  };
  const DeviceTensor x = of({kM, kK}), scale = of({3, kN}), one = of({1}), y = of({kM, kN}),
                     weight = of({kK, kN}, ACL_INT8), bias = of({kN});
  const auto refused = [&](const char* says, const DeviceTensor& left, const DeviceTensor& right,
                           const DeviceTensor& scales, const aclTensor* quant,
                           const aclTensor* added, int group) {
    EXPECT_REFUSED(161002, says, WeightQuantBatchMatmulV2, left.handle(), right.handle(),
                   scales.handle(), nullptr, quant, nullptr, added, group, y.handle());
  };
  refused("x dtype is FLOAT", of({kM, kK}, ACL_FLOAT), weight, scale, nullptr, nullptr, 32);
  refused("weight dtype is FLOAT16, expected INT8, INT32, INT4", x, of({kK, kN}), scale, nullptr,
          nullptr, 32);
  refused("weight shape is (70, 96), expected 96 rows", x, of({kN, kK}, ACL_INT8), scale, nullptr,
          nullptr, 32);
  refused("antiquantScale shape is (3, 70), expected (1, 70)", x, weight, scale, nullptr, nullptr,
          0);
  refused("antiquantScale shape is (1), expected (3, 70)", x, weight, one, nullptr, nullptr, 32);
  refused("antiquantGroupSize value is 96, expected 0 or a multiple of 32 below 96", x, weight,
          scale, nullptr, nullptr, 96);
  refused("antiquantGroupSize value is -32", x, weight, scale, nullptr, nullptr, -32);
  refused("quantScaleOptional value is a tensor, expected null", x, weight, scale, one.handle(),
          nullptr, 32);
  refused("biasOptional shape is (1), expected (70)", x, weight, scale, nullptr, one.handle(), 32);
}

}  // namespace
}  // namespace openaclnn::test
