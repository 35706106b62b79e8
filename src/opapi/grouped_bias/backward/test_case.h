// SPDX-License-Identifier: Apache-2.0
// A call of GroupedBiasAddGrad, in either version, as its tests and its bench make it.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "aclnnop/aclnn_grouped_bias_add_grad.h"
#include "tests/support/accuracy.h"
#include "tests/support/call.h"
#include "tests/support/cases.h"
#include "tests/support/tensor.h"

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

/// What cases.inc lists.
const std::vector<Case>& Cases();

/// The two functions, and what the second one's list holds.
enum Version { kFirst, kSecondWithEnds, kSecondWithSizes };

inline constexpr std::array kVersions = {kFirst, kSecondWithEnds, kSecondWithSizes};

inline const char* ApiOf(Version version) {
  return version == kFirst ? "aclnnGroupedBiasAddGrad" : "aclnnGroupedBiasAddGradV2";
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

/// Tensors with data for a case, and what the reference says of them.
class Problem {
 public:
  struct Options {
    uint64_t seed = 1;
    Values values = kNormal;
    bool strided = false;  // random views, else dense
  };

  Problem(const Case& shape, const Types& types, const Options& options);
  Problem(const Case& shape, const Types& types) : Problem(shape, types, Options()) {}

  /// Replaces the data: row-major, rounded to the type.
  void SetGrad(const std::vector<double>& values);
  /// Replaces the list, good or bad, as the version wants it.
  void SetList(const std::vector<int64_t>& list);
  /// Ends of groups, as a list of ends or of sizes.
  void SetEnds(const std::vector<int64_t>& ends);

  Planned Plan() const;
  /// Both phases and synchronise.
  Outcome Run(const Device& device) const;

  /// The reference on gradY as stored.
  ReferenceSums Reference() const;
  /// The output within the bound of the reference, inputs and everything beside the output as it
  /// was.
  testing::AssertionResult IsRight() const;

  DeviceTensor grad_y, list, out;

 private:
  Case case_;
  Version version_;
  std::vector<int64_t> ends_;
};

/// The work's least traffic: every input read once, the output written once.
int64_t LeastBytes(const Case& shape, const Types& types);

}  // namespace openaclnn::test::grouped_bias::backward
