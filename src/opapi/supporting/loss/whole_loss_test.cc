// SPDX-License-Identifier: Apache-2.0
// Losses of integers and of complex numbers: exact sums, means, squares, refusals.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

constexpr int64_t kNone = 0, kMean = 1, kSum = 2;

std::vector<std::byte> BytesOf(std::initializer_list<int64_t> numbers) {
  std::vector<std::byte> bytes(numbers.size() * sizeof(int64_t));
  std::memcpy(bytes.data(), numbers.begin(), bytes.size());
  return bytes;
}

// A double has no 2^60 + 1.
TEST(WholeLoss, DistancesOfIntegersAreExact) {
  const Device device;
  constexpr int64_t kFar = (int64_t{1} << 60) + 1;
  DeviceTensor self(ACL_INT64, DenseLayout({2}));
  self.Write(BytesOf({kFar, -3}));
  const DeviceTensor target = Make(ACL_INT64, {2}, {0, 4}), each(ACL_INT64, DenseLayout({2})),
                     one(ACL_INT64, DenseLayout({})), real(ACL_DOUBLE, DenseLayout({}));
  EXPECT_RUN(device, L1Loss, self.handle(), target.handle(), kNone, Handle(each));
  EXPECT_EQ(each.Read(), BytesOf({kFar, 7}));
  EXPECT_RUN(device, L1Loss, self.handle(), target.handle(), kSum, Handle(one));
  EXPECT_EQ(one.Read(), BytesOf({kFar + 7}));
  EXPECT_RUN(device, L1Loss, self.handle(), target.handle(), kMean, Handle(real));
  EXPECT_EQ(ValuesOf(real), (Doubles{0x1p59 + 4}));
}

TEST(WholeLoss, SquaresOfIntegers) {
  const Device device;
  const DeviceTensor self = Make(ACL_INT8, {3, 1}, {3, -2, 100}),
                     target = Make(ACL_UINT8, {1}, {1}), each(ACL_INT32, DenseLayout({3, 1})),
                     mean(ACL_FLOAT, DenseLayout({})), whole(ACL_INT32, DenseLayout({}));
  EXPECT_RUN(device, MseLoss, self.handle(), target.handle(), kNone, Handle(each));
  EXPECT_EQ(ValuesOf(each), (Doubles{4, 9, 9801}));
  EXPECT_RUN(device, MseLoss, self.handle(), target.handle(), kMean, Handle(mean));
  EXPECT_EQ(ValuesOf(mean), (Doubles{static_cast<float>(9814.0 / 3)}));
  EXPECT_RUN(device, MseLoss, self.handle(), target.handle(), kMean, Handle(whole));
  EXPECT_EQ(ValuesOf(whole), (Doubles{3271}));
}

// (1 + 2i)^2 = -3 + 4i.
TEST(WholeLoss, SquaresOfComplexNumbers) {
  const Device device;
  const auto of = [](const std::vector<float>& parts) {
    DeviceTensor tensor(ACL_COMPLEX64, DenseLayout({static_cast<int64_t>(parts.size()) / 2}));
    std::vector<std::byte> bytes(parts.size() * sizeof(float));
    std::memcpy(bytes.data(), parts.data(), bytes.size());
    tensor.Write(bytes);
    return tensor;
  };
  const DeviceTensor self = of({2, 2, 0, 1}), target = of({1, 0, 0, 0}), each = of({0, 0, 0, 0}),
                     total = of({0, 0}), real(ACL_FLOAT, DenseLayout({2}));
  EXPECT_RUN(device, MseLoss, self.handle(), target.handle(), kNone, Handle(each));
  EXPECT_EQ(each.Read(), of({-3, 4, -1, 0}).Read());
  EXPECT_RUN(device, MseLoss, self.handle(), target.handle(), kSum, Handle(total));
  EXPECT_EQ(total.Read(), of({-4, 4}).Read());
  EXPECT_RUN(device, MseLoss, self.handle(), target.handle(), kMean, Handle(total));
  EXPECT_EQ(total.Read(), of({-2, 2}).Read());
  EXPECT_REFUSED(161002, "out dtype is FLOAT, expected COMPLEX64, COMPLEX128", MseLoss,
                 self.handle(), target.handle(), kNone, Handle(real));
  const DeviceTensor whole(ACL_INT32, DenseLayout({2}));
  EXPECT_REFUSED(161002, "out dtype is INT32, expected a float type", MseLoss, real.handle(),
                 real.handle(), kNone, Handle(whole));
}

}  // namespace
}  // namespace openaclnn::test
