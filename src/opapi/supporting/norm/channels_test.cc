// SPDX-License-Identifier: Apache-2.0
// GroupNorm, BatchNorm and their gradients of every type, over views and about the length of lanes
// and blocks.
#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

constexpr int64_t kN = 3, kC = 4, kGroups = 2;

struct Problem {
  int64_t n;  // elements of a channel
  Doubles x, g, w;
};

/// What GroupNorm, BatchNorm and their gradients give, each in turn.
std::vector<Doubles> ResultsOf(const Device& device, aclDataType dtype, const Layout& layout,
                               const Problem& problem) {
  DeviceTensor x(dtype, layout), g(dtype, layout);
  x.Write(ToBytes(dtype, problem.x));
  g.Write(ToBytes(dtype, problem.g));
  const DeviceTensor w = Make(dtype, {kC}, problem.w), y(dtype, layout), dx(dtype, layout),
                     dw = Empty({kC}), db = Empty({kC}), mean = Empty({kN, kGroups}),
                     rstd = Empty({kN, kGroups}), save_mean = Empty({kC}), save_rstd = Empty({kC});
  const FlagsHandle all({true, true, true});
  std::vector<Doubles> results;
  const auto keep = [&](std::initializer_list<const DeviceTensor*> tensors) {
    for (const DeviceTensor* tensor : tensors) results.push_back(ValuesOf(*tensor));
  };
  EXPECT_RUN(device, GroupNorm, x.handle(), w.handle(), nullptr, kN, kC, problem.n, kGroups, 1e-5,
             Handle(y), Handle(mean), Handle(rstd));
  keep({&y, &mean, &rstd});
  EXPECT_RUN(device, GroupNormBackward, g.handle(), x.handle(), mean.handle(), rstd.handle(),
             w.handle(), kN, kC, problem.n, kGroups, all.get(), Handle(dx), Handle(dw), Handle(db));
  keep({&dx, &dw, &db});
  EXPECT_RUN(device, BatchNorm, x.handle(), w.handle(), w.handle(), nullptr, nullptr, true, 0.1,
             1e-5, Handle(y), Handle(save_mean), Handle(save_rstd));
  keep({&y, &save_mean, &save_rstd});
  for (const bool training : {true, false}) {
    EXPECT_RUN(device, BatchNormBackward, g.handle(), x.handle(), w.handle(), save_mean.handle(),
               save_rstd.handle(), save_mean.handle(), save_rstd.handle(), training, 1e-5,
               all.get(), Handle(dx), Handle(dw), Handle(db));
    keep({&dx, &dw, &db});
  }
  return results;
}

// They are computed in double whatever the type and wherever the elements are: rounding is all that
// types differ by.
TEST(Norm, ChannelsOfFloatsAreThoseOfDoubles) {
  for (const int64_t n : {1, 7, 16, 65, 1025, 2100}) {
    for (const aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
      Random random(85);
      const auto stored = [&](const Doubles& values) {
        return ToDoubles(dtype, ToBytes(dtype, values));
      };
      const Problem problem = {n, stored(RealValues(random, kN * kC * n, 98, 102)),
                               stored(RealValues(random, kN * kC * n)),
                               stored(RealValues(random, kC))};
      std::vector<Doubles> want;
      UnderEachSetting([&, n = n](const std::string& setting, const Device& device) {
        SCOPED_TRACE(testing::Message() << setting << ", " << dtype << ", channels of " << n);
        const Layout channels_last{{kN, kC, n}, {kC * n, 1, kC}, 0, kN * kC * n};
        for (const Layout& layout : {DenseLayout({kN, kC, n}), channels_last}) {
          const auto wide = ResultsOf(device, ACL_DOUBLE, layout, problem);
          if (want.empty()) want = wide;
          EXPECT_EQ(wide, want);
          const auto got = ResultsOf(device, dtype, layout, problem);
          ASSERT_EQ(got.size(), want.size());
          for (size_t i = 0; i < got.size(); ++i) {
            const bool of_x = want[i].size() == problem.x.size();
            EXPECT_EQ(got[i], of_x ? stored(want[i]) : want[i]) << "result " << i;
          }
        }
      });
    }
  }
}

}  // namespace
}  // namespace openaclnn::test
