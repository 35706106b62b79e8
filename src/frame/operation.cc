// SPDX-License-Identifier: Apache-2.0
// The parts of an operation that do not depend on the operator.
#include "frame/operation.h"

#include "common/stack.h"

namespace openaclnn {

namespace {

Status VersionsDiffer() {
  return Status(ACLNN_ERR_RUNTIME_ERROR,
                "library versions differ, expected libopapi.so and libnnopbase.so of one "
                "installation");
}

}  // namespace

Status CheckStack() {
  const std::optional<size_t> left = StackLeft();
  if (!left || *left >= kPlanStack) [[likely]]
    return {};
  return Status(ACLNN_ERR_RUNTIME_ERROR,
                Concat("stack of this thread has ", *left, " bytes left, expected at least ",
                       kPlanStack, " (pthread_attr_setstacksize)"));
}

const Product* CurrentProduct(Status* status) {
  if (Meta() == nullptr) {
    *status = VersionsDiffer();
    return nullptr;
  }
  Message message;
  const Product* product = Meta()->runtime->product(&message);
  if (product == nullptr) *status = Status(ACLNN_ERR_RUNTIME_ERROR, message.text);
  return product;
}

Status CreateExecutor(const OpenaclnnCall& call, aclOpExecutor** executor) {
  Message message;
  const int code = Meta()->create_executor(&call, executor, &message);
  return code == 0 ? Status() : Status(code, message.text);
}

aclnnStatus RunOperation(const Operator& op, void* workspace, uint64_t workspace_size,
                         aclOpExecutor* executor, aclrtStream stream) {
  return ShortApi(op.api, [&]() -> Status {
    if (Meta() == nullptr) return VersionsDiffer();
    Message message;
    const int code = Meta()->execute(op.api, workspace, workspace_size, executor, stream, &message);
    return code == 0 ? Status() : Status(code, message.text);
  });
}

}  // namespace openaclnn
