// SPDX-License-Identifier: Apache-2.0
// A call of SampleScale as its tests and its bench make it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "aclnnop/aclnn_sample_scale.h"
#include "tests/support/call.h"
#include "tests/support/cases.h"
#include "tests/support/tensor.h"

namespace openaclnn::test::sample_scale::forward {

inline constexpr const char* kApi = "aclnnSampleScale";

struct Case {
  std::string name;
  Group group;
  Dims dims;
  double scale;
};

/// What cases.inc lists.
const std::vector<Case>& Cases();

/// The arguments of phase 1, good or bad.
struct Spec {
  TensorSpec self, out;
  bool null_workspace_size = false, null_executor = false;
};
Planned Plan(const Spec& spec);

/// Tensors with random numbers for a case, and what the reference says of them.
class Problem {
 public:
  Problem(const Case& shape, aclDataType dtype, uint64_t seed = 1, bool strided = false);

  Planned Plan() const;
  /// Both phases and synchronise.
  Outcome Run(const Device& device) const;
  /// The output within its bounds, everything else as it was.
  testing::AssertionResult IsRight() const;

  DeviceTensor self, out;

 private:
  Case case_;
};

}  // namespace openaclnn::test::sample_scale::forward
