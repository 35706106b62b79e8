// SPDX-License-Identifier: Apache-2.0
// Inference: what phase 1 checks, and what a task does.
#include <algorithm>
#include <iterator>
#include <utility>

#include "kernels/attention/attention.h"
#include "supporting/attention/any_lengths.h"
#include "supporting/attention/infer.h"
#include "supporting/attention/infer_scales.h"
#include "supporting/attention/left_padding.h"

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
  checker.That(of.k_front.present() == of.v_front.present(), [&] {
    return Concat(of.v_front.name(), " value is ", of.v_front.present() ? "a tensor" : "null",
                  ", expected what ", of.k_front.name(), " is: both or none");
  });
  if (!checker.ok()) return;
  const auto rank = static_cast<uint32_t>(InferLayoutOf(of.layout).operands.size());
  const bool paged = IsGiven(of.table);
  // Where a table names blocks, key and value are caches of (block, row, elements of all heads),
  // (block, head, row, element) or (block, head, group, row, element of the group).
  checker.Rank(of.query, rank);
  if (paged) {
    checker.RankBetween(of.key, 3, 5).Rank(of.value, of.key.rank());
  } else {
    checker.Rank(of.key, rank).Rank(of.value, rank);
  }
  CheckScaledTypes(of, checker);
  for (size_t i = 1; of.keys != nullptr && i < of.keys->size; ++i) {
    for (const Tensor* member : {&(*of.keys)[i], &(*of.values)[i]}) {
      checker.Rank(*member, of.key.rank()).SameDtype(*member, of.key);
    }
  }
  if (of.k_front.present() && of.v_front.present()) {
    checker.Rank(of.k_front, rank).Rank(of.v_front, rank);
    checker.SameDtype(of.k_front, of.key).SameDtype(of.v_front, of.key);
  }
  if (of.sink.present()) checker.Rank(of.sink, 1);
  if (of.q_rope.present()) {
    checker.Rank(of.q_rope, rank).Rank(of.k_rope, of.key.rank());
    // The ropes of INT8 operands are of the result's type.
    const Tensor& like = of.query.dtype() == ACL_INT8 ? of.out : of.query;
    checker.SameDtype(of.q_rope, like).SameDtype(of.k_rope, like);
  }
}

/// Fills an output of sums that are not wanted with zeros.
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
  const Tensor* const taken[] = {&of.shift,     &of.mask,      &of.table,   &of.q_rope,
                                 &of.k_rope,    &of.sums,      &of.k_front, &of.v_front,
                                 &of.q_padding, &of.k_padding, &of.sink};
  const std::vector<const Tensor*> scales = TensorsOf(of.scales);
  for (const Tensor& tensor : p.tensors) {
    const bool fine = std::find(std::begin(taken), std::end(taken), &tensor) != std::end(taken) ||
                      std::find(scales.begin(), scales.end(), &tensor) != scales.end();
    checker.That(!tensor.optional || fine || !tensor.present(), [&] {
      return Concat(tensor.name(), " value is a tensor, expected null: it is not supported");
    });
  }
  for (const IntList& list : p.arrays) {
    const bool fine =
        &list == &of.row_counts || &list == &of.key_counts || &list == &of.front_counts;
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

namespace {

/// A task of inference: its plan and the places of its operands.
struct InferTask {
  explicit InferTask(const InferCall& call)
      : plan(call.Plan()),
        padding(call),
        scaling(call, &plan),
        q(call.q.place),
        k(call.k.place),
        v(call.v.place),
        q_rope(call.q_rope.place),
        k_rope(call.k_rope.place),
        front_k(call.front_k.place),
        front_v(call.front_v.place),
        mask(call.mask.place),
        shift(call.shift.place),
        sink(call.of.sink.place),
        table(call.of.table.place),
        out(call.of.out.place),
        roped(call.roped),
        blocks(call.k.batches) {
    plan.out = Heads(call.of.out, call.layout.result, call.v.elements).lie;
    for (const Heads& each : call.each_k) each_k.push_back(each.place);
    for (const Heads& each : call.each_v) each_v.push_back(each.place);
    if (call.of.wants_sums) {
      const Heads of_sums(call.of.sums, call.sums_layout(), 1);
      plan.sum = of_sums.lie;
      plan.copies = 1;
      plan.log_sums = true;
      sums = of_sums.place;
    }
    PlanAttention(&plan);
  }

  AttentionTensors At(const Buffers& buffers) const {
    const bool fronted = plan.front.keys > 0;
    return {.q = q(buffers),
            .k = k(buffers),
            .v = v(buffers),
            .q_rope = roped ? q_rope(buffers) : nullptr,
            .k_rope = roped ? k_rope(buffers) : nullptr,
            .mask = plan.mask.given ? mask(buffers) : nullptr,
            .shift = plan.shift.given ? shift(buffers) : nullptr,
            .sink = plan.sink.given ? sink(buffers) : nullptr,
            .out = out(buffers),
            .sum = plan.log_sums ? sums(buffers) : nullptr,
            .front_k = fronted ? front_k(buffers) : nullptr,
            .front_v = fronted ? front_v(buffers) : nullptr};
  }

  Status Run(const Buffers& buffers) const {
    AttentionTensors tensors = At(buffers);
    scaling.Set(buffers, &tensors);
    std::vector<const void*> ks, vs;
    for (const Place& each : each_k) ks.push_back(each(buffers));
    for (const Place& each : each_v) vs.push_back(each(buffers));
    if (!ks.empty()) tensors.each_k = ks.data(), tensors.each_v = vs.data();
    if (plan.pages.given) {
      const auto* const entries = reinterpret_cast<const int32_t*>(table(buffers));
      Status found = CheckTable(plan, entries, blocks);
      if (!found.ok()) return found;
      tensors.table = entries;
    }
    if (!padding.given() && !scaling.of_products()) {
      RunAttention(plan, tensors, buffers.workspace);
      return {};
    }
    Attention changed = plan;
    scaling.Scale(buffers, &changed);
    if (padding.given()) {
      // The plan has room for all rows of the query before and behind those that count.
      Status found = padding.Place(buffers, &changed.sequences);
      if (!found.ok()) return found;
      PlanAttention(&changed);
    }
    RunAttention(changed, tensors, buffers.workspace);
    return {};
  }

  Attention plan;
  LeftPadding padding;
  InferScaling scaling;
  Place q, k, v, q_rope, k_rope, front_k, front_v, mask, shift, sink, table, out, sums;
  std::vector<Place> each_k, each_v;
  bool roped;
  int64_t blocks;  // of the cache
};

}  // namespace

namespace {

/// The workspace for any lengths: as if one sequence had all rows and keys.
uint64_t MostBytes(const InferArguments& of) {
  InferCall call(of);
  const auto batches = static_cast<size_t>(call.batches());
  const std::vector<int64_t> rows(batches, call.q.rows),
      keys(batches, call.paged ? WrappingProduct(of.table.dim(1), call.k.rows) : call.k.rows);
  call.q_lengths = {};
  call.k_lengths = {};
  if (call.layout.packed()) call.q_lengths = rows;
  if (call.layout.packed() || call.paged) call.k_lengths = keys;
  Attention plan = call.Plan();
  PlanAttention(&plan);
  return AttentionMostBytes(plan);
}

}  // namespace

Plan PlanInfer(const InferArguments& of) {
  std::function<void(const Buffers&)> clear = [](const Buffers&) {};
  if (of.sums.present() && !of.wants_sums) clear = ZerosOf(of.sums);
  if (of.out.empty() && (!of.wants_sums || of.sums.empty())) {
    return {0, [=](const Buffers& buffers) -> Status {
              clear(buffers);
              return {};
            }};
  }
  InferTask task{InferCall(of)};
  uint64_t bytes = task.plan.scratch_bytes();
  if (AnyLengths::asked()) bytes = std::max(bytes, MostBytes(of));
  return {bytes, [=, task = std::move(task)](const Buffers& buffers) -> Status {
            clear(buffers);
            return task.Run(buffers);
          }};
}

}  // namespace openaclnn::supporting
