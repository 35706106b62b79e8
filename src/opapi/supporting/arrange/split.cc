// SPDX-License-Identifier: Apache-2.0
// SplitWithSize and SplitTensor: parts of a tensor along a dimension; and Diag.
#include <algorithm>

#include "generated/arrange.h"
#include "kernels/move/copy.h"
#include "kernels/rows/rows.h"
#include "supporting/along.h"
#include "supporting/arrange/view.h"
#include "supporting/in_turn.h"

namespace openaclnn::supporting {
namespace {

/// Checks that there is a tensor for each length, of self's shape with that length along dim.
template <class LengthOf>
void CheckParts(const Tensor& self, int64_t dim, const GivenList& out, size_t count,
                const LengthOf& length_of, Checker& checker) {
  checker.That(out.size == count, [&] {
    return Concat("out length is ", out.size, ", expected ", count, ", a tensor for each part");
  });
  if (!checker.ok()) return;
  Shape shape = ShapeOf(self);
  for (size_t i = 0; i < count; ++i) {
    shape[*WrapDim(dim, self.rank())] = length_of(i);
    checker.SameDtype(out[i], self);
    CheckShape(out[i], shape, checker);
  }
}

/// The outputs are the parts of self along dim, one after the other.
Plan PlanParts(const Tensor& self, int64_t dim, const GivenList& out) {
  const uint32_t along = *WrapDim(dim, self.rank());
  const Shape steps = StepsOf(self);
  std::vector<Plan> plans;
  int64_t begin = 0;
  for (size_t i = 0; i < out.size; ++i) {
    plans.push_back(MakeCopy(self, out[i], steps, WrappingProduct(steps[along], begin)));
    begin += out[i].dim(along);
  }
  return InTurn(std::move(plans));
}

void CheckSplit(const Tensor& self, int64_t dim, Checker& checker) {
  checker.RankBetween(self, 1, kMaxRank);
  CheckDim(self, dim, checker);
}

int64_t LengthOf(const Tensor& self, int64_t dim) { return self.dim(*WrapDim(dim, self.rank())); }

/// Where the diagonal of a matrix begins, and how long it is.
struct Diagonal {
  Diagonal(const Tensor& matrix, int64_t number) {
    const int64_t height = matrix.dim(0), width = matrix.dim(1);
    // None lies further away.
    const int64_t diagonal = std::clamp(number, -height, width);
    row = std::max<int64_t>(-diagonal, 0);
    column = std::max<int64_t>(diagonal, 0);
    length = std::max<int64_t>(std::min(height - row, width - column), 0);
  }

  int64_t row, column, length;
};

/// The side of a square matrix whose diagonal has so many elements; nothing beyond int64_t.
std::optional<int64_t> SideOf(int64_t length, int64_t diagonal) {
  int64_t side = 0;
  if (diagonal == INT64_MIN) return {};
  if (__builtin_add_overflow(length, diagonal < 0 ? -diagonal : diagonal, &side)) return {};
  return side;
}

}  // namespace

void CheckSplitWithSize(const SplitWithSizeParams& p, Checker& checker) {
  CheckSplit(p.self, p.dim, checker);
  if (!checker.ok()) return;
  const auto sizes = p.splitSize.values();
  const int64_t length = LengthOf(p.self, p.dim);
  int64_t left = length;
  for (const int64_t size : sizes) {
    checker.That(0 <= size && size <= left, [&] {
      return Concat("splitSize value is ",
                    ShapeText(sizes.data(), static_cast<uint32_t>(sizes.size())),
                    ", expected lengths of at least 0 whose sum is ", length);
    });
    if (!checker.ok()) return;
    left -= size;
  }
  checker.That(left == 0, [&] {
    return Concat("splitSize sum is ", length - left, ", expected ", length,
                  ", the length of self along dim");
  });
  CheckParts(
      p.self, p.dim, p.out, sizes.size(), [&](size_t i) { return sizes[i]; }, checker);
}

Plan PlanSplitWithSize(const SplitWithSizeParams& p, const Product&) {
  return PlanParts(p.self, p.dim, p.out);
}

void CheckSplitTensor(const SplitTensorParams& p, Checker& checker) {
  CheckSplit(p.self, p.dim, checker);
  if (!checker.ok()) return;
  const int64_t length = LengthOf(p.self, p.dim);
  const uint64_t part = p.splitSections;
  checker.That(part > 0 || length == 0, [] {
    return "splitSections value is 0, expected the length of a part, at least 1";
  });
  if (!checker.ok()) return;
  const auto whole = static_cast<uint64_t>(length);
  // A dimension of length 0 has one part, as in PyTorch.
  const uint64_t count = whole == 0 ? 1 : whole / part + (whole % part != 0 ? 1 : 0);
  CheckParts(
      p.self, p.dim, p.out, count,
      [&](size_t i) { return static_cast<int64_t>(std::min(part, whole - i * part)); }, checker);
}

Plan PlanSplitTensor(const SplitTensorParams& p, const Product&) {
  return PlanParts(p.self, p.dim, p.out);
}

// A vector becomes a matrix's diagonal, and of a matrix the diagonal is taken.
void CheckDiag(const DiagParams& p, Checker& checker) {
  checker.RankBetween(p.self, 1, 2).SameDtype(p.out, p.self);
  if (!checker.ok()) return;
  if (p.self.rank() == 2) return CheckShape(p.out, {Diagonal(p.self, p.diagonal).length}, checker);
  const auto side = SideOf(p.self.dim(0), p.diagonal);
  checker.That(side.has_value(), [&] {
    return Concat("diagonal value is ", p.diagonal, ", expected one that a matrix can have");
  });
  if (side) CheckShape(p.out, {*side, *side}, checker);
}

Plan PlanDiag(const DiagParams& p, const Product&) {
  if (p.out.empty()) return Nothing();
  const bool taken = p.self.rank() == 2;
  const Tensor &vector = taken ? p.out : p.self, &matrix = taken ? p.self : p.out;
  const Diagonal diagonal(matrix, p.diagonal);
  const Shape steps = StepsOf(matrix);
  const int64_t along = steps[0] + steps[1];
  const int64_t offset = diagonal.row * steps[0] + diagonal.column * steps[1];
  const Shape shape = {diagonal.length};
  const Steps own(shape, vector), of_matrix(Shape{along});
  const Copy copy(shape, taken ? of_matrix : own, taken ? own : of_matrix, BytesOf(p.out));
  const Place self = p.self.place, out = p.out.place;
  if (taken) {
    return {0, [=](const Buffers& buffers) -> Status {
              copy(self(buffers) + offset, out(buffers));
              return {};
            }};
  }
  const RowView rows(p.out);
  const int64_t side = p.out.dim(0);
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(side, side, [&](int64_t row) {
              ZeroStrided(rows.Row(out(buffers), row), rows.step, side, rows.element_bytes);
            });
            copy(self(buffers), out(buffers) + offset);
            return {};
          }};
}

}  // namespace openaclnn::supporting
