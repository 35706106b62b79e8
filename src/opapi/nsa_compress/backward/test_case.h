// SPDX-License-Identifier: Apache-2.0
// A call of NsaCompressGrad as its tests and its bench make it.
#pragma once

#include <cstdint>
#include <vector>

#include "aclnnop/aclnn_nsa_compress_grad.h"
#include "tests/support/walks.h"
#include "tests/support/windows.h"

namespace openaclnn::test::nsa_compress::backward {

inline constexpr const char* kApi = "aclnnNsaCompressGrad";

/// The arguments of phase 1, good or bad.
struct Spec {
  TensorSpec output_grad, input, weight;
  IntListSpec list;
  int64_t block = 0, stride = 0, type = 0;
  const char* layout = nullptr;
  TensorSpec input_grad, weight_grad;
  bool null_workspace_size = false, null_executor = false;
};
Planned Plan(const Spec& spec);

class Problem : public OperatorProblem {
 public:
  Problem(const WindowCase& shape, aclDataType dtype, const Fill& fill = {});

  std::vector<CallOperand> operands() const override;
  Planned Plan() const override;

  DeviceTensor dy, x, w, dx, dw;

 private:
  testing::AssertionResult OutputsAreRight() const override;

  WindowCase case_;
  std::vector<int64_t> starts_;
};

struct Room : WindowRoom<Problem, false> {
  using Spec = backward::Spec;
  static const std::vector<WindowCase>& Cases();
  static std::vector<test::Refusals<Spec>> Refusals();
};

}  // namespace openaclnn::test::nsa_compress::backward
