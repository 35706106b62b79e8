// SPDX-License-Identifier: Apache-2.0
// Tensor descriptions and data buffers: what the single-operator interface knows of its tensors.
#include <cstddef>
#include <vector>

#include "ascendcl/process/handles.h"
#include "ascendcl/report/error.h"

namespace openaclnn {
namespace {

struct TensorDesc {
  static constexpr Kind kKind = Kind::kTensorDesc;
  static constexpr const char* kNoun = "tensor description";
  aclDataType dtype;
  aclFormat format;
  std::vector<int64_t> dims;
  std::vector<std::byte> values;  // empty where they are not known
};

struct DataBuffer {
  static constexpr Kind kKind = Kind::kDataBuffer;
  static constexpr const char* kNoun = "data buffer";
  void* data;
  size_t size;
};

Status CheckDims(int num_dims, const int64_t* dims) {
  if (num_dims < 0) {
    return Status(ACL_ERROR_INVALID_PARAM,
                  Concat("numDims value is ", num_dims, ", expected 0 or more"));
  }
  return num_dims == 0 ? Status() : RequireOut("dims", dims);
}

/// The bytes of a tensor without gaps; 0 where a dimension is negative or the product overflows.
uint64_t DenseBytes(const TensorDesc& desc) {
  uint64_t bytes = aclDataTypeSize(desc.dtype);
  for (const int64_t dim : desc.dims) {
    if (dim < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(dim), &bytes)) return 0;
  }
  return bytes;
}

/// The body of the aclCreate functions: null instead of a handle when `make` fails.
template <class Handle, class Make>
Handle* Create(const char* api, Make&& make) {
  void* handle = nullptr;
  Api(api, [&]() -> Status {
    auto [status, object] = make();
    if (!status.ok()) return std::move(status);
    handle = InsertHandle(std::move(object));
    if (handle != nullptr) return {};
    return Status(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "no handle is left, expected fewer objects");
  });
  return static_cast<Handle*>(handle);
}

/// The body of the getters: what `read` says of the object, `otherwise` without one.
template <class T, class Result, class Read>
Result Get(const char* api, const char* operand, const void* handle, Result otherwise,
           Read&& read) {
  Result result = otherwise;
  Api(api, [&] {
    std::shared_ptr<T> object;
    Status status = FindGiven(operand, handle, &object);
    if (status.ok()) result = read(*object);
    return status;
  });
  return result;
}

}  // namespace
}  // namespace openaclnn

using openaclnn::Api;
using openaclnn::DataBuffer;
using openaclnn::FindGiven;
using openaclnn::ReleaseApi;
using openaclnn::Status;
using openaclnn::TensorDesc;

aclTensorDesc* aclCreateTensorDesc(aclDataType dataType, int numDims, const int64_t* dims,
                                   aclFormat format) {
  return openaclnn::Create<aclTensorDesc>("aclCreateTensorDesc", [&] {
    Status status = openaclnn::CheckDims(numDims, dims);
    auto desc = std::make_shared<TensorDesc>();
    desc->dtype = dataType;
    desc->format = format;
    if (status.ok()) desc->dims.assign(dims, dims + numDims);
    return std::pair(std::move(status), std::move(desc));
  });
}

void aclDestroyTensorDesc(const aclTensorDesc* desc) {
  ReleaseApi("aclDestroyTensorDesc",
             [&] { return openaclnn::RemoveGiven<TensorDesc>("desc", desc); });
}

aclDataType aclGetTensorDescType(const aclTensorDesc* desc) {
  return openaclnn::Get<TensorDesc>("aclGetTensorDescType", "desc", desc, ACL_DT_UNDEFINED,
                                    [](const TensorDesc& d) { return d.dtype; });
}

aclFormat aclGetTensorDescFormat(const aclTensorDesc* desc) {
  return openaclnn::Get<TensorDesc>("aclGetTensorDescFormat", "desc", desc, ACL_FORMAT_UNDEFINED,
                                    [](const TensorDesc& d) { return d.format; });
}

size_t aclGetTensorDescNumDims(const aclTensorDesc* desc) {
  return openaclnn::Get<TensorDesc>("aclGetTensorDescNumDims", "desc", desc, size_t{0},
                                    [](const TensorDesc& d) { return d.dims.size(); });
}

aclError aclGetTensorDescDimV2(const aclTensorDesc* desc, size_t index, int64_t* dimSize) {
  return Api("aclGetTensorDescDimV2", [&] {
    std::shared_ptr<TensorDesc> object;
    Status status = FindGiven("desc", desc, &object);
    if (status.ok()) status = openaclnn::RequireOut("dimSize", dimSize);
    if (!status.ok()) return status;
    if (index >= object->dims.size()) {
      return Status(ACL_ERROR_INVALID_PARAM,
                    openaclnn::Concat("index value is ", index, ", expected less than ",
                                      object->dims.size()));
    }
    *dimSize = object->dims[index];
    return status;
  });
}

aclError aclSetTensorConst(aclTensorDesc* desc, void* dataBuffer, size_t length) {
  return Api("aclSetTensorConst", [&] {
    std::shared_ptr<TensorDesc> object;
    Status status = FindGiven("desc", desc, &object);
    if (status.ok() && length > 0) status = openaclnn::RequireOut("dataBuffer", dataBuffer);
    if (!status.ok()) return status;
    if (length > 0 && length < DenseBytes(*object)) {
      return Status(ACL_ERROR_INVALID_PARAM,
                    openaclnn::Concat("length value is ", length, ", expected at least the ",
                                      DenseBytes(*object), " bytes of the described tensor"));
    }
    const auto* const bytes = static_cast<const std::byte*>(dataBuffer);
    object->values.assign(bytes, bytes + length);
    return status;
  });
}

void* aclGetTensorDescAddress(const aclTensorDesc* desc) {
  return openaclnn::Get<TensorDesc>(
      "aclGetTensorDescAddress", "desc", desc, static_cast<void*>(nullptr), [](TensorDesc& d) {
        return static_cast<void*>(d.values.empty() ? nullptr : d.values.data());
      });
}

// Memory is dense and of the tensor's own shape here, so that name, layout and shape of the memory
// and its place decide nothing: they are checked and not kept.

void aclSetTensorDescName(aclTensorDesc* desc, const char*) {
  Api("aclSetTensorDescName", [&] {
    std::shared_ptr<TensorDesc> object;
    return FindGiven("desc", desc, &object);
  });
}

aclError aclSetTensorFormat(aclTensorDesc* desc, aclFormat) {
  return Api("aclSetTensorFormat", [&] {
    std::shared_ptr<TensorDesc> object;
    return FindGiven("desc", desc, &object);
  });
}

aclError aclSetTensorShape(aclTensorDesc* desc, int numDims, const int64_t* dims) {
  return Api("aclSetTensorShape", [&] {
    std::shared_ptr<TensorDesc> object;
    Status status = FindGiven("desc", desc, &object);
    return status.ok() ? openaclnn::CheckDims(numDims, dims) : status;
  });
}

aclError aclSetTensorPlaceMent(aclTensorDesc* desc, aclMemType memType) {
  return Api("aclSetTensorPlaceMent", [&] {
    std::shared_ptr<TensorDesc> object;
    Status status = FindGiven("desc", desc, &object);
    if (!status.ok()) return status;
    if (memType >= ACL_MEMTYPE_DEVICE && memType <= ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT) {
      return status;
    }
    return Status(ACL_ERROR_INVALID_PARAM,
                  openaclnn::Concat("memType value is ", static_cast<int>(memType),
                                    ", expected a value of aclMemType"));
  });
}

aclDataBuffer* aclCreateDataBuffer(void* data, size_t size) {
  return openaclnn::Create<aclDataBuffer>("aclCreateDataBuffer", [&] {
    return std::pair(Status(), std::make_shared<DataBuffer>(DataBuffer{data, size}));
  });
}

aclError aclDestroyDataBuffer(const aclDataBuffer* dataBuffer) {
  return ReleaseApi("aclDestroyDataBuffer",
                    [&] { return openaclnn::RemoveGiven<DataBuffer>("dataBuffer", dataBuffer); });
}

void* aclGetDataBufferAddr(const aclDataBuffer* dataBuffer) {
  return openaclnn::Get<DataBuffer>("aclGetDataBufferAddr", "dataBuffer", dataBuffer,
                                    static_cast<void*>(nullptr),
                                    [](const DataBuffer& b) { return b.data; });
}

size_t aclGetDataBufferSizeV2(const aclDataBuffer* dataBuffer) {
  return openaclnn::Get<DataBuffer>("aclGetDataBufferSizeV2", "dataBuffer", dataBuffer, size_t{0},
                                    [](const DataBuffer& b) { return b.size; });
}
