// SPDX-License-Identifier: Apache-2.0
// A call of ScaledMaskedSoftmax as its tests and its bench make it.
#pragma once

#include <cstdint>
#include <vector>

#include "aclnnop/aclnn_scaled_masked_softmax.h"
#include "tests/support/mask.h"
#include "tests/support/walks.h"

namespace openaclnn::test::masked_softmax::forward {

inline constexpr const char* kApi = "aclnnScaledMaskedSoftmax";

using Case = MaskCase;

/// The arguments of phase 1, good or bad.
struct Spec {
  TensorSpec x, mask;
  double scale = 1;
  bool fix_triu_mask = false;
  TensorSpec y;
  bool null_workspace_size = false, null_executor = false;
};
Planned Plan(const Spec& spec);

class Problem : public OperatorProblem {
 public:
  Problem(const Case& shape, aclDataType dtype, const Fill& fill = {});

  /// Replaces the data: row-major, rounded to the type.
  void SetX(const std::vector<double>& values) { Set(&x, values); }
  /// Bytes of the mask, before it is broadcast.
  void SetMask(const std::vector<std::byte>& bytes) { mask.Write(bytes); }

  std::vector<CallOperand> operands() const override;
  Planned Plan() const override;

  /// The reference on the inputs as stored, and how far from it each element may be.
  struct Expectation {
    std::vector<double> value, bound;
  };
  Expectation Reference() const;

  DeviceTensor x, mask, y;

 private:
  testing::AssertionResult OutputsAreRight() const override;

  Case case_;
};

struct Room : MaskRoom<Problem> {
  using Spec = forward::Spec;
  static const std::vector<Case>& Cases();
  static std::vector<test::Refusals<Spec>> Refusals();
};

}  // namespace openaclnn::test::masked_softmax::forward
