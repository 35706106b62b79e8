// SPDX-License-Identifier: Apache-2.0
// A call of Embedding as its tests and its bench make it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "aclnnop/aclnn_embedding.h"
#include "tests/support/problem.h"
#include "tests/support/walks.h"

namespace openaclnn::test::embedding::forward {

inline constexpr const char* kApi = "aclnnEmbedding";

struct Case {
  std::string name;
  Group group;
  Dims index_dims;
  int64_t width;
  int64_t num_rows;
  Rows rows;
};

struct Types {
  aclDataType weight = ACL_FLOAT;
  aclDataType indices = ACL_INT64;
};

/// The arguments of phase 1, good or bad.
struct Spec {
  TensorSpec weight, indices, out;
  bool null_workspace_size = false, null_executor = false;
};
Planned Plan(const Spec& spec);

/// Its data are random bytes.
class Problem : public OperatorProblem {
 public:
  Problem(const Case& shape, const Types& types, const Fill& fill = {});

  /// Row-major, rounded to the type.
  void SetIndices(const std::vector<double>& values) { Set(&indices, values); }

  std::vector<CallOperand> operands() const override;
  Planned Plan() const override;
  /// Only those rows of the weight that the indices name.
  int64_t LeastBytes() const override;

  DeviceTensor weight, indices, out;

 private:
  testing::AssertionResult OutputsAreRight() const override;

  Case case_;
};

/// Those of 1, 2, 4 or 8 bytes.
inline constexpr std::array kMovedDtypes = {ACL_FLOAT,  ACL_FLOAT16,   ACL_BF16,     ACL_INT8,
                                            ACL_INT32,  ACL_UINT8,     ACL_INT16,    ACL_UINT16,
                                            ACL_UINT32, ACL_INT64,     ACL_UINT64,   ACL_DOUBLE,
                                            ACL_BOOL,   ACL_COMPLEX64, ACL_COMPLEX32};

struct Room {
  using Case = forward::Case;
  using Problem = forward::Problem;
  using Spec = forward::Spec;
  /// Types of the weight, for each of the indices.
  static constexpr uint64_t kVariants = kMovedDtypes.size() * kIndexDtypes.size();
  static constexpr bool kFused = false;
  static constexpr Group kBitsUpTo = kReal;
  static constexpr std::array<uint64_t, 3> kTimed = {0, 1, 2};

  static const std::vector<Case>& Cases();
  static Case Random();
  static std::vector<Case> Shapes() { return {{"", kEdge, {60}, 7, 5, kUniformRows}}; }
  static aclDataType TypeOf(uint64_t variant) {
    return kMovedDtypes[variant % kMovedDtypes.size()];
  }
  static Problem Make(const Case& shape, uint64_t variant, const Fill& fill);
  static std::vector<test::Refusals<Spec>> Refusals();
};

}  // namespace openaclnn::test::embedding::forward
