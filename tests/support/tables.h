// SPDX-License-Identifier: Apache-2.0
// What tests walk: products, data types and formats, written down apart from the library's tables.
#pragma once

#include <array>

#include "acl/acl_base.h"

namespace openaclnn::test {

enum class Family { k910, kA2, kA3, k950, k310P, k310B };

inline constexpr std::array kFamilies = {Family::k910, Family::kA2,   Family::kA3,
                                         Family::k950, Family::k310P, Family::k310B};

inline constexpr const char* NameOf(Family family) {
  constexpr std::array names = {"910", "A2", "A3", "950", "310P", "310B"};
  return names[static_cast<size_t>(family)];
}

struct ProductEntry {
  const char* name;
  Family family;
  int cores;  // of the 910 family, which a limit depends on; else 0
};

inline constexpr ProductEntry kProducts[] = {
    {"Ascend910A", Family::k910, 32},        {"Ascend910B", Family::k910, 30},
    {"Ascend910ProA", Family::k910, 32},     {"Ascend910ProB", Family::k910, 30},
    {"Ascend910PremiumA", Family::k910, 32}, {"Ascend910B1", Family::kA2, 0},
    {"Ascend910B2", Family::kA2, 0},         {"Ascend910B2C", Family::kA2, 0},
    {"Ascend910B3", Family::kA2, 0},         {"Ascend910B4", Family::kA2, 0},
    {"Ascend910B4-1", Family::kA2, 0},       {"Ascend910_9391", Family::kA3, 0},
    {"Ascend910_9392", Family::kA3, 0},      {"Ascend910_9381", Family::kA3, 0},
    {"Ascend910_9382", Family::kA3, 0},      {"Ascend910_9372", Family::kA3, 0},
    {"Ascend910_9362", Family::kA3, 0},      {"Ascend910_9363", Family::kA3, 0},
    {"Ascend310P1", Family::k310P, 0},       {"Ascend310P2", Family::k310P, 0},
    {"Ascend310P3", Family::k310P, 0},       {"Ascend310P4", Family::k310P, 0},
    {"Ascend310P5", Family::k310P, 0},       {"Ascend310P7", Family::k310P, 0},
    {"Ascend310B1", Family::k310B, 0},       {"Ascend310B2", Family::k310B, 0},
    {"Ascend310B3", Family::k310B, 0},       {"Ascend310B4", Family::k310B, 0},
    {"Ascend950PR_9579", Family::k950, 0},
};

struct DtypeEntry {
  aclDataType type;
  const char* name;
};

inline constexpr DtypeEntry kDtypes[] = {
    {ACL_FLOAT, "FLOAT"},
    {ACL_FLOAT16, "FLOAT16"},
    {ACL_INT8, "INT8"},
    {ACL_INT32, "INT32"},
    {ACL_UINT8, "UINT8"},
    {ACL_INT16, "INT16"},
    {ACL_UINT16, "UINT16"},
    {ACL_UINT32, "UINT32"},
    {ACL_INT64, "INT64"},
    {ACL_UINT64, "UINT64"},
    {ACL_DOUBLE, "DOUBLE"},
    {ACL_BOOL, "BOOL"},
    {ACL_STRING, "STRING"},
    {ACL_COMPLEX64, "COMPLEX64"},
    {ACL_COMPLEX128, "COMPLEX128"},
    {ACL_BF16, "BFLOAT16"},
    {ACL_INT4, "INT4"},
    {ACL_UINT1, "UINT1"},
    {ACL_COMPLEX32, "COMPLEX32"},
    {ACL_HIFLOAT8, "HIFLOAT8"},
    {ACL_FLOAT8_E5M2, "FLOAT8_E5M2"},
    {ACL_FLOAT8_E4M3FN, "FLOAT8_E4M3FN"},
    {ACL_FLOAT8_E8M0, "FLOAT8_E8M0"},
    {ACL_FLOAT6_E3M2, "FLOAT6_E3M2"},
    {ACL_FLOAT6_E2M3, "FLOAT6_E2M3"},
    {ACL_FLOAT4_E2M1, "FLOAT4_E2M1"},
    {ACL_FLOAT4_E1M2, "FLOAT4_E1M2"},
};

inline constexpr const char* NameOf(aclDataType type) {
  for (const DtypeEntry& entry : kDtypes) {
    if (entry.type == type) return entry.name;
  }
  return "";
}

inline constexpr std::array kIndexDtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE,
                                            ACL_INT32, ACL_INT64,   ACL_INT16,
                                            ACL_INT8,  ACL_UINT8,   ACL_BOOL};
inline constexpr std::array kFloatDtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};

inline constexpr aclFormat kPlainFormats[] = {
    ACL_FORMAT_ND,    ACL_FORMAT_NCHW,  ACL_FORMAT_NHWC, ACL_FORMAT_HWCN,
    ACL_FORMAT_NDHWC, ACL_FORMAT_NCDHW, ACL_FORMAT_NCL,  ACL_FORMAT_UNDEFINED};

template <class T>
bool IsOneOf(T value, const auto& list) {
  for (const T& entry : list) {
    if (entry == value) return true;
  }
  return false;
}

}  // namespace openaclnn::test
