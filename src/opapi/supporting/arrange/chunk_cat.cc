// SPDX-License-Identifier: Apache-2.0
// ChunkCat: parts of tensors side by side.
#include <algorithm>

#include "generated/arrange.h"
#include "kernels/rows/rows.h"
#include "kernels/work/divide_up.h"
#include "supporting/along.h"
#include "supporting/elements.h"
#include "supporting/in_turn.h"

namespace openaclnn::supporting {
namespace {

/// A chunk of a tensor is a row of out's last dimension, with zeros behind the last elements.
struct Chunks {
  Chunks(const Tensor& tensor, uint32_t dim, int64_t count)
      : elements(tensor, 0), length(tensor.dim(dim)), rows(DivideUp(length, count)) {
    for (uint32_t d = dim + 1; d < tensor.rank(); ++d) inner *= tensor.dim(d);
  }

  int64_t width() const { return rows * inner; }

  /// Loads the elements that chunk `chunk` has at `lead` of the dimensions before.
  void Load(const Buffers& buffers, int64_t lead, int64_t chunk, double* to) const {
    const int64_t begin = std::min(chunk * rows, length), end = std::min(begin + rows, length);
    for (int64_t i = begin * inner; i < end * inner; ++i) {
      *to++ = elements.Get(buffers, lead * length * inner + i);
    }
  }

  Elements elements;
  int64_t length, rows;  // of the dimension, and of a chunk
  int64_t inner = 1;     // elements of each of them
};

}  // namespace

void CheckChunkCat(const ChunkCatParams& p, Checker& checker) {
  const GivenList& tensors = p.tensors;
  checker.That(tensors.size > 0,
               [&] { return Concat("tensors size is 0, expected one tensor at least"); });
  checker.That(p.numChunks > 0, [&] {
    return Concat("numChunks value is ", p.numChunks, ", expected one above 0");
  });
  if (!checker.ok()) return;
  const Tensor& first = tensors[0];
  CheckDim(first, p.dim, checker);
  if (!checker.ok()) return;
  const uint32_t dim = *WrapDim(p.dim, first.rank());
  Shape shape(first.tensor().dims, first.tensor().dims + dim);
  int64_t width = 0;
  for (size_t i = 0; checker.ok() && i < tensors.size; ++i) {
    const Tensor& each = tensors[i];
    checker.That(
        each.rank() > dim && std::equal(shape.begin(), shape.end(), each.tensor().dims), [&] {
          return Concat(each.name(), " shape is ", ShapeText(each),
                        ", expected the dimensions before dim of the first, ", ShapeText(first));
        });
    checker.SameDtype(each, first);
    if (checker.ok()) width += Chunks(each, dim, p.numChunks).width();
  }
  shape.push_back(p.numChunks);
  shape.push_back(width);
  CheckShape(p.out, shape, checker);
}

Plan PlanChunkCat(const ChunkCatParams& p, const Product&) {
  const uint32_t dim = *WrapDim(p.dim, p.tensors[0].rank());
  const int64_t count = p.numChunks, width = p.out.last_dim();
  if (p.out.empty()) return Nothing();
  std::vector<Chunks> chunks;
  for (size_t i = 0; i < p.tensors.size; ++i) chunks.emplace_back(p.tensors[i], dim, count);
  const Elements out(p.out, 0);
  const int64_t rows = *p.out.count() / width;
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRowsIn<std::vector<double>>(rows, width, [&](int64_t row, auto* values) {
              values->assign(static_cast<size_t>(width), 0);
              double* to = values->data();
              for (const Chunks& each : chunks) {
                each.Load(buffers, row / count, row % count, to);
                to += each.width();
              }
              out.SetRun(buffers, row * width, values->data(), width);
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
