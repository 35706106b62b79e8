// SPDX-License-Identifier: Apache-2.0
// Results of SampleScale, and the calls that it refuses.
#include <gtest/gtest.h>

#include "sample_scale/forward/reference.h"
#include "sample_scale/forward/test_case.h"
#include "tests/support/room_checks.h"
#include "tests/support/room_runs.h"

namespace openaclnn::test::sample_scale::forward {
namespace {

TEST(Reference, IsTheFormula) {
  const std::vector<double> x = {1, -2, 3};
  std::vector<double> y(3);
  openaclnn::sample_scale::forward::Reference(3, x.data(), 0.5, y.data());
  EXPECT_EQ(y, (std::vector<double>{0.5, -1, 1.5}));
}

INSTANTIATE_TYPED_TEST_SUITE_P(SampleScale, RoomRuns, Room);
INSTANTIATE_TYPED_TEST_SUITE_P(SampleScale, RoomChecks, Room);

SpecOperands<Spec> Operands() {
  const std::vector<aclDataType> floats(kFloatDtypes.begin(), kFloatDtypes.end());
  return {{"self", &Spec::self, floats, true, false, true},
          {"out", &Spec::out, floats, true, true, true}};
}

std::vector<CheckRow<Spec>> Rows() {
  std::vector<CheckRow<Spec>> rows = NullRows(Operands());
  rows.insert(
      rows.end(),
      {{"self dtype is INT32", "one of FLOAT", 161002, [](Spec* s) { s->self.dtype = ACL_INT32; }},
       {"out dtype is INT8", "one of FLOAT", 161002, [](Spec* s) { s->out.dtype = ACL_INT8; }},
       {"self rank is 0", "1 to 8", 161002, [](Spec* s) { s->self.dims = {}; }},
       {"out shape is (2, 5)", "", 161002,
        [](Spec* s) {
          s->out.dims = {2, 5};
        }},
       {"self format is number 29", "one of UNDEFINED, ND", 161002,
        [](Spec* s) { s->self.format = ACL_FORMAT_FRACTAL_NZ; }}});
  const std::vector<CheckRow<Spec>> views = ViewRows(Operands());
  rows.insert(rows.end(), views.begin(), views.end());
  return rows;
}

}  // namespace

std::vector<test::Refusals<Spec>> Room::Refusals() {
  Spec good;
  good.self = good.out = {.dims = {2, 4}};
  return {{kApi, good, Operands(), Rows(), {Family::k910, Family::kA2, Family::kA3, Family::k950}}};
}

}  // namespace openaclnn::test::sample_scale::forward
