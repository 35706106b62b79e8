// SPDX-License-Identifier: Apache-2.0
// What the masked softmax and its gradient refuse alike; for a Spec with mask and fix_triu_mask.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/mask.h"
#include "tests/support/walks.h"

namespace openaclnn::test {

inline const std::vector<Family> kMaskFamilies = {Family::kA2, Family::kA3, Family::k950};

template <class Spec>
struct MaskChecks {
  const char* api;
  SpecOperands<Spec> operands;  // all but the mask have one shape and type; the first rules
  int64_t least_width;
  TensorSpec Spec::*output;

  bool is_mask(const SpecOperand<Spec>& operand) const { return operand.member == &Spec::mask; }
  const SpecOperand<Spec>& first() const { return operands.front(); }

  /// All shapes fit data of these dimensions and a mask of those.
  Spec Sized(const Dims& data, const Dims& mask) const {
    Spec spec;
    for (const auto& operand : operands) {
      (spec.*operand.member).dims = is_mask(operand) ? mask : data;
    }
    spec.mask.dtype = ACL_BOOL;
    return spec;
  }
  Spec GoodSpec() const { return Sized({2, 3, 4, 5}, {2, 1, 4, 5}); }
};

template <class Spec>
using MaskRows = std::vector<CheckRow<Spec>>;

template <class Spec>
MaskRows<Spec> MaskTypeRows(const MaskChecks<Spec>& checks) {
  MaskRows<Spec> rows;
  for (const auto& operand : checks.operands) {
    const bool mask = checks.is_mask(operand);
    rows.push_back({std::string(operand.name) + " dtype is INT8",
                    mask ? "BOOL on Ascend910B1" : "one of FLOAT, FLOAT16, BFLOAT16 on Ascend910B1",
                    161002, [=](Spec* s) { (s->*operand.member).dtype = ACL_INT8; }});
  }
  for (const auto& operand : checks.operands) {
    rows.push_back({std::string(operand.name) + " format is number 29",
                    "one of UNDEFINED, ND, NCHW, NHWC, HWCN, NDHWC, NCDHW, NCL", 161002,
                    [=](Spec* s) { (s->*operand.member).format = ACL_FORMAT_FRACTAL_NZ; }});
  }
  return rows;
}

template <class Spec>
MaskRows<Spec> MaskShapeRows(const MaskChecks<Spec>& checks) {
  const auto first = checks.first();
  const std::string name = first.name, least = std::to_string(checks.least_width);
  MaskRows<Spec> rows = {
      {name + " rank is 3 (shape (6, 4, 5))", "4", 161002,
       [=](Spec* s) {
         (s->*first.member).dims = {6, 4, 5};
       }},
      {name + " last dimension is 4097", least + " to 4096 on Ascend910B1", 161002, [=](Spec* s) {
         (s->*first.member).dims = {2, 3, 4, 4097};
       }}};
  for (const auto& operand : checks.operands) {
    if (checks.is_mask(operand) || operand.member == first.member) continue;
    rows.push_back({std::string(operand.name) + " shape is (2, 3, 20)",
                    "that of " + name + ", (2, 3, 4, 5)", 161002, [=](Spec* s) {
                      (s->*operand.member).dims = {2, 3, 20};
                    }});
    rows.push_back({std::string(operand.name) + " dtype is FLOAT16", "that of " + name + ", FLOAT",
                    161002, [=](Spec* s) { (s->*operand.member).dtype = ACL_FLOAT16; }});
  }
  const std::string wanted = name + "'s last two dimensions after two that are 1 or " + name +
                             "'s (" + name + " shape (2, 3, 4, 5))";
  rows.push_back({"mask rank is 2 (shape (4, 5))", "4", 161002, [](Spec* s) {
                    s->mask.dims = {4, 5};
                  }});
  rows.push_back({"mask shape is (2, 2, 4, 5)", wanted, 161002, [](Spec* s) {
                    s->mask.dims = {2, 2, 4, 5};
                  }});
  rows.push_back(
      {"fixTriuMask value is true", "false", 161002, [](Spec* s) { s->fix_triu_mask = true; }});
  return rows;
}

/// All rows in the documented order.
template <class Spec>
MaskRows<Spec> AllMaskRows(const MaskChecks<Spec>& checks) {
  MaskRows<Spec> all = NullRows(checks.operands);
  for (const auto& rows :
       {MaskTypeRows(checks), MaskShapeRows(checks), ViewRows(checks.operands)}) {
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

/// Around the width that a product can have.
template <class Spec>
void ExpectWidthsAreChecked(const MaskChecks<Spec>& checks) {
  const std::string least = std::to_string(checks.least_width);
  for (const ProductEntry& product : kProducts) {
    const Device device{{"OPENACLNN_SOC", product.name}};
    if (!IsOneOf(product.family, kMaskFamilies)) continue;
    const int64_t most = product.family == Family::k950 ? 8192 : 4096;
    for (const int64_t width : {int64_t{0}, int64_t{1}, most, most + 1, int64_t{1} << 40}) {
      const Planned planned = Plan(checks.Sized({2, 3, 4, width}, {2, 1, 4, width}));
      const bool good = checks.least_width <= width && width <= most;
      EXPECT_EQ(planned.outcome().code, good ? 0 : 161002) << product.name << width;
      if (good) continue;
      ExpectRefused(
          planned, checks.api, 161002,
          std::string(checks.first().name) + " last dimension is " + std::to_string(width),
          least + " to " + std::to_string(most) + " on " + product.name);
    }
  }
}

/// Every rank, of an operand and of all of them.
template <class Spec>
void ExpectRanksAreChecked(const MaskChecks<Spec>& checks) {
  for (size_t rank = 0; rank <= 9; ++rank) {
    for (const auto& operand : checks.operands) {
      Spec spec = checks.Sized({2, 2, 2, 2}, {2, 2, 2, 2});
      (spec.*operand.member).dims = Dims(rank, 2);
      EXPECT_EQ(Plan(spec).outcome().code, rank == 4 ? 0 : 161002) << operand.name << rank;
    }
    EXPECT_EQ(Plan(checks.Sized(Dims(rank, 1), Dims(rank, 1))).outcome().code,
              rank == 4 ? 0 : 161002)
        << rank;
  }
}

template <class Spec>
void ExpectMaskShapesAreChecked(const MaskChecks<Spec>& checks) {
  const auto code = [&](const Dims& data, const Dims& mask) {
    return Plan(checks.Sized(data, mask)).outcome().code;
  };
  const Dims data = {2, 3, 4, 5};
  for (const MaskMode mode : kMaskModes) EXPECT_EQ(code(data, MaskDims(data, mode)), 0);
  for (const Dims& mask : std::vector<Dims>{{2, 3, 1, 5},
                                            {2, 3, 4, 1},
                                            {3, 2, 4, 5},
                                            {2, 3, 5, 4},
                                            {0, 3, 4, 5},
                                            {4, 3, 4, 5},
                                            {2, 3, 4, 6}}) {
    EXPECT_EQ(code(data, mask), 161002) << testing::PrintToString(mask);
  }
  EXPECT_EQ(code({0, 3, 4, 5}, {0, 3, 4, 5}), 0);
  EXPECT_EQ(code({0, 3, 4, 5}, {1, 1, 4, 5}), 0);
  EXPECT_EQ(code({0, 3, 4, 5}, {2, 1, 4, 5}), 161002);
  EXPECT_EQ(code({2, 3, 0, 5}, {1, 3, 0, 5}), 0);
  EXPECT_EQ(code({2, 3, 4, 0}, {1, 1, 4, 0}), checks.least_width == 0 ? 0 : 161002);
  EXPECT_EQ(code({1, 1, 1, 1}, {1, 1, 1, 1}), 0);
  EXPECT_EQ(code({1, 1, 1, 1}, {2, 1, 1, 1}), 161002);
}

template <class Spec>
void ExpectSelfOverlapIsRefused(const MaskChecks<Spec>& checks) {
  for (const Dims& strides : {Dims{60, 20, 5, 0}, Dims{0, 20, 5, 1}, Dims{60, 20, 4, 1}}) {
    Spec spec = checks.GoodSpec();
    (spec.*checks.output).strides = strides;
    ExpectRefused(Plan(spec), checks.api, 161002,
                  std::string(checks.operands.back().name) + " strides are (",
                  "elements that do not overlap");
  }
}

/// Wherever a view without elements seems to lie.
template <class Spec>
void ExpectViewsWithoutElementsAreTaken(const MaskChecks<Spec>& checks, const Device& device,
                                        Phase2 run) {
  constexpr int64_t kHuge = int64_t{1} << 40;
  Spec spec = checks.Sized({2, 3, 0, 4}, {1, 3, 0, 4});
  Spec huge = checks.Sized({kHuge, kHuge, 0, 4096}, {1, 1, 0, 4096});
  for (const auto& operand : checks.operands) {
    if (checks.is_mask(operand)) continue;
    TensorSpec& nowhere = spec.*operand.member;
    nowhere.strides = Dims{INT64_MAX, INT64_MIN, INT64_MAX, 1};
    nowhere.offset = -9;
    nowhere.storage = Dims{1};
    (huge.*operand.member).strides = Dims{0, 0, 0, 1};
  }
  EXPECT_EQ(Plan(spec).outcome().message, "");
  EXPECT_EQ(Execute(device, Plan(huge), run).message, "");
}

/// Widths, ranks, masks and views, good and bad.
template <class Spec>
void ExpectMaskedRowsAreChecked(const MaskChecks<Spec>& checks, Phase2 run) {
  ExpectWidthsAreChecked(checks);
  const Device device;
  ExpectRanksAreChecked(checks);
  ExpectMaskShapesAreChecked(checks);
  ExpectSelfOverlapIsRefused(checks);
  ExpectViewsWithoutElementsAreTaken(checks, device, run);
}

}  // namespace openaclnn::test
