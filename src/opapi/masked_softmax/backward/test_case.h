// SPDX-License-Identifier: Apache-2.0
// A call of ScaledMaskedSoftmaxBackward as its tests and its bench make it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "aclnnop/aclnn_scaled_masked_softmax_backward.h"
#include "tests/support/accuracy.h"
#include "tests/support/call.h"
#include "tests/support/cases.h"
#include "tests/support/mask.h"
#include "tests/support/tensor.h"

namespace openaclnn::test::masked_softmax::backward {

inline constexpr const char* kApi = "aclnnScaledMaskedSoftmaxBackward";

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
  TensorSpec grad_output, y, mask;
  double scale = 1;
  bool fix_triu_mask = false;
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
    bool repeats = true;   // elements of strided inputs may coincide
  };

  Problem(const Case& shape, aclDataType dtype, const Options& options);
  Problem(const Case& shape, aclDataType dtype) : Problem(shape, dtype, Options()) {}

  /// Replaces the data: row-major, rounded to the type.
  void SetGradOutput(const std::vector<double>& values);
  void SetY(const std::vector<double>& values);
  /// Bytes of the mask, before it is broadcast.
  void SetMask(const std::vector<std::byte>& bytes) { mask.Write(bytes); }

  Planned Plan() const;
  /// Both phases and synchronise.
  Outcome Run(const Device& device) const;
  /// The same with `input`, gradOutput or y, as the output.
  Outcome RunInto(const Device& device, const DeviceTensor& input) const;

  /// The reference on the inputs as stored.
  ReferenceSums Reference() const;
  /// The output within the bound of the reference and +0 where it is masked, inputs and everything
  /// beside the output as it was.
  testing::AssertionResult IsRight() const;

  DeviceTensor grad_output, y, mask, out;

 private:
  Case case_;
};

/// The work's least traffic: every input read once, the output written once.
int64_t LeastBytes(const Case& shape, aclDataType dtype);

}  // namespace openaclnn::test::masked_softmax::backward
