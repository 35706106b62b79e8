// SPDX-License-Identifier: Apache-2.0
// Where a coordinate lies among the elements of a dimension: which it has, with what weights.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

namespace openaclnn::supporting {

enum Interpolation : int64_t { kLinear, kNearest, kCubic };
enum Outside : int64_t { kZeros, kBorder, kReflection };

/// A place beside the first element of a dimension, and how it moves with the coordinate.
struct Bent {
  double place, slope;
};

/// The elements that a coordinate has, by their numbers, -1 for none; their weights, and how those
/// grow with the coordinate.
struct AxisTaps {
  std::array<int64_t, 4> at;
  std::array<double, 4> weight, slope;
};

/// Along a dimension of n elements. Coordinates of -1 and 1 are the centres of its first and last
/// element if aligned, else their outer edges.
struct SampledAxis {
  int64_t n, interpolation, outside;
  bool aligned;

  size_t taps() const { return interpolation == kCubic ? 4 : interpolation == kLinear ? 2 : 1; }

  AxisTaps Of(double coordinate) const {
    const auto length = static_cast<double>(n);
    const double factor = (aligned ? length - 1 : length) / 2;
    const double place =
        aligned ? (coordinate + 1) / 2 * (length - 1) : ((coordinate + 1) * length - 1) / 2;
    if (interpolation == kCubic) return Cubic(place, factor);
    const Bent bent = Inside(place);
    AxisTaps taps{};
    if (interpolation == kNearest) {
      taps.at[0] = Element(std::nearbyint(bent.place));
      taps.weight[0] = 1;
      return taps;
    }
    const double first = std::floor(bent.place), slope = factor * bent.slope;
    taps.at = {Element(first), Element(first + 1)};
    taps.weight = {first + 1 - bent.place, bent.place - first};
    taps.slope = {-slope, slope};
    return taps;
  }

 private:
  /// -1: none, as for NaN.
  int64_t Element(double number) const {
    return number >= 0 && number < static_cast<double>(n) ? static_cast<int64_t>(number) : -1;
  }

  /// Borders do not move, nor does what is beyond them; NaN is the first element.
  Bent Clipped(const Bent& bent) const {
    const auto last = static_cast<double>(n - 1);
    if (!(bent.place > 0)) return {0, 0};
    return bent.place >= last ? Bent{last, 0} : bent;
  }

  /// There and back between the ends, which are centres if aligned, else edges.
  Bent Reflected(double place) const {
    const double low = aligned ? 0 : -0.5;
    const auto span = static_cast<double>(aligned ? n - 1 : n);
    if (span == 0) return {0, 0};
    const double distance = std::abs(place - low), slope = place < low ? -1 : 1;
    const double rest = std::fmod(distance, span);
    const bool is_back = std::fmod(std::floor(distance / span), 2) != 0;
    return is_back ? Bent{span - rest + low, -slope} : Bent{rest + low, slope};
  }

  Bent Inside(double place) const {
    if (outside == kZeros) return {place, 1};
    return Clipped(outside == kBorder ? Bent{place, 1} : Reflected(place));
  }

  /// Cubic convolution with A = -0.75; what is outside is so element by element.
  AxisTaps Cubic(double place, double factor) const {
    constexpr double kA = -0.75;
    const auto near = [](double x) { return ((kA + 2) * x - (kA + 3)) * x * x + 1; };
    const auto far = [](double x) { return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA; };
    const auto near_slope = [](double x) { return (3 * (kA + 2) * x - 2 * (kA + 3)) * x; };
    const auto far_slope = [](double x) { return (3 * kA * x - 10 * kA) * x + 8 * kA; };
    const double first = std::floor(place), t = place - first;
    AxisTaps taps;
    for (size_t k = 0; k < 4; ++k) {
      taps.at[k] = Element(Inside(first - 1 + static_cast<double>(k)).place);
    }
    taps.weight = {far(t + 1), near(t), near(1 - t), far(2 - t)};
    taps.slope = {factor * far_slope(t + 1), factor * near_slope(t), -factor * near_slope(1 - t),
                  -factor * far_slope(2 - t)};
    return taps;
  }
};

}  // namespace openaclnn::supporting
