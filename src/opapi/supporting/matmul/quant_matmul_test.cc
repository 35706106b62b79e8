// SPDX-License-Identifier: Apache-2.0
// QuantMatmul: sums that FLOAT does not hold, INT4 in its forms, offsets, and what is refused.
#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

/// The product of whole numbers, in whole numbers.
Doubles Product(const Doubles& a, const Doubles& b, int64_t m, int64_t k, int64_t n) {
  Doubles sums;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      int64_t sum = 0;
      for (int64_t t = 0; t < k; ++t) {
        sum += static_cast<int64_t>(a[static_cast<size_t>(i * k + t)]) *
               static_cast<int64_t>(b[static_cast<size_t>(t * n + j)]);
      }
      sums.push_back(static_cast<double>(sum));
    }
  }
  return sums;
}

TEST(QuantMatmul, SumsAreExact) {
  constexpr int64_t kM = 67, kK = 2085, kN = 37;  // parts of blocks of rows, terms and columns
  Random random(5);
  Doubles a = SmallValues(random, kM * kK, -128, 127), b = SmallValues(random, kK * kN, -128, 127);
  std::fill(a.begin(), a.begin() + kK, -128);  // a row and a column whose sum is the largest
  for (int64_t t = 0; t < kK; ++t) b[static_cast<size_t>(t * kN)] = -128;
  const Doubles want = Product(a, b, kM, kK, kN);
  EXPECT_EQ(want[0], 128.0 * 128 * kK);
  UnderEachSetting([&](const std::string& name, const Device& device) {
    SCOPED_TRACE(name);
    const DeviceTensor x1 = Make(ACL_INT8, {kM, kK}, a, random),
                       x2 = Make(ACL_INT8, {kK, kN}, b, random), scale = Make(ACL_FLOAT, {1}, {1}),
                       out(ACL_INT32, DenseLayout({kM, kN}));
    EXPECT_RUN(device, QuantMatmulV4, x1.handle(), x2.handle(), scale.handle(), nullptr, nullptr,
               nullptr, false, false, Handle(out));
    EXPECT_EQ(ValuesOf(out), want);
  });
}

/// Numbers as INT4, two neighbours of the last dimension a byte.
struct Halves {
  Halves(const Dims& dims, const Doubles& values)
      : bytes(values.size() / 2),
        handle({.dims = dims, .dtype = ACL_INT4, .data = bytes.address()}) {
    std::vector<std::byte> packed(values.size() / 2);
    for (size_t i = 0; i < values.size(); ++i) {
      const int value = static_cast<int>(values[i]) & 15;
      packed[i / 2] |= static_cast<std::byte>(value << (i % 2 * 4));
    }
    bytes.Write(packed);
  }
  DeviceBuffer bytes;
  TensorHandle handle;
};

TEST(QuantMatmul, Int4InEveryForm) {
  constexpr int64_t kM = 5, kK = 24, kN = 16;
  const Device device;
  Random random(6);
  const Doubles a = SmallValues(random, kM * kK, -8, 7), b = SmallValues(random, kK * kN, -8, 7);
  const Doubles want = Product(a, b, kM, kK, kN);
  const Halves x1({kM, kK}, a), x2({kK, kN}, b);
  const DeviceTensor scale = Make(ACL_FLOAT, {1}, {1}), out(ACL_INT32, DenseLayout({kM, kN}));
  EXPECT_RUN(device, QuantMatmulV4, x1.handle.get(), x2.handle.get(), scale.handle(), nullptr,
             nullptr, nullptr, false, false, Handle(out));
  EXPECT_EQ(ValuesOf(out), want);
  const TensorHandle words1({.dims = {kM, kK / 8}, .dtype = ACL_INT32, .data = x1.bytes.address()}),
      words2({.dims = {kK, kN / 8}, .dtype = ACL_INT32, .data = x2.bytes.address()});
  EXPECT_RUN(device, QuantMatmulV4, words1.get(), words2.get(), scale.handle(), nullptr, nullptr,
             nullptr, false, false, Handle(out));
  EXPECT_EQ(ValuesOf(out), want);
}

// torch-npu passes an offset twice: in the bits of the scale, and as a tensor.
TEST(QuantMatmul, OneOffsetOfTwo) {
  const Device device;
  const DeviceTensor x1 = Make(ACL_INT8, {1, 2}, {3, 4}), x2 = Make(ACL_INT8, {2, 2}, {1, 2, 3, 4}),
                     scale = Make(ACL_FLOAT, {2}, {0.5, 2}),
                     offset = Make(ACL_FLOAT, {2}, {-0.25, 7}), bits(ACL_INT64, DenseLayout({2})),
                     out(ACL_INT8, DenseLayout({1, 2}));
  EXPECT_RUN(device, TransQuantParamV2, scale.handle(), offset.handle(), bits.handle());
  EXPECT_RUN(device, QuantMatmulV5, x1.handle(), x2.handle(), nullptr, bits.handle(), nullptr,
             nullptr, offset.handle(), nullptr, nullptr, false, false, 0, Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{7, 51}));  // 15 / 2 - 0.25, 22 * 2 + 7
}

TEST(QuantMatmul, Refusals) {
  const Device device;
  const auto of = [](const Dims& dims, aclDataType dtype = ACL_INT8) {
    return DeviceTensor(dtype, DenseLayout(dims));
  };
  const DeviceTensor a = of({3, 8}), b = of({8, 4}), scale = of({4}, ACL_FLOAT),
                     bits = of({4}, ACL_UINT64), rows = of({3}, ACL_FLOAT),
                     out = of({3, 4}, ACL_BF16), whole = of({3, 4});
  const auto refused = [&](const char* says, const DeviceTensor& x1, const DeviceTensor& x2,
                           const DeviceTensor& by, const aclTensor* offset,
                           const aclTensor* of_rows, const aclTensor* bias,
                           const DeviceTensor& to) {
    EXPECT_REFUSED(161002, says, QuantMatmulV4, x1.handle(), x2.handle(), by.handle(), offset,
                   of_rows, bias, false, false, Handle(to));
  };
  refused("x2 shape is (3, 8), expected one that x1, (3, 8), can be multiplied with", a, a, scale,
          nullptr, nullptr, nullptr, out);
  refused("x2 dtype is INT32", a, of({8, 4}, ACL_INT32), scale, nullptr, nullptr, nullptr, out);
  refused("out shape is (3, 4), expected (2, 3, 4)", of({2, 3, 8}), b, scale, nullptr, nullptr,
          nullptr, out);
  refused("x2 shape is (3, 8, 4), expected batches as those of x1, (2, 3, 8)", of({2, 3, 8}),
          of({3, 8, 4}), scale, nullptr, nullptr, nullptr, out);
  refused("scale shape is (3), expected 1 or 4 elements", a, b, rows, nullptr, nullptr, nullptr,
          out);
  refused("scale dtype is UINT64, expected FLOAT or BFLOAT16 beside pertokenScaleOptional", a, b,
          bits, nullptr, rows.handle(), nullptr, out);
  refused("out dtype is INT8, expected FLOAT16, BFLOAT16 or INT32 beside", a, b, scale, nullptr,
          rows.handle(), nullptr, whole);
  refused("offset value is a tensor, expected null unless out is INT8", a, b, scale, scale.handle(),
          nullptr, nullptr, out);
  refused("bias dtype is FLOAT, expected INT32 for out of INT8", a, b, scale, nullptr, nullptr,
          scale.handle(), whole);
  refused("bias shape is (3), expected (4)", a, b, scale, nullptr, nullptr, rows.handle(), out);
  refused("x1 shape is (1, 65536), expected at most 65535 terms", of({1, 65536}), of({65536, 4}),
          scale, nullptr, nullptr, nullptr, of({1, 4}, ACL_BF16));
  EXPECT_REFUSED(161002, "groupSize value is 32, expected 0", QuantMatmulV5, a.handle(), b.handle(),
                 nullptr, scale.handle(), nullptr, nullptr, nullptr, nullptr, nullptr, false, false,
                 32, Handle(out));
  EXPECT_REFUSED(161002, "transposeX1 value is true, expected false for x1 of INT32", QuantMatmulV4,
                 of({1, 8}, ACL_INT32).handle(), of({8, 1}, ACL_INT32).handle(), scale.handle(),
                 nullptr, nullptr, nullptr, true, false, Handle(out));
}

}  // namespace
}  // namespace openaclnn::test
