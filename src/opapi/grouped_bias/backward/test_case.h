// SPDX-License-Identifier: Apache-2.0
// A call of GroupedBiasAddGrad, in either version, as its tests and its bench make it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "aclnnop/aclnn_grouped_bias_add_grad.h"
#include "tests/support/problem.h"
#include "tests/support/walks.h"

namespace openaclnn::test::grouped_bias::backward {

/// How the groups lie: without a list, of equally many rows, at random, or one has all rows.
enum Groups { kNoList, kEvenGroups, kRandomGroups, kFirstHasAll, kLastHasAll };

struct Case {
  std::string name;
  Group group;
  int64_t groups;
  int64_t rows;  // of all groups with a list, else of each
  int64_t width;
  Groups how;

  bool listed() const { return how != kNoList; }
  int64_t all_rows() const { return listed() ? rows : groups * rows; }
};

/// The two functions, and what the second one's list holds.
enum Version { kFirst, kSecondWithEnds, kSecondWithSizes };

inline constexpr std::array kVersions = {kFirst, kSecondWithEnds, kSecondWithSizes};

inline constexpr const char* kApi = "aclnnGroupedBiasAddGrad";

inline const char* ApiOf(Version version) {
  return version == kFirst ? kApi : "aclnnGroupedBiasAddGradV2";
}
inline Phase2 Phase2Of(Version version) {
  return version == kFirst ? aclnnGroupedBiasAddGrad : aclnnGroupedBiasAddGradV2;
}

struct Types {
  aclDataType data = ACL_FLOAT;
  aclDataType list = ACL_INT64;
  Version version = kFirst;
};

/// The arguments of phase 1, good or bad.
struct Spec {
  TensorSpec grad_y, list;
  int64_t list_type = 0;  // for the second version
  TensorSpec out;
  bool null_workspace_size = false, null_executor = false;
  Version version = kFirst;
};
Planned Plan(const Spec& spec);

class Problem : public OperatorProblem {
 public:
  Problem(const Case& shape, const Types& types, const Fill& fill = {});

  /// Replaces the data: row-major, rounded to the type.
  void SetGrad(const std::vector<double>& values) { Set(&grad_y, values); }
  /// Replaces the list, good or bad, as the version wants it.
  void SetList(const std::vector<int64_t>& list);
  /// Ends of groups, as a list of ends or of sizes.
  void SetEnds(const std::vector<int64_t>& ends);

  std::vector<CallOperand> operands() const override;
  Planned Plan() const override;
  /// The reference on gradY as stored.
  ReferenceSums Reference() const;

  DeviceTensor grad_y, list, out;

 private:
  testing::AssertionResult OutputsAreRight() const override;

  Case case_;
  Version version_;
  std::vector<int64_t> ends_;
};

struct Room {
  using Case = backward::Case;
  using Problem = backward::Problem;
  using Spec = backward::Spec;
  /// Three types, two of lists, three versions.
  static constexpr uint64_t kVariants = 18;
  static constexpr bool kFused = false;
  static constexpr Group kBitsUpTo = kReal;
  static constexpr std::array<uint64_t, 3> kTimed = {0, 1, 2};

  static const std::vector<Case>& Cases();
  static Case Random();
  static std::vector<Case> Shapes() {
    return {{"", kEdge, 5, 60, 7, kRandomGroups},
            {"", kEdge, 5, 1060, 7, kNoList},
            {"", kEdge, 3, 3000, 37, kRandomGroups}};
  }
  static aclDataType TypeOf(uint64_t variant) { return kFloatDtypes[variant % 3]; }
  static Problem Make(const Case& shape, uint64_t variant, const Fill& fill);
  static std::vector<test::Refusals<Spec>> Refusals();
};

}  // namespace openaclnn::test::grouped_bias::backward
