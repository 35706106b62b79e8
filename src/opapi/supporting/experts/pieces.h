// SPDX-License-Identifier: Apache-2.0
// The parts that belong to groups: a member each of a list, or a slice each of one tensor.
#pragma once

#include <vector>

#include "supporting/experts/grouped.h"

namespace openaclnn::supporting {

/// How a tensor is cut: vectors and matrices may have a slice for each group, where a tensor has a
/// dimension more than they; the rows of joined ones are those of all leading dimensions.
enum class Slicing { kVector, kMatrix, kJoined };

/// Matrices or vectors of groups. A tensor without slices is the same for all.
class Pieces {
 public:
  Pieces() = default;
  Pieces(const std::vector<const Tensor*>& tensors, Slicing kind);
  Pieces(const GivenList& list, Slicing kind) : Pieces(list.tensors, kind) {}
  Pieces(const Tensor& tensor, Slicing kind)
      : Pieces(
            tensor.present() ? std::vector<const Tensor*>{&tensor} : std::vector<const Tensor*>{},
            kind) {}

  bool present() const { return !places_.empty(); }
  /// Without an address, as plans need it.
  GroupMatrix Of(size_t group) const {
    return places_.empty() ? GroupMatrix{} : matrices_[Index(group)];
  }
  GroupMatrix Of(const Buffers& buffers, size_t group) const;

 private:
  size_t Index(size_t group) const { return places_.size() == 1 ? 0 : group; }

  std::vector<Place> places_;
  std::vector<GroupMatrix> matrices_;
  int64_t slice_bytes_ = 0;
};

/// Loads columns of a group's row as floats; nothing where there is no such row.
void LoadRowOf(const GroupMatrix& matrix, int64_t columns, float* to);

/// The size of the matrices of groups: a rank-3 tensor has a slice for each, a list a member.
struct Extents {
  int64_t rows = 0, columns = 0;
};
Extents ExtentsOf(const std::vector<const Tensor*>& tensors, size_t group);

}  // namespace openaclnn::supporting
