// SPDX-License-Identifier: Apache-2.0
// The attributes of Operator.
#include "operator.h"

#include <cstring>
#include <map>
#include <variant>

namespace ge {
namespace {

template <class T>
using List = std::vector<T>;
using Value = std::variant<bool, float, int64_t, DataType, std::string, List<bool>, List<float>,
                           Ints, List<DataType>, List<std::string>, List<Ints>>;

// The form in which a value is kept.
bool Kept(bool value) { return value; }
float Kept(float value) { return value; }
int64_t Kept(int64_t value) { return value; }
DataType Kept(DataType value) { return value; }
std::string Kept(const char* value) { return value == nullptr ? "" : value; }
std::string Kept(const AscendString& value) { return value.GetString(); }
List<std::string> Kept(const List<AscendString>& values) {
  List<std::string> kept;
  for (const AscendString& each : values) kept.emplace_back(each.GetString());
  return kept;
}
Ints Kept(const List<int32_t>& values) { return {values.begin(), values.end()}; }
template <class T>
T Kept(const T& value) {
  return value;
}

// And given back as.
template <class T>
struct KeptAs {
  using Type = T;
  static T Given(const Type& value) { return value; }
};
template <>
struct KeptAs<int32_t> {
  using Type = int64_t;
  static int32_t Given(int64_t value) { return static_cast<int32_t>(value); }
};
template <>
struct KeptAs<List<int32_t>> {
  using Type = Ints;
  static List<int32_t> Given(const Ints& values) { return {values.begin(), values.end()}; }
};

}  // namespace

struct Operator::Description {
  std::string name, type;
  std::map<std::string, Value> attributes;

  template <class T>
  void Set(const std::string& attribute, const T& value) {
    attributes.insert_or_assign(attribute, Value(Kept(value)));
  }
  template <class T>
  Code Get(const std::string& attribute, T& value) const {
    const auto found = attributes.find(attribute);
    if (found == attributes.end()) return kNotFound;
    const auto* kept = std::get_if<typename KeptAs<T>::Type>(&found->second);
    if (kept == nullptr) return kNotFound;
    value = KeptAs<T>::Given(*kept);
    return kFound;
  }
};

Operator::Description& Operator::Mine() {
  if (description_ == nullptr) description_ = std::make_shared<Description>();
  return *description_;
}

AscendString::AscendString(const char* text)
    : text_(text == nullptr ? nullptr : std::make_shared<std::string>(text)) {}

const char* AscendString::GetString() const { return text_ == nullptr ? "" : text_->c_str(); }

bool AscendString::operator<(const AscendString& other) const {
  return std::strcmp(GetString(), other.GetString()) < 0;
}

Operator::Operator(const std::string& name, const std::string& type)
    : description_(std::make_shared<Description>(Description{name, type, {}})) {}
Operator::Operator(const AscendString& name, const AscendString& type)
    : Operator(Kept(name), Kept(type)) {}
Operator::Operator(const char* name, const char* type) : Operator(Kept(name), Kept(type)) {}
Operator::Operator(const std::string& type) : Operator(std::string(), type) {}
Operator::Operator(const char* type) : Operator(std::string(), Kept(type)) {}

void Operator::InputRegister(const char*, const char*) {}
void Operator::InputRegister(const std::string&) {}
void Operator::OptionalInputRegister(const char*, const char*) {}
void Operator::OptionalInputRegister(const std::string&) {}
void Operator::OutputRegister(const char*, const char*) {}
void Operator::OutputRegister(const std::string&) {}
void Operator::DynamicInputRegister(const char*, uint32_t, bool) {}
void Operator::DynamicInputRegister(const char*, uint32_t, const char*, bool) {}
void Operator::DynamicInputRegisterByIndex(const char*, uint32_t, uint64_t) {}
void Operator::DynamicOutputRegister(const char*, uint32_t, bool) {}
void Operator::DynamicOutputRegister(const char*, uint32_t, const char*, bool) {}
void Operator::RequiredAttrRegister(const std::string&) {}
void Operator::RequiredAttrWithTypeRegister(const char*, const char*) {}
void Operator::SubgraphCountRegister(const char*, uint32_t) {}
void Operator::InferFuncRegister(const std::function<Code(Operator&)>&) {}

#define DEFAULT(T) \
  void Operator::AttrRegister(const char* name, T value) { Mine().Set(name, value); }
DEFAULT(bool)
DEFAULT(float)
DEFAULT(int64_t)
DEFAULT(const AscendString&)
DEFAULT(const DataType&)
DEFAULT(const Ints&)
DEFAULT(const List<float>&)
DEFAULT(const List<DataType>&)
DEFAULT(const List<AscendString>&)
DEFAULT(const List<Ints>&)

#define SET(Name, T, Same)                          \
  Operator& Operator::SetAttr(Name name, T value) { \
    Mine().Set(name, static_cast<Same>(value));     \
    return *this;                                   \
  }
SET(const char*, bool, bool)
SET(const char*, float, float)
SET(const char*, int32_t, int64_t)
SET(const char*, uint32_t, int64_t)
SET(const char*, int64_t, int64_t)
SET(const char*, const char*, const char*)
SET(const char*, const DataType&, const DataType&)
SET(const char*, const List<int32_t>&, const List<int32_t>&)
SET(const char*, const Ints&, const Ints&)
SET(const char*, const List<float>&, const List<float>&)
SET(const char*, const List<DataType>&, const List<DataType>&)
SET(const char*, const List<Ints>&, const List<Ints>&)
SET(const std::string&, bool, bool)
SET(const std::string&, float, float)
SET(const std::string&, int32_t, int64_t)
SET(const std::string&, int64_t, int64_t)
SET(const std::string&, const std::string&, const std::string&)
SET(const std::string&, const List<bool>&, const List<bool>&)
SET(const std::string&, const List<int32_t>&, const List<int32_t>&)
SET(const std::string&, const Ints&, const Ints&)
SET(const std::string&, const List<float>&, const List<float>&)
SET(const std::string&, const List<std::string>&, const List<std::string>&)

#define GET(Name, Reference)                                                     \
  Code Operator::GetAttr(Name name, Reference value) const {                     \
    return description_ == nullptr ? kNotFound : description_->Get(name, value); \
  }
GET(const char*, bool&)
GET(const char*, float&)
GET(const char*, int32_t&)
GET(const char*, int64_t&)
GET(const char*, DataType&)
GET(const char*, List<int32_t>&)
GET(const char*, Ints&)
GET(const char*, List<float>&)
GET(const char*, List<DataType>&)
GET(const char*, List<Ints>&)
GET(const std::string&, std::string&)
GET(const std::string&, List<std::string>&)

std::string Operator::GetName() const {
  return description_ == nullptr ? std::string() : description_->name;
}
std::string Operator::GetOpType() const {
  return description_ == nullptr ? std::string() : description_->type;
}
Code Operator::GetName(AscendString& name) const {
  name = AscendString(GetName().c_str());
  return kFound;
}
Code Operator::GetOpType(AscendString& type) const {
  type = AscendString(GetOpType().c_str());
  return kFound;
}

}  // namespace ge
