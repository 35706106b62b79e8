// SPDX-License-Identifier: Apache-2.0
// A call of ConvTbcBackward as its tests and its bench make it.
#pragma once

#include <cstdint>
#include <vector>

#include "aclnnop/aclnn_convolution_backward.h"
#include "tests/support/conv.h"
#include "tests/support/walks.h"

namespace openaclnn::test::conv_tbc::backward {

inline constexpr const char* kApi = "aclnnConvTbcBackward";

/// The arguments of phase 1, good or bad.
struct Spec {
  TensorSpec self, input, weight, bias;
  int64_t pad = 0;
  int8_t math = 0;
  TensorSpec grad_input, grad_weight, grad_bias;
  bool null_workspace_size = false, null_executor = false;
};
Planned Plan(const Spec& spec);

class Problem : public OperatorProblem {
 public:
  /// For a product of the family, whose rounding of operands the reference follows.
  Problem(const ConvCase& shape, aclDataType dtype, const Fill& fill = {}, int8_t math = 0,
          Family family = Family::kA2);

  std::vector<CallOperand> operands() const override;
  Planned Plan() const override;

  DeviceTensor dy, x, w, bias, dx, dw, db;

 private:
  testing::AssertionResult OutputsAreRight() const override;

  ConvCase case_;
  int8_t math_;
  Family family_;
};

struct Room : ConvRoom<Problem, 2> {
  using Spec = backward::Spec;
  static const std::vector<ConvCase>& Cases();
  static std::vector<test::Refusals<Spec>> Refusals();
};

}  // namespace openaclnn::test::conv_tbc::backward
