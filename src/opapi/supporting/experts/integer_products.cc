// SPDX-License-Identifier: Apache-2.0
// Exact products of matrices of INT8, by the shared kernel of floats.
#include "supporting/experts/integer_products.h"

#include <algorithm>
#include <cstdlib>

#include "kernels/rows/rows.h"
#include "kernels/work/scratch.h"

namespace openaclnn::supporting {
namespace {

// 1,024 products of -128 * -128 are 2^24, up to which floats are integers.
constexpr int64_t kSlab = 1024;

/// body(line) for all lines, by this thread alone or by all.
template <class Body>
void ForLines(bool alone, int64_t lines, int64_t width, const Body& body) {
  if (!alone) return ParallelRows(lines, width, body);
  for (int64_t line = 0; line < lines; ++line) body(line);
}

/// Rows of INT8 as dense floats: `columns` a row, in the order in which they lie.
GroupMatrix Widen(bool alone, const GroupMatrix& matrix, int64_t rows, int64_t columns, float* to) {
  const bool down = std::abs(matrix.row_step) < std::abs(matrix.column_step);
  const int64_t lines = down ? columns : rows, width = down ? rows : columns;
  const int64_t line_step = down ? matrix.column_step : matrix.row_step;
  const int64_t step = down ? matrix.row_step : matrix.column_step;
  const auto load = LoaderOf<float>(matrix.dtype);
  ForLines(alone, lines, width, [&](int64_t line) {
    load(matrix.at + line * line_step, step, width, to + line * width);
  });
  return {reinterpret_cast<std::byte*>(to), ACL_FLOAT, down ? 1 : width, down ? width : 1};
}

}  // namespace

IntegerProducts::IntegerProducts(const std::vector<IntegerGroup>& largest, int64_t rows,
                                 int64_t count) {
  std::vector<Group> groups;
  for (const IntegerGroup& each : largest) {
    slab_ = std::max(slab_, std::min(each.terms, kSlab));
    columns_ = std::max(columns_, each.columns);
    Group group = {
        .rows = each.rows, .columns = each.columns, .terms = std::min(each.terms, kSlab)};
    group.a = {nullptr, ACL_FLOAT, group.terms, 1};
    group.b = {nullptr, ACL_FLOAT, group.columns, 1};
    group.c = {nullptr, ACL_FLOAT, group.columns, 1};
    groups.push_back(group);
    std::swap(group.b.row_step, group.b.column_step);  // column by column
    group.b.column_step = group.terms;
    groups.push_back(group);
  }
  products_ = ProductGroups(groups, count);
  constexpr int kBytes = sizeof(float);
  ScratchParts parts;
  parts.Take(products_.scratch_bytes());
  lefts_ = parts.Take(__int128{rows} * slab_ * kBytes);
  sums_ = parts.Take(__int128{rows} * columns_ * kBytes);
  parts_ = parts.Take(__int128{rows} * columns_ * kBytes);
  right_bytes_ = ScratchBytes(__int128{slab_} * columns_ * kBytes);
  rights_ = parts.Take(static_cast<__int128>(right_bytes_) * products_.slots());
  bytes_ = parts.bytes();
}

void IntegerProducts::Run(const std::vector<IntegerGroup>& groups, std::byte* scratch,
                          const Finish& finish) const {
  std::vector<double> costs;
  for (const IntegerGroup& group : groups) {
    const bool empty = group.rows == 0 || group.columns == 0;
    costs.push_back(empty ? 0 : ProductGroups::CostOf(group.rows, group.columns, group.terms));
  }
  products_.Run(costs, scratch, [&](size_t i, const ProductGroups::Worker& worker) {
    RunGroup(groups[i], worker, scratch, finish);
  });
}

void IntegerProducts::RunGroup(const IntegerGroup& group, const ProductGroups::Worker& worker,
                               std::byte* scratch, const Finish& finish) const {
  const auto at = [&](uint64_t part, int64_t elements) {
    return reinterpret_cast<float*>(scratch + part) + elements;
  };
  float* const left = at(lefts_, group.first * slab_);
  float* const product = at(parts_, group.first * columns_);
  auto* const sums = reinterpret_cast<int32_t*>(at(sums_, group.first * columns_));
  auto* const right = reinterpret_cast<float*>(scratch + rights_ +
                                               static_cast<uint64_t>(worker.slot) * right_bytes_);
  const int64_t columns = group.columns;
  for (int64_t term = 0; term < group.terms || term == 0; term += kSlab) {
    const int64_t terms = std::min(kSlab, group.terms - term);
    Group part = {.rows = group.rows, .columns = columns, .terms = terms};
    part.a = Widen(worker.alone, group.a.From(0, term), group.rows, terms, left);
    part.b = Widen(worker.alone, group.b.From(term, 0), terms, columns, right);
    part.c = {reinterpret_cast<std::byte*>(product), ACL_FLOAT, columns, 1};
    products_.Multiply(part, worker);
    ForLines(worker.alone, group.rows, columns, [&](int64_t row) {
      const float* const from = product + row * columns;
      int32_t* const to = sums + row * columns;
      for (int64_t i = 0; i < columns; ++i) {
        const auto sum = static_cast<uint32_t>(static_cast<int32_t>(from[i]));
        to[i] = static_cast<int32_t>(term == 0 ? sum : static_cast<uint32_t>(to[i]) + sum);
      }
      if (term + terms >= group.terms) finish(group.group, group.first + row, to);
    });
  }
}

}  // namespace openaclnn::supporting
