// SPDX-License-Identifier: Apache-2.0
// A call of ScaledMaskedSoftmaxBackward as its tests and its bench make it.
#pragma once

#include <cstdint>
#include <vector>

#include "aclnnop/aclnn_scaled_masked_softmax_backward.h"
#include "tests/support/mask.h"
#include "tests/support/walks.h"

namespace openaclnn::test::masked_softmax::backward {

inline constexpr const char* kApi = "aclnnScaledMaskedSoftmaxBackward";

using Case = MaskCase;

/// The arguments of phase 1, good or bad.
struct Spec {
  TensorSpec grad_output, y, mask;
  double scale = 1;
  bool fix_triu_mask = false;
  TensorSpec out;
  bool null_workspace_size = false, null_executor = false;
};
Planned Plan(const Spec& spec);

class Problem : public OperatorProblem {
 public:
  Problem(const Case& shape, aclDataType dtype, const Fill& fill = {});

  /// Replaces the data: row-major, rounded to the type.
  void SetGradOutput(const std::vector<double>& values) { Set(&grad_output, values); }
  void SetY(const std::vector<double>& values) { Set(&y, values); }
  /// Bytes of the mask, before it is broadcast.
  void SetMask(const std::vector<std::byte>& bytes) { mask.Write(bytes); }

  std::vector<CallOperand> operands() const override;
  Planned Plan() const override;
  /// Both phases with another output, which may be gradOutput or y.
  Outcome RunInto(const Device& device, const DeviceTensor& output) const;

  /// The reference on the inputs as stored.
  ReferenceSums Reference() const;

  DeviceTensor grad_output, y, mask, out;

 private:
  testing::AssertionResult OutputsAreRight() const override;

  Case case_;
};

struct Room : MaskRoom<Problem> {
  using Spec = backward::Spec;
  static const std::vector<Case>& Cases();
  static std::vector<test::Refusals<Spec>> Refusals();
};

}  // namespace openaclnn::test::masked_softmax::backward
