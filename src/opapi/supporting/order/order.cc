// SPDX-License-Identifier: Apache-2.0
// Rows in order: Sort, ArgSort, Topk, Kthvalue and medians. Equal elements keep their order, and
// NaN counts as the largest.
#include "generated/order.h"

#include <algorithm>
#include <optional>

#include "kernels/index/order.h"
#include "kernels/index/order_scan.h"
#include "supporting/along.h"
#include "supporting/in_turn.h"
#include "supporting/row_group.h"

namespace openaclnn::supporting {
namespace {

// Elements to one that is asked for, from which on most are only compared with a bound.
constexpr int64_t kManyForOne = 8;

constexpr int64_t kManyRows = 256;  // from which a thread takes several at once

/// Which part of the order a call asks for.
struct Part {
  int64_t dim = 0;
  bool descending = false;
  int64_t begin = 0, count = 0;    // of the ordered places
  const Tensor &values, &indices;  // the outputs; one may be missing
  bool nan_first = false;          // a NaN stands for its row
  bool no_nan = false;             // `begin` is the lower middle of the others
};

/// Where a result goes; a row of one element, where the dimension is gone or has length 1, is
/// dense.
template <class T>
struct Result {
  Result(const Tensor& out, uint32_t dim, bool single)
      : place(out.place), rows(out, single ? 0 : dim), store(StorerOf<T>(out.dtype())) {
    if (!single) return;
    rows.offsets = Offsets(out, out.rank());
    rows.step = rows.bytes;
  }

  Place place;
  Rows rows;
  StoreRow<T> store;
};

/// Rows of self in order, as integers of their own that compare alike.
template <class T, class Entry>
struct Ordering {
  /// Orders one row.
  void Order(const std::byte* row) {
    values.resize(static_cast<size_t>(width));
    load(row, bytes, width, values.data());
    if (no_nan) {
      const int64_t numbers =
          std::count_if(values.begin(), values.end(), [](T v) { return !IsNan(v); });
      begin = std::max<int64_t>(numbers - 1, 0) / 2;
    }
    FindPlaces();
    if (nan_first) {
      const auto nan = std::find_if(values.begin(), values.end(), [](T v) { return IsNan(v); });
      if (nan != values.end()) places[0] = nan - values.begin();
    }
    chosen.clear();
    for (const int64_t place : places) chosen.push_back(values[static_cast<size_t>(place)]);
  }

  void FindPlaces() {
    if constexpr (std::is_same_v<T, float> && std::is_same_v<Entry, ShortEntry>) {
      if (begin == 0 && count <= width / kManyForOne) return FindFew();
    }
    entries.resize(values.size());
    using Key = typename Entry::Key;
    const Key inverted = descending ? ~Key{0} : Key{0};
    // The low half of 64 bits tells short integers apart, with the sign where KeyOf put it.
    for (int64_t i = 0; i < width; ++i) {
      const auto key = KeyOf(values[static_cast<size_t>(i)]);
      const uint64_t sign = sizeof key > sizeof(Key) ? uint64_t{1} << 31 : 0;
      entries[static_cast<size_t>(i)] = Entry(static_cast<Key>((key ^ sign) ^ inverted), i);
    }
    PutInOrder(&entries, begin, count);
    TakePlaces();
  }

  /// A few of many floats: no entries are made of most.
  void FindFew() {
    keys.resize(values.size());
    KeyScans()->keys(values.data(), width, descending ? ~uint32_t{0} : 0, keys.data());
    FirstInOrder(keys, count, &entries);
    TakePlaces();
  }

  void TakePlaces() {
    places.clear();
    for (int64_t i = 0; i < count; ++i) {
      places.push_back(entries[static_cast<size_t>(begin + i)].place());
    }
  }

  LoadRow<T> load;
  int64_t bytes, width, begin, count;
  bool descending, nan_first, no_nan;
  std::vector<T> values = {}, chosen = {};
  std::vector<Entry> entries = {};
  std::vector<int64_t> places = {};
  std::vector<uint32_t> keys = {};
};

/// `self` as rows along the part's dimension; an output's rows may be of another length.
template <class T, class Entry>
Plan MakeOrdered(const Tensor& self, const Part& part) {
  const Extent extent = ExtentOf(self, part.dim);
  const Rows from(self, extent.dim);
  const bool single = part.count == 1;
  std::optional<Result<T>> values_to;
  std::optional<Result<int64_t>> indices_to;
  if (part.values.present()) values_to.emplace(part.values, extent.dim, single);
  if (part.indices.present()) indices_to.emplace(part.indices, extent.dim, single);
  const Ordering<T, Entry> ordering = {
      LoaderOf<T>(self.dtype()), from.bytes,     extent.width, part.begin, part.count,
      part.descending,           part.nan_first, part.no_nan};
  const Place self_at = self.place;
  const int64_t count = part.count;
  return {0, [=](const Buffers& buffers) -> Status {
            const bool one_by_one = from.step == from.bytes && extent.rows < kManyRows;
            const int64_t together = one_by_one ? 1 : RowGroup::kRows;
            ParallelRowGroups(extent.rows, extent.width, together, [&](int64_t first, int64_t n) {
              RowGroup in(from, self_at(buffers), first, n, extent.width);
              std::optional<RowGroup> values, indices;
              if (values_to) {
                values.emplace(values_to->rows, values_to->place(buffers), first, n, count);
              }
              if (indices_to) {
                indices.emplace(indices_to->rows, indices_to->place(buffers), first, n, count);
              }
              Ordering<T, Entry> own = ordering;
              in.Fetch();
              for (int64_t i = 0; i < n; ++i) {
                own.Order(in.Row(i));
                if (values) {
                  values_to->store(own.chosen.data(), count, values->Row(i), values_to->rows.bytes);
                }
                if (indices) {
                  indices_to->store(own.places.data(), count, indices->Row(i),
                                    indices_to->rows.bytes);
                }
              }
              if (values) values->Flush();
              if (indices) indices->Flush();
            });
            return {};
          }};
}

Plan MakeOrderedFor(const Tensor& self, const Part& part) {
  if (part.count == 0) return Nothing();
  const bool shortly = ExtentOf(self, part.dim).width <= int64_t{1} << 32;
  switch (DomainOf(self.dtype())) {
    case Domain::kFloat:
      return shortly ? MakeOrdered<float, ShortEntry>(self, part)
                     : MakeOrdered<float, LongEntry>(self, part);
    case Domain::kDouble:
      return MakeOrdered<double, LongEntry>(self, part);
    case Domain::kInteger:
      break;
  }
  const bool fits = self.dtype() != ACL_INT64 && self.dtype() != ACL_UINT32;  // in 32 bits, signed
  return shortly && fits ? MakeOrdered<int64_t, ShortEntry>(self, part)
                         : MakeOrdered<int64_t, LongEntry>(self, part);
}

void CheckCount(const char* name, int64_t value, int64_t low, int64_t high, Checker& checker) {
  checker.That(low <= value && value <= high,
               [&] { return Concat(name, " value is ", value, ", expected ", low, " to ", high); });
}

int64_t WidthOf(const Tensor& self, int64_t dim) { return ExtentOf(self, dim).width; }

/// Checks a result whose shape is self's without the dimension, or with one element of it.
template <class P>
void CheckReduced(const P& p, bool keep_dim, Checker& checker) {
  Shape shape = ShapeOf(p.self);
  const uint32_t at = *WrapDim(p.dim, p.self.rank());
  if (!shape.empty() && keep_dim) shape[at] = 1;
  if (!shape.empty() && !keep_dim) shape.erase(shape.begin() + at);
  CheckShape(p.valuesOut, shape, checker);
  CheckShape(p.indicesOut, shape, checker);
  checker.SameDtype(p.valuesOut, p.self);
  CheckIndexType(p.indicesOut, WidthOf(p.self, p.dim) - 1, checker);
}

}  // namespace

void CheckSort(const SortParams& p, Checker& checker) {
  CheckDim(p.self, p.dim, checker);
  if (!checker.ok()) return;
  CheckShape(p.valuesOut, ShapeOf(p.self), checker);
  CheckShape(p.indicesOut, ShapeOf(p.self), checker);
  checker.SameDtype(p.valuesOut, p.self);
  CheckIndexType(p.indicesOut, WidthOf(p.self, p.dim) - 1, checker);
}

Plan PlanSort(const SortParams& p, const Product&) {
  const int64_t n = WidthOf(p.self, p.dim);
  return MakeOrderedFor(p.self, {p.dim, p.descending, 0, n, p.valuesOut, p.indicesOut});
}

void CheckArgSort(const ArgSortParams& p, Checker& checker) {
  CheckDim(p.self, p.dim, checker);
  if (!checker.ok()) return;
  CheckShape(p.out, ShapeOf(p.self), checker);
  CheckIndexType(p.out, WidthOf(p.self, p.dim) - 1, checker);
}

Plan PlanArgSort(const ArgSortParams& p, const Product&) {
  const int64_t n = WidthOf(p.self, p.dim);
  return MakeOrderedFor(p.self, {p.dim, p.descending, 0, n, NoTensor(), p.out});
}

void CheckTopk(const TopkParams& p, Checker& checker) {
  CheckDim(p.self, p.dim, checker);
  if (!checker.ok()) return;
  CheckCount("k", p.k, 0, WidthOf(p.self, p.dim), checker);
  Shape shape = ShapeOf(p.self);
  if (!shape.empty()) shape[*WrapDim(p.dim, p.self.rank())] = p.k;
  CheckShape(p.valuesOut, shape, checker);
  CheckShape(p.indicesOut, shape, checker);
  checker.SameDtype(p.valuesOut, p.self);
  CheckIndexType(p.indicesOut, WidthOf(p.self, p.dim) - 1, checker);
}

Plan PlanTopk(const TopkParams& p, const Product&) {
  return MakeOrderedFor(p.self, {p.dim, p.largest, 0, p.k, p.valuesOut, p.indicesOut});
}

// k counts from 1.
void CheckKthValue(const KthValueParams& p, Checker& checker) {
  CheckDim(p.self, p.dim, checker);
  if (!checker.ok()) return;
  CheckCount("k", p.k, 1, WidthOf(p.self, p.dim), checker);
  CheckReduced(p, p.keepdim, checker);
}

Plan PlanKthValue(const KthValueParams& p, const Product&) {
  return MakeOrderedFor(p.self, {p.dim, false, p.k - 1, 1, p.valuesOut, p.indicesOut});
}

void CheckMedianAlong(const MedianAlongParams& p, Checker& checker) {
  CheckDim(p.self, p.dim, checker);
  if (!checker.ok()) return;
  checker.That(WidthOf(p.self, p.dim) > 0 || p.valuesOut.empty(),
               [&] { return Concat("self shape is ", ShapeText(p.self), ", expected elements"); });
  CheckReduced(p, p.keepDim, checker);
}

// The lower of the two in the middle.
Plan PlanMedianAlong(const MedianAlongParams& p, const Product&) {
  const int64_t middle = (WidthOf(p.self, p.dim) - 1) / 2;
  const bool no_nan = p.ignoresNan;
  return MakeOrderedFor(p.self,
                        {p.dim, false, middle, 1, p.valuesOut, p.indicesOut, !no_nan, no_nan});
}

}  // namespace openaclnn::supporting
