// SPDX-License-Identifier: Apache-2.0
// Notes the objects that a program makes, changes and destroys.
#include "openaclnn_capture/objects.h"

#include <mutex>
#include <unordered_map>

#include "acl/acl.h"
#include "common/hold_during_fork.h"
#include "common/lasting.h"
#include "openaclnn_capture/next.h"
#include "openaclnn_capture/settings.h"

namespace openaclnn::capture {
namespace {

struct Objects {
  std::mutex mutex;
  std::unordered_map<const void*, std::shared_ptr<Object>> known;
};

Objects& Known() { return Lasting<Objects>(); }

std::mutex& Mutex() { return Known().mutex; }
[[maybe_unused]] const int kAtFork = HoldDuringFork<Mutex>();

void Forget(const void* handle) noexcept {
  std::lock_guard lock(Known().mutex);
  Known().known.erase(handle);
}

/// Notes what `handle` is; nothing if there is no handle. Without memory it is not known any more,
/// nor is what it was before.
template <class Fill>
void Note(const void* handle, Object::Kind kind, const Fill& fill) noexcept {
  if (handle == nullptr || !CurrentSettings().on) return;
  bool noted = false;
  Attempt([&] {
    auto object = std::make_shared<Object>();
    object->kind = kind;
    fill(*object);
    std::lock_guard lock(Known().mutex);
    Known().known[handle] = std::move(object);
    noted = true;
  });
  if (!noted) Forget(handle);
}

/// A list owns its members.
void ForgetList(const void* list) noexcept {
  if (const auto object = FindObject(list)) {
    for (const void* member : object->members) Forget(member);
  }
  Forget(list);
}

template <class T, class U>
void Copy(const U* values, uint64_t size, std::vector<T>* to) {
  if (values != nullptr) to->assign(values, values + size);
}

struct TensorArguments {
  const int64_t* dims;
  uint64_t rank;
  aclDataType dtype;
  const int64_t* strides;
  int64_t offset;
  aclFormat format;
  const int64_t* storage_dims;
  uint64_t storage_rank;
  void* data;
};

void NoteTensor(const aclTensor* handle, const TensorArguments& given) {
  Note(handle, Object::kTensor, [&](Object& object) {
    Tensor& tensor = object.tensor;
    tensor = {given.dtype, given.format, {}, {}, {}, given.offset, given.data};
    Copy(given.dims, given.rank, &tensor.dims);
    Copy(given.strides, given.rank, &tensor.strides);
    Copy(given.storage_dims, given.storage_rank, &tensor.storage_dims);
    if (given.strides != nullptr) return;
    tensor.strides.assign(given.rank, 1);
    for (size_t i = given.rank; i-- > 1;) {
      // Sizes that overflow are the libraries' to refuse.
      (void)__builtin_mul_overflow(tensor.strides[i], tensor.dims[i], &tensor.strides[i - 1]);
    }
  });
}

}  // namespace

std::shared_ptr<const Object> FindObject(const void* handle) {
  std::lock_guard lock(Known().mutex);
  const auto found = Known().known.find(handle);
  return found == Known().known.end() ? nullptr : found->second;
}

size_t ElementBytes(aclDataType dtype) {
  const auto size_of = NEXT(aclDataTypeSize);
  return size_of == nullptr ? 0 : size_of(dtype);
}

}  // namespace openaclnn::capture

using openaclnn::capture::Copy;
using openaclnn::capture::ElementBytes;
using openaclnn::capture::Forget;
using openaclnn::capture::ForgetList;
using openaclnn::capture::kMissing;
using openaclnn::capture::Note;
using openaclnn::capture::NoteTensor;
using openaclnn::capture::Object;

aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType,
                           const int64_t* stride, int64_t offset, aclFormat format,
                           const int64_t* storageDims, uint64_t storageDimsNum, void* tensorData) {
  const auto next = NEXT(aclCreateTensor);
  if (next == nullptr) return nullptr;
  aclTensor* const handle = next(viewDims, viewDimsNum, dataType, stride, offset, format,
                                 storageDims, storageDimsNum, tensorData);
  NoteTensor(handle, {viewDims, viewDimsNum, dataType, stride, offset, format, storageDims,
                      storageDimsNum, tensorData});
  return handle;
}

aclnnStatus aclInitTensor(aclTensor* tensor, const int64_t* viewDims, uint64_t viewDimsNum,
                          aclDataType dataType, const int64_t* stride, int64_t offset,
                          aclFormat format, const int64_t* storageDims, uint64_t storageDimsNum,
                          void* tensorData) {
  const auto next = NEXT(aclInitTensor);
  if (next == nullptr) return kMissing;
  const aclnnStatus code = next(tensor, viewDims, viewDimsNum, dataType, stride, offset, format,
                                storageDims, storageDimsNum, tensorData);
  if (code == 0) {
    NoteTensor(tensor, {viewDims, viewDimsNum, dataType, stride, offset, format, storageDims,
                        storageDimsNum, tensorData});
  }
  return code;
}

aclnnStatus aclSetRawTensorAddr(aclTensor* tensor, void* addr) {
  const auto next = NEXT(aclSetRawTensorAddr);
  const aclnnStatus code = next == nullptr ? kMissing : next(tensor, addr);
  if (const auto object = code == 0 ? openaclnn::capture::FindObject(tensor) : nullptr) {
    Note(tensor, Object::kTensor, [&](Object& changed) {
      changed.tensor = object->tensor;
      changed.tensor.data = addr;
    });
  }
  return code;
}

aclScalar* aclCreateScalar(void* value, aclDataType dataType) {
  const auto next = NEXT(aclCreateScalar);
  aclScalar* const handle = next == nullptr ? nullptr : next(value, dataType);
  Note(handle, Object::kScalar, [&](Object& object) {
    object.scalar = {dataType, {static_cast<const char*>(value), ElementBytes(dataType)}};
  });
  return handle;
}

aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size) {
  const auto next = NEXT(aclCreateIntArray);
  aclIntArray* const handle = next == nullptr ? nullptr : next(value, size);
  Note(handle, Object::kInts, [&](Object& object) { Copy(value, size, &object.ints); });
  return handle;
}

aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size) {
  const auto next = NEXT(aclCreateFloatArray);
  aclFloatArray* const handle = next == nullptr ? nullptr : next(value, size);
  Note(handle, Object::kFloats, [&](Object& object) { Copy(value, size, &object.floats); });
  return handle;
}

aclBoolArray* aclCreateBoolArray(const bool* value, uint64_t size) {
  const auto next = NEXT(aclCreateBoolArray);
  aclBoolArray* const handle = next == nullptr ? nullptr : next(value, size);
  Note(handle, Object::kBools, [&](Object& object) { Copy(value, size, &object.ints); });
  return handle;
}

aclTensorList* aclCreateTensorList(const aclTensor* const* value, uint64_t size) {
  const auto next = NEXT(aclCreateTensorList);
  aclTensorList* const handle = next == nullptr ? nullptr : next(value, size);
  Note(handle, Object::kTensors, [&](Object& object) { Copy(value, size, &object.members); });
  return handle;
}

aclScalarList* aclCreateScalarList(const aclScalar* const* value, uint64_t size) {
  const auto next = NEXT(aclCreateScalarList);
  aclScalarList* const handle = next == nullptr ? nullptr : next(value, size);
  Note(handle, Object::kScalars, [&](Object& object) { Copy(value, size, &object.members); });
  return handle;
}

// Forgotten first: once it is destroyed, another thread may be given the same handle.
#define DESTROY(function, type, forget)               \
  aclnnStatus function(const type* handle) {          \
    const auto next = NEXT(function);                 \
    forget(handle);                                   \
    return next == nullptr ? kMissing : next(handle); \
  }
DESTROY(aclDestroyTensor, aclTensor, Forget)
DESTROY(aclDestroyScalar, aclScalar, Forget)
DESTROY(aclDestroyIntArray, aclIntArray, Forget)
DESTROY(aclDestroyFloatArray, aclFloatArray, Forget)
DESTROY(aclDestroyBoolArray, aclBoolArray, Forget)
DESTROY(aclDestroyTensorList, aclTensorList, ForgetList)
DESTROY(aclDestroyScalarList, aclScalarList, ForgetList)
