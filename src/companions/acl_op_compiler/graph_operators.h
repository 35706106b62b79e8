// SPDX-License-Identifier: Apache-2.0
// The operators that exist by their graph names: what they take, and the calls of libopapi that
// they are. Their table is made from operators.toml.
#pragma once

#include <span>
#include <string_view>

#include "graph_call.h"

namespace openaclnn {

/// Both phases of an operator of libopapi.
struct GraphStep {
  /// Leaves the executor null if there is nothing to do.
  aclnnStatus (*plan)(GraphCall&, uint64_t*, aclOpExecutor**);
  aclnnStatus (*run)(void*, uint64_t, aclOpExecutor*, aclrtStream);
  /// How often it is called, in turns with its neighbours that have the same; null: once.
  int64_t (*turns)(const GraphCall&) = nullptr;
};

struct GraphOperator {
  std::string_view name;
  std::span<const GraphOperand> inputs, outputs;
  std::span<const GraphAttribute> attributes;
  void (*prepare)(GraphCall&);  // refuses, and adds scratch memory
  std::span<const GraphStep> steps;
};

std::span<const GraphOperator> GraphOperators();

/// The function of torch-npu or MindSpore that calls a graph operator which does not exist here;
/// empty: not known.
std::string_view CallerOfAbsent(std::string_view name);

}  // namespace openaclnn
