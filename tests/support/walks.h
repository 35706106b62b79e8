// SPDX-License-Identifier: Apache-2.0
// Walks over what every operator checks alike: handles, products and types, formats, sizes, views.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/checks.h"
#include "tests/support/tables.h"
#include "tests/support/tensor.h"

namespace openaclnn::test {

/// A tensor among the arguments in a Spec, and the types that it may have where there is the
/// operator.
template <class Spec>
struct SpecOperand {
  const char* name;
  TensorSpec Spec::*member;
  std::vector<aclDataType> dtypes;
  bool tied = false;  // all tied operands have one type
  bool is_output = false;
  bool no_bf16_on_910 = false;
  std::vector<aclFormat> formats = {std::begin(kPlainFormats), std::end(kPlainFormats)};

  bool Takes(aclDataType dtype, Family family) const {
    if (no_bf16_on_910 && family == Family::k910 && dtype == ACL_BF16) return false;
    return IsOneOf(dtype, dtypes);
  }
  /// How a refusal of a type goes on: a list of one is none to choose from.
  std::string_view Expected(Family family) const {
    const auto taken = [&](const DtypeEntry& each) { return Takes(each.type, family); };
    const auto first = std::ranges::find_if(kDtypes, taken);
    return std::ranges::count_if(kDtypes, taken) == 1 ? first->name : "one of ";
  }
};

/// As a refusal begins to say which families have an operator.
inline std::string ExpectedFamilies(size_t count, std::string_view families) {
  return std::string(count == 1 ? "" : "one of ").append(families);
}

template <class Spec>
using SpecOperands = std::vector<SpecOperand<Spec>>;

/// Nulls of the outputs of phase 1 and of each operand, in order.
template <class Spec>
std::vector<CheckRow<Spec>> NullRows(const SpecOperands<Spec>& operands) {
  std::vector<CheckRow<Spec>> rows = {
      {"workspaceSize value is null", "", 161001, [](Spec* s) { s->null_workspace_size = true; }},
      {"executor value is null", "", 161001, [](Spec* s) { s->null_executor = true; }}};
  for (const SpecOperand<Spec>& operand : operands) {
    rows.push_back({std::string(operand.name) + " value is null", "a tensor", 161001,
                    [=](Spec* s) { (s->*operand.member).given = TensorSpec::kNull; }});
  }
  return rows;
}

/// Views that leave their storage, operand by operand.
template <class Spec>
std::vector<CheckRow<Spec>> ViewRows(const SpecOperands<Spec>& operands) {
  std::vector<CheckRow<Spec>> rows;
  for (const SpecOperand<Spec>& operand : operands) {
    rows.push_back({std::string(operand.name) + " view is (", "one inside its storage of shape (5)",
                    161002, [=](Spec* s) { (s->*operand.member).storage = Dims{5}; }});
  }
  return rows;
}

template <class Spec>
void ExpectHandlesAreChecked(std::string_view api, const Spec& good,
                             const SpecOperands<Spec>& operands) {
  for (const SpecOperand<Spec>& operand : operands) {
    Spec spec = good;
    (spec.*operand.member).given = TensorSpec::kForeign;
    ExpectRefused(Plan(spec), api, 161002, std::string(operand.name) + " value is not the handle",
                  "a live tensor");
    (spec.*operand.member).given = TensorSpec::kDestroyed;
    ExpectRefused(Plan(spec), api, 161002, std::string(operand.name) + " value is a handle that",
                  "a live tensor");
  }
}

/// One operand of another type than in `good`, on the product of the device.
template <class Spec>
void ExpectDtypeIsChecked(std::string_view api, const Spec& good, const SpecOperand<Spec>& operand,
                          const DtypeEntry& dtype, const ProductEntry& product) {
  Spec spec = good;
  (spec.*operand.member).dtype = dtype.type;
  const Planned planned = Plan(spec);
  if (!operand.Takes(dtype.type, product.family)) {
    ExpectRefused(planned, api, 161002, std::string(operand.name) + " dtype is " + dtype.name,
                  operand.Expected(product.family));
    EXPECT_TRUE(planned.outcome().message.ends_with(std::string(" on ") + product.name))
        << planned.outcome().message;
  } else if (operand.tied && dtype.type != (good.*operand.member).dtype) {
    EXPECT_EQ(planned.outcome().code, 161002);
    EXPECT_NE(planned.outcome().message.find(" dtype is "), std::string::npos);
    EXPECT_NE(planned.outcome().message.find(", expected "), std::string::npos);
  } else {
    EXPECT_EQ(planned.outcome().message, "");
  }
}

/// Every product, operand and type: each operand alone, then the tied ones together.
template <class Spec>
void ExpectTypesAreChecked(std::string_view api, const Spec& good,
                           const SpecOperands<Spec>& operands,
                           const std::vector<Family>& families) {
  const std::string expected_families = ExpectedFamilies(
      families.size(), families.size() == 1 ? NameOf(families.front()) : std::string_view());
  for (const ProductEntry& product : kProducts) {
    const Device device{{"OPENACLNN_SOC", product.name}};
    for (const DtypeEntry& dtype : kDtypes) {
      SCOPED_TRACE(std::string(product.name) + " " + dtype.name);
      Spec together = good;
      for (const SpecOperand<Spec>& operand : operands) {
        if (operand.tied) (together.*operand.member).dtype = dtype.type;
      }
      if (!IsOneOf(product.family, families)) {
        for (const SpecOperand<Spec>& operand : operands) {
          Spec spec = good;
          (spec.*operand.member).dtype = dtype.type;
          ExpectRefused(Plan(spec), api, 561003, "product family is ", expected_families);
        }
        ExpectRefused(Plan(together), api, 561003, "product family is ", expected_families);
        continue;
      }
      for (const SpecOperand<Spec>& operand : operands) {
        ExpectDtypeIsChecked(api, good, operand, dtype, product);
      }
      const bool taken =
          !operands.front().tied || operands.front().Takes(dtype.type, product.family);
      EXPECT_EQ(Plan(together).outcome().code, taken ? 0 : 161002);
    }
  }
}

/// Nulls come before the product, everything else after it.
template <class Spec>
void ExpectProductComesAfterNulls(std::string_view api, const Spec& good,
                                  const std::vector<CheckRow<Spec>>& rows, const char* product,
                                  std::string_view family, const std::string& families) {
  const Device device{{"OPENACLNN_SOC", product}};
  const std::string got = std::string("product family is ").append(family);
  const std::string wanted = families + " on " + product;
  ExpectRefused(Plan(good), api, 561003, got, wanted);
  for (const CheckRow<Spec>& row : rows) {
    Spec spec = good;
    row.breaks(&spec);
    EXPECT_EQ(Plan(spec).outcome().code, row.code == 161001 ? 161001 : 561003) << row.got;
  }
}

/// Every number of a format and of a type near the known ones.
template <class Spec>
void ExpectNumbersAreChecked(const Spec& good, const SpecOperands<Spec>& operands) {
  for (const SpecOperand<Spec>& operand : operands) {
    SCOPED_TRACE(operand.name);
    for (int number = -2; number <= 60; ++number) {
      Spec spec = good;
      const auto format = static_cast<aclFormat>(number);
      (spec.*operand.member).format = format;
      EXPECT_EQ(Plan(spec).outcome().code, IsOneOf(format, operand.formats) ? 0 : 161002) << number;
    }
    for (const int number : {-1, 5, 14, 28, 42, 63, 64, 1000, -1000}) {
      Spec spec = good;
      (spec.*operand.member).dtype = static_cast<aclDataType>(number);
      EXPECT_EQ(Plan(spec).outcome().code, 161002) << number;
    }
  }
}

/// Sizes that overflow or are negative, and views that leave their storage.
template <class Spec>
void ExpectSizesAreChecked(const Spec& good, const SpecOperands<Spec>& operands) {
  const auto code = [&](const SpecOperand<Spec>& operand, auto&& change) {
    Spec spec = good;
    change(&(spec.*operand.member));
    return Plan(spec).outcome().code;
  };
  constexpr int64_t kHuge = int64_t{1} << 40;
  for (const SpecOperand<Spec>& operand : operands) {
    SCOPED_TRACE(operand.name);
    const size_t rank = (good.*operand.member).dims.size();
    for (const int64_t dim : {int64_t{-1}, INT64_MIN, INT64_MAX}) {
      EXPECT_EQ(code(operand, [&](TensorSpec* t) { t->dims = Dims(rank, dim); }), 161002) << dim;
      EXPECT_EQ(code(operand, [&](TensorSpec* t) { t->dims[rank - 1] = dim; }), 161002) << dim;
      EXPECT_EQ(code(operand, [&](TensorSpec* t) { t->dims[0] = dim; }), 161002) << dim;
    }
    for (const Dims& bad :
         {Dims{-1, 3}, Dims{2, -3}, Dims{kHuge, kHuge}, Dims{INT64_MIN, 3}, Dims{INT64_MAX, 3},
          Dims{INT64_MAX, INT64_MAX}, Dims{0, -1}, Dims{kHuge, kHuge, 0, -4}, Dims{0}}) {
      EXPECT_EQ(code(operand, [&](TensorSpec* t) { t->storage = bad; }), 161002);
      if (bad.size() == 1) continue;
      EXPECT_EQ(code(operand, [&](TensorSpec* t) { t->dims = bad; }), 161002);
    }
    for (const int64_t stride : {INT64_MAX, INT64_MIN, INT64_MAX / 2 + 1, int64_t{-1}}) {
      EXPECT_EQ(code(operand, [&](TensorSpec* t) { t->strides = Dims(rank, stride); }), 161002);
    }
    for (const int64_t offset : {INT64_MAX, INT64_MIN, int64_t{-1}, int64_t{1}}) {
      EXPECT_EQ(code(operand, [&](TensorSpec* t) { t->offset = offset; }), 161002) << offset;
    }
    // Equal addresses of all elements: inputs may, outputs may not.
    EXPECT_EQ(code(operand, [&](TensorSpec* t) { t->strides = Dims(rank, 0); }),
              operand.is_output ? 161002 : 0);
  }
}

/// A call that is right, and how it is broken.
template <class Spec>
struct Refusals {
  const char* api;
  Spec good;
  SpecOperands<Spec> operands;       // those that are given
  std::vector<CheckRow<Spec>> rows;  // in the documented order
  std::vector<Family> families;      // that have the operator
};

}  // namespace openaclnn::test
