// SPDX-License-Identifier: Apache-2.0
// CoalesceSparse: the values of equal coordinates, summed.
#include "generated/index.h"
#include "supporting/along.h"
#include "supporting/places.h"

namespace openaclnn::supporting {
namespace {

/// Checks that `to` has a row for each coordinate that is left, as `from` has for each that is
/// given.
void CheckRows(const Tensor& from, const Tensor& to, int64_t given, int64_t left,
               Checker& checker) {
  checker.RankBetween(from, 1, kMaxRank).SameDtype(to, from);
  if (!checker.ok()) return;
  Shape shape = ShapeOf(from);
  shape[0] = given;
  CheckShape(from, shape, checker);
  shape[0] = left;
  CheckShape(to, shape, checker);
}

/// Rows of a tensor that are written to the places of others.
class RowSum {
 public:
  RowSum(const Tensor& from, const Tensor& to, Placing placing)
      : zero_(to, ColumnsOf(to), Value(int64_t{0})),
        placer_(to, placing, ColumnsOf(to), from, ShapeOf(from)),
        rows_(to.dim(0)),
        step_(to.tensor().strides[0]),
        from_(from.place),
        to_(to.place),
        empty_(to.empty()),
        none_(from.empty()) {}

  void operator()(const std::vector<int64_t>& rows, const Buffers& buffers) const {
    if (empty_) return;
    std::vector<int64_t> places(static_cast<size_t>(rows_));
    for (int64_t i = 0; i < rows_; ++i) places[static_cast<size_t>(i)] = i * step_;
    zero_(places, nullptr, to_(buffers));
    if (none_) return;
    places = rows;
    for (int64_t& place : places) place *= step_;
    placer_(places, from_(buffers), to_(buffers));
  }

 private:
  static Slices ColumnsOf(const Tensor& to) {
    Slices slices;
    for (uint32_t d = 1; d < to.rank(); ++d) {
      slices.columns.push_back(to.dim(d));
      slices.column_steps.push_back(to.tensor().strides[d]);
    }
    return slices;
  }

  Placer zero_, placer_;
  int64_t rows_, step_;
  Place from_, to_;
  bool empty_, none_;
};

}  // namespace

void CheckCoalesceSparse(const CoalesceSparseParams& p, Checker& checker) {
  checker.Rank(p.uniqueLen, 1).Rank(p.uniqueIndices, 1).Rank(p.indices, 2);
  for (const Tensor* each : {&p.uniqueLen, &p.uniqueIndices, &p.indices}) {
    CheckIndexType(*each, checker);
  }
  if (!checker.ok()) return;
  const int64_t given = p.uniqueIndices.dim(0), left = p.uniqueLen.dim(0);
  CheckRows(p.indices, p.newIndices, given, left, checker);
  CheckRows(p.values, p.newValues, given, left, checker);
}

Plan PlanCoalesceSparse(const CoalesceSparseParams& p, const Product&) {
  const IndexReader reader(p.uniqueIndices, ShapeOf(p.uniqueIndices));
  const RowSum indices(p.indices, p.newIndices, Placing::kSet);
  const RowSum values(p.values, p.newValues, Placing::kAdd);
  const int64_t left = p.uniqueLen.dim(0);
  return {0, [=, at = p.uniqueIndices.place](const Buffers& buffers) -> Status {
            std::vector<int64_t> rows;
            Status status = reader.Read(at(buffers), left, false, &rows);
            if (!status.ok()) return status;
            indices(rows, buffers);
            values(rows, buffers);
            return {};
          }};
}

}  // namespace openaclnn::supporting
