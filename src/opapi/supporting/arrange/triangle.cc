// SPDX-License-Identifier: Apache-2.0
// Tril and Triu.
#include <algorithm>

#include "generated/arrange.h"
#include "kernels/rows/rows.h"

namespace openaclnn::supporting {
namespace {

/// Rows of matrices of which the part below or above a diagonal stays.
Plan PlanTriangle(const TriangleParams& p, bool lower) {
  const Tensor &self = p.self, &out = p.out;
  const int64_t height = self.dim(self.rank() - 2), width = self.last_dim();
  const int64_t rows = width == 0 ? 0 : *self.count() / width;
  // None lies further away.
  const int64_t diagonal = std::clamp(p.diagonal, -height - 1, width);
  const RowView from(self), to(out);
  const Place self_at = self.place, out_at = out.place;
  const bool in_place = p.in_place();
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(rows, width, [&](int64_t row) {
              const int64_t i = row % height;
              // Columns from here on lie above the diagonal.
              const int64_t edge = std::clamp<int64_t>(i + diagonal + (lower ? 1 : 0), 0, width);
              const int64_t begin = lower ? 0 : edge, end = lower ? edge : width;
              const int64_t bytes = from.element_bytes;
              std::byte* const x = from.Row(self_at(buffers), row);
              std::byte* const y = to.Row(out_at(buffers), row);
              if (!in_place) {
                CopyStrided(x + begin * from.step * bytes, from.step, y + begin * to.step * bytes,
                            to.step, end - begin, bytes);
              }
              ZeroStrided(y, to.step, begin, bytes);
              ZeroStrided(y + end * to.step * bytes, to.step, width - end, bytes);
            });
            return {};
          }};
}

}  // namespace

void CheckTriangle(const TriangleParams& p, Checker& checker) {
  checker.RankBetween(p.self, 2, kMaxRank).SameShapeAndDtype(p.out, p.self);
}

Plan PlanTril(const TriangleParams& p, const Product&) { return PlanTriangle(p, true); }

Plan PlanTriu(const TriangleParams& p, const Product&) { return PlanTriangle(p, false); }

}  // namespace openaclnn::supporting
