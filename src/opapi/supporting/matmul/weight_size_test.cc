// SPDX-License-Identifier: Apache-2.0
// How many elements a weight takes, and that TransMatmulWeight leaves it alone.
#include "aclnnop/aclnn_calculate_matmul_weight_size.h"
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

/// Elements of a weight; a refusal as a negative code.
int64_t SizeOf(const Dims& dims, aclDataType dtype) {
  const aclIntArray* const shape = aclCreateIntArray(dims.data(), dims.size());
  uint64_t size = 7;
  const aclnnStatus code = aclnnCalculateMatmulWeightSizeV2(shape, dtype, &size);
  aclDestroyIntArray(shape);
  if (code == 0) return static_cast<int64_t>(size);
  EXPECT_EQ(size, 7U);
  return -code;
}

TEST(MatmulWeights, TheirSizes) {
  EXPECT_EQ(SizeOf({510, 510}, ACL_FLOAT16), 512 * 512);  // the page's example
  EXPECT_EQ(SizeOf({1, 17}, ACL_BF16), 16 * 32);
  EXPECT_EQ(SizeOf({16, 33}, ACL_INT8), 16 * 64);
  EXPECT_EQ(SizeOf({3, 16, 16}, ACL_FLOAT), 3 * 16 * 16);
  EXPECT_EQ(SizeOf({int64_t{1} << 30, int64_t{1} << 32}, ACL_FLOAT16), int64_t{1} << 62);
  uint64_t size = 0;
  const int64_t dims[] = {2, 2};
  const aclIntArray* const shape = aclCreateIntArray(dims, 2);
  EXPECT_EQ(aclnnCalculateMatmulWeightSize(shape, &size), 0);
  EXPECT_EQ(size, 256U);
  EXPECT_EQ(aclnnCalculateMatmulWeightSize(nullptr, &size), 161001);
  EXPECT_EQ(aclnnCalculateMatmulWeightSize(shape, nullptr), 161001);
  aclDestroyIntArray(shape);
  EXPECT_EQ(aclnnCalculateMatmulWeightSize(shape, &size), 161002);
}

TEST(MatmulWeights, SizesThatAreRefused) {
  EXPECT_EQ(SizeOf({16}, ACL_FLOAT16), -161002);
  EXPECT_EQ(SizeOf({1, 1, 1, 1, 1, 16, 16}, ACL_FLOAT16), -161002);
  EXPECT_EQ(SizeOf({16, 0}, ACL_FLOAT16), -161002);
  EXPECT_EQ(SizeOf({-16, -16}, ACL_FLOAT16), -161002);
  EXPECT_EQ(SizeOf({16, 16}, ACL_INT32), -161002);
  EXPECT_EQ(SizeOf({INT64_MAX, 1}, ACL_FLOAT16), -161002);
  EXPECT_EQ(SizeOf({int64_t{1} << 31, int64_t{1} << 32}, ACL_FLOAT16), -161002);
}

// The format shows that TransMatmulWeight made a weight, and products take only mat2 in it.
TEST(MatmulWeights, AreTakenInTheirFormat) {
  const Device device;
  const DeviceTensor x = Make(ACL_FLOAT16, {2, 3}, {1, 2, 3, 4, 5, 6}),
                     weight = Make(ACL_FLOAT16, {3, 2}, {1, 0, 0, 1, 1, 1}),
                     out = Make(ACL_FLOAT16, {2, 2}, {0, 0, 0, 0}),
                     batch = Make(ACL_FLOAT16, {1, 2, 3}, {1, 2, 3, 4, 5, 6}),
                     batch_out = Make(ACL_FLOAT16, {1, 2, 2}, {0, 0, 0, 0});
  EXPECT_RUN(device, TransMatmulWeight, Handle(weight));
  const auto laid_out = [](const DeviceTensor& tensor, Dims dims) {
    return TensorHandle({.dims = std::move(dims),
                         .dtype = ACL_FLOAT16,
                         .format = ACL_FORMAT_FRACTAL_NZ,
                         .data = tensor.data()});
  };
  const TensorHandle mat2 = laid_out(weight, {3, 2}), mats = laid_out(weight, {1, 3, 2}),
                     self = laid_out(x, {2, 3});
  const Doubles want = {4, 5, 10, 11};
  EXPECT_RUN(device, Mm, x.handle(), mat2.get(), Handle(out), 0);
  EXPECT_EQ(ValuesOf(out), want);
  EXPECT_RUN(device, Matmul, x.handle(), mat2.get(), Handle(out), 0);
  EXPECT_EQ(ValuesOf(out), want);
  EXPECT_RUN(device, BatchMatMul, batch.handle(), mats.get(), Handle(batch_out), 0);
  EXPECT_EQ(ValuesOf(batch_out), want);
  const TensorHandle blocks({.dims = {3, 2},
                             .dtype = ACL_FLOAT16,
                             .format = ACL_FORMAT_FRACTAL_NZ,
                             .storage = Dims{1, 1, 16, 16},
                             .data = weight.data()});
  EXPECT_REFUSED(161002, "mat2 format is number 29, expected one of", Mm, x.handle(), blocks.get(),
                 Handle(out), 0);
  EXPECT_REFUSED(161002, "self format is number 29, expected one of", Mm, self.get(), mat2.get(),
                 Handle(out), 0);
  EXPECT_REFUSED(161002, "other format is number 29, expected one of", Mul, x.handle(), self.get(),
                 Handle(x));
}

TEST(MatmulWeights, AreLeftAsTheyAre) {
  const Device device;
  Random random(83);
  const DeviceTensor weight = Make(ACL_FLOAT16, {2, 3}, {1, 2, 3, 4, 5, 6}, random);
  EXPECT_RUN(device, TransMatmulWeight, Handle(weight));
  EXPECT_EQ(ValuesOf(weight), (Doubles{1, 2, 3, 4, 5, 6}));
  const DeviceTensor vector = Make(ACL_FLOAT16, {3}, {1, 2, 3}),
                     none(ACL_INT8, DenseLayout({2, 0}));
  EXPECT_REFUSED(161002, "mmWeightRef rank is 1", TransMatmulWeight, Handle(vector));
  EXPECT_REFUSED(161002, "mmWeightRef shape is (2, 0), expected one with elements",
                 TransMatmulWeight, Handle(none));
}

}  // namespace
}  // namespace openaclnn::test
