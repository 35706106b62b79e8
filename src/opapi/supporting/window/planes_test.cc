// SPDX-License-Identifier: Apache-2.0
// Pooling that tells places, other sizes and gradients: their bits, and what is refused.
#include <algorithm>
#include <cmath>

#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

/// Lists of a call that more than one test makes.
struct Lists {
  IntListHandle two{IntListSpec{{2, 2}}}, three{IntListSpec{{3, 3}}}, one{IntListSpec{{1, 1}}},
      none{IntListSpec{{0, 0}}}, size{IntListSpec{{50, 21}}}, shape{IntListSpec{{2, 3, 37, 31}}};
};

TEST(Planes, HaveTheSameBitsUnderEachSetting) {
  for (const aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
    std::vector<std::vector<std::byte>> want;
    UnderEachSetting([&](const std::string& name, const Device& device) {
      SCOPED_TRACE(testing::Message() << name << ", " << dtype);
      Random random(91);
      const Lists lists;
      const Dims in = {2, 3, 37, 31}, pooled = {2, 3, 19, 16}, wide = {2, 3, 50, 21};
      const auto made = [&](const Dims& dims, int64_t n) {
        return Make(dtype, dims, RealValues(random, 6 * n), random);
      };
      const DeviceTensor x = made(in, 37 * 31), small = made(pooled, 19 * 16),
                         large = made(wide, 50 * 21);
      const DeviceTensor dx(dtype, DenseLayout(in)), sized(dtype, DenseLayout(wide)),
          largest(dtype, DenseLayout(pooled)), mask(ACL_INT8, DenseLayout({2, 3, 9, 640}));
      std::vector<std::vector<std::byte>> got;
      const auto keep = [&](const DeviceTensor& tensor) { got.push_back(tensor.Read()); };
      EXPECT_RUN(device, AvgPool2dBackward, small.handle(), x.handle(), lists.three.get(),
                 lists.two.get(), lists.one.get(), false, false, 0, 0, Handle(dx));
      keep(dx);
      EXPECT_RUN(device, AdaptiveAvgPool2dBackward, large.handle(), x.handle(), Handle(dx));
      keep(dx);
      EXPECT_RUN(device, UpsampleBicubic2d, x.handle(), lists.size.get(), false, 0, 0,
                 Handle(sized));
      keep(sized);
      EXPECT_RUN(device, UpsampleBicubic2dBackward, large.handle(), lists.size.get(),
                 lists.shape.get(), true, 0, 0, Handle(dx));
      keep(dx);
      if (dtype != ACL_BF16) {  // which its page does not list
        EXPECT_RUN(device, UpsampleBilinear2dBackward, large.handle(), lists.size.get(),
                   lists.shape.get(), true, 0, 0, Handle(dx));
        keep(dx);
      }
      EXPECT_RUN(device, MaxPool2dWithMask, x.handle(), lists.three.get(), lists.two.get(),
                 lists.one.get(), lists.one.get(), false, Handle(largest), Handle(mask));
      keep(largest);
      keep(mask);
      EXPECT_RUN(device, MaxPool2dWithMaskBackward, small.handle(), x.handle(), mask.handle(),
                 lists.three.get(), lists.two.get(), lists.one.get(), lists.one.get(), false,
                 Handle(dx));
      keep(dx);
      if (want.empty()) want = got;
      EXPECT_EQ(got, want);
    });
  }
}

/// The values that a dimension is to have, place by place.
void ExpectNear(const DeviceTensor& tensor, const std::vector<double>& want) {
  const std::vector<double> got = ValuesOf(tensor);
  ASSERT_EQ(got.size(), want.size());
  size_t wrong = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    wrong += std::abs(got[i] - want[i]) > 1e-6 * std::max(1.0, std::abs(want[i]));
  }
  EXPECT_EQ(wrong, 0U);
}

// Tests more places than are kept, so that each place's neighbours are found anew.
TEST(Planes, AreRightAlongLongDimensions) {
  constexpr int64_t kLong = (int64_t{1} << 20) + 5;
  constexpr auto kPlaces = static_cast<size_t>(kLong);
  const Device device;
  Random random(92);
  const DeviceTensor x = Make(ACL_FLOAT, {1, 1, 1, kLong}, RealValues(random, kLong), random);
  const DeviceTensor dx(ACL_FLOAT, DenseLayout({1, 1, 1, kLong})),
      y(ACL_FLOAT, DenseLayout({1, 1, 1, kLong}));
  const std::vector<double> of = ValuesOf(x);
  const IntListHandle three({{1, 1, 3}}), one({{1, 1, 1}}), pads({{0, 0, 1}});
  EXPECT_RUN(device, AvgPool3d, x.handle(), three.get(), one.get(), pads.get(), false, true, 0,
             Handle(y));
  std::vector<double> want(kPlaces);
  for (size_t i = 0; i < kPlaces; ++i) {
    want[i] = ((i > 0 ? of[i - 1] : 0) + of[i] + (i + 1 < kPlaces ? of[i + 1] : 0)) / 3;
  }
  ExpectNear(y, want);

  const DeviceTensor tall = Make(ACL_FLOAT, {1, 1, kLong, 1}, of, random),
                     means(ACL_FLOAT, DenseLayout({1, 1, kLong, 1}));
  const IntListHandle high({{1, 3, 1}}), edges({{0, 1, 0}});
  EXPECT_RUN(device, AvgPool3d, tall.handle(), high.get(), one.get(), edges.get(), false, true, 0,
             Handle(means));
  ExpectNear(means, want);
  EXPECT_RUN(device, AvgPool3dBackward, tall.handle(), tall.handle(), high.get(), one.get(),
             edges.get(), false, true, 0, Handle(means));
  ExpectNear(means, want);

  const DeviceTensor shares = Make(ACL_FLOAT, {1, 1, 1, 7}, RealValues(random, 7), random);
  const std::vector<double> share = ValuesOf(shares);
  EXPECT_RUN(device, AdaptiveAvgPool2dBackward, shares.handle(), x.handle(), Handle(dx));
  want.assign(kPlaces, 0);
  for (int64_t i = 0; i < 7; ++i) {
    const int64_t begin = i * kLong / 7, end = ((i + 1) * kLong + 6) / 7;
    for (int64_t j = begin; j < end; ++j) {
      want[static_cast<size_t>(j)] +=
          share[static_cast<size_t>(i)] / static_cast<double>(end - begin);
    }
  }
  ExpectNear(dx, want);

  const DeviceTensor sized = Make(ACL_FLOAT, {1, 1, 1, 1000}, RealValues(random, 1000), random);
  const std::vector<double> by = ValuesOf(sized);
  const IntListHandle size({{1, 1000}}), shape({{1, 1, 1, kLong}});
  EXPECT_RUN(device, UpsampleBilinear2dBackward, sized.handle(), size.get(), shape.get(), true, 0,
             0, Handle(dx));
  want.assign(kPlaces, 0);
  for (size_t i = 0; i < by.size(); ++i) {
    const double source = static_cast<double>(i) * static_cast<double>(kLong - 1) / 999;
    const auto from = static_cast<size_t>(source);
    want[from] += by[i] * (1 - (source - std::floor(source)));
    if (from + 1 < kPlaces) want[from + 1] += by[i] * (source - std::floor(source));
  }
  ExpectNear(dx, want);
}

// The size of a plan does not grow with the dimensions: phase 2 is the one that lacks the operands'
// memory.
TEST(Planes, AreLongerThanAnyMemory) {
  const Device device;
  constexpr int64_t kLong = int64_t{1} << 40;
  const auto tensor = [](std::initializer_list<int64_t> dims) {
    return aclCreateTensor(std::data(dims), dims.size(), ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND,
                           std::data(dims), dims.size(), nullptr);
  };
  aclTensor *const x = tensor({1, kLong, 1}), *const y = tensor({1, 1, 1}),
                   *const deep = tensor({1, 1, 1, kLong}), *const means = tensor({1, 1, 1, kLong});
  const IntListHandle one({{1, 1, 1}}), none({{0, 0, 0}});
  for (const Outcome& outcome :
       {RUN(device, AdaptiveAvgPool2dBackward, y, x, x),
        RUN(device, AvgPool3d, deep, one.get(), one.get(), none.get(), false, true, 0, means),
        RUN(device, AvgPool3dBackward, means, deep, one.get(), one.get(), none.get(), false, true,
            0, deep)}) {
    EXPECT_EQ(outcome.code, 161001) << outcome.message;
    EXPECT_NE(outcome.message.find("data is null"), std::string::npos) << outcome.message;
  }
  for (const aclTensor* each : {x, y, deep, means}) EXPECT_EQ(aclDestroyTensor(each), 0);
}

TEST(Planes, PoolingRefuses) {
  const Device device;
  const Lists lists;
  const DeviceTensor x(ACL_FLOAT, DenseLayout({1, 4, 4})), y(ACL_FLOAT, DenseLayout({1, 2, 2})),
      mask(ACL_INT8, DenseLayout({1, 4, 64})), other(ACL_FLOAT, DenseLayout({1, 2, 2})),
      bytes(ACL_INT8, DenseLayout({1, 4, 4}));
  const auto with_mask = [&](const DeviceTensor& self, const aclIntArray* pad,
                             const aclIntArray* dilation, const DeviceTensor& indices,
                             const std::string& says) {
    Refused(161002, says, [&](auto... o) {
      return aclnnMaxPool2dWithMaskGetWorkspaceSize(self.handle(), lists.two.get(), lists.two.get(),
                                                    pad, dilation, false, Handle(y),
                                                    Handle(indices), o...);
    });
  };
  const aclIntArray *one = lists.one.get(), *none = lists.none.get();
  with_mask(x, none, lists.two.get(), mask, "dilation value is 2, expected 1");
  with_mask(x, lists.two.get(), one, mask,
            "padding value is 2, expected at most half of kernelSize, 2");
  with_mask(x, none, one, other, "indices dtype is FLOAT, expected INT8");
  with_mask(x, none, one, bytes, "indices shape is (1, 4, 4), expected (1, 4, 64)");
  with_mask(bytes, none, one, mask, "self dtype is INT8, expected FLOAT");
  EXPECT_REFUSED(161002, "indices dtype is FLOAT, expected INT32", MaxPool2dWithIndices, x.handle(),
                 lists.two.get(), lists.two.get(), none, one, false, Handle(y), Handle(other));
}

// A neighbour's weight is 0 there, and NaN times that is NaN.
TEST(Planes, KeepsWhatIsNotResampled) {
  const Device device;
  const IntListHandle size({{3, 3}}), shape({{1, 1, 3, 3}});
  Doubles values = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  values[4] = NAN;
  const DeviceTensor x = Make(ACL_FLOAT, {1, 1, 3, 3}, values),
                     y(ACL_FLOAT, DenseLayout({1, 1, 3, 3}));
  const auto expect_same = [&] {
    const Doubles got = ValuesOf(y);
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_TRUE(i == 4 ? std::isnan(got[i]) : got[i] == values[i]) << i << ": " << got[i];
    }
  };
  for (const bool align : {false, true}) {
    EXPECT_RUN(device, UpsampleBilinear2d, x.handle(), size.get(), align, 0, 0, Handle(y));
    expect_same();
    EXPECT_RUN(device, UpsampleBilinear2dBackward, x.handle(), size.get(), shape.get(), align, 0, 0,
               Handle(y));
    expect_same();
  }
}

TEST(Planes, OtherSizesRefuse) {
  const Device device;
  const Lists lists;
  const DeviceTensor x(ACL_FLOAT, DenseLayout({1, 1, 4, 4})),
      y(ACL_FLOAT, DenseLayout({1, 1, 2, 2})), none(ACL_FLOAT, DenseLayout({1, 1, 0, 4}));
  EXPECT_REFUSED(161002, "self shape is (1, 1, 0, 4), expected planes with elements",
                 UpsampleBilinear2d, none.handle(), lists.two.get(), false, 0, 0, Handle(y));
  EXPECT_REFUSED(161002, "out shape is (1, 1, 2, 2), expected (1, 1, 3, 3)", UpsampleBilinear2d,
                 x.handle(), lists.three.get(), false, 0, 0, Handle(y));
  EXPECT_REFUSED(161002, "inputSize size is 2, expected 4", UpsampleNearest2dBackward, y.handle(),
                 lists.two.get(), lists.two.get(), 0, 0, Handle(x));
  const IntListHandle shape(IntListSpec{{1, 1, 4, 5}});
  EXPECT_REFUSED(161002, "gradInput shape is (1, 1, 4, 4), expected (1, 1, 4, 5)",
                 UpsampleNearest2dBackward, y.handle(), lists.two.get(), shape.get(), 0, 0,
                 Handle(x));
}

}  // namespace
}  // namespace openaclnn::test
