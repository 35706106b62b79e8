// SPDX-License-Identifier: Apache-2.0
// DeepSeek Sparse Attention: checks and device reads that the indexer and attention share.
#include "supporting/attention/sparse.h"

#include <algorithm>

#include "kernels/work/divide_up.h"
#include "supporting/attention/infer.h"

namespace openaclnn::supporting {
namespace {

constexpr int64_t kMostBatches = 65536;
constexpr int64_t kMostRows = int64_t{1} << 24;  // each is a sequence of the plan

}  // namespace

Heads SparseCall::KeysOf(const Tensor& tensor) const {
  return {tensor, paged() ? "BSND" : k_layout, tensor.last_dim()};
}

Heads SparseCall::PerRow(const Tensor& tensor) const {
  const std::string_view flat = packed() ? "TH" : "BSH";
  return {tensor, tensor.rank() < query.rank() ? flat : q_layout, tensor.last_dim()};
}

int64_t SparseCall::MostKeys() const {
  return paged() ? WrappingProduct(table.dim(1), key.dim(1)) : KeysOf(key).rows;
}

AttentionPages SparseCall::Pages() const {
  if (!paged()) return {};
  const auto& strides = table.tensor().strides;
  return {.given = true,
          .chosen = false,
          .rows = key.dim(1),
          .batch_step = strides[0],
          .entry_step = strides[1]};
}

Shape SparseCall::RowShape(int64_t heads, int64_t more) const {
  if (packed()) return {query.dim(0), heads, more};
  return {query.dim(0), query.dim(1), heads, more};
}

int64_t SparseCall::SeenBy(int64_t mode, int64_t row, const Span& rows, const Span& keys) {
  if (mode == 0) return keys.count;
  return std::clamp<int64_t>(keys.count - rows.count + row + 1, 0, keys.count);
}

void SparseCall::Check(Checker& checker) const {
  checker.That(paged() || k_layout == q_layout, [&] {
    return Concat(layout_name, " value is ", k_layout, ", expected PA_BSND, or ", q_layout,
                  " as of query");
  });
  checker.Rank(query, packed() ? 3 : 4).Rank(key, k_layout == "TND" ? 3 : 4);
  if (!apart) checker.SameDtype(key, query);
  if (whole) {
    checker.That(query.dtype() == ACL_INT8, [&] { return DtypeIs(query, "INT8"); });
  } else {
    CheckType(query, checker);
  }
  const auto check_open = [&](const char* name, int64_t value) {
    checker.That(value == INT64_MAX,
                 [&] { return Concat(name, " value is ", value, ", expected ", INT64_MAX); });
  };
  check_open("preTokens", before);
  check_open("nextTokens", after);
  if (!checker.ok()) return;
  const Heads q = Queries(), k = KeysOf(key);
  CheckWidth(q, checker);
  CheckBatches(query, q, kMostBatches, checker);
  checker.That(q.rows <= kMostRows && q.batches <= kMostRows / std::max<int64_t>(q.rows, 1), [&] {
    return Concat("query shape is ", ShapeText(query), ", expected at most ", kMostRows, " rows");
  });
  checker.That(
      (paged() || k.batches == q.batches) && k.heads == 1 && (apart || k.elements == q.elements),
      [&] {
        return Concat("key shape is ", ShapeText(key), ", expected one head with ",
                      paged() ? "" : "the batches and ", "the width of query's");
      });
  if (checker.ok()) CheckLists(checker);
}

void SparseCall::CheckLists(Checker& checker) const {
  checker.That(paged() == table.present(), [&] {
    return Concat(table_name, " value is ", table.present() ? "a tensor" : "null", ", expected ",
                  paged() ? "a tensor" : "null", " as ", layout_name, " is ", k_layout);
  });
  checker.That(!packed() || row_lengths.rank() == 1, [&] {
    return Concat(row_lengths.name(), " value is ",
                  row_lengths.present() ? "of another rank" : "null",
                  ", expected a tensor of rank 1 with the ends of sequences");
  });
  if (!checker.ok()) return;
  DeviceLengths::Check(row_lengths, packed(), batches(), checker);
  DeviceLengths::Check(key_lengths, k_layout == "TND", batches(), checker);
  if (!paged() || !checker.ok()) return;
  checker.That(key_lengths.present(), [&] {
    return Concat(key_lengths.name(), " value is null, expected the keys of each batch, as ",
                  layout_name, " is PA_BSND");
  });
  checker.That(table.dtype() == ACL_INT32, [&] { return DtypeIs(table, "INT32"); });
  checker.That(table.rank() == 2 && table.dim(0) == batches() && key.dim(1) > 0, [&] {
    return Concat(table_name, " shape is ", ShapeText(table), ", expected (", batches(),
                  ", blocks of a sequence) of blocks with rows");
  });
}

ChosenKeys::ChosenKeys(const SparseCall& call, const Tensor& indices, int64_t block_size)
    : mode(call.mode),
      size(block_size),
      count(indices.last_dim()),
      rows(call.Queries().rows),
      packed(call.packed()) {
  const Heads entries = call.PerRow(indices);
  pages = {.given = true,
           .chosen = true,
           .rows = size,
           .batch_step = entries.lie.batch_step,
           .head_step = entries.lie.head_step,
           .entry_step = entries.lie.element_step,
           .row_step = entries.lie.row_step};
}

std::vector<AttentionSequence> ChosenKeys::Sequences(const SparseCall& call) const {
  std::vector<AttentionSequence> sequences;
  for (int64_t batch = 0; batch < call.Queries().batches; ++batch) {
    for (int64_t row = 0; row < rows; ++row) {
      sequences.push_back({.rows = 1, .keys = count * size, .batch = batch, .first_row = row});
    }
  }
  return sequences;
}

Status ChosenKeys::Set(const void* table, const SparseSpans& spans,
                       std::vector<AttentionSequence>* sequences) const {
  for (AttentionSequence& of : *sequences) of.keys = 0;
  Status found;
  for (size_t i = 0; i < spans.rows.size() && found.ok(); ++i) {
    found = SetBatch(table, static_cast<int64_t>(i), spans.rows[i], spans.keys[i], sequences);
  }
  return found;
}

Status ChosenKeys::SetBatch(const void* table, int64_t batch, const Span& of_rows,
                            const Span& of_keys, std::vector<AttentionSequence>* sequences) const {
  const int64_t blocks = DivideUp(of_keys.count, size);
  for (int64_t i = 0; i < of_rows.count; ++i) {
    const int64_t row = of_rows.first + i;
    for (int64_t entry = 0; entry < count; ++entry) {
      const int64_t block = pages.Block(table, batch, 0, entry * size, row);
      if (block >= -1 && block < blocks) continue;
      return Status(507035,
                    Concat("sparseIndices value ", entry, " of row ", row,
                           packed ? "" : Concat(" of batch ", batch), " is ", block,
                           ", expected -1 to ", blocks - 1, ", a block of the row's keys or none"));
    }
    AttentionSequence& of = (*sequences)[static_cast<size_t>(packed ? row : batch * rows + row)];
    of.batch = batch;
    of.places = SparseCall::SeenBy(mode, i, of_rows, of_keys);
    of.keys = of.places == 0 ? 0 : count * size;
    of.first_key = of_keys.first;
  }
  return {};
}

SparseReader::SparseReader(const SparseCall& call)
    : rows_(call.row_lengths, call.packed(), call.batches(), call.Queries().rows),
      keys_(call.key_lengths, call.k_layout == "TND", call.batches(), call.MostKeys()),
      pages_(call.Pages()),
      table_(call.table.place),
      blocks_(call.key.dim(0)) {}

const int32_t* SparseReader::Table(const Buffers& buffers) const {
  return pages_.given ? reinterpret_cast<const int32_t*>(table_(buffers)) : nullptr;
}

Status SparseReader::Read(const Buffers& buffers, SparseSpans* spans) const {
  Status found = rows_.Read(buffers, &spans->rows);
  if (found.ok()) found = keys_.Read(buffers, &spans->keys);
  for (size_t i = 0; pages_.given && found.ok() && i < spans->keys.size(); ++i) {
    found = CheckEntries(pages_, static_cast<int64_t>(i), spans->keys[i], Table(buffers), blocks_);
  }
  return found;
}

}  // namespace openaclnn::supporting
