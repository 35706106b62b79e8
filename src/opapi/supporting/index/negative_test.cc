// SPDX-License-Identifier: Apache-2.0
// Negative indices: which operators count them from the end, and which refuse them.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

/// Places of three: the last, the first, the last.
struct Backwards {
  const Device device;
  const DeviceTensor self = Make(ACL_FLOAT, {3}, {1, 2, 3}), out = Make(ACL_FLOAT, {3}, {9, 9, 9}),
                     index = Make(ACL_INT64, {3}, {-1, 0, 2}),
                     beyond = Make(ACL_INT32, {3}, {-4, 0, 2}),
                     values = Make(ACL_FLOAT, {3}, {10, 20, 30});
  const ScalarHandle one{1.0};
};

TEST(Negative, GatheringCountsFromTheEnd) {
  const Backwards p;
  const Doubles want = {3, 1, 3};
  EXPECT_RUN(p.device, Gather, p.self.handle(), 0, p.index.handle(), Handle(p.out));
  EXPECT_EQ(ValuesOf(p.out), want);
  EXPECT_RUN(p.device, GatherV2, p.self.handle(), 0, p.index.handle(), Handle(p.out));
  EXPECT_EQ(ValuesOf(p.out), want);
  EXPECT_RUN(p.device, Take, p.self.handle(), p.index.handle(), Handle(p.out));
  EXPECT_EQ(ValuesOf(p.out), want);
  const ListHandle indices({&p.index});
  EXPECT_RUN(p.device, Index, p.self.handle(), indices.get(), Handle(p.out));
  EXPECT_EQ(ValuesOf(p.out), want);
}

TEST(Negative, SlicesAreCountedFromTheEnd) {
  const Backwards p;
  EXPECT_RUN(p.device, IndexAdd, p.self.handle(), 0, p.index.handle(), p.values.handle(),
             p.one.get(), Handle(p.out));
  EXPECT_EQ(ValuesOf(p.out), (Doubles{21, 2, 43}));
  EXPECT_RUN(p.device, IndexCopy, p.self.handle(), 0, p.index.handle(), p.values.handle(),
             Handle(p.out));
  EXPECT_EQ(ValuesOf(p.out), (Doubles{20, 2, 30}));
  EXPECT_RUN(p.device, IndexFill, p.self.handle(), 0, p.index.handle(), p.one.get(), Handle(p.out));
  EXPECT_EQ(ValuesOf(p.out), (Doubles{1, 2, 1}));
  EXPECT_RUN(p.device, InplacePut, Handle(p.self), p.index.handle(), p.values.handle(), true);
  EXPECT_EQ(ValuesOf(p.self), (Doubles{21, 2, 43}));
  const ListHandle indices({&p.index});
  EXPECT_RUN(p.device, IndexPutImpl, Handle(p.self), indices.get(), p.values.handle(), false,
             false);
  EXPECT_EQ(ValuesOf(p.self), (Doubles{20, 2, 30}));
}

TEST(Negative, BeyondTheBeginningNothingIsWritten) {
  const Backwards p;
  const Outcome outcome =
      RUN(p.device, Gather, p.self.handle(), 0, p.beyond.handle(), Handle(p.out));
  EXPECT_EQ(outcome.code, 507035);
  EXPECT_NE(outcome.message.find("index value 0 is -4, expected -3 <= value < 3"),
            std::string::npos)
      << outcome.message;
  EXPECT_EQ(ValuesOf(p.out), (Doubles{9, 9, 9}));
}

TEST(Negative, ScattersAndSelectionsRefuseThem) {
  const Backwards p;
  const std::string says = "index value 0 is -1, expected 0 <= value < 3";
  const auto refused = [&](const Outcome& outcome) {
    EXPECT_EQ(outcome.code, 507035);
    EXPECT_NE(outcome.message.find(says), std::string::npos) << outcome.message;
    EXPECT_EQ(ValuesOf(p.out), (Doubles{9, 9, 9}));
  };
  refused(RUN(p.device, IndexSelect, p.self.handle(), 0, p.index.handle(), Handle(p.out)));
  refused(RUN(p.device, Scatter, p.self.handle(), 0, p.index.handle(), p.values.handle(), 0,
              Handle(p.out)));
  refused(RUN(p.device, ScatterValue, p.self.handle(), 0, p.index.handle(), p.one.get(), 0,
              Handle(p.out)));
  refused(RUN(p.device, ScatterAdd, p.self.handle(), 0, p.index.handle(), p.values.handle(),
              Handle(p.out)));
}

}  // namespace
}  // namespace openaclnn::test
