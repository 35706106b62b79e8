// SPDX-License-Identifier: Apache-2.0
// Places that rows of coordinates name: the last dimension of an index has a coordinate for each of
// a tensor's first dimensions.
#pragma once

#include <vector>

#include "supporting/elements.h"
#include "supporting/places.h"

namespace openaclnn::supporting {

/// How many dimensions of a tensor an index names.
inline uint32_t DepthOf(const Operand& index) { return static_cast<uint32_t>(index.last_dim()); }

/// The shape of the slices that are named: the index's dimensions but the last one, then those of
/// the tensor that it does not name.
Shape NamedShape(const Operand& of, const Operand& index);

/// Checks that an index has rows of coordinates for a tensor, and that `slices` has the shape of
/// what they name and the tensor's type.
void CheckCoordinates(const Tensor& of, const Tensor& index, const Tensor& slices,
                      Checker& checker);

/// Coordinates as offsets of slices.
class Coordinates {
 public:
  Coordinates(const Tensor& of, const Tensor& index);

  /// The offset of each slice, in elements; with `from_end` negative coordinates count from the
  /// end. 507035 for others that are none.
  Status Read(const Buffers& buffers, bool from_end, std::vector<int64_t>* offsets) const;

 private:
  const char* name_;
  Elements index_;
  Shape limits_, steps_;  // of the dimensions that are named, in elements
};

}  // namespace openaclnn::supporting
