// SPDX-License-Identifier: Apache-2.0
// Lines: rows of an input, laid out so that a tap's elements of neighbouring places lie together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/number/number.h"
#include "kernels/window/window_rows.h"
#include "kernels/work/divide_up.h"

namespace openaclnn::supporting {

/// A thread keeps at most so many elements of lines, which stay in a second-level cache.
constexpr int64_t kMostInLines = int64_t{1} << 16;

constexpr int64_t PitchOf(int64_t places) { return DivideUp(places, kWindowLanes) * kWindowLanes; }

/// A table of the elements that taps read. `from(tap, place)` is one of the row, or -1 for none.
struct TapLines {
  template <class From>
  TapLines(int64_t row, int64_t places_of, int64_t taps_of, const From& from)
      : sources(row), places(places_of), taps(taps_of), pitch(PitchOf(places_of)) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      for (int64_t i = 0; i < pitch; ++i) {
        const int64_t at = i < places ? from(tap, i) : -1;
        elements_.push_back(static_cast<int32_t>(at < 0 ? sources : at));
      }
    }
    Shift();
  }

  /// Tells whether tables and lines are small enough.
  static bool Fit(int64_t row, int64_t places, int64_t taps, int64_t lines) {
    return row <= kMostInLines && places <= kMostInLines && taps <= kMostInLines &&
           lines <= kMostInLines && (taps * PitchOf(places) + row) * lines <= kMostInLines;
  }

  /// `row` is room for sources + 1 elements.
  template <class T>
  void Make(LoadRow<T> load, const std::byte* from, int64_t step, T rest, T* row, T* line) const {
    if (shifted_) {
      std::fill_n(line, before_, rest);
      load(from, step, sources, line + before_);
      std::fill(line + before_ + sources, line + length, rest);
      return;
    }
    load(from, step, sources, row);
    row[sources] = rest;
    const int32_t* const at = elements_.data();
    for (int64_t i = 0; i < length; ++i) line[i] = row[at[i]];
  }

  int64_t sources, places, taps, pitch;
  int64_t length = 0;  // of a line
  std::vector<int64_t> offsets;

 private:
  /// Places that step by one element need the row alone, between elements that are none.
  void Shift() {
    std::vector<int64_t> steps(static_cast<size_t>(taps), 0);
    shifted_ = true;
    for (int64_t tap = 0; tap < taps && shifted_; ++tap) shifted_ = FindShift(tap, &steps);
    length = taps * pitch;
    for (int64_t tap = 0; tap < taps; ++tap) offsets.push_back(tap * pitch);
    if (!shifted_) return;
    int64_t most = 0;
    for (const int64_t step : steps) {
      before_ = std::max(before_, -step);
      most = std::max(most, step);
    }
    length = before_ + std::max(sources, most + pitch);
    for (size_t tap = 0; tap < steps.size(); ++tap) offsets[tap] = before_ + steps[tap];
    // A line that is much longer than what is read of it would be no gain.
    shifted_ = length <= sources + (taps + 2) * pitch;
    if (shifted_) return;
    length = taps * pitch;
    for (int64_t tap = 0; tap < taps; ++tap) offsets[static_cast<size_t>(tap)] = tap * pitch;
  }

  bool FindShift(int64_t tap, std::vector<int64_t>* steps) const {
    const int32_t* const at = elements_.data() + tap * pitch;
    int64_t& step = (*steps)[static_cast<size_t>(tap)];
    const int32_t* const some =
        std::find_if(at, at + places, [&](int32_t each) { return each < sources; });
    if (some == at + places) return false;
    step = *some - (some - at);
    for (int64_t i = 0; i < places; ++i) {
      const int64_t here = i + step;
      if (at[i] != (here >= 0 && here < sources ? here : sources)) return false;
    }
    return true;
  }

  std::vector<int32_t> elements_;  // of tap t at place i: [t * pitch + i]; `sources` for none
  bool shifted_ = false;
  int64_t before_ = 0;
};

/// The lines that the windows of a row read, of which the next row's need most again.
template <class T>
struct LineRing {
  /// The line that has a key, made by make(line) unless it is there.
  template <class Make>
  T* Get(int64_t slot, int64_t key, int64_t length, const Make& make) {
    const auto at = static_cast<size_t>(slot);
    T* const line = lines.data() + slot * length;
    if (keys[at] != key) {
      keys[at] = key;
      make(line);
    }
    return line;
  }
  void Reserve(int64_t slots, int64_t length, int64_t row) {
    if (!keys.empty()) return;
    keys.assign(static_cast<size_t>(slots), -1);
    lines.resize(static_cast<size_t>(slots * length));
    source.resize(static_cast<size_t>(row + 1));
  }

  std::vector<int64_t> keys;
  std::vector<T> lines, source;
};

}  // namespace openaclnn::supporting
