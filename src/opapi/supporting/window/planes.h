// SPDX-License-Identifier: Apache-2.0
// Planes: the last dimensions of a tensor, and windows over two of them by the lists of a call.
#pragma once

#include <array>
#include <cstddef>

#include "kernels/move/strided.h"
#include "supporting/axis.h"
#include "supporting/family.h"

namespace openaclnn::supporting {

/// A tensor's last two dimensions are a plane, of which there are as many as the others say.
struct Planes {
  explicit Planes(const Tensor& tensor)
      : place(tensor.place),
        bytes(BytesOf(tensor)),
        lead(tensor, tensor.rank() - 2),
        strides{tensor.tensor().strides[tensor.rank() - 2],
                tensor.tensor().strides[tensor.rank() - 1]} {}

  std::byte* Plane(const Buffers& buffers, int64_t plane) const {
    return place(buffers) + lead(plane) * bytes;
  }

  Place place;
  int64_t bytes;
  Offsets lead;
  std::array<int64_t, 2> strides;
};

/// `axes` dimensions are a plane's.
inline int64_t PlaneCount(const Tensor& tensor, uint32_t axes = 2) {
  int64_t count = 1;
  for (uint32_t d = 0; d + axes < tensor.rank(); ++d) count = WrappingProduct(count, tensor.dim(d));
  return count;
}

/// Numbers of a call, of so many dimensions.
struct WindowLists {
  const IntList &taps, &stride, &pad, *dilation = nullptr;
  uint32_t axes = 2;
};

inline void CheckLists(const WindowLists& of, const Tensor& self, Checker& checker) {
  checker.RankBetween(self, of.axes + 1, of.axes + 2);
  if (!checker.ok()) return;
  CheckLengths(self, of.axes, checker);
  CheckAxes(of.taps, of.axes, 1, checker);
  if (!of.stride.values().empty()) CheckAxes(of.stride, of.axes, 1, checker);
  CheckAxes(of.pad, of.axes, 0, checker);
  if (of.dilation != nullptr) CheckAxes(*of.dilation, of.axes, 1, checker);
}

/// Elements of self's planes, of so many dimensions, are numbered in INT32.
inline void CheckNumbered(const Tensor& self, uint32_t axes, Checker& checker) {
  int64_t elements = 1;
  for (uint32_t d = self.rank() - axes; d < self.rank(); ++d) {
    if (__builtin_mul_overflow(elements, self.dim(d), &elements)) elements = INT64_MAX;
  }
  checker.That(elements <= INT32_MAX, [&] {
    return Concat("self shape is ", ShapeText(self), ", expected planes of at most ", INT32_MAX,
                  " elements");
  });
}

/// Checks that self is of a float type that the operator takes, and that the pooled tensor has it.
inline void CheckPooledTypes(const Params& p, const Tensor& self, const Tensor& pooled,
                             Checker& checker) {
  const DtypeSet floats = kRealTypes & p.row.dtypes;  // without the indices' types
  checker.That(Contains(floats, self.dtype()), [&] { return DtypeIs(self, DtypesText(floats)); });
  checker.SameDtype(pooled, self);
}

/// Not more than half of the window, so that each has an element.
inline void CheckPads(const WindowLists& of, Checker& checker) {
  if (!checker.ok()) return;
  for (size_t i = 0; i < of.axes; ++i) {
    checker.That(2 * AtAxis(of.pad, i) <= AtAxis(of.taps, i), [&] {
      return Concat(of.pad.name(), " value is ", AtAxis(of.pad, i), ", expected at most half of ",
                    of.taps.name(), ", ", AtAxis(of.taps, i));
    });
  }
}

/// Strides that are left out are the window's. With `up` a last window may begin in the input or
/// the padding before it and end behind all of it.
inline Windows WindowsOf(const WindowLists& of, const Tensor& self, bool up) {
  std::vector<WindowAxis> axes;
  for (size_t i = 0; i < of.axes; ++i) {
    WindowAxis axis;
    axis.in = self.dim(static_cast<uint32_t>(self.rank() - of.axes + i));
    axis.taps = AtAxis(of.taps, i);
    axis.stride = of.stride.values().empty() ? axis.taps : AtAxis(of.stride, i);
    axis.pad = AtAxis(of.pad, i);
    if (of.dilation != nullptr) axis.dilation = AtAxis(*of.dilation, i);
    const int64_t room = axis.in + 2 * axis.pad - axis.reach() + (up ? axis.stride - 1 : 0);
    axis.out = room < 0 ? 0 : room / axis.stride + 1;
    if (up && (axis.out - 1) * axis.stride >= axis.in + axis.pad) --axis.out;
    axes.push_back(axis);
  }
  return Windows(std::move(axes));
}

/// `out` has self's shape but for the planes, which are of `lengths`.
inline void CheckPlanes(const Tensor& out, const Tensor& self, std::span<const int64_t> lengths,
                        Checker& checker) {
  Shape shape = ShapeOf(self);
  std::copy(lengths.begin(), lengths.end(), shape.end() - static_cast<int64_t>(lengths.size()));
  CheckShape(out, shape, checker);
}

/// Elements [begin, end) of a dimension.
struct Share {
  int64_t begin = 0, end = 0;
};

/// The share that place `place` of `out` has of `in` elements, which are shared out evenly, rounded
/// outwards.
inline Share ShareOf(int64_t in, int64_t out, int64_t place) {
  // place * in / out without the product, which may leave 64 bits.
  const auto edge = [&](int64_t n, int64_t more) {
    return n * (in / out) + (n * (in % out) + more) / out;
  };
  return {edge(place, 0), edge(place + 1, out - 1)};
}

inline void CheckWithElements(const Tensor& tensor, int64_t dims, Checker& checker) {
  if (!checker.ok()) return;
  bool some = true;
  for (int64_t i = dims; i > 0; --i) {
    some = some && tensor.dim(static_cast<uint32_t>(tensor.rank() - i)) > 0;
  }
  checker.That(some, [&] {
    return Concat(tensor.name(), " shape is ", ShapeText(tensor),
                  ", expected planes with elements");
  });
}

}  // namespace openaclnn::supporting
