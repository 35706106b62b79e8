// SPDX-License-Identifier: Apache-2.0
// A call of Embedding as its tests and its bench make it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "aclnnop/aclnn_embedding.h"
#include "tests/support/call.h"
#include "tests/support/cases.h"
#include "tests/support/tensor.h"

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

/// What cases.inc lists.
const std::vector<Case>& Cases();

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

/// Tensors with random bytes for a case, and what the reference says of them.
class Problem {
 public:
  Problem(const Case& shape, const Types& types, uint64_t seed = 1, bool strided = false);

  /// Row-major, rounded to the type.
  void SetIndices(const std::vector<double>& values);

  Planned Plan() const;
  /// Both phases and synchronise.
  Outcome Run(const Device& device) const;
  /// The output equal to the reference bit for bit, everything else as it was.
  testing::AssertionResult IsRight() const;

  DeviceTensor weight, indices, out;

 private:
  Case case_;
};

/// The work's least traffic: every index and the rows that they name read once, out written once.
int64_t LeastBytes(const Case& shape, const Types& types);

}  // namespace openaclnn::test::embedding::forward
