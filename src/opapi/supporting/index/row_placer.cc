// SPDX-License-Identifier: Apache-2.0
// A row is combined where its places are, counted as they are met; where one is met too often for a
// sum in sequence, or most are not met, in the order of its places.
#include "supporting/index/row_placer.h"

#include <algorithm>
#include <limits>

#include "kernels/index/hits.h"
#include "kernels/index/selection.h"
#include "kernels/rows/double_rows.h"
#include "supporting/tree_sum.h"

namespace openaclnn::supporting {
namespace {

constexpr int64_t kPiece = 512;
constexpr int64_t kGroup = 8;
constexpr int64_t kLine = 64;
constexpr int64_t kMostInSequence = 63;  // beside what is there, of the tree's 64
constexpr int64_t kAlignment = 64;

__int128 Aligned(__int128 bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// How often a place was met; in a row that is longer than it counts it stops behind
/// kMostInSequence.
using Times = uint16_t;
constexpr int64_t kMostTimes = std::numeric_limits<Times>::max();

/// The layout of a table of all places: their totals, how often each was met, the totals as they
/// are stored. Numbers are bytes from its beginning.
struct Counted {
  Counted(int64_t limit, int64_t element_bytes) : met(Aligned(__int128{limit} * 8)) {
    packed = met + Aligned(__int128{limit} * sizeof(Times));
    bytes = packed + Aligned(__int128{limit} * element_bytes);
  }
  __int128 met, packed, bytes;
};

/// The bytes of a row's hits; sorted ones take as many again.
__int128 HitBytes(int64_t count) { return Aligned(__int128{count} * sizeof(Hit)); }

/// A table of `limit` places costs less than sorting the hits.
bool IsDense(int64_t limit, int64_t count) { return limit / 4 <= count; }

/// Values that go to places of a table, and what is asked for meanwhile: the output's next row, so
/// many bytes for each kGroup of them.
template <class Value>
struct Placed {
  const int64_t* places;
  const Value* values;
  int64_t n;
  const std::byte* next;
  int64_t next_step;
};

/// Calls body(place, value). What is used soon is asked for, which the hardware alone does not do
/// early enough while places are random: sums of rows of 2,048 take 0.5 to 0.8 of the time on a
/// Zen 4.
template <class Value, class Body>
void ForPlaced(const Placed<Value>& placed, const Body& body) {
  const auto [places, values, n, next, next_step] = placed;
  int64_t i = 0;
  for (const std::byte* at = next; i + kGroup <= n; i += kGroup, at += next_step) {
    __builtin_prefetch(places + i + kPiece);
    __builtin_prefetch(values + i + kPiece);
    __builtin_prefetch(at);
    for (int64_t j = i; j < i + kGroup; ++j) body(places[j], values[j]);
  }
  for (; i < n; ++i) body(places[i], values[i]);
}

template <bool kStops, class T, class Value>
void AddTo(const Placed<Value>& placed, T* totals, Times* met) {
  ForPlaced(placed, [=](int64_t place, Value value) {
    totals[place] += value;
    const Times before = met[place];
    met[place] = static_cast<Times>(before + (kStops && before > kMostInSequence ? 0 : 1));
  });
}

template <class T, class Value>
void MultiplyBy(const Placed<Value>& placed, T* totals, Times* met) {
  ForPlaced(placed, [=](int64_t place, Value value) {
    totals[place] *= value;
    met[place] = 1;
  });
}

/// to[i] = from[i] where met[i] is not 0, dense. Others may be written by another task meanwhile,
/// so what is not to be stored goes elsewhere: a branch would often be foreseen wrongly.
template <class Element>
void SetWhereMet(const Times* met, const std::byte* from, int64_t n, std::byte* to) {
  const auto* const source = reinterpret_cast<const Element*>(from);
  Element elsewhere = 0;
  const auto other = reinterpret_cast<uintptr_t>(&elsewhere),
             target = reinterpret_cast<uintptr_t>(to);
  for (int64_t i = 0; i < n; ++i) {
    const uintptr_t chosen = uintptr_t{0} - static_cast<uintptr_t>(met[i] != 0);
    const uintptr_t place = target + static_cast<uintptr_t>(i) * sizeof(Element);
    *reinterpret_cast<Element*>(other ^ ((other ^ place) & chosen)) = source[i];
  }
}

/// Combines the values of one place, of which the first may be what is there.
template <class T>
class Meeting {
 public:
  explicit Meeting(Placing placing) : placing_(placing) {}

  void Add(T value) {
    ++terms_;
    if (placing_ == Placing::kMultiply) {
      total_ = terms_ == 1 ? value : Multiplied(total_, value);
    } else if (placing_ == Placing::kAdd || placing_ == Placing::kMean) {
      sum_.Add(value);
    } else if constexpr (!std::is_same_v<T, Pair>) {
      const bool better = placing_ == Placing::kLargest ? value > total_ : value < total_;
      if (terms_ == 1 || IsNan(value) || (!IsNan(total_) && better)) total_ = value;
    }
  }

  T Total() {
    if (placing_ == Placing::kAdd) return sum_.Total();
    return placing_ == Placing::kMean ? Mean(sum_.Total()) : total_;
  }

 private:
  /// A mean of integers is rounded down.
  T Mean(T sum) const {
    if constexpr (std::is_integral_v<T>) {
      return sum / terms_ - (sum % terms_ < 0 ? 1 : 0);
    } else {
      return sum / static_cast<double>(terms_);
    }
  }

  Placing placing_;
  int64_t terms_ = 0;
  T total_{};
  TreeSum<T> sum_;
};

}  // namespace

struct RowPlacer::Addresses {
  std::byte *index, *values, *out;
  const std::byte* next_out;  // where the next row is, which is prefetched
};

RowPlacer::RowPlacer(const Operand& out, uint32_t dim, Placing placing, const Operand& index,
                     const Operand* values, const Value& value)
    : dtype_(out.dtype()),
      bytes_(BytesOf(out)),
      placing_(placing),
      load_pairs_(out),
      store_pairs_(out) {
  Shape shape = index.rank() == 0 ? Shape{1} : ShapeOf(index);
  reader_ = IndexReader(index, shape);
  Shape from = Steps(shape, index).bytes, to(shape.size(), 0), of_values(shape.size(), 0);
  for (uint32_t d = 0; d < out.rank(); ++d) to[d] = out.tensor().strides[d] * bytes_;
  if (out.rank() > 0) limit_ = out.dim(dim);
  if (values != nullptr) {
    for (uint32_t d = 0; d < values->rank(); ++d)
      of_values[d] = values->tensor().strides[d] * bytes_;
  } else {
    value_ = value.In(dtype_);
  }
  const auto take = [dim](Shape* each) {
    const int64_t taken = (*each)[dim];
    each->erase(each->begin() + dim);
    return taken;
  };
  count_ = take(&shape);
  index_step_ = take(&from);
  indices_as_they_are_ = IndexReader::DenseBytes(index, index_step_) == sizeof(int64_t);
  out_step_ = take(&to);
  value_step_ = take(&of_values);
  const auto rank = static_cast<uint32_t>(shape.size());
  index_rows_ = Offsets(shape.data(), from.data(), rank);
  out_rows_ = Offsets(shape.data(), to.data(), rank);
  value_rows_ = Offsets(shape.data(), of_values.data(), rank);
  rows_ = CountOf(shape);
  blocks_ = std::min(rows_, BlockCount(rows_ * count_, 16384, 16));
  // At most a line for a group: few places of a long row are not worth asking for all.
  const __int128 bytes_for_group = (__int128{limit_} * bytes_ * kGroup + count_ - 1) / count_;
  if (out_step_ == bytes_ && bytes_for_group <= kLine) {
    next_step_ = static_cast<int64_t>(bytes_for_group);
  }
  if (placing == Placing::kSet) return;
  block_bytes_ = 2 * HitBytes(count_);
  if (IsDense(limit_, count_) && !IsComplex(out)) {
    block_bytes_ = std::max(block_bytes_, Counted(limit_, bytes_).bytes);
  }
}

RowPlacer::Addresses RowPlacer::RowOf(int64_t row, const Addresses& origins) const {
  std::byte* const values = value_ ? nullptr : origins.values + value_rows_(row);
  return {origins.index + index_rows_(row), values, origins.out + out_rows_(row),
          origins.out + out_rows_(std::min(row + 1, rows_ - 1))};
}

/// Calls body(first, placed) for pieces of a row. What needs no conversion is read where it is.
template <class T, class Body>
void RowPlacer::ForPieces(const Addresses& row, const Body& body) const {
  if constexpr (!std::is_integral_v<T>) {
    if (dtype_ == ACL_FLOAT && value_step_ == sizeof(float)) {
      return ForPiecesOf<float>(row, nullptr, body);
    }
  }
  const bool as_they_are =
      value_step_ == sizeof(T) && dtype_ == (std::is_integral_v<T> ? ACL_INT64 : ACL_DOUBLE);
  ForPiecesOf<T>(row, as_they_are ? nullptr : LoaderOf<T>(dtype_), body);
}

/// Values are read where they are if `load` is null.
template <class Value, class Body>
void RowPlacer::ForPiecesOf(const Addresses& row, LoadRow<Value> load, const Body& body) const {
  int64_t converted_indices[kPiece];
  Value converted[kPiece];
  if (value_) std::fill_n(converted, kPiece, value_->As<Value>(dtype_));
  for (int64_t first = 0; first < count_; first += kPiece) {
    std::byte* const index_at = row.index + first * index_step_;
    std::byte* const values_at = row.values + first * value_step_;
    const std::byte* const next = row.next_out + first / kGroup * next_step_;
    Placed<Value> placed = {reinterpret_cast<const int64_t*>(index_at),
                            reinterpret_cast<const Value*>(values_at),
                            std::min(kPiece, count_ - first), next, next_step_};
    if (!indices_as_they_are_) {
      reader_.load(index_at, index_step_, placed.n, converted_indices);
      placed.places = converted_indices;
    }
    if (value_ || load != nullptr) {
      if (!value_) load(values_at, value_step_, placed.n, converted);
      placed.values = converted;
    }
    body(first, placed);
  }
}

template <class Body>
void RowPlacer::ForIndices(const Addresses& row, const Body& body) const {
  int64_t indices[kPiece];
  for (int64_t first = 0; first < count_; first += kPiece) {
    const int64_t n = std::min(kPiece, count_ - first);
    reader_.load(row.index + first * index_step_, index_step_, n, indices);
    for (int64_t i = 0; i < n; ++i) body(first + i, indices[i]);
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
  ForPieces<T>(row, [&](int64_t, const auto& placed) {
    for (int64_t i = 0; i < placed.n; ++i) {
      const T value = placed.values[i];
      store(&value, 1, row.out + placed.places[i] * out_step_, 0);
    }
  });
}

/// Combines in a table of all places. Returns false, and writes nothing, if a place is met too
/// often.
template <class T>
bool RowPlacer::CombineCounted(const Addresses& row, std::byte* scratch) const {
  const Counted table(limit_, bytes_);
  T* const totals = reinterpret_cast<T*>(scratch);
  auto* const met = reinterpret_cast<Times*>(scratch + table.met);
  std::byte* const packed = scratch + table.packed;
  LoaderOf<T>(dtype_)(row.out, out_step_, limit_, totals);
  std::fill_n(met, limit_, Times{0});
  const bool adds = placing_ == Placing::kAdd, stops = count_ > kMostTimes;
  if constexpr (!std::is_integral_v<T>) {
    // A sum begins with zero, which tells of -0.
    if (adds) OPENACLNN_TARGET_SELECT(kDoubleRowKernels)->move(totals, 1, 0, limit_);
  }
  ForPieces<T>(row, [&](int64_t, const auto& placed) {
    if (!adds) return MultiplyBy(placed, totals, met);
    stops ? AddTo<true>(placed, totals, met) : AddTo<false>(placed, totals, met);
  });
  Times most = 0;
  for (int64_t i = 0; i < limit_; ++i) most = std::max(most, met[i]);
  if (adds && most > kMostInSequence) return false;
  StorerOf<T>(dtype_)(totals, limit_, packed, bytes_);
  WriteMet(met, packed, row.out);
  return true;
}

/// Elements that no index names keep their bits.
void RowPlacer::WriteMet(const uint16_t* met, const std::byte* packed, std::byte* out) const {
  if (out_step_ == bytes_) {
    switch (bytes_) {
      case 1:
        return SetWhereMet<uint8_t>(met, packed, limit_, out);
      case 2:
        return SetWhereMet<uint16_t>(met, packed, limit_, out);
      case 4:
        return SetWhereMet<uint32_t>(met, packed, limit_, out);
      default:
        return SetWhereMet<uint64_t>(met, packed, limit_, out);
    }
  }
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
auto RowPlacer::Loader() const {
  if constexpr (std::is_same_v<T, Pair>) {
    return load_pairs_;
  } else {
    return LoaderOf<T>(dtype_);
  }
}

template <class T>
auto RowPlacer::Storer() const {
  if constexpr (std::is_same_v<T, Pair>) {
    return store_pairs_;
  } else {
    return StorerOf<T>(dtype_);
  }
}

template <class T>
void RowPlacer::CombineSorted(const Addresses& row, std::byte* scratch) const {
  const auto load = Loader<T>();
  const auto store = Storer<T>();
  Hit* hits = reinterpret_cast<Hit*>(scratch);
  ForIndices(row, [&](int64_t i, int64_t place) { hits[i] = {place, i}; });
  hits = SortHits(hits, reinterpret_cast<Hit*>(scratch + HitBytes(count_)), count_,
                  static_cast<uint64_t>(limit_));
  for (int64_t i = 0; i < count_;) {
    std::byte* const out = row.out + hits[i].row * out_step_;
    T total{}, value{};
    if constexpr (!std::is_same_v<T, Pair>) {
      if (value_) value = value_->As<T>(dtype_);
    }
    Meeting<T> meeting(placing_);
    if (includes_self_) {
      load(out, 0, 1, &total);
      meeting.Add(total);
    }
    for (const int64_t place = hits[i].row; i < count_ && hits[i].row == place; ++i) {
      if (!value_) load(row.values + hits[i].token * value_step_, 0, 1, &value);
      meeting.Add(value);
    }
    total = meeting.Total();
    store(&total, 1, out, 0);
  }
}

bool RowPlacer::Counts() const {
  const bool known = placing_ == Placing::kAdd || placing_ == Placing::kMultiply;
  return known && includes_self_ && IsDense(limit_, count_);
}

template <class T>
void RowPlacer::Combine(const Addresses& row, std::byte* scratch) const {
  if (placing_ == Placing::kSet) return SetConverted<T>(row);
  if (Counts() && CombineCounted<T>(row, scratch)) return;
  CombineSorted<T>(row, scratch);
}

void RowPlacer::operator()(std::byte* index, std::byte* values, std::byte* out,
                           void* workspace) const {
  const bool moved = placing_ == Placing::kSet && !value_ && dtype_ != ACL_BOOL;
  const bool integer = DomainOf(dtype_) == Domain::kInteger,
             pairs = Contains(kComplexTypes, dtype_);
  ParallelFor(blocks_, [&](int64_t block) {
    std::byte* const scratch = static_cast<std::byte*>(workspace) + block_bytes_ * block;
    const int64_t end = BlockBegin(rows_, blocks_, block + 1);
    for (int64_t i = BlockBegin(rows_, blocks_, block); i < end; ++i) {
      const Addresses row = RowOf(i, {index, values, out, out});
      if (moved) {
        Set(row);
      } else if (pairs) {  // of tensors: ScatterValue takes no complex numbers
        CombineSorted<Pair>(row, scratch);
      } else {
        integer ? Combine<int64_t>(row, scratch) : Combine<double>(row, scratch);
      }
    }
  });
}

}  // namespace openaclnn::supporting
