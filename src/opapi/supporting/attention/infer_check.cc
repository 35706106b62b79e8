// SPDX-License-Identifier: Apache-2.0
// Inference: what shapes, lengths and masks of a call have to be.
#include <algorithm>

#include "supporting/attention/infer_keys.h"
#include "supporting/attention/infer_scales.h"
#include "supporting/attention/left_padding.h"
#include "supporting/attention/lengths.h"
#include "supporting/attention/sequences.h"

namespace openaclnn::supporting {
namespace {

constexpr int64_t kMostBatches = 65536;  // of the pages

/// Checks that the groups of a cache are of 32 bytes.
void CheckGroups(const InferCall& call, Checker& checker) {
  const InferArguments& of = call.of;
  for (const Tensor* cache : {&of.key, &of.value, &of.k_rope}) {
    if (!cache->present()) continue;
    const int64_t group = 32 / BytesOf(*cache);
    checker.That(cache->dim(4) == group, [&] {
      return Concat(cache->name(), " shape is ", ShapeText(*cache), ", expected groups of ", group,
                    " elements, which are 32 bytes");
    });
  }
}

void CheckShapes(const InferCall& call, Checker& checker) {
  const InferArguments& of = call.of;
  const Heads &q = call.q, &k = call.k, &v = call.v;
  CheckWidth(q, checker);
  CheckBatches(of.query, q, kMostBatches, checker);
  checker.That(q.heads == of.heads, [&] {
    return Concat("query shape is ", ShapeText(of.query), ", expected ", of.heads, " heads");
  });
  checker.That((call.paged || call.listed || k.batches == q.batches) && k.heads == call.served &&
                   k.elements == q.elements,
               [&] {
                 const bool alike = !call.paged && !call.listed;
                 return Concat("key shape is ", ShapeText(of.key), ", expected ", call.served,
                               " heads with ", alike ? "the batches and " : "",
                               "the width of query's");
               });
  checker.That(v.batches == k.batches && v.heads == k.heads && v.rows == k.rows &&
                   (v.elements == k.elements || (v.elements > 0 && v.elements <= k.elements)),
               [&] {
                 return Concat("value shape is ", ShapeText(of.value), ", expected that of key, ",
                               ShapeText(of.key), ", but for a width of heads that may be less");
               });
  if (call.grouped) CheckGroups(call, checker);
  if (!call.roped) return;
  const auto matches = [](const Heads& rope, const Heads& own) {
    return rope.batches == own.batches && rope.heads == own.heads && rope.rows == own.rows;
  };
  checker.That(matches(call.q_rope, q), [&] {
    return Concat(of.q_rope.name(), " shape is ", ShapeText(of.q_rope),
                  ", expected that of query, ", ShapeText(of.query),
                  ", but for the width of heads");
  });
  checker.That(matches(call.k_rope, k) && call.k_rope.elements == call.q_rope.elements, [&] {
    return Concat(of.k_rope.name(), " shape is ", ShapeText(of.k_rope), ", expected that of key, ",
                  ShapeText(of.key),
                  ", but for the width of heads, which is that of queryRopeOptional");
  });
  checker.That(call.q_rope.elements <= kAttentionWidth - q.elements, [&] {
    return Concat("queryRopeOptional width of heads is ", call.q_rope.elements,
                  ", expected at most ", kAttentionWidth - q.elements, " beside that of query, ",
                  q.elements);
  });
  checker.That(q.elements % kAttentionChunk == 0, [&] {
    return Concat("query width of heads is ", q.elements, ", expected a multiple of ",
                  kAttentionChunk, " beside queryRopeOptional");
  });
}

void CheckLists(const InferCall& call, Checker& checker) {
  const InferArguments& of = call.of;
  const IntList &rows = of.row_counts, &keys = of.key_counts;
  const int64_t batches = call.batches();
  if (call.layout.packed()) {
    CheckEnds(rows, of.query, call.q.rows, checker);
  } else if (!call.q_lengths.empty()) {
    CheckLengths(rows, batches, call.q.rows, checker);
  }
  if (!call.paged) {
    if (call.layout.packed()) {
      CheckEnds(keys, of.key, call.k.rows, checker);
      return CheckSameCount(rows, keys, checker);
    }
    return CheckKeyLengths(call, checker);
  }
  const Tensor& table = of.table;
  checker.That(table.dtype() == ACL_INT32, [&] { return DtypeIs(table, "INT32"); });
  checker.That(table.rank() == 2 && table.dim(0) == batches, [&] {
    return Concat(table.name(), " shape is ", ShapeText(table), ", expected (", batches,
                  ", blocks of a sequence)");
  });
  checker.That(of.block_size == call.k.rows, [&] {
    return Concat("blockSize value is ", of.block_size, ", expected ", call.k.rows,
                  ", the rows of each block of key");
  });
  checker.That(!keys.values().empty(), [&] {
    return Concat(keys.name(), " size is 0, expected the keys of each batch, as there is a ",
                  table.name());
  });
  if (checker.ok()) {
    CheckLengths(keys, batches, WrappingProduct(table.dim(1), call.k.rows), checker);
  }
}

void CheckScores(const InferCall& call, Checker& checker) {
  const InferArguments& of = call.of;
  const Tensor &hides = of.mask, &shifts = of.shift;
  const bool packed = call.layout.packed();
  const int64_t keys =
      call.paged ? WrappingProduct(of.table.dim(1), call.k.rows) : call.front + MostKeys(call);
  // With a cache, masks and shifts have to reach to the end of the longest sequence.
  int64_t longest = call.paged ? 0 : keys;
  if (call.paged) {
    // One length for all batches, of which there may be any number, or one for each.
    const int64_t lengths = std::min(call.batches(), static_cast<int64_t>(call.k_lengths.size()));
    for (int64_t i = 0; i < lengths; ++i) {
      longest = std::max(longest, LengthOf(call.k_lengths, i, keys).count);
    }
  }
  const Shape shape = {call.q.batches, call.q.heads, call.q.rows, longest};
  const auto check = [&](const Tensor& scores, const ScoreView& view) {
    checker.That(!packed, [&] {
      return Concat(scores.name(), " value is a tensor, expected null where inputLayout packs ",
                    "sequences and sparseMode is ", of.mode);
    });
    checker.That(scores.rank() <= 4 && view.Covers(shape), [&] {
      return Concat(scores.name(), " shape is ", ShapeText(scores),
                    ", expected one that can be broadcast to ", ShapeText(shape.data(), 4));
    });
  };
  if (shifts.present()) check(shifts, call.shift);
  if (call.mode >= 2) {
    checker.That(call.has_mode_mask, [&] {
      return Concat(hides.present() ? hides.name() : "attenMask", " ",
                    hides.present() ? Concat("shape is ", ShapeText(hides)) : "value is null",
                    ", expected a mask of (2048, 2048) for sparseMode ", of.mode);
    });
  } else if (hides.present() && !(of.mode >= 2 && call.has_mode_mask)) {
    check(hides, call.mask);
  }
}

}  // namespace

void InferCall::Check(Checker& checker) const {
  CheckShapes(*this, checker);
  if (listed) CheckKeyList(*this, checker);
  if (fronted) CheckFront(*this, checker);
  CheckPadding(*this, checker);
  if (checker.ok()) CheckScales(*this, checker);
  if (of.sink.present()) CheckSink(*this, checker);
  if (checker.ok()) CheckLists(*this, checker);
  if (checker.ok()) CheckScores(*this, checker);
}

}  // namespace openaclnn::supporting
