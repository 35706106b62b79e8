// SPDX-License-Identifier: Apache-2.0
// The C entry points of the supporting operators, made from their table.
#include <cmath>
#include <string_view>

#include "supporting/elementwise.h"
#include "supporting/headers.inc"
#include "supporting/operators.h"
#include "supporting/reduction.h"

#define PARAMETERS(...) __VA_ARGS__
#define ELEMENTWISE(expression) \
  kNumericTypes, CheckElementwise, PlanElementwise, &expressions::expression
#define FOREACH_OF(expression) kNumericTypes, CheckForeach, PlanForeach, &expressions::expression
#define LOSS_OF(expression) kRealTypes, CheckLoss, PlanLoss, &expressions::expression
#define LOSS_GRADIENT_OF(expression) \
  kRealTypes, CheckLossGradient, PlanLossGradient, &expressions::expression
#define OPERATOR(types, check, plan) types, check, plan, nullptr
#define OPERATOR_OVER(inputs, types, check, plan) types, check, plan, nullptr, inputs

/// The row of an operator and its two phases.
#define ENTRY(name, parameters, arguments, ...)                                                    \
  namespace openaclnn::supporting {                                                                \
  static const Row kRow##name = {{"aclnn" #name, kEverywhere}, __VA_ARGS__};                       \
  }                                                                                                \
  extern "C" ACL_FUNC_VISIBILITY aclnnStatus aclnn##name##GetWorkspaceSize(                        \
      PARAMETERS parameters, uint64_t* workspaceSize, aclOpExecutor** executor) {                  \
    return PlanCall(openaclnn::supporting::kRow##name, workspaceSize, executor,                    \
                    [&](auto& params) { params arguments; });                                      \
  }                                                                                                \
  extern "C" ACL_FUNC_VISIBILITY aclnnStatus aclnn##name(                                          \
      void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream) {      \
    return openaclnn::RunOperation(openaclnn::supporting::kRow##name.op, workspace, workspaceSize, \
                                   executor, stream);                                              \
  }

namespace {

/// Collecting the arguments takes memory, which may be short.
template <class Collect>
aclnnStatus PlanCall(const openaclnn::supporting::Row& row, uint64_t* workspace_size,
                     aclOpExecutor** executor, const Collect& collect) {
  const openaclnn::FloatEnvironment environment;
  std::optional<openaclnn::supporting::Params> params;
  const int failed = openaclnn::Api(row.op.api, [&] {
    collect(params.emplace(row));
    return openaclnn::Status();
  });
  return failed != 0 ? failed
                     : openaclnn::supporting::PlanFamily(*params, workspace_size, executor);
}

using openaclnn::supporting::AttentionLayout;

/// Of an approximation's name.
bool IsTanh(const char* name) { return name != nullptr && std::string_view(name) == "tanh"; }

}  // namespace
#include "supporting/signatures.inc"
// After what its lines are made of.
#include "supporting/operator_table.inc"
#undef ENTRY

namespace openaclnn::supporting {

std::span<const Row* const> Table() {
#define ENTRY(name, ...) &kRow##name,
  static const Row* const rows[] = {
#include "supporting/operator_table.inc"
  };
  return rows;
}

}  // namespace openaclnn::supporting
