// SPDX-License-Identifier: Apache-2.0
// MaxPool3dWithArgmax, which tells where a maximum was by its number, and its gradient.
#include <vector>

#include "generated/window.h"
#include "kernels/rows/rows.h"
#include "supporting/along.h"
#include "supporting/in_turn.h"
#include "supporting/window/flat_planes.h"
#include "supporting/window/max_volumes.h"

namespace openaclnn::supporting {
namespace {

template <class Call>
WindowLists ListsOf(const Call& p) {
  return {p.kernelSize, p.stride, p.padding, &p.dilation, 3};
}

/// Checks that both directions share: windows over self, each with an element, and the places of
/// maxima.
template <class Call>
void CheckWindows(const Call& p, const Tensor& pooled, Checker& checker) {
  CheckPooledTypes(p, p.self, pooled, checker);
  CheckIndexType(p.indices, checker);
  CheckLists(ListsOf(p), p.self, checker);
  CheckPads(ListsOf(p), checker);
  CheckWithElements(p.self, 3, checker);
  if (!checker.ok()) return;
  const Windows windows = WindowsOf(ListsOf(p), p.self, p.ceilMode);
  for (const WindowAxis& axis : windows.axes) {
    // Taps may stand on both sides of a short input, in the padding.
    checker.That(axis.pad == 0 || axis.dilation <= axis.in, [&] {
      return Concat("dilation value is ", axis.dilation, ", expected at most the length, ", axis.in,
                    ", where there is padding");
    });
  }
  CheckNumbered(p.self, 3, checker);
  CheckPlanes(pooled, p.self, windows.out, checker);
  CheckPlanes(p.indices, p.self, windows.out, checker);
}

/// The taps of a place that are elements of the input, and the first one's element.
struct Reach {
  Reach(const WindowAxis& axis, int64_t place) : step(axis.dilation) {
    const int64_t begin = place * axis.stride - axis.pad;
    const int64_t skipped = begin < 0 ? (step - 1 - begin) / step : 0;
    first = begin + skipped * step;
    count = std::min(axis.taps - skipped, (axis.in - first + step - 1) / step);
  }
  int64_t step, first, count;
};

/// The first of the largest; NaN is the largest.
struct Largest {
  double value;
  int64_t number;
};

/// Finds the largest of a plane's elements, by the taps of a place.
Largest LargestOf(const std::vector<double>& plane, const std::array<int64_t, 3>& lengths,
                  const Reach& depth, const Reach& height, const Reach& width) {
  Largest largest = {0, -1};
  for (int64_t i = 0; i < depth.count; ++i) {
    for (int64_t j = 0; j < height.count; ++j) {
      const int64_t row =
          (depth.first + i * depth.step) * lengths[1] + height.first + j * height.step;
      const int64_t first = row * lengths[2] + width.first;
      for (int64_t k = 0; k < width.count; ++k) {
        const int64_t number = first + k * width.step;
        const double value = plane[static_cast<size_t>(number)];
        if (largest.number < 0 || Less(largest.value, value)) largest = {value, number};
      }
    }
  }
  return largest;
}

}  // namespace

void CheckMaxPool3d(const MaxPool3dParams& p, Checker& checker) { CheckWindows(p, p.out, checker); }

Plan PlanMaxPool3d(const MaxPool3dParams& p, const Product&) {
  if (p.out.empty()) return Nothing();
  const Windows windows = WindowsOf(ListsOf(p), p.self, p.ceilMode);
  const MaxRows::Axes axes = {MaxAxis{windows.axes[0]}, {windows.axes[1]}, {windows.axes[2]}};
  if (auto plan = PlanMaxVolumes(p.self, axes, p.out, p.indices, 3)) return std::move(*plan);
  const FlatPlanes from(p.self, 3), to(p.out, 3), told(p.indices, 3);
  return {0,
          [=, load = LoaderOf<double>(p.self.dtype()), store = StorerOf<double>(p.out.dtype()),
           tell = StorerOf<int64_t>(p.indices.dtype())](const Buffers& buffers) -> Status {
            const std::array<int64_t, 3> lengths = {windows.axes[0].in, windows.axes[1].in,
                                                    windows.axes[2].in};
            // Most taps of a large window may lie in the padding.
            const int64_t width = windows.out[2];
            const int64_t terms = to.count * std::min(windows.tap_count(), from.count);
            ParallelRows(from.planes, from.count + terms, [&](int64_t plane) {
              std::vector<double> elements(static_cast<size_t>(from.count));
              std::vector<double> row(static_cast<size_t>(width));
              std::vector<int64_t> numbers(static_cast<size_t>(width));
              from.Load(load, from.Plane(buffers, plane), 0, from.count, elements.data());
              for (int64_t begin = 0; begin < to.count; begin += width) {
                const auto at = DigitsOf(begin, windows.out);
                const Reach depth(windows.axes[0], at[0]), height(windows.axes[1], at[1]);
                for (int64_t k = 0; k < width; ++k) {
                  const Largest largest =
                      LargestOf(elements, lengths, depth, height, Reach(windows.axes[2], k));
                  row[static_cast<size_t>(k)] = largest.value;
                  numbers[static_cast<size_t>(k)] = largest.number;
                }
                to.Store(store, row.data(), width, to.Plane(buffers, plane), begin);
                told.Store(tell, numbers.data(), width, told.Plane(buffers, plane), begin);
              }
            });
            return {};
          }};
}

void CheckMaxPool3dGradient(const MaxPool3dGradientParams& p, Checker& checker) {
  CheckWindows(p, p.gradOutput, checker);
  checker.SameDtype(p.gradInput, p.self);
  if (checker.ok()) CheckShape(p.gradInput, ShapeOf(p.self), checker);
}

Plan PlanMaxPool3dGradient(const MaxPool3dGradientParams& p, const Product&) {
  return PlanSumsByNumber(p.gradOutput, p.indices, p.gradInput, 3);
}

}  // namespace openaclnn::supporting
