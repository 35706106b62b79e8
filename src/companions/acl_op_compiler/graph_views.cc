// SPDX-License-Identifier: Apache-2.0
// The functions of graph_views.h.
#include "graph_views.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <random>

namespace openaclnn {
namespace {

/// Dimensions but the last few, then two more.
Dims With(const Dims& dims, size_t without, int64_t rows, int64_t columns) {
  Dims made(dims.begin(), dims.end() - static_cast<ptrdiff_t>(without));
  made.insert(made.end(), {rows, columns});
  return made;
}

}  // namespace

int64_t ChannelOf(const GraphTensor& tensor, std::string_view format) {
  const bool last = format.empty() || format.back() == 'C';
  return last && tensor.rank() > 0 ? tensor.rank() - 1 : 1;
}

bool BeginsWith(const GraphTensor& tensor, const GraphTensor& other) {
  return tensor.rank() >= other.rank() &&
         std::equal(other.dims.begin(), other.dims.end(), tensor.dims.begin());
}

bool EndsWith(const GraphTensor& tensor, const GraphTensor& other, int64_t but) {
  const int64_t count = other.rank() - but;
  return count >= 0 && count <= tensor.rank() &&
         std::equal(tensor.dims.end() - count, tensor.dims.end(), other.dims.end() - count);
}

Dims WithoutTwo(const Dims& values, size_t rank) {
  if (values.size() < 2) return Dims(rank < 2 ? 0 : rank - 2, 1);
  return {values.begin() + 2, values.end()};
}

bool IsConvolution(const Dims& images, const Dims& strides, const Dims& pads,
                   const Dims& dilations) {
  const size_t rank = images.size();
  const auto fits = [rank](const Dims& values) {
    return values.empty() || (values.size() == rank && values[0] == 1 && values[1] == 1);
  };
  const bool positive =
      std::all_of(pads.begin(), pads.end(), [](int64_t each) { return each >= 0; });
  return rank > 2 && fits(strides) && fits(dilations) && positive &&
         (pads.empty() || pads.size() == 2 * (rank - 2));
}

ConvWindow::ConvWindow(const Dims& images, const Dims& strides, const Dims& given_pads,
                       const Dims& given_dilations)
    : steps(WithoutTwo(strides, images.size())),
      pads(steps.size(), 0),
      dilations(WithoutTwo(given_dilations, images.size())),
      output_pads(steps.size(), 0),
      bordered(images),
      inside(images.size(), 0) {
  for (size_t i = 0; i < steps.size() && !given_pads.empty(); ++i) {
    even = even && given_pads[2 * i] == given_pads[2 * i + 1];
  }
  for (size_t i = 0; i < steps.size() && !given_pads.empty(); ++i) {
    const int64_t before = given_pads[2 * i], behind = given_pads[2 * i + 1];
    if (even) pads[i] = before;
    border.insert(border.begin(), {before, behind});
    bordered[i + 2] += before + behind;
    inside[i + 2] = before;
  }
}

double NumberOf(const GraphTensor& tensor) {
  double value = 0;
  int64_t integer = 0;
  if (tensor.values != nullptr && tensor.count() == 1) ReadElement(tensor, 0, &value, &integer);
  return value;
}

Dims AxesOr(const Dims& axes, const GraphTensor& tensor) {
  return axes.empty() ? Range(tensor.rank()) : axes;
}

GraphTensor Reduced(const GraphTensor& output, const GraphTensor& tensor, const Dims& axes,
                    bool kept) {
  const bool all = AxesOr(axes, tensor).size() == tensor.dims.size();
  return all && !kept ? One(output) : output;
}

Dims Joined(const std::vector<GraphTensor>& tensors) {
  Dims dims = {static_cast<int64_t>(tensors.size())};
  if (!tensors.empty()) dims.insert(dims.end(), tensors[0].dims.begin(), tensors[0].dims.end());
  return dims;
}

GraphTensor PartOf(const GraphTensor& tensor, const Dims& from, const Dims& dims) {
  const size_t rank = tensor.dims.size();
  int64_t offset = 0;
  bool fits = from.size() == rank && dims.size() == rank;
  for (size_t i = 0; fits && i < rank; ++i) {
    fits = from[i] >= 0 && from[i] <= tensor.dims[i] && dims[i] <= tensor.dims[i] - from[i];
    offset += from[i] * tensor.strides[i];
  }
  return fits ? View(tensor, dims, tensor.strides, offset) : tensor;
}

Dims LastFirst(const Dims& paddings) {
  Dims made;
  for (size_t i = paddings.size() / 2; i-- > 0;) {
    made.insert(made.end(), {paddings[2 * i], paddings[2 * i + 1]});
  }
  return made;
}

GraphTensor Cut(const GraphTensor& tensor, int64_t dim, int64_t from, int64_t size, bool squeezed) {
  const auto at = static_cast<ptrdiff_t>(dim < 0 ? dim + tensor.rank() : dim);
  Dims start(tensor.dims.size(), 0), dims = tensor.dims;
  start[static_cast<size_t>(at)] = from;
  dims[static_cast<size_t>(at)] = size;
  GraphTensor part = PartOf(tensor, start, dims);
  if (squeezed) {
    part.dims.erase(part.dims.begin() + at);
    part.strides.erase(part.strides.begin() + at);
  }
  return part;
}

GraphTensor Steps(const GraphTensor& rows) {
  return rows.rank() == 2 ? Reshape(rows, {1, rows.dim(0), rows.dim(1)}) : rows;
}

GraphTensor Step(const GraphTensor& tensor, int64_t at) { return Cut(tensor, 0, at, 1, true); }

GraphTensor Diagonal(const GraphTensor& matrix) {
  return View(matrix, {std::min(matrix.dim(0), matrix.dim(1))},
              {matrix.strides[0] + matrix.strides[1]});
}

std::vector<GraphTensor> Columns(const GraphTensor& indices) {
  std::vector<GraphTensor> columns;
  for (int64_t i = 0; indices.rank() > 0 && i < indices.dim(-1); ++i) {
    columns.push_back(Cut(indices, -1, i, 1, true));
  }
  return columns;
}

Dims Before(const Dims& paddings, bool pairs) {
  Dims made;
  for (size_t i = 0; i < paddings.size() / 2; ++i) made.push_back(paddings[pairs ? 2 * i : i]);
  return made;
}

GraphTensor LastSwapped(const GraphTensor& tensor) {
  Dims order = Range(tensor.rank());
  if (order.size() >= 2) std::swap(order[order.size() - 1], order[order.size() - 2]);
  return Transposed(tensor, order);
}

Dims DimsFrom(const GraphTensor& tensor, int64_t first) {
  const int64_t at = first < 0 ? first + tensor.rank() : first;
  if (at < 0 || at > tensor.rank()) return {};  // refused as another shape
  return {tensor.dims.begin() + at, tensor.dims.end()};
}

GraphTensor Grouped(const GraphTensor& tensor, const Dims& last) {
  const int64_t width = CountOf(last);
  return Reshape(tensor, {width == 0 ? 0 : tensor.count() / width, width});
}

GraphTensor One(const GraphTensor& tensor) {
  return tensor.count() == 1 ? Reshape(tensor, {}) : tensor;
}

int64_t SeedOf(int64_t seed, int64_t seed2) {
  if (seed != 0 || seed2 != 0) return seed * 1000003 + seed2;
  static std::atomic<int64_t> calls{std::random_device{}()};
  return ++calls;
}

bool IsPool(const GraphTensor& images, const Dims& ksize, const Dims& strides) {
  const auto is_one = [](const Dims& values) {
    return values.size() == 4 && values[0] == 1 && values[1] == 1 && values[2] > 0 && values[3] > 0;
  };
  return images.rank() == 4 && is_one(ksize) && is_one(strides);
}

PoolWindow::PoolWindow(const Dims& dims, const Dims& ksize, const Dims& strides,
                       std::string_view padding)
    : kernel(WithoutTwo(ksize, 4)),
      steps(WithoutTwo(strides, 4)),
      bordered(dims),
      inside(dims.size(), 0) {
  for (size_t i = 0; i < 2 && padding == "SAME"; ++i) {
    const int64_t size = dims[i + 2], windows = (size + steps[i] - 1) / steps[i];
    const int64_t more = std::max<int64_t>((windows - 1) * steps[i] + kernel[i] - size, 0);
    border.insert(border.begin(), {more / 2, more - more / 2});
    bordered[i + 2] += more;
    inside[i + 2] = more / 2;
    none = none && more == 0;
  }
}

GraphTensor ShapeOf(const GraphTensor& like, const GraphTensor& some) {
  return View(some, like.dims, Dims(like.dims.size(), 0));
}

double PowerOf(double p) { return p == 0 || std::isinf(p) ? 1 : p; }

DistanceRows::DistanceRows(const GraphTensor& given_grad, const GraphTensor& given_x1,
                           const GraphTensor& given_x2, const GraphTensor& given_cdist,
                           const GraphTensor& given_out)
    : grad(given_grad), x1(given_x1), x2(given_x2), cdist(given_cdist), out(given_out) {
  const size_t rank = x1.dims.size(), own = out.dims.size();
  const bool fits = rank >= 3 && own >= 2 && own < rank && grad.dims == x1.dims &&
                    x2.dims == x1.dims && cdist.dims == x1.dims;
  if (!fits) return;  // refused with their shapes
  const int64_t m = x1.dims[rank - 1], r = x1.dims[rank - 2];
  const Dims pairs = With(x1.dims, 2, 1, r), apart = With(x1.strides, 2, 0, m);
  // x1 and out hold each broadcast element once.
  const Dims from(x1.strides.end() - static_cast<ptrdiff_t>(own) - 1, x1.strides.end());
  const Dims rows = With(out.dims, 1, 1, m);
  grad = View(grad, pairs, apart);
  cdist = View(cdist, pairs, apart);
  x1 = View(x1, rows, With(from, 2, 0, 1));
  out = View(out, rows, With(out.strides, 1, 0, 1));
}

}  // namespace openaclnn
