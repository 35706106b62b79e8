// SPDX-License-Identifier: Apache-2.0
// Native Sparse Attention of inference: the checks that its operators share, and the places of
// their operands.
#include "supporting/attention/paged.h"

#include <algorithm>

#include "supporting/attention/sequences.h"

namespace openaclnn::supporting {
namespace {

constexpr int64_t kMostBatches = 65536;  // each is a sequence of the plan

}  // namespace

std::string_view PagedCall::letters() const {
  const std::string_view name = layout;
  return name == "TND" ? "BND" : name == "BSND" ? "BSND" : "BSH";
}

Heads PagedCall::Cached(const Tensor& cache) const {
  const std::string_view of = cache.rank() == 3 ? "BSH" : "BSND";
  return {cache, of, WidthOf(cache, of, served)};
}

Shape PagedCall::ResultShape() const {
  Shape shape;
  for (uint32_t i = 0; i + 1 < query.rank(); ++i) shape.push_back(query.dim(i));
  shape.push_back(HasWidth(letters()) ? Values().elements : heads * Values().elements);
  return shape;
}

int64_t PagedCall::KeysOf(int64_t batch) const {
  return key_counts.values()[static_cast<size_t>(batch)];
}

void PagedCall::Check(Checker& checker) const {
  checker.That(heads > 0 && served > 0 && heads % served == 0, [&] {
    return Concat("numKeyValueHeads value is ", served, ", expected a divisor of numHeads, ",
                  heads);
  });
  checker.Rank(query, static_cast<uint32_t>(letters().size()));
  checker.RankBetween(key, 3, 4).Rank(value, key.rank());
  checker.SameDtype(key, query).SameDtype(value, query);
  CheckType(query, checker);
  checker.That(table.present(), [&] {
    return Concat(table.name(), " value is null, expected a tensor: keys are in blocks of a cache");
  });
  if (checker.ok()) CheckShapes(checker);
  if (checker.ok()) CheckTable(checker);
}

void PagedCall::CheckShapes(Checker& checker) const {
  const Heads q = Queries(), k = Keys(), v = Values();
  CheckWidth(q, checker);
  CheckBatches(query, q, kMostBatches, checker);
  checker.That(q.heads == heads && q.rows == 1, [&] {
    return Concat("query shape is ", ShapeText(query), ", expected ", heads,
                  " heads and one row of each batch");
  });
  checker.That(k.heads == served && k.elements == q.elements, [&] {
    return Concat("key shape is ", ShapeText(key), ", expected ", served,
                  " heads with the width of query's, ", q.elements);
  });
  checker.That(v.batches == k.batches && v.rows == k.rows && v.heads == k.heads && v.elements > 0 &&
                   v.elements <= k.elements,
               [&] {
                 return Concat("value shape is ", ShapeText(value), ", expected that of key, ",
                               ShapeText(key), ", but for a width of heads that may be less");
               });
  checker.That(page_rows > 0 && page_rows == k.rows, [&] {
    return Concat("pageBlockSize value is ", page_rows, ", expected ", k.rows,
                  ", the rows of each block of key, and at least 1");
  });
}

void PagedCall::CheckTable(Checker& checker) const {
  const int64_t batches = Queries().batches;
  checker.That(table.dtype() == ACL_INT32, [&] { return DtypeIs(table, "INT32"); });
  checker.That(table.rank() == 2 && table.dim(0) == batches, [&] {
    return Concat(table.name(), " shape is ", ShapeText(table), ", expected (", batches,
                  ", blocks of a sequence)");
  });
  const auto counts = static_cast<int64_t>(key_counts.values().size());
  checker.That(counts == batches, [&] {
    return Concat(key_counts.name(), " size is ", counts, ", expected ", batches,
                  ", the number of batches");
  });
  if (checker.ok()) {
    CheckLengths(key_counts, batches, WrappingProduct(table.dim(1), page_rows), checker);
  }
}

void PagedCall::CheckOneRow(const IntList& lengths, Checker& checker) const {
  const auto values = lengths.values();
  const int64_t batches = Queries().batches;
  const bool ones = std::all_of(values.begin(), values.end(), [](int64_t n) { return n == 1; });
  checker.That(values.empty() || (ones && static_cast<int64_t>(values.size()) == batches), [&] {
    return Concat(lengths.name(), " value is ", ListText(values), ", expected 1 for each of ",
                  batches, " batches, or none");
  });
}

Attention PagedCall::Plan() const { return AttentionOf(Queries(), Keys(), Values(), scale, {}); }

AttentionPages PagedCall::Pages() const {
  const auto& strides = table.tensor().strides;
  return {.given = true,
          .chosen = false,
          .rows = page_rows,
          .batch_step = strides[0],
          .head_step = 0,
          .entry_step = strides[1]};
}

}  // namespace openaclnn::supporting
