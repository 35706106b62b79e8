// SPDX-License-Identifier: Apache-2.0
// FlashAttentionScore and its gradient: out = dropout(softmax(scale * q k^T, masked)) v for each
// head; a head of k and v may serve several of q. kernels/attention.h computes them.
#include "generated/attention.h"

#include <algorithm>
#include <utility>

#include "kernels/attention.h"
#include "kernels/scratch.h"
#include "supporting/attention/heads.h"

namespace openaclnn::supporting {
namespace {

constexpr int64_t kCopies = 8;  // of each maximum and sum, as the API has them

/// Elements of a row of a head, of which there are so many.
int64_t WidthOf(const Tensor& tensor, std::string_view layout, int64_t heads) {
  if (layout.size() == 4) return tensor.dim(static_cast<uint32_t>(layout.find('D')));
  return heads == 0 ? 0 : tensor.last_dim() / heads;
}

/// A call, or that of which a gradient is asked for.
struct Call {
  template <class P>
  explicit Call(const P& p) : layout(LayoutOf(p.inputLayout)), causal(p.sparseMode == 2) {
    const Tensor &masking = p.attenMaskOptional, &drops = p.dropMaskOptional;
    q = Heads(p.query, layout, WidthOf(p.query, layout, p.headNum));
    k = Heads(p.key, layout, q.elements);
    v = Heads(p.value, layout, WidthOf(p.value, layout, k.heads));
    masked = !causal && masking.present() && !masking.empty();
    dropout.keep = p.keepProb;
    dropout.given = drops.present() && !drops.empty() && p.keepProb < 1;
    dropout.drawn = p.seeded && !dropout.given && p.keepProb < 1;
    dropout.key = {static_cast<uint64_t>(p.seed), static_cast<uint64_t>(p.offset)};
  }

  /// Of arguments that are checked.
  template <class P>
  Attention Plan(const P& p) {
    Attention plan = AttentionOf(q, k, v, p.scaleValue);
    dropout.bits = plan.dropout.bits;
    if (dropout.given) {
      dropout.bytes = Offsets(p.dropMaskOptional, p.dropMaskOptional.rank());
    }
    plan.dropout = dropout;
    drop = p.dropMaskOptional.place;
    if (causal) SetWindow(INT64_MAX, 0, &plan);
    if (masked) {
      mask = ScoreView(p.attenMaskOptional, false);
      // In mode 1 the mask alone counts.
      if (p.sparseMode == 0) SetWindow(p.preTokens, p.nextTokens, &plan);
    }
    plan.mask = mask.lie;
    plan.copies = kCopies;
    return plan;
  }

  AttentionTensors At(const Buffers& buffers) const {
    return {.q = q.place(buffers),
            .k = k.place(buffers),
            .v = v.place(buffers),
            .mask = masked ? mask.place(buffers) : nullptr,
            .shift = nullptr,
            .dropout = dropout.given ? drop(buffers) : nullptr,
            .out = nullptr,
            .max = nullptr,
            .sum = nullptr};
  }

  std::string_view layout;
  bool causal, masked = false;
  Heads q, k, v;
  ScoreView mask;
  AttentionDropout dropout{};
  Place drop;
};

/// The result's shape, and that of its gradient: query's rows, as wide as those of value.
template <class P>
Shape ResultShape(const P& p, const Call& call) {
  Shape shape = ShapeOf(p.query);
  const bool apart = call.layout.size() == 4;
  shape[shape.size() - 1] = apart ? call.v.elements : p.headNum * call.v.elements;
  return shape;
}

/// Of tensors that may be null, all but some must be; so must all lists.
void CheckNull(const Params& p, std::initializer_list<const Tensor*> supported, Checker& checker) {
  for (const Tensor& tensor : p.tensors) {
    const bool left_out = !tensor.present() || tensor.empty();
    if (!tensor.optional || tensor.role() == OPENACLNN_OUTPUT || left_out) continue;
    const bool fine = std::find(supported.begin(), supported.end(), &tensor) != supported.end();
    checker.That(fine, [&] {
      return Concat(tensor.name(), " value is a tensor, expected null: it is not supported");
    });
  }
  for (const IntList& prefix : p.arrays) {
    checker.That(prefix.values().empty(), [&] {
      return Concat(prefix.name(), " size is ", prefix.values().size(),
                    ", expected 0: it is not supported");
    });
  }
}

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
  CheckType(p.query, checker);
}

template <class P>
void CheckHeads(const P& p, const Call& call, Checker& checker) {
  const Heads &q = call.q, &k = call.k, &v = call.v;
  CheckWidth(q, checker);
  checker.That(q.heads == p.headNum, [&] {
    return Concat("query shape is ", ShapeText(p.query), ", expected ", p.headNum, " heads");
  });
  checker.That(k.batches == q.batches && k.heads > 0 && q.heads % k.heads == 0 &&
                   (call.layout.size() == 3 || p.key.last_dim() == q.elements),
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
  const Shape scores = {q.batches, q.heads, q.rows, k.rows};
  const Tensor& masking = p.attenMaskOptional;
  if (call.masked) {
    checker.That(masking.dtype() == ACL_BOOL || masking.dtype() == ACL_UINT8,
                 [&] { return DtypeIs(masking, "BOOL, UINT8"); });
    Shape shape = scores;
    checker.That(masking.rank() <= 4 && BroadcastShape(masking, &shape) && shape == scores, [&] {
      return Concat("attenMask shape is ", ShapeText(masking), ", expected one that can be ",
                    "broadcast to ", ShapeText(scores.data(), 4));
    });
  }
  const Tensor& drops = p.dropMaskOptional;
  const auto bits = ElementCount(scores.data(), 4);
  const bool enough =
      bits.has_value() && drops.present() && *drops.count() >= *bits / 8 + (*bits % 8 != 0 ? 1 : 0);
  checker.That(!call.dropout.given || (drops.dtype() == ACL_UINT8 && enough), [&] {
    return Concat("dropMask shape is ", ShapeText(drops),
                  ", expected UINT8 with a bit for each of ", ShapeText(scores.data(), 4));
  });
}

}  // namespace

void CheckAttention(const AttentionParams& p, Checker& checker) {
  CheckNull(p, {&p.dropMaskOptional, &p.attenMaskOptional}, checker);
  CheckSettings(p, checker);
  if (!checker.ok()) return;
  const Call call(p);
  CheckHeads(p, call, checker);
  const Heads& q = call.q;
  for (const Tensor* sums : {&p.softmaxMaxOut, &p.softmaxSumOut}) {
    CheckShape(*sums, {q.batches, q.heads, q.rows, kCopies}, checker);
  }
  checker.SameDtype(p.attentionOutOut, p.query);
  CheckShape(p.attentionOutOut, ResultShape(p, call), checker);
}

Plan PlanAttention(const AttentionParams& p, const Product&) {
  Call call(p);
  const Heads out(p.attentionOutOut, call.layout, call.v.elements);
  Attention plan = call.Plan(p);
  plan.out = out.lie;
  plan.max = NumbersOf(p.softmaxMaxOut);
  plan.sum = NumbersOf(p.softmaxSumOut);
  PlanAttention(&plan);
  return {plan.scratch_bytes(),
          [=, max = p.softmaxMaxOut.place, sum = p.softmaxSumOut.place](const Buffers& buffers) {
            AttentionTensors tensors = call.At(buffers);
            tensors.out = out.place(buffers);
            tensors.max = max(buffers);
            tensors.sum = sum(buffers);
            RunAttention(plan, tensors, buffers.workspace);
            return Status();
          }};
}

// The weights are made again from q and k. What the forward left of each row is taken where all of
// it is given, else made again too.
void CheckAttentionGradient(const AttentionGradientParams& p, Checker& checker) {
  CheckNull(p,
            {&p.dropMaskOptional, &p.attenMaskOptional, &p.softmaxMaxOptional,
             &p.softmaxSumOptional, &p.softmaxInOptional, &p.attentionInOptional},
            checker);
  CheckSettings(p, checker);
  if (!checker.ok()) return;
  const Call call(p);
  CheckHeads(p, call, checker);
  checker.SameDtype(p.dy, p.query);
  CheckShape(p.dy, ResultShape(p, call), checker);
  for (const Tensor* sums : {&p.softmaxMaxOptional, &p.softmaxSumOptional}) {
    if (!sums->present() || sums->empty()) continue;
    CheckShape(*sums, {call.q.batches, call.q.heads, call.q.rows, kCopies}, checker);
  }
  if (p.attentionInOptional.present() && !p.attentionInOptional.empty()) {
    checker.SameShapeAndDtype(p.attentionInOptional, p.dy);
  }
  checker.SameShapeAndDtype(p.dqOut, p.query)
      .SameShapeAndDtype(p.dkOut, p.key)
      .SameShapeAndDtype(p.dvOut, p.value);
}

namespace {

/// Floats of (batch, head, row, element), in the workspace.
AttentionHeads DenseHeads(const Call& call, int64_t elements) {
  return {.batch_step = call.q.heads * call.q.rows * elements,
          .head_step = call.q.rows * elements,
          .row_step = elements,
          .element_step = 1,
          .bytes = sizeof(float),
          .floats = true,
          .load = LoaderOf<float>(ACL_FLOAT),
          .store = StorerOf<float>(ACL_FLOAT)};
}

/// The result and what it leaves of the rows, where they are not given: they are made again.
struct Again {
  Again(const Call& call, Attention plan) : attention(std::move(plan)) {
    attention.out = DenseHeads(call, call.v.elements);
    attention.max = attention.sum = DenseHeads(call, 1);
    attention.copies = 1;
    PlanAttention(&attention);
    const auto take = [&](int64_t elements) {
      return parts.Take(__int128{call.q.batches} * call.q.heads * call.q.rows * elements *
                        static_cast<int>(sizeof(float)));
    };
    max_at = take(1);
    sum_at = take(1);
    out_at = take(call.v.elements);
  }

  Attention attention;
  ScratchParts parts;
  uint64_t max_at = 0, sum_at = 0, out_at = 0;
};

/// Whether the forward's result is given, and what it left of the rows.
bool HasForward(const AttentionGradientParams& p) {
  const auto given = [](const Tensor& tensor) { return tensor.present() && !tensor.empty(); };
  return given(p.softmaxMaxOptional) && given(p.softmaxSumOptional) && given(p.attentionInOptional);
}

/// The gradients of a planned call.
AttentionGradient GradientOf(const Attention& attention, const Call& call,
                             const AttentionGradientParams& p) {
  const auto heads = [&](const Tensor& tensor, const Heads& like) {
    return Heads(tensor, call.layout, like.elements).lie;
  };
  AttentionGradient gradient = {.attention = attention,
                                .dy = heads(p.dy, call.v),
                                .dq = heads(p.dqOut, call.q),
                                .dk = heads(p.dkOut, call.k),
                                .dv = heads(p.dvOut, call.v),
                                .tiles = 0,
                                .levels = 0,
                                .bodies = 0};
  PlanAttentionGradient(&gradient);
  return gradient;
}

}  // namespace

Plan PlanAttentionGradient(const AttentionGradientParams& p, const Product&) {
  Call call(p);
  Attention plan = call.Plan(p);
  const auto tensors_at = [=, dy = p.dy.place, dq = p.dqOut.place, dk = p.dkOut.place,
                           dv = p.dvOut.place](const Buffers& buffers) {
    return AttentionGradientTensors{.of = call.At(buffers),
                                    .dy = dy(buffers),
                                    .dq = dq(buffers),
                                    .dk = dk(buffers),
                                    .dv = dv(buffers)};
  };
  if (HasForward(p)) {
    const Heads out(p.attentionInOptional, call.layout, call.v.elements);
    plan.out = out.lie;
    plan.max = NumbersOf(p.softmaxMaxOptional);
    plan.sum = NumbersOf(p.softmaxSumOptional);
    PlanAttention(&plan);
    const AttentionGradient gradient = GradientOf(plan, call, p);
    return {gradient.scratch_bytes(), [=, max = p.softmaxMaxOptional.place,
                                       sum = p.softmaxSumOptional.place](const Buffers& buffers) {
              AttentionGradientTensors tensors = tensors_at(buffers);
              tensors.of.out = out.place(buffers);
              tensors.of.max = max(buffers);
              tensors.of.sum = sum(buffers);
              RunAttentionGradient(gradient, tensors, buffers.workspace);
              return Status();
            }};
  }
  Again again(call, plan);
  const AttentionGradient gradient = GradientOf(again.attention, call, p);
  const uint64_t rest =
      again.parts.Take(std::max(again.attention.scratch_bytes(), gradient.scratch_bytes()));
  return {again.parts.bytes(), [=](const Buffers& buffers) {
            auto* const scratch = static_cast<std::byte*>(buffers.workspace);
            AttentionGradientTensors tensors = tensors_at(buffers);
            tensors.of.out = scratch + again.out_at;
            tensors.of.max = scratch + again.max_at;
            tensors.of.sum = scratch + again.sum_at;
            RunAttention(again.attention, tensors.of, scratch + rest);
            RunAttentionGradient(gradient, tensors, scratch + rest);
            return Status();
          }};
}

}  // namespace openaclnn::supporting
