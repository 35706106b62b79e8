// SPDX-License-Identifier: Apache-2.0
// Products of matrices of many shapes in one task, by the shared kernel.
#include "supporting/experts/grouped.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "kernels/work/parallel_items.h"
#include "kernels/work/scratch.h"

namespace openaclnn::supporting {
namespace {

// The most groups that are worked on at once: each needs scratch of its own.
constexpr int64_t kMaxSlots = 32;

int64_t BytesOfType(int32_t dtype) { return static_cast<int64_t>(FindDataType(dtype)->bytes); }

bool IsCloserDown(const GroupMatrix& matrix) {
  return std::abs(matrix.row_step) < std::abs(matrix.column_step);
}

RowView LinesOf(const GroupMatrix& matrix, int64_t lines, bool down) {
  RowView view;
  const int64_t step = down ? matrix.column_step : matrix.row_step;
  view.rows = Offsets(&lines, &step, 1);
  view.step = down ? matrix.row_step : matrix.column_step;
  view.element_bytes = BytesOfType(matrix.dtype);
  return view;
}

TapMatrix FactorOf(const GroupMatrix& matrix, int64_t rows, int64_t columns, bool down) {
  TapMatrix factor = {};
  factor.view = LinesOf(matrix, down ? columns : rows, down);
  factor.dtype = matrix.dtype;
  factor.width = std::max<int64_t>(down ? rows : columns, 1);
  factor.transposed = down;
  return factor;
}

Gemm GemmOf(const Group& group, bool alone) {
  Gemm gemm = {};
  if (group.rows == 0 || group.columns == 0) return gemm;
  gemm.a = FactorOf(group.a, group.rows, group.terms, group.rows > 1 && IsCloserDown(group.a));
  gemm.b =
      FactorOf(group.b, group.terms, group.columns, group.columns > 1 && IsCloserDown(group.b));
  gemm.c = LinesOf(group.c, group.rows, false);
  gemm.c_dtype = group.c.dtype;
  gemm.adds = group.adds;
  if (group.adds) {
    gemm.added.view = LinesOf(group.added, group.rows, false);
    gemm.added.dtype = group.added.dtype;
  }
  gemm.terms = group.terms;
  gemm.columns = group.columns;
  gemm.rows = RowsOfAll(group.rows, group.terms);
  PlanGemm(&gemm);
  if (alone) gemm.bodies = std::min<int64_t>(gemm.bodies, 1);
  return gemm;
}

/// The most scratch of a product of the group with its rows or fewer. Blocks of rows are packed in
/// one way or another, so that a few numbers stand for all.
uint64_t MostBytes(Group group, bool alone) {
  const int64_t most = group.rows;
  uint64_t bytes = 0;
  for (int64_t rows = 1; rows < most; rows += std::max<int64_t>(rows / 8, 1)) {
    group.rows = rows;
    bytes = std::max(bytes, GemmOf(group, alone).scratch_bytes());
  }
  group.rows = most;
  return std::max(bytes, GemmOf(group, alone).scratch_bytes());
}

}  // namespace

GroupMatrix GroupMatrix::From(int64_t row, int64_t column) const {
  GroupMatrix moved = *this;
  const int64_t elements = WrappingProduct(row, row_step) + WrappingProduct(column, column_step);
  if (at != nullptr) moved.at = at + elements * BytesOfType(dtype);
  return moved;
}

GroupMatrix MatrixOfTensor(const Tensor& tensor) {
  const int64_t* const strides = tensor.tensor().strides;
  const uint32_t rank = tensor.rank();
  return {nullptr, tensor.dtype(), rank > 1 ? strides[rank - 2] : 0,
          rank > 0 ? strides[rank - 1] : 0};
}

ProductGroups::ProductGroups(const std::vector<Group>& largest, int64_t count)
    : slots_(
          std::clamp<int64_t>(std::min<int64_t>(count, Meta()->runtime->threads()), 1, kMaxSlots)) {
  for (const Group& group : largest) {
    together_ = std::max(together_, MostBytes(group, false));
    alone_ = std::max(alone_, MostBytes(group, true));
  }
  alone_ = ScratchParts().Take(0) + (alone_ + 63) / 64 * 64;
  bytes_ = std::max(together_, ScratchBytes(__int128{slots_} * static_cast<__int128>(alone_)));
}

void ProductGroups::Run(const std::vector<double>& costs, std::byte* scratch,
                        const std::function<void(size_t, const Worker&)>& work) const {
  std::vector<size_t> order;
  for (size_t i = 0; i < costs.size(); ++i) {
    if (costs[i] > 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return costs[a] > costs[b]; });
  const double all = std::accumulate(costs.begin(), costs.end(), 0.0);
  const double share = all / static_cast<double>(2 * slots_);
  size_t next = 0;
  // With one thread both ways are the same.
  for (; slots_ > 1 && next < order.size() && costs[order[next]] > share; ++next) {
    work(order[next], {false, 0, scratch});
  }
  const auto left = static_cast<int64_t>(order.size() - next);
  if (left == 0) return;
  constexpr double kLong = 1 << 25;  // half a millisecond of multiplications
  ParallelItems(left, std::min(slots_, left), all > kLong, [&](int64_t item, int64_t slot) {
    work(order[next + static_cast<size_t>(item)],
         {true, slot, scratch + static_cast<uint64_t>(slot) * alone_});
  });
}

void ProductGroups::Multiply(const Group& group, const Worker& worker) const {
  const Gemm gemm = GemmOf(group, worker.alone);
  std::unique_ptr<std::byte[]> more;  // where the numbers of MostBytes did not stand for these rows
  std::byte* scratch = worker.scratch;
  if (gemm.scratch_bytes() > (worker.alone ? alone_ : together_)) {
    more = std::make_unique_for_overwrite<std::byte[]>(gemm.scratch_bytes() + 64);
    scratch = more.get() + (64 - reinterpret_cast<uintptr_t>(more.get()) % 64);
  }
  RunGemm(gemm, group.a.at, group.b.at, group.added.at, group.c.at, scratch);
}

void ProductGroups::Multiply(const std::vector<Group>& groups, std::byte* scratch) const {
  std::vector<double> costs;
  for (const Group& group : groups) {
    const bool empty = group.rows == 0 || group.columns == 0;
    costs.push_back(empty ? 0 : CostOf(group.rows, group.columns, group.terms));
  }
  Run(costs, scratch, [&](size_t i, const Worker& worker) { Multiply(groups[i], worker); });
}

double ProductGroups::CostOf(int64_t rows, int64_t columns, int64_t terms) {
  constexpr double kPacking = 32;  // rows that take as long as the right factor takes to be read
  return (static_cast<double>(rows) + kPacking) * static_cast<double>(columns) *
         (static_cast<double>(terms) + 1);
}

Status GroupSizes::Of(const char* name, const std::vector<int64_t>& numbers, Kind kind,
                      int64_t count, int64_t limit, GroupSizes* sizes) {
  const auto refuse = [&](size_t i, const std::string& expected) {
    return Status(507035, Concat(name, " value ", i, " is ", numbers[i], ", expected ", expected));
  };
  int64_t begin = 0;
  std::vector<bool> named(kind == kPairs ? static_cast<size_t>(count) : 0);
  const size_t step = kind == kPairs ? 2 : 1;
  for (size_t i = 0; i + step <= numbers.size(); i += step) {
    const size_t at = kind == kPairs ? i + 1 : i;
    const int64_t size = kind == kTotals ? numbers[at] - begin : numbers[at];
    if (kind == kTotals && (numbers[at] < begin || numbers[at] > limit)) {
      return refuse(at, Concat(begin, " <= value <= ", limit));
    }
    if (kind != kTotals && (size < 0 || size > limit - begin)) {
      return refuse(at,
                    Concat("0 <= value <= ", limit - begin, ", what the others leave of ", limit));
    }
    if (kind == kPairs && size == 0) continue;  // pairs are filled up with (0, 0)
    const int64_t group = kind == kPairs ? numbers[i] : static_cast<int64_t>(i);
    if (group < 0 || group >= count) return refuse(i, Concat("0 <= value < ", count));
    if (kind == kPairs) {
      if (named[static_cast<size_t>(group)]) return refuse(i, "a group that no pair before names");
      named[static_cast<size_t>(group)] = true;
    }
    sizes->parts.push_back({group, begin, size});
    begin += size;
  }
  for (size_t group = 0; group < named.size(); ++group) {
    if (!named[group]) sizes->parts.push_back({static_cast<int64_t>(group), begin, 0});
  }
  return {};
}

}  // namespace openaclnn::supporting
