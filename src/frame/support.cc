// SPDX-License-Identifier: Apache-2.0
// Look-ups in support tables and their words.
#include "frame/support.h"

#include <algorithm>
#include <string_view>

#include "common/status.h"

namespace openaclnn {

DtypeSet Operator::DtypesOf(const char* operand, OpenaclnnFamily family) const {
  const auto row = std::find_if(support.begin(), support.end(), [&](const OperandSupport& entry) {
    return std::string_view(entry.operand) == operand;
  });
  if (row == support.end()) return kNone;
  return Supports(family) ? row->dtypes[family] : DtypesElsewhere(row->dtypes, family);
}

DtypeSet DtypesElsewhere(const DtypesByFamily& dtypes, OpenaclnnFamily family) {
  DtypeSet all = kNone;
  for (const DtypeSet each : dtypes) all |= each;
  return all & kTypesOfFamilies[family];
}

std::string DtypeText(int dtype) {
  const DataTypeInfo* info = FindDataType(dtype);
  return info != nullptr ? info->name : Concat("type number ", dtype);
}

std::string DtypesText(DtypeSet set) {
  std::string text;
  for (const DataTypeInfo& info : data_type_table::kTypes) {
    if (Contains(set, info.type)) text += Concat(text.empty() ? "" : ", ", info.name);
  }
  return text;
}

}  // namespace openaclnn
