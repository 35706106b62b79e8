// SPDX-License-Identifier: Apache-2.0
// A row is combined where its places are, counted as they are met; where one is met too often for a
// sum in sequence, or most are not met, in the order of its places.
#include "supporting/index/row_placer.h"

#include <algorithm>

#include "kernels/hits.h"
#include "kernels/selection.h"
#include "supporting/tree_sum.h"

namespace openaclnn::supporting {
namespace {

constexpr int64_t kPiece = 512;
constexpr int64_t kMostInSequence = 63;  // beside what is there, of the tree's 64
constexpr int64_t kAlignment = 64;

__int128 Aligned(__int128 bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// Of a table of all places: their totals, how often each was met, the totals as they are stored.
struct Counted {
  Counted(int64_t limit, int64_t element_bytes) : met(Aligned(__int128{limit} * 8)) {
    packed = met + Aligned(limit);
    bytes = packed + Aligned(__int128{limit} * element_bytes);
  }
  __int128 met, packed, bytes;
};

/// Of the hits of a row, where the sorted ones go.
__int128 HitBytes(int64_t count) { return Aligned(__int128{count} * sizeof(Hit)); }

/// A table of `limit` places costs less than sorting the hits.
bool IsDense(int64_t limit, int64_t count) { return limit / 4 <= count; }

}  // namespace

struct RowPlacer::Addresses {
  std::byte *index, *values, *out;
};

RowPlacer::RowPlacer(const Operand& out, uint32_t dim, Placing placing, const Operand& index,
                     const Operand* values, const Value& value)
    : dtype_(out.dtype()), bytes_(BytesOf(out)), placing_(placing) {
  Shape shape = index.rank() == 0 ? Shape{1} : ShapeOf(index);
  reader_ = IndexReader(index, shape);
  Shape from = Steps(shape, index).bytes, to(shape.size(), 0), of_values(shape.size(), 0);
  for (uint32_t d = 0; d < out.rank(); ++d) to[d] = out.tensor().strides[d] * bytes_;
  if (out.rank() > 0) limit_ = out.dim(dim);
  if (values != nullptr) {
    for (uint32_t d = 0; d < values->rank(); ++d)
      of_values[d] = values->tensor().strides[d] * bytes_;
  } else {
    value_ = value;
  }
  const auto take = [dim](Shape* each) {
    const int64_t taken = (*each)[dim];
    each->erase(each->begin() + dim);
    return taken;
  };
  count_ = take(&shape);
  index_step_ = take(&from);
  out_step_ = take(&to);
  value_step_ = take(&of_values);
  const auto rank = static_cast<uint32_t>(shape.size());
  index_rows_ = Offsets(shape.data(), from.data(), rank);
  out_rows_ = Offsets(shape.data(), to.data(), rank);
  value_rows_ = Offsets(shape.data(), of_values.data(), rank);
  rows_ = CountOf(shape);
  blocks_ = std::min(rows_, BlockCount(rows_ * count_, 16384, 16));
  if (placing == Placing::kSet) return;
  block_bytes_ = 2 * HitBytes(count_);
  if (IsDense(limit_, count_)) block_bytes_ = std::max(block_bytes_, Counted(limit_, bytes_).bytes);
}

RowPlacer::Addresses RowPlacer::RowOf(int64_t row, const Addresses& origins) const {
  std::byte* const values = value_ ? nullptr : origins.values + value_rows_(row);
  return {origins.index + index_rows_(row), values, origins.out + out_rows_(row)};
}

/// Calls body(first, n, indices, values) for pieces of a row.
template <class T, class Body>
void RowPlacer::ForPieces(const Addresses& row, const Body& body) const {
  const auto load = LoaderOf<T>(dtype_);
  int64_t indices[kPiece];
  T values[kPiece];
  if (value_) std::fill_n(values, kPiece, value_->As<T>());
  for (int64_t first = 0; first < count_; first += kPiece) {
    const int64_t n = std::min(kPiece, count_ - first);
    reader_.load(row.index + first * index_step_, index_step_, n, indices);
    if (!value_) load(row.values + first * value_step_, value_step_, n, values);
    body(first, n, indices, values);
  }
}

/// The bits of the values stay as they are.
void RowPlacer::Set(const Addresses& row) const {
  int64_t indices[kPiece];
  for (int64_t first = 0; first < count_; first += kPiece) {
    const int64_t n = std::min(kPiece, count_ - first);
    reader_.load(row.index + first * index_step_, index_step_, n, indices);
    for (int64_t i = 0; i < n; ++i) indices[i] *= out_step_;
    PutElements(row.values + first * value_step_, value_step_, indices, n, row.out, bytes_);
  }
}

template <class T>
void RowPlacer::SetConverted(const Addresses& row) const {
  const auto store = StorerOf<T>(dtype_);
  ForPieces<T>(row, [&](int64_t, int64_t n, const int64_t* indices, const T* values) {
    for (int64_t i = 0; i < n; ++i) store(values + i, 1, row.out + indices[i] * out_step_, 0);
  });
}

/// In a table of all places. False if one is met too often; then nothing is written.
template <class T>
bool RowPlacer::CombineCounted(const Addresses& row, std::byte* scratch) const {
  const Counted table(limit_, bytes_);
  T* const totals = reinterpret_cast<T*>(scratch);
  auto* const met = reinterpret_cast<uint8_t*>(scratch + table.met);
  std::byte* const packed = scratch + table.packed;
  LoaderOf<T>(dtype_)(row.out, out_step_, limit_, totals);
  std::fill_n(met, limit_, uint8_t{0});
  bool often = false;
  const bool adds = placing_ == Placing::kAdd;
  // A sum begins with zero, which tells of -0.
  for (int64_t i = 0; adds && i < limit_; ++i) totals[i] += T{};
  ForPieces<T>(row, [&](int64_t, int64_t n, const int64_t* indices, const T* values) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t place = indices[i];
      if (adds) {
        totals[place] += values[i];
        often = often || met[place] == kMostInSequence;
        met[place] = static_cast<uint8_t>(met[place] + (met[place] < kMostInSequence ? 1 : 0));
      } else {
        totals[place] *= values[i];
        met[place] = 1;
      }
    }
  });
  if (often) return false;
  StorerOf<T>(dtype_)(totals, limit_, packed, bytes_);
  WriteMet(met, packed, row.out);
  return true;
}

/// What no index names keeps its bits.
void RowPlacer::WriteMet(const uint8_t* met, const std::byte* packed, std::byte* out) const {
  for (int64_t first = 0; first < limit_; first += kPiece) {
    int64_t from[kPiece], to[kPiece], n = 0;
    for (int64_t i = first; i < std::min(first + kPiece, limit_); ++i) {
      from[n] = i * bytes_;
      to[n] = i * out_step_;
      n += met[i] != 0 ? 1 : 0;
    }
    std::byte totals[kPiece * 8];
    PickElements(packed, from, n, totals, bytes_, bytes_);
    PutElements(totals, bytes_, to, n, out, bytes_);
  }
}

template <class T>
void RowPlacer::CombineSorted(const Addresses& row, std::byte* scratch) const {
  const auto load = LoaderOf<T>(dtype_);
  const auto store = StorerOf<T>(dtype_);
  Hit* hits = reinterpret_cast<Hit*>(scratch);
  ForPieces<T>(row, [&](int64_t first, int64_t n, const int64_t* indices, const T*) {
    for (int64_t i = 0; i < n; ++i) hits[first + i] = {indices[i], first + i};
  });
  hits = SortHits(hits, reinterpret_cast<Hit*>(scratch + HitBytes(count_)), count_,
                  static_cast<uint64_t>(limit_));
  for (int64_t i = 0; i < count_;) {
    std::byte* const out = row.out + hits[i].row * out_step_;
    T total{}, value = value_ ? value_->As<T>() : T{};
    load(out, 0, 1, &total);
    TreeSum<T> sum;
    sum.Add(total);
    for (const int64_t place = hits[i].row; i < count_ && hits[i].row == place; ++i) {
      if (!value_) load(row.values + hits[i].token * value_step_, 0, 1, &value);
      if (placing_ == Placing::kMultiply) {
        total *= value;
      } else {
        sum.Add(value);
      }
    }
    if (placing_ == Placing::kAdd) total = sum.Total();
    store(&total, 1, out, 0);
  }
}

template <class T>
void RowPlacer::Combine(const Addresses& row, std::byte* scratch) const {
  if (placing_ == Placing::kSet) return SetConverted<T>(row);
  if (IsDense(limit_, count_) && CombineCounted<T>(row, scratch)) return;
  CombineSorted<T>(row, scratch);
}

void RowPlacer::operator()(std::byte* index, std::byte* values, std::byte* out,
                           void* workspace) const {
  const bool moved = placing_ == Placing::kSet && !value_ && dtype_ != ACL_BOOL;
  const bool integer = DomainOf(dtype_) == Domain::kInteger;
  ParallelFor(blocks_, [&](int64_t block) {
    std::byte* const scratch = static_cast<std::byte*>(workspace) + block_bytes_ * block;
    const int64_t end = BlockBegin(rows_, blocks_, block + 1);
    for (int64_t i = BlockBegin(rows_, blocks_, block); i < end; ++i) {
      const Addresses row = RowOf(i, {index, values, out});
      if (moved) {
        Set(row);
      } else {
        integer ? Combine<int64_t>(row, scratch) : Combine<double>(row, scratch);
      }
    }
  });
}

}  // namespace openaclnn::supporting
