// SPDX-License-Identifier: Apache-2.0
// Attributes: named values of the single-operator interface.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "acl/acl_op.h"
#include "ascendcl/interface.h"
#include "common/handle_table.h"

namespace openaclnn {

class Attributes {
 public:
  static constexpr Kind kKind = Kind::kAttributes;
  static constexpr const char* kNoun = "set of attributes";
  using Value =
      std::variant<bool, float, int64_t, std::string, aclDataType, std::vector<uint8_t>,
                   std::vector<int64_t>, std::vector<float>, std::vector<std::vector<int64_t>>>;

  void Set(const char* name, Value value);

  /// False when there is no value of that name. `name[]` is an integer or a type of data; `name[0]`
  /// the first of a list of integers or floats, or a string's first character, and so on. Of what
  /// is none of these each is of another type.
  bool Read(const char* name, OpenaclnnAttribute* attribute) const;

 private:
  bool ReadElement(std::string_view name, OpenaclnnAttribute* attribute) const;

  mutable std::mutex mutex_;  // guards what follows
  std::map<std::string, Value, std::less<>> values_;
};

}  // namespace openaclnn
