// SPDX-License-Identifier: Apache-2.0
// Lists of tensors and of scalars, which own their members.
#include "nnopbase/list.h"

#include <memory>

#include "nnopbase/handles.h"

namespace openaclnn {
namespace {

template <class Member, class ListType, class Handle, class Element>
Handle* Create(const char* api, const Element* const* value, uint64_t size) {
  return CreateMeta<Handle>(api, [&] {
    auto list = std::make_unique<ListType>();
    if (value == nullptr && size > 0) return std::pair(NullArgument("value"), std::move(list));
    Status checked = CheckCount(size, sizeof(Element*));
    if (!checked.ok()) return std::pair(std::move(checked), std::move(list));
    for (uint64_t i = 0; i < size; ++i) {
      Pinned<Member> member;
      Status status = value[i] != nullptr ? FindMeta("value", value[i], &member) : Status();
      if (!status.ok()) return std::pair(std::move(status), std::move(list));
    }
    list->members.assign(value, value + size);
    return std::pair(Status(), std::move(list));
  });
}

template <class ListType>
aclnnStatus Size(const char* api, const char* operand, const void* handle, uint64_t* size) {
  return ShortApi(api, [&] {
    Pinned<ListType> list;
    Status status = FindMeta(operand, handle, &list);
    if (!status.ok()) return status;
    if (size == nullptr) return NullArgument("size");
    *size = list->members.size();
    return status;
  });
}

}  // namespace
}  // namespace openaclnn

using openaclnn::Scalar;
using openaclnn::ScalarList;
using openaclnn::Tensor;
using openaclnn::TensorList;

aclTensorList* aclCreateTensorList(const aclTensor* const* value, uint64_t size) {
  return openaclnn::Create<Tensor, TensorList, aclTensorList>("aclCreateTensorList", value, size);
}

aclScalarList* aclCreateScalarList(const aclScalar* const* value, uint64_t size) {
  return openaclnn::Create<Scalar, ScalarList, aclScalarList>("aclCreateScalarList", value, size);
}

aclnnStatus aclDestroyTensorList(const aclTensorList* array) {
  return openaclnn::DestroyMeta<TensorList>("aclDestroyTensorList", "array", array);
}

aclnnStatus aclDestroyScalarList(const aclScalarList* array) {
  return openaclnn::DestroyMeta<ScalarList>("aclDestroyScalarList", "array", array);
}

aclnnStatus aclGetTensorListSize(const aclTensorList* tensorList, uint64_t* size) {
  return openaclnn::Size<TensorList>("aclGetTensorListSize", "tensorList", tensorList, size);
}

aclnnStatus aclGetScalarListSize(const aclScalarList* scalarList, uint64_t* size) {
  return openaclnn::Size<ScalarList>("aclGetScalarListSize", "scalarList", scalarList, size);
}
