// SPDX-License-Identifier: Apache-2.0
// Windows: what an output's place has of an input along each spatial dimension.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "supporting/family.h"

namespace openaclnn::supporting {

/// One spatial dimension.
struct WindowAxis {
  int64_t in = 1, out = 1, taps = 1, stride = 1, pad = 0, dilation = 1;
  bool transposed = false;  // places of the output have every stride-th place of the input

  /// Where in the input a tap of an output's place lies; negative: in the padding, or between.
  int64_t From(int64_t place, int64_t tap) const {
    int64_t at = place * stride - pad + tap * dilation;
    if (transposed) {
      at = place + pad - tap * dilation;
      if (at % stride != 0) return -1;
      at /= stride;
    }
    return at < in ? at : -1;
  }
  /// How far the taps reach.
  int64_t reach() const { return dilation * (taps - 1) + 1; }
};

/// Limits of windows' numbers and of inputs' lengths: their products, and sums of those, fit.
constexpr int64_t kMostWindow = int64_t{1} << 20;
constexpr int64_t kMostLength = int64_t{1} << 40;

/// A list that has a number for each spatial dimension, or one for all; not below `least`.
inline int64_t AtAxis(const IntList& list, size_t axis) {
  const auto values = list.values();
  return values.size() == 1 ? values[0] : values[axis];
}

inline void CheckAxes(const IntList& list, size_t axes, int64_t least, Checker& checker) {
  const auto values = list.values();
  const bool right = (values.size() == axes || values.size() == 1) &&
                     std::ranges::all_of(values, [&](int64_t value) {
                       return value >= least && value <= kMostWindow;
                     });
  checker.That(right, [&] {
    return Concat(list.name(), " value is ",
                  ShapeText(values.data(), static_cast<uint32_t>(values.size())), ", expected ",
                  axes, " numbers, none below ", least, " or above ", kMostWindow);
  });
}

/// Checks the last dimensions, along which windows go.
inline void CheckLengths(const Tensor& input, uint32_t axes, Checker& checker) {
  bool fit = true;
  for (uint32_t d = input.rank() - axes; d < input.rank(); ++d) {
    fit = fit && input.dim(d) <= kMostLength;
  }
  checker.That(fit, [&] {
    return Concat(input.name(), " shape is ", ShapeText(input), ", expected none of the last ",
                  axes, " dimensions above ", kMostLength);
  });
}

/// Numbers of several digits, one for each axis.
inline std::array<int64_t, 3> DigitsOf(int64_t number, std::span<const int64_t> lengths) {
  std::array<int64_t, 3> digits{};
  for (size_t i = lengths.size(); i-- > 0; number /= lengths[i]) digits[i] = number % lengths[i];
  return digits;
}

/// All axes: from an output's place and a tap, both counted over all axes, to the input.
struct Windows {
  std::vector<WindowAxis> axes;
  std::vector<int64_t> out, taps;  // lengths

  explicit Windows(std::vector<WindowAxis> of) : axes(std::move(of)) {
    for (const WindowAxis& axis : axes) {
      out.push_back(axis.out);
      taps.push_back(axis.taps);
    }
  }
  int64_t places() const { return Product(out); }
  int64_t tap_count() const { return Product(taps); }

  /// In elements from the first, by the input's strides; negative: nowhere.
  int64_t From(int64_t place, int64_t tap, const int64_t* strides) const {
    const auto at = DigitsOf(place, out), of = DigitsOf(tap, taps);
    int64_t offset = 0;
    for (size_t i = 0; i < axes.size(); ++i) {
      const int64_t from = axes[i].From(at[i], of[i]);
      if (from < 0) return kNowhere;
      offset += from * strides[i];
    }
    return offset;
  }
  static constexpr int64_t kNowhere = INT64_MIN;

 private:
  static int64_t Product(const std::vector<int64_t>& lengths) {
    int64_t product = 1;
    for (const int64_t length : lengths) product = WrappingProduct(product, length);
    return product;
  }
};

/// An element of `bytes` bytes, or zeros where there is none.
inline void MoveElement(const std::byte* from, int64_t bytes, std::byte* to) {
  from != nullptr ? std::copy_n(from, bytes, to) : std::fill_n(to, bytes, std::byte{0});
}

}  // namespace openaclnn::supporting
