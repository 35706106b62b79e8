// SPDX-License-Identifier: Apache-2.0
// The operators that exist by their graph names: what they take, and the calls of libopapi that
// they are.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "graph_arguments.h"

namespace openaclnn {

/// Both phases of an operator of libopapi.
struct GraphStep {
  aclnnStatus (*plan)(const GraphArguments&, uint64_t*, aclOpExecutor**) = nullptr;
  aclnnStatus (*run)(void*, uint64_t, aclOpExecutor*, aclrtStream) = nullptr;
};

struct GraphOperator {
  std::string_view name;
  int num_inputs;
  int num_outputs;
  std::array<GraphStep, 4> steps;  // in their order; unused entries at the end are null
  uint32_t known = 0;  // bit i is set: no kernel reads input i, so that it may be host memory
};

std::span<const GraphOperator> GraphOperators();

/// The PyTorch function for which torch-npu calls a graph operator that does not exist here;
/// empty: not known.
std::string_view CallerOfAbsent(std::string_view name);

}  // namespace openaclnn
