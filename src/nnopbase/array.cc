// SPDX-License-Identifier: Apache-2.0
// Arrays and scalars: create, destroy, size.
#include "nnopbase/array.h"

#include <cstring>
#include <memory>

#include "ascendcl/data_type.h"
#include "nnopbase/handles.h"

namespace openaclnn {
namespace {

template <class Array, class Handle, class Value>
Handle* Create(const char* api, const Value* value, uint64_t size) {
  return CreateMeta<Handle>(api, [&] {
    auto array = std::make_unique<Array>();
    if (value == nullptr && size > 0) return std::pair(NullArgument("value"), std::move(array));
    Status status = CheckCount(size, sizeof(Value));
    if (!status.ok()) return std::pair(std::move(status), std::move(array));
    array->values.assign(value, value + size);
    return std::pair(Status(), std::move(array));
  });
}

template <class Array>
aclnnStatus Size(const char* api, const void* handle, uint64_t* size) {
  return ShortApi(api, [&] {
    Pinned<Array> array;
    Status status = FindMeta("array", handle, &array);
    if (!status.ok()) return status;
    if (size == nullptr) return NullArgument("size");
    *size = array->values.size();
    return status;
  });
}

}  // namespace
}  // namespace openaclnn

using openaclnn::BoolArray;
using openaclnn::DestroyMeta;
using openaclnn::FloatArray;
using openaclnn::IntArray;
using openaclnn::Scalar;
using openaclnn::Status;

aclScalar* aclCreateScalar(void* value, aclDataType dataType) {
  return openaclnn::CreateMeta<aclScalar>("aclCreateScalar", [&] {
    auto scalar = std::make_unique<Scalar>();
    const size_t bytes = aclDataTypeSize(dataType);
    if (value == nullptr) return std::pair(openaclnn::NullArgument("value"), std::move(scalar));
    if (bytes == 0) {
      return std::pair(Status(ACLNN_ERR_PARAM_INVALID,
                              openaclnn::Concat("dataType value is ", static_cast<int>(dataType),
                                                ", expected a type of whole bytes")),
                       std::move(scalar));
    }
    scalar->dtype = dataType;
    std::memcpy(scalar->value.data(), value, bytes);
    return std::pair(Status(), std::move(scalar));
  });
}

aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size) {
  return openaclnn::Create<IntArray, aclIntArray>("aclCreateIntArray", value, size);
}

aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size) {
  return openaclnn::Create<FloatArray, aclFloatArray>("aclCreateFloatArray", value, size);
}

aclBoolArray* aclCreateBoolArray(const bool* value, uint64_t size) {
  return openaclnn::Create<BoolArray, aclBoolArray>("aclCreateBoolArray", value, size);
}

aclnnStatus aclDestroyScalar(const aclScalar* scalar) {
  return DestroyMeta<Scalar>("aclDestroyScalar", "scalar", scalar);
}

aclnnStatus aclDestroyIntArray(const aclIntArray* array) {
  return DestroyMeta<IntArray>("aclDestroyIntArray", "array", array);
}

aclnnStatus aclDestroyFloatArray(const aclFloatArray* array) {
  return DestroyMeta<FloatArray>("aclDestroyFloatArray", "array", array);
}

aclnnStatus aclDestroyBoolArray(const aclBoolArray* array) {
  return DestroyMeta<BoolArray>("aclDestroyBoolArray", "array", array);
}

aclnnStatus aclGetIntArraySize(const aclIntArray* array, uint64_t* size) {
  return openaclnn::Size<IntArray>("aclGetIntArraySize", array, size);
}

aclnnStatus aclGetFloatArraySize(const aclFloatArray* array, uint64_t* size) {
  return openaclnn::Size<FloatArray>("aclGetFloatArraySize", array, size);
}

aclnnStatus aclGetBoolArraySize(const aclBoolArray* array, uint64_t* size) {
  return openaclnn::Size<BoolArray>("aclGetBoolArraySize", array, size);
}
