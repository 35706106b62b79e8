// SPDX-License-Identifier: Apache-2.0
// Tokens in the order of their experts and back, by lists of choices, with gradients.
#include <algorithm>
#include <vector>

#include "generated/experts.h"
#include "kernels/rows/rows.h"
#include "supporting/experts/routing.h"
#include "supporting/experts/values.h"

namespace openaclnn::supporting {
namespace {

void CheckNotPadded(bool padded, Checker& checker) {
  checker.That(!padded, [&] { return Concat("paddedMode value is true, expected false"); });
}

/// out[token] = the sum of rows[places[token * choices + k]], each times its weight if there are
/// weights; a place behind the rows adds nothing.
struct Gathering {
  TokenRows rows, out;
  int64_t count, tokens, choices;  // of rows that there are

  void operator()(const Buffers& buffers, const std::vector<int64_t>& places,
                  const std::vector<double>& weights) const {
    using Room = std::vector<double>;
    const int64_t width = out.width();
    ParallelRowsIn<Room>(tokens, width * (choices + 1), [&](int64_t token, Room* room) {
      room->assign(static_cast<size_t>(2 * width), 0.0);
      double* const sum = room->data();
      double* const line = sum + width;
      for (int64_t k = token * choices; k < (token + 1) * choices; ++k) {
        const int64_t place = places[static_cast<size_t>(k)];
        if (place >= count) continue;
        const double weight = weights.empty() ? 1 : weights[static_cast<size_t>(k)];
        rows.Load(buffers, place, line);
        for (int64_t i = 0; i < width; ++i) sum[i] += weight * line[i];
      }
      out.Store(buffers, token, sum);
    });
  }
};

int64_t ChoicesOf(const Tensor& indices) { return indices.rank() == 2 ? indices.dim(1) : 1; }

/// A place for each choice of so many tokens.
void CheckPlaces(const Tensor& places, int64_t tokens, int64_t choices, Checker& checker) {
  checker.Rank(places, 1);
  if (!checker.ok()) return;
  const int64_t all = places.dim(0);
  const bool fits = tokens == 0 ? all == 0 : all % tokens == 0 && all / tokens == choices;
  checker.That(fits, [&] {
    return Concat(places.name(), " shape is ", ShapeText(places), ", expected ", choices,
                  " elements for each of ", tokens, " tokens");
  });
}

int64_t ChoicesBeside(const Tensor& probs) { return probs.present() ? probs.last_dim() : 1; }

}  // namespace

void CheckMoeTokenPermute(const MoeTokenPermuteParams& p, Checker& checker) {
  CheckNotPadded(p.paddedMode, checker);
  checker.Rank(p.tokens, 2).RankBetween(p.indices, 1, 2).SameDtype(p.permuteTokensOut, p.tokens);
  if (!checker.ok()) return;
  const int64_t tokens = p.tokens.dim(0), all = tokens * ChoicesOf(p.indices);
  CheckIndexType(p.indices, checker);
  CheckShape(p.indices, p.indices.rank() == 2 ? Shape{tokens, p.indices.dim(1)} : Shape{tokens},
             checker);
  CheckShape(p.sortedIndicesOut, {all}, checker);
  CheckValue(p.numOutTokens >= -all, "numOutTokens", p.numOutTokens, checker, -all, " or more");
  if (!checker.ok()) return;
  const int64_t kept = p.numOutTokens > 0 ? std::min(p.numOutTokens, all) : all + p.numOutTokens;
  CheckShape(p.permuteTokensOut, {kept, p.tokens.dim(1)}, checker);
}

Plan PlanMoeTokenPermute(const MoeTokenPermuteParams& p, const Product&) {
  const IntegerValues indices(p.indices), places(p.sortedIndicesOut);
  const TokenRows from(p.tokens), to(p.permuteTokensOut);
  const int64_t choices = ChoicesOf(p.indices), kept = p.permuteTokensOut.dim(0);
  return {0, [=](const Buffers& buffers) -> Status {
            const std::vector<int64_t> chosen = indices.Read(buffers);
            Status status = CheckRange("indices", chosen, 0, INT32_MAX);
            if (!status.ok()) return status;
            const std::vector<int64_t> order = OrderOf(chosen);
            places.Write(buffers, PlacesOf(order));
            ParallelRows(kept, from.width(), [&](int64_t row) {
              to.Take(buffers, from, order[static_cast<size_t>(row)] / choices, row);
            });
            return {};
          }};
}

void CheckMoeTokenPermuteGrad(const MoeTokenPermuteGradParams& p, Checker& checker) {
  CheckNotPadded(p.paddedMode, checker);
  checker.Rank(p.permutedOutputGrad, 2).Rank(p.out, 2);
  CheckValue(p.numTopk >= 1, "numTopk", p.numTopk, checker, "1 or more");
  if (!checker.ok()) return;
  CheckShape(p.out, {p.out.dim(0), p.permutedOutputGrad.dim(1)}, checker);
  CheckPlaces(p.sortedIndices, p.out.dim(0), p.numTopk, checker);
}

Plan PlanMoeTokenPermuteGrad(const MoeTokenPermuteGradParams& p, const Product&) {
  const Gathering gather = {TokenRows(p.permutedOutputGrad), TokenRows(p.out),
                            p.permutedOutputGrad.dim(0), p.out.dim(0), p.numTopk};
  const IntegerValues places(p.sortedIndices);
  return {0, [=](const Buffers& buffers) -> Status {
            const std::vector<int64_t> place = places.Read(buffers);
            Status status = CheckRange("sortedIndices", place, 0, std::ssize(place));
            if (status.ok()) gather(buffers, place, {});
            return status;
          }};
}

void CheckMoeTokenUnpermute(const MoeTokenUnpermuteParams& p, Checker& checker) {
  CheckNotPadded(p.paddedMode, checker);
  checker.Rank(p.permutedTokens, 2).Rank(p.out, 2).SameDtype(p.out, p.permutedTokens);
  if (!checker.ok()) return;
  const int64_t tokens = p.out.dim(0), choices = ChoicesBeside(p.probsOptional);
  if (p.probsOptional.present()) CheckShape(p.probsOptional, {tokens, choices}, checker);
  CheckShape(p.out, {tokens, p.permutedTokens.dim(1)}, checker);
  if (checker.ok()) CheckPlaces(p.sortedIndices, tokens, choices, checker);
}

Plan PlanMoeTokenUnpermute(const MoeTokenUnpermuteParams& p, const Product&) {
  const Gathering gather = {TokenRows(p.permutedTokens), TokenRows(p.out), p.permutedTokens.dim(0),
                            p.out.dim(0), ChoicesBeside(p.probsOptional)};
  const IntegerValues places(p.sortedIndices);
  const NumberValues probs(p.probsOptional);
  return {0, [=](const Buffers& buffers) -> Status {
            const std::vector<int64_t> place = places.Read(buffers);
            Status status = CheckRange("sortedIndices", place, 0, std::ssize(place));
            if (status.ok()) gather(buffers, place, probs.Read(buffers));
            return status;
          }};
}

void CheckMoeTokenUnpermuteGrad(const MoeTokenUnpermuteGradParams& p, Checker& checker) {
  CheckNotPadded(p.paddedMode, checker);
  checker.Rank(p.unpermutedTokensGrad, 2).Rank(p.permutedTokensGradOut, 2);
  const bool weighed = p.probsOptional.present();
  checker.That(!weighed || p.permuteTokens.present(), ACLNN_ERR_PARAM_NULLPTR, [&] {
    return Concat("permuteTokens value is null, expected a tensor where probsOptional is one");
  });
  checker.That(!weighed || p.probsGradOut.present(), ACLNN_ERR_PARAM_NULLPTR, [&] {
    return Concat("probsGradOut value is null, expected a tensor where probsOptional is one");
  });
  if (!checker.ok()) return;
  const int64_t tokens = p.unpermutedTokensGrad.dim(0), choices = ChoicesBeside(p.probsOptional);
  const int64_t rows = p.permutedTokensGradOut.dim(0), width = p.unpermutedTokensGrad.dim(1);
  CheckShape(p.permutedTokensGradOut, {rows, width}, checker);
  CheckPlaces(p.sortedIndices, tokens, choices, checker);
  if (!weighed) return;
  CheckShape(p.permuteTokens, {rows, width}, checker);
  CheckShape(p.probsOptional, {tokens, choices}, checker);
  CheckShape(p.probsGradOut, {tokens, choices}, checker);
}

Plan PlanMoeTokenUnpermuteGrad(const MoeTokenUnpermuteGradParams& p, const Product&) {
  const bool weighed = p.probsOptional.present();
  const TokenRows grad(p.unpermutedTokensGrad), out(p.permutedTokensGradOut),
      rows(weighed ? p.permuteTokens : NoTensor());
  const IntegerValues places(p.sortedIndices);
  const NumberValues probs(p.probsOptional), probs_out(weighed ? p.probsGradOut : NoTensor());
  const int64_t count = p.permutedTokensGradOut.dim(0), choices = ChoicesBeside(p.probsOptional);
  return {0, [=](const Buffers& buffers) -> Status {
            const std::vector<int64_t> place = places.Read(buffers);
            Status status = CheckRange("sortedIndices", place, 0, std::ssize(place));
            if (!status.ok()) return status;
            const std::vector<double> weights = probs.Read(buffers);
            std::vector<double> products(weights.size());
            std::vector<int64_t> choice_of(static_cast<size_t>(count), -1);
            for (size_t i = 0; i < place.size(); ++i) {
              if (place[i] < count) {
                choice_of[static_cast<size_t>(place[i])] = static_cast<int64_t>(i);
              }
            }
            using Room = std::vector<double>;
            const int64_t width = out.width();
            ParallelRowsIn<Room>(count, 2 * width, [&](int64_t row, Room* room) {
              const int64_t choice = choice_of[static_cast<size_t>(row)];
              if (choice < 0) return out.Clear(buffers, row);
              room->resize(static_cast<size_t>(2 * width));
              double* const dy = room->data();
              grad.Load(buffers, choice / choices, dy);
              if (!weights.empty()) {
                double* const y = dy + width;
                rows.Load(buffers, row, y);
                double product = 0;
                for (int64_t i = 0; i < width; ++i) product += dy[i] * y[i];
                products[static_cast<size_t>(choice)] = product;
                for (int64_t i = 0; i < width; ++i) dy[i] *= weights[static_cast<size_t>(choice)];
              }
              out.Store(buffers, row, dy);
            });
            probs_out.Write(buffers, products);
            return {};
          }};
}

}  // namespace openaclnn::supporting
