// SPDX-License-Identifier: Apache-2.0
// A call of ConvTbc as its tests and its bench make it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "aclnnop/aclnn_convolution.h"
#include "tests/support/accuracy.h"
#include "tests/support/call.h"
#include "tests/support/conv.h"
#include "tests/support/windows.h"

namespace openaclnn::test::conv_tbc::forward {

inline constexpr const char* kApi = "aclnnConvTbc";

/// What cases.inc lists.
const std::vector<ConvCase>& Cases();

/// The arguments of phase 1, good or bad.
struct Spec {
  TensorSpec self, weight, bias;
  int64_t pad = 0;
  TensorSpec out;
  int8_t math = 0;
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
    int8_t math = 0;
    Family family = Family::kA2;
  };

  Problem(const ConvCase& shape, aclDataType dtype, const Options& options);
  Problem(const ConvCase& shape, aclDataType dtype) : Problem(shape, dtype, Options()) {}

  /// Replaces the data of an input: row-major, rounded to the type.
  static void Set(DeviceTensor* tensor, const std::vector<double>& values);

  Planned Plan() const;
  /// Both phases and synchronise.
  Outcome Run(const Device& device) const;

  /// The output within the bound of the reference on the inputs as the products see them; inputs
  /// and everything beside the output as it was.
  testing::AssertionResult IsRight() const;
  /// The work's least traffic: every input read once, the output written once.
  int64_t LeastBytes() const;

  DeviceTensor x, w, bias, y;

 private:
  ReferenceSums Reference() const;

  ConvCase case_;
  Options options_;
};

}  // namespace openaclnn::test::conv_tbc::forward
