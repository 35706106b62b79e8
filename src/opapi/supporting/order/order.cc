// SPDX-License-Identifier: Apache-2.0
// Rows in order: Sort, ArgSort, Topk, Kthvalue and medians. Equal elements keep their order, and
// NaN counts as the largest.
#include "generated/order.h"

#include <algorithm>
#include <numeric>

#include "supporting/along.h"

namespace openaclnn::supporting {
namespace {

/// The places of a row's elements; the first `count` of them in order.
template <class T>
void Order(const std::vector<T>& values, bool descending, int64_t count,
           std::vector<int64_t>* places) {
  places->resize(values.size());
  std::iota(places->begin(), places->end(), int64_t{0});
  const auto before = [&](int64_t i, int64_t j) {
    const T a = values[static_cast<size_t>(i)], b = values[static_cast<size_t>(j)];
    const bool less = descending ? Less(b, a) : Less(a, b);
    return less || (i < j && !(descending ? Less(a, b) : Less(b, a)));
  };
  std::partial_sort(places->begin(), places->begin() + count, places->end(), before);
}

/// Which part of the order a call asks for.
struct Part {
  int64_t dim = 0;
  bool descending = false;
  int64_t begin = 0, count = 0;    // of the ordered places
  const Tensor &values, &indices;  // the outputs; one may be missing
  bool nan_first = false;          // a NaN stands for its row
};

/// `self` as rows along the part's dimension; an output's rows may be of another length.
template <class T>
Plan MakeOrdered(const Tensor& self, const Part& part) {
  const Extent extent = ExtentOf(self, part.dim);
  const Rows from(self, extent.dim);
  struct To {
    Place place;
    Offsets offsets;
    int64_t bytes, step;
  };
  const auto to_of = [&](const Tensor& out) -> To {
    if (!out.present()) return {};
    // One element a row, where the dimension is gone or has length 1.
    if (part.count == 1) return {out.place, Offsets(out, out.rank()), BytesOf(out), 0};
    const Rows rows(out, extent.dim);
    return {out.place, rows.offsets, rows.bytes, rows.step};
  };
  const To values_to = to_of(part.values), indices_to = to_of(part.indices);
  const auto load = LoaderOf<T>(self.dtype());
  const auto store = part.values.present() ? StorerOf<T>(part.values.dtype()) : nullptr;
  const auto store_index =
      part.indices.present() ? StorerOf<int64_t>(part.indices.dtype()) : nullptr;
  const Place self_at = self.place;
  const bool descending = part.descending, nan_first = part.nan_first;
  const int64_t begin = part.begin, count = part.count;
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(extent.rows, extent.width, [&](int64_t row) {
              std::vector<T> values(static_cast<size_t>(extent.width));
              load(from.At(self_at(buffers), row), from.step, extent.width, values.data());
              std::vector<int64_t> places;
              Order(values, descending, begin + count, &places);
              const auto nan =
                  std::find_if(values.begin(), values.end(), [](T value) { return IsNan(value); });
              if (nan_first && nan != values.end()) {
                places[static_cast<size_t>(begin)] = nan - values.begin();
              }
              std::vector<T> chosen;
              for (int64_t i = 0; i < count; ++i) {
                chosen.push_back(values[static_cast<size_t>(places[begin + i])]);
              }
              const auto place = [&](const To& to) {
                return to.place(buffers) + to.offsets(row) * to.bytes;
              };
              if (store != nullptr) {
                store(chosen.data(), count, place(values_to), values_to.step);
              }
              if (store_index != nullptr) {
                store_index(places.data() + begin, count, place(indices_to), indices_to.step);
              }
            });
            return {};
          }};
}

Plan MakeOrderedFor(const Tensor& self, const Part& part) {
  if (part.count == 0) return {0, [](const Buffers&) -> Status { return {}; }};
  return DomainOf(self.dtype()) == Domain::kInteger ? MakeOrdered<int64_t>(self, part)
                                                    : MakeOrdered<double>(self, part);
}

void CheckCount(const char* name, int64_t value, int64_t low, int64_t high, Checker& checker) {
  checker.That(low <= value && value <= high,
               [&] { return Concat(name, " value is ", value, ", expected ", low, " to ", high); });
}

int64_t WidthOf(const Tensor& self, int64_t dim) { return ExtentOf(self, dim).width; }

/// Of self without the dimension, or with one element of it.
template <class P>
void CheckReduced(const P& p, bool keep_dim, Checker& checker) {
  Shape shape = ShapeOf(p.self);
  const uint32_t at = *WrapDim(p.dim, p.self.rank());
  if (!shape.empty() && keep_dim) shape[at] = 1;
  if (!shape.empty() && !keep_dim) shape.erase(shape.begin() + at);
  CheckShape(p.valuesOut, shape, checker);
  CheckShape(p.indicesOut, shape, checker);
  checker.SameDtype(p.valuesOut, p.self);
  CheckIndexType(p.indicesOut, checker);
}

}  // namespace

void CheckSort(const SortParams& p, Checker& checker) {
  CheckDim(p.self, p.dim, checker);
  CheckShape(p.valuesOut, ShapeOf(p.self), checker);
  CheckShape(p.indicesOut, ShapeOf(p.self), checker);
  checker.SameDtype(p.valuesOut, p.self);
  CheckIndexType(p.indicesOut, checker);
}

Plan PlanSort(const SortParams& p, const Product&) {
  const int64_t n = WidthOf(p.self, p.dim);
  return MakeOrderedFor(p.self, {p.dim, p.descending, 0, n, p.valuesOut, p.indicesOut});
}

void CheckArgSort(const ArgSortParams& p, Checker& checker) {
  CheckDim(p.self, p.dim, checker);
  CheckShape(p.out, ShapeOf(p.self), checker);
  CheckIndexType(p.out, checker);
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
  CheckIndexType(p.indicesOut, checker);
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
  return MakeOrderedFor(p.self, {p.dim, false, middle, 1, p.valuesOut, p.indicesOut, true});
}

}  // namespace openaclnn::supporting
