// SPDX-License-Identifier: Apache-2.0
// A call of ConvTbc as its tests and its bench make it.
#pragma once

#include <cstdint>
#include <vector>

#include "aclnnop/aclnn_convolution.h"
#include "tests/support/conv.h"
#include "tests/support/walks.h"

namespace openaclnn::test::conv_tbc::forward {

inline constexpr const char* kApi = "aclnnConvTbc";

/// The arguments of phase 1, good or bad.
struct Spec {
  TensorSpec self, weight, bias;
  int64_t pad = 0;
  TensorSpec out;
  int8_t math = 0;
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

  DeviceTensor x, w, bias, y;

 private:
  testing::AssertionResult OutputsAreRight() const override;

  ConvCase case_;
  int8_t math_;
  Family family_;
};

struct Room : ConvRoom<Problem, 1> {
  using Spec = forward::Spec;
  static const std::vector<ConvCase>& Cases();
  static std::vector<test::Refusals<Spec>> Refusals();
};

}  // namespace openaclnn::test::conv_tbc::forward
