// SPDX-License-Identifier: Apache-2.0
// Rows of handle_rows.h from the type of an operator's phase 1.
#pragma once

#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "abi/handle_rows.h"
#include "openaclnn/status.h"

namespace openaclnn {

using Names = std::vector<std::string>;

/// Ends the name of a handle that may be null although its name does not say so.
inline constexpr char kMayBeNull = '?';

inline uint64_t g_size;
inline aclOpExecutor* g_executor;

template <class T>
constexpr bool kIsTensor = std::is_same_v<std::remove_cv_t<std::remove_pointer_t<T>>, aclTensor>;
template <class T>
constexpr bool kIsArray = std::is_same_v<std::remove_cv_t<std::remove_pointer_t<T>>, aclIntArray>;

template <class T>
constexpr bool kIsScalar = std::is_same_v<std::remove_cv_t<std::remove_pointer_t<T>>, aclScalar>;
template <class T>
constexpr bool kIsList = std::is_same_v<std::remove_cv_t<std::remove_pointer_t<T>>, aclTensorList>;

template <class T>
constexpr bool kIsScalars =
    std::is_same_v<std::remove_cv_t<std::remove_pointer_t<T>>, aclScalarList>;

template <class T>
constexpr bool kIsFlags = std::is_same_v<std::remove_cv_t<std::remove_pointer_t<T>>, aclBoolArray>;

template <class T>
constexpr HandleKind kKindOf = kIsTensor<T>    ? HandleKind::kTensor
                               : kIsArray<T>   ? HandleKind::kIntArray
                               : kIsScalar<T>  ? HandleKind::kScalar
                               : kIsList<T>    ? HandleKind::kTensorList
                               : kIsScalars<T> ? HandleKind::kScalarList
                               : kIsFlags<T>   ? HandleKind::kBoolArray
                                               : HandleKind::kCount;

/// An argument of phase 1 that is no reason to refuse a handle.
template <class T>
T Sound(const Live& live) {
  if constexpr (kKindOf<T> != HandleKind::kCount) {
    return static_cast<T>(live[kKindOf<T>]);
  } else if constexpr (std::is_same_v<T, uint64_t*>) {
    return &g_size;
  } else if constexpr (std::is_same_v<T, aclOpExecutor**>) {
    return &g_executor;
  } else {
    return T{};
  }
}

/// One row for the argument at kIndex, if it is a handle.
template <size_t kIndex, class... Args>
void AddArgument(const Live& live, const char* api, aclnnStatus (*plan)(Args...),
                 const Names& names, size_t* next, std::vector<HandleRow>* rows) {
  using T = std::tuple_element_t<kIndex, std::tuple<Args...>>;
  if constexpr (kKindOf<T> != HandleKind::kCount) {
    std::string name = names.at((*next)++);
    const bool optional = name.ends_with(kMayBeNull);
    if (optional) name.pop_back();
    const int code = ACLNN_ERR_PARAM_INVALID;
    const std::tuple<Args...> sound(Sound<Args>(live)...);
    rows->push_back(
        {api, kKindOf<T>,
         [sound, plan](void* handle) {
           auto arguments = sound;
           std::get<kIndex>(arguments) = static_cast<T>(handle);
           return std::apply(plan, arguments);
         },
         code, code,
         name.ends_with("Optional") || optional ? kAnyResult : int{ACLNN_ERR_PARAM_NULLPTR},
         // Arrays are looked at after the tensors, which are not what any operator wants.
         kIsArray<T> ? "" : name + " value is", name});
  } else if constexpr (std::is_same_v<T, uint64_t*> || std::is_same_v<T, aclOpExecutor**>) {
    // Where phase 1 writes, of which it asks first.
    const char* name = std::is_same_v<T, uint64_t*> ? "workspaceSize" : "executor";
    const int code = ACLNN_ERR_PARAM_NULLPTR;
    const std::tuple<Args...> sound(Sound<Args>(live)...);
    rows->push_back({api, HandleKind::kMemory,
                     [sound, plan](void* memory) {
                       auto arguments = sound;
                       std::get<kIndex>(arguments) = static_cast<T>(memory);
                       return std::apply(plan, arguments);
                     },
                     code, code, code, name + std::string(" value is")});
  }
}

/// Every handle among the arguments of a phase 1, and what it writes; `names` are the handles', in
/// order.
template <class... Args>
void AddPhase1(const Live& live, const char* api, aclnnStatus (*plan)(Args...), const Names& names,
               std::vector<HandleRow>* rows) {
  size_t next = 0;
  [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
    (AddArgument<kIndex>(live, api, plan, names, &next, rows), ...);
  }
  (std::index_sequence_for<Args...>());
}

}  // namespace openaclnn
