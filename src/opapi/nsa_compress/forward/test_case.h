// SPDX-License-Identifier: Apache-2.0
// A call of NsaCompress as its tests and its bench make it.
#pragma once

#include <cstdint>
#include <vector>

#include "aclnnop/aclnn_nsa_compress.h"
#include "tests/support/walks.h"
#include "tests/support/windows.h"

namespace openaclnn::test::nsa_compress::forward {

inline constexpr const char* kApi = "aclnnNsaCompress";

/// The arguments of phase 1, good or bad.
struct Spec {
  TensorSpec input, weight;
  IntListSpec list;
  const char* layout = nullptr;
  int64_t block = 0, stride = 0, type = 0;
  TensorSpec output;
  bool null_workspace_size = false, null_executor = false;
};
Planned Plan(const Spec& spec);

class Problem : public OperatorProblem {
 public:
  Problem(const WindowCase& shape, aclDataType dtype, const Fill& fill = {});

  std::vector<CallOperand> operands() const override;
  Planned Plan() const override;

  DeviceTensor x, w, y;

 private:
  testing::AssertionResult OutputsAreRight() const override;

  WindowCase case_;
  std::vector<int64_t> starts_;
};

struct Room : WindowRoom<Problem, true> {
  using Spec = forward::Spec;
  static const std::vector<WindowCase>& Cases();
  static std::vector<test::Refusals<Spec>> Refusals();
};

}  // namespace openaclnn::test::nsa_compress::forward
