// SPDX-License-Identifier: Apache-2.0
// The gradient of largest elements, by rows of elements.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "supporting/window/lines.h"
#include "supporting/window/told_places.h"

namespace openaclnn::supporting {

/// The gradient by rows of elements. Windows give their gradients to the elements that are their
/// maxima in order, and no element has more of them than the tree adds in sequence.
class ScatteredRows {
 public:
  struct Room {
    std::vector<double> sums, gradients;
    std::vector<int32_t> targets;  // of places, in the rows of sums
    std::vector<uint8_t> bytes;    // of a row of a mask whose bytes lie apart
    std::vector<uint64_t> codes;   // of eight places each: the tap of the maximum, from 1 on
  };

  ScatteredRows(const Places& told, const Planes& from, int32_t dtype)
      : told_(told),
        from_(from),
        load_(LoaderOf<double>(dtype)),
        row_(RowOf(told.windows)),
        kernels_(OPENACLNN_TARGET_SELECT(kWindowRowKernels)) {}

  static bool Fits(const Windows& windows) {
    int64_t most = 1;
    for (const WindowAxis& axis : windows.axes) {
      most = WrappingProduct(most, DivideUp(axis.taps, axis.stride));
    }
    const WindowAxis &high = windows.axes[0], &wide = windows.axes[1];
    return most <= kInSequence && wide.in > 0 && wide.out <= kMostInLines &&
           RowOf(windows) <= kMostInLines / (high.taps + 1);
  }

  /// Rows whose sums a thread makes at once; windows at their edges are read twice.
  int64_t rows() const { return std::max({kMostInLines / 8 / row_, 2 * high().taps, int64_t{1}}); }

  /// Makes the sums of rows [begin, end) of a plane.
  void Sum(const Buffers& buffers, int64_t plane, int64_t begin, int64_t end, Room* room) const {
    // One more is for what is added to no element.
    room->sums.assign(static_cast<size_t>((end - begin + 2 * high().taps) * row_ + 1), 0);
    room->gradients.resize(static_cast<size_t>(wide().out));
    std::byte* const indices = told_.planes.Plane(buffers, plane);
    const std::byte* const gradients = from_.Plane(buffers, plane);
    const int64_t lowest = begin + high().pad - high().taps;  // below a first window's row * stride
    const int64_t first = lowest < 0 ? 0 : lowest / high().stride + 1;
    const int64_t last = std::min(high().out, (end - 1 + high().pad) / high().stride + 1);
    for (int64_t i = first; i < last; ++i) {
      load_(gradients + i * from_.strides[0] * from_.bytes, from_.strides[1] * from_.bytes,
            wide().out, room->gradients.data());
      double* const sums = room->sums.data() + Row(i * high().stride - high().pad - begin);
      told_.masks ? AddMasked(indices, i, sums, room) : AddNumbered(indices, i, sums, room);
    }
  }

  /// The sums of the row that is `row` after the first.
  const double* Sums(int64_t row, const Room& room) const {
    return room.sums.data() + Row(row) + wide().pad;
  }

 private:
  static constexpr int64_t kInSequence = 64, kCoded = 8;

  const WindowAxis& high() const { return told_.windows.axes[0]; }
  const WindowAxis& wide() const { return told_.windows.axes[1]; }

  /// Windows that begin before the rows, or end behind them, need no care: there are sums for all
  /// that they have, and in the padding too.
  static int64_t RowOf(const Windows& windows) {
    const WindowAxis& axis = windows.axes[1];
    return std::max(axis.in + axis.pad, (axis.out - 1) * axis.stride + axis.taps);
  }
  int64_t Row(int64_t row) const { return (row + high().taps) * row_; }

  /// Adds row i of windows, whose maxima are told by numbers; one outside of its window is left
  /// out. Tap 0 of window 0 is at `sums`.
  void AddNumbered(std::byte* indices, int64_t i, double* sums, Room* room) const {
    const int64_t step = told_.planes.strides[1], n = wide().out;
    const auto* numbers = reinterpret_cast<const int32_t*>(told_.At(indices, i, 0));
    room->targets.resize(static_cast<size_t>(2 * n));
    int32_t* const targets = room->targets.data();
    if (step != 1) {
      CopyStrided(numbers, step, targets + n, 1, n, sizeof(int32_t));
      numbers = targets + n;
    }
    const auto last = static_cast<int32_t>(room->sums.data() + room->sums.size() - 1 - sums);
    const auto narrow = [](int64_t number) { return static_cast<int32_t>(number); };
    kernels_->targets({numbers, n, narrow(wide().in), narrow(i * high().stride - high().pad),
                       narrow(high().taps), narrow(wide().taps), narrow(wide().stride),
                       narrow(wide().pad), narrow(row_), last, targets});
    const double* const gradients = room->gradients.data();
    for (int64_t j = 0; j < n; ++j) sums[targets[j]] += gradients[j];
  }

  /// Adds row i of windows, whose maxima are told by masks.
  void AddMasked(std::byte* indices, int64_t i, double* sums, Room* room) const {
    const int64_t first = i * wide().out, n = wide().out, taps = high().taps * wide().taps;
    if (taps > UINT8_MAX || !ReadCodes(indices, first, room)) {
      return AddEach(indices, first, sums, *room);
    }
    std::array<int32_t, UINT8_MAX + 1> offsets;
    for (int64_t tap = 0; tap < taps; ++tap) {
      offsets[static_cast<size_t>(tap + 1)] =
          static_cast<int32_t>(tap / wide().taps * row_ + tap % wide().taps);
    }
    const auto* const codes = reinterpret_cast<const uint8_t*>(room->codes.data()) + first % 8;
    for (int64_t j = 0; j < n; ++j, sums += wide().stride) {
      if (codes[j] != 0) sums[offsets[codes[j]]] += room->gradients[static_cast<size_t>(j)];
    }
  }

  /// Reads the taps of a row's windows, from place `first` on; false where a window has several.
  bool ReadCodes(std::byte* indices, int64_t first, Room* room) const {
    const int64_t count = DivideUp(first % 8 + wide().out, kCoded);
    const int64_t words = DivideUp(count, kCodeWords) * kCodeWords;
    const int64_t step = told_.planes.strides[1] * told_.planes.bytes;
    room->codes.assign(static_cast<size_t>(words), 0);
    room->bytes.resize(static_cast<size_t>(words));
    bool several = false;
    for (int64_t tap = 0; tap < high().taps * wide().taps; ++tap) {
      // Rows of masks are wider than what their last places need by more than the words.
      auto* bytes = reinterpret_cast<const uint8_t*>(told_.At(indices, tap, first / 8));
      if (step != 1) {
        CopyStrided(bytes, step, room->bytes.data(), 1, count, 1);
        bytes = room->bytes.data();
      }
      several |= kernels_->codes(bytes, static_cast<uint8_t>(tap + 1), count, room->codes.data());
    }
    return !several;
  }

  /// Adds window after window, of any taps.
  void AddEach(std::byte* indices, int64_t first, double* sums, const Room& room) const {
    for (int64_t j = 0; j < wide().out; ++j, sums += wide().stride) {
      const int64_t place = first + j;
      for (int64_t tap = 0; tap < high().taps * wide().taps; ++tap) {
        if ((*told_.At(indices, tap, place / 8) >> (place % 8) & std::byte{1}) == std::byte{0}) {
          continue;
        }
        sums[tap / wide().taps * row_ + tap % wide().taps] +=
            room.gradients[static_cast<size_t>(j)];
      }
    }
  }

  Places told_;
  Planes from_;
  LoadRow<double> load_;
  int64_t row_;  // numbers of a row of sums
  const WindowRowKernels* kernels_;
};

}  // namespace openaclnn::supporting
