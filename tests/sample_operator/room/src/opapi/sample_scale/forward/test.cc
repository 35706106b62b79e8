// SPDX-License-Identifier: Apache-2.0
// What SampleScale computes and what it refuses.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>

#include "sample_scale/forward/reference.h"
#include "sample_scale/forward/test_case.h"
#include "tests/support/bits.h"
#include "tests/support/checks.h"
#include "tests/support/numbers.h"
#include "tests/support/tables.h"

namespace openaclnn::test::sample_scale::forward {
namespace {

TEST(Reference, IsTheFormula) {
  const std::vector<double> x = {1, -2, 3};
  std::vector<double> y(3);
  openaclnn::sample_scale::forward::Reference(3, x.data(), 0.5, y.data());
  EXPECT_EQ(y, (std::vector<double>{0.5, -1, 1.5}));
}

TEST(SampleScale, NamedCases) {
  const Device device;
  for (const Case& shape : Cases()) {
    if (shape.group == kPerf) continue;
    for (const aclDataType dtype : kFloatDtypes) {
      for (const bool strided : {false, true}) {
        SCOPED_TRACE(testing::Message() << shape.name << " " << dtype << " " << strided);
        const Problem problem(shape, dtype, 3, strided);
        ASSERT_EQ(problem.Run(device).message, "");
        EXPECT_TRUE(problem.IsRight());
      }
    }
  }
}

TEST(SampleScale, RandomShapesTypesAndViews) {
  const Device device;
  EXPECT_TRUE(rc::check([&] {
    Case shape{"", kSmoke, {}, *rc::gen::inRange(-100, 100) / 16.0};
    for (int axis = *rc::gen::inRange(1, 8); axis > 0; --axis) {
      shape.dims.push_back(*rc::gen::inRange<int64_t>(0, axis == 1 ? 70 : 4));
    }
    const Problem problem(shape, *rc::gen::elementOf(kFloatDtypes), *rc::gen::arbitrary<uint32_t>(),
                          *rc::gen::arbitrary<bool>());
    const Outcome outcome = problem.Run(device);
    if (!outcome.ok()) RC_FAIL(outcome.message);
    const testing::AssertionResult right = problem.IsRight();
    if (!right) RC_FAIL(std::string(right.message()));
  }));
}

TEST(SampleScaleBits, AreThoseOfOneThreadAndEveryInstructionSet) {
  std::map<std::string, std::vector<std::byte>> first;
  UnderEachSetting([&](const std::string& setting, const Device& device) {
    for (const Case& shape : Cases()) {
      if (shape.group == kPerf) continue;
      const Problem problem(shape, ACL_BF16, 5, true);
      ASSERT_EQ(problem.Run(device).message, "");
      const auto [entry, added] = first.emplace(shape.name, problem.out.Read());
      EXPECT_TRUE(added || entry->second == problem.out.Read()) << shape.name << " " << setting;
    }
  });
}

TEST(SampleScaleChecks, EachRowAndTheEarlierWins) {
  const Device device;
  Spec good;
  good.self = good.out = {.dims = {2, 4}};
  const std::vector<CheckRow<Spec>> rows = {
      {"workspaceSize value is null", "", 161001, [](Spec* s) { s->null_workspace_size = true; }},
      {"executor value is null", "", 161001, [](Spec* s) { s->null_executor = true; }},
      {"self value is null", "a tensor", 161001,
       [](Spec* s) { s->self.given = TensorSpec::kNull; }},
      {"out value is null", "a tensor", 161001, [](Spec* s) { s->out.given = TensorSpec::kNull; }},
      {"self dtype is INT32", "one of FLOAT", 161002, [](Spec* s) { s->self.dtype = ACL_INT32; }},
      {"out dtype is INT8", "one of FLOAT", 161002, [](Spec* s) { s->out.dtype = ACL_INT8; }},
      {"self rank is 0", "1 to 8", 161002, [](Spec* s) { s->self.dims = {}; }},
      {"out shape is (2, 5)", "", 161002,
       [](Spec* s) {
         s->out.dims = {2, 5};
       }},
      {"self format is number 29", "one of UNDEFINED, ND", 161002,
       [](Spec* s) { s->self.format = ACL_FORMAT_FRACTAL_NZ; }},
  };
  ExpectEachRow(kApi, good, rows);
  ExpectEarlierWins(kApi, good, rows);
}

TEST(SampleScaleChecks, EveryProductAndType) {
  for (const ProductEntry& product : kProducts) {
    const Device device{{"OPENACLNN_SOC", product.name}};
    const bool supported = product.family != Family::k310P && product.family != Family::k310B;
    for (const DtypeEntry& dtype : kDtypes) {
      const bool taken = IsOneOf(dtype.type, kFloatDtypes) &&
                         !(dtype.type == ACL_BF16 && product.family == Family::k910);
      Spec spec;
      spec.self = spec.out = {.dims = {2, 4}, .dtype = dtype.type};
      EXPECT_EQ(Plan(spec).outcome().code, !supported ? 561003
                                           : taken    ? 0
                                                      : 161002)
          << product.name << " " << dtype.name;
    }
  }
}

}  // namespace
}  // namespace openaclnn::test::sample_scale::forward
