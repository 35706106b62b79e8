// SPDX-License-Identifier: Apache-2.0
// Numbers that take a narrower type on their way: results before they are converted to the
// output's, and inputs that become of the type in which all meet.
#pragma once

#include <type_traits>

#include "ascendcl/data_type.h"
#include "kernels/move/broadcast.h"
#include "kernels/number/number.h"
#include "supporting/unsigned.h"

namespace openaclnn::supporting {

/// Rounds results to a type, where one is given.
template <class T>
class Narrowing {
 public:
  explicit Narrowing(int32_t dtype) {
    if (dtype == ACL_DT_UNDEFINED) return;
    store_ = StorerOf<T>(dtype);
    load_ = LoaderOf<T>(dtype);
    bytes_ = static_cast<int64_t>(FindDataType(dtype)->bytes);
  }

  bool does() const { return store_ != nullptr; }
  /// Narrows at most Walk::kRun results.
  void operator()(T* results, int64_t n) const {
    if (!does()) return;
    alignas(64) std::byte narrow[Walk::kRun * sizeof(int32_t)];
    store_(results, n, narrow, bytes_);
    load_(narrow, bytes_, n, results);
  }

 private:
  StoreRow<T> store_ = nullptr;
  LoadRow<T> load_ = nullptr;
  int64_t bytes_ = 0;
};

/// Reads at most Walk::kRun integers as a type of floats has them, rounded once.
template <class T, int32_t kFrom, int32_t kTo>
void LoadThrough(const std::byte* from, int64_t step, int64_t n, T* out) {
  constexpr int64_t kBytes = kTo == ACL_FLOAT ? sizeof(float) : sizeof(uint16_t);
  alignas(64) int64_t integers[Walk::kRun];
  alignas(64) std::byte narrow[Walk::kRun * kBytes];
  LoaderOf<int64_t>(kFrom)(from, step, n, integers);
  StorerOf<int64_t>(kTo)(integers, n, narrow, kBytes);
  LoaderOf<T>(kTo)(narrow, kBytes, n, out);
}

/// LoadThrough for the types of integers of which `kTo` has not all numbers; null for the others.
template <class T, int32_t kTo>
LoadRow<T> ThroughLoaderOf(int32_t dtype) {
  switch (dtype) {
    case ACL_INT16:
      return kTo == ACL_FLOAT ? nullptr : LoadThrough<T, ACL_INT16, kTo>;
    case ACL_INT32:
      return LoadThrough<T, ACL_INT32, kTo>;
    case ACL_UINT32:  // beside a complex scalar
      return LoadThrough<T, ACL_UINT32, kTo>;
    case ACL_INT64:
      return LoadThrough<T, ACL_INT64, kTo>;
    default:
      return nullptr;
  }
}

/// WholeLoaderOf, where all inputs become of the type `met` before they are computed with in T.
template <class T>
LoadRow<T> MetLoaderOf(int32_t dtype, int32_t met, int32_t to) {
  LoadRow<T> through = nullptr;
  if constexpr (std::is_same_v<T, float>) {
    if (met == ACL_FLOAT16) through = ThroughLoaderOf<T, ACL_FLOAT16>(dtype);
    if (met == ACL_BF16) through = ThroughLoaderOf<T, ACL_BF16>(dtype);
  }
  return through != nullptr ? through : WholeLoaderOf<T>(dtype, to);
}

}  // namespace openaclnn::supporting
