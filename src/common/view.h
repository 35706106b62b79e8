// SPDX-License-Identifier: Apache-2.0
// Strided views: how many elements, which range of storage, and whether two of them share memory.
#pragma once

#include <cstdint>
#include <optional>

#include "common/tensor.h"

namespace openaclnn {

/// Number of elements; nothing when a dimension is negative or the product overflows.
std::optional<int64_t> ElementCount(const int64_t* dims, uint32_t rank);
inline std::optional<int64_t> ElementCount(const OpenaclnnTensor& tensor) {
  return ElementCount(tensor.dims, tensor.rank);
}

/// Elements of storage that a non-empty view reaches: first and last, both included. Nothing when
/// an address overflows.
struct Span {
  int64_t first;
  int64_t last;
};
std::optional<Span> ElementSpan(const OpenaclnnTensor& tensor);

/// Whether two index tuples of the view are the same element.
bool OverlapsItself(const OpenaclnnTensor& tensor);

/// A view with elements whose spans are known not to overflow, in memory.
struct Placement {
  const OpenaclnnTensor* tensor;
  int64_t element_bytes;
  int64_t first_byte;  // address of the first byte of its span
  int64_t last_byte;   // address of the last byte of its span
};

/// Whether some byte belongs to both.
bool Overlap(const Placement& a, const Placement& b);

/// Whether both are the same elements at the same addresses in the same order.
bool SameView(const Placement& a, const Placement& b);

/// Whether the elements of one are the first halves of another's, or the second, in the same order.
bool IsHalfOf(const Placement& halves, const Placement& whole);

}  // namespace openaclnn
