// SPDX-License-Identifier: Apache-2.0
// MaxUnpool2d: an example of several elements at one place, refusals.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

TEST(MaxUnpool, PutsTheLastOfSeveral) {
  const Device device;
  const IntListHandle size(IntListSpec{{2, 3}}), one(IntListSpec{{1, 1, 1}}),
      deep(IntListSpec{{1, 2, 3}});
  const DeviceTensor self = Of({1, 2, 2}, {5, 6, 7, 8}), out = Empty({1, 2, 3}),
                     places = Make(ACL_INT64, {1, 2, 2}, {4, 0, 2, 4}),
                     beyond = Make(ACL_INT32, {1, 2, 2}, {0, 1, 6, 2});
  EXPECT_RUN(device, MaxUnpool2d, self.handle(), places.handle(), size.get(), Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{6, 0, 7, 0, 8, 0}));
  EXPECT_EQ(RUN(device, MaxUnpool2d, self.handle(), beyond.handle(), size.get(), Handle(out)).code,
            507035);
  EXPECT_REFUSED(161002, "out shape is (1, 2, 2), expected (1, 2, 3)", MaxUnpool2d, self.handle(),
                 places.handle(), size.get(), Handle(self));
  EXPECT_REFUSED(161002, "indices dtype is DOUBLE, expected INT32, INT64", MaxUnpool2d,
                 self.handle(), self.handle(), size.get(), Handle(out));
  EXPECT_REFUSED(161002, "indices shape is (1, 2, 2), expected (1, 2, 3)", MaxUnpool2d,
                 out.handle(), places.handle(), size.get(), Handle(self));
  EXPECT_REFUSED(161002, "self rank is 3", MaxUnpool3d, self.handle(), places.handle(), deep.get(),
                 one.get(), one.get(), Handle(out));
}

}  // namespace
}  // namespace openaclnn::test
