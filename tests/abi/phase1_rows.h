// SPDX-License-Identifier: Apache-2.0
// Rows of handle_rows.h from the type of an operator's phase 1.
#pragma once

#include <functional>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

#include "abi/handle_rows.h"
#include "openaclnn/status.h"

namespace openaclnn {

/// Of the handles among the arguments of a phase 1, in order. A name that ends with `?` is of one
/// that may be null although its name does not say so.
using Names = std::initializer_list<const char*>;

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

/// What a row is made of: a handle, or where phase 1 writes.
enum class Argument { kHandle, kWorkspaceSize, kExecutor, kOther };

template <class T>
constexpr Argument kArgumentOf = kKindOf<T> != HandleKind::kCount     ? Argument::kHandle
                                 : std::is_same_v<T, uint64_t*>       ? Argument::kWorkspaceSize
                                 : std::is_same_v<T, aclOpExecutor**> ? Argument::kExecutor
                                                                      : Argument::kOther;

/// `open`, or an argument that is no reason to refuse it.
template <class T>
T Given(const Live& live, bool is_open, void* open) {
  if constexpr (kArgumentOf<T> == Argument::kHandle) {
    return static_cast<T>(is_open ? open : live[kKindOf<T>]);
  } else if constexpr (kArgumentOf<T> == Argument::kWorkspaceSize) {
    return is_open ? static_cast<T>(open) : &g_size;
  } else if constexpr (kArgumentOf<T> == Argument::kExecutor) {
    return is_open ? static_cast<T>(open) : &g_executor;
  } else {
    return T{};
  }
}

/// A row for each of `arguments` that `call` may leave open: it takes its place and what stands
/// there.
void AddArguments(const char* api, std::initializer_list<std::pair<Argument, HandleKind>> arguments,
                  Names names, std::function<int(size_t, void*)> call,
                  std::vector<HandleRow>* rows);

/// Every handle among the arguments of a phase 1, and what it writes. All but the call of it is
/// compiled once.
template <class... Args>
void AddPhase1(const Live& live, const char* api, aclnnStatus (*plan)(Args...), Names names,
               std::vector<HandleRow>* rows) {
  AddArguments(
      api, {{kArgumentOf<Args>, kKindOf<Args>}...}, names,
      [live, plan](size_t place, void* open) {
        return [&]<size_t... kPlace>(std::index_sequence<kPlace...>) {
          return plan(Given<Args>(live, kPlace == place, open)...);
        }
        (std::index_sequence_for<Args...>());
      },
      rows);
}

}  // namespace openaclnn
