// SPDX-License-Identifier: Apache-2.0
// CtcLoss and its gradient: all paths, differences, what is impossible, refusals.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

/// One sequence of the classes 0, which is the blank, 1 and 2.
struct Sequence {
  int64_t times = 5;
  std::vector<int64_t> targets = {1, 1, 2};

  IntListHandle Times() const { return IntListHandle(IntListSpec{{times}}); }
  IntListHandle Lengths() const {
    return IntListHandle(IntListSpec{{static_cast<int64_t>(targets.size())}});
  }
  DeviceTensor Targets() const {
    return Make(ACL_INT64, {1, static_cast<int64_t>(targets.size())},
                Doubles(targets.begin(), targets.end()));
  }

  Doubles LogChances(const Doubles& scores) const {
    Doubles chances = scores;
    for (size_t t = 0; t < chances.size(); t += 3) {
      double sum = 0;
      for (size_t c = 0; c < 3; ++c) sum += std::exp(scores[t + c]);
      for (size_t c = 0; c < 3; ++c) chances[t + c] -= std::log(sum);
    }
    return chances;
  }

  /// The loss over all paths that are the targets without repetitions and blanks.
  double Loss(const Doubles& scores) const {
    const Doubles chances = LogChances(scores);
    const auto paths = static_cast<int64_t>(std::pow(3, static_cast<double>(times)));
    double total = 0;
    for (int64_t path = 0; path < paths; ++path) {
      double chance = 0;
      std::vector<int64_t> said;
      int64_t before = 0, rest = path;
      for (int64_t t = 0; t < times; ++t, rest /= 3) {
        const int64_t label = rest % 3;
        chance += chances[static_cast<size_t>(3 * t + label)];
        if (label != before && label != 0) said.push_back(label);
        before = label;
      }
      if (said == targets) total += std::exp(chance);
    }
    return -std::log(total);
  }
};

TEST(CtcLoss, SumsOverAllPaths) {
  const Device device;
  Random random(51);
  for (const auto& targets : {std::vector<int64_t>{1, 1, 2}, {2}, {}, {1, 2, 1, 2, 1}, {2, 2, 2}}) {
    const Sequence of = {5, targets};
    const Doubles scores = RealValues(random, 15);
    const IntListHandle times = of.Times(), lengths = of.Lengths();
    const DeviceTensor chances = Of({5, 1, 3}, of.LogChances(scores)), named = of.Targets(),
                       loss = Empty({1}), alpha = Empty({1, 5, 12}), gradient = Empty({5, 1, 3}),
                       upstream = Of({1}, {3});
    EXPECT_RUN(device, CtcLoss, chances.handle(), named.handle(), times.get(), lengths.get(), 0,
               false, Handle(loss), Handle(alpha));
    ExpectNear(ValuesOf(loss), {of.Loss(scores)}, ACL_DOUBLE);
    EXPECT_RUN(device, CtcLossBackward, upstream.handle(), chances.handle(), named.handle(),
               times.get(), lengths.get(), loss.handle(), alpha.handle(), 0, false,
               Handle(gradient));
    const auto losses = [&](const Doubles& at) { return Doubles{of.Loss(at)}; };
    ExpectNear(ValuesOf(gradient), Slopes(scores, {3}, losses), ACL_DOUBLE, 1e-6, 1e-6);
  }
}

// 1 twice needs a blank between: three times at least.
TEST(CtcLoss, OfWhatIsImpossible) {
  const Device device;
  const Sequence of = {2, {1, 1}};
  const IntListHandle times = of.Times(), lengths = of.Lengths();
  const DeviceTensor chances = Of({2, 1, 3}, of.LogChances(Doubles(6))), named = of.Targets(),
                     loss = Empty({1}), alpha = Empty({1, 2, 5}), gradient = Empty({2, 1, 3}),
                     upstream = Of({1}, {1});
  EXPECT_RUN(device, CtcLoss, chances.handle(), named.handle(), times.get(), lengths.get(), 0,
             false, Handle(loss), Handle(alpha));
  EXPECT_EQ(ValuesOf(loss), (Doubles{INFINITY}));
  EXPECT_RUN(device, CtcLoss, chances.handle(), named.handle(), times.get(), lengths.get(), 0, true,
             Handle(loss), Handle(alpha));
  EXPECT_EQ(ValuesOf(loss), (Doubles{0}));
  EXPECT_RUN(device, CtcLossBackward, upstream.handle(), chances.handle(), named.handle(),
             times.get(), lengths.get(), loss.handle(), alpha.handle(), 0, true, Handle(gradient));
  EXPECT_EQ(ValuesOf(gradient), Doubles(6));
}

TEST(CtcLoss, Refusals) {
  const Device device;
  const Sequence of;
  const IntListHandle times = of.Times(), lengths = of.Lengths(), six(IntListSpec{{6}}),
                      two(IntListSpec{{3, 2}}), below(IntListSpec{{-1}});
  const DeviceTensor chances = Empty({5, 1, 3}), named = of.Targets(), loss = Empty({1}),
                     alpha = Empty({1, 5, 7}), narrow = Empty({1, 5, 6}), flat = Empty({5, 3}),
                     beyond = Make(ACL_INT64, {1, 3}, {1, 3, 2}),
                     row = Make(ACL_INT64, {4}, {1, 1, 2, 2});
  const auto refused = [&](const DeviceTensor& x, const DeviceTensor& targets,
                           const IntListHandle& t, const IntListHandle& s, int64_t blank,
                           const DeviceTensor& sums, const std::string& says) {
    Refused(161002, says, [&](auto... o) {
      return aclnnCtcLossGetWorkspaceSize(x.handle(), targets.handle(), t.get(), s.get(), blank,
                                          false, Handle(loss), Handle(sums), o...);
    });
  };
  refused(chances, named, six, lengths, 0, alpha, "inputLengths value is 6, expected 0 to 5");
  refused(chances, named, times, two, 0, alpha, "targetLengths size is 2, expected 1");
  refused(chances, named, times, below, 0, alpha, "targetLengths value is -1, expected 0 to 3");
  refused(chances, row, times, lengths, 0, alpha, "targets shape is (4), expected (3)");
  refused(chances, named, times, lengths, 3, alpha, "blank value is 3, expected 0 <= value < 3");
  refused(chances, named, times, lengths, 0, narrow,
          "logAlphaOut shape is (1, 5, 6), expected (1, 5, 7), or more of the last two");
  refused(flat, named, times, lengths, 0, alpha, "logProbs rank is 2 (shape (5, 3)), expected 3");
  const Outcome failed = RUN(device, CtcLoss, chances.handle(), beyond.handle(), times.get(),
                             lengths.get(), 0, false, Handle(loss), Handle(alpha));
  EXPECT_EQ(failed.code, 507035);
  EXPECT_NE(failed.message.find("targets value 1 of sequence 0 is 3, expected 0 <= value < 3"),
            std::string::npos)
      << failed.message;
}

}  // namespace
}  // namespace openaclnn::test
