// SPDX-License-Identifier: Apache-2.0
// A call of SampleScale as its tests and its bench make it.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "aclnnop/aclnn_sample_scale.h"
#include "tests/support/problem.h"
#include "tests/support/walks.h"

namespace openaclnn::test::sample_scale::forward {

inline constexpr const char* kApi = "aclnnSampleScale";

struct Case {
  std::string name;
  Group group;
  Dims dims;
  double scale;
};

/// The arguments of phase 1, good or bad.
struct Spec {
  TensorSpec self, out;
  bool null_workspace_size = false, null_executor = false;
};
Planned Plan(const Spec& spec);

class Problem : public OperatorProblem {
 public:
  Problem(const Case& shape, aclDataType dtype, const Fill& fill);

  std::vector<CallOperand> operands() const override;
  Planned Plan() const override;

  DeviceTensor self, out;

 private:
  testing::AssertionResult OutputsAreRight() const override;

  Case case_;
};

struct Room {
  using Case = forward::Case;
  using Problem = forward::Problem;
  using Spec = forward::Spec;
  static constexpr uint64_t kVariants = kFloatDtypes.size();
  static constexpr bool kFused = false;
  static constexpr Group kBitsUpTo = kReal;
  static constexpr std::array<uint64_t, 3> kTimed = {0, 1, 2};

  static const std::vector<Case>& Cases();
  static Case Random();
  static std::vector<Case> Shapes() { return {{"", kEdge, {3, 37}, 0.3}}; }
  static aclDataType TypeOf(uint64_t variant) { return kFloatDtypes[variant]; }
  static Problem Make(const Case& shape, uint64_t variant, const Fill& fill) {
    return Problem(shape, TypeOf(variant), fill);
  }
  static std::vector<test::Refusals<Spec>> Refusals();
};

}  // namespace openaclnn::test::sample_scale::forward
