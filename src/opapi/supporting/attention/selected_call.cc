// SPDX-License-Identifier: Apache-2.0
// Selected attention: which keys a row sees, and which rows see a key.
#include <algorithm>

#include "kernels/work/divide_up.h"
#include "supporting/attention/packed_heads.h"
#include "supporting/attention/selected.h"
#include "supporting/attention/sequences.h"

namespace openaclnn::supporting {
namespace {

// Each row of the query is a sequence of the plan, and each block of keys: 80 bytes of it.
constexpr int64_t kMostRows = int64_t{1} << 24;
constexpr int64_t kCausal = 2;  // sparseMode: no key behind the row's place

}  // namespace

void SelectedCall::Check(const Tensor& mask, Checker& checker) const {
  CheckPackedHeads(query, key, value, heads, checker);
  if (!checker.ok()) return;
  const Heads q = PackedHeads(query), k = PackedHeads(key), v = PackedHeads(value);
  for (const Tensor* tensor : {&query, &key}) {
    checker.That(tensor->dim(0) <= kMostRows, [&] {
      return Concat(tensor->name(), " shape is ", ShapeText(*tensor), ", expected at most ",
                    kMostRows, " rows");
    });
  }
  checker.That(v.elements > 0, [&] {
    return Concat("value shape is ", ShapeText(value), ", expected at least one element in a row");
  });
  checker.That(block_size > 0 && block_size <= kAttentionKeys && block_size % 16 == 0, [&] {
    return Concat("selectedBlockSize value is ", block_size,
                  ", expected a multiple of 16, at most ", kAttentionKeys);
  });
  checker.That(block_count > 0 && block_count <= 32, [&] {
    return Concat("selectedBlockCount value is ", block_count, ", expected 1 to 32");
  });
  checker.That(chosen.dtype() == ACL_INT32, [&] { return DtypeIs(chosen, "INT32"); });
  if (!checker.ok()) return;
  CheckShape(chosen, {q.rows, k.heads, block_count}, checker);
  CheckEnds(row_ends, query, q.rows, checker);
  CheckEnds(key_ends, key, k.rows, checker);
  CheckSameCount(row_ends, key_ends, checker);
  checker.That(mode == kCausal || !mask.present(), [&] {
    return Concat(mask.name(), " value is a tensor, expected null in sparseMode 0");
  });
}

Attention SelectedCall::Plan() const {
  Attention plan = AttentionOf(PackedHeads(query), PackedHeads(key), PackedHeads(value), scale, {});
  for (const AttentionSequence& packed : Packed(row_ends, key_ends)) {
    for (int64_t row = 0; row < packed.rows; ++row) {
      plan.sequences.push_back(
          {.rows = 1,
           .keys = packed.keys == 0 ? 0 : block_count * block_size,
           .batch = packed.first_row + row,
           .first_row = packed.first_row + row,
           .first_key = packed.first_key,
           .places = mode == kCausal ? std::min(packed.keys, row + 1) : packed.keys});
    }
  }
  const int64_t end = LastEnd(row_ends.values());
  if (end < rows()) plan.sequences.push_back({.rows = rows() - end, .keys = 0, .first_row = end});
  const auto& strides = chosen.tensor().strides;
  plan.pages = {.given = true,
                .chosen = true,
                .rows = block_size,
                .batch_step = strides[0],
                .head_step = strides[1],
                .entry_step = strides[2]};
  return plan;
}

Attention SelectedCall::PlanByBlocks() const {
  Attention plan = AttentionOf(PackedHeads(query), PackedHeads(key), PackedHeads(value), scale, {});
  std::vector<AttentionSequence> sequences = Packed(row_ends, key_ends);
  const int64_t end = LastEnd(key_ends.values());
  sequences.push_back({.rows = 0, .keys = key.dim(0) - end, .first_key = end});
  for (const AttentionSequence& packed : sequences) {
    for (int64_t first = 0; first < packed.keys; first += block_size) {
      plan.sequences.push_back({.rows = packed.rows * block_count,
                                .keys = std::min(block_size, packed.keys - first),
                                .first_row = packed.first_row,
                                .first_key = packed.first_key + first,
                                .after = mode == kCausal ? -first : INT64_MAX});
    }
  }
  return plan;
}

ChosenBlocks::ChosenBlocks(const SelectedCall& call)
    : kv_heads(call.kv_heads()), count(call.block_count), numbers(0) {
  for (const AttentionSequence& packed : Packed(call.row_ends, call.key_ends)) {
    const int64_t blocks = DivideUp(packed.keys, call.block_size);
    batches.push_back({{packed.first_row, packed.rows}, blocks, numbers});
    numbers += blocks;
  }
  numbers += DivideUp(call.key.dim(0) - LastEnd(call.key_ends.values()), call.block_size);
}

Status ChosenBlocks::Check(const Attention& plan, const int32_t* table) const {
  const AttentionPages& pages = plan.pages;
  for (const Batch& batch : batches) {
    for (int64_t row = batch.rows.first; row < batch.rows.first + batch.rows.count; ++row) {
      for (int64_t head = 0; head < kv_heads; ++head) {
        for (int64_t i = 0; i < count; ++i) {
          const int64_t block = pages.Block(table, row, head, i * pages.rows);
          if (block >= -1 && block < batch.blocks) continue;
          return Status(507035, Concat("topkIndices value (", row, ", ", head, ", ", i, ") is ",
                                       block, ", expected -1 to ", batch.blocks - 1,
                                       ", a block of the row's keys or none"));
        }
      }
    }
  }
  return {};
}

void ChosenBlocks::List(const Attention& plan, const int32_t* table, int32_t* rows,
                        int64_t* first) const {
  const AttentionPages& pages = plan.pages;
  const auto for_each = [&](const auto& visit) {
    for (const Batch& batch : batches) {
      for (int64_t row = 0; row < batch.rows.count; ++row) {
        for (int64_t head = 0; head < kv_heads; ++head) {
          for (int64_t i = 0; i < count; ++i) {
            const int64_t block = pages.Block(table, batch.rows.first + row, head, i * pages.rows);
            if (block >= 0) visit((batch.first_block + block) * kv_heads + head, row);
          }
        }
      }
    }
  };
  const int64_t all = numbers * kv_heads;
  std::fill_n(first, all + 1, int64_t{0});
  for_each([&](int64_t number, int64_t) { ++first[number + 1]; });
  for (int64_t number = 0; number < all; ++number) first[number + 1] += first[number];
  // Each list's next place; afterwards that is where the next list begins.
  for_each([&](int64_t number, int64_t row) { rows[first[number]++] = static_cast<int32_t>(row); });
  for (int64_t number = all; number > 0; --number) first[number] = first[number - 1];
  first[0] = 0;
}

}  // namespace openaclnn::supporting
