// SPDX-License-Identifier: Apache-2.0
// A call of FlashAttentionScore or FlashAttentionVarLenScore. Its versions and their gradients
// share this code.
#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/attention/attention.h"
#include "supporting/attention/heads.h"
#include "supporting/attention/lengths.h"
#include "supporting/attention/position_shift.h"
#include "supporting/attention/sequences.h"

namespace openaclnn::supporting {

/// Whether a tensor is a rope; it may have no rows. Clients give an empty tensor of one dimension
/// if there is no rope.
inline bool IsRope(const Tensor& tensor) {
  return tensor.present() && (tensor.rank() > 1 || !tensor.empty());
}

/// A call, or the call whose gradient is computed.
struct AttentionCall {
  template <class P>
  explicit AttentionCall(const P& p) : layout(LayoutOf(p.inputLayout)) {
    const Tensor &masking = p.attenMaskOptional, &drops = p.dropMaskOptional;
    q = Heads(p.query, layout, WidthOf(p.query, layout, p.headNum));
    k = Heads(p.key, layout, q.elements);
    v = Heads(p.value, layout, WidthOf(p.value, layout, k.heads));
    roped = IsRope(p.queryRopeOptional) && IsRope(p.keyRopeOptional);
    if (roped) {
      q_rope = Heads(p.queryRopeOptional, layout, WidthOf(p.queryRopeOptional, layout, p.headNum));
      k_rope = Heads(p.keyRopeOptional, layout, q_rope.elements);
    }
    has_sink = IsGiven(p.sinkOptional);
    sight = {.mode = p.sparseMode,
             .before = p.preTokens,
             .after = p.nextTokens,
             .prefix = p.prefixOptional.values()};
    // Without a mask rows see all keys, except in mode 2 without packed sequences.
    sees_all = !IsGiven(masking) && (packed() || p.sparseMode != 2);
    masked = IsGiven(masking) && sight.reads_mask();
    shift = PositionShift(p.shift, p.typed ? p.pseType : PositionShift::kScaled,
                          FirstOf(p.qStartIdxOptional), FirstOf(p.kvStartIdxOptional));
    dropout.keep = p.keepProb;
    dropout.given = IsGiven(drops) && p.keepProb < 1;
    if constexpr (requires { p.seed; }) {
      dropout.drawn = p.seeded && !dropout.given && p.keepProb < 1;
      dropout.key = {static_cast<uint64_t>(p.seed), static_cast<uint64_t>(p.offset)};
    }
  }

  bool packed() const { return IsPacked(layout); }

  /// The sequences of the call. The lists must be checked.
  template <class P>
  std::vector<AttentionSequence> Sequences(const P& p) const {
    return packed() ? Packed(p.actualSeqQLenOptional, p.actualSeqKvLenOptional) : Batches(q, k);
  }

  /// Plans the call. The arguments must be checked.
  template <class P>
  Attention Plan(const P& p) {
    std::vector<AttentionSequence> sequences = Sequences(p);
    if (!sees_all) sight.Set(&sequences);
    if (packed()) AppendRest(q, k, &sequences);
    if (dropout.given || dropout.drawn) dropout.bits = *BitsBefore(sequences, q.heads);
    Attention plan = AttentionOf(q, k, v, p.scaleValue, std::move(sequences));
    if (dropout.given) {
      dropout.bytes = Offsets(p.dropMaskOptional, p.dropMaskOptional.rank());
    }
    plan.dropout = dropout;
    drop = p.dropMaskOptional.place;
    if (masked) mask = ScoreView(p.attenMaskOptional, false);
    plan.mask = mask.lie;
    shift.Set(&plan);
    if (roped) {
      plan.width += q_rope.elements;
      plan.rope_width = q_rope.elements;
      plan.q_rope = q_rope.lie;
      plan.k_rope = k_rope.lie;
    }
    if (has_sink) {
      sink = p.sinkOptional.place;
      plan.sink = {.given = true,
                   .head_step = p.sinkOptional.tensor().strides[0] * BytesOf(p.sinkOptional),
                   .load = LoaderOf<float>(p.sinkOptional.dtype())};
    }
    plan.copies = kAttentionCopies;
    return plan;
  }

  AttentionTensors At(const Buffers& buffers) const {
    return {.q = q.place(buffers),
            .k = k.place(buffers),
            .v = v.place(buffers),
            .q_rope = roped ? q_rope.place(buffers) : nullptr,
            .k_rope = roped ? k_rope.place(buffers) : nullptr,
            .mask = masked ? mask.place(buffers) : nullptr,
            .shift = shift.given ? shift.place(buffers) : nullptr,
            .dropout = dropout.given ? drop(buffers) : nullptr,
            .sink = has_sink ? sink(buffers) : nullptr,
            .out = nullptr,
            .max = nullptr,
            .sum = nullptr};
  }

  /// The shape of largest scores and sums.
  Shape SumsShape() const {
    return packed() ? Shape{q.rows, q.heads, kAttentionCopies}
                    : Shape{q.batches, q.heads, q.rows, kAttentionCopies};
  }
  /// Where the numbers of max or sum lie in a tensor, in any version's layout.
  AttentionHeads Sums(const Tensor& tensor) const {
    return Heads(tensor, packed() ? "TND" : "BNSD", kAttentionCopies).lie;
  }

  std::string_view layout;
  Heads q, k, v, q_rope, k_rope;
  Sight sight{};
  bool sees_all = false, masked = false, roped = false, has_sink = false;
  ScoreView mask;
  PositionShift shift;
  AttentionDropout dropout{};
  Place drop, sink;
};

/// The result's shape, and that of its gradient: query's rows, as wide as those of value.
template <class P>
Shape ResultShape(const P& p, const AttentionCall& call) {
  Shape shape = ShapeOf(p.query);
  shape[shape.size() - 1] = HasWidth(call.layout) ? call.v.elements : p.headNum * call.v.elements;
  return shape;
}

/// Checks that all optional tensors but `tensors` are null, and all lists but `lists` empty.
void CheckNull(const Params& p, std::span<const Tensor* const> tensors,
               std::span<const IntList* const> lists, Checker& checker);

/// Checks the mask and the bits of dropout for these sequences.
void CheckScores(const AttentionCall& call, const Tensor& mask, const Tensor& drops,
                 std::span<const AttentionSequence> sequences, Checker& checker);

template <class P>
void CheckSettings(const P& p, Checker& checker) {
  checker.That(p.keepProb > 0 && p.keepProb <= 1, [&] {
    return Concat("keepProb value is ", p.keepProb, ", expected more than 0, at most 1");
  });
  checker.That(p.headNum > 0,
               [&] { return Concat("headNum value is ", p.headNum, ", expected more than 0"); });
  if (!checker.ok()) return;
  const auto rank = static_cast<uint32_t>(std::string_view(p.inputLayout).size());
  for (const Tensor* tensor : {&p.query, &p.key, &p.value}) {
    checker.Rank(*tensor, rank).SameDtype(*tensor, p.query);
  }
  for (const Tensor* rope : {&p.queryRopeOptional, &p.keyRopeOptional}) {
    if (IsRope(*rope)) checker.Rank(*rope, rank);
  }
  if (IsGiven(p.sinkOptional)) checker.Rank(p.sinkOptional, 1);
  CheckType(p.query, checker);
}

template <class P>
void CheckHeads(const P& p, const AttentionCall& call, Checker& checker) {
  constexpr int64_t kMostBatches = int64_t{1} << 21;  // the vendor's pages: 2M
  const Heads &q = call.q, &k = call.k, &v = call.v;
  CheckWidth(q, checker);
  CheckBatches(p.query, q, kMostBatches, checker);
  checker.That(q.heads == p.headNum, [&] {
    return Concat("query shape is ", ShapeText(p.query), ", expected ", p.headNum, " heads");
  });
  checker.That(k.batches == q.batches && k.heads > 0 && q.heads % k.heads == 0 &&
                   (!HasWidth(call.layout) || p.key.last_dim() == q.elements),
               [&] {
                 return Concat("key shape is ", ShapeText(p.key),
                               ", expected the batches and the width of query's heads, and a ",
                               "number of heads that divides theirs");
               });
  const bool narrow = v.elements > 0 && v.elements <= k.elements;
  checker.That(v.batches == k.batches && v.rows == k.rows && v.heads == k.heads &&
                   (narrow || v.elements == k.elements),
               [&] {
                 return Concat("value shape is ", ShapeText(p.value), ", expected that of key, ",
                               ShapeText(p.key), ", but for a width of heads that may be less");
               });
}

/// Checks the lists of a call, its mask and its dropout.
template <class P>
void CheckSequences(const P& p, const AttentionCall& call, Checker& checker) {
  const IntList &rows = p.actualSeqQLenOptional, &keys = p.actualSeqKvLenOptional;
  if (call.packed()) {
    CheckEnds(rows, p.query, call.q.rows, checker);
    CheckEnds(keys, p.key, call.k.rows, checker);
    CheckSameCount(rows, keys, checker);
  }
  if (!checker.ok()) return;
  const std::vector<AttentionSequence> sequences = call.Sequences(p);
  if (!call.sees_all && call.sight.has_prefix()) {
    CheckPrefix(p.prefixOptional, sequences, checker);
  }
  CheckScores(call, p.attenMaskOptional, p.dropMaskOptional, sequences, checker);
}

/// Checks the ropes of query and key, which come together, and the sink.
template <class P>
void CheckRopeAndSink(const P& p, const AttentionCall& call, Checker& checker) {
  const Tensor &of_query = p.queryRopeOptional, &of_key = p.keyRopeOptional, &sink = p.sinkOptional;
  checker.That(IsRope(of_query) == IsRope(of_key), [&] {
    const auto text = [](const Tensor& rope) { return IsRope(rope) ? "a tensor" : "none"; };
    return Concat(of_key.name(), " value is ", text(of_key), ", expected ", text(of_query),
                  " as of ", of_query.name());
  });
  if (call.has_sink) {
    checker.That(sink.dtype() == ACL_FLOAT, [&] { return DtypeIs(sink, "FLOAT"); });
    CheckShape(sink, {call.q.heads}, checker);
  }
  if (!call.roped || !checker.ok()) return;
  const Heads &q = call.q_rope, &k = call.k_rope;
  checker.SameDtype(of_query, p.query).SameDtype(of_key, p.query);
  const auto fits = [](const Heads& rope, const Heads& of) {
    return rope.batches == of.batches && rope.rows == of.rows && rope.heads == of.heads;
  };
  const bool narrow = q.elements + call.q.elements <= kAttentionWidth;
  checker.That(fits(q, call.q) && narrow, [&] {
    return Concat(of_query.name(), " shape is ", ShapeText(of_query), ", expected that of query, ",
                  ShapeText(p.query), ", but for a width that may differ");
  });
  checker.That(fits(k, call.k) && (!HasWidth(call.layout) || of_key.last_dim() == q.elements), [&] {
    return Concat(of_key.name(), " shape is ", ShapeText(of_key), ", expected that of key, ",
                  ShapeText(p.key), ", with the width of ", of_query.name());
  });
}

/// Checks the addends of the scores (pse).
template <class P>
void CheckShift(const P& p, const AttentionCall& call, Checker& checker) {
  if (!call.shift.given || !checker.ok()) return;
  checker.That(!call.packed() || call.shift.of_slopes(), [&] {
    return Concat(p.shift.name(), " value is a tensor, expected null: with packed sequences it is ",
                  "supported in pseType 2 and 3");
  });
  const auto sequences = static_cast<int64_t>(p.actualSeqQLenOptional.values().size());
  const Shape scores = {call.packed() ? sequences : call.q.batches, call.q.heads, call.q.rows,
                        call.k.rows};
  call.shift.Check(p.shift, scores, checker);
}

/// Whether the layout's parameter says that max and sum lie as their dimensions say.
inline bool LieAsInput(const char* layout) {
  return layout != nullptr && std::string_view(layout) == "same_as_input";
}

/// Checks a call. For a gradient, `forward` are the forward's results.
template <class P>
void CheckCall(const P& p, std::initializer_list<const Tensor*> forward, Checker& checker) {
  std::vector<const Tensor*> tensors = {&p.shift,        &p.dropMaskOptional,  &p.attenMaskOptional,
                                        &p.sinkOptional, &p.queryRopeOptional, &p.keyRopeOptional};
  tensors.insert(tensors.end(), forward);
  const IntList &of_rows = p.qStartIdxOptional, &of_keys = p.kvStartIdxOptional;
  std::vector<const IntList*> lists = {&of_rows, &of_keys};
  const bool packed = IsPacked(LayoutOf(p.inputLayout));
  if (packed || p.sparseMode == 5 || p.sparseMode == 6) lists.push_back(&p.prefixOptional);
  if (packed) lists.insert(lists.end(), {&p.actualSeqQLenOptional, &p.actualSeqKvLenOptional});
  CheckNull(p, tensors, lists, checker);
  checker.That(packed ? p.sparseMode != 5 : p.sparseMode < 7, [&] {
    return Concat("sparseMode value is ", p.sparseMode, ", expected ",
                  packed ? "another one with packed sequences" : "0 to 6 without packed sequences");
  });
  CheckStart(of_rows, checker);
  CheckStart(of_keys, checker);
  CheckSettings(p, checker);
  if (!checker.ok()) return;
  const AttentionCall call(p);
  CheckHeads(p, call, checker);
  CheckSequences(p, call, checker);
  CheckShift(p, call, checker);
  CheckRopeAndSink(p, call, checker);
}

}  // namespace openaclnn::supporting
