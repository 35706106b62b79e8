// SPDX-License-Identifier: Apache-2.0
// A row as groups of lanes, whether its elements follow each other or lie a step apart.
#pragma once

#include <type_traits>

#include "kernels/lanes-inl.h"

namespace openaclnn {
namespace OPENACLNN_TARGET {

inline int64_t Count(WholeLanes) { return kLanes; }
inline int64_t Count(TailLanes lanes) { return lanes.n; }

/// Element j lies at first[j * step]. A dense row has step 1; the others are gathered and scattered
/// a group of lanes at a time, so that no row needs a copy of its own.
template <class T, bool kDense>
struct RowLanes {
  T* first;
  int64_t step;

  template <class Lanes>
  F32x16 Load(int64_t j, Lanes lanes) const {
    if constexpr (kDense) {
      return lanes.Load(first + j);
    } else {
      std::remove_const_t<T> group[kLanes];
      Gather(j, Count(lanes), group);
      return lanes.Load(group);
    }
  }

  /// Stores a result.
  template <class Lanes>
  void Store(F32x16 value, int64_t j, Lanes lanes) const {
    const F32x16 result = value.AsResult<T>();
    if constexpr (kDense) {
      lanes.Store(result, first + j);
    } else {
      T group[kLanes];
      result.Store(group);
      for (int64_t i = 0; i < Count(lanes); ++i) first[(j + i) * step] = group[i];
    }
  }

  /// Stores a result past the caches, up to EndStreams: of a dense row of whole cache lines.
  void Stream(F32x16 value, int64_t j) const {
    static_assert(kDense);
    value.AsResult<T>().Stream(first + j);
  }

  /// For bytes: lane by lane, zero where the byte is 0, else `other`.
  template <class Lanes>
  F32x16 Select(int64_t j, Lanes lanes, F32x16 zero, F32x16 other) const {
    if constexpr (kDense) {
      return lanes.Select(first + j, zero, other);
    } else {
      uint8_t group[kLanes];
      Gather(j, Count(lanes), group);
      return lanes.Select(group, zero, other);
    }
  }

 private:
  void Gather(int64_t j, int64_t n, std::remove_const_t<T>* group) const {
    for (int64_t i = 0; i < n; ++i) group[i] = first[(j + i) * step];
  }
};

}  // namespace OPENACLNN_TARGET
}  // namespace openaclnn
