// SPDX-License-Identifier: Apache-2.0
// Operator: the description of an operator by its graph name, of which attributes are kept. Clients
// make one to learn in which type an operator has an attribute, and run operators with other calls.
//
// Clients are compiled with declarations of their own: what these classes hold, in this order, and
// the symbols of their functions are the interface.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace ge {

/// A string. Clients destroy it in code of their own, as a shared pointer.
class AscendString {
 public:
  explicit AscendString(const char* text);
  const char* GetString() const;
  bool operator<(const AscendString& other) const;

 private:
  std::shared_ptr<std::string> text_;
};
static_assert(sizeof(AscendString) == 16);

enum DataType : int;

class Operator;
using Ints = std::vector<int64_t>;

/// 0, and what functions give that find nothing.
using Code = uint32_t;
constexpr Code kFound = 0, kNotFound = UINT32_MAX;

/// Functions that take a client's declaration of an operator apart: inputs, outputs and shapes are
/// not kept; attributes have their defaults from there.
class Operator {
 public:
  Operator(const AscendString& name, const AscendString& type);
  Operator(const std::string& name, const std::string& type);
  Operator(const char* name, const char* type);
  explicit Operator(const std::string& type);
  explicit Operator(const char* type);
  Operator(const Operator&) = default;
  virtual ~Operator() = default;

  void InputRegister(const char*, const char*);
  void InputRegister(const std::string&);
  void OptionalInputRegister(const char*, const char*);
  void OptionalInputRegister(const std::string&);
  void OutputRegister(const char*, const char*);
  void OutputRegister(const std::string&);
  void DynamicInputRegister(const char*, uint32_t, bool);
  void DynamicInputRegister(const char*, uint32_t, const char*, bool);
  void DynamicInputRegisterByIndex(const char*, uint32_t, uint64_t);
  void DynamicOutputRegister(const char*, uint32_t, bool);
  void DynamicOutputRegister(const char*, uint32_t, const char*, bool);
  void RequiredAttrRegister(const std::string&);
  void RequiredAttrWithTypeRegister(const char*, const char*);
  void SubgraphCountRegister(const char*, uint32_t);
  void InferFuncRegister(const std::function<Code(Operator&)>&);

  void AttrRegister(const char* name, bool value);
  void AttrRegister(const char* name, float value);
  void AttrRegister(const char* name, int64_t value);
  void AttrRegister(const char* name, const AscendString& value);
  void AttrRegister(const char* name, const DataType& value);
  void AttrRegister(const char* name, const Ints& value);
  void AttrRegister(const char* name, const std::vector<float>& value);
  void AttrRegister(const char* name, const std::vector<DataType>& value);
  void AttrRegister(const char* name, const std::vector<AscendString>& value);
  void AttrRegister(const char* name, const std::vector<Ints>& value);

  Operator& SetAttr(const char* name, bool value);
  Operator& SetAttr(const char* name, float value);
  Operator& SetAttr(const char* name, int32_t value);
  Operator& SetAttr(const char* name, uint32_t value);
  Operator& SetAttr(const char* name, int64_t value);
  Operator& SetAttr(const char* name, const char* value);
  Operator& SetAttr(const char* name, const DataType& value);
  Operator& SetAttr(const char* name, const std::vector<int32_t>& value);
  Operator& SetAttr(const char* name, const Ints& value);
  Operator& SetAttr(const char* name, const std::vector<float>& value);
  Operator& SetAttr(const char* name, const std::vector<DataType>& value);
  Operator& SetAttr(const char* name, const std::vector<Ints>& value);
  Operator& SetAttr(const std::string& name, bool value);
  Operator& SetAttr(const std::string& name, float value);
  Operator& SetAttr(const std::string& name, int32_t value);
  Operator& SetAttr(const std::string& name, int64_t value);
  Operator& SetAttr(const std::string& name, const std::string& value);
  Operator& SetAttr(const std::string& name, const std::vector<bool>& value);
  Operator& SetAttr(const std::string& name, const std::vector<int32_t>& value);
  Operator& SetAttr(const std::string& name, const Ints& value);
  Operator& SetAttr(const std::string& name, const std::vector<float>& value);
  Operator& SetAttr(const std::string& name, const std::vector<std::string>& value);

  Code GetAttr(const char* name, bool& value) const;
  Code GetAttr(const char* name, float& value) const;
  Code GetAttr(const char* name, int32_t& value) const;
  Code GetAttr(const char* name, int64_t& value) const;
  Code GetAttr(const char* name, DataType& value) const;
  Code GetAttr(const char* name, std::vector<int32_t>& value) const;
  Code GetAttr(const char* name, Ints& value) const;
  Code GetAttr(const char* name, std::vector<float>& value) const;
  Code GetAttr(const char* name, std::vector<DataType>& value) const;
  Code GetAttr(const char* name, std::vector<Ints>& value) const;
  Code GetAttr(const std::string& name, std::string& value) const;
  Code GetAttr(const std::string& name, std::vector<std::string>& value) const;

  std::string GetName() const;
  std::string GetOpType() const;
  Code GetName(AscendString& name) const;
  Code GetOpType(AscendString& type) const;

 private:
  struct Description;
  Description& Mine();
  std::shared_ptr<Description> description_;  // null in a client's empty operator
};
static_assert(sizeof(Operator) == 24);

}  // namespace ge
#pragma GCC visibility pop
