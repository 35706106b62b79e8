// SPDX-License-Identifier: Apache-2.0
// Operation: an operator's check, plan and run behind the two phases of the C API.
#pragma once

#include <concepts>
#include <memory>

#include "ascendcl/message.h"
#include "ascendcl/process/float_environment.h"
#include "ascendcl/report/error.h"
#include "common/short_vector.h"
#include "frame/checker.h"
#include "frame/operand.h"
#include "openaclnn/status.h"

namespace openaclnn {

/// Host addresses for one run, operands in the order of Params::operands().
struct Buffers {
  void* const* data;  // element [0, …, 0] of each; null for views without elements
  void* workspace;

  template <class T>
  T* As(size_t operand) const {
    return static_cast<T*>(data[operand]);
  }
};

/// The functions and types that a room provides. Params has `operands()`, a range of its operands
/// in the order of the API's parameters, at most OPENACLNN_MAX_OPERANDS; Plan has `workspace_size`.
template <class Params, class Plan>
struct Operation {
  const Operator& op;
  Status (*check)(const Params&, const Product&);
  Plan (*plan)(const Params&, const Product&);
  Status (*run)(const Plan&, const Buffers&);
};

/// Refuses a thread that has less stack left than phase 1 needs: it would die without words.
Status CheckStack();

/// Null (with why) unless the environment names a known product.
const Product* CurrentProduct(Status* status);

/// Hands a checked call over to libnnopbase.so.
Status CreateExecutor(const OpenaclnnCall& call, aclOpExecutor** executor);

/// Phase 2 of every operator.
aclnnStatus RunOperation(const Operator& op, void* workspace, uint64_t workspace_size,
                         aclOpExecutor* executor, aclrtStream stream);

namespace operation_detail {

template <class Params, class Plan>
OpenaclnnCall MakeCall(const Operation<Params, Plan>& operation, const Params& params,
                       const Product& product) {
  // The run function travels with the plan: a task sees nothing else.
  struct Frozen {
    Status (*run)(const Plan&, const Buffers&);
    Plan plan;
  };
  std::unique_ptr<Frozen> made(new Frozen{operation.run, operation.plan(params, product)});
  OpenaclnnCall call = {};
  call.api = operation.op.api;
  call.workspace_size = made->plan.workspace_size;
  call.plan = made.release();
  call.destroy = [](void* frozen) { delete static_cast<Frozen*>(frozen); };
  call.run = [](const void* state, void* const* data, void* workspace, OpenaclnnMessage* message) {
    const auto* frozen = static_cast<const Frozen*>(state);
    const Status status = Guard([&] { return frozen->run(frozen->plan, {data, workspace}); });
    if (!status.ok()) Write(message, status.text());
    return status.code();
  };
  return call;
}

inline OpenaclnnOperand Capture(const Operand& operand) {
  return {operand.name(),           operand.role(),      operand.present() ? 1 : 0,
          operand.tensor(),         operand.may_alias(), operand.in_list() ? 1 : 0,
          operand.shared() ? 1 : 0, operand.use()};
}

template <class Params, class Plan>
Status PlanCall(const Operation<Params, Plan>& operation, const Params& params,
                uint64_t* workspace_size, aclOpExecutor** executor) {
  for (const auto& [name, pointer] :
       {std::pair<const char*, void*>("workspaceSize", workspace_size), {"executor", executor}}) {
    if (pointer != nullptr) continue;
    return Status(ACLNN_ERR_PARAM_NULLPTR, Concat(name, " value is null, expected an address"));
  }
  Status status = CheckStack();
  const Product* product = status.ok() ? CurrentProduct(&status) : nullptr;
  if (status.ok()) status = operation.check(params, *product);
  const auto operands = params.operands();
  for (const Operand* operand : operands) {
    if (status.ok()) status = CheckView(*operand);
  }
  if (!status.ok()) return status;
  ShortVector<OpenaclnnOperand, 16> captured;  // 256 in place would take 24 KiB of stack
  captured.reserve(operands.size());
  for (const Operand* operand : operands) captured.push_back(Capture(*operand));
  OpenaclnnCall call = MakeCall(operation, params, *product);
  call.operand_count = static_cast<uint32_t>(operands.size());
  call.operands = captured.data();
  const uint64_t bytes = call.workspace_size;
  status = CreateExecutor(call, executor);
  if (status.ok()) *workspace_size = bytes;
  return status;
}

}  // namespace operation_detail

/// Phase 1 of every operator: nulls, product, the operator's checks, views; then plan and executor.
/// Outputs are written only on success. Checks and plans compute in the float environment of tasks.
template <class Params, class Plan>
aclnnStatus PlanOperation(const Operation<Params, Plan>& operation, const Params& params,
                          uint64_t* workspace_size, aclOpExecutor** executor) {
  const FloatEnvironment environment;
  const auto plan = [&] {
    return operation_detail::PlanCall(operation, params, workspace_size, executor);
  };
  return ShortApi(operation.op.api, plan, "GetWorkspaceSize");
}

/// PlanOperation for arguments whose collection takes memory, which may be short: `collect` makes a
/// pointer to them inside the guard.
template <class Params, class Plan, std::invocable Collect>
aclnnStatus PlanOperation(const Operation<Params, Plan>& operation, const Collect& collect,
                          uint64_t* workspace_size, aclOpExecutor** executor) {
  const FloatEnvironment environment;
  const auto plan = [&] {
    const auto params = collect();
    return operation_detail::PlanCall<Params, Plan>(operation, *params, workspace_size, executor);
  };
  return ShortApi(operation.op.api, plan, "GetWorkspaceSize");
}

}  // namespace openaclnn
