// SPDX-License-Identifier: Apache-2.0
// Where the maxima of windows are told: masks of taps, or numbers of elements.
#pragma once

#include <cstring>
#include <utility>
#include <vector>

#include "kernels/move/strided.h"
#include "supporting/window/planes.h"

namespace openaclnn::supporting {

/// Planes whose maxima are told by masks, or by the number of the element in its plane.
struct Places {
  Places(const Tensor& tensor, bool is_mask, Windows over)
      : planes(tensor), masks(is_mask), windows(std::move(over)) {
    const uint32_t rank = tensor.rank();
    rows = tensor.dim(rank - 2);
    width = tensor.last_dim();
  }

  std::byte* At(std::byte* plane, int64_t row, int64_t column) const {
    return plane + (row * planes.strides[0] + column * planes.strides[1]) * planes.bytes;
  }

  void Clear(std::byte* plane) const {
    if (!masks) return;
    for (int64_t i = 0; i < rows; ++i) {
      ZeroStrided(At(plane, i, 0), planes.strides[1], width, 1);
    }
  }
  /// Tells all places of a row, by the numbers of their taps or of their elements.
  void TellRow(std::byte* plane, int64_t y, const std::vector<int32_t>& numbers) const {
    const int64_t width = windows.axes[1].out, step = planes.strides[1] * planes.bytes;
    if (!masks) {
      std::byte* to = At(plane, y, 0);
      for (int64_t i = 0; i < width; ++i, to += step) {
        std::memcpy(to, &numbers[static_cast<size_t>(i)], sizeof(int32_t));
      }
      return;
    }
    const int64_t row_step = planes.strides[0] * planes.bytes;
    for (int64_t i = 0; i < width; ++i) {
      const int64_t place = y * width + i;
      plane[numbers[static_cast<size_t>(i)] * row_step + place / 8 * step] |= std::byte{1}
                                                                              << (place % 8);
    }
  }
  void Tell(std::byte* plane, int64_t place, int64_t tap) const {
    if (masks) {
      *At(plane, tap, place / 8) |= std::byte{1} << (place % 8);
    } else {
      const std::array<int64_t, 2> lengths = {windows.axes[0].in, windows.axes[1].in};
      const std::array<int64_t, 2> steps = {lengths[1], 1};
      const auto number = static_cast<int32_t>(windows.From(place, tap, steps.data()));
      std::memcpy(InPlane(plane, place), &number, sizeof(number));
    }
  }
  /// Whether a window's maximum is at a tap, which is an element of the input by its number.
  bool IsAt(std::byte* plane, int64_t place, int64_t tap, int64_t number) const {
    if (masks) {
      return (*At(plane, tap, place / 8) >> (place % 8) & std::byte{1}) != std::byte{0};
    }
    int32_t told = 0;
    std::memcpy(&told, InPlane(plane, place), sizeof(told));
    return told == number;
  }

  Planes planes;
  bool masks;
  Windows windows;
  int64_t rows, width;

 private:
  std::byte* InPlane(std::byte* plane, int64_t place) const {
    const auto at = DigitsOf(place, windows.out);
    return At(plane, at[0], at[1]);
  }
};

}  // namespace openaclnn::supporting
