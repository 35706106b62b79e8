// SPDX-License-Identifier: Apache-2.0
// AddLora: products with two small matrices that each row chooses, added to columns. In double.
#include <vector>

#include "generated/matmul.h"
#include "kernels/rows/double_rows.h"
#include "kernels/rows/rows.h"
#include "supporting/elements.h"
#include "supporting/places.h"
#include "supporting/tree_sum.h"

namespace openaclnn::supporting {
namespace {

/// Matrices of weights: rows of one layer.
struct WeightRows {
  WeightRows(const Tensor& tensor, int64_t layer)
      : place(tensor.place),
        present(tensor.present()),
        width(tensor.dim(3)),
        height(tensor.dim(2)) {
    if (!present) return;
    const auto* const strides = tensor.tensor().strides;
    bytes = BytesOf(tensor);
    matrix_step = strides[0];
    row_step = strides[2];
    step = strides[3];
    begin = WrappingProduct(strides[1], layer);
    load = LoaderOf<double>(tensor.dtype());
  }

  /// The product of a row of one matrix and a vector.
  double Times(const Buffers& buffers, int64_t matrix, int64_t row, const double* vector,
               double* room) const {
    const int64_t first = begin + matrix * matrix_step + row * row_step;
    load(place(buffers) + first * bytes, step * bytes, width, room);
    TreeSum<double> sum;
    for (int64_t i = 0; i < width; ++i) sum.Add(room[i] * vector[i]);
    return sum.Total();
  }

  Place place;
  bool present;
  int64_t width, height, bytes = 0, matrix_step = 0, row_step = 0, step = 0, begin = 0;
  LoadRow<double> load = nullptr;
};

void CheckLayer(const Tensor& weights, int64_t layer, Checker& checker) {
  checker.That(0 <= layer && layer < weights.dim(1), [&] {
    return Concat("layerIdx value is ", layer, ", expected a layer of ", weights.name(), ", ",
                  ShapeText(weights));
  });
}

}  // namespace

void CheckAddLora(const AddLoraParams& p, Checker& checker) {
  const Tensor &y = p.y, &x = p.x, &up = p.weightB, &down = p.weightAOptional;
  checker.Rank(y, 2).Rank(x, 2).Rank(up, 4);
  if (down.present()) checker.Rank(down, 4);
  if (!checker.ok()) return;
  for (const Tensor* each : {&x, &up, &down, &p.out}) {
    if (each->present()) checker.SameDtype(*each, y);
  }
  checker.That(p.indices.dtype() == ACL_INT32, [&] { return DtypeIs(p.indices, "INT32"); });
  CheckShape(p.out, ShapeOf(y), checker);
  CheckShape(x, {y.dim(0), x.dim(1)}, checker);
  CheckShape(p.indices, {y.dim(0)}, checker);
  const int64_t columns = y.dim(1);
  checker.That(0 <= p.yOffset && p.yOffset <= columns, [&] {
    return Concat("yOffset value is ", p.yOffset, ", expected 0 to the columns of y, ", columns);
  });
  checker.That(0 <= p.ySliceSize && p.ySliceSize <= columns - p.yOffset, [&] {
    return Concat("ySliceSize value is ", p.ySliceSize,
                  ", expected 0 to the columns behind yOffset, ", columns - p.yOffset);
  });
  if (!checker.ok()) return;
  const int64_t rank = down.present() ? down.dim(2) : x.dim(1);
  CheckShape(up, {up.dim(0), up.dim(1), p.ySliceSize, rank}, checker);
  CheckLayer(up, p.layerIdx, checker);
  if (down.present()) CheckShape(down, {up.dim(0), up.dim(1), rank, x.dim(1)}, checker);
}

Plan PlanAddLora(const AddLoraParams& p, const Product&) {
  const WeightRows down(p.weightAOptional, p.layerIdx), up(p.weightB, p.layerIdx);
  const Elements inputs(p.x, 0), before(p.y, 0), after(p.out, 0), indices(p.indices, 0);
  const int64_t rows = p.y.dim(0), columns = p.y.dim(1), width = p.x.dim(1),
                weights = p.weightB.dim(0), offset = p.yOffset;
  const double scale = p.scale;
  return {0, [=](const Buffers& buffers) -> Status {
            const std::vector<int64_t> chosen = indices.AllWhole(buffers);
            for (size_t i = 0; i < chosen.size(); ++i) {
              if (chosen[i] < -1 || chosen[i] > weights) {
                return Status(507035, Concat("indices value is ", chosen[i], " at element ", i,
                                             ", expected -1 to ", weights));
              }
            }
            const int64_t rank = up.width;
            ParallelRowsIn<std::vector<double>>(
                rows, columns + (width + up.height) * rank, [&](int64_t row, auto* room) {
                  const int64_t matrix = chosen[static_cast<size_t>(row)];
                  room->resize(static_cast<size_t>(columns + width + 2 * rank + width));
                  double* const result = room->data();
                  double* const x = result + columns;
                  double* const middle = x + width;
                  double* const rest = middle + rank;
                  for (int64_t i = 0; i < columns; ++i) {
                    result[i] = before.Get(buffers, row * columns + i);
                  }
                  if (matrix >= 0 && matrix < weights) {
                    for (int64_t i = 0; i < width; ++i) x[i] = inputs.Get(buffers, row * width + i);
                    for (int64_t i = 0; i < rank && down.present; ++i) {
                      middle[i] = down.Times(buffers, matrix, i, x, rest);
                    }
                    const double* const vector = down.present ? middle : x;
                    for (int64_t i = 0; i < up.height; ++i) {
                      result[offset + i] += scale * up.Times(buffers, matrix, i, vector, rest);
                    }
                  }
                  after.SetRun(buffers, row * columns, result, columns);
                });
            return {};
          }};
}

}  // namespace openaclnn::supporting
