// SPDX-License-Identifier: Apache-2.0
// Largest elements over planes or volumes, each with its number, by rows of places.
#pragma once

#include "generated/window.h"
#include "kernels/rows/rows.h"
#include "supporting/window/max_rows.h"

namespace openaclnn::supporting {

/// The last two or three dimensions of a tensor, as three.
struct Volumes {
  Volumes(const Tensor& tensor, int64_t dims)
      : place(tensor.place),
        bytes(BytesOf(tensor)),
        lead(tensor, tensor.rank() - static_cast<uint32_t>(dims)) {
    for (int64_t i = 0; i < dims; ++i) {
      const auto to = static_cast<size_t>(3 - dims + i);
      const auto from = static_cast<uint32_t>(tensor.rank() - dims + i);
      lengths[to] = tensor.dim(from);
      strides[to] = tensor.tensor().strides[from];
    }
  }

  int64_t count() const { return lengths[0] * lengths[1] * lengths[2]; }
  std::byte* At(const Buffers& buffers, int64_t volume, const std::array<int64_t, 3>& at) const {
    const int64_t offset = at[0] * strides[0] + at[1] * strides[1] + at[2] * strides[2];
    return place(buffers) + (lead(volume) + offset) * bytes;
  }
  /// In bytes.
  std::array<int64_t, 3> Steps() const {
    return {strides[0] * bytes, strides[1] * bytes, strides[2] * bytes};
  }

  Place place;
  int64_t bytes;
  Offsets lead;
  std::array<int64_t, 3> lengths = {1, 1, 1}, strides{};
};

/// The largest elements of windows or shares, and their numbers. Gives none for DOUBLE, and where
/// a thread's lines would take too much memory.
inline std::optional<Plan> PlanMaxVolumes(const Tensor& self, const MaxRows::Axes& axes,
                                          const Tensor& largest, const Tensor& numbers,
                                          int64_t dims) {
  const Volumes from(self, dims), to(largest, dims), told(numbers, dims);
  if (self.dtype() == ACL_DOUBLE) return {};
  const auto rows = MaxRows::Of(axes, from.Steps(), self.dtype(), MaxRows::Numbers::kElements);
  if (!rows) return {};
  struct Room {
    MaxRows::Room rows;
    std::vector<int64_t> numbers;
  };
  const int64_t taps = axes[0].axis.taps * axes[1].axis.taps + axes[2].axis.taps;
  return Plan{
      0,
      [=, rows = *rows, store = StorerOf<float>(largest.dtype()),
       tell = StorerOf<int64_t>(numbers.dtype()),
       volumes = PlaneCount(self, static_cast<uint32_t>(dims))](const Buffers& buffers) -> Status {
        const int64_t height = to.lengths[1], width = to.lengths[2];
        const int64_t each = to.lengths[0] * height;
        ParallelRowsIn<Room>(
            volumes * each, WrappingProduct(width, taps), [&](int64_t row, Room* room) {
              const int64_t volume = row / each, z = row % each / height, y = row % height;
              rows.Row(from.At(buffers, volume, {0, 0, 0}), volume, z, y, &room->rows);
              store(room->rows.largest.data(), width, to.At(buffers, volume, {z, y, 0}),
                    to.strides[2] * to.bytes);
              room->numbers.assign(room->rows.number.begin(), room->rows.number.begin() + width);
              tell(room->numbers.data(), width, told.At(buffers, volume, {z, y, 0}),
                   told.strides[2] * told.bytes);
            });
        return {};
      }};
}

}  // namespace openaclnn::supporting
