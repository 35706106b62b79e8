// SPDX-License-Identifier: Apache-2.0
// BlockSparseAttention, in double.
#include "supporting/attention/block_sparse.h"

#include <limits>

#include "generated/attention.h"
#include "kernels/work/parallel_items.h"
#include "supporting/attention/heads.h"
#include "supporting/attention/lengths.h"
#include "supporting/attention/row_sums.h"

namespace openaclnn::supporting {
namespace {

std::string_view TextOf(const char* text) { return text == nullptr ? "" : text; }

/// The lengths of sequences, each `most` without a list, and where they start.
void SetLengths(const IntList& counts, int64_t batches, int64_t most, std::vector<int64_t>* lengths,
                std::vector<int64_t>* starts) {
  const auto given = counts.values();
  int64_t start = 0;
  for (int64_t b = 0; b < batches; ++b) {
    lengths->push_back(given.empty() ? most : given[static_cast<size_t>(b)]);
    starts->push_back(start);
    start += lengths->back();
  }
}

void CheckCounts(const IntList& counts, const Tensor& of, bool packed, int64_t batches,
                 int64_t rows, Checker& checker) {
  const auto values = counts.values();
  checker.That((values.empty() && !packed) || static_cast<int64_t>(values.size()) == batches, [&] {
    return Concat(counts.name(), " size is ", values.size(), ", expected ", batches,
                  ", the batches of ", "blockSparseMask");
  });
  int64_t left = rows;
  for (size_t b = 0; b < values.size(); ++b) {
    const bool fine = values[b] >= 0 && values[b] <= left;
    checker.That(fine, [&] {
      return Concat(counts.name(), " value ", b, " is ", values[b], ", expected 0 to ", left,
                    ", rows of ", of.name());
    });
    if (!fine) return;
    if (packed) left -= values[b];
  }
}

int64_t Longest(const IntList& counts) {
  int64_t most = 0;
  for (const int64_t each : counts.values()) most = std::max(most, each);
  return most;
}

}  // namespace

BlockCall::BlockCall(const BlockArguments& of)
    : packed(TextOf(of.q_layout) == "TND"),
      batches(packed ? static_cast<int64_t>(of.row_counts.values().size()) : of.query.dim(0)),
      heads(of.query.dim(1)),
      served(of.served),
      width(of.query.last_dim()),
      value_width(of.value.last_dim()),
      most_rows(packed ? Longest(of.row_counts) : of.query.dim(2)),
      most_keys(packed ? Longest(of.key_counts) : of.key.dim(2)),
      all_rows(packed ? of.query.dim(0) * heads : batches * heads * most_rows),
      all_keys(packed ? of.key.dim(0) * served : batches * served * most_keys),
      block_rows(of.block_shape.values()[0]),
      block_keys(of.block_shape.values()[1]) {
  SetLengths(of.row_counts, batches, most_rows, &rows, &row_starts);
  SetLengths(of.key_counts, batches, most_keys, &keys, &key_starts);
}

void BlockCall::Check(const BlockArguments& of, Checker& checker) {
  const auto blocks = of.block_shape.values();
  checker.That(blocks.size() >= 2 && blocks[0] > 0 && blocks[1] > 0 && blocks[1] % 128 == 0, [&] {
    return Concat(of.block_shape.name(), " size is ", blocks.size(),
                  ", expected two numbers above 0, of which the second one is a multiple of 128");
  });
  checker.That(TextOf(of.q_layout) == TextOf(of.k_layout), [&] {
    return Concat("kvInputLayout value is '", TextOf(of.k_layout), "', expected '",
                  TextOf(of.q_layout), "', that of query");
  });
  checker.That(of.mask_type == 0, [&] {
    return Concat("maskType value is ", of.mask_type, ", expected 0: it is not supported");
  });
  const bool packed = TextOf(of.q_layout) == "TND";
  for (const Tensor* each : {&of.query, &of.key, &of.value}) {
    checker.Rank(*each, packed ? 3 : 4).SameDtype(*each, of.query);
  }
  CheckType(of.query, checker);
  checker.That(of.row_counts.values().empty() == of.key_counts.values().empty(), [&] {
    return Concat(of.key_counts.name(), " size is ", of.key_counts.values().size(),
                  ", expected lengths where ", of.row_counts.name(), " has some");
  });
  if (!checker.ok()) return;
  const int64_t heads = of.query.dim(1);
  checker.That(of.served > 0 && of.key.dim(1) == of.served && heads % of.served == 0, [&] {
    return Concat(of.key.name(), " shape is ", ShapeText(of.key), ", expected ", of.served,
                  " heads, which divide the ", heads, " of query");
  });
  if (!checker.ok()) return;
  const int64_t batches =
      packed ? static_cast<int64_t>(of.row_counts.values().size()) : of.query.dim(0);
  CheckCounts(of.row_counts, of.query, packed, batches, of.query.dim(packed ? 0 : 2), checker);
  CheckCounts(of.key_counts, of.key, packed, batches, of.key.dim(packed ? 0 : 2), checker);
  Shape keys = ShapeOf(of.key);
  keys[keys.size() - 1] = of.query.last_dim();
  if (!packed) keys[0] = batches;
  CheckShape(of.key, keys, checker);
  keys[keys.size() - 1] = of.value.last_dim();
  CheckShape(of.value, keys, checker);
  if (!checker.ok()) return;
  const BlockCall call(of);
  checker.That(of.blocks.dtype() == ACL_INT8, [&] { return DtypeIs(of.blocks, "INT8"); });
  CheckShape(of.blocks, {call.batches, call.heads, call.tall(), call.wide()}, checker);
}

BlockOperands::BlockOperands(const BlockArguments& of, double scale_value)
    : call(of), q(of.query), k(of.key), v(of.value), seen(of.blocks, 0), scale(scale_value) {}

namespace {

struct BlockTask {
  explicit BlockTask(const BlockAttentionParams& p)
      : of(ArgumentsOf(p), p.scaleValue), out(p.attentionOut), asks(p.softmaxLseFlag != 0) {
    if (asks) sums = PartsOfRows(p.softmaxLseOptional);
  }

  void RunRow(const Buffers& buffers, const std::vector<double>& all, int64_t batch, int64_t head,
              int64_t row) const {
    const BlockCall& call = of.call;
    const int64_t place = call.RowOf(batch, head, row), served = head / call.group();
    std::vector<double> q(static_cast<size_t>(call.width)), k(q.size()), scores, values;
    of.q.Load(buffers, place, 0, call.width, q.data());
    of.ForKeys(of.SeenBy(all, batch, head, row), batch, [&](int64_t key) {
      const int64_t at = call.KeyOf(batch, served, key);
      of.k.Load(buffers, at, 0, call.width, k.data());
      scores.push_back(of.scale * ProductOf(q.data(), k.data(), call.width));
      values.resize(values.size() + static_cast<size_t>(call.value_width));
      of.v.Load(buffers, at, 0, call.value_width,
                values.data() + std::ssize(values) - call.value_width);
    });
    const RowSoftmax softmax(&scores);
    std::vector<double> result(static_cast<size_t>(call.value_width));
    SumRows(
        std::ssize(scores), call.value_width,
        [&](int64_t i) { return scores[static_cast<size_t>(i)]; },
        [&](int64_t i) { return values.data() + i * call.value_width; }, result.data());
    Put(buffers, place, result, softmax.sum == 0 ? -HUGE_VAL : softmax.max + std::log(softmax.sum));
  }

  void Put(const Buffers& buffers, int64_t place, const std::vector<double>& result,
           double lse) const {
    out.Store(buffers, place, 0, of.call.value_width, result.data());
    if (asks) sums.Store(buffers, place, 0, 1, &lse);
  }

  Status Run(const Buffers& buffers) const {
    const BlockCall& call = of.call;
    const std::vector<double> all = of.Seen(buffers);
    // Rows that no sequence has become 0.
    const std::vector<double> zeros(static_cast<size_t>(call.value_width));
    ParallelFor(call.all_rows, true, [&](int64_t place) { Put(buffers, place, zeros, -HUGE_VAL); });
    ParallelFor(call.batches * call.heads * call.most_rows, true, [&](int64_t n) {
      const int64_t batch = n / call.most_rows / call.heads, row = n % call.most_rows;
      if (row >= call.rows[static_cast<size_t>(batch)]) return;
      RunRow(buffers, all, batch, n / call.most_rows % call.heads, row);
    });
    return {};
  }

  BlockOperands of;
  PartsOfRows out, sums;
  bool asks;
};

}  // namespace

void CheckBlockAttention(const BlockAttentionParams& p, Checker& checker) {
  for (const Tensor* each : {&p.attenMaskOptional, &p.blockTableOptional}) {
    checker.That(!each->present(), [&] {
      return Concat(each->name(), " value is a tensor, expected null: it is not supported");
    });
  }
  const BlockArguments of = ArgumentsOf(p);
  BlockCall::Check(of, checker);
  if (!checker.ok()) return;
  const BlockCall call(of);
  Shape shape = ShapeOf(p.query);
  shape[shape.size() - 1] = call.value_width;
  CheckShape(p.attentionOut, shape, checker);
  checker.SameDtype(p.attentionOut, p.query);
  if (p.softmaxLseFlag == 0) return;
  checker.That(p.softmaxLseOptional.present(), [&] {
    return Concat(p.softmaxLseOptional.name(),
                  " value is null, expected a tensor, as softmaxLseFlag is not 0");
  });
  if (!checker.ok()) return;
  shape[shape.size() - 1] = 1;
  checker.That(p.softmaxLseOptional.dtype() == ACL_FLOAT,
               [&] { return DtypeIs(p.softmaxLseOptional, "FLOAT"); });
  CheckShape(p.softmaxLseOptional, shape, checker);
}

Plan PlanBlockAttention(const BlockAttentionParams& p, const Product&) {
  return {0, [task = BlockTask(p)](const Buffers& buffers) { return task.Run(buffers); }};
}

}  // namespace openaclnn::supporting
