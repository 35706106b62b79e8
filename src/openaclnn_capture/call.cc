// SPDX-License-Identifier: Apache-2.0
// Describes a call in JSON.
#include "openaclnn_capture/call.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace openaclnn::capture {
namespace {

using Json = nlohmann::json;

/// JSON has no infinities and no NaN.
Json Real(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

Json ScalarValue(const Scalar& scalar) {
  static const char* const kDigits = "0123456789abcdef";
  std::string hex;
  for (const unsigned char byte : scalar.bytes) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return {{"dtype", static_cast<int32_t>(scalar.dtype)}, {"bytes", hex}};
}

/// Whether elements lie as dimensions and strides say.
bool IsPlain(aclFormat format) {
  switch (format) {
    case ACL_FORMAT_UNDEFINED:
    case ACL_FORMAT_NCHW:
    case ACL_FORMAT_NHWC:
    case ACL_FORMAT_ND:
    case ACL_FORMAT_HWCN:
    case ACL_FORMAT_NDHWC:
    case ACL_FORMAT_NCDHW:
    case ACL_FORMAT_NCL:
      return true;
    default:
      return false;
  }
}

/// The bytes from `data` that a view reaches; nothing if it has no elements or no address.
std::optional<Memory> Reach(const Tensor& tensor) {
  const auto bytes = static_cast<int64_t>(ElementBytes(tensor.dtype));
  int64_t first = tensor.offset, last = tensor.offset;
  for (size_t i = 0; i < tensor.dims.size(); ++i) {
    if (tensor.dims[i] <= 0) return {};
    int64_t step;
    if (__builtin_mul_overflow(tensor.dims[i] - 1, tensor.strides[i], &step)) return {};
    int64_t* const edge = step < 0 ? &first : &last;
    if (__builtin_add_overflow(*edge, step, edge)) return {};
  }
  // Other formats have elements beside those of the view.
  int64_t stored = 1;
  for (const int64_t dim : tensor.storage_dims) {
    if (dim < 0 || __builtin_mul_overflow(stored, dim, &stored)) return {};
  }
  if (!IsPlain(tensor.format)) last = std::max(last, stored - 1);
  if (tensor.data == nullptr || bytes == 0 || last >= INT64_MAX / bytes || first < 0) return {};
  const auto data = reinterpret_cast<uintptr_t>(tensor.data);
  return Memory{data + static_cast<uintptr_t>(first * bytes),
                data + static_cast<uintptr_t>((last + 1) * bytes),
                {},
                {}};
}

Json TensorValue(const std::optional<Tensor>& given, const std::vector<Memory>& memory) {
  if (!given) return nullptr;
  const Tensor& tensor = *given;
  Json document = {{"dtype", static_cast<int32_t>(tensor.dtype)},
                   {"element_bytes", ElementBytes(tensor.dtype)},
                   {"format", static_cast<int32_t>(tensor.format)},
                   {"shape", tensor.dims},
                   {"strides", tensor.strides},
                   {"offset", tensor.offset},
                   {"storage_shape", tensor.storage_dims},
                   {"memory", nullptr},
                   {"byte", 0}};
  if (const auto reach = Reach(tensor)) {
    const auto piece = std::find_if(memory.begin(), memory.end(), [&](const Memory& each) {
      return each.begin <= reach->begin && reach->end <= each.end;
    });
    document["memory"] = piece - memory.begin();
    document["byte"] =
        static_cast<int64_t>(reinterpret_cast<uintptr_t>(tensor.data) - piece->begin);
  }
  return document;
}

/// Whether `name` is in `names`, "(self, out)".
bool IsOneOf(std::string_view name, std::string_view names) {
  while (!names.empty()) {
    names.remove_prefix(std::min(names.size(), names.find_first_not_of("(, )")));
    const std::string_view one = names.substr(0, names.find_first_of(",)"));
    if (one == name && !one.empty()) return true;
    names.remove_prefix(one.size());
  }
  return false;
}

}  // namespace

Argument& Describe::Next(const char* kind) {
  const size_t end = names_.find_first_of(",)");
  Argument& argument = call_->arguments.emplace_back();
  argument.name = names_.substr(0, end);
  argument.output = IsOneOf(argument.name, outputs_);
  argument.value = {{"kind", kind}};
  names_.remove_prefix(std::min(names_.size(), names_.find_first_not_of(", )", end)));
  return argument;
}

std::shared_ptr<const Object> Describe::Find(const void* handle, const Argument& argument) const {
  if (handle == nullptr) return nullptr;
  auto object = FindObject(handle);
  if (object == nullptr) {
    throw std::runtime_error(
        call_->api + ": " + argument.name +
        " is no handle that was made since this library is in place; the call is "
        "not captured");
  }
  return object;
}

void Describe::Add(const aclTensor* tensor) {
  Argument& argument = Next("tensor");
  const auto object = Find(tensor, argument);
  argument.tensors.emplace_back();
  if (object != nullptr) argument.tensors[0] = object->tensor;
}

void Describe::Add(const aclTensorList* list) {
  Argument& argument = Next("tensor_list");
  const auto object = Find(list, argument);
  argument.is_null = object == nullptr;
  if (object == nullptr) return;
  for (const void* member : object->members) {
    const auto tensor = Find(member, argument);
    argument.tensors.emplace_back();
    if (tensor != nullptr) argument.tensors.back() = tensor->tensor;
  }
}

void Describe::Add(const aclScalar* scalar) {
  Argument& argument = Next("scalar");
  const auto object = Find(scalar, argument);
  argument.value["value"] = object == nullptr ? Json() : ScalarValue(object->scalar);
}

void Describe::Add(const aclScalarList* list) {
  Argument& argument = Next("scalar_list");
  const auto object = Find(list, argument);
  Json& value = argument.value["value"];
  if (object == nullptr) return;
  value = Json::array();
  for (const void* member : object->members) {
    const auto scalar = Find(member, argument);
    value.push_back(scalar == nullptr ? Json() : ScalarValue(scalar->scalar));
  }
}

void Describe::Add(const aclIntArray* array) {
  Argument& argument = Next("int_array");
  const auto object = Find(array, argument);
  argument.value["value"] = object == nullptr ? Json() : Json(object->ints);
}

void Describe::Add(const aclBoolArray* array) {
  Argument& argument = Next("bool_array");
  const auto object = Find(array, argument);
  argument.value["value"] = object == nullptr ? Json() : Json(object->ints);
}

void Describe::Add(const aclFloatArray* array) {
  Argument& argument = Next("float_array");
  const auto object = Find(array, argument);
  Json& value = argument.value["value"];
  if (object == nullptr) return;
  value = Json::array();
  for (const double each : object->floats) value.push_back(Real(each));
}

void Describe::Add(const char* text) {
  Argument& argument = Next("string");
  argument.value["value"] = text == nullptr ? Json() : Json(text);
}

void Describe::AddReal(const char* kind, double value) { Next(kind).value["value"] = Real(value); }

std::vector<Memory> FindMemory(const Call& call, bool (*is_readable)(const Memory&)) {
  std::vector<Memory> found, unreadable;
  for (const Argument& argument : call.arguments) {
    for (const auto& tensor : argument.tensors) {
      if (!tensor) continue;
      auto reach = Reach(*tensor);
      if (!reach) continue;
      reach->readable = is_readable(*reach);
      (reach->readable ? found : unreadable).push_back(*reach);
    }
  }
  std::sort(found.begin(), found.end(),
            [](const Memory& a, const Memory& b) { return a.begin < b.begin; });
  std::vector<Memory> pieces;
  for (Memory& each : found) {
    if (!pieces.empty() && each.begin < pieces.back().end) {
      pieces.back().end = std::max(pieces.back().end, each.end);
    } else {
      pieces.push_back(std::move(each));
    }
  }
  pieces.insert(pieces.end(), unreadable.begin(), unreadable.end());
  return pieces;
}

nlohmann::json Document(const Call& call, const std::vector<Memory>& memory) {
  Json arguments = Json::array();
  for (const Argument& argument : call.arguments) {
    Json document = argument.value;
    document["name"] = argument.name;
    if (document["kind"] == "tensor") {
      document["output"] = argument.output;
      document["value"] = TensorValue(argument.tensors[0], memory);
    } else if (document["kind"] == "tensor_list") {
      document["output"] = argument.output;
      Json value = Json::array();
      for (const auto& tensor : argument.tensors) value.push_back(TensorValue(tensor, memory));
      document["value"] = argument.is_null ? Json() : value;
    }
    arguments.push_back(std::move(document));
  }
  return {{"api", call.api}, {"arguments", arguments}, {"workspace_size", call.workspace_size}};
}

}  // namespace openaclnn::capture
