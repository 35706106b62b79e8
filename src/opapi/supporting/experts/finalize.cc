// SPDX-License-Identifier: Apache-2.0
// Sums, for each token, of the rows that experts made of it, times their weights.
#include <algorithm>
#include <vector>

#include "generated/experts.h"
#include "kernels/rows/rows.h"
#include "supporting/experts/values.h"

namespace openaclnn::supporting {
namespace {

/// A call of either version.
struct Finish {
  const Tensor &rows, &x1, &x2, &bias, &scales, &places, &experts, &out;
  bool drops, by_token;

  int64_t tokens() const { return out.dim(0); }
  int64_t choices() const {
    if (scales.present()) return scales.last_dim();
    return tokens() > 0 ? places.dim(0) / tokens() : 1;
  }
};

Finish FinishOf(const MoeFinalizeRoutingParams& p) {
  return {p.expandedX,         p.x1,  p.x2Optional, p.bias, p.scales, p.expandedRowIdx,
          p.expandedExpertIdx, p.out, false,        false};
}

/// Modes 1 and 3 drop choices; 2 and 3 have the places of a token side by side, the others those of
/// all first choices, then those of all second ones.
Finish FinishOf(const MoeFinalizeRoutingV2Params& p) {
  return {p.expandedX,
          p.x1Optional,
          p.x2Optional,
          p.biasOptional,
          p.scalesOptional,
          p.expandedRowIdx,
          p.expertIdxOptional,
          p.out,
          p.dropPadMode == 1 || p.dropPadMode == 3,
          p.dropPadMode >= 2};
}

void CheckFinish(const Finish& p, Checker& checker) {
  checker.Rank(p.rows, p.drops ? 3 : 2).Rank(p.out, 2).Rank(p.places, 1);
  checker.That(p.x1.present() || !p.x2.present(), [&] {
    return Concat(p.x2.name(), " value is a tensor, expected null where ", p.x1.name(), " is null");
  });
  for (const Tensor* tensor : {&p.x1, &p.x2, &p.bias, &p.scales, &p.out}) {
    if (tensor->present()) checker.SameDtype(*tensor, p.rows);
  }
  if (!checker.ok()) return;
  if (p.scales.present()) checker.Rank(p.scales, 2);
  if (!checker.ok()) return;
  const int64_t width = p.rows.last_dim(), tokens = p.tokens(), choices = p.choices();
  CheckShape(p.out, {tokens, width}, checker);
  CheckShape(p.places, {tokens * choices}, checker);
  for (const Tensor* tensor : {&p.x1, &p.x2}) {
    if (tensor->present()) CheckShape(*tensor, {tokens, width}, checker);
  }
  if (p.scales.present()) CheckShape(p.scales, {tokens, choices}, checker);
  checker.That(!p.bias.present() || p.experts.present(), ACLNN_ERR_PARAM_NULLPTR, [&] {
    return Concat(p.experts.name(), " value is null, expected a tensor where ", p.bias.name(),
                  " is one");
  });
  if (p.bias.present() && checker.ok()) {
    checker.Rank(p.bias, 2);
    if (checker.ok()) CheckShape(p.bias, {p.bias.dim(0), width}, checker);
    CheckShape(p.experts, {tokens, choices}, checker);
  }
}

Plan MakeFinish(const Finish& p) {
  const TokenRows rows(p.rows), x1(p.x1), x2(p.x2), bias(p.bias), out(p.out);
  const NumberValues scales(p.scales);
  const IntegerValues places(p.places), experts(p.bias.present() ? p.experts : NoTensor());
  const int64_t tokens = p.tokens(), choices = p.choices(), width = p.rows.last_dim();
  const int64_t made = width > 0 ? *p.rows.count() / width : 0;
  const int64_t known = p.bias.present() ? p.bias.dim(0) : 0, least = p.drops ? -1 : 0;
  const bool by_token = p.by_token;
  const char *const places_name = p.places.name(), *const experts_name = p.experts.name();
  return {0, [=](const Buffers& buffers) -> Status {
            if (width == 0) return {};
            const std::vector<int64_t> place = places.Read(buffers), expert = experts.Read(buffers);
            Status status = CheckRange(places_name, place, least, made);
            if (status.ok()) status = CheckRange(experts_name, expert, 0, known);
            if (!status.ok()) return status;
            const std::vector<double> scale = scales.Read(buffers);
            using Room = std::vector<double>;
            ParallelRowsIn<Room>(tokens, width * (choices + 1), [&](int64_t token, Room* room) {
              room->assign(static_cast<size_t>(2 * width), 0.0);
              double* const sum = room->data();
              double* const line = sum + width;
              const auto add = [&](const TokenRows& tensor, int64_t row, double factor) {
                tensor.Load(buffers, row, line);
                for (int64_t i = 0; i < width; ++i) sum[i] += factor * line[i];
              };
              if (x1.present()) add(x1, token, 1);
              if (x2.present()) add(x2, token, 1);
              for (int64_t k = 0; k < choices; ++k) {
                const auto choice = static_cast<size_t>(token * choices + k);
                const auto at = by_token ? choice : static_cast<size_t>(k * tokens + token);
                const double factor = scale.empty() ? 1 : scale[choice];
                if (place[at] >= 0) add(rows, place[at], factor);
                if (bias.present()) add(bias, expert[choice], factor);
              }
              out.Store(buffers, token, sum);
            });
            return {};
          }};
}

}  // namespace

void CheckMoeFinalizeRouting(const MoeFinalizeRoutingParams& p, Checker& checker) {
  CheckFinish(FinishOf(p), checker);
}

Plan PlanMoeFinalizeRouting(const MoeFinalizeRoutingParams& p, const Product&) {
  return MakeFinish(FinishOf(p));
}

void CheckMoeFinalizeRoutingV2(const MoeFinalizeRoutingV2Params& p, Checker& checker) {
  CheckValue(p.dropPadMode >= 0 && p.dropPadMode <= 3, "dropPadMode", p.dropPadMode, checker,
             "0 to 3");
  if (checker.ok()) CheckFinish(FinishOf(p), checker);
}

Plan PlanMoeFinalizeRoutingV2(const MoeFinalizeRoutingV2Params& p, const Product&) {
  return MakeFinish(FinishOf(p));
}

}  // namespace openaclnn::supporting
