// SPDX-License-Identifier: Apache-2.0
// The largest elements of windows over planes or volumes, a row of places at once, in lanes.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "supporting/window/lines.h"
#include "supporting/window/planes.h"

namespace openaclnn::supporting {

/// The elements of a dimension that a place has, and which of its taps the first of them is.
struct TapSpan {
  int64_t first = 0, count = 0, tap = 0;
};

/// One dimension: windows, or shares of it.
struct MaxAxis {
  WindowAxis axis;
  bool shared = false;

  /// A dimension of one place that has one element.
  static MaxAxis One() { return {}; }
  static MaxAxis Shares(int64_t in, int64_t out) {
    MaxAxis of;
    of.axis.in = in;
    of.axis.out = out;
    of.axis.taps = std::min(in, in % out == 0 ? in / out : in / out + 2);
    of.shared = true;
    return of;
  }

  TapSpan Span(int64_t place) const {
    if (shared) {
      const Share share = ShareOf(axis.in, axis.out, place);
      return {share.begin, share.end - share.begin, 0};
    }
    const int64_t begin = place * axis.stride - axis.pad;
    const int64_t tap = begin < 0 ? DivideUp(-begin, axis.dilation) : 0;
    const int64_t first = begin + tap * axis.dilation;
    const int64_t inside = first < axis.in ? DivideUp(axis.in - first, axis.dilation) : 0;
    return {first, std::clamp(inside, int64_t{0}, std::max(axis.taps - tap, int64_t{0})), tap};
  }
};

/// Largest elements of FLOAT and shorter types, which floats hold: the first of the largest in a
/// window, where NaN is the largest; and its number among the elements of the volume or among the
/// taps.
class MaxRows {
 public:
  struct Room {
    LineRing<float> ring;
    std::vector<float> row, largest;  // `row`: a line as its taps read it
    std::vector<int32_t> line_numbers, number;
  };
  enum class Numbers { kElements, kTaps };
  using Axes = std::array<MaxAxis, 3>;

  /// Gives none where a thread's lines would take too much memory. `steps` are the bytes between
  /// neighbours. `number` of a window that has no element is anything. Taps are those of planes.
  static std::optional<MaxRows> Of(const Axes& axes, const std::array<int64_t, 3>& steps,
                                   int32_t dtype, Numbers numbers) {
    const WindowAxis &deep = axes[0].axis, &high = axes[1].axis, &wide = axes[2].axis;
    int64_t slots = 0, rows = 0;
    // A line of the ring has its largest elements and their numbers.
    const bool fits = deep.in > 0 && high.in > 0 && wide.in > 0 &&
                      TapLines::Fit(wide.in, wide.out, wide.taps, 1) &&
                      !__builtin_mul_overflow(deep.reach(), high.reach(), &slots) &&
                      TapLines::Fit(0, wide.out, 2, slots) && wide.dilation <= kMostInLines &&
                      !__builtin_mul_overflow(deep.in, high.in, &rows) &&
                      rows <= INT32_MAX / wide.in && high.taps <= INT32_MAX / wide.taps;
    if (!fits) return {};
    return MaxRows(axes, steps, LoaderOf<float>(dtype), numbers);
  }
  static std::optional<MaxRows> Of(const Windows& windows, const Planes& from, int32_t dtype,
                                   Numbers numbers) {
    return Of({MaxAxis::One(), {windows.axes[0]}, {windows.axes[1]}},
              {0, from.strides[0] * from.bytes, from.strides[1] * from.bytes}, dtype, numbers);
  }

  int64_t pitch() const { return lines_.pitch; }

  /// Fills `largest` and `number` of room for row (z, y) of volume `number`, which begins at
  /// `volume`.
  void Row(const std::byte* volume, int64_t number, int64_t z, int64_t y, Room* room) const {
    Reserve(room);
    bool met = false;
    const TapSpan deep = axes_[0].Span(z), high = axes_[1].Span(y);
    for (int64_t i = 0; i < deep.count; ++i) {
      for (int64_t j = 0; j < high.count; ++j) {
        Meet(volume, number, deep.first + i * axes_[0].axis.dilation,
             high.first + j * axes_[1].axis.dilation, high.tap + j, &met, room);
      }
    }
    if (!met) std::fill_n(room->largest.data(), pitch(), kNone);
  }
  void Row(const std::byte* plane, int64_t number, int64_t y, Room* room) const {
    Row(plane, number, 0, y, room);
  }

 private:
  MaxRows(const Axes& axes, const std::array<int64_t, 3>& steps, LoadRow<float> load,
          Numbers numbers)
      : axes_(axes),
        numbers_(numbers),
        steps_(steps),
        load_(load),
        lines_(wide().in, wide().out, wide().taps,
               [&](int64_t tap, int64_t i) {
                 const TapSpan span = axes_[2].Span(i);
                 const int64_t at = tap - span.tap;
                 return at >= 0 && at < span.count ? span.first + at * wide().dilation : -1;
               }),
        kernels_(OPENACLNN_TARGET_SELECT(kWindowRowKernels)) {
    own_step_ = static_cast<int32_t>(numbers == Numbers::kTaps ? 1 : wide().dilation);
    own_.resize(static_cast<size_t>(pitch()));
    first_.resize(static_cast<size_t>(pitch()));
    for (int64_t i = 0; i < wide().out; ++i) {
      const TapSpan span = axes_[2].Span(i);
      const auto at = static_cast<size_t>(i);
      const int64_t begin = span.first - span.tap * wide().dilation;
      own_[at] = static_cast<int32_t>(numbers == Numbers::kTaps ? 0 : begin);
      first_[at] = own_[at] + static_cast<int32_t>(span.tap) * own_step_;
    }
  }

  const WindowAxis& deep() const { return axes_[0].axis; }
  const WindowAxis& high() const { return axes_[1].axis; }
  const WindowAxis& wide() const { return axes_[2].axis; }
  int64_t slots() const { return deep().reach() * high().reach(); }

  void Reserve(Room* room) const {
    room->ring.Reserve(slots(), pitch(), wide().in);
    room->line_numbers.resize(static_cast<size_t>(slots() * pitch()));
    room->row.resize(static_cast<size_t>(lines_.length));
    room->largest.resize(static_cast<size_t>(pitch()));
    room->number.resize(static_cast<size_t>(pitch()));
  }

  /// Joins the largest elements of row (z, y), which the windows have by a tap, to those before.
  void Meet(const std::byte* volume, int64_t number, int64_t z, int64_t y, int64_t tap, bool* met,
            Room* room) const {
    const int64_t slot = z % deep().reach() * high().reach() + y % high().reach();
    const float* const largest = Line(volume, number, z, y, slot, room);
    const int32_t* const numbers = room->line_numbers.data() + slot * pitch();
    const int64_t row = numbers_ == Numbers::kTaps ? tap : z * high().in + y;
    const auto base =
        static_cast<int32_t>(row * (numbers_ == Numbers::kTaps ? wide().taps : wide().in));
    if (*met) {
      kernels_->join(largest, numbers, base, pitch(), room->largest.data(), room->number.data());
      return;
    }
    *met = true;
    std::copy_n(largest, pitch(), room->largest.data());
    for (int64_t i = 0; i < pitch(); ++i) {
      room->number[static_cast<size_t>(i)] = numbers[i] + base;
    }
  }

  /// The largest elements of one row of the volume; their numbers in it are in line_numbers.
  const float* Line(const std::byte* volume, int64_t number, int64_t z, int64_t y, int64_t slot,
                    Room* room) const {
    const int64_t key = (number * deep().in + z) * high().in + y;
    return room->ring.Get(slot, key, pitch(), [&](float* line) {
      lines_.Make(load_, volume + z * steps_[0] + y * steps_[1], steps_[2], kNone,
                  room->ring.source.data(), room->row.data());
      kernels_->maxima({room->row.data(), lines_.offsets.data(), lines_.taps, pitch(), own_.data(),
                        own_step_, first_.data(), line,
                        room->line_numbers.data() + slot * pitch()});
    });
  }

  static constexpr float kNone = -std::numeric_limits<float>::infinity();

  Axes axes_;
  Numbers numbers_;
  std::array<int64_t, 3> steps_;
  LoadRow<float> load_;
  TapLines lines_;
  const WindowRowKernels* kernels_;
  int32_t own_step_ = 1;
  std::vector<int32_t> own_, first_;  // numbers of the places' taps 0, and of their first elements
};

}  // namespace openaclnn::supporting
