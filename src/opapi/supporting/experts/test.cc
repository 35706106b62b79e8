// SPDX-License-Identifier: Apache-2.0
// Gates and routing: what is refused, what is found when the task runs, and a few values by hand.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

DeviceTensor Ints(const Dims& dims, const Doubles& values) { return Make(ACL_INT32, dims, values); }
DeviceTensor EmptyInts(const Dims& dims) { return DeviceTensor(ACL_INT32, DenseLayout(dims)); }

TEST(Gates, OfEqualScoresTheFirstIsChosenAndNanBeforeAll) {
  const Device device;
  const DeviceTensor x = Floats({2, 4}, {1, 3, 3, 2, 0, NAN, 5, 5}), y = EmptyFloats({2, 2}),
                     experts = EmptyInts({2, 2}), rows = EmptyInts({2, 2});
  EXPECT_RUN(device, MoeGatingTopKSoftmax, x.handle(), nullptr, 2, y.handle(), experts.handle(),
             rows.handle());
  EXPECT_EQ(ValuesOf(experts), (Doubles{1, 2, 1, 2}));
  EXPECT_EQ(ValuesOf(rows), (Doubles{0, 2, 1, 3}));
}

TEST(Gates, Refusals) {
  const Device device;
  const DeviceTensor x = EmptyFloats({2, 8}), y = EmptyFloats({2, 2}), experts = EmptyInts({2, 2}),
                     rows = EmptyInts({2, 2}), done(ACL_BOOL, DenseLayout({3}));
  EXPECT_REFUSED(161002, "k value is 9, expected 1 to 8", MoeGatingTopKSoftmax, x.handle(), nullptr,
                 9, y.handle(), experts.handle(), rows.handle());
  EXPECT_REFUSED(161002, "yOut shape is (2, 2), expected (2, 3)", MoeGatingTopKSoftmax, x.handle(),
                 nullptr, 3, y.handle(), experts.handle(), rows.handle());
  EXPECT_REFUSED(161002, "finishedOptional shape is (3), expected (2)", MoeGatingTopKSoftmax,
                 x.handle(), done.handle(), 2, y.handle(), experts.handle(), rows.handle());
  const auto refused = [&](const char* says, int64_t k, int64_t chosen, int64_t groups,
                           int64_t renorm, int64_t norm) {
    EXPECT_REFUSED(161002, says, MoeGatingTopK, x.handle(), nullptr, k, chosen, groups, 0, renorm,
                   norm, false, 1.0, 0.0, y.handle(), experts.handle(), nullptr);
  };
  refused("groupCount value is 3, expected 1, or a divisor of 8", 2, 1, 3, 0, 0);
  refused("groupCount value is 4, expected 1, or a divisor of 8", 2, 1, 4, 0, 0);
  refused("kGroup value is 3, expected 1 to groupCount, 2", 2, 3, 2, 0, 0);
  refused("renorm value is 1, expected 0", 2, 1, 2, 1, 0);
  refused("normType value is 2, expected 0 or 1", 2, 1, 2, 0, 2);
  EXPECT_REFUSED(161001, "normOut value is null", MoeGatingTopK, x.handle(), nullptr, 2, 1, 1, 0, 0,
                 0, true, 1.0, 0.0, y.handle(), experts.handle(), nullptr);
}

TEST(Routing, DropsWhatAnExpertHasNoRoomFor) {
  const Device device;
  const DeviceTensor x = Floats({3, 1}, {10, 20, 30}), experts = Ints({3, 1}, {1, 1, 1}),
                     out = EmptyFloats({2, 2, 1}), places = EmptyInts({3}), before = EmptyInts({2});
  EXPECT_RUN(device, MoeInitRoutingV2, x.handle(), experts.handle(), 0, 2, 2, 1, 0, true,
             Handle(out), Handle(places), nullptr, Handle(before));
  EXPECT_EQ(ValuesOf(out), (Doubles{0, 0, 10, 20}));
  EXPECT_EQ(ValuesOf(places), (Doubles{2, 3, -1}));
  EXPECT_EQ(ValuesOf(before), (Doubles{0, 3}));
}

TEST(Routing, AnExpertThatThereIsNotIsFound) {
  const Device device;
  const DeviceTensor x = Floats({2, 1}, {1, 2}), experts = Ints({2, 1}, {0, 2}),
                     out = Floats({2, 1}, {9, 9}), places = Ints({2}, {9, 9}),
                     counts = Ints({2}, {9, 9});
  const Outcome outcome = RUN(device, MoeInitRoutingV2, x.handle(), experts.handle(), 0, 0, 2, 0, 2,
                              false, Handle(out), Handle(places), Handle(counts), nullptr);
  EXPECT_EQ(outcome.code, 507035);
  EXPECT_NE(outcome.message.find("expertIdx value 1 is 2, expected 0 <= value < 2"),
            std::string::npos)
      << outcome.message;
  for (const DeviceTensor* each : {&out, &places, &counts}) {
    EXPECT_EQ(ValuesOf(*each), (Doubles{9, 9}));
  }
}

TEST(Routing, Refusals) {
  const Device device;
  const DeviceTensor x = EmptyFloats({3, 2}), experts = EmptyInts({3, 2}),
                     out = EmptyFloats({6, 2}), places = EmptyInts({6}), counts = EmptyInts({4}),
                     few = EmptyInts({2, 2});
  const auto refused = [&](const char* says, const DeviceTensor& chosen, int64_t capacity,
                           int64_t mode, int64_t flag) {
    EXPECT_REFUSED(161002, says, MoeInitRoutingV2, x.handle(), chosen.handle(), 0, capacity, 4,
                   mode, flag, false, Handle(out), Handle(places), Handle(counts), nullptr);
  };
  refused("expertIdx shape is (2, 2), expected 3 rows as x has, (3, 2)", few, 0, 0, 0);
  refused("expertCapacity value is 4, expected 1 to 3, the rows of x", experts, 4, 1, 0);
  refused("expandedXOut shape is (6, 2), expected (4, 2, 2)", experts, 2, 1, 0);
  refused("expertTokensCountOrCumsumFlag value is 3, expected 0 to 2", experts, 0, 0, 3);
  const auto range = [&](const char* says, const std::vector<int64_t>& numbers, int64_t mode) {
    const IntsHandle ints(numbers);
    EXPECT_REFUSED(161002, says, MoeInitRoutingV3, x.handle(), experts.handle(), nullptr, nullptr,
                   0, 2, 4, mode, 1, false, -1, ints.get(), 0, Handle(out), Handle(places),
                   Handle(counts), nullptr);
  };
  range("activeExpertRangeOptional value is (2, 2), expected two numbers", {2, 2}, 0);
  range("activeExpertRangeOptional value is (0, 5), expected two numbers", {0, 5}, 0);
  range("activeExpertRangeOptional value is (1, 4), expected all experts, (0, 4)", {1, 4}, 1);
}

TEST(Sums, PlacesBehindTheRowsAreFound) {
  const Device device;
  const DeviceTensor rows = Floats({2, 1}, {1, 2}), places = Ints({2}, {0, 2}),
                     out = Floats({2, 1}, {9, 9});
  const Outcome outcome = RUN(device, MoeFinalizeRoutingV2, rows.handle(), places.handle(), nullptr,
                              nullptr, nullptr, nullptr, nullptr, 0, out.handle());
  EXPECT_EQ(outcome.code, 507035);
  EXPECT_NE(outcome.message.find("expandedRowIdx value 1 is 2, expected 0 <= value < 2"),
            std::string::npos)
      << outcome.message;
  EXPECT_EQ(ValuesOf(out), (Doubles{9, 9}));
  EXPECT_REFUSED(161002, "x2Optional value is a tensor, expected null where x1Optional is null",
                 MoeFinalizeRoutingV2, rows.handle(), places.handle(), nullptr, out.handle(),
                 nullptr, nullptr, nullptr, 0, out.handle());
}

TEST(Sums, PaddedModeIsRefused) {
  const Device device;
  const DeviceTensor tokens = EmptyFloats({2, 1}), indices = EmptyInts({2}),
                     out = EmptyFloats({2, 1}), places = EmptyInts({2});
  EXPECT_REFUSED(161002, "paddedMode value is true, expected false", MoeTokenPermute,
                 tokens.handle(), indices.handle(), 0, true, Handle(out), Handle(places));
}

TEST(Sums, AProductOfSizesThatWrapsIsRefused) {
  const Device device;
  const DeviceTensor grad = EmptyFloats({0, 1}), places = EmptyInts({0}), out = EmptyFloats({4, 1});
  EXPECT_REFUSED(161002, "sortedIndices shape is (0), expected", MoeTokenPermuteGrad, grad.handle(),
                 places.handle(), int64_t{1} << 62, false, Handle(out));
}

// The sum over all outputs of weights times the function is the sum over all inputs of the
// gradients of the weights times the inputs: both ways are linear.
TEST(Sums, GradientsAreTheAdjoints) {
  const Device device;
  Random random(5);
  const int64_t rows = 7, choices = 3, width = 4, all = rows * choices;
  const Doubles x = RealValues(random, rows * width), v = RealValues(random, all * width),
                chosen = SmallValues(random, all, 0, 4);
  const DeviceTensor tokens = Floats({rows, width}, x), indices = Ints({rows, choices}, chosen),
                     moved = EmptyFloats({all, width}), places = EmptyInts({all}),
                     weights = Floats({all, width}, v), grad = EmptyFloats({rows, width}),
                     back = EmptyFloats({all, width}),
                     probs = Floats({rows, choices}, Doubles(all, 1)),
                     probs_grad = EmptyFloats({rows, choices});
  EXPECT_RUN(device, MoeTokenPermute, tokens.handle(), indices.handle(), 0, false, Handle(moved),
             Handle(places));
  EXPECT_RUN(device, MoeTokenPermuteGrad, weights.handle(), places.handle(), choices, false,
             Handle(grad));
  const auto dot = [](const Doubles& a, const Doubles& b) {
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  };
  const Doubles held = Held(ACL_FLOAT, v), inputs = Held(ACL_FLOAT, x);
  EXPECT_NEAR(dot(ValuesOf(moved), held), dot(inputs, ValuesOf(grad)), 1e-4);
  // The gradient of sums of rows: x is the gradient, v are the rows.
  EXPECT_RUN(device, MoeTokenUnpermuteGrad, weights.handle(), tokens.handle(), places.handle(),
             probs.handle(), false, nullptr, Handle(back), Handle(probs_grad));
  EXPECT_NEAR(dot(ValuesOf(back), held), dot(inputs, ValuesOf(grad)), 1e-4);
}

}  // namespace
}  // namespace openaclnn::test
