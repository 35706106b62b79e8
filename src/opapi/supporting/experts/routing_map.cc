// SPDX-License-Identifier: Apache-2.0
// Tokens in the order of their experts and back, by maps of tokens and experts, with gradients.
#include <algorithm>
#include <vector>

#include "generated/experts.h"
#include "kernels/rows/rows.h"
#include "supporting/experts/routing.h"
#include "supporting/experts/values.h"

namespace openaclnn::supporting {
namespace {

/// A row of the tokens in the order of the experts: which token it is, and of which expert.
struct Entry {
  int64_t token, expert;
};

/// The entries of a map, expert by expert.
std::vector<Entry> EntriesOf(const std::vector<int64_t>& map, int64_t tokens, int64_t experts) {
  std::vector<Entry> entries;
  for (int64_t expert = 0; expert < experts; ++expert) {
    for (int64_t token = 0; token < tokens; ++token) {
      if (map[static_cast<size_t>(token * experts + expert)] != 0) {
        entries.push_back({token, expert});
      }
    }
  }
  return entries;
}

/// So many tokens of each expert: those of the map, then others, both in their order.
std::vector<Entry> PaddedEntriesOf(const std::vector<int64_t>& map, int64_t tokens, int64_t experts,
                                   int64_t capacity) {
  std::vector<Entry> entries;
  for (int64_t expert = 0; expert < experts; ++expert) {
    int64_t left = capacity;
    for (const bool chosen : {true, false}) {
      for (int64_t token = 0; token < tokens && left > 0; ++token) {
        if ((map[static_cast<size_t>(token * experts + expert)] != 0) != chosen) continue;
        entries.push_back({token, expert});
        --left;
      }
    }
  }
  return entries;
}

Status CheckEntries(const char* name, const std::vector<Entry>& entries, int64_t rows) {
  if (std::ssize(entries) == rows) return {};
  return Status(507035,
                Concat(name, " count of chosen experts is ", entries.size(), ", expected ", rows));
}

std::vector<int64_t> TokensOf(const std::vector<Entry>& entries) {
  std::vector<int64_t> tokens;
  for (const Entry& entry : entries) tokens.push_back(entry.token);
  return tokens;
}

size_t At(const Entry& entry, int64_t experts) {
  return static_cast<size_t>(entry.token * experts + entry.expert);
}

/// The entries that a list of tokens, expert by expert, stands for.
std::vector<Entry> EntriesBy(const std::vector<int64_t>& tokens, int64_t experts) {
  const int64_t capacity = std::max<int64_t>(std::ssize(tokens) / std::max<int64_t>(experts, 1), 1);
  std::vector<Entry> entries;
  for (size_t i = 0; i < tokens.size(); ++i) {
    entries.push_back({tokens[i], static_cast<int64_t>(i) / capacity});
  }
  return entries;
}

/// out[entries[i].token] += weights[i] * rows[i], in the order of the rows.
void AddRows(const Buffers& buffers, const TokenRows& rows, const std::vector<int64_t>& tokens,
             const std::vector<double>& weights, const TokenRows& out, int64_t count) {
  std::vector<int64_t> ends(static_cast<size_t>(count) + 1);
  for (const int64_t token : tokens) ++ends[static_cast<size_t>(token) + 1];
  Accumulate(&ends);
  const std::vector<int64_t> order = OrderOf(tokens);
  using Room = std::vector<double>;
  const int64_t width = out.width();
  ParallelRowsIn<Room>(count, 2 * width, [&](int64_t token, Room* room) {
    room->assign(static_cast<size_t>(2 * width), 0.0);
    double* const sum = room->data();
    double* const line = sum + width;
    for (int64_t i = ends[static_cast<size_t>(token)]; i < ends[static_cast<size_t>(token) + 1];
         ++i) {
      const int64_t row = order[static_cast<size_t>(i)];
      const double weight = weights.empty() ? 1 : weights[static_cast<size_t>(row)];
      rows.Load(buffers, row, line);
      for (int64_t j = 0; j < width; ++j) sum[j] += weight * line[j];
    }
    out.Store(buffers, token, sum);
  });
}

void CheckProbabilities(const Tensor& probs, const Tensor& map, const Tensor& out,
                        Checker& checker) {
  if (!probs.present() || !checker.ok()) return;
  CheckShape(probs, ShapeOf(map), checker);
  checker.That(out.present(), ACLNN_ERR_PARAM_NULLPTR, [&] {
    return Concat(out.name(), " value is null, expected a tensor where ", probs.name(), " is one");
  });
}

/// Rows for each expert alike, or choices for each token alike.
void CheckDivides(const char* name, int64_t rows, int64_t parts, Checker& checker) {
  const bool divides = parts > 0 ? rows % parts == 0 : rows == 0;
  checker.That(divides, [&] {
    return Concat(name, " value is ", rows, ", expected a multiple of ", parts);
  });
}

}  // namespace

void CheckMoeTokenPermuteWithRoutingMap(const MoeTokenPermuteWithRoutingMapParams& p,
                                        Checker& checker) {
  checker.Rank(p.tokens, 2).Rank(p.routingMap, 2).SameDtype(p.permuteTokensOut, p.tokens);
  if (!checker.ok()) return;
  const int64_t tokens = p.tokens.dim(0), experts = p.routingMap.dim(1);
  CheckShape(p.routingMap, {tokens, experts}, checker);
  const int64_t parts = p.dropAndPad ? experts : tokens;
  CheckValue(p.numOutTokens >= 0, "numOutTokens", p.numOutTokens, checker, "0 or more");
  if (!checker.ok()) return;
  const int64_t rows = parts > 0 ? p.numOutTokens / parts * parts : 0;
  CheckValue(!p.dropAndPad || rows <= tokens * experts, "numOutTokens", p.numOutTokens, checker,
             "at most ", tokens * experts, ", each token for each expert");
  CheckShape(p.permuteTokensOut, {rows, p.tokens.dim(1)}, checker);
  CheckShape(p.sortedIndicesOut, {rows}, checker);
  CheckProbabilities(p.probsOptional, p.routingMap, p.permuteProbsOutOptional, checker);
  if (!p.probsOptional.present() || !checker.ok()) return;
  CheckShape(p.permuteProbsOutOptional, {rows}, checker);
}

Plan PlanMoeTokenPermuteWithRoutingMap(const MoeTokenPermuteWithRoutingMapParams& p,
                                       const Product&) {
  const TokenRows from(p.tokens), to(p.permuteTokensOut);
  const IntegerValues map(p.routingMap), places(p.sortedIndicesOut);
  const NumberValues probs(p.probsOptional),
      probs_out(p.probsOptional.present() ? p.permuteProbsOutOptional : NoTensor());
  const int64_t tokens = p.tokens.dim(0), experts = p.routingMap.dim(1),
                rows = p.permuteTokensOut.dim(0);
  const bool pads = p.dropAndPad;
  return {0, [=](const Buffers& buffers) -> Status {
            const std::vector<int64_t> chosen = map.Read(buffers);
            const std::vector<Entry> entries =
                pads ? PaddedEntriesOf(chosen, tokens, experts, experts > 0 ? rows / experts : 0)
                     : EntriesOf(chosen, tokens, experts);
            Status status = CheckEntries("routingMap", entries, rows);
            if (!status.ok()) return status;
            const std::vector<int64_t> listed = TokensOf(entries);
            places.Write(buffers, pads ? listed : OrderOf(listed));
            const std::vector<double> weights = probs.Read(buffers);
            std::vector<double> moved;
            if (!weights.empty()) {
              for (const Entry& entry : entries) moved.push_back(weights[At(entry, experts)]);
            }
            probs_out.Write(buffers, moved);
            ParallelRows(rows, from.width(), [&](int64_t row) {
              to.Take(buffers, from, listed[static_cast<size_t>(row)], row);
            });
            return {};
          }};
}

void CheckMoeTokenPermuteWithRoutingMapGrad(const MoeTokenPermuteWithRoutingMapGradParams& p,
                                            Checker& checker) {
  const Tensor& grad = p.permutedTokenOutputGrad;
  checker.Rank(grad, 2).Rank(p.routingMapOptional, 2);
  if (!checker.ok()) return;
  const int64_t rows = grad.dim(0);
  CheckShape(p.routingMapOptional, {p.tokensNum, p.numExperts}, checker);
  CheckShape(p.sortedIndices, {rows}, checker);
  CheckShape(p.tokensGradOut, {p.tokensNum, grad.dim(1)}, checker);
  CheckDivides("permutedTokenOutputGrad rows", rows, p.dropAndPad ? p.numExperts : p.tokensNum,
               checker);
  if (!p.permutedProbsOutputGradOptional.present() || !checker.ok()) return;
  CheckShape(p.permutedProbsOutputGradOptional, {rows}, checker);
  CheckProbabilities(p.probsGradOutOptional, p.routingMapOptional, p.probsGradOutOptional, checker);
}

Plan PlanMoeTokenPermuteWithRoutingMapGrad(const MoeTokenPermuteWithRoutingMapGradParams& p,
                                           const Product&) {
  const bool weighed =
      p.permutedProbsOutputGradOptional.present() && p.probsGradOutOptional.present();
  const TokenRows grad(p.permutedTokenOutputGrad), out(p.tokensGradOut);
  const IntegerValues map(p.routingMapOptional), places(p.sortedIndices);
  const NumberValues probs(weighed ? p.permutedProbsOutputGradOptional : NoTensor()),
      probs_out(weighed ? p.probsGradOutOptional : NoTensor());
  const int64_t tokens = p.tokensNum, experts = p.numExperts,
                rows = p.permutedTokenOutputGrad.dim(0);
  const bool pads = p.dropAndPad;
  return {0, [=](const Buffers& buffers) -> Status {
            const std::vector<int64_t> place = places.Read(buffers);
            Status status = CheckRange("sortedIndices", place, 0, pads ? tokens : rows);
            if (!status.ok()) return status;
            std::vector<Entry> entries;
            if (pads) {
              entries = EntriesBy(place, experts);
            } else if (weighed) {
              entries = EntriesOf(map.Read(buffers), tokens, experts);
              status = CheckEntries("routingMapOptional", entries, rows);
              if (!status.ok()) return status;
            }
            std::vector<int64_t> token_of(static_cast<size_t>(rows));
            for (size_t i = 0; i < place.size(); ++i) {
              const auto each = static_cast<int64_t>(i);
              if (pads) token_of[i] = place[i];
              if (!pads) token_of[static_cast<size_t>(place[i])] = each / (rows / tokens);
            }
            AddRows(buffers, grad, token_of, {}, out, tokens);
            if (!weighed) return {};
            const std::vector<double> given = probs.Read(buffers);
            std::vector<double> spread(static_cast<size_t>(tokens * experts));
            for (size_t i = 0; i < entries.size(); ++i) spread[At(entries[i], experts)] += given[i];
            probs_out.Write(buffers, spread);
            return {};
          }};
}

void CheckMoeTokenUnpermuteWithRoutingMap(const MoeTokenUnpermuteWithRoutingMapParams& p,
                                          Checker& checker) {
  const Tensor &map = p.routingMapOptional, &rows = p.permutedTokens;
  checker.Rank(rows, 2).Rank(p.unpermutedTokens, 2).SameDtype(p.unpermutedTokens, rows);
  const bool needs_map = p.probsOptional.present() && !p.paddedMode;
  checker.That(!needs_map || map.present(), ACLNN_ERR_PARAM_NULLPTR, [&] {
    return Concat("routingMapOptional value is null, expected a tensor where probsOptional is one");
  });
  if (!checker.ok()) return;
  const int64_t tokens = p.unpermutedTokens.dim(0), count = rows.dim(0);
  CheckShape(p.unpermutedTokens, {tokens, rows.dim(1)}, checker);
  CheckShape(p.sortedIndices, {count}, checker);
  if (map.present()) CheckShape(map, {tokens, map.last_dim()}, checker);
  if (p.paddedMode) {
    CheckShape(p.outIndex, {count}, checker);
    CheckShape(p.permuteTokenId, {count}, checker);
  } else {
    CheckDivides("permutedTokens rows", count, tokens, checker);
  }
  if (!p.probsOptional.present() || !checker.ok()) return;
  const Tensor& probs = p.probsOptional;
  CheckShape(probs, {tokens, probs.last_dim()}, checker);
  if (!p.paddedMode) CheckShape(probs, ShapeOf(map), checker);
  if (p.paddedMode) CheckDivides("permutedTokens rows", count, probs.last_dim(), checker);
  CheckProbabilities(probs, probs, p.permuteProbs, checker);
  if (checker.ok()) CheckShape(p.permuteProbs, {count}, checker);
}

Plan PlanMoeTokenUnpermuteWithRoutingMap(const MoeTokenUnpermuteWithRoutingMapParams& p,
                                         const Product&) {
  const bool weighed = p.probsOptional.present(), pads = p.paddedMode;
  const TokenRows rows(p.permutedTokens), out(p.unpermutedTokens);
  const IntegerValues places(p.sortedIndices), index(pads ? p.outIndex : NoTensor()),
      ids(pads ? p.permuteTokenId : NoTensor()),
      map(weighed && !pads ? p.routingMapOptional : NoTensor());
  const NumberValues probs(p.probsOptional), probs_out(weighed ? p.permuteProbs : NoTensor());
  const int64_t tokens = p.unpermutedTokens.dim(0), count = p.permutedTokens.dim(0),
                experts = weighed ? p.probsOptional.last_dim() : 0;
  return {0, [=](const Buffers& buffers) -> Status {
            const std::vector<int64_t> place = places.Read(buffers);
            Status status = CheckRange("sortedIndices", place, 0, pads ? tokens : count);
            if (!status.ok()) return status;
            std::vector<int64_t> token_of = place;
            for (size_t i = 0; !pads && i < place.size(); ++i) {
              token_of[static_cast<size_t>(place[i])] = static_cast<int64_t>(i) / (count / tokens);
            }
            std::vector<double> weights;
            if (weighed) {
              const std::vector<double> given = probs.Read(buffers);
              const std::vector<Entry> entries =
                  pads ? EntriesBy(place, experts) : EntriesOf(map.Read(buffers), tokens, experts);
              status = CheckEntries("routingMapOptional", entries, count);
              if (!status.ok()) return status;
              for (const Entry& entry : entries) weights.push_back(given[At(entry, experts)]);
              probs_out.Write(buffers, weights);
            }
            if (pads) {
              const std::vector<int64_t> order = OrderOf(place);
              std::vector<int64_t> sorted;
              for (const int64_t row : order) sorted.push_back(place[static_cast<size_t>(row)]);
              index.Write(buffers, order);
              ids.Write(buffers, sorted);
            }
            AddRows(buffers, rows, token_of, weights, out, tokens);
            return {};
          }};
}

void CheckMoeTokenUnpermuteWithRoutingMapGrad(const MoeTokenUnpermuteWithRoutingMapGradParams& p,
                                              Checker& checker) {
  const Tensor &grad = p.unpermutedTokensGrad, &out = p.permutedTokensGradOut;
  checker.Rank(grad, 2).Rank(out, 2).Rank(p.outIndex, 1);
  const bool weighed = p.probsOptional.present();
  for (const Tensor* tensor : {&p.permutedTokensOptional, &p.probsGradOutOptional}) {
    checker.That(!weighed || tensor->present(), ACLNN_ERR_PARAM_NULLPTR, [&] {
      return Concat(tensor->name(), " value is null, expected a tensor where probsOptional is one");
    });
  }
  const bool needs_map = weighed && !p.paddedMode;
  checker.That(!needs_map || p.routingMapOptional.present(), ACLNN_ERR_PARAM_NULLPTR, [&] {
    return Concat("routingMapOptional value is null, expected a tensor where probsOptional is one");
  });
  if (!checker.ok()) return;
  const int64_t tokens = grad.dim(0), count = p.outIndex.dim(0);
  CheckShape(out, {count, grad.dim(1)}, checker);
  if (p.paddedMode) CheckShape(p.permuteTokenId, {count}, checker);
  if (!p.paddedMode) CheckDivides("outIndex size", count, tokens, checker);
  if (!weighed || !checker.ok()) return;
  const Tensor& probs = p.probsOptional;
  CheckShape(p.permutedTokensOptional, ShapeOf(out), checker);
  CheckShape(probs, {tokens, probs.last_dim()}, checker);
  CheckShape(p.probsGradOutOptional, ShapeOf(probs), checker);
  if (needs_map) CheckShape(p.routingMapOptional, ShapeOf(probs), checker);
  if (p.paddedMode) CheckDivides("outIndex size", count, probs.last_dim(), checker);
}

Plan PlanMoeTokenUnpermuteWithRoutingMapGrad(const MoeTokenUnpermuteWithRoutingMapGradParams& p,
                                             const Product&) {
  const bool weighed = p.probsOptional.present(), pads = p.paddedMode;
  const TokenRows grad(p.unpermutedTokensGrad), out(p.permutedTokensGradOut),
      rows(weighed ? p.permutedTokensOptional : NoTensor());
  const IntegerValues index(p.outIndex), ids(pads ? p.permuteTokenId : NoTensor()),
      map(weighed && !pads ? p.routingMapOptional : NoTensor());
  const NumberValues probs(p.probsOptional),
      probs_out(weighed ? p.probsGradOutOptional : NoTensor());
  const int64_t tokens = p.unpermutedTokensGrad.dim(0), count = p.outIndex.dim(0),
                experts = weighed ? p.probsOptional.last_dim() : 0;
  return {0, [=](const Buffers& buffers) -> Status {
            const std::vector<int64_t> place = index.Read(buffers), id = ids.Read(buffers);
            Status status = CheckRange("outIndex", place, 0, count);
            if (status.ok()) status = CheckRange("permuteTokenId", id, 0, tokens);
            if (!status.ok()) return status;
            std::vector<int64_t> token_of(static_cast<size_t>(count), -1);
            for (size_t i = 0; i < place.size(); ++i) {
              token_of[static_cast<size_t>(place[i])] =
                  pads ? id[i] : static_cast<int64_t>(i) / (count / tokens);
            }
            std::vector<Entry> entries;
            if (weighed) {
              entries = pads ? EntriesBy(token_of, experts)
                             : EntriesOf(map.Read(buffers), tokens, experts);
              status = CheckEntries("routingMapOptional", entries, count);
              if (!status.ok()) return status;
            }
            const std::vector<double> given = probs.Read(buffers);
            std::vector<double> products(static_cast<size_t>(count));
            using Room = std::vector<double>;
            const int64_t width = out.width();
            ParallelRowsIn<Room>(count, 2 * width, [&](int64_t row, Room* room) {
              const auto at = static_cast<size_t>(row);
              if (token_of[at] < 0) return out.Clear(buffers, row);
              room->resize(static_cast<size_t>(2 * width));
              double* const dy = room->data();
              grad.Load(buffers, token_of[at], dy);
              if (weighed) {
                double* const y = dy + width;
                rows.Load(buffers, row, y);
                for (int64_t i = 0; i < width; ++i) products[at] += dy[i] * y[i];
                for (int64_t i = 0; i < width; ++i) dy[i] *= given[At(entries[at], experts)];
              }
              out.Store(buffers, row, dy);
            });
            if (!weighed) return {};
            std::vector<double> spread(given.size());
            for (size_t i = 0; i < entries.size(); ++i) {
              if (token_of[i] >= 0) spread[At(entries[i], experts)] += products[i];
            }
            probs_out.Write(buffers, spread);
            return {};
          }};
}

}  // namespace openaclnn::supporting
