// SPDX-License-Identifier: Apache-2.0
// FlashAttentionScore and FlashAttentionVarLenScore: out = dropout(softmax(scale * q k^T + shift,
// masked)) v for each head; a head of k and v may serve several of q. kernels/attention/attention.h
// computes them.
#include "generated/attention.h"

#include <utility>

#include "kernels/attention/attention.h"
#include "supporting/attention/call.h"

namespace openaclnn::supporting {
namespace {

template <class P>
void CheckForward(const P& p, Checker& checker) {
  CheckCall(p, {}, checker);
  if (!checker.ok()) return;
  const AttentionCall call(p);
  for (const Tensor* sums : {&p.softmaxMaxOut, &p.softmaxSumOut}) {
    CheckShape(*sums, call.SumsShape(), checker);
  }
  checker.SameDtype(p.attentionOutOut, p.query);
  CheckShape(p.attentionOutOut, ResultShape(p, call), checker);
}

template <class P>
Plan PlanForward(const P& p) {
  AttentionCall call(p);
  const Heads out(p.attentionOutOut, call.layout, call.v.elements);
  Attention plan = call.Plan(p);
  plan.out = out.lie;
  plan.max = call.Sums(p.softmaxMaxOut);
  plan.sum = call.Sums(p.softmaxSumOut);
  plan.by_heads = call.packed() && !LieAsInput(p.softmaxOutLayout);
  PlanAttention(&plan);
  return {plan.scratch_bytes(), [=, plan = std::move(plan), max = p.softmaxMaxOut.place,
                                 sum = p.softmaxSumOut.place](const Buffers& buffers) {
            AttentionTensors tensors = call.At(buffers);
            tensors.out = out.place(buffers);
            tensors.max = max(buffers);
            tensors.sum = sum(buffers);
            RunAttention(plan, tensors, buffers.workspace);
            return Status();
          }};
}

}  // namespace

void CheckAttention(const AttentionParams& p, Checker& checker) { CheckForward(p, checker); }
Plan PlanAttention(const AttentionParams& p, const Product&) { return PlanForward(p); }

void CheckAttention(const RopeAttentionParams& p, Checker& checker) { CheckForward(p, checker); }
Plan PlanAttention(const RopeAttentionParams& p, const Product&) { return PlanForward(p); }

}  // namespace openaclnn::supporting
