// SPDX-License-Identifier: Apache-2.0
// Normalisations with a sum before them or swish after them.
#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

using Results = std::vector<std::vector<std::byte>>;

/// Expects run(layout), the bits of all results, to be the same for dense rows and for columns, and
/// under each setting.
template <class Run>
void ExpectSameBits(const Dims& dims, Run&& run) {
  Results first;
  UnderEachSetting([&](const std::string& setting, const Device& device) {
    SCOPED_TRACE(setting);
    Layout columns = DenseLayout(dims);  // each row has a gap behind it, and dimension 0 is last
    columns.strides = {1, dims[0] * dims[2] + 1, dims[0]};
    columns.storage = dims[1] * (dims[0] * dims[2] + 1);
    for (const Layout& layout : {DenseLayout(dims), columns}) {
      const Results got = run(device, layout);
      if (first.empty()) first = got;
      EXPECT_TRUE(got == first) << "other bits than before";
    }
  });
}

DeviceTensor Filled(aclDataType dtype, const Layout& layout, const Doubles& values) {
  DeviceTensor tensor(dtype, layout);
  tensor.Write(ToBytes(dtype, values));
  return tensor;
}

TEST(FusedNorm, NeitherStridesNorSettingsChangeABitOfSums) {
  for (const aclDataType dtype : {ACL_FLOAT, ACL_BF16}) {
    ExpectSameBits({13, 10, 257}, [&](const Device& device, const Layout& layout) {
      Random random(81);
      const auto value = [&] { return RealValues(random, 13 * 10 * 257); };
      const DeviceTensor x = Filled(dtype, layout, value()), gx = Filled(dtype, layout, value()),
                         dy = Filled(dtype, layout, value()),
                         gamma = Make(dtype, {257}, RealValues(random, 257)),
                         beta = Make(dtype, {257}, RealValues(random, 257));
      const DeviceTensor y(dtype, layout), dx(dtype, layout), dgx(dtype, layout),
          mean = EmptyFloats({130}), rstd = EmptyFloats({130}), dgamma = EmptyFloats({257}),
          dbeta = EmptyFloats({257});
      EXPECT_RUN(device, DeepNorm, x.handle(), gx.handle(), beta.handle(), gamma.handle(), 0.3,
                 1e-5, Handle(mean), Handle(rstd), Handle(y));
      EXPECT_RUN(device, DeepNormGrad, dy.handle(), x.handle(), gx.handle(), gamma.handle(),
                 mean.handle(), rstd.handle(), 0.3, Handle(dx), Handle(dgx), Handle(dbeta),
                 Handle(dgamma));
      return Results{y.Read(),   mean.Read(),   rstd.Read(), dx.Read(),
                     dgx.Read(), dgamma.Read(), dbeta.Read()};
    });
  }
}

TEST(FusedNorm, NeitherStridesNorSettingsChangeABitOfSwish) {
  char format[] = "NCHW";
  for (const aclDataType dtype : {ACL_FLOAT, ACL_BF16}) {
    ExpectSameBits({3, 12, 261}, [&](const Device& device, const Layout& layout) {
      Random random(82);
      const auto value = [&] { return RealValues(random, 3 * 12 * 261); };
      const DeviceTensor x = Filled(dtype, layout, value()), dy = Filled(dtype, layout, value()),
                         gamma = Make(dtype, {12}, RealValues(random, 12)),
                         beta = Make(dtype, {12}, RealValues(random, 12));
      const DeviceTensor y(dtype, layout), dx(dtype, layout),
          mean = EmptyFloats({3, 4}), rstd = EmptyFloats({3, 4}), dgamma = EmptyFloats({12}),
          dbeta = EmptyFloats({12});
      EXPECT_RUN(device, GroupNormSwish, x.handle(), gamma.handle(), beta.handle(), 4, format, 1e-5,
                 true, 1.5, Handle(y), Handle(mean), Handle(rstd));
      // The gradient takes moments of the types that the page lists.
      EXPECT_RUN(device, GroupNormSwishGrad, dy.handle(), mean.handle(), rstd.handle(), x.handle(),
                 gamma.handle(), beta.handle(), 4, format, 1.5, true, true, Handle(dx),
                 Handle(dgamma), Handle(dbeta));
      return Results{y.Read(), mean.Read(), rstd.Read(), dx.Read(), dgamma.Read(), dbeta.Read()};
    });
  }
}

// alpha = 1 makes DeepNorm AddLayerNorm.
TEST(FusedNorm, OneSumHasTheBitsOfTheOther) {
  const Device device;
  Random random(83);
  const DeviceTensor x = Make(ACL_FLOAT16, {7, 33}, RealValues(random, 231), random),
                     gx = Make(ACL_FLOAT16, {7, 33}, RealValues(random, 231), random),
                     gamma = Make(ACL_FLOAT16, {33}, RealValues(random, 33)),
                     beta = Make(ACL_FLOAT16, {33}, RealValues(random, 33));
  const DeviceTensor y(ACL_FLOAT16, DenseLayout({7, 33})), z(ACL_FLOAT16, DenseLayout({7, 33})),
      sum(ACL_FLOAT16, DenseLayout({7, 33})), mean = EmptyFloats({7, 1}),
                                              rstd = EmptyFloats({7, 1});
  EXPECT_RUN(device, DeepNorm, x.handle(), gx.handle(), beta.handle(), gamma.handle(), 1.0, 1e-5,
             Handle(mean), Handle(rstd), Handle(y));
  EXPECT_RUN(device, AddLayerNorm, x.handle(), gx.handle(), gamma.handle(), beta.handle(), nullptr,
             1e-5, true, Handle(z), Handle(mean), Handle(rstd), Handle(sum));
  EXPECT_EQ(y.Read(), z.Read());
}

TEST(FusedNorm, CastHasTheRoundedResult) {
  const Device device;
  Random random(84);
  const DeviceTensor x = Make(ACL_BF16, {5, 300}, RealValues(random, 1500), random),
                     more = Make(ACL_BF16, {5, 300}, RealValues(random, 1500), random),
                     gamma = Make(ACL_BF16, {300}, RealValues(random, 300));
  const DeviceTensor y1 = EmptyFloats({5, 300}), y2(ACL_BF16, DenseLayout({5, 300})),
                     rstd = EmptyFloats({5, 1}), sum(ACL_BF16, DenseLayout({5, 300}));
  EXPECT_RUN(device, AddRmsNormCast, x.handle(), more.handle(), gamma.handle(), 1e-6, Handle(y1),
             Handle(y2), Handle(rstd), Handle(sum));
  EXPECT_EQ(ValuesOf(y1), ValuesOf(y2));
}

TEST(FusedNorm, RefusesShapesAndValues) {
  const Device device;
  const DeviceTensor x = EmptyFloats({2, 6}), w = EmptyFloats({6}), rows = EmptyFloats({2, 1}),
                     wide = EmptyFloats({2, 7}), seven = EmptyFloats({7});
  const auto add = [&](const DeviceTensor& x2, const DeviceTensor& gamma, const DeviceTensor& beta,
                       const aclTensor* bias, const DeviceTensor& mean) {
    return [&, bias](uint64_t* size, aclOpExecutor** executor) {
      return aclnnAddLayerNormGetWorkspaceSize(
          x.handle(), x2.handle(), gamma.handle(), beta.handle(), bias, 1e-5, false, Handle(x),
          Handle(mean), Handle(rows), Handle(x), size, executor);
    };
  };
  Refused(161002, "x2 shape is", add(wide, w, w, nullptr, rows));
  Refused(161002, "gamma shape is", add(x, seven, seven, nullptr, rows));
  Refused(161002, "beta shape is", add(x, w, seven, nullptr, rows));
  Refused(161002, "biasOptional shape is", add(x, w, w, rows.handle(), rows));
  Refused(161002, "meanOut shape is", add(x, w, w, nullptr, w));
  char format[] = "NHWC";
  EXPECT_REFUSED(161002, "group value is 4", GroupNormSilu, x.handle(), nullptr, nullptr, 4, 1e-5,
                 Handle(x), Handle(rows), Handle(rows));
  EXPECT_REFUSED(161002, "dataFormatOptional value is 'NHWC'", GroupNormSwish, x.handle(),
                 w.handle(), w.handle(), 1, format, 1e-5, true, 1.0, Handle(x), Handle(rows),
                 Handle(rows));
}

TEST(SyncBatchNorm, RefusesShapesAndNulls) {
  const Device device;
  const DeviceTensor x = EmptyFloats({2, 6}), w = EmptyFloats({6}), seven = EmptyFloats({7}),
                     devices = EmptyFloats({3, 6}), counts = EmptyFloats({3});
  EXPECT_REFUSED(161002, "invstd shape is", BatchNormStats, x.handle(), 1e-5, Handle(w),
                 Handle(seven));
  EXPECT_REFUSED(161001, "sumDyXmu value is null", BatchNormReduceBackward, x.handle(), x.handle(),
                 w.handle(), w.handle(), nullptr, true, false, false, Handle(w), nullptr, nullptr,
                 nullptr);
  EXPECT_REFUSED(161002, "counts shape is", BatchNormGatherStatsWithCounts, x.handle(),
                 devices.handle(), devices.handle(), nullptr, nullptr, 0.1, 1e-5, w.handle(),
                 Handle(w), Handle(w));
  EXPECT_REFUSED(161002, "meanAll shape is", BatchNormGatherStatsWithCounts, x.handle(),
                 devices.handle(), devices.handle(), nullptr, nullptr, 0.1, 1e-5, counts.handle(),
                 Handle(seven), Handle(w));
}

}  // namespace
}  // namespace openaclnn::test
