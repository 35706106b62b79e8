// SPDX-License-Identifier: Apache-2.0
// New addresses for a repeatable executor: the aclSet…TensorAddr functions, in both spellings.
#include "nnopbase/executor/executor.h"
#include "nnopbase/handles.h"
#include "nnopbase/tensor.h"

namespace openaclnn {
namespace {

constexpr OpenaclnnRole kInput = OPENACLNN_INPUT;
constexpr OpenaclnnRole kOutput = OPENACLNN_OUTPUT;

Status FindBoth(const char* operand, aclOpExecutor* executor, const void* argument,
                Pinned<Executor>* object) {
  Status status = FindExecutor(executor, ACLNN_ERR_INNER_NULLPTR, object);
  if (status.ok() && argument == nullptr) {
    status = Status(ACLNN_ERR_INNER_NULLPTR,
                    Concat(operand, " value is null, expected the one of phase 1"));
  }
  return status;
}

aclnnStatus SetAddress(const char* api, const OpenaclnnRole* role, aclOpExecutor* executor,
                       size_t index, aclTensor* tensor, void* address) {
  return ShortApi(api, [&] {
    Pinned<Executor> object;
    Pinned<Tensor> argument;
    Status status = FindBoth("tensor", executor, tensor, &object);
    if (status.ok()) status = FindMeta("tensor", tensor, &argument);
    return status.ok() ? object->SetAddress(role, index, argument->view(), address) : status;
  });
}

aclnnStatus SetMemberAddress(const char* api, const OpenaclnnRole* role, aclOpExecutor* executor,
                             size_t list, size_t member, aclTensorList* tensors, void* address) {
  return ShortApi(api, [&] {
    Pinned<Executor> object;
    Status status = FindBoth("tensors", executor, tensors, &object);
    uint64_t size = 0;
    if (status.ok() && aclGetTensorListSize(tensors, &size) != 0) {
      status = Status(ACLNN_ERR_PARAM_INVALID,
                      "tensors value is not a live list of tensors, expected the one of phase 1");
    }
    return status.ok() ? object->SetMemberAddress(role, list, member, address) : status;
  });
}

}  // namespace
}  // namespace openaclnn

aclnnStatus aclSetInputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                  void* addr) {
  return openaclnn::SetAddress("aclSetInputTensorAddr", &openaclnn::kInput, executor, index, tensor,
                               addr);
}

aclnnStatus aclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                   void* addr) {
  return openaclnn::SetAddress("aclSetOutputTensorAddr", &openaclnn::kOutput, executor, index,
                               tensor, addr);
}

aclnnStatus aclSetTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                             void* addr) {
  return openaclnn::SetAddress("aclSetTensorAddr", nullptr, executor, index, tensor, addr);
}

aclnnStatus aclSetDynamicInputTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                         const size_t relativeIndex, aclTensorList* tensors,
                                         void* addr) {
  return openaclnn::SetMemberAddress("aclSetDynamicInputTensorAddr", &openaclnn::kInput, executor,
                                     irIndex, relativeIndex, tensors, addr);
}

aclnnStatus aclSetDynamicOutputTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                          const size_t relativeIndex, aclTensorList* tensors,
                                          void* addr) {
  return openaclnn::SetMemberAddress("aclSetDynamicOutputTensorAddr", &openaclnn::kOutput, executor,
                                     irIndex, relativeIndex, tensors, addr);
}

aclnnStatus aclSetDynamicTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                    const size_t relativeIndex, aclTensorList* tensors,
                                    void* addr) {
  return openaclnn::SetMemberAddress("aclSetDynamicTensorAddr", nullptr, executor, irIndex,
                                     relativeIndex, tensors, addr);
}

aclnnStatus AclSetInputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                  void* addr) {
  return aclSetInputTensorAddr(executor, index, tensor, addr);
}

aclnnStatus AclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                   void* addr) {
  return aclSetOutputTensorAddr(executor, index, tensor, addr);
}

aclnnStatus AclSetTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                             void* addr) {
  return aclSetTensorAddr(executor, index, tensor, addr);
}

aclnnStatus AclSetDynamicInputTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                         const size_t relativeIndex, aclTensorList* tensors,
                                         void* addr) {
  return aclSetDynamicInputTensorAddr(executor, irIndex, relativeIndex, tensors, addr);
}

aclnnStatus AclSetDynamicOutputTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                          const size_t relativeIndex, aclTensorList* tensors,
                                          void* addr) {
  return aclSetDynamicOutputTensorAddr(executor, irIndex, relativeIndex, tensors, addr);
}

aclnnStatus AclSetDynamicTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                    const size_t relativeIndex, aclTensorList* tensors,
                                    void* addr) {
  return aclSetDynamicTensorAddr(executor, irIndex, relativeIndex, tensors, addr);
}
