// SPDX-License-Identifier: Apache-2.0
// The largest elements of windows over planes, a row of places at once, in lanes.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "supporting/window/lines.h"
#include "supporting/window/planes.h"

namespace openaclnn::supporting {

/// Largest elements of FLOAT and shorter types, which floats hold: the first of the largest in a
/// window, where NaN is the largest; and its number among the elements of the plane or among the
/// taps.
class MaxRows {
 public:
  struct Room {
    LineRing<float> ring;
    std::vector<float> row, largest;  // `row`: a line as its taps read it
    std::vector<int32_t> line_numbers, number;
  };
  enum class Numbers { kElements, kTaps };

  /// Gives none where a thread's lines would take too much memory. `number` of a window that has
  /// no element is anything.
  static std::optional<MaxRows> Of(const Windows& windows, const Planes& from, int32_t dtype,
                                   Numbers numbers) {
    const WindowAxis &high = windows.axes[0], &wide = windows.axes[1];
    // A line of the ring has its largest elements and their numbers.
    const bool fits =
        high.in > 0 && wide.in > 0 && TapLines::Fit(wide.in, wide.out, wide.taps, 1) &&
        TapLines::Fit(0, wide.out, 2, high.reach()) && wide.dilation <= kMostInLines &&
        high.in <= INT32_MAX / wide.in && high.taps <= INT32_MAX / wide.taps;
    if (!fits) return {};
    return MaxRows(high, wide, from, LoaderOf<float>(dtype), numbers);
  }

  int64_t pitch() const { return lines_.pitch; }

  /// Fills `largest` and `number` of room for row y of plane `number`, which begins at `plane`.
  void Row(const std::byte* plane, int64_t number, int64_t y, Room* room) const {
    Reserve(room);
    bool met = false;
    for (int64_t tap = 0; tap < high_.taps; ++tap) {
      const int64_t from = high_.From(y, tap);
      if (from < 0) continue;
      const float* const largest = Line(plane, number, from, room);
      const int32_t* const numbers = room->line_numbers.data() + Slot(from) * pitch();
      const auto base =
          static_cast<int32_t>(numbers_ == Numbers::kTaps ? tap * wide_taps_ : from * wide_in_);
      if (met) {
        kernels_->join(largest, numbers, base, pitch(), room->largest.data(), room->number.data());
        continue;
      }
      met = true;
      std::copy_n(largest, pitch(), room->largest.data());
      for (int64_t i = 0; i < pitch(); ++i) {
        room->number[static_cast<size_t>(i)] = numbers[i] + base;
      }
    }
    if (!met) std::fill_n(room->largest.data(), pitch(), kNone);
  }

 private:
  MaxRows(const WindowAxis& high, const WindowAxis& wide, const Planes& from, LoadRow<float> load,
          Numbers numbers)
      : high_(high),
        wide_in_(wide.in),
        wide_taps_(wide.taps),
        numbers_(numbers),
        row_bytes_(from.strides[0] * from.bytes),
        step_bytes_(from.strides[1] * from.bytes),
        load_(load),
        lines_(wide.in, wide.out, wide.taps,
               [&](int64_t tap, int64_t i) { return wide.From(i, tap); }),
        kernels_(OPENACLNN_TARGET_SELECT(kWindowRowKernels)) {
    own_step_ = static_cast<int32_t>(numbers == Numbers::kTaps ? 1 : wide.dilation);
    own_.resize(static_cast<size_t>(pitch()));
    first_.resize(static_cast<size_t>(pitch()));
    for (int64_t i = 0; i < wide.out; ++i) {
      const int64_t begin = i * wide.stride - wide.pad;
      const int64_t skipped = begin < 0 ? DivideUp(-begin, wide.dilation) : 0;
      const auto at = static_cast<size_t>(i);
      own_[at] = static_cast<int32_t>(numbers == Numbers::kTaps ? 0 : begin);
      first_[at] = own_[at] + static_cast<int32_t>(skipped) * own_step_;
    }
  }

  void Reserve(Room* room) const {
    room->ring.Reserve(high_.reach(), pitch(), wide_in_);
    room->line_numbers.resize(static_cast<size_t>(high_.reach() * pitch()));
    room->row.resize(static_cast<size_t>(lines_.length));
    room->largest.resize(static_cast<size_t>(pitch()));
    room->number.resize(static_cast<size_t>(pitch()));
  }

  int64_t Slot(int64_t row) const { return row % high_.reach(); }

  /// The largest elements of one row of the plane; their numbers in it are in line_numbers.
  const float* Line(const std::byte* plane, int64_t number, int64_t row, Room* room) const {
    const int64_t slot = Slot(row);
    return room->ring.Get(slot, number * high_.in + row, pitch(), [&](float* line) {
      lines_.Make(load_, plane + row * row_bytes_, step_bytes_, kNone, room->ring.source.data(),
                  room->row.data());
      kernels_->maxima({room->row.data(), lines_.offsets.data(), lines_.taps, pitch(), own_.data(),
                        own_step_, first_.data(), line,
                        room->line_numbers.data() + slot * pitch()});
    });
  }

  static constexpr float kNone = -std::numeric_limits<float>::infinity();

  WindowAxis high_;
  int64_t wide_in_, wide_taps_;
  Numbers numbers_;
  int64_t row_bytes_, step_bytes_;
  LoadRow<float> load_;
  TapLines lines_;
  const WindowRowKernels* kernels_;
  int32_t own_step_ = 1;
  std::vector<int32_t> own_, first_;  // numbers of the places' taps 0, and of their first elements
};

}  // namespace openaclnn::supporting
