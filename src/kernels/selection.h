// SPDX-License-Identifier: Apache-2.0
// Slices of a view that are found by their offsets, moved to where those of another view follow.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/copy.h"
#include "kernels/strided.h"

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

}  // namespace openaclnn
