// SPDX-License-Identifier: Apache-2.0
// Which data types an operator takes on which family of products: tables of data.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "acl/acl_base.h"
#include "ascendcl/data_type.h"
#include "ascendcl/interface.h"

namespace openaclnn {

/// A set of data types; bit i stands for the type whose number is i.
using DtypeSet = uint64_t;

template <class... Types>
constexpr DtypeSet Dtypes(Types... types) {
  return ((DtypeSet{1} << types) | ...);
}

inline constexpr DtypeSet kFloatTypes = Dtypes(ACL_FLOAT, ACL_FLOAT16, ACL_BF16);
inline constexpr DtypeSet kFloatTypesNoBf16 = Dtypes(ACL_FLOAT, ACL_FLOAT16);

constexpr bool Contains(DtypeSet set, int dtype) {
  return dtype >= 0 && dtype < 64 && (set >> dtype & 1) != 0;
}

/// A family whose set is kNone does not have the operator.
using DtypesByFamily = std::array<DtypeSet, OPENACLNN_FAMILY_COUNT>;  // by OpenaclnnFamily
inline constexpr DtypeSet kNone = 0;

/// The types that the products of a family have.
inline constexpr DtypesByFamily kTypesOfFamilies = {
    ~Dtypes(ACL_BF16, ACL_COMPLEX32),  // 910
    ~kNone,                            // A2
    ~kNone,                            // A3
    ~Dtypes(ACL_COMPLEX32),            // 950
    ~Dtypes(ACL_BF16, ACL_COMPLEX32),  // 310P
    ~Dtypes(ACL_BF16, ACL_COMPLEX32),  // 310B
};

/// Where a family that does not have an operator is taken all the same: the types that it has, of
/// those that other families take.
DtypeSet DtypesElsewhere(const DtypesByFamily& dtypes, OpenaclnnFamily family);

/// One row of an operator's table.
struct OperandSupport {
  const char* operand;
  DtypesByFamily dtypes;
};

/// An operator as tables and messages know it. The name is that of phase 2; its address identifies
/// the operator.
struct Operator {
  const char* api;
  std::span<const OperandSupport> support;

  bool Supports(OpenaclnnFamily family) const { return support.front().dtypes[family] != 0; }
  /// The types of an operand, on a family that does not have the operator those elsewhere; empty
  /// for a name that the table does not have.
  DtypeSet DtypesOf(const char* operand, OpenaclnnFamily family) const;
};

/// "FLOAT", or the number of what is no data type.
std::string DtypeText(int dtype);
/// "FLOAT, FLOAT16".
std::string DtypesText(DtypeSet set);

}  // namespace openaclnn
