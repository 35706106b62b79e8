// SPDX-License-Identifier: Apache-2.0
// The vendor's two tables of deduced types, tensors with tensors and tensors with scalars.
#include "supporting/promotion.h"

#include <algorithm>
#include <string_view>

namespace openaclnn::supporting {
namespace {

constexpr DtypeSet kUnsigned = Dtypes(ACL_UINT16, ACL_UINT32);  // each meets its own type alone
// Each type of integers holds the types before it, but UINT8 does not hold INT8.
constexpr int32_t kIntegers[] = {ACL_BOOL, ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT32, ACL_INT64};

/// Whether an input only says which of the others is the result: records name it so.
bool IsCondition(const Operand& in) {
  const std::string_view name = in.name();
  return name == "condition" || name == "mask";
}

}  // namespace

int32_t MetType(int32_t a, int32_t b) {
  if (a == b) return a;
  if (!Contains(kNumericTypes, a) || !Contains(kNumericTypes, b)) return ACL_DT_UNDEFINED;
  if (Contains(kUnsigned, a) || Contains(kUnsigned, b)) return ACL_DT_UNDEFINED;
  const bool real_a = Contains(kRealTypes, a), real_b = Contains(kRealTypes, b);
  if (real_a != real_b) return real_a ? a : b;
  if (real_a) return a == ACL_DOUBLE || b == ACL_DOUBLE ? ACL_DOUBLE : ACL_FLOAT;
  const auto* const lower = std::ranges::find_first_of(kIntegers, std::array{a, b});
  const int32_t higher = *lower == a ? b : a;
  return *lower == ACL_INT8 && higher == ACL_UINT8 ? ACL_INT16 : higher;
}

int32_t MetType(int32_t tensors, const Value& scalar) {
  if (Contains(kRealTypes, tensors)) return tensors;
  if (scalar.real) return ACL_FLOAT;
  return tensors == ACL_BOOL && scalar.dtype != ACL_DT_UNDEFINED ? scalar.dtype : tensors;
}

void CheckMeeting(const Params& p, std::span<const size_t> inputs, Checker& checker) {
  constexpr DtypeSet kAlone = kUnsigned | Dtypes(ACL_UINT64);
  const Operand* first = nullptr;
  DtypeSet types = 0;
  for (const size_t i : inputs) types |= Dtypes(p.tensors[i].dtype());
  if ((types & kAlone) == 0) return;
  for (const size_t i : inputs) {
    const Operand& in = p.tensors[i];
    if (IsCondition(in)) continue;
    if (first == nullptr) first = &in;
    const bool alone = Contains(kAlone, in.dtype()) || Contains(kAlone, first->dtype());
    if (alone) checker.SameDtype(in, *first);
  }
}

}  // namespace openaclnn::supporting
