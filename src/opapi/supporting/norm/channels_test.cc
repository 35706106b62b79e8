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

/// The results of GroupNorm, BatchNorm and their gradients, each in turn, as a type. None takes
/// DOUBLE: results of that are of the same numbers as FLOAT.
std::vector<Doubles> ResultsOf(const Device& device, aclDataType dtype, const Layout& layout,
                               const Problem& problem) {
  const aclDataType given = dtype == ACL_DOUBLE ? ACL_FLOAT : dtype;
  DeviceTensor x(given, layout), g(given, layout);
  x.Write(ToBytes(given, problem.x));
  g.Write(ToBytes(given, problem.g));
  const DeviceTensor w = Make(given, {kC}, problem.w), y(dtype, layout), dx(dtype, layout),
                     dw = Empty({kC}), db = Empty({kC}), mean = EmptyFloats({kN, kGroups}),
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

/// Between what is stored of numbers that lie a bit below and above.
template <class Stored>
void ExpectNearby(const Doubles& got, const Doubles& want, const Stored& stored) {
  const auto moved = [&](double by) {
    Doubles all = want;
    for (double& value : all) value += by * std::max(1.0, std::abs(value));
    return stored(all);
  };
  const Doubles least = moved(-1e-6), most = moved(1e-6);
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_GE(got[i], least[i]) << i;
    ASSERT_LE(got[i], most[i]) << i;
  }
}

// Tensors that are not written in training need a length of the channels too, or no elements.
TEST(Norm, BatchNormRefusesMomentsOfAnotherLength) {
  const Device device;
  const DeviceTensor x = EmptyFloats({kN, kC, 5}), y = EmptyFloats({kN, kC, 5}),
                     mean = EmptyFloats({kC}), var = EmptyFloats({kC}),
                     other = EmptyFloats({kC - 1}), none = EmptyFloats({0});
  for (const bool training : {true, false}) {
    EXPECT_REFUSED(161002, "saveInvstd shape is (3), expected 4 elements", BatchNorm, x.handle(),
                   nullptr, nullptr, Handle(mean), Handle(mean), training, 0.1, 1e-5, Handle(y),
                   Handle(mean), Handle(other));
  }
  EXPECT_RUN(device, BatchNorm, x.handle(), nullptr, nullptr, Handle(mean), Handle(var), false, 0.1,
             1e-5, Handle(y), Handle(none), Handle(none));
}

// They are computed in double wherever the elements are, so that rounding is all that FLOAT differs
// by; for results of 16 bits in float.
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
            SCOPED_TRACE(testing::Message() << "result " << i);
            if (dtype == ACL_FLOAT) {
              EXPECT_EQ(got[i], of_x ? stored(want[i]) : want[i]);
            } else {
              ExpectNearby(got[i], want[i],
                           [&](const Doubles& all) { return of_x ? stored(all) : all; });
            }
          }
        }
      });
    }
  }
}

// Running moments go beyond float, or below it, on the way.
TEST(Norm, RunningMomentsNearTheEndsOfFloat) {
  const Device device;
  struct Case {
    double x, mean, variance, weight, want;
  };
  for (const Case& each :
       std::initializer_list<Case>{{0x1.fp127, -0x1p127, 0x1p120, 0x1p-70, 0x1.78p-2},
                                   {0x1p100, 0, 0x1p-120, 0x1p-60, 0x1p100},
                                   {0x1p-100, 0, 0x1p120, 0x1p80, 0x1p-80},
                                   {0x1p100, 0, 0x1p-20, 0x1.8p-148, 0x1.8p-38}}) {
    const DeviceTensor x = Make(ACL_BF16, {1, 1, 1}, {each.x}), y(ACL_BF16, DenseLayout({1, 1, 1})),
                       w = Floats({1}, {each.weight}), none = EmptyFloats({0}),
                       mean = Floats({1}, {each.mean}), var = Floats({1}, {each.variance});
    EXPECT_RUN(device, BatchNorm, x.handle(), w.handle(), nullptr, Handle(mean), Handle(var), false,
               0.1, 0.0, Handle(y), Handle(none), Handle(none));
    EXPECT_EQ(ValuesOf(y), Doubles{each.want}) << each.x;
  }
}

// As ggml-cann passes them, who takes the number of elements for that of bytes and looks at
// neither.
TEST(Norm, MomentsOfGroupsMayShareMemory) {
  constexpr int64_t kRows = 12, kEach = 8;
  Random random(86);
  const Doubles values = RealValues(random, kRows * kEach);
  Doubles want_y;
  std::vector<std::byte> want_moments;
  UnderEachSetting([&](const std::string& setting, const Device& device) {
    SCOPED_TRACE(setting);
    const DeviceTensor x = Make(ACL_FLOAT, {1, kRows, kEach}, values),
                       y(ACL_FLOAT, DenseLayout({1, kRows, kEach})),
                       mean(ACL_FLOAT, DenseLayout({1, kRows})),
                       rstd(ACL_FLOAT, DenseLayout({1, kRows}));
    DeviceTensor block(ACL_FLOAT, DenseLayout({2 * kRows}));
    block.Scramble();
    const auto moments = [&](int64_t byte) {
      return TensorHandle({.dims = {1, kRows},
                           .storage = Dims{kRows},
                           .data = static_cast<std::byte*>(block.data()) + byte});
    };
    const TensorHandle first = moments(0), second = moments(kRows);
    const auto run = [&](const DeviceTensor& out, aclTensor* m, aclTensor* r) {
      return RUN(device, GroupNorm, x.handle(), nullptr, nullptr, 1, kRows, kEach, kRows, 1e-5,
                 Handle(out), m, r);
    };
    EXPECT_EQ(run(y, Handle(mean), Handle(rstd)).message, "");
    const Doubles apart = ValuesOf(y);
    EXPECT_EQ(run(y, first.get(), second.get()).message, "");
    EXPECT_EQ(ValuesOf(y), apart);
    const std::vector<std::byte> bytes = block.Read();
    const std::vector<std::byte> means = mean.Read(), scales = rstd.Read();
    EXPECT_TRUE(std::equal(means.begin(), means.begin() + kRows, bytes.begin()));
    EXPECT_TRUE(std::equal(scales.begin(), scales.end(), bytes.begin() + kRows)) << "written last";
    if (want_y.empty()) want_y = apart, want_moments = bytes;
    EXPECT_EQ(apart, want_y);
    EXPECT_EQ(bytes, want_moments);
    // From one byte on, all of the mean would be lost.
    const Outcome lost = run(y, first.get(), first.get());
    EXPECT_EQ(lost.code, 161002);
    EXPECT_NE(lost.message.find("meanOut memory is shared with rstdOut"), std::string::npos)
        << lost.message;
    // Neither may share it with anything else.
    const TensorHandle of_y =
        TensorHandle({.dims = {1, kRows}, .storage = Dims{kRows}, .data = y.data()});
    const Outcome refused = run(y, of_y.get(), second.get());
    EXPECT_EQ(refused.code, 161002);
    EXPECT_NE(refused.message.find("out memory is shared with meanOut"), std::string::npos)
        << refused.message;
  });
}

}  // namespace
}  // namespace openaclnn::test
