// SPDX-License-Identifier: Apache-2.0
// The gated delta rule of linear attention: a state for each head, from which old values of a key
// are taken out before new ones go in. In double; a state is rounded where it is stored.
#include <cmath>
#include <vector>

#include "generated/activation.h"
#include "kernels/rows/rows.h"
#include "supporting/elements.h"

namespace openaclnn::supporting {
namespace {

using Doubles = std::vector<double>;

/// The operands that both forms have; what is absent is 0, beta 1.
struct Rule {
  template <class P>
  explicit Rule(const P& p)
      : query(p.query, 0),
        key(p.key, 0),
        value(p.value, 0),
        beta(p.beta, 1),
        decay(p.g, 0),
        out(p.out, 0),
        key_heads(p.key.dim(1)),
        heads(p.value.dim(1)),
        key_width(p.key.dim(2)),
        width(p.value.dim(2)),
        scale(p.scale) {}

  int64_t state_size() const { return width * key_width; }

  /// One token of one head: changes the state and writes the result.
  void Step(const Buffers& buffers, int64_t token, int64_t head, const Elements& decays,
            Doubles* state) const {
    const int64_t row = token * heads + head;
    const int64_t keys = (token * key_heads + head / (heads / key_heads)) * key_width;
    Doubles k(static_cast<size_t>(key_width)), q(k.size()), shrink(k.size());
    const double all = std::exp(decay.Get(buffers, row));
    for (int64_t i = 0; i < key_width; ++i) {
      const auto at = static_cast<size_t>(i);
      k[at] = key.Get(buffers, keys + i);
      q[at] = query.Get(buffers, keys + i) * scale;
      shrink[at] = all * std::exp(decays.Get(buffers, row * key_width + i));
    }
    const double strength = beta.Get(buffers, row);
    for (int64_t v = 0; v < width; ++v) {
      double* const line = state->data() + v * key_width;
      double held = 0, result = 0;
      for (size_t i = 0; i < k.size(); ++i) {
        line[i] *= shrink[i];
        held += line[i] * k[i];
      }
      const double change = strength * (value.Get(buffers, row * width + v) - held);
      for (size_t i = 0; i < k.size(); ++i) {
        line[i] += change * k[i];
        result += line[i] * q[i];
      }
      out.Set(buffers, row * width + v, result);
    }
  }

  Doubles StateOf(const Elements& states, const Buffers& buffers, int64_t number) const {
    Doubles state(static_cast<size_t>(state_size()));
    for (int64_t i = 0; i < state_size(); ++i) {
      state[static_cast<size_t>(i)] = states.Get(buffers, number * state_size() + i);
    }
    return state;
  }

  Elements query, key, value, beta, decay, out;
  int64_t key_heads, heads, key_width, width;
  double scale;
};

/// Checks what both forms have: tokens (T, heads, width).
template <class P>
void CheckRule(const P& p, Checker& checker) {
  const Tensor &key = p.key, &value = p.value;
  checker.Rank(p.query, 3).Rank(key, 3).Rank(value, 3).NotEmpty(key).NotEmpty(value);
  checker.Rank(p.actualSeqLengths, 1);
  const auto whole = [&](const Tensor& each) {
    checker.That(each.dtype() == ACL_INT32, [&] { return DtypeIs(each, "INT32"); });
  };
  whole(p.actualSeqLengths);
  if (!checker.ok()) return;
  const int64_t tokens = value.dim(0), heads = value.dim(1);
  CheckShape(key, {tokens, key.dim(1), key.dim(2)}, checker);
  CheckShape(p.query, ShapeOf(key), checker);
  checker.That(heads % key.dim(1) == 0, [&] {
    return Concat("value shape is ", ShapeText(value), ", expected a multiple of key's heads, ",
                  key.dim(1));
  });
  for (const Tensor* each : {&p.beta, &p.g}) {
    if (each->present()) CheckShape(*each, {tokens, heads}, checker);
  }
  CheckShape(p.out, ShapeOf(value), checker);
}

/// The tokens where sequences begin, and where the last one ends. 507035 for lengths below `least`,
/// or that are not those of all tokens.
Status ReadLengths(const Elements& lengths, const Buffers& buffers, int64_t tokens,
                   std::vector<int64_t>* begins) {
  begins->assign(1, 0);
  for (const int64_t length : lengths.AllWhole(buffers)) {
    if (length < 0 || length > tokens - begins->back()) {
      return Status(
          507035, Concat("actualSeqLengths value is ", length,
                         ", expected at most the tokens that are left, ", tokens - begins->back()));
    }
    begins->push_back(begins->back() + length);
  }
  if (begins->back() == tokens) return {};
  return Status(507035, Concat("actualSeqLengths sum is ", begins->back(), ", expected ", tokens,
                               ", the tokens of value"));
}

}  // namespace

void CheckChunkDeltaRule(const ChunkDeltaRuleParams& p, Checker& checker) {
  CheckRule(p, checker);
  if (!checker.ok()) return;
  const Shape states = {p.actualSeqLengths.dim(0), p.value.dim(1), p.value.dim(2), p.key.dim(2)};
  if (p.initialState.present()) CheckShape(p.initialState, states, checker);
  CheckShape(p.finalState, states, checker);
}

Plan PlanChunkDeltaRule(const ChunkDeltaRuleParams& p, const Product&) {
  const Rule rule(p);
  const Elements first(p.initialState, 0), last(p.finalState, 0), lengths(p.actualSeqLengths, 0);
  const int64_t tokens = p.value.dim(0);
  return {0, [=](const Buffers& buffers) -> Status {
            std::vector<int64_t> begins;
            Status status = ReadLengths(lengths, buffers, tokens, &begins);
            if (!status.ok()) return status;
            const auto count = static_cast<int64_t>(begins.size()) - 1;
            const Elements none(NoTensor(), 0);
            ParallelRows(count * rule.heads, tokens * rule.state_size(), [&](int64_t number) {
              const auto sequence = static_cast<size_t>(number / rule.heads);
              Doubles state = rule.StateOf(first, buffers, number);
              for (int64_t token = begins[sequence]; token < begins[sequence + 1]; ++token) {
                rule.Step(buffers, token, number % rule.heads, none, &state);
              }
              last.SetRun(buffers, number * rule.state_size(), state.data(), rule.state_size());
            });
            return {};
          }};
}

void CheckRecurrentDeltaRule(const RecurrentDeltaRuleParams& p, Checker& checker) {
  CheckRule(p, checker);
  if (!checker.ok()) return;
  const int64_t tokens = p.value.dim(0), heads = p.value.dim(1);
  checker.Rank(p.stateRef, 4);
  for (const Tensor* each : {&p.ssmStateIndices, &p.numAcceptedTokens}) {
    if (!each->present()) continue;
    checker.That(each->dtype() == ACL_INT32, [&] { return DtypeIs(*each, "INT32"); });
  }
  if (!checker.ok()) return;
  CheckShape(p.stateRef, {p.stateRef.dim(0), heads, p.value.dim(2), p.key.dim(2)}, checker);
  CheckShape(p.ssmStateIndices, {tokens}, checker);
  if (p.gk.present()) CheckShape(p.gk, {tokens, heads, p.key.dim(2)}, checker);
  if (p.numAcceptedTokens.present()) {
    CheckShape(p.numAcceptedTokens, {p.actualSeqLengths.dim(0)}, checker);
  }
}

// A sequence begins with the state of the last token that was accepted, and each token has a place
// for the state after it.
Plan PlanRecurrentDeltaRule(const RecurrentDeltaRuleParams& p, const Product&) {
  const Rule rule(p);
  const Elements states(p.stateRef, 0), decays(p.gk, 0), lengths(p.actualSeqLengths, 0),
      indices(p.ssmStateIndices, 0), accepted(p.numAcceptedTokens, 1);
  const int64_t tokens = p.value.dim(0), blocks = p.stateRef.dim(0);
  return {
      0, [=](const Buffers& buffers) -> Status {
        std::vector<int64_t> begins;
        Status status = ReadLengths(lengths, buffers, tokens, &begins);
        if (!status.ok()) return status;
        const std::vector<int64_t> places = indices.AllWhole(buffers);
        for (const int64_t place : places) {
          if (place >= 0 && place < blocks) continue;
          return Status(507035,
                        Concat("ssmStateIndices value is ", place, ", expected 0 to ", blocks - 1));
        }
        std::vector<int64_t> starts;
        for (size_t i = 0; i + 1 < begins.size(); ++i) {
          const auto count = static_cast<int64_t>(accepted.Get(buffers, static_cast<int64_t>(i)));
          const int64_t length = begins[i + 1] - begins[i];
          if (length > 0 && (count < 1 || count > length)) {
            return Status(507035,
                          Concat("numAcceptedTokens value is ", count, ", expected 1 to ", length));
          }
          starts.push_back(length > 0 ? places[static_cast<size_t>(begins[i] + count - 1)] : 0);
        }
        // Heads are apart; sequences follow each other, since their places may be the same.
        ParallelRows(rule.heads, tokens * rule.state_size(), [&](int64_t head) {
          for (size_t i = 0; i < starts.size(); ++i) {
            Doubles state = rule.StateOf(states, buffers, starts[i] * rule.heads + head);
            for (int64_t token = begins[i]; token < begins[i + 1]; ++token) {
              rule.Step(buffers, token, head, decays, &state);
              const int64_t to = places[static_cast<size_t>(token)] * rule.heads + head;
              states.SetRun(buffers, to * rule.state_size(), state.data(), rule.state_size());
            }
          }
        });
        return {};
      }};
}

}  // namespace openaclnn::supporting
