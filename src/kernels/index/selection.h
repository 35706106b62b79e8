// SPDX-License-Identifier: Apache-2.0
// Slices of a view that are found by their offsets, moved to where those of another view follow.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/move/copy.h"
#include "kernels/move/strided.h"

namespace openaclnn {

/// For each of some places in the source, and there for each of `count` offsets, a slice is copied.
class Selection {
 public:
  Selection() = default;
  /// `before` are the places, of which there are `places`; `to` is where slice after slice goes,
  /// for each place those of all offsets. Both in bytes.
  Selection(const Offsets& before, int64_t places, const Offsets& to, const Copy& slice,
            int64_t slice_bytes);

  /// `offsets` are in bytes from a place.
  void operator()(const std::vector<int64_t>& offsets, const std::byte* from, std::byte* to) const;

 private:
  struct Part;
  void CopyPart(const Part& part) const;

  Offsets before_, to_;
  int64_t places_ = 0;
  Copy slice_;
  int64_t bytes_ = 0;  // of a slice
};

/// to[i] = from[offsets[i]] for elements of 1, 2, 4, 8 or 16 bytes that lie to_step apart; all in
/// bytes.
void PickElements(const std::byte* from, const int64_t* offsets, int64_t n, std::byte* to,
                  int64_t to_step, int64_t element_bytes);

/// to[offsets[i]] = from[i] in order, the same way.
void PutElements(const std::byte* from, int64_t from_step, const int64_t* offsets, int64_t n,
                 std::byte* to, int64_t element_bytes);

/// Elements that dense indices name along one dimension, i of them in order. All steps in bytes.
struct IndexedPick {
  const std::byte* from;
  int64_t along, across;     // from an index to the next, and from an element's place to the next
  const std::byte* indices;  // INT32 or INT64, of so many bytes, in range
  int64_t index_bytes;
  std::byte* to;
  int64_t to_step, element_bytes;        // 1, 2, 4, 8 or 16
  const std::byte* next_from = nullptr;  // memory that the next pick is from, if it is known
  int64_t next_bytes = 0;
};

/// to[i] = from[i * across + indices[i] * along]
void PickIndexed(const IndexedPick& pick, int64_t n);

}  // namespace openaclnn
