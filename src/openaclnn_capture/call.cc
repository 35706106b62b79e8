// SPDX-License-Identifier: Apache-2.0
// Describes a call in JSON.
#include "openaclnn_capture/call.h"

#include <algorithm>
#include <stdexcept>

#include "openaclnn_capture/json_text.h"

namespace openaclnn::capture {
namespace {

constexpr const char* kNull = "null";

std::string Integers(const std::vector<int64_t>& values) {
  return JsonListOf(values, [](int64_t value) { return Concat(value); });
}

std::string ScalarValue(const Scalar& scalar) {
  static const char* const kDigits = "0123456789abcdef";
  std::string hex;
  for (const unsigned char byte : scalar.bytes) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return JsonObject({{"dtype", Concat(scalar.dtype)}, {"bytes", Quote(hex)}});
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

std::string TensorValue(const std::optional<Tensor>& given, const std::vector<Memory>& memory) {
  if (!given) return kNull;
  const Tensor& tensor = *given;
  std::string number = kNull, byte = "0";
  if (const auto reach = Reach(tensor)) {
    const auto piece = std::find_if(memory.begin(), memory.end(), [&](const Memory& each) {
      return each.begin <= reach->begin && reach->end <= each.end;
    });
    number = Concat(piece - memory.begin());
    byte = Concat(static_cast<int64_t>(reinterpret_cast<uintptr_t>(tensor.data) - piece->begin));
  }
  return JsonObject({{"dtype", Concat(tensor.dtype)},
                     {"element_bytes", Concat(ElementBytes(tensor.dtype))},
                     {"format", Concat(tensor.format)},
                     {"shape", Integers(tensor.dims)},
                     {"strides", Integers(tensor.strides)},
                     {"offset", Concat(tensor.offset)},
                     {"storage_shape", Integers(tensor.storage_dims)},
                     {"memory", number},
                     {"byte", byte}});
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
  argument.kind = kind;
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
  argument.value = object == nullptr ? kNull : ScalarValue(object->scalar);
}

void Describe::Add(const aclScalarList* list) {
  Argument& argument = Next("scalar_list");
  const auto object = Find(list, argument);
  argument.value = object == nullptr ? kNull : JsonListOf(object->members, [&](const void* member) {
    const auto scalar = Find(member, argument);
    return scalar == nullptr ? kNull : ScalarValue(scalar->scalar);
  });
}

void Describe::Add(const aclIntArray* array) {
  Argument& argument = Next("int_array");
  const auto object = Find(array, argument);
  argument.value = object == nullptr ? kNull : Integers(object->ints);
}

void Describe::Add(const aclBoolArray* array) {
  Argument& argument = Next("bool_array");
  const auto object = Find(array, argument);
  argument.value = object == nullptr ? kNull : Integers(object->ints);
}

void Describe::Add(const aclFloatArray* array) {
  Argument& argument = Next("float_array");
  const auto object = Find(array, argument);
  argument.value = object == nullptr ? kNull : JsonListOf(object->floats, Real);
}

void Describe::Add(const char* text) {
  Next("string").value = text == nullptr ? kNull : Quote(text);
}

void Describe::Add(float value) { Next("float").value = Real(value); }

void Describe::Add(double value) { Next("double").value = Real(value); }

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

std::string DescribeArguments(const Call& call, const std::vector<Memory>& memory) {
  const auto describe = [&](const Argument& argument) {
    const std::string kind = Quote(argument.kind), name = Quote(argument.name);
    const auto tensor = [&](const auto& each) { return TensorValue(each, memory); };
    std::string value = argument.value;
    if (kind == "\"tensor\"") {
      value = tensor(argument.tensors[0]);
    } else if (kind == "\"tensor_list\"") {
      value = argument.is_null ? kNull : JsonListOf(argument.tensors, tensor);
    } else {
      return JsonObject({{"kind", kind}, {"name", name}, {"value", value}});
    }
    const char* const output = argument.output ? "true" : "false";
    return JsonObject({{"kind", kind}, {"name", name}, {"output", output}, {"value", value}});
  };
  return JsonListOf(call.arguments, describe, "\n  ");
}

}  // namespace openaclnn::capture
