// SPDX-License-Identifier: Apache-2.0
// Im2col and its gradient, AvgPool2d and MaxPool: windows that go over planes.
#include "generated/window.h"
#include "kernels/rows/rows.h"
#include "supporting/along.h"
#include "supporting/in_turn.h"
#include "supporting/window/max_rows.h"
#include "supporting/window/planes.h"
#include "supporting/window/separable.h"

namespace openaclnn::supporting {
namespace {

/// out = f(the window's elements), in double.
template <class Function>
Plan MakePooling(const Tensor& self, const Tensor& out, const Windows& windows,
                 const Function& function) {
  if (out.empty()) return Nothing();
  const Planes from(self), to(out);
  const auto load = LoaderOf<double>(self.dtype());
  const auto store = StorerOf<double>(out.dtype());
  const int64_t places = windows.places(), taps = windows.tap_count(), planes = PlaneCount(self);
  return {
      0, [=](const Buffers& buffers) -> Status {
        ParallelRows(planes * places, taps, [&](int64_t each) {
          const int64_t plane = each / places, place = each % places;
          std::vector<double> elements;
          for (int64_t tap = 0; tap < taps; ++tap) {
            const int64_t offset = windows.From(place, tap, from.strides.data());
            if (offset == Windows::kNowhere) continue;
            load(from.Plane(buffers, plane) + offset * from.bytes, 0, 1, &elements.emplace_back());
          }
          const auto at = DigitsOf(place, windows.out);
          const double value = function(elements);
          store(
              &value, 1,
              to.Plane(buffers, plane) + (at[0] * to.strides[0] + at[1] * to.strides[1]) * to.bytes,
              0);
        });
        return {};
      }};
}

WindowLists ListsOf(const AvgPool2dParams& p) { return {p.kernelSize, p.strides, p.paddings}; }
WindowLists ListsOf(const MaxPoolParams& p) {
  return {p.kernelShape, p.strides, p.pads, &p.dilations};
}
WindowLists ListsOf(const Im2colParams& p) {
  return {p.kernelSize, p.stride, p.padding, &p.dilation};
}

/// Types whose elements a float holds.
constexpr DtypeSet kFloats = Dtypes(ACL_FLOAT, ACL_FLOAT16, ACL_BF16);

/// From an element and a tap to the window, a column, that has the element there.
Windows ColumnsOf(const Im2colGradientParams& p) {
  std::vector<WindowAxis> axes;
  for (size_t i = 0; i < 2; ++i) {
    WindowAxis axis;
    axis.taps = AtAxis(p.kernelSize, i);
    axis.stride = AtAxis(p.stride, i);
    axis.pad = AtAxis(p.padding, i);
    axis.dilation = AtAxis(p.dilation, i);
    axis.out = AtAxis(p.inputSize, i);
    const int64_t room = axis.out + 2 * axis.pad - axis.reach();
    axis.in = room < 0 ? 0 : room / axis.stride + 1;
    axis.transposed = true;
    axes.push_back(axis);
  }
  return Windows(std::move(axes));
}

/// Places whose windows have an element at a tap.
Share PlacesOf(const WindowAxis& axis, int64_t tap) {
  const int64_t offset = tap * axis.dilation - axis.pad;  // from a place times the stride
  const int64_t begin = offset < 0 ? DivideUp(-offset, axis.stride) : 0;
  const int64_t end = axis.in > offset ? DivideUp(axis.in - offset, axis.stride) : 0;
  return {begin, std::min(end, axis.out)};
}

/// The windows that become columns, over what is summed.
std::vector<WindowAxis> WindowsOfColumns(const Im2colGradientParams& p) {
  std::vector<WindowAxis> axes;
  for (const WindowAxis& of : ColumnsOf(p).axes) {
    WindowAxis axis = of;
    axis.in = of.out;
    axis.out = of.in;
    axis.transposed = false;
    axes.push_back(axis);
  }
  return axes;
}

}  // namespace

void CheckAvgPool2d(const AvgPool2dParams& p, Checker& checker) {
  CheckLists(ListsOf(p), p.self, checker);
  checker.SameDtype(p.out, p.self);
  if (!checker.ok()) return;
  CheckPads(ListsOf(p), checker);
  if (!checker.ok()) return;
  CheckPlanes(p.out, p.self, WindowsOf(ListsOf(p), p.self, p.ceilMode).out, checker);
}

Plan PlanAvgPool2d(const AvgPool2dParams& p, const Product&) {
  if (p.out.empty()) return Nothing();
  const bool pads_count = p.countIncludePad;
  const auto given = static_cast<double>(p.divisorOverride);
  std::vector<AxisMap> maps;
  Divisors divisors;
  for (const WindowAxis& axis : WindowsOf(ListsOf(p), p.self, p.ceilMode).axes) {
    const auto span = [axis](int64_t i) {
      const int64_t begin = i * axis.stride - axis.pad;
      const int64_t first = std::clamp(begin, int64_t{0}, axis.in);
      return AxisMap::Span{first, std::max(first, std::min(begin + axis.taps, axis.in))};
    };
    maps.emplace_back(axis.in, axis.out, 1, [span](int64_t i, double* weight) {
      *weight = 1;
      return span(i);
    });
    // A window counts as far as it lies in the input, with the padding or without.
    divisors.push_back([=, first = divisors.empty()](int64_t i) {
      const int64_t begin = i * axis.stride - axis.pad;
      const AxisMap::Span inside = span(i);
      const int64_t count = pads_count ? std::min(begin + axis.taps, axis.in + axis.pad) - begin
                                       : inside.end - inside.begin;
      return given == 0 ? static_cast<double>(count) : first ? given : 1.0;
    });
  }
  return PlanSeparable(p.self, p.out, std::move(maps), std::move(divisors));
}

void CheckMaxPool(const MaxPoolParams& p, Checker& checker) {
  const auto pads = p.pads.values();
  const bool one = std::ranges::all_of(pads, [&](int64_t pad) { return pad == pads[0]; });
  checker.That((pads.size() == 1 || pads.size() == 4) && one, [&] {
    return Concat("pads value is ", ShapeText(pads.data(), static_cast<uint32_t>(pads.size())),
                  ", expected one number, once or for all four sides");
  });
  checker.SameDtype(p.out, p.self).RankBetween(p.self, 3, 4);
  CheckAxes(p.kernelShape, 2, 1, checker);
  if (!p.strides.values().empty()) CheckAxes(p.strides, 2, 1, checker);
  CheckAxes(p.dilations, 2, 1, checker);
  if (!checker.ok()) return;
  CheckLengths(p.self, 2, checker);
  checker.That(pads[0] >= 0 && pads[0] <= AtAxis(p.kernelShape, 0) / 2 &&
                   pads[0] <= AtAxis(p.kernelShape, 1) / 2,
               [&] {
                 return Concat("pads value is ", pads[0],
                               ", expected at most half of kernelShape, not negative");
               });
  if (checker.ok())
    CheckPlanes(p.out, p.self, WindowsOf(ListsOf(p), p.self, p.ceilMode != 0).out, checker);
}

Plan PlanMaxPool(const MaxPoolParams& p, const Product&) {
  if (p.out.empty()) return Nothing();
  const Windows windows = WindowsOf(ListsOf(p), p.self, p.ceilMode != 0);
  const Planes from(p.self), to(p.out);
  const auto rows = MaxRows::Of(windows, from, p.self.dtype(), MaxRows::Numbers::kTaps);
  if (rows && Contains(kFloats, p.self.dtype())) {
    return {0,
            [=, store = StorerOf<float>(p.out.dtype()), planes = PlaneCount(p.self),
             height = windows.axes[0].out, width = windows.axes[1].out,
             taps = windows.tap_count()](const Buffers& buffers) -> Status {
              ParallelRowsIn<MaxRows::Room>(
                  planes * height, width * taps, [&](int64_t row, MaxRows::Room* room) {
                    const int64_t plane = row / height, y = row % height;
                    rows->Row(from.Plane(buffers, plane), plane, y, room);
                    store(room->largest.data(), width,
                          to.Plane(buffers, plane) + y * to.strides[0] * to.bytes,
                          to.strides[1] * to.bytes);
                  });
              return {};
            }};
  }
  return MakePooling(p.self, p.out, windows, [](const std::vector<double>& elements) {
    double largest = -INFINITY;
    for (const double element : elements) {
      if (Less(largest, element)) largest = element;
    }
    return largest;
  });
}

void CheckIm2col(const Im2colParams& p, Checker& checker) {
  CheckLists(ListsOf(p), p.self, checker);
  checker.SameDtype(p.out, p.self);
  if (!checker.ok()) return;
  const Windows windows = WindowsOf(ListsOf(p), p.self, false);
  const Tensor& self = p.self;
  const int64_t channels = self.dim(self.rank() - 3), taps = windows.tap_count();
  int64_t rows = 0;
  checker.That(!__builtin_mul_overflow(channels, taps, &rows), [&] {
    return Concat("self shape is ", ShapeText(self), ", expected less than 2^63 rows, ", taps,
                  " for each of ", channels, " channels");
  });
  Shape shape = {rows, windows.places()};
  if (self.rank() == 4) shape.insert(shape.begin(), self.dim(0));
  CheckShape(p.out, shape, checker);
}

Plan PlanIm2col(const Im2colParams& p, const Product&) {
  if (p.out.empty()) return Nothing();
  const Windows windows = WindowsOf(ListsOf(p), p.self, false);
  const Planes from(p.self);
  const Rows to(p.out, p.out.rank() - 1);
  const int64_t places = windows.places(), taps = windows.tap_count();
  return {
      0,
      [=, rows = PlaneCount(p.self) * taps, out = p.out.place](const Buffers& buffers) -> Status {
        ParallelRows(rows, places, [&](int64_t row) {
          const std::byte* const plane = from.Plane(buffers, row / taps);
          std::byte* at = to.At(out(buffers), row);
          const WindowAxis &high = windows.axes[0], &wide = windows.axes[1];
          const int64_t tap = row % taps % wide.taps;
          const Share inside = PlacesOf(wide, tap);
          const auto zeros = [&](int64_t begin, int64_t end) {
            ZeroStrided(at + begin * to.step, to.step / to.bytes, end - begin, to.bytes);
          };
          for (int64_t y = 0; y < high.out; ++y, at += wide.out * to.step) {
            const int64_t line = high.From(y, row % taps / wide.taps);
            if (line < 0 || inside.begin >= inside.end) {
              zeros(0, wide.out);
              continue;
            }
            const int64_t first = wide.From(inside.begin, tap);
            zeros(0, inside.begin);
            CopyStrided(plane + (line * from.strides[0] + first * from.strides[1]) * from.bytes,
                        wide.stride * from.strides[1], at + inside.begin * to.step,
                        to.step / to.bytes, inside.end - inside.begin, to.bytes);
            zeros(inside.end, wide.out);
          }
        });
        return {};
      }};
}

void CheckIm2colGradient(const Im2colGradientParams& p, Checker& checker) {
  const Tensor& grad = p.gradOutput;
  checker.RankBetween(grad, 2, 3).SameDtype(p.out, grad);
  for (const IntList* list : {&p.inputSize, &p.kernelSize, &p.dilation, &p.stride}) {
    CheckAxes(*list, 2, 1, checker);
  }
  CheckAxes(p.padding, 2, 0, checker);
  if (!checker.ok()) return;
  const Windows windows = ColumnsOf(p);
  const int64_t rows = grad.dim(grad.rank() - 2), taps = windows.tap_count();
  const int64_t columns = windows.axes[0].in * windows.axes[1].in;
  checker.That(rows % taps == 0 && grad.last_dim() == columns, [&] {
    return Concat("gradOutput shape is ", ShapeText(grad), ", expected rows for ", taps,
                  " taps of each channel and ", columns, " columns");
  });
  if (!checker.ok()) return;
  Shape shape = {rows / taps, windows.out[0], windows.out[1]};
  if (grad.rank() == 3) shape.insert(shape.begin(), grad.dim(0));
  CheckShape(p.out, shape, checker);
}

namespace {

constexpr int64_t kInSequence = 64;              // terms of the tree that are added in turn
constexpr int64_t kMostSums = int64_t{1} << 20;  // elements of a plane whose sums a thread keeps

/// Tap after tap, each a row of columns at a time. An element has at most one column of a tap, so
/// that its terms are added in the order of the taps.
Plan PlanSumsOfColumns(const Im2colGradientParams& p, const std::array<int64_t, 3>& steps) {
  const Tensor& grad = p.gradOutput;
  const Planes to(p.out);
  struct Room {
    std::vector<double> sums, gradients;
  };
  return {
      0,
      [=, axes = WindowsOfColumns(p), load = LoaderOf<double>(grad.dtype()),
       store = StorerOf<double>(p.out.dtype()), bytes = BytesOf(grad),
       channels = p.out.dim(p.out.rank() - 3), planes = PlaneCount(p.out),
       from = grad.place](const Buffers& buffers) -> Status {
        const WindowAxis &high = axes[0], &wide = axes[1];
        const int64_t taps = high.taps * wide.taps;
        ParallelRowsIn<Room>(
            planes, high.in * wide.in + high.out * wide.out * taps, [&](int64_t plane, Room* room) {
              room->sums.assign(static_cast<size_t>(high.in * wide.in), 0);
              room->gradients.resize(static_cast<size_t>(wide.out));
              const int64_t base = plane / channels * steps[0];
              for (int64_t tap = 0; tap < taps; ++tap) {
                const Share rows = PlacesOf(high, tap / wide.taps);
                const Share places = PlacesOf(wide, tap % wide.taps);
                const int64_t n = places.end - places.begin;
                for (int64_t y = rows.begin; n > 0 && y < rows.end; ++y) {
                  const int64_t row = plane % channels * taps + tap;
                  const int64_t column = y * wide.out + places.begin;
                  load(from(buffers) + (base + row * steps[1] + column * steps[2]) * bytes,
                       steps[2] * bytes, n, room->gradients.data());
                  double* const sums = room->sums.data() + high.From(y, tap / wide.taps) * wide.in +
                                       wide.From(places.begin, tap % wide.taps);
                  for (int64_t i = 0; i < n; ++i) {
                    sums[i * wide.stride] += room->gradients[static_cast<size_t>(i)];
                  }
                }
              }
              for (int64_t y = 0; y < high.in; ++y) {
                store(room->sums.data() + y * wide.in, wide.in,
                      to.Plane(buffers, plane) + y * to.strides[0] * to.bytes,
                      to.strides[1] * to.bytes);
              }
            });
        return {};
      }};
}

}  // namespace

/// Each element is the sum of its places in columns, by its taps in order.
Plan PlanIm2colGradient(const Im2colGradientParams& p, const Product&) {
  if (p.out.empty()) return Nothing();
  const Windows windows = ColumnsOf(p);
  const Planes to(p.out);
  const Tensor& grad = p.gradOutput;
  const uint32_t rank = grad.rank();
  const int64_t* const strides = grad.tensor().strides;
  const std::array<int64_t, 3> steps = {rank == 3 ? strides[0] : 0, strides[rank - 2],
                                        strides[rank - 1]};
  if (windows.tap_count() <= kInSequence && windows.places() <= kMostSums) {
    return PlanSumsOfColumns(p, steps);
  }
  return {0,
          [=, load = LoaderOf<double>(grad.dtype()), store = StorerOf<double>(p.out.dtype()),
           bytes = BytesOf(grad), channels = p.out.dim(p.out.rank() - 3),
           planes = PlaneCount(p.out), from = grad.place](const Buffers& buffers) -> Status {
            const int64_t elements = windows.places(), taps = windows.tap_count();
            const std::array<int64_t, 2> columns = {windows.axes[1].in, 1};
            ParallelRows(planes * elements, taps, [&](int64_t each) {
              const int64_t plane = each / elements, element = each % elements;
              const int64_t first = plane / channels * steps[0];
              TreeSum<double> sum;
              for (int64_t tap = 0; tap < taps; ++tap) {
                const int64_t column = windows.From(element, tap, columns.data());
                if (column == Windows::kNowhere) continue;
                const int64_t row = plane % channels * taps + tap;
                double gradient = 0;
                load(from(buffers) + (first + row * steps[1] + column * steps[2]) * bytes, 0, 1,
                     &gradient);
                sum.Add(gradient);
              }
              const double total = sum.Total();
              const auto at = DigitsOf(element, windows.out);
              store(&total, 1,
                    to.Plane(buffers, plane) +
                        (at[0] * to.strides[0] + at[1] * to.strides[1]) * to.bytes,
                    0);
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
