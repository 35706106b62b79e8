// SPDX-License-Identifier: Apache-2.0
// A call of ScaledMaskedSoftmax as its tests and its bench make it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "aclnnop/aclnn_scaled_masked_softmax.h"
#include "tests/support/accuracy.h"
#include "tests/support/call.h"
#include "tests/support/cases.h"
#include "tests/support/mask.h"
#include "tests/support/tensor.h"

namespace openaclnn::test::masked_softmax::forward {

inline constexpr const char* kApi = "aclnnScaledMaskedSoftmax";

struct Case {
  std::string name;
  Group group;
  Dims dims;
  MaskMode mask;
  int64_t percent;  // of the mask's elements that are true
  double scale;
};

/// What cases.inc lists.
const std::vector<Case>& Cases();

/// The arguments of phase 1, good or bad.
struct Spec {
  TensorSpec x, mask;
  double scale = 1;
  bool fix_triu_mask = false;
  TensorSpec y;
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
    bool repeats = true;   // elements of strided inputs may coincide
  };

  Problem(const Case& shape, aclDataType dtype, const Options& options);
  Problem(const Case& shape, aclDataType dtype) : Problem(shape, dtype, Options()) {}

  /// Replaces the data: row-major, rounded to the type.
  void SetX(const std::vector<double>& values);
  /// Bytes of the mask, before it is broadcast.
  void SetMask(const std::vector<std::byte>& bytes) { mask.Write(bytes); }

  Planned Plan() const;
  /// Both phases and synchronise.
  Outcome Run(const Device& device) const;

  /// The reference on the inputs as stored, and how far from it each element may be.
  struct Expectation {
    std::vector<double> value, bound;
  };
  Expectation Reference() const;
  /// The output within its bounds, inputs and everything beside the output as it was.
  testing::AssertionResult IsRight() const;

  DeviceTensor x, mask, y;

 private:
  Case case_;
};

/// The work's least traffic: every input read once, the output written once.
int64_t LeastBytes(const Case& shape, aclDataType dtype);

}  // namespace openaclnn::test::masked_softmax::forward
