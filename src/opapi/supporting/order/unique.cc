// SPDX-License-Identifier: Apache-2.0
// UniqueConsecutive and UniqueDim: slices along a dimension, each once.
#include <algorithm>
#include <numeric>
#include <vector>

#include "generated/order.h"
#include "supporting/along.h"
#include "supporting/complex.h"

namespace openaclnn::supporting {
namespace {

constexpr int64_t kAllElements = 1000;  // a dimension that stands for all of them, as one

/// A tensor as slices along a dimension: of each `outer` pieces of `inner` elements. Without one,
/// and in a tensor without any, its elements are the slices.
struct Slices {
  Slices(const Tensor& self, int64_t given) {
    is_flat = given == kAllElements || self.rank() == 0;
    dim = is_flat ? 0 : *WrapDim(given, self.rank());
    for (uint32_t i = 0; i < self.rank(); ++i) {
      int64_t& length = is_flat || i == dim ? count : i < dim ? outer : inner;
      length = WrappingProduct(length, self.dim(i));
    }
  }
  int64_t width() const { return WrappingProduct(outer, inner); }
  /// The shape of a tensor that has all slices.
  Shape ShapeIn(const Tensor& self) const { return is_flat ? Shape{count} : ShapeOf(self); }

  bool is_flat;
  uint32_t dim;
  int64_t count = 1, outer = 1, inner = 1;
};

/// Whether the output is asked for and has room.
bool WantsInverse(const UniqueSlicesParams& p) {
  return p.returnInverse && p.inverseOut.present() && !p.inverseOut.empty();
}
bool WantsCounts(const UniqueSlicesParams& p) {
  const bool asked = p.ordered || p.returnCounts;
  return asked && p.countsOut.present() && !p.countsOut.empty();
}

void CheckRoom(const Tensor& tensor, int64_t count, Checker& checker) {
  checker.That(tensor.dtype() == ACL_INT64, [&] { return DtypeIs(tensor, "INT64"); });
  checker.That(*tensor.count() >= count, [&] {
    return Concat(tensor.name(), " shape is ", ShapeText(tensor), ", expected ", count,
                  count == 1 ? " element" : " elements");
  });
  CheckContiguous(tensor, checker);
}

/// All slices, one after the other, each element in its place of row-major order.
template <class T, class Load>
std::vector<T> LoadSlices(const Slices& slices, const Offsets& from, int64_t bytes,
                          const Load& load, std::byte* self) {
  std::vector<T> values(static_cast<size_t>(slices.count * slices.width()));
  const int64_t step = from.step() * bytes;
  if (step != 0 && slices.width() == 1) {
    load(self, step, slices.count, values.data());
    return values;
  }
  int64_t place = 0;
  for (int64_t outer = 0; outer < slices.outer; ++outer) {
    for (int64_t slice = 0; slice < slices.count; ++slice) {
      T* const to = values.data() + slice * slices.width() + outer * slices.inner;
      if (step != 0) {
        load(self + place * step, step, slices.inner, to);
        place += slices.inner;
        continue;
      }
      for (int64_t inner = 0; inner < slices.inner; ++inner, ++place) {
        load(self + from(place) * bytes, 0, 1, to + inner);
      }
    }
  }
  return values;
}

/// Equal slices are a kind: the first slice of each kind, the kind of each slice, the number of
/// slices of each kind.
struct Kinds {
  std::vector<int64_t> firsts, kinds, counts;
};

// NaN is not equal to itself: its slice is one of its own. Complex numbers have no order, and
// UINT64 has not this one: UniqueDim, which sorts, does not take them.
template <class T>
Kinds Sorted(const Slices& slices, const std::vector<T>& values, [[maybe_unused]] bool in_order) {
  const auto width = static_cast<ptrdiff_t>(slices.width());
  const auto row = [&](int64_t slice) { return values.begin() + slice * width; };
  std::vector<int64_t> order(static_cast<size_t>(slices.count));
  std::iota(order.begin(), order.end(), int64_t{0});
  if constexpr (!std::is_same_v<T, Pair>) {
    const auto before = [&](int64_t a, int64_t b) {
      return std::lexicographical_compare(row(a), row(a) + width, row(b), row(b) + width, Less<T>);
    };
    if (in_order) std::stable_sort(order.begin(), order.end(), before);
  }
  Kinds found;
  found.kinds.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const int64_t slice = order[i];
    if (i == 0 || !std::equal(row(slice), row(slice) + width, row(order[i - 1]))) {
      found.firsts.push_back(slice);
      found.counts.push_back(0);
    }
    ++found.counts.back();
    found.kinds[static_cast<size_t>(slice)] = static_cast<int64_t>(found.firsts.size()) - 1;
  }
  return found;
}

/// The slices one after the other, as a tensor of the shape that they have is in memory.
template <class T, class Store>
void StoreSlices(const Slices& slices, const std::vector<T>& values, const Kinds& kinds,
                 int64_t bytes, const Store& store, std::byte* out) {
  for (int64_t outer = 0; outer < slices.outer; ++outer) {
    for (const int64_t slice : kinds.firsts) {
      const int64_t at = slice * slices.width() + outer * slices.inner;
      store(values.data() + at, slices.inner, out, bytes);
      out += slices.inner * bytes;
    }
  }
}

template <class T>
Plan MakeUniqueSlices(const UniqueSlicesParams& p) {
  const Tensor& self = p.self;
  const Slices slices(self, p.dim);
  return {0,
          [=, shape = slices.ShapeIn(self), from = Offsets(self, self.rank()),
           bytes = BytesOf(self), load = LoadOf<T>(self), store = StoreOf<T>(self),
           in_order = p.ordered, wants_inverse = WantsInverse(p), wants_counts = WantsCounts(p),
           self_at = self.place, out_at = p.valueOut.place, inverse_at = p.inverseOut.place,
           counts_at = p.countsOut.place, value_handle = p.valueOut.handle,
           inverse_handle = p.inverseOut.handle, counts_handle = p.countsOut.handle,
           has_more_room = WantsInverse(p) &&
                           *p.inverseOut.count() > slices.count](const Buffers& buffers) -> Status {
            const auto values = LoadSlices<T>(slices, from, bytes, load, self_at(buffers));
            const Kinds kinds = Sorted(slices, values, in_order);
            StoreSlices(slices, values, kinds, bytes, store, out_at(buffers));
            if (wants_inverse) {
              std::copy(kinds.kinds.begin(), kinds.kinds.end(),
                        reinterpret_cast<int64_t*>(inverse_at(buffers)));
            }
            if (wants_counts) {
              std::copy(kinds.counts.begin(), kinds.counts.end(),
                        reinterpret_cast<int64_t*>(counts_at(buffers)));
            }
            Shape found = shape;
            int64_t& count = found[slices.dim];
            count = static_cast<int64_t>(kinds.firsts.size());
            Meta()->set_view_shape(value_handle, found.data(), static_cast<uint32_t>(found.size()));
            if (wants_counts) Meta()->set_view_shape(counts_handle, &count, 1);
            // All that a caller sees of the room is written then.
            if (has_more_room) Meta()->set_view_shape(inverse_handle, &slices.count, 1);
            return {};
          }};
}

}  // namespace

void CheckUniqueSlices(const UniqueSlicesParams& p, Checker& checker) {
  const Tensor &self = p.self, &out = p.valueOut;
  checker.SameDtype(out, self);
  if (p.dim != kAllElements || p.ordered) CheckDim(self, p.dim, checker);
  if (!checker.ok()) return;
  const Slices slices(self, p.dim);
  CheckShape(out, slices.ShapeIn(self), checker);
  CheckContiguous(out, checker);
  if (WantsInverse(p)) CheckRoom(p.inverseOut, slices.count, checker);
  if (WantsCounts(p)) CheckRoom(p.countsOut, slices.count, checker);
}

Plan PlanUniqueSlices(const UniqueSlicesParams& p, const Product&) {
  if (IsComplex(p.self)) return MakeUniqueSlices<Pair>(p);
  return DomainOf(p.self.dtype()) == Domain::kInteger ? MakeUniqueSlices<int64_t>(p)
                                                      : MakeUniqueSlices<double>(p);
}

}  // namespace openaclnn::supporting
