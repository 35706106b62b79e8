// SPDX-License-Identifier: Apache-2.0
// ClippedSwiglu, of the rows that groups have.
#include <vector>

#include "generated/activation.h"
#include "kernels/rows/rows.h"
#include "supporting/activation/clipped_gate.h"
#include "supporting/along.h"
#include "supporting/group_ends.h"
#include "supporting/in_turn.h"

namespace openaclnn::supporting {

void CheckClippedSwiglu(const ClippedSwigluParams& p, Checker& checker) {
  checker.RankBetween(p.x, 1, kMaxRank).SameDtype(p.out, p.x);
  CheckDim(p.x, p.dim, checker);
  if (p.groupIndexOptional.present()) {
    checker.Rank(p.groupIndexOptional, 1).NotEmpty(p.groupIndexOptional);
    checker.That(p.groupIndexOptional.dtype() == ACL_INT64,
                 [&] { return DtypeIs(p.groupIndexOptional, "INT64"); });
  }
  checker.That(p.limit > 0,
               [&] { return Concat("limit value is ", p.limit, ", expected one above 0"); });
  if (!checker.ok()) return;
  Shape shape = ShapeOf(p.x);
  int64_t& length = shape[*WrapDim(p.dim, p.x.rank())];
  checker.That(length % 2 == 0, [&] {
    return Concat("x shape is ", ShapeText(p.x), ", expected an even length in dim");
  });
  length /= 2;
  CheckShape(p.out, shape, checker);
}

/// The dimension and those behind it are one row.
Plan PlanClippedSwiglu(const ClippedSwigluParams& p, const Product&) {
  if (p.x.empty()) return Nothing();
  int64_t rows = 1, width = 1;
  for (uint32_t i = 0; i < p.x.rank(); ++i) {
    (i < *WrapDim(p.dim, p.x.rank()) ? rows : width) *= p.x.dim(i);
  }
  const GroupEnds groups(p.groupIndexOptional, rows, true);
  const ClippedGate gate{p.limit, p.alpha, p.bias};
  const Place x = p.x.place, out = p.out.place;
  const int64_t half = width / 2;
  const Walk from(ShapeOf(p.x), {Steps(ShapeOf(p.x), p.x)});
  const Walk to(ShapeOf(p.out), {Steps(ShapeOf(p.out), p.out)});
  const auto load = LoaderOf<double>(p.x.dtype());
  const auto store = StorerOf<double>(p.out.dtype());
  const bool pairs = p.interleaved;
  return {0, [=](const Buffers& buffers) -> Status {
            std::vector<int64_t> ends;
            Status status = groups.Read(buffers, false, &ends);
            if (!status.ok()) return status;
            using Room = std::vector<double>;
            // Rows behind the last group are left as they are.
            ParallelRowsIn<Room>(ends.back(), width, [&](int64_t row, Room* room) {
              room->resize(static_cast<size_t>(width + half));
              double* values = room->data();
              from.ForRunsOf(row * width, (row + 1) * width, width, {x(buffers)},
                             [&](const Walk::Pointers& at, int64_t n) {
                               load(at[0], from.step(0), n, values);
                               values += n;
                             });
              const double* results = values;
              gate.Run(room->data(), room->data() + (pairs ? 1 : half), pairs ? 2 : 1, half,
                       values);
              to.ForRunsOf(row * half, (row + 1) * half, half, {out(buffers)},
                           [&](const Walk::Pointers& at, int64_t n) {
                             store(results, n, at[0], to.step(0));
                             results += n;
                           });
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
