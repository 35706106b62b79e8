// SPDX-License-Identifier: Apache-2.0
// Tensor: aclCreateTensor, aclInitTensor, aclDestroyTensor, the getters and the raw address.
#include "nnopbase/tensor.h"

#include "ascendcl/process/fork.h"
#include "common/hold_during_fork.h"
#include "common/lasting.h"
#include "nnopbase/handles.h"

namespace openaclnn {

HandleTable& MetaHandles() { return Lasting<HandleTable>(); }

namespace {

std::mutex& Mutex() { return MetaHandles().mutex(); }
[[maybe_unused]] const int kAtFork = HoldDuringFork<Mutex>();
// A function of the host may fork in a call; such a child uses no handles.
[[maybe_unused]] const int kPinsAtFork = pthread_atfork(nullptr, nullptr, [] {
  if (!Forked()) MetaHandles().ForgetPins();
});

constexpr uint64_t kMaxRank = 1u << 16;  // far above what any operator takes; bounds the copies

/// Strides of dense rows. They wrap where the shape overflows, which the operators refuse.
Dims DenseStrides(const int64_t* dims, uint32_t rank) {
  Dims strides(dims, rank);
  uint64_t stride = 1;
  for (uint32_t i = rank; i-- > 0;) {
    strides.data()[i] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(dims[i]);
  }
  return strides;
}

struct TensorArguments {
  const int64_t* view_dims;
  uint64_t view_rank;
  aclDataType dtype;
  const int64_t* strides;
  int64_t offset;
  aclFormat format;
  const int64_t* storage_dims;
  uint64_t storage_rank;
  void* data;
};

Status Make(const TensorArguments& a, Tensor* tensor) {
  if (a.view_dims == nullptr && a.view_rank > 0) return NullArgument("viewDims");
  if (a.storage_dims == nullptr && a.storage_rank > 0) return NullArgument("storageDims");
  if (a.view_rank > kMaxRank || a.storage_rank > kMaxRank) {
    const bool view = a.view_rank > kMaxRank;
    return Status(ACLNN_ERR_PARAM_INVALID,
                  Concat(view ? "viewDimsNum" : "storageDimsNum", " value is ",
                         view ? a.view_rank : a.storage_rank, ", expected at most ", kMaxRank));
  }
  const auto rank = static_cast<uint32_t>(a.view_rank);
  tensor->dtype = a.dtype;
  tensor->format = a.format;
  tensor->dims = Dims(a.view_dims, rank);
  tensor->strides = a.strides != nullptr ? Dims(a.strides, rank) : DenseStrides(a.view_dims, rank);
  tensor->storage_dims = Dims(a.storage_dims, static_cast<uint32_t>(a.storage_rank));
  tensor->offset = a.offset;
  tensor->data = a.data;
  return {};
}

/// The body of the getters: finds the tensor and hands it to `read`.
template <class Read>
aclnnStatus Get(const char* api, const aclTensor* handle, Read&& read,
                std::initializer_list<std::pair<const char*, const void*>> outputs) {
  return ShortApi(api, [&]() -> Status {
    Pinned<Tensor> tensor;
    Status status = FindMeta("tensor", handle, &tensor);
    if (!status.ok()) return status;
    for (const auto& [name, pointer] : outputs) {
      if (pointer == nullptr) return NullArgument(name);
    }
    read(*tensor);
    return status;
  });
}

/// A copy that the caller frees with delete[].
void CopyOut(const Dims& dims, int64_t** values, uint64_t* count) {
  *values = new int64_t[std::max<size_t>(dims.count(), 1)]();
  std::copy_n(dims.data(), dims.count(), *values);
  *count = dims.count();
}

}  // namespace
}  // namespace openaclnn

using openaclnn::Pinned;
using openaclnn::Status;
using openaclnn::Tensor;

aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType,
                           const int64_t* stride, int64_t offset, aclFormat format,
                           const int64_t* storageDims, uint64_t storageDimsNum, void* tensorData) {
  return openaclnn::CreateMeta<aclTensor>("aclCreateTensor", [&] {
    auto tensor = std::make_unique<Tensor>();
    Status status = openaclnn::Make({viewDims, viewDimsNum, dataType, stride, offset, format,
                                     storageDims, storageDimsNum, tensorData},
                                    tensor.get());
    return std::pair(std::move(status), std::move(tensor));
  });
}

aclnnStatus aclInitTensor(aclTensor* tensor, const int64_t* viewDims, uint64_t viewDimsNum,
                          aclDataType dataType, const int64_t* stride, int64_t offset,
                          aclFormat format, const int64_t* storageDims, uint64_t storageDimsNum,
                          void* tensorData) {
  return openaclnn::ShortApi("aclInitTensor", [&] {
    Pinned<Tensor> object;
    Tensor made;
    Status status = openaclnn::FindMeta("tensor", tensor, &object);
    object = {};
    if (status.ok()) {
      status = openaclnn::Make({viewDims, viewDimsNum, dataType, stride, offset, format,
                                storageDims, storageDimsNum, tensorData},
                               &made);
    }
    // Other threads may read it.
    if (status.ok()) status = openaclnn::FindMetaAlone("tensor", tensor, &object);
    if (status.ok()) *object = std::move(made);
    return status;
  });
}

aclnnStatus aclDestroyTensor(const aclTensor* tensor) {
  return openaclnn::DestroyMeta<Tensor>("aclDestroyTensor", "tensor", tensor);
}

aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** viewDims, uint64_t* viewDimsNum) {
  return openaclnn::Get("aclGetViewShape", tensor,
                        [&](const Tensor& t) { openaclnn::CopyOut(t.dims, viewDims, viewDimsNum); },
                        {{"viewDims", viewDims}, {"viewDimsNum", viewDimsNum}});
}

aclnnStatus aclGetStorageShape(const aclTensor* tensor, int64_t** storageDims,
                               uint64_t* storageDimsNum) {
  return openaclnn::Get(
      "aclGetStorageShape", tensor,
      [&](const Tensor& t) { openaclnn::CopyOut(t.storage_dims, storageDims, storageDimsNum); },
      {{"storageDims", storageDims}, {"storageDimsNum", storageDimsNum}});
}

aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** stridesValue,
                              uint64_t* stridesNum) {
  return openaclnn::Get(
      "aclGetViewStrides", tensor,
      [&](const Tensor& t) { openaclnn::CopyOut(t.strides, stridesValue, stridesNum); },
      {{"stridesValue", stridesValue}, {"stridesNum", stridesNum}});
}

aclnnStatus aclGetViewOffset(const aclTensor* tensor, int64_t* offset) {
  return openaclnn::Get("aclGetViewOffset", tensor, [&](const Tensor& t) { *offset = t.offset; },
                        {{"offset", offset}});
}

aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format) {
  return openaclnn::Get("aclGetFormat", tensor,
                        [&](const Tensor& t) { *format = static_cast<aclFormat>(t.format); },
                        {{"format", format}});
}

aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dataType) {
  return openaclnn::Get("aclGetDataType", tensor,
                        [&](const Tensor& t) { *dataType = static_cast<aclDataType>(t.dtype); },
                        {{"dataType", dataType}});
}

aclnnStatus aclSetRawTensorAddr(aclTensor* tensor, void* addr) {
  return openaclnn::ShortApi("aclSetRawTensorAddr", [&] {
    Pinned<Tensor> object;
    Status status = openaclnn::FindMetaAlone("tensor", tensor, &object);
    if (status.ok()) object->data = addr;
    return status;
  });
}

aclnnStatus aclGetRawTensorAddr(const aclTensor* tensor, void** addr) {
  return openaclnn::Get("aclGetRawTensorAddr", tensor, [&](const Tensor& t) { *addr = t.data; },
                        {{"addr", addr}});
}
