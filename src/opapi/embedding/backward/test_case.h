// SPDX-License-Identifier: Apache-2.0
// A call of EmbeddingDenseBackward as its tests and its bench make it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "aclnnop/aclnn_embedding_dense_backward.h"
#include "tests/support/problem.h"
#include "tests/support/walks.h"

namespace openaclnn::test::embedding::backward {

inline constexpr const char* kApi = "aclnnEmbeddingDenseBackward";
inline constexpr uint64_t kNoPadding = UINT64_MAX;

struct Case {
  std::string name;
  Group group;
  Dims index_dims;
  int64_t width;
  uint64_t num_weights;
  uint64_t padding_idx;
  bool scale;
  Rows rows;
};

struct Types {
  aclDataType grad = ACL_FLOAT;
  aclDataType indices = ACL_INT64;
  aclDataType out = ACL_FLOAT;
};

/// The arguments of phase 1, good or bad.
struct Spec {
  TensorSpec grad, indices;
  uint64_t num_weights = 0, padding_idx = kNoPadding;
  bool scale = false;
  TensorSpec out;
  bool null_workspace_size = false, null_executor = false;
};
Planned Plan(const Spec& spec);

class Problem : public OperatorProblem {
 public:
  Problem(const Case& shape, const Types& types, const Fill& fill = {});

  /// Replaces the data: row-major, rounded to the types.
  void SetGrad(const std::vector<double>& values) { Set(&grad, values); }
  void SetIndices(const std::vector<double>& values) { Set(&indices, values); }

  std::vector<CallOperand> operands() const override;
  Planned Plan() const override;
  /// The reference on the inputs as stored.
  ReferenceSums Reference() const;

  DeviceTensor grad, indices, out;

 private:
  testing::AssertionResult OutputsAreRight() const override;

  Case case_;
};

struct Room {
  using Case = backward::Case;
  using Problem = backward::Problem;
  using Spec = backward::Spec;
  /// Types of grad and of out alike first, then others, each for every type of the indices.
  static constexpr uint64_t kVariants = 9 * kIndexDtypes.size();
  static constexpr bool kFused = false;
  static constexpr Group kBitsUpTo = kReal;
  static constexpr std::array<uint64_t, 3> kTimed = {0, 1, 2};

  static const std::vector<Case>& Cases();
  static Case Random();
  static std::vector<Case> Shapes() {
    return {{"", kEdge, {60}, 7, 5, kNoPadding, false, kUniformRows},
            {"", kEdge, {3001}, 37, 3, kNoPadding, false, kUniformRows}};
  }
  static aclDataType TypeOf(uint64_t variant) { return kFloatDtypes[variant % 3]; }
  static Problem Make(const Case& shape, uint64_t variant, const Fill& fill);
  static std::vector<test::Refusals<Spec>> Refusals();
};

}  // namespace openaclnn::test::embedding::backward
