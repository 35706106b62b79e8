// SPDX-License-Identifier: Apache-2.0
// One call of an operator: its arguments, the memory that its tensors reach, and what came of it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/text.h"
#include "openaclnn_capture/objects.h"

namespace openaclnn::capture {

/// A code that the libraries returned, and their words if it is not 0.
struct Outcome {
  int code = 0;
  std::string message;
};

/// An argument of phase 1, and the tensors in it: one, the members of a list, or none.
struct Argument {
  std::string name;
  const char* kind = "";
  std::string value;                           // JSON; of tensors it is made later
  std::vector<std::optional<Tensor>> tensors;  // none: null
  bool output = false;
  bool is_null = false;  // a list
};

/// The arguments of phase 1.
struct Call {
  std::string api;  // the name of phase 2
  std::vector<Argument> arguments;
  uint64_t workspace_size = 0;
  bool repeatable = false;
};

/// Describes arguments one by one. Throws std::runtime_error for a handle that is not known.
class Describe {
 public:
  /// `names` are those of all parameters, as "(self, out)", `outputs` those of the output tensors.
  Describe(std::string_view names, std::string_view outputs, Call* call)
      : names_(names.substr(1)), outputs_(outputs), call_(call) {}

  void Add(const aclTensor* tensor);
  void Add(const aclTensorList* list);
  void Add(const aclScalar* scalar);
  void Add(const aclScalarList* list);
  void Add(const aclIntArray* array);
  void Add(const aclFloatArray* array);
  void Add(const aclBoolArray* array);
  void Add(const char* text);
  void Add(bool value) { Next("bool").value = value ? "true" : "false"; }
  void Add(int8_t value) { Next("int8").value = Concat(value); }
  void Add(int32_t value) { Next("int32").value = Concat(value); }
  void Add(int64_t value) { Next("int64").value = Concat(value); }
  void Add(uint64_t value) { Next("uint64").value = Concat(value); }
  void Add(aclDataType value) { Next("int32").value = Concat(value); }
  void Add(float value);
  void Add(double value);

 private:
  Argument& Next(const char* kind);
  /// The object, or null for a null handle.
  std::shared_ptr<const Object> Find(const void* handle, const Argument& argument) const;

  std::string_view names_;  // of what is still to come
  const std::string_view outputs_;
  Call* const call_;
};

/// Memory that tensors of a call share: what is read before and after it.
struct Memory {
  uintptr_t begin, end;
  std::string before, after;
  bool readable = false;
};

/// The memory of all tensors with elements: what can be read, in pieces that do not overlap, then
/// what cannot.
std::vector<Memory> FindMemory(const Call& call, bool (*is_readable)(const Memory&));

/// The arguments as the file call.json has them.
std::string DescribeArguments(const Call& call, const std::vector<Memory>& memory);

}  // namespace openaclnn::capture
