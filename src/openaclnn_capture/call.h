// SPDX-License-Identifier: Apache-2.0
// One call of an operator: its arguments, the memory that its tensors reach, and what came of it.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
  nlohmann::json value;                        // "kind" and what belongs to it, tensors apart
  std::vector<std::optional<Tensor>> tensors;  // none: null
  bool output = false;
  bool is_null = false;  // a list
};

/// What phase 1 was told.
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
  void Add(bool value) { AddPlain("bool", value); }
  void Add(int8_t value) { AddPlain("int8", value); }
  void Add(int32_t value) { AddPlain("int32", value); }
  void Add(int64_t value) { AddPlain("int64", value); }
  void Add(uint64_t value) { AddPlain("uint64", value); }
  void Add(aclDataType value) { AddPlain("int32", static_cast<int32_t>(value)); }
  void Add(float value) { AddReal("float", value); }
  void Add(double value) { AddReal("double", value); }

 private:
  Argument& Next(const char* kind);
  void AddPlain(const char* kind, const nlohmann::json& value) {
    Next(kind).value["value"] = value;
  }
  void AddReal(const char* kind, double value);
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

/// The call as the file call.json has it, without what came of it.
nlohmann::json Document(const Call& call, const std::vector<Memory>& memory);

}  // namespace openaclnn::capture
