// SPDX-License-Identifier: Apache-2.0
// SplitWithSize and SplitTensor: parts of a tensor along a dimension. ChunkCat: parts of tensors
// side by side.
#include <algorithm>

#include "generated/arrange.h"
#include "kernels/rows/rows.h"
#include "kernels/work/divide_up.h"
#include "supporting/along.h"
#include "supporting/arrange/view.h"
#include "supporting/elements.h"
#include "supporting/in_turn.h"

namespace openaclnn::supporting {
namespace {

/// Checks that there is an output for each part, of its shape and self's type.
void CheckParts(const Tensor& self, int64_t dim, const std::vector<int64_t>& lengths,
                const GivenList& out, Checker& checker) {
  checker.That(out.size == lengths.size(), [&] {
    return Concat(out.name, " size is ", out.size, ", expected ", lengths.size(),
                  ", a tensor for each part");
  });
  Shape shape = ShapeOf(self);
  for (size_t i = 0; checker.ok() && i < lengths.size(); ++i) {
    shape[*WrapDim(dim, self.rank())] = lengths[i];
    checker.SameDtype(out[i], self);
    CheckShape(out[i], shape, checker);
  }
}

/// Copies the parts, one after the other along the dimension.
Plan MakeParts(const Tensor& self, int64_t dim, const std::vector<int64_t>& lengths,
               const GivenList& out) {
  const uint32_t at = *WrapDim(dim, self.rank());
  const Shape steps = StepsOf(self);
  std::vector<Plan> plans;
  int64_t begin = 0;
  for (size_t i = 0; i < lengths.size(); ++i) {
    plans.push_back(MakeCopy(self, out[i], steps, WrappingProduct(steps[at], begin)));
    begin += lengths[i];
  }
  return InTurn(std::move(plans));
}

std::vector<int64_t> LengthsOf(const SplitWithSizeParams& p) {
  return {p.splitSize.values().begin(), p.splitSize.values().end()};
}

/// Parts of one length, of which the last may be shorter; of nothing one without elements.
std::vector<int64_t> LengthsOf(const SplitTensorParams& p) {
  const auto length = p.self.dim(*WrapDim(p.dim, p.self.rank()));
  const auto each =
      static_cast<int64_t>(std::min<uint64_t>(p.splitSections, std::max<int64_t>(length, 1)));
  std::vector<int64_t> lengths;
  for (int64_t left = length; left > 0; left -= each) lengths.push_back(std::min(each, left));
  if (lengths.empty()) lengths.push_back(0);
  return lengths;
}

void CheckSplit(const Tensor& self, int64_t dim, Checker& checker) {
  checker.RankBetween(self, 1, kMaxRank);
  CheckDim(self, dim, checker);
}

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

void CheckSplitWithSize(const SplitWithSizeParams& p, Checker& checker) {
  CheckSplit(p.self, p.dim, checker);
  if (!checker.ok()) return;
  const int64_t length = p.self.dim(*WrapDim(p.dim, p.self.rank()));
  int64_t left = length;
  for (const int64_t size : p.splitSize.values()) {
    checker.That(0 <= size && size <= left, [&] {
      return Concat("splitSize value is ", size, ", expected 0 to ", left,
                    ", as much as is left of the dimension");
    });
    left -= checker.ok() ? size : 0;
  }
  checker.That(left == 0, [&] {
    return Concat("splitSize value is ", length - left, " in all, expected ", length,
                  ", the length of the dimension");
  });
  if (checker.ok()) CheckParts(p.self, p.dim, LengthsOf(p), p.out, checker);
}

Plan PlanSplitWithSize(const SplitWithSizeParams& p, const Product&) {
  return MakeParts(p.self, p.dim, LengthsOf(p), p.out);
}

void CheckSplitTensor(const SplitTensorParams& p, Checker& checker) {
  CheckSplit(p.self, p.dim, checker);
  checker.That(p.splitSections > 0,
               [&] { return "splitSections value is 0, expected one above 0"; });
  if (checker.ok()) CheckParts(p.self, p.dim, LengthsOf(p), p.out, checker);
}

Plan PlanSplitTensor(const SplitTensorParams& p, const Product&) {
  return MakeParts(p.self, p.dim, LengthsOf(p), p.out);
}

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
