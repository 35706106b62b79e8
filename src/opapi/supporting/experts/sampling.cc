// SPDX-License-Identifier: Apache-2.0
// ApplyTopKTopP: scores of words that are too unlikely to be drawn become -infinity.
#include <algorithm>
#include <cmath>
#include <vector>

#include "generated/experts.h"
#include "kernels/rows/rows.h"
#include "supporting/experts/routing.h"
#include "supporting/experts/values.h"

namespace openaclnn::supporting {
namespace {

/// Scores with their places, the lowest first; equal ones keep their order.
struct Score {
  double value;
  int64_t place;
};

void SortScores(const std::vector<double>& row, std::vector<Score>* sorted) {
  sorted->clear();
  for (size_t i = 0; i < row.size(); ++i) sorted->push_back({row[i], static_cast<int64_t>(i)});
  std::stable_sort(sorted->begin(), sorted->end(),
                   [](const Score& a, const Score& b) {  // NaN is the largest
                     return a.value < b.value || (!std::isnan(a.value) && std::isnan(b.value));
                   });
}

/// Those below the k-th largest become -infinity.
void KeepLargest(int64_t k, std::vector<Score>* sorted) {
  const double least = (*sorted)[sorted->size() - static_cast<size_t>(k)].value;
  for (Score& score : *sorted) score.value = score.value < least ? -HUGE_VAL : score.value;
}

/// Those whose probabilities sum up to at most 1 - p, the lowest first, become -infinity; the
/// largest stays.
void KeepLikely(double p, std::vector<Score>* sorted) {
  const double largest = sorted->back().value;
  double all = 0, sum = 0;
  for (const Score& score : *sorted) all += std::exp(score.value - largest);
  for (size_t i = 0; i + 1 < sorted->size(); ++i) {
    Score& score = (*sorted)[i];
    sum += std::exp(score.value - largest) / all;
    if (sum <= 1 - p) score.value = -HUGE_VAL;
  }
}

}  // namespace

void CheckApplyTopKTopP(const ApplyTopKTopPParams& p, Checker& checker) {
  checker.Rank(p.logits, 2).SameShapeAndDtype(p.out, p.logits);
  if (!checker.ok()) return;
  if (p.p.present()) {
    checker.SameDtype(p.p, p.logits);
    CheckShape(p.p, {p.logits.dim(0)}, checker);
  }
  if (p.k.present()) CheckShape(p.k, {p.logits.dim(0)}, checker);
}

Plan PlanApplyTopKTopP(const ApplyTopKTopPParams& p, const Product&) {
  const TokenRows logits(p.logits), out(p.out);
  const NumberValues likely(p.p);
  const IntegerValues largest(p.k);
  const int64_t rows = p.logits.dim(0);
  return {0, [=](const Buffers& buffers) -> Status {
            const std::vector<int64_t> k = largest.Read(buffers);
            const std::vector<double> limits = likely.Read(buffers);
            Status status = CheckRange("k", k, 1, logits.width() + 1);
            if (!status.ok() || logits.width() == 0) return status;
            struct Room {
              std::vector<double> values;
              std::vector<Score> sorted;
            };
            ParallelRowsIn<Room>(rows, logits.width(), [&](int64_t row, Room* room) {
              const auto at = static_cast<size_t>(row);
              room->values.resize(static_cast<size_t>(logits.width()));
              logits.Load(buffers, row, room->values.data());
              SortScores(room->values, &room->sorted);
              if (!k.empty()) KeepLargest(k[at], &room->sorted);
              if (!limits.empty()) KeepLikely(limits[at], &room->sorted);
              for (const Score& score : room->sorted) {
                room->values[static_cast<size_t>(score.place)] = score.value;
              }
              out.Store(buffers, row, room->values.data());
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
