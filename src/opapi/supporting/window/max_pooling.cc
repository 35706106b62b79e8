// SPDX-License-Identifier: Apache-2.0
// MaxPool2dWithMask and MaxPool2dWithIndices, which tell where a maximum was, and their gradients.
#include <functional>
#include <utility>

#include "generated/window.h"
#include "kernels/rows/rows.h"
#include "supporting/along.h"
#include "supporting/in_turn.h"
#include "supporting/places.h"
#include "supporting/window/max_rows.h"
#include "supporting/window/planes.h"
#include "supporting/window/scattered_rows.h"
#include "supporting/window/told_places.h"

namespace openaclnn::supporting {
namespace {

/// A mask has a row for each tap, in which a place's bit says that its maximum is there.
constexpr int64_t kPlacesInBlock = 16, kBytesInBlock = 32;

int64_t MaskWidth(int64_t places) {
  const int64_t blocks = places / kPlacesInBlock + (places % kPlacesInBlock != 0 ? 1 : 0) + 1;
  return WrappingProduct(blocks, kBytesInBlock);
}

template <class Call>
WindowLists ListsOf(const Call& p) {
  return {p.kernelSize, p.stride, p.padding, &p.dilation};
}

/// Checks that both directions share: windows over self, and the places of their maxima.
template <class Call>
void CheckWindows(const Call& p, const Tensor& pooled, Checker& checker) {
  CheckPooledTypes(p, p.self, pooled, checker);
  const int32_t index = p.masks ? ACL_INT8 : ACL_INT32;
  checker.That(p.indices.dtype() == index,
               [&] { return DtypeIs(p.indices, DtypesText(Dtypes(index))); });
  CheckLists(ListsOf(p), p.self, checker);
  CheckPads(ListsOf(p), checker);
  if (!checker.ok()) return;
  for (const int64_t dilation : p.dilation.values()) {
    checker.That(dilation == 1,
                 [&] { return Concat("dilation value is ", dilation, ", expected 1"); });
  }
  if (!p.masks) CheckNumbered(p.self, 2, checker);
  const Windows windows = WindowsOf(ListsOf(p), p.self, p.ceilMode);
  CheckPlanes(pooled, p.self, windows.out, checker);
  const std::array<int64_t, 2> mask = {windows.tap_count(), MaskWidth(windows.places())};
  CheckPlanes(p.indices, p.self, p.masks ? std::span<const int64_t>(mask) : windows.out, checker);
}

/// The first of the largest; NaN is the largest.
struct Largest {
  double value = -INFINITY;
  int64_t tap = -1;

  void Meet(double element, int64_t at) {
    if (tap < 0 || Less(value, element)) *this = {element, at};
  }
};

/// Visits the places whose windows have an element, in order, with the tap that it is.
template <class Body>
void ForWindowsWith(const Windows& windows, const std::array<int64_t, 3>& element,
                    const Body& body) {
  std::array<int64_t, 2> begin{}, end{};
  for (size_t i = 0; i < 2; ++i) {
    const WindowAxis& axis = windows.axes[i];
    const int64_t from = element[i] + axis.pad;  // tap = from - place * stride
    begin[i] = from < axis.taps ? 0 : (from - axis.taps) / axis.stride + 1;
    end[i] = std::min(axis.out, from / axis.stride + 1);
  }
  for (int64_t i = begin[0]; i < end[0]; ++i) {
    for (int64_t j = begin[1]; j < end[1]; ++j) {
      const WindowAxis &rows = windows.axes[0], &columns = windows.axes[1];
      const int64_t tap = (element[0] + rows.pad - i * rows.stride) * columns.taps + element[1] +
                          columns.pad - j * columns.stride;
      body(i * columns.out + j, tap, std::array<int64_t, 2>{i, j});
    }
  }
}

/// Rows of elements, a few of a plane at a time.
Plan PlanScattered(const Tensor& grad, const Tensor& out, const ScatteredRows& rows,
                   const std::function<Status(const Buffers&)>& check) {
  const Planes to(out);
  return {
      0,
      [=, store = StorerOf<double>(out.dtype()), planes = PlaneCount(grad),
       height = out.dim(out.rank() - 2), width = out.last_dim()](const Buffers& buffers) -> Status {
        Status status = check(buffers);
        if (!status.ok()) return status;
        const int64_t each = rows.rows(), parts = DivideUp(height, each);
        ParallelRowsIn<ScatteredRows::Room>(
            planes * parts, std::min(each, height) * width,
            [&](int64_t part, ScatteredRows::Room* room) {
              const int64_t plane = part / parts, begin = part % parts * each;
              const int64_t end = std::min(height, begin + each);
              rows.Sum(buffers, plane, begin, end, room);
              for (int64_t y = begin; y < end; ++y) {
                store(rows.Sums(y - begin, *room), width,
                      to.Plane(buffers, plane) + y * to.strides[0] * to.bytes,
                      to.strides[1] * to.bytes);
              }
            });
        return {};
      }};
}

/// Rows of places; of a mask a plane at a time, since rows share its bytes.
Plan PlanMaxRows(const MaxPool2dWithParams& p, const Places& told, const MaxRows& rows) {
  const Planes from(p.self), to(p.out);
  return {0,
          [=, store = StorerOf<float>(p.out.dtype()), planes = PlaneCount(p.self),
           height = p.out.dim(p.out.rank() - 2),
           width = p.out.last_dim()](const Buffers& buffers) -> Status {
            const int64_t each = told.masks ? height : 1, parts = height / each;
            ParallelRowsIn<MaxRows::Room>(
                planes * parts, each * width * told.windows.tap_count(),
                [&](int64_t part, MaxRows::Room* room) {
                  const int64_t plane = part / parts, begin = part % parts * each;
                  std::byte* const indices = told.planes.Plane(buffers, plane);
                  told.Clear(indices);
                  for (int64_t y = begin; y < begin + each; ++y) {
                    rows.Row(from.Plane(buffers, plane), plane, y, room);
                    store(room->largest.data(), width,
                          to.Plane(buffers, plane) + y * to.strides[0] * to.bytes,
                          to.strides[1] * to.bytes);
                    told.TellRow(indices, y, room->number);
                  }
                });
            return {};
          }};
}

}  // namespace

void CheckMaxPool2dWith(const MaxPool2dWithParams& p, Checker& checker) {
  CheckWindows(p, p.out, checker);
}

Plan PlanMaxPool2dWith(const MaxPool2dWithParams& p, const Product&) {
  if (p.indices.empty()) return Nothing();
  const Windows windows = WindowsOf(ListsOf(p), p.self, p.ceilMode);
  const Planes from(p.self), to(p.out);
  const Places told(p.indices, p.masks, windows);
  const auto rows = MaxRows::Of(windows, from, p.self.dtype(),
                                p.masks ? MaxRows::Numbers::kTaps : MaxRows::Numbers::kElements);
  if (rows && !p.out.empty()) return PlanMaxRows(p, told, *rows);
  return {0,
          [=, load = LoaderOf<double>(p.self.dtype()), store = StorerOf<double>(p.out.dtype()),
           planes = PlaneCount(p.self)](const Buffers& buffers) -> Status {
            const int64_t places = windows.places(), taps = windows.tap_count();
            ParallelRows(planes, places * taps, [&](int64_t plane) {
              std::byte* const indices = told.planes.Plane(buffers, plane);
              told.Clear(indices);
              for (int64_t place = 0; place < places; ++place) {
                Largest largest;
                for (int64_t tap = 0; tap < taps; ++tap) {
                  const int64_t offset = windows.From(place, tap, from.strides.data());
                  if (offset == Windows::kNowhere) continue;
                  double element = 0;
                  load(from.Plane(buffers, plane) + offset * from.bytes, 0, 1, &element);
                  largest.Meet(element, tap);
                }
                const auto at = DigitsOf(place, windows.out);
                const int64_t offset = at[0] * to.strides[0] + at[1] * to.strides[1];
                store(&largest.value, 1, to.Plane(buffers, plane) + offset * to.bytes, 0);
                told.Tell(indices, place, largest.tap);
              }
            });
            return {};
          }};
}

void CheckMaxPool2dWithGradient(const MaxPool2dWithGradientParams& p, Checker& checker) {
  CheckWindows(p, p.gradOutput, checker);
  checker.SameDtype(p.gradInput, p.self);
  if (checker.ok()) CheckShape(p.gradInput, ShapeOf(p.self), checker);
}

/// Each element gathers the gradients of the windows whose maximum it is, in order.
Plan PlanMaxPool2dWithGradient(const MaxPool2dWithGradientParams& p, const Product&) {
  if (p.gradInput.empty()) return Nothing();
  const Windows windows = WindowsOf(ListsOf(p), p.self, p.ceilMode);
  const Planes from(p.gradOutput), to(p.gradInput);
  const Places told(p.indices, p.masks, windows);
  const IndexReader numbers(p.indices, ShapeOf(p.indices));
  const int64_t elements = windows.axes[0].in * windows.axes[1].in;
  const auto check = [=](const Buffers& buffers) -> Status {
    return told.masks ? Status() : numbers.Check(told.planes.place(buffers), elements, false);
  };
  if (ScatteredRows::Fits(windows)) {
    return PlanScattered(p.gradOutput, p.gradInput, ScatteredRows(told, from, p.gradOutput.dtype()),
                         check);
  }
  return {0,
          [=, load = LoaderOf<double>(p.self.dtype()), store = StorerOf<double>(p.self.dtype()),
           planes = PlaneCount(p.self)](const Buffers& buffers) -> Status {
            const std::array<int64_t, 2> lengths = {windows.axes[0].in, windows.axes[1].in};
            Status status = check(buffers);
            if (!status.ok()) return status;
            ParallelRows(planes * elements, windows.tap_count(), [&](int64_t each) {
              const int64_t plane = each / elements, number = each % elements;
              const auto element = DigitsOf(number, lengths);
              std::byte* const indices = told.planes.Plane(buffers, plane);
              const std::byte* const gradients = from.Plane(buffers, plane);
              TreeSum<double> sum;
              ForWindowsWith(windows, element, [&](int64_t place, int64_t tap, const auto& at) {
                if (!told.IsAt(indices, place, tap, number)) return;
                double gradient = 0;
                const int64_t offset = at[0] * from.strides[0] + at[1] * from.strides[1];
                load(gradients + offset * from.bytes, 0, 1, &gradient);
                sum.Add(gradient);
              });
              const double total = sum.Total();
              const int64_t offset = element[0] * to.strides[0] + element[1] * to.strides[1];
              store(&total, 1, to.Plane(buffers, plane) + offset * to.bytes, 0);
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
