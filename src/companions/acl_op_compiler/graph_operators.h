// SPDX-License-Identifier: Apache-2.0
// The operators that exist by their graph names: what they take, and the calls of libopapi that
// they are.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "aclnn/acl_meta.h"

namespace openaclnn {

struct DestroyTensor {
  void operator()(aclTensor* tensor) const { aclDestroyTensor(tensor); }
};
using TensorPointer = std::unique_ptr<aclTensor, DestroyTensor>;

/// What an operator gets: its inputs, then its outputs, and the attributes.
struct GraphArguments {
  std::vector<TensorPointer> tensors;
  double scale = 1, p = 2;
  bool fixed_triu_mask = false, keepdim = false;
  std::vector<int64_t> axes;

  aclTensor* operator[](size_t i) const { return tensors[i].get(); }
};

/// Both phases of an operator of libopapi.
struct GraphStep {
  aclnnStatus (*plan)(const GraphArguments&, uint64_t*, aclOpExecutor**) = nullptr;
  aclnnStatus (*run)(void*, uint64_t, aclOpExecutor*, aclrtStream) = nullptr;
};

struct GraphOperator {
  std::string_view name;
  int num_inputs;
  int num_outputs;
  std::array<GraphStep, 2> steps;  // the second may be left out
};

std::span<const GraphOperator> GraphOperators();

}  // namespace openaclnn
