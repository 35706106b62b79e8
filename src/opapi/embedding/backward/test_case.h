// SPDX-License-Identifier: Apache-2.0
// A call of EmbeddingDenseBackward as its tests and its bench make it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "aclnnop/aclnn_embedding_dense_backward.h"
#include "tests/support/accuracy.h"
#include "tests/support/call.h"
#include "tests/support/cases.h"
#include "tests/support/tensor.h"

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

/// What cases.inc lists.
const std::vector<Case>& Cases();

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

  /// Replaces the data: row-major, rounded to the types.
  void SetGrad(const std::vector<double>& values);
  void SetIndices(const std::vector<double>& values);

  Planned Plan() const;
  /// Both phases and synchronise.
  Outcome Run(const Device& device) const;

  /// The reference on the inputs as stored.
  ReferenceSums Reference() const;
  /// The output within the bound of the reference, inputs and everything beside the output as it
  /// was.
  testing::AssertionResult IsRight() const;

  DeviceTensor grad, indices, out;

 private:
  Case case_;
};

/// The work's least traffic: every input read once, the output written once.
int64_t LeastBytes(const Case& shape, const Types& types);

}  // namespace openaclnn::test::embedding::backward
