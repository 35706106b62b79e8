// SPDX-License-Identifier: Apache-2.0
// The operators that exist by their graph names: what they take, and the calls of libopapi that
// they are.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
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
  std::vector<const void*> values;  // of each, where the host knows them; else null
  // Attributes.
  double scale = 1, p = 2, dampening = 0, weight_decay = 0;
  bool fixed_triu_mask = false, keepdim = false, noop_with_empty_axes = false, nesterov = false;
  int64_t groups = 1, batch_dims = 0;
  std::vector<int64_t> axes, strides, pads, dilations;
  std::string data_format;  // empty where it is not set

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
  std::array<GraphStep, 4> steps;  // the last may be left out
};

std::span<const GraphOperator> GraphOperators();

}  // namespace openaclnn
