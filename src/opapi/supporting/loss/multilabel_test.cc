// SPDX-License-Identifier: Apache-2.0
// MultilabelMarginLoss: an example, refusals.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

TEST(MultilabelMargin, AnExample) {
  const Device device;
  const DeviceTensor self = Of({1, 4}, {0.125, 0.25, 0.5, 0.75}), out = Empty({1}),
                     mean = Empty({}), target = Make(ACL_INT64, {1, 4}, {3, 0, -1, 1}),
                     flags = Empty({1, 4});
  EXPECT_RUN(device, MultilabelMarginLoss, self.handle(), target.handle(), 0, Handle(out),
             Handle(flags));
  // 1 - (0.75 - 0.25), 1 - (0.75 - 0.5), 1 - (0.125 - 0.25), 1 - (0.125 - 0.5), of four classes.
  EXPECT_EQ(ValuesOf(out), (Doubles{(0.5 + 0.75 + 1.125 + 1.375) / 4}));
  EXPECT_EQ(ValuesOf(flags), (Doubles{1, 0, 0, 1}));
  EXPECT_RUN(device, MultilabelMarginLoss, self.handle(), target.handle(), 1, Handle(mean),
             Handle(flags));
  EXPECT_EQ(ValuesOf(mean), ValuesOf(out));
}

TEST(MultilabelMargin, Refusals) {
  const Device device;
  const DeviceTensor self = Empty({2, 3}), out = Empty({}), each = Empty({2}),
                     flags = Empty({2, 3}), target(ACL_INT64, DenseLayout({2, 3})),
                     none = Empty({2, 0}), beyond = Make(ACL_INT64, {2, 3}, {0, 1, -1, 2, 3, 0}),
                     other(ACL_INT64, DenseLayout({3, 2}));
  EXPECT_REFUSED(161002, "reduction value is 3, expected none (0), mean (1) or sum (2)",
                 MultilabelMarginLoss, self.handle(), target.handle(), 3, Handle(out),
                 Handle(flags));
  EXPECT_REFUSED(161002, "target shape is (3, 2), expected (2, 3)", MultilabelMarginLoss,
                 self.handle(), other.handle(), 1, Handle(out), Handle(flags));
  EXPECT_REFUSED(161002, "out shape is (), expected (2)", MultilabelMarginLoss, self.handle(),
                 target.handle(), 0, Handle(out), Handle(flags));
  EXPECT_REFUSED(161002, "isTarget shape is (2), expected (2, 3)", MultilabelMarginLoss,
                 self.handle(), target.handle(), 1, Handle(out), Handle(each));
  EXPECT_REFUSED(161002, "target dtype is DOUBLE, expected INT32, INT64", MultilabelMarginLoss,
                 self.handle(), self.handle(), 1, Handle(out), Handle(flags));
  const Outcome failed = RUN(device, MultilabelMarginLoss, self.handle(), beyond.handle(), 1,
                             Handle(out), Handle(flags));
  EXPECT_EQ(failed.code, 507035);
  EXPECT_NE(failed.message.find("target value 4 is 3, expected 0 <= value < 3, or -1"),
            std::string::npos)
      << failed.message;
}

}  // namespace
}  // namespace openaclnn::test
