// SPDX-License-Identifier: Apache-2.0
// The last dimensions of a tensor as rows of elements, which have numbers.
#pragma once

#include "supporting/window/planes.h"

namespace openaclnn::supporting {

/// The last `dims` dimensions are a plane, of any number of dimensions; its elements are numbered
/// in row-major order.
struct FlatPlanes {
  FlatPlanes(const Tensor& tensor, uint32_t dims)
      : place(tensor.place),
        bytes(BytesOf(tensor)),
        planes(PlaneCount(tensor, dims)),
        lead(tensor, tensor.rank() - dims),
        inside(tensor.tensor().dims + tensor.rank() - dims,
               tensor.tensor().strides + tensor.rank() - dims, dims) {
    for (uint32_t d = tensor.rank() - dims; d < tensor.rank(); ++d) {
      count = WrappingProduct(count, tensor.dim(d));
    }
  }

  std::byte* Plane(const Buffers& buffers, int64_t plane) const {
    return place(buffers) + lead(plane) * bytes;
  }
  std::byte* At(std::byte* plane, int64_t number) const { return plane + inside(number) * bytes; }

  /// Elements begin … begin + n - 1.
  template <class T>
  void Load(LoadRow<T> load, std::byte* plane, int64_t begin, int64_t n, T* to) const {
    ForPieces(plane, begin, n, [&](std::byte* at, int64_t step, int64_t done, int64_t count) {
      load(at, step, count, to + done);
    });
  }
  template <class T>
  void Store(StoreRow<T> store, const T* from, int64_t n, std::byte* plane, int64_t begin) const {
    ForPieces(plane, begin, n, [&](std::byte* at, int64_t step, int64_t done, int64_t count) {
      store(from + done, count, at, step);
    });
  }

  Place place;
  int64_t bytes, planes, count = 1;
  Offsets lead, inside;

 private:
  /// Neighbours that are steps of one length apart, or one element after the other.
  template <class Body>
  void ForPieces(std::byte* plane, int64_t begin, int64_t n, const Body& body) const {
    if (inside.step() != 0) return body(At(plane, begin), inside.step() * bytes, 0, n);
    for (int64_t i = 0; i < n; ++i) body(At(plane, begin + i), 0, i, 1);
  }
};

/// The gradient of what takes elements of planes by their numbers: each gets the sum of those
/// that name it, in order.
Plan PlanSumsByNumber(const Tensor& gradients, const Tensor& numbers, const Tensor& out,
                      uint32_t dims);

}  // namespace openaclnn::supporting
