// SPDX-License-Identifier: Apache-2.0
// Strided views as kernels walk them: rows in the order of their index, elements along a row.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "ascendcl/data_type.h"
#include "frame/operand.h"

namespace openaclnn {

/// Offsets, in elements, of the index tuples of some dimensions in row-major order.
class Offsets {
 public:
  Offsets() = default;

  /// Over the first `rank` dimensions of the operand. Neighbours that step like one dimension are
  /// joined, so that dense and most strided views need one multiplication.
  Offsets(const Operand& operand, uint32_t rank)
      : Offsets(operand.tensor().dims, operand.tensor().strides, rank) {}

  Offsets(const int64_t* dims, const int64_t* strides, uint32_t rank) {
    for (uint32_t i = 0; i < rank; ++i) {
      const int64_t dim = dims[i];
      const int64_t stride = strides[i];
      if (dim == 1) continue;
      // A view without elements may have any strides: products overflow, and are not needed.
      int64_t step = 0, length = 0;
      const bool joins = rank_ > 0 && !__builtin_mul_overflow(dim, stride, &step) &&
                         !__builtin_mul_overflow(dims_[rank_ - 1], dim, &length) &&
                         strides_[rank_ - 1] == step;
      if (joins) {
        dims_[rank_ - 1] = length;
        strides_[rank_ - 1] = stride;
      } else {
        dims_[rank_] = dim;
        strides_[rank_++] = stride;
      }
    }
  }

  /// The step from one to the next where they are steps of one length, else 0.
  int64_t step() const { return rank_ == 1 ? strides_[0] : 0; }

  /// Whether all of them are 0.
  bool constant() const {
    return std::all_of(strides_.begin(), strides_.end(), [](int64_t each) { return each == 0; });
  }

  int64_t operator()(int64_t index) const {
    if (rank_ == 1) return index * strides_[0];
    int64_t offset = 0;
    for (uint32_t i = rank_; i-- > 0;) {
      offset += index % dims_[i] * strides_[i];
      index /= dims_[i];
    }
    return offset;
  }

 private:
  uint32_t rank_ = 0;
  std::array<int64_t, kMaxRank> dims_{};
  std::array<int64_t, kMaxRank> strides_{};
};

/// A view as rows along its last dimension.
struct RowView {
  RowView() = default;
  explicit RowView(const Operand& operand)
      : rows(operand, operand.rank() - 1),
        step(operand.tensor().strides[operand.rank() - 1]),
        element_bytes(static_cast<int64_t>(FindDataType(operand.dtype())->bytes)) {}

  /// An operand that is broadcast to the shape of another of the same rank: a dimension of 1 stands
  /// for all indices of the other's.
  RowView(const Operand& operand, const Operand& shape) : RowView(operand) {
    std::array<int64_t, kMaxRank> strides{};
    for (uint32_t i = 0; i + 1 < operand.rank(); ++i) {
      if (operand.dim(i) != 1) strides[i] = operand.tensor().strides[i];
    }
    rows = Offsets(shape.tensor().dims, strides.data(), operand.rank() - 1);
  }

  /// Address of the row's element 0, given that of the view's.
  std::byte* Row(void* origin, int64_t row) const {
    return static_cast<std::byte*>(origin) + rows(row) * element_bytes;
  }

  Offsets rows;
  int64_t step = 1;  // elements between neighbours of a row
  int64_t element_bytes = 0;
};

/// Copies n elements of 1, 2, 4, 8 or 16 bytes between places, with steps given in elements.
void CopyStrided(const void* from, int64_t from_step, void* to, int64_t to_step, int64_t n,
                 int64_t element_bytes);

/// Sets n elements to zero bytes.
void ZeroStrided(void* to, int64_t step, int64_t n, int64_t element_bytes);

}  // namespace openaclnn
