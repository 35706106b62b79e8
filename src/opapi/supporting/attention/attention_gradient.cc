// SPDX-License-Identifier: Apache-2.0
// The gradients of FlashAttentionScore and FlashAttentionVarLenScore. The weights are made again
// from q and k. What the forward left of each row is taken where all of it is given, else made
// again too.
#include <algorithm>
#include <utility>

#include "generated/attention.h"
#include "kernels/attention.h"
#include "kernels/scratch.h"
#include "supporting/attention/call.h"

namespace openaclnn::supporting {

void CheckAttentionGradient(const AttentionGradientParams& p, Checker& checker) {
  CheckCall(p,
            {&p.shift, &p.dropMaskOptional, &p.attenMaskOptional, &p.softmaxMaxOptional,
             &p.softmaxSumOptional, &p.softmaxInOptional, &p.attentionInOptional},
            checker);
  if (!checker.ok()) return;
  const AttentionCall call(p);
  checker.That(!call.shift.given || call.shift.of_slopes() || !IsGiven(p.dpseOut), [&] {
    return Concat(p.dpseOut.name(), " value is a tensor, expected null: the gradient by ",
                  p.shift.name(), " is not supported");
  });
  checker.SameDtype(p.dy, p.query);
  CheckShape(p.dy, ResultShape(p, call), checker);
  for (const Tensor* sums : {&p.softmaxMaxOptional, &p.softmaxSumOptional}) {
    if (IsGiven(*sums)) CheckShape(*sums, call.SumsShape(), checker);
  }
  if (IsGiven(p.attentionInOptional)) {
    checker.SameShapeAndDtype(p.attentionInOptional, p.dy);
  }
  checker.SameShapeAndDtype(p.dqOut, p.query)
      .SameShapeAndDtype(p.dkOut, p.key)
      .SameShapeAndDtype(p.dvOut, p.value);
}

namespace {

/// Floats of (batch, head, row, element), in the workspace.
AttentionHeads DenseHeads(const AttentionCall& call, int64_t elements) {
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
  Again(const AttentionCall& call, Attention plan) : attention(std::move(plan)) {
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
  return IsGiven(p.softmaxMaxOptional) && IsGiven(p.softmaxSumOptional) &&
         IsGiven(p.attentionInOptional);
}

/// The gradients of a planned call.
AttentionGradient GradientOf(const Attention& attention, const AttentionCall& call,
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
  AttentionCall call(p);
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
    plan.max = call.Sums(p.softmaxMaxOptional);
    plan.sum = call.Sums(p.softmaxSumOptional);
    plan.by_heads = call.packed();
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
