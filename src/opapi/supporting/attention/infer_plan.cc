// SPDX-License-Identifier: Apache-2.0
// Inference: what phase 1 checks, and what a task does.
#include <algorithm>
#include <iterator>
#include <utility>

#include "kernels/attention/attention.h"
#include "supporting/attention/infer.h"

namespace openaclnn::supporting {
namespace {

/// Numbers of heads, types and ranks.
void CheckSettings(const InferArguments& of, Checker& checker) {
  const int64_t served = of.served == 0 ? of.heads : of.served;
  checker.That(of.heads > 0 && served > 0 && of.heads % served == 0, [&] {
    return Concat("numKeyValueHeads value is ", of.served, ", expected a divisor of numHeads, ",
                  of.heads);
  });
  checker.That(of.q_rope.present() == of.k_rope.present(), [&] {
    return Concat("keyRopeOptional value is ", of.k_rope.present() ? "a tensor" : "null",
                  ", expected what queryRopeOptional is: both or none");
  });
  if (!checker.ok()) return;
  const auto rank = static_cast<uint32_t>(InferLayoutOf(of.layout).operands.size());
  const bool paged = IsGiven(of.table);
  // Where a table names blocks, key and value are caches of (block, row, elements of all heads) or
  // (block, head, row, element).
  checker.Rank(of.query, rank);
  if (paged) {
    checker.RankBetween(of.key, 3, 4).Rank(of.value, of.key.rank());
  } else {
    checker.Rank(of.key, rank).Rank(of.value, rank);
  }
  checker.SameDtype(of.key, of.query).SameDtype(of.value, of.query);
  if (of.q_rope.present()) {
    checker.Rank(of.q_rope, rank).Rank(of.k_rope, of.key.rank());
    checker.SameDtype(of.q_rope, of.query).SameDtype(of.k_rope, of.query);
  }
  CheckType(of.query, checker);
  checker.SameDtype(of.out, of.query);
}

/// What sums become that are not asked for.
std::function<void(const Buffers&)> ZerosOf(const Tensor& out) {
  const Offsets offsets(out, out.rank());
  const auto store = StorerOf<double>(out.dtype());
  return
      [=, count = *out.count(), bytes = BytesOf(out), place = out.place](const Buffers& buffers) {
        const double zero = 0;
        for (int64_t i = 0; i < count; ++i) store(&zero, 1, place(buffers) + offsets(i) * bytes, 0);
      };
}

}  // namespace

Status CheckEntries(const AttentionPages& pages, int64_t batch, const Span& keys,
                    const int32_t* table, int64_t blocks) {
  const int64_t end = keys.first + keys.count;
  for (int64_t key = keys.first; key < end; key += pages.rows - key % pages.rows) {
    const int64_t block = pages.Block(table, batch, 0, key);
    if (block < 0 || block >= blocks) {
      return Status(507035,
                    Concat("blockTable value (", batch, ", ", key / pages.rows, ") is ", block,
                           ", expected 0 to ", blocks - 1, ", a block of the cache"));
    }
  }
  return {};
}

Status CheckTable(const Attention& attention, const int32_t* table, int64_t blocks) {
  for (const AttentionSequence& of : attention.sequences) {
    Status found = CheckEntries(attention.pages, of.batch, {0, of.keys}, table, blocks);
    if (!found.ok()) return found;
  }
  return {};
}

void CheckOthersAbsent(const Params& p, const InferArguments& of, Checker& checker) {
  const Tensor* const taken[] = {&of.shift, &of.mask, &of.table, &of.q_rope, &of.k_rope, &of.sums};
  for (const Tensor& tensor : p.tensors) {
    const bool fine = std::find(std::begin(taken), std::end(taken), &tensor) != std::end(taken);
    checker.That(!tensor.optional || fine || !tensor.present(), [&] {
      return Concat(tensor.name(), " value is a tensor, expected null: it is not supported");
    });
  }
  for (const IntList& list : p.arrays) {
    const bool fine = &list == &of.row_counts || &list == &of.key_counts;
    checker.That(fine || list.values().empty(), [&] {
      return Concat(list.name(), " size is ", list.values().size(),
                    ", expected 0: it is not supported");
    });
  }
}

void CheckInfer(const InferArguments& of, Checker& checker) {
  CheckSettings(of, checker);
  if (!checker.ok()) return;
  const InferCall call(of);
  call.Check(checker);
  CheckShape(of.out, call.ResultShape(), checker);
  if (!of.wants_sums) return;
  checker.That(of.sums.present(), [&] {
    return Concat("softmaxLse value is null, expected a tensor, as softmaxLseFlag is true");
  });
  if (!checker.ok()) return;
  checker.That(of.sums.dtype() == ACL_FLOAT, [&] { return DtypeIs(of.sums, "FLOAT"); });
  CheckShape(of.sums, call.SumsShape(), checker);
}

Plan PlanInfer(const InferArguments& of) {
  std::function<void(const Buffers&)> clear = [](const Buffers&) {};
  if (of.sums.present() && !of.wants_sums) clear = ZerosOf(of.sums);
  if (of.out.empty() && (!of.wants_sums || of.sums.empty())) {
    return {0, [=](const Buffers& buffers) -> Status {
              clear(buffers);
              return {};
            }};
  }
  const InferCall call(of);
  Attention plan = call.Plan();
  const Heads out(of.out, call.layout.result, call.v.elements);
  plan.out = out.lie;
  Place sums_at;
  if (of.wants_sums) {
    const Heads sums(of.sums, call.sums_layout(), 1);
    plan.sum = sums.lie;
    plan.copies = 1;
    plan.log_sums = true;
    sums_at = sums.place;
  }
  PlanAttention(&plan);
  return {plan.scratch_bytes(),
          [=, plan = std::move(plan), q = call.q.place, k = call.k.place, v = call.v.place,
           q_rope = call.q_rope.place, k_rope = call.k_rope.place, mask = call.mask.place,
           shift = call.shift.place, table = of.table.place, roped = call.roped,
           blocks = call.k.batches, out = out.place,
           asked = of.wants_sums](const Buffers& buffers) -> Status {
            clear(buffers);
            AttentionTensors tensors = {.q = q(buffers),
                                        .k = k(buffers),
                                        .v = v(buffers),
                                        .mask = plan.mask.given ? mask(buffers) : nullptr,
                                        .shift = plan.shift.given ? shift(buffers) : nullptr,
                                        .out = out(buffers),
                                        .sum = asked ? sums_at(buffers) : nullptr};
            if (roped) {
              tensors.q_rope = q_rope(buffers);
              tensors.k_rope = k_rope(buffers);
            }
            if (plan.pages.given) {
              const auto* const entries = reinterpret_cast<const int32_t*>(table(buffers));
              Status found = CheckTable(plan, entries, blocks);
              if (!found.ok()) return found;
              tensors.table = entries;
            }
            RunAttention(plan, tensors, buffers.workspace);
            return {};
          }};
}

}  // namespace openaclnn::supporting
