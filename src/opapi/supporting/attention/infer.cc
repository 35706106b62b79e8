// SPDX-License-Identifier: Apache-2.0
// Inference: layouts, lengths of sequences, caches in blocks.
#include "supporting/attention/infer.h"

#include <algorithm>
#include <array>

#include "supporting/attention/lengths.h"
#include "supporting/attention/sequences.h"

namespace openaclnn::supporting {
namespace {

constexpr std::array<InferLayout, 12> kInferLayouts = {{
    {"BNSD", "BNSD", "BNSD"},
    {"BSND", "BSND", "BSND"},
    {"BSH", "BSH", "BSH"},
    {"BNSD_BSND", "BNSD", "BSND"},
    {"BSH_BNSD", "BSH", "BNSD"},
    {"BSND_BNSD", "BSND", "BNSD"},
    {"BSH_NBSD", "BSH", "NBSD"},
    {"BSND_NBSD", "BSND", "NBSD"},
    {"BNSD_NBSD", "BNSD", "NBSD"},
    {"TND", "TND", "TND"},
    {"TND_NTD", "TND", "NTD"},
    {"NTD_TND", "NTD", "TND"},
}};

/// Rows and columns of the masks of modes 2 to 4, which the device keeps in one form for all
/// shapes.
constexpr int64_t kModeMask = 2048;

constexpr int64_t kMostBatches = 65536;  // of the pages

Heads HeadsOf(const Tensor& tensor, std::string_view letters, int64_t heads) {
  return {tensor, letters, WidthOf(tensor, letters, heads)};
}

/// Masks of three dimensions, and of two where q has one row, begin with the batch and are the same
/// for all heads.
ScoreView MaskOf(const Tensor& mask, const Heads& q) {
  return {mask, mask.rank() == 3 || (mask.rank() == 2 && q.rows == 1)};
}

bool IsModeMask(const Tensor& mask) {
  const uint32_t rank = mask.present() ? mask.rank() : 0;
  return rank >= 2 && mask.dim(rank - 1) == kModeMask && mask.dim(rank - 2) == kModeMask;
}

}  // namespace

const InferLayout& InferLayoutOf(const char* name) {
  return *std::find_if(kInferLayouts.begin(), kInferLayouts.end(),
                       [&](const InferLayout& each) { return each.name == name; });
}

InferCall::InferCall(const InferArguments& arguments)
    : of(arguments),
      layout(InferLayoutOf(of.layout)),
      served(of.served == 0 ? of.heads : of.served),
      paged(IsGiven(of.table)),
      roped(of.q_rope.present()),
      q_lengths(of.row_counts.values()),
      k_lengths(of.key_counts.values()),
      mode(of.mode) {
  const std::string_view letters = layout.operands;
  const std::string_view cached = !paged ? letters : of.key.rank() == 3 ? "BSH" : "BNSD";
  q = HeadsOf(of.query, letters, of.heads);
  k = HeadsOf(of.key, cached, served);
  v = HeadsOf(of.value, cached, served);
  if (roped) {
    q_rope = HeadsOf(of.q_rope, letters, of.heads);
    k_rope = HeadsOf(of.k_rope, cached, served);
  }
  if (q.rows == 1 && !layout.packed()) {
    q_lengths = {};
    if (!roped) mode = 1;
  }
  // The mask of modes 2 to 4 hides nothing of the one row that has no window.
  const bool by_mode = of.mode >= 2 && IsModeMask(of.mask);
  if (mode < 2 && !by_mode && of.mask.present() && of.mask.rank() <= 4) mask = MaskOf(of.mask, q);
  if (of.shift.present() && of.shift.rank() <= 4) shift = ScoreView(of.shift, false);
}

int64_t InferCall::batches() const {
  return layout.packed() ? static_cast<int64_t>(q_lengths.size()) : q.batches;
}

Shape InferCall::ResultShape() const {
  Shape shape;
  for (const char letter : layout.result) {
    shape.push_back(letter == 'B'                    ? q.batches
                    : letter == 'N'                  ? q.heads
                    : letter == 'S' || letter == 'T' ? q.rows
                    : letter == 'D'                  ? v.elements
                                                     : q.heads * v.elements);
  }
  return shape;
}

Shape InferCall::SumsShape() const {
  return layout.packed() ? Shape{q.rows, q.heads, 1} : Shape{q.batches, q.heads, q.rows, 1};
}

namespace {

void CheckShapes(const InferCall& call, Checker& checker) {
  const InferArguments& of = call.of;
  const Heads &q = call.q, &k = call.k, &v = call.v;
  CheckWidth(q, checker);
  CheckBatches(of.query, q, kMostBatches, checker);
  checker.That(q.heads == of.heads, [&] {
    return Concat("query shape is ", ShapeText(of.query), ", expected ", of.heads, " heads");
  });
  checker.That(
      (call.paged || k.batches == q.batches) && k.heads == call.served && k.elements == q.elements,
      [&] {
        return Concat("key shape is ", ShapeText(of.key), ", expected ", call.served,
                      " heads with ", call.paged ? "" : "the batches and ", "the width of query's");
      });
  checker.That(v.batches == k.batches && v.heads == k.heads && v.rows == k.rows &&
                   (v.elements == k.elements || (v.elements > 0 && v.elements <= k.elements)),
               [&] {
                 return Concat("value shape is ", ShapeText(of.value), ", expected that of key, ",
                               ShapeText(of.key), ", but for a width of heads that may be less");
               });
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
    return CheckLengths(keys, batches, call.k.rows, checker);
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
  const int64_t keys = call.paged ? WrappingProduct(of.table.dim(1), call.k.rows) : call.k.rows;
  // Of a cache, masks and shifts have to reach as far as the longest sequence.
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
    checker.That(IsModeMask(hides), [&] {
      return Concat(hides.present() ? hides.name() : "attenMask", " ",
                    hides.present() ? Concat("shape is ", ShapeText(hides)) : "value is null",
                    ", expected a mask of (2048, 2048) for sparseMode ", of.mode);
    });
  } else if (hides.present() && !(of.mode >= 2 && IsModeMask(hides))) {
    check(hides, call.mask);
  }
}

}  // namespace

void InferCall::Check(Checker& checker) const {
  CheckShapes(*this, checker);
  if (checker.ok()) CheckLists(*this, checker);
  if (checker.ok()) CheckScores(*this, checker);
}

AttentionSequence InferCall::Sequence(int64_t batch, Span rows, Span keys) const {
  // Modes 3 and 4 count from the last row and the last key.
  const __int128 right = __int128{keys.count} - rows.count;
  AttentionSequence sequence = {.rows = rows.count,
                                .keys = keys.count,
                                .batch = batch,
                                .first_row = rows.first,
                                .first_key = keys.first};
  if (mode == 2) sequence.after = 0;
  if (mode == 3) sequence.after = Saturated(right);
  if (mode == 4) {
    sequence.before = Saturated(of.before - right);
    sequence.after = Saturated(of.after + right);
  }
  if (mode == 0 && mask.lie.given && q.rows > 1) {
    sequence.before = of.before;
    sequence.after = of.after;
  }
  return sequence;
}

std::vector<AttentionSequence> InferCall::Sequences() const {
  std::vector<AttentionSequence> sequences, rest;
  const auto add_rest = [&](int64_t batch, int64_t first) {
    if (first == q.rows) return;
    rest.push_back({.rows = q.rows - first, .keys = 0, .batch = batch, .first_row = first});
  };
  const bool packed_keys = layout.packed() && !paged;
  const std::vector<Span> rows = layout.packed() ? SpansOf(q_lengths) : std::vector<Span>(),
                          keys = packed_keys ? SpansOf(k_lengths) : std::vector<Span>();
  for (int64_t batch = 0; batch < batches(); ++batch) {
    const auto i = static_cast<size_t>(batch);
    sequences.push_back(Sequence(batch,
                                 layout.packed() ? rows[i] : LengthOf(q_lengths, batch, q.rows),
                                 packed_keys ? keys[i] : LengthOf(k_lengths, batch, k.rows)));
    if (!layout.packed()) add_rest(batch, sequences.back().rows);
  }
  if (layout.packed()) add_rest(0, LastEnd(q_lengths));
  // Masks and shifts have the places of the sequences that see keys.
  sequences.insert(sequences.end(), rest.begin(), rest.end());
  return sequences;
}

Attention InferCall::Plan() const {
  Attention plan = AttentionOf(q, k, v, of.scale, Sequences());
  if (roped) {
    plan.rope_width = q_rope.elements;
    plan.width += plan.rope_width;
    plan.q_rope = q_rope.lie;
    plan.k_rope = k_rope.lie;
  }
  if (paged) {
    const auto& strides = of.table.tensor().strides;
    plan.pages = {.given = true,
                  .chosen = false,
                  .rows = k.rows,
                  .batch_step = strides[0],
                  .head_step = 0,
                  .entry_step = strides[1]};
  }
  plan.shift = shift.lie;
  plan.mask = mask.lie;
  return plan;
}

}  // namespace openaclnn::supporting
