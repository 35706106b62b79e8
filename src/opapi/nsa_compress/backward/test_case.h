// SPDX-License-Identifier: Apache-2.0
// A call of NsaCompressGrad as its tests and its bench make it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "aclnnop/aclnn_nsa_compress_grad.h"
#include "tests/support/accuracy.h"
#include "tests/support/call.h"
#include "tests/support/windows.h"

namespace openaclnn::test::nsa_compress::backward {

inline constexpr const char* kApi = "aclnnNsaCompressGrad";

/// What cases.inc lists.
const std::vector<WindowCase>& Cases();

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

/// Tensors with data for a case, and what the reference says of them.
class Problem {
 public:
  struct Options {
    uint64_t seed = 1;
    Values values = kNormal;
    bool strided = false;  // random views, else dense
  };

  Problem(const WindowCase& shape, aclDataType dtype, const Options& options);
  Problem(const WindowCase& shape, aclDataType dtype) : Problem(shape, dtype, Options()) {}

  /// Replaces the data of an input: row-major, rounded to the type.
  static void Set(DeviceTensor* tensor, const std::vector<double>& values);

  /// Phase 1; its list is destroyed at once.
  Planned Plan() const;
  /// Both phases and synchronise.
  Outcome Run(const Device& device) const;

  /// Both outputs within the bound of the reference on the inputs as stored, tokens without a
  /// window +0, inputs and everything beside the outputs as it was.
  testing::AssertionResult IsRight() const;

  DeviceTensor dy, x, w, dx, dw;

 private:
  struct Sums {
    ReferenceSums dx, dw;
  };
  Sums Reference() const;

  WindowCase case_;
  std::vector<int64_t> starts_;
};

/// The work's least traffic: every input read once, the outputs written once.
int64_t LeastBytes(const WindowCase& shape);

}  // namespace openaclnn::test::nsa_compress::backward
