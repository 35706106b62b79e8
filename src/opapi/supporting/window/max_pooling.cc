// SPDX-License-Identifier: Apache-2.0
// MaxPool2dWithMask and MaxPool2dWithIndices, which tell where a maximum was, and their gradients.
#include <cstring>

#include "generated/window.h"
#include "kernels/rows.h"
#include "supporting/along.h"
#include "supporting/in_turn.h"
#include "supporting/places.h"
#include "supporting/window/planes.h"

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

/// What both directions have: windows over self, and where their maxima are.
template <class Call>
void CheckWindows(const Call& p, const Tensor& pooled, Checker& checker) {
  CheckPooledTypes(p.self, pooled, checker);
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
      for (int64_t j = 0; j < width; ++j) *At(plane, i, j) = std::byte{0};
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

/// The first of the largest; NaN is the largest.
struct Largest {
  double value = -INFINITY;
  int64_t tap = -1;

  void Meet(double element, int64_t at) {
    if (tap < 0 || Less(value, element)) *this = {element, at};
  }
};

/// Of the places whose windows have an element, in order, with the tap that it is.
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

}  // namespace

void CheckMaxPool2dWith(const MaxPool2dWithParams& p, Checker& checker) {
  CheckWindows(p, p.out, checker);
}

Plan PlanMaxPool2dWith(const MaxPool2dWithParams& p, const Product&) {
  if (p.indices.empty()) return Nothing();
  const Windows windows = WindowsOf(ListsOf(p), p.self, p.ceilMode);
  const Planes from(p.self), to(p.out);
  const Places told(p.indices, p.masks, windows);
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
  return {0,
          [=, load = LoaderOf<double>(p.self.dtype()), store = StorerOf<double>(p.self.dtype()),
           planes = PlaneCount(p.self)](const Buffers& buffers) -> Status {
            const std::array<int64_t, 2> lengths = {windows.axes[0].in, windows.axes[1].in};
            const int64_t elements = lengths[0] * lengths[1];
            if (!told.masks) {
              Status status = numbers.Check(told.planes.place(buffers), elements, false);
              if (!status.ok()) return status;
            }
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
