// SPDX-License-Identifier: Apache-2.0
// Attributes: aclopCreateAttr, aclopDestroyAttr and the aclopSetAttr functions.
#include "ascendcl/api/attribute.h"

#include <charconv>

#include "ascendcl/process/float_environment.h"
#include "ascendcl/process/handles.h"
#include "ascendcl/report/error.h"

namespace openaclnn {

void Attributes::Set(const char* name, Value value) {
  std::lock_guard lock(mutex_);
  values_.insert_or_assign(name, std::move(value));
}

bool Attributes::Read(const char* name, OpenaclnnAttribute* attribute) const {
  const FloatEnvironment environment;  // widening a float computes
  std::lock_guard lock(mutex_);
  const auto found = values_.find(name);
  if (found == values_.end()) return ReadElement(name, attribute);
  if (const bool* flag = std::get_if<bool>(&found->second)) {
    *attribute = {OpenaclnnAttribute::OPENACLNN_BOOL, *flag ? 1.0 : 0.0};
  } else if (const float* number = std::get_if<float>(&found->second)) {
    *attribute = {OpenaclnnAttribute::OPENACLNN_FLOAT, *number};
  } else {
    *attribute = {OpenaclnnAttribute::OPENACLNN_OTHER, 0};
  }
  return true;
}

bool Attributes::ReadElement(std::string_view name, OpenaclnnAttribute* attribute) const {
  const size_t bracket = name.rfind('[');
  if (bracket == name.npos || name.back() != ']') return false;
  const auto found = values_.find(name.substr(0, bracket));
  size_t place = 0;
  const std::string_view digits = name.substr(bracket + 1, name.size() - bracket - 2);
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), place);
  if (found == values_.end()) return false;
  *attribute = {OpenaclnnAttribute::OPENACLNN_OTHER, 0};
  if (digits.empty()) {
    if (const auto* const number = std::get_if<int64_t>(&found->second)) {
      *attribute = {OpenaclnnAttribute::OPENACLNN_INTEGER, static_cast<double>(*number)};
    } else if (const auto* const dtype = std::get_if<aclDataType>(&found->second)) {
      *attribute = {OpenaclnnAttribute::OPENACLNN_INTEGER, static_cast<double>(*dtype)};
    }
    return true;
  }
  if (error != std::errc() || end != digits.end()) return false;
  const auto read = [&](const auto& elements, decltype(attribute->type) type) {
    if (place >= elements.size()) return false;
    *attribute = {type, static_cast<double>(elements[place])};
    return true;
  };
  if (const auto* const text = std::get_if<std::string>(&found->second)) {
    return read(*text, OpenaclnnAttribute::OPENACLNN_CHARACTER);
  }
  if (const auto* const integers = std::get_if<std::vector<int64_t>>(&found->second)) {
    return read(*integers, OpenaclnnAttribute::OPENACLNN_INTEGER);
  }
  if (const auto* const floats = std::get_if<std::vector<float>>(&found->second)) {
    return read(*floats, OpenaclnnAttribute::OPENACLNN_FLOAT);
  }
  return true;
}

namespace {

Status CheckList(const char* operand, int count, const void* values) {
  if (count < 0) {
    return Status(ACL_ERROR_INVALID_PARAM,
                  Concat(operand, " value is ", count, ", expected 0 or more"));
  }
  return count == 0 ? Status() : RequireOut("values", values);
}

/// The body of the setters: `make` gives the value or a refusal.
template <class Make>
aclError SetAttribute(const char* api, aclopAttr* attr, const char* name, Make&& make) {
  return Api(api, [&] {
    std::shared_ptr<Attributes> attributes;
    Status status = FindGiven("attr", attr, &attributes);
    if (status.ok()) status = RequireOut("attrName", name);
    Attributes::Value value;
    if (status.ok()) status = make(&value);
    if (status.ok()) attributes->Set(name, std::move(value));
    return status;
  });
}

template <class Stored>
aclError SetScalar(const char* api, aclopAttr* attr, const char* name, Stored stored) {
  return SetAttribute(api, attr, name, [&](Attributes::Value* value) {
    *value = std::move(stored);
    return Status();
  });
}

template <class T>
aclError SetList(const char* api, aclopAttr* attr, const char* name, int count, const T* values) {
  return SetAttribute(api, attr, name, [&](Attributes::Value* value) {
    Status status = CheckList("numValues", count, values);
    if (status.ok()) *value = std::vector<T>(values, values + count);
    return status;
  });
}

}  // namespace
}  // namespace openaclnn

using openaclnn::Attributes;
using openaclnn::Status;

aclopAttr* aclopCreateAttr() {
  void* handle = nullptr;
  openaclnn::Api("aclopCreateAttr", [&]() -> Status {
    handle = openaclnn::InsertHandle(std::make_shared<Attributes>());
    if (handle != nullptr) return {};
    return Status(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "no handle is left, expected fewer sets");
  });
  return static_cast<aclopAttr*>(handle);
}

void aclopDestroyAttr(const aclopAttr* attr) {
  openaclnn::ReleaseApi("aclopDestroyAttr",
                        [&] { return openaclnn::RemoveGiven<Attributes>("attr", attr); });
}

aclError aclopSetAttrBool(aclopAttr* attr, const char* attrName, uint8_t attrValue) {
  return openaclnn::SetScalar("aclopSetAttrBool", attr, attrName, attrValue != 0);
}

aclError aclopSetAttrInt(aclopAttr* attr, const char* attrName, int64_t attrValue) {
  return openaclnn::SetScalar("aclopSetAttrInt", attr, attrName, attrValue);
}

aclError aclopSetAttrFloat(aclopAttr* attr, const char* attrName, float attrValue) {
  return openaclnn::SetScalar("aclopSetAttrFloat", attr, attrName, attrValue);
}

aclError aclopSetAttrDataType(aclopAttr* attr, const char* attrName, aclDataType attrValue) {
  return openaclnn::SetScalar("aclopSetAttrDataType", attr, attrName, attrValue);
}

aclError aclopSetAttrString(aclopAttr* attr, const char* attrName, const char* attrValue) {
  return openaclnn::SetAttribute("aclopSetAttrString", attr, attrName,
                                 [&](Attributes::Value* value) {
                                   Status status = openaclnn::RequireOut("attrValue", attrValue);
                                   if (status.ok()) *value = std::string(attrValue);
                                   return status;
                                 });
}

aclError aclopSetAttrListBool(aclopAttr* attr, const char* attrName, int numValues,
                              const uint8_t* values) {
  return openaclnn::SetList("aclopSetAttrListBool", attr, attrName, numValues, values);
}

aclError aclopSetAttrListInt(aclopAttr* attr, const char* attrName, int numValues,
                             const int64_t* values) {
  return openaclnn::SetList("aclopSetAttrListInt", attr, attrName, numValues, values);
}

aclError aclopSetAttrListFloat(aclopAttr* attr, const char* attrName, int numValues,
                               const float* values) {
  return openaclnn::SetList("aclopSetAttrListFloat", attr, attrName, numValues, values);
}

aclError aclopSetAttrListListInt(aclopAttr* attr, const char* attrName, int numLists,
                                 const int* numValues, const int64_t* const values[]) {
  return openaclnn::SetAttribute(
      "aclopSetAttrListListInt", attr, attrName, [&](Attributes::Value* value) {
        Status status = openaclnn::CheckList("numLists", numLists, values);
        if (status.ok() && numLists > 0) status = openaclnn::RequireOut("numValues", numValues);
        std::vector<std::vector<int64_t>> lists;
        for (int i = 0; status.ok() && i < numLists; ++i) {
          status = openaclnn::CheckList("numValues", numValues[i], values[i]);
          if (status.ok()) lists.emplace_back(values[i], values[i] + numValues[i]);
        }
        if (status.ok()) *value = std::move(lists);
        return status;
      });
}
