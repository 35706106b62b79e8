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

Heads HeadsOf(const Tensor& tensor, std::string_view letters, int64_t heads) {
  return {tensor, letters, WidthOf(tensor, letters, heads)};
}

/// Keys or values of a cache in blocks: (block, row, elements of all heads), (block, head, row,
/// element), or (block, head, group, row, element of the group).
Heads CachedOf(const Tensor& tensor, int64_t heads) {
  if (tensor.rank() < 5) return HeadsOf(tensor, tensor.rank() == 3 ? "BSH" : "BNSD", heads);
  Heads cached(tensor, "BNGSD", WrappingProduct(tensor.dim(2), tensor.dim(4)));
  cached.lie.group = tensor.dim(4);
  cached.lie.group_step = tensor.tensor().strides[2];
  return cached;
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
      grouped(paged && of.key.rank() == 5),
      roped(of.q_rope.present()),
      listed(of.keys != nullptr),
      fronted(of.k_front.present()),
      front(0),
      q_lengths(of.row_counts.values()),
      k_lengths(of.key_counts.values()),
      mode(of.mode) {
  const std::string_view letters = layout.operands;
  const auto keys = [&](const Tensor& tensor) {
    return paged ? CachedOf(tensor, served) : HeadsOf(tensor, letters, served);
  };
  q = HeadsOf(of.query, letters, of.heads);
  k = keys(of.key);
  v = keys(of.value);
  if (roped) {
    q_rope = HeadsOf(of.q_rope, letters, of.heads);
    k_rope = keys(of.k_rope);
  }
  for (size_t i = 0; listed && i < of.keys->size; ++i) {
    each_k.push_back(HeadsOf((*of.keys)[i], letters, served));
    each_v.push_back(HeadsOf((*of.values)[i], letters, served));
  }
  if (fronted) {
    front_k = HeadsOf(of.k_front, letters, served);
    front_v = HeadsOf(of.v_front, letters, served);
    front = of.front_counts.values().empty() ? front_k.rows : of.front_counts.values()[0];
  }
  if (q.rows == 1 && !layout.packed()) {
    q_lengths = {};
    if (!roped) mode = 1;
  }
  // Without lengths the padding is behind all rows.
  q_padded = of.q_padding.present() && !q_lengths.empty();
  k_padded = of.k_padding.present() && !k_lengths.empty();
  // The mask of modes 2 to 4 hides nothing of the one row that has no window.
  has_mode_mask = IsModeMask(of.mask);
  const bool by_mode = of.mode >= 2 && has_mode_mask;
  if (mode < 2 && !by_mode && of.mask.present() && of.mask.rank() <= 4) mask = MaskOf(of.mask, q);
  if (of.shift.present() && of.shift.rank() <= 4) shift = ScoreView(of.shift, false);
  mask.lie.by_place = shift.lie.by_place = q_padded || k_padded;
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
  if (mode == 0 && mask.lie.given && q.rows > 1 && !q_padded && !k_padded) {
    sequence.before = of.before;
    sequence.after = of.after;
  }
  return sequence;
}

int64_t InferCall::RowsOfKey(int64_t batch) const {
  return listed ? each_k[static_cast<size_t>(batch)].rows : k.rows;
}

std::vector<AttentionSequence> InferCall::Sequences() const {
  std::vector<AttentionSequence> sequences, rest;
  const auto add_rest = [&](int64_t batch, int64_t first) {
    const AttentionSequence behind = {
        .rows = q.rows - first, .keys = 0, .batch = batch, .first_row = first};
    if (q_padded) rest.push_back(behind);
    if (q_padded || first < q.rows) rest.push_back(behind);
  };
  const bool packed_keys = layout.packed() && !paged;
  const std::vector<Span> rows = layout.packed() ? SpansOf(q_lengths) : std::vector<Span>(),
                          keys = packed_keys ? SpansOf(k_lengths) : std::vector<Span>();
  for (int64_t batch = 0; batch < batches(); ++batch) {
    const auto i = static_cast<size_t>(batch);
    Span of_keys = packed_keys ? keys[i] : LengthOf(k_lengths, batch, RowsOfKey(batch));
    of_keys.count += front;
    sequences.push_back(
        Sequence(batch, layout.packed() ? rows[i] : LengthOf(q_lengths, batch, q.rows), of_keys));
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
  for (size_t i = 0; i < each_k.size(); ++i) {
    plan.each_k.push_back(each_k[i].lie);
    plan.each_v.push_back(each_v[i].lie);
  }
  if (fronted) plan.front = {.keys = front, .k = front_k.lie, .v = front_v.lie};
  if (of.sink.present()) {
    plan.sink = {.given = true,
                 .head_step = of.sink.tensor().strides[0] * BytesOf(of.sink),
                 .load = LoaderOf<float>(of.sink.dtype())};
  }
  plan.shift = shift.lie;
  plan.mask = mask.lie;
  return plan;
}

}  // namespace openaclnn::supporting
