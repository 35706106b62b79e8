// SPDX-License-Identifier: Apache-2.0
// Counts of tokens, the order of those of several ranks by experts, and the copies of experts that
// take them.
#include <algorithm>
#include <numeric>
#include <vector>

#include "generated/experts.h"
#include "kernels/rows/rows.h"
#include "kernels/work/divide_up.h"
#include "supporting/experts/routing.h"
#include "supporting/experts/values.h"

namespace openaclnn::supporting {

void CheckMoeComputeExpertTokens(const MoeComputeExpertTokensParams& p, Checker& checker) {
  checker.Rank(p.sortedExperts, 1);
  CheckValue(p.numExperts >= 1 && p.numExperts <= INT32_MAX, "numExperts", p.numExperts, checker,
             "1 to ", INT32_MAX);
  if (checker.ok()) CheckShape(p.out, {p.numExperts}, checker);
}

Plan PlanMoeComputeExpertTokens(const MoeComputeExpertTokensParams& p, const Product&) {
  const IntegerValues experts(p.sortedExperts), out(p.out);
  const int64_t count = p.numExperts;
  return {0, [=](const Buffers& buffers) -> Status {
            const std::vector<int64_t> sorted = experts.Read(buffers);
            std::vector<int64_t> ends(static_cast<size_t>(count));
            for (int64_t expert = 0; expert < count; ++expert) {
              ends[static_cast<size_t>(expert)] =
                  std::upper_bound(sorted.begin(), sorted.end(), expert) - sorted.begin();
            }
            out.Write(buffers, ends);
            return {};
          }};
}

void CheckMoeReRouting(const MoeReRoutingParams& p, Checker& checker) {
  checker.Rank(p.tokens, 2).Rank(p.expertTokenNumPerRank, 2);
  CheckValue(p.expertTokenNumType == 1, "expertTokenNumType", p.expertTokenNumType, checker, "1");
  CheckValue(p.idxType == 0, "idxType", p.idxType, checker, "0");
  checker.SameDtype(p.permuteTokens, p.tokens);
  checker.SameDtype(p.expertTokenNum, p.expertTokenNumPerRank);
  if (!checker.ok()) return;
  const Tensor& scales = p.perTokenScalesOptional;
  const int64_t tokens = p.tokens.dim(0);
  CheckShape(p.permuteTokens, ShapeOf(p.tokens), checker);
  if (scales.present()) {
    checker.RankBetween(scales, 1, 2);
    checker.That(scales.rank() > 0 && scales.dim(0) == tokens, [&] {
      return Concat(scales.name(), " shape is ", ShapeText(scales), ", expected ", tokens,
                    " rows as tokens has, ", ShapeText(p.tokens));
    });
    checker.That(p.permutePerTokenScales.present(), ACLNN_ERR_PARAM_NULLPTR,
                 [&] { return Concat("permutePerTokenScales value is null, expected a tensor"); });
    if (!checker.ok()) return;
    CheckShape(p.permutePerTokenScales, ShapeOf(scales), checker);
  }
  CheckShape(p.permuteTokenIdx, {tokens}, checker);
  CheckShape(p.expertTokenNum, {p.expertTokenNumPerRank.dim(1)}, checker);
}

Plan PlanMoeReRouting(const MoeReRoutingParams& p, const Product&) {
  const TokenRows from(p.tokens), to(p.permuteTokens);
  NumberValues scales, scales_out;
  if (p.perTokenScalesOptional.present()) {
    scales = NumberValues(p.perTokenScalesOptional);
    scales_out = NumberValues(p.permutePerTokenScales);
  }
  const IntegerValues counts(p.expertTokenNumPerRank), places(p.permuteTokenIdx),
      totals(p.expertTokenNum);
  const int64_t tokens = p.tokens.dim(0);
  const int64_t ranks = p.expertTokenNumPerRank.dim(0), experts = p.expertTokenNumPerRank.dim(1);
  return {0, [=](const Buffers& buffers) -> Status {
            const std::vector<int64_t> count = counts.Read(buffers);
            Status status = CheckRange("expertTokenNumPerRank", count, 0, tokens + 1);
            if (!status.ok()) return status;
            std::vector<int64_t> first(count.size() + 1), total(static_cast<size_t>(experts)),
                order;
            std::partial_sum(count.begin(), count.end(), first.begin() + 1);
            if (first.back() != tokens) {
              return Status(507035, Concat("expertTokenNumPerRank sum is ", first.back(),
                                           ", expected ", tokens, ", the rows of tokens"));
            }
            for (int64_t expert = 0; expert < experts; ++expert) {
              for (int64_t rank = 0; rank < ranks; ++rank) {
                const auto at = static_cast<size_t>(rank * experts + expert);
                total[static_cast<size_t>(expert)] += count[at];
                for (int64_t i = 0; i < count[at]; ++i) order.push_back(first[at] + i);
              }
            }
            totals.Write(buffers, total);
            places.Write(buffers, order);
            const std::vector<double> scale = scales.Read(buffers);
            const auto width = tokens > 0 ? scale.size() / static_cast<size_t>(tokens) : 0;
            std::vector<double> moved;
            for (const int64_t row : order) {
              const auto begin = scale.begin() + row * static_cast<int64_t>(width);
              moved.insert(moved.end(), begin, begin + static_cast<int64_t>(width));
            }
            scales_out.Write(buffers, moved);
            ParallelRows(tokens, from.width(), [&](int64_t row) {
              to.Take(buffers, from, order[static_cast<size_t>(row)], row);
            });
            return {};
          }};
}

void CheckMoeUpdateExpert(const MoeUpdateExpertParams& p, Checker& checker) {
  checker.Rank(p.expertIds, 2).Rank(p.eplbTable, 2).SameDtype(p.balancedExpertIds, p.expertIds);
  if (!checker.ok()) return;
  const int64_t rows = p.expertIds.dim(0), choices = p.expertIds.dim(1);
  CheckShape(p.balancedExpertIds, {rows, choices}, checker);
  CheckShape(p.balancedActiveMask, {rows, choices}, checker);
  checker.That(p.eplbTable.dim(1) >= 2, [&] {
    return Concat("eplbTable shape is ", ShapeText(p.eplbTable), ", expected 2 columns or more");
  });
  const Tensor &scales = p.expertScalesOptional, &least = p.pruningThresholdOptional;
  checker.That(scales.present() == least.present(), [&] {
    return Concat("pruningThresholdOptional value is ", least.present() ? "a tensor" : "null",
                  ", expected one if expertScalesOptional is one");
  });
  checker.That(!p.activeMaskOptional.present() || scales.present(), [&] {
    return Concat(
        "activeMaskOptional value is a tensor, expected null without"
        " expertScalesOptional");
  });
  if (scales.present() && checker.ok()) {
    CheckShape(scales, {rows, choices}, checker);
    CheckShape(least, least.rank() == 2 ? Shape{1, choices} : Shape{choices}, checker);
    if (p.activeMaskOptional.present()) CheckShape(p.activeMaskOptional, {rows}, checker);
  }
  const bool by_rank = p.balanceMode == 0;
  CheckValue(by_rank || p.balanceMode == 1, "balanceMode", p.balanceMode, checker, "0 or 1");
  CheckValue(!by_rank || p.worldSize >= 2, "worldSize", p.worldSize, checker, "2 or more");
  CheckValue(!by_rank || (p.localRankId >= 0 && p.localRankId < p.worldSize), "localRankId",
             p.localRankId, checker, "0 to ", p.worldSize - 1);
}

Plan PlanMoeUpdateExpert(const MoeUpdateExpertParams& p, const Product&) {
  const IntegerValues ids(p.expertIds), table(p.eplbTable), active(p.activeMaskOptional),
      ids_out(p.balancedExpertIds), mask_out(p.balancedActiveMask);
  const TensorValues<float> scales(p.expertScalesOptional), least(p.pruningThresholdOptional);
  const int64_t choices = p.expertIds.dim(1), experts = p.eplbTable.dim(0),
                columns = p.eplbTable.dim(1), world = p.worldSize, rank = p.localRankId;
  const bool by_rank = p.balanceMode == 0;
  return {0, [=](const Buffers& buffers) -> Status {
            std::vector<int64_t> id = ids.Read(buffers), mask(id.size(), 1);
            const std::vector<int64_t> copies = table.Read(buffers), alive = active.Read(buffers);
            Status status = CheckRange("expertIds", id, 0, experts);
            if (!status.ok()) return status;
            for (size_t i = 0; i < id.size(); ++i) {
              const int64_t* const row = copies.data() + id[i] * columns;
              const auto token = static_cast<int64_t>(i) / choices;
              if (row[0] < 1 || row[0] >= columns) {
                return Status(507035, Concat("eplbTable value ", id[i] * columns, " is ", row[0],
                                             ", expected 1 <= value < ", columns));
              }
              const int64_t ranks_of_one = DivideUp(world, row[0]);
              id[i] = row[1 + (by_rank ? rank / ranks_of_one : token % row[0])];
            }
            ids_out.Write(buffers, id);
            const std::vector<float> scale = scales.Read(buffers), lowest = least.Read(buffers);
            for (size_t i = 0; i < scale.size(); ++i) {
              const size_t column = i % static_cast<size_t>(choices), first = i - column;
              float sum = 0;
              for (size_t j = 0; j < static_cast<size_t>(choices); ++j) sum += scale[first + j];
              const bool lives = alive.empty() || alive[i / static_cast<size_t>(choices)] != 0;
              mask[i] = lives && !(scale[i] < sum * lowest[column]) ? 1 : 0;
            }
            if (!scale.empty()) mask_out.Write(buffers, mask);
            return {};
          }};
}

}  // namespace openaclnn::supporting
