// SPDX-License-Identifier: Apache-2.0
// Scalers of gradients, and AdamW.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

TEST(Optimizer, ScalersAndAdamW) {
  const Device device;
  const DeviceTensor a = Make(ACL_FLOAT16, {2}, {2, 4}), b = Make(ACL_FLOAT, {1}, {INFINITY}),
                     fine = Make(ACL_FLOAT, {1}, {0}), inverse = Make(ACL_FLOAT, {1}, {0.5});
  {
    const ListHandle grads({&a});
    EXPECT_RUN(device, ForeachNonFiniteCheckAndUnscale, grads.get(), fine.handle(),
               inverse.handle());
  }
  EXPECT_EQ(ValuesOf(a), (Doubles{1, 2}));
  EXPECT_EQ(ValuesOf(fine), (Doubles{0}));
  const ListHandle grads({&a, &b});
  EXPECT_RUN(device, ForeachNonFiniteCheckAndUnscale, grads.get(), fine.handle(), inverse.handle());
  EXPECT_EQ(ValuesOf(fine), (Doubles{1}));
  const DeviceTensor scale = Make(ACL_FLOAT, {1}, {8}), tracker = Make(ACL_INT32, {1}, {4}),
                     zero = Make(ACL_FLOAT, {1}, {0});
  EXPECT_RUN(device, AmpUpdateScale, scale.handle(), tracker.handle(), zero.handle(), 2.0, 0.5, 5,
             Handle(scale), Handle(tracker));
  EXPECT_EQ(ValuesOf(scale), (Doubles{16}));
  EXPECT_EQ(ValuesOf(tracker), (Doubles{0}));
  EXPECT_RUN(device, AmpUpdateScale, scale.handle(), tracker.handle(), fine.handle(), 2.0, 0.5, 5,
             Handle(scale), Handle(tracker));
  EXPECT_EQ(ValuesOf(scale), (Doubles{8}));
  const DeviceTensor w = Floats({1}, {1}), m = Floats({1}, {0}), v = Floats({1}, {0}),
                     g = Floats({1}, {0.5}), step = Floats({1}, {0}), second = Floats({1}, {1}),
                     top = Floats({1}, {1});
  EXPECT_RUN(device, ApplyAdamWV2, Handle(w), Handle(m), Handle(v), nullptr, g.handle(),
             step.handle(), 0.5f, 0.5f, 0.75f, 0.25f, 0.0f, false, false);
  EXPECT_EQ(ValuesOf(w)[0], 1 - 0.125 - 0.5) << "the first step is the rate";
  EXPECT_RUN(device, ApplyAdamWV2, Handle(w), Handle(m), Handle(v), Handle(top), g.handle(),
             second.handle(), 0.5f, 0.5f, 0.75f, 0.0f, 0.0f, true, true);
  const double first = 0.5 * 0.25 - 0.25, correction = std::sqrt(1 - 0.75 * 0.75);
  EXPECT_NEAR(ValuesOf(w)[0], 0.375 - 0.5 / 0.75 * first * correction, 0x1p-26);  // rounded once
  EXPECT_REFUSED(161001, "maxGradNormOptionalRef value is null", ApplyAdamWV2, Handle(w), Handle(m),
                 Handle(v), nullptr, g.handle(), step.handle(), 0.5f, 0.5f, 0.75f, 0.0f, 0.0f, true,
                 false);
}

// The powers before a step make it the same step: 0.5^2 and 0.75^2 are exact.
TEST(SupportingOptimizer, PowersAreThoseOfASteps) {
  const Device device;
  Random random(95);
  const Doubles start = RealValues(random, 300), rates = RealValues(random, 300, 0.5, 1);
  const DeviceTensor g = Floats({300}, RealValues(random, 300)), one = Floats({1}, {1}),
                     power1 = Floats({1}, {0.5}), power2 = Floats({1}, {0.75}),
                     rate = Floats({1}, {0.5}), decay = Floats({1}, {0.25}),
                     eps = Floats({1}, {0.125});
  std::vector<std::vector<std::byte>> results[2];
  for (const bool by_powers : {false, true}) {
    const DeviceTensor w = Floats({300}, start), m = Floats({300}, rates), v = Floats({300}, rates);
    if (by_powers) {
      EXPECT_RUN(device, ApplyAdamW, Handle(w), Handle(m), Handle(v), power1.handle(),
                 power2.handle(), rate.handle(), decay.handle(), power1.handle(), power2.handle(),
                 eps.handle(), g.handle(), nullptr, false, false);
    } else {
      EXPECT_RUN(device, ApplyAdamWV2, Handle(w), Handle(m), Handle(v), nullptr, g.handle(),
                 one.handle(), 0.5f, 0.5f, 0.75f, 0.25f, 0.125f, false, false);
    }
    results[by_powers] = {w.Read(), m.Read(), v.Read()};
  }
  EXPECT_TRUE(results[0] == results[1]);
  EXPECT_REFUSED(161001, "maxGradNormOptional value is null", ApplyAdamW, Handle(g), Handle(g),
                 Handle(g), power1.handle(), power2.handle(), rate.handle(), decay.handle(),
                 power1.handle(), power2.handle(), eps.handle(), g.handle(), nullptr, true, false);
  EXPECT_REFUSED(161002, "lr shape is (300), expected one element", ApplyAdam, Handle(g), Handle(g),
                 Handle(g), power1.handle(), power2.handle(), g.handle(), power1.handle(),
                 power2.handle(), eps.handle(), g.handle(), false, false);
}

}  // namespace
}  // namespace openaclnn::test
