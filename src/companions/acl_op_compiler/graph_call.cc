// SPDX-License-Identifier: Apache-2.0
// The operands of a call as values, and its handles.
#include "graph_call.h"

#include <tuple>
#include <utility>

#include "ascendcl/report/error.h"

namespace openaclnn {
namespace {

const GraphTensor kNotGiven;

}  // namespace

bool ReadElement(const GraphTensor& tensor, size_t i, double* value, int64_t* integer) {
  const auto read = [&](const auto* values) {
    *value = static_cast<double>(values[i]);
    *integer = static_cast<int64_t>(values[i]);
    return true;
  };
  switch (tensor.dtype) {
    case ACL_INT32:
      return read(static_cast<const int32_t*>(tensor.values));
    case ACL_INT64:
      return read(static_cast<const int64_t*>(tensor.values));
    case ACL_FLOAT:
      return read(static_cast<const float*>(tensor.values));
    case ACL_DOUBLE:
      return read(static_cast<const double*>(tensor.values));
    case ACL_BOOL:
      return read(static_cast<const bool*>(tensor.values));
    default:
      return false;
  }
}

const GraphTensor& GraphCall::OneOf(const std::vector<std::vector<GraphTensor>>& of, size_t i) {
  return of[i].empty() ? kNotGiven : of[i][0];
}

Dims GraphCall::integers(size_t input) const {
  const GraphTensor& tensor = this->input(input);
  Dims made;
  if (!tensor.given()) return made;
  const int64_t count = tensor.count();
  const bool integral = tensor.dtype == ACL_INT32 || tensor.dtype == ACL_INT64;
  if (count > 0 && (tensor.values == nullptr || !integral)) {
    Refuse(ACL_ERROR_OP_INPUT_NOT_MATCH,
           Concat(row_inputs_[input].name,
                  " values are not known to the host, expected INT32 or INT64 by "
                  "aclSetTensorConst or in memory of the host"));
  }
  double unused = 0;
  made.resize(static_cast<size_t>(count));
  for (size_t i = 0; i < made.size(); ++i) ReadElement(tensor, i, &unused, &made[i]);
  return made;
}

double GraphCall::number(size_t input) const {
  const GraphTensor& tensor = this->input(input);
  double value = 0;
  int64_t unused = 0;
  if (tensor.count() != 1 || tensor.values == nullptr || !ReadElement(tensor, 0, &value, &unused)) {
    Refuse(ACL_ERROR_OP_INPUT_NOT_MATCH,
           Concat(row_inputs_[input].name,
                  " value is not known to the host, expected one number by aclSetTensorConst or in "
                  "memory of the host"));
  }
  return value;
}

double GraphCall::read(size_t input) const {
  GraphTensor tensor = this->input(input);
  if (tensor.values != nullptr) return number(input);
  const size_t bytes = aclDataTypeSize(tensor.dtype);
  double value = 0;
  int64_t unused = 0;
  alignas(8) char copy[8] = {};
  if (tensor.count() == 1 && bytes <= sizeof(copy)) {
    int code = aclrtSynchronizeStream(stream_);
    if (code == 0) {
      code = aclrtMemcpy(copy, sizeof(copy), tensor.data, bytes, ACL_MEMCPY_DEVICE_TO_HOST);
    }
    if (code != 0) {
      Refuse(code,
             Concat(row_inputs_[input].name, " value is not read, expected a stream that ends"));
    }
    tensor.values = copy;
    if (ReadElement(tensor, 0, &value, &unused)) return value;
  }
  Refuse(ACL_ERROR_OP_INPUT_NOT_MATCH, Concat(row_inputs_[input].name, " count is ", tensor.count(),
                                              ", expected one number of 32 or 64 bits"));
}

const GraphTensor& GraphCall::AddScratch(aclDataType dtype, const Dims& dims) {
  return scratches.emplace_back(dtype, dims);
}

void GraphCall::Refuse(int code, std::string text) {
  throw StatusException(Status(code, std::move(text)));
}

aclTensor* GraphCall::TensorOf(const GraphTensor& tensor) {
  if (!tensor.given()) return nullptr;
  const auto& [dims, strides, storage] = std::tie(tensor.dims, tensor.strides, tensor.storage);
  return tensors_
      .emplace_back(aclCreateTensor(dims.data(), dims.size(), tensor.dtype, strides.data(),
                                    tensor.offset, ACL_FORMAT_ND, storage.data(), storage.size(),
                                    tensor.data))
      .get();
}

aclTensorList* GraphCall::TensorListOf(const std::vector<GraphTensor>& tensors) {
  std::vector<const aclTensor*> made;
  for (const GraphTensor& each : tensors) {
    made.push_back(TensorOf(each));
    if (made.back() != nullptr) (void)tensors_.back().release();  // the list destroys it
  }
  return lists_.emplace_back(aclCreateTensorList(made.data(), made.size())).get();
}

aclScalar* GraphCall::ScalarOf(double value) {
  return scalars_.emplace_back(aclCreateScalar(&value, ACL_DOUBLE)).get();
}
aclScalar* GraphCall::ScalarOf(int64_t value) {
  return scalars_.emplace_back(aclCreateScalar(&value, ACL_INT64)).get();
}
aclScalar* GraphCall::ScalarOf(bool value) {
  return scalars_.emplace_back(aclCreateScalar(&value, ACL_BOOL)).get();
}

aclIntArray* GraphCall::IntArrayOf(const Dims& values) {
  return integers_.emplace_back(aclCreateIntArray(values.data(), values.size())).get();
}

aclBoolArray* GraphCall::BoolArrayOf(const std::vector<bool>& values) {
  const std::unique_ptr<bool[]> made(new bool[values.size() + 1]);
  for (size_t i = 0; i < values.size(); ++i) made[i] = values[i];
  return flags_.emplace_back(aclCreateBoolArray(made.get(), values.size())).get();
}

char* GraphCall::TextOf(const std::string& text) { return texts_.emplace_back(text).data(); }

}  // namespace openaclnn
