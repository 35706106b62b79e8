// SPDX-License-Identifier: Apache-2.0
// Views of the tensors of graph_tensor.h.
#include "graph_tensor.h"

#include <functional>
#include <numeric>

namespace openaclnn {

Dims DenseStrides(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

int64_t CountOf(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<int64_t>());
}

GraphTensor View(const GraphTensor& tensor, const Dims& dims, const Dims& strides, int64_t offset) {
  GraphTensor view = tensor;
  view.dims = dims;
  view.strides = strides;
  view.offset += offset;
  return view;
}

GraphTensor Reshape(const GraphTensor& tensor, const Dims& dims) {
  return View(tensor, dims, DenseStrides(dims));
}

GraphTensor Flat(const GraphTensor& tensor) { return Reshape(tensor, {tensor.count()}); }

GraphTensor Transposed(const GraphTensor& tensor, const Dims& order) {
  Dims dims, strides;
  for (const int64_t each : order) {
    const auto at = static_cast<size_t>(each < 0 ? each + tensor.rank() : each);
    if (at >= tensor.dims.size()) return tensor;  // refused by its shape
    dims.push_back(tensor.dims[at]);
    strides.push_back(tensor.strides[at]);
  }
  return View(tensor, dims, strides);
}

GraphTensor Along(const GraphTensor& line, const GraphTensor& other, int64_t dim) {
  const auto at = static_cast<size_t>(dim < 0 ? dim + other.rank() : dim);
  if (line.dims.size() != 1 || at >= other.dims.size()) return line;  // refused by its shape
  Dims dims(other.dims.size(), 1);
  dims[at] = line.dims[0];
  return Reshape(line, dims);
}

Dims Range(int64_t count) {
  Dims made(static_cast<size_t>(count));
  std::iota(made.begin(), made.end(), int64_t{0});
  return made;
}

Dims Without(const GraphTensor& tensor, int64_t dim) {
  Dims made = Range(tensor.rank());
  const int64_t at = dim < 0 ? dim + tensor.rank() : dim;
  if (at >= 0 && at < tensor.rank()) made.erase(made.begin() + at);
  return made;
}

}  // namespace openaclnn
