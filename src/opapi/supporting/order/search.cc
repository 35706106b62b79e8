// SPDX-License-Identifier: Apache-2.0
// SearchSorted, SearchSorteds, Bucketize and Unique2.
#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

#include "generated/order.h"
#include "kernels/index/order.h"
#include "kernels/rows/rows.h"
#include "supporting/along.h"
#include "supporting/complex.h"
#include "supporting/in_turn.h"
#include "supporting/places.h"

namespace openaclnn::supporting {
namespace {

/// values[i] becomes values[places[i]], of INT64.
template <class T>
void Reorder(const RowView& view, std::byte* places, std::vector<T>* values) {
  std::vector<int64_t> from(values->size());
  LoaderOf<int64_t>(ACL_INT64)(places, view.step * view.element_bytes,
                               static_cast<int64_t>(from.size()), from.data());
  std::vector<T> ordered;
  ordered.reserve(from.size());
  for (const int64_t place : from) ordered.push_back((*values)[static_cast<size_t>(place)]);
  *values = std::move(ordered);
}

/// A call: `self` is searched for, or `value` if there is no such tensor.
struct Search {
  const Tensor &sorted, &self, &sorter, &out;
  const Value& value;
  bool right, narrow;  // narrow: the places are INT32

  bool of_tensor() const { return self.present(); }
};

Search SearchOf(const SearchSortedParams& p) {
  return {p.sortedSequence, p.self, p.sorter, p.out, p.value, p.right, p.outInt32};
}

Search SearchOf(const BucketizeParams& p) {
  return {p.boundaries, p.self, NoTensor(), p.out, NoValue(), p.right, p.outInt32};
}

/// The elements that are searched for.
template <class T>
class Wanted {
 public:
  explicit Wanted(const Search& p) {
    if (!p.of_tensor()) {
      const int32_t type = p.sorted.dtype();
      const bool is_float = DomainOf(type) == Domain::kInteger && !std::is_integral_v<T>;
      number_ = p.value.In(is_float ? ACL_FLOAT : type).As<T>();
      return;
    }
    place_ = p.self.place;
    offsets_ = Offsets(p.self, p.self.rank());
    bytes_ = BytesOf(p.self);
    load_ = LoaderOf<T>(p.self.dtype());
  }

  T At(const Buffers& buffers, int64_t i) const {
    T value = number_;
    if (load_ != nullptr) load_(place_(buffers) + offsets_(i) * bytes_, 0, 1, &value);
    return value;
  }

 private:
  T number_{};
  Place place_;
  Offsets offsets_;
  int64_t bytes_ = 0;
  LoadRow<T> load_ = nullptr;
};

template <class T>
Plan MakeSearch(const Search& p) {
  const Tensor &sorted = p.sorted, &out = p.out, &sorter = p.sorter;
  const RowView rows(sorted);
  const int64_t width = sorted.last_dim(), count = *out.count();
  // Elements of self for each row; one row serves all.
  const int64_t each = sorted.rank() == 1 ? std::max<int64_t>(count, 1) : out.last_dim();
  const Offsets to(out, out.rank());
  const Wanted<T> wanted(p);
  const bool right = p.right;
  const Place sorted_at = sorted.place, out_at = out.place;
  const int64_t out_bytes = BytesOf(out);
  const auto load = LoaderOf<T>(sorted.dtype());
  const auto store = StorerOf<int64_t>(out.dtype());
  std::optional<IndexReader> reader;  // of the places of a sequence that is not in order itself
  std::optional<RowView> order;
  if (sorter.present()) {
    reader.emplace(sorter, ShapeOf(sorter));
    order.emplace(sorter);
  }
  const Place sorter_at = sorter.place;
  return {0, [=](const Buffers& buffers) -> Status {
            if (reader) {
              Status status = reader->Check(sorter_at(buffers), width, false);
              if (!status.ok()) return status;
            }
            ParallelRows(count / each, width + each, [&](int64_t row) {
              std::vector<T> values(static_cast<size_t>(width));
              load(rows.Row(sorted_at(buffers), row), rows.step * rows.element_bytes, width,
                   values.data());
              if (order) Reorder(*order, order->Row(sorter_at(buffers), row), &values);
              const auto less = [](T a, T b) { return Less(a, b); };
              for (int64_t i = row * each; i < (row + 1) * each; ++i) {
                const T value = wanted.At(buffers, i);
                const auto found =
                    right ? std::upper_bound(values.begin(), values.end(), value, less)
                          : std::lower_bound(values.begin(), values.end(), value, less);
                const int64_t place = found - values.begin();
                store(&place, 1, out_at(buffers) + to(i) * out_bytes, 0);
              }
            });
            return {};
          }};
}

void CheckSearch(const Search& p, Checker& checker) {
  const Tensor &sorted = p.sorted, &self = p.self, &out = p.out;
  checker.RankBetween(sorted, 1, p.of_tensor() ? kMaxRank : 1);
  if (p.sorter.present()) {
    checker.That(p.sorter.dtype() == ACL_INT64, [&] { return DtypeIs(p.sorter, "INT64"); });
    CheckShape(p.sorter, ShapeOf(sorted), checker);
  }
  const int32_t wanted = p.narrow ? ACL_INT32 : ACL_INT64;
  checker.That(out.dtype() == wanted, [&] { return DtypeIs(out, DtypeText(wanted)); });
  if (!checker.ok()) return;
  CheckIndexType(out, sorted.last_dim(), checker);  // one behind the last, too
  if (!p.of_tensor()) {
    checker.That(!p.value.complex(), [&] {
      return Concat("self dtype is ", DtypeText(p.value.dtype), ", expected a real type");
    });
    checker.That(out.count() == 1,
                 [&] { return Concat("out shape is ", ShapeText(out), ", expected one element"); });
    return;
  }
  bool fits = sorted.rank() == 1 || sorted.rank() == self.rank();
  for (uint32_t d = 0; fits && sorted.rank() > 1 && d + 1 < self.rank(); ++d) {
    fits = sorted.dim(d) == self.dim(d);
  }
  checker.That(fits, [&] {
    return Concat(sorted.name(), " shape is ", ShapeText(sorted), ", expected one dimension, or ",
                  "the leading ones of self, ", ShapeText(self));
  });
  CheckShape(out, ShapeOf(self), checker);
}

Plan PlanSearch(const Search& p) {
  if (p.out.empty()) return Nothing();
  const bool whole = DomainOf(p.sorted.dtype()) == Domain::kInteger;
  if (!p.of_tensor()) {
    // A float meets integers as FLOAT.
    if (whole) return p.value.real ? MakeSearch<float>(p) : MakeSearch<int64_t>(p);
    return MakeSearch<double>(p);
  }
  const bool integers = whole && DomainOf(p.self.dtype()) == Domain::kInteger;
  return integers ? MakeSearch<int64_t>(p) : MakeSearch<double>(p);
}

/// Keys of unsigned numbers, which int64_t holds with their bits.
struct UnsignedKey {
  uint64_t operator()(int64_t value) const { return static_cast<uint64_t>(value); }
};
struct OwnKey {
  auto operator()(auto value) const { return KeyOf(value); }
};

/// The values in the order of their keys.
template <class T, class Entry, class KeyOfValue>
Plan MakeUnique(const UniqueParams& p, const KeyOfValue& key_of) {
  const Tensor &self = p.self, &out = p.valueOut;
  const int64_t count = *self.count(), bytes = BytesOf(self);
  const int64_t out_step = out.tensor().strides[0] * bytes;
  const Offsets from(self, self.rank());
  const auto load = LoadOf<T>(self);
  const auto store = StoreOf<T>(out);
  // Asked for and given: their elements follow each other.
  const bool wants_inverse = p.returnInverse && !p.inverseOut.empty();
  const bool wants_counts = p.returnCounts && !p.countsOut.empty();
  const Place self_at = self.place, out_at = out.place;
  const Place inverse_at = p.inverseOut.place, counts_at = p.countsOut.place;
  const aclTensor *value_handle = out.handle, *counts_handle = p.countsOut.handle;
  return {0, [=](const Buffers& buffers) -> Status {
            std::vector<T> values(static_cast<size_t>(count)), kinds;
            if (from.step() != 0) {
              load(self_at(buffers), from.step() * bytes, count, values.data());
            } else {
              for (int64_t i = 0; i < count; ++i) {
                load(self_at(buffers) + from(i) * bytes, 0, 1, &values[static_cast<size_t>(i)]);
              }
            }
            std::vector<Entry> entries;
            entries.reserve(values.size());
            for (size_t i = 0; i < values.size(); ++i) {
              entries.emplace_back(key_of(values[i]), static_cast<int64_t>(i));
            }
            if (count > 0) PutInOrder(&entries, 0, count);
            int64_t found = 0;
            auto* const counts = reinterpret_cast<int64_t*>(counts_at(buffers));
            auto* const inverse = reinterpret_cast<int64_t*>(inverse_at(buffers));
            for (size_t i = 0; i < entries.size(); ++i) {
              const auto place = entries[i].place();
              bool is_new = i == 0 || entries[i].key() != entries[i - 1].key();
              // NaN is not equal to itself: each is one of its own.
              if constexpr (std::is_floating_point_v<T>) {
                is_new =
                    is_new || entries[i].key() == static_cast<typename Entry::Key>(~uint64_t{0});
              }
              if (is_new) {
                kinds.push_back(values[static_cast<size_t>(place)]);
                if (wants_counts) counts[found] = 0;
                ++found;
              }
              if (wants_counts) ++counts[found - 1];
              if (wants_inverse) inverse[place] = found - 1;
            }
            store(kinds.data(), found, out_at(buffers), out_step);
            Meta()->set_view_shape(value_handle, &found, 1);
            if (wants_counts) Meta()->set_view_shape(counts_handle, &found, 1);
            return {};
          }};
}

}  // namespace

void CheckSearchSorted(const SearchSortedParams& p, Checker& checker) {
  CheckSearch(SearchOf(p), checker);
}

Plan PlanSearchSorted(const SearchSortedParams& p, const Product&) {
  return PlanSearch(SearchOf(p));
}

void CheckBucketize(const BucketizeParams& p, Checker& checker) {
  checker.Rank(p.boundaries, 1);
  if (checker.ok()) CheckSearch(SearchOf(p), checker);
}

Plan PlanBucketize(const BucketizeParams& p, const Product&) { return PlanSearch(SearchOf(p)); }

void CheckUnique(const UniqueParams& p, Checker& checker) {
  const Tensor &self = p.self, &out = p.valueOut;
  const int64_t count = *self.count();
  checker.SameDtype(out, self).Rank(out, 1);
  checker.That(out.dim(0) >= count, [&] {
    return Concat("valueOut shape is ", ShapeText(out), ", expected (", count, ")");
  });
  for (const Tensor* asked :
       {p.returnInverse ? &p.inverseOut : nullptr, p.returnCounts ? &p.countsOut : nullptr}) {
    if (asked == nullptr || !asked->present()) continue;
    const Tensor& more = *asked;
    checker.That(more.dtype() == ACL_INT64, [&] { return DtypeIs(more, "INT64"); });
    const bool flat = more.rank() == 1;
    checker.That(flat ? *more.count() >= count : ShapeOf(more) == ShapeOf(self), [&] {
      return Concat(more.name(), " shape is ", ShapeText(more), ", expected (", count,
                    self.rank() == 1 ? ")" : Concat(") or that of self, ", ShapeText(self)));
    });
    CheckContiguous(more, checker);
  }
}

Plan PlanUnique(const UniqueParams& p, const Product&) {
  const int32_t dtype = p.self.dtype();
  if (dtype == ACL_UINT64) return MakeUnique<int64_t, LongEntry>(p, UnsignedKey());
  if (DomainOf(dtype) == Domain::kInteger) return MakeUnique<int64_t, LongEntry>(p, OwnKey());
  return dtype == ACL_DOUBLE || *p.self.count() > UINT32_MAX
             ? MakeUnique<double, LongEntry>(p, OwnKey())
             : MakeUnique<float, ShortEntry>(p, OwnKey());
}

}  // namespace openaclnn::supporting
