// SPDX-License-Identifier: Apache-2.0
// Rows in order: Sort, ArgSort, Topk, Kthvalue and medians. Equal elements keep their order, and
// NaN counts as the largest.
#include <algorithm>
#include <numeric>

#include "supporting/along.h"
#include "supporting/operators.h"

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
  int64_t begin = 0, count = 0;           // of the ordered places
  std::optional<size_t> values, indices;  // places of the outputs in the call
  bool nan_first = false;                 // a NaN stands for its row
};

/// `self` as rows along the part's dimension; an output's rows may be of another length.
template <class T>
Plan MakeOrdered(const Params& p, const Part& part) {
  const Operand& self = p.tensors[0];
  const Extent extent = ExtentOf(self, part.dim);
  const Rows from(self, extent.dim);
  struct To {
    Offsets offsets;
    int64_t bytes, step;
  };
  const auto to_of = [&](std::optional<size_t> at) -> To {
    if (!at) return {};
    const Operand& out = p.tensors[*at];
    // One element a row, where the dimension is gone or has length 1.
    if (part.count == 1) return {Offsets(out, out.rank()), BytesOf(out), 0};
    const Rows rows(out, extent.dim);
    return {rows.offsets, rows.bytes, rows.step};
  };
  const To values_to = to_of(part.values), indices_to = to_of(part.indices);
  const auto load = LoaderOf<T>(self.dtype());
  const auto store = part.values ? StorerOf<T>(p.tensors[*part.values].dtype()) : nullptr;
  const auto store_index =
      part.indices ? StorerOf<int64_t>(p.tensors[*part.indices].dtype()) : nullptr;
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(extent.rows, extent.width, [&](int64_t row) {
              std::vector<T> values(static_cast<size_t>(extent.width));
              load(from.At(buffers.As<std::byte>(0), row), from.step, extent.width, values.data());
              std::vector<int64_t> places;
              Order(values, part.descending, part.begin + part.count, &places);
              const auto nan =
                  std::find_if(values.begin(), values.end(), [](T value) { return IsNan(value); });
              if (part.nan_first && nan != values.end()) {
                places[static_cast<size_t>(part.begin)] = nan - values.begin();
              }
              std::vector<T> chosen;
              for (int64_t i = 0; i < part.count; ++i) {
                chosen.push_back(values[static_cast<size_t>(places[part.begin + i])]);
              }
              const auto place = [&](size_t at, const To& to) {
                return buffers.As<std::byte>(at) + to.offsets(row) * to.bytes;
              };
              if (store != nullptr) {
                store(chosen.data(), part.count, place(*part.values, values_to), values_to.step);
              }
              if (store_index != nullptr) {
                store_index(places.data() + part.begin, part.count,
                            place(*part.indices, indices_to), indices_to.step);
              }
            });
            return {};
          }};
}

Plan MakeOrderedFor(const Params& p, const Part& part) {
  if (part.count == 0) return {0, [](const Buffers&) -> Status { return {}; }};
  return DomainOf(p.tensors[0].dtype()) == Domain::kInteger ? MakeOrdered<int64_t>(p, part)
                                                            : MakeOrdered<double>(p, part);
}

void CheckIndices(const Operand& indices, Checker& checker) {
  checker.That(indices.dtype() == ACL_INT64 || indices.dtype() == ACL_INT32,
               [&] { return DtypeIs(indices, "INT32, INT64"); });
}

void CheckCount(const char* name, int64_t value, int64_t low, int64_t high, Checker& checker) {
  checker.That(low <= value && value <= high,
               [&] { return Concat(name, " value is ", value, ", expected ", low, " to ", high); });
}

int64_t WidthOf(const Params& p, int64_t dim) { return ExtentOf(p.tensors[0], dim).width; }

/// Of self without the dimension, or with one element of it.
void CheckReduced(const Params& p, int64_t dim, bool keep_dim, Checker& checker) {
  Shape shape = ShapeOf(p.tensors[0]);
  const uint32_t at = *WrapDim(dim, p.tensors[0].rank());
  if (!shape.empty() && keep_dim) shape[at] = 1;
  if (!shape.empty() && !keep_dim) shape.erase(shape.begin() + at);
  CheckShape(p.tensors[1], shape, checker);
  CheckShape(p.tensors[2], shape, checker);
  checker.SameDtype(p.tensors[1], p.tensors[0]);
  CheckIndices(p.tensors[2], checker);
}

}  // namespace

// self; values, indices. dim, descending.
void CheckSort(const Params& p, Checker& checker) {
  CheckDim(p.tensors[0], p.integers[0], checker);
  for (size_t i = 1; i < 3; ++i) CheckShape(p.tensors[i], ShapeOf(p.tensors[0]), checker);
  checker.SameDtype(p.tensors[1], p.tensors[0]);
  CheckIndices(p.tensors[2], checker);
}

Plan PlanSort(const Params& p) {
  const int64_t n = WidthOf(p, p.integers[0]);
  return MakeOrderedFor(p, {p.integers[0], p.integers[1] != 0, 0, n, 1, 2});
}

// self; out. dim, descending.
void CheckArgSort(const Params& p, Checker& checker) {
  CheckDim(p.tensors[0], p.integers[0], checker);
  CheckShape(p.out(), ShapeOf(p.tensors[0]), checker);
  CheckIndices(p.out(), checker);
}

Plan PlanArgSort(const Params& p) {
  const int64_t n = WidthOf(p, p.integers[0]);
  return MakeOrderedFor(p, {p.integers[0], p.integers[1] != 0, 0, n, std::nullopt, 1});
}

// self; values, indices. dim, largest, k.
void CheckTopk(const Params& p, Checker& checker) {
  CheckDim(p.tensors[0], p.integers[0], checker);
  if (!checker.ok()) return;
  CheckCount("k", p.integers[2], 0, WidthOf(p, p.integers[0]), checker);
  Shape shape = ShapeOf(p.tensors[0]);
  if (!shape.empty()) shape[*WrapDim(p.integers[0], p.tensors[0].rank())] = p.integers[2];
  for (size_t i = 1; i < 3; ++i) CheckShape(p.tensors[i], shape, checker);
  checker.SameDtype(p.tensors[1], p.tensors[0]);
  CheckIndices(p.tensors[2], checker);
}

Plan PlanTopk(const Params& p) {
  return MakeOrderedFor(p, {p.integers[0], p.integers[1] != 0, 0, p.integers[2], 1, 2});
}

// self; values, indices. dim, keepDim, k, which counts from 1.
void CheckKthValue(const Params& p, Checker& checker) {
  CheckDim(p.tensors[0], p.integers[0], checker);
  if (!checker.ok()) return;
  CheckCount("k", p.integers[2], 1, WidthOf(p, p.integers[0]), checker);
  CheckReduced(p, p.integers[0], p.integers[1] != 0, checker);
}

Plan PlanKthValue(const Params& p) {
  return MakeOrderedFor(p, {p.integers[0], false, p.integers[2] - 1, 1, 1, 2});
}

// The same without k.
void CheckMedianAlong(const Params& p, Checker& checker) {
  CheckDim(p.tensors[0], p.integers[0], checker);
  if (!checker.ok()) return;
  checker.That(WidthOf(p, p.integers[0]) > 0 || p.tensors[0].empty(), [&] {
    return Concat("self shape is ", ShapeText(p.tensors[0]), ", expected elements");
  });
  CheckReduced(p, p.integers[0], p.integers[1] != 0, checker);
}

// The lower of the two in the middle.
Plan PlanMedianAlong(const Params& p) {
  const int64_t middle = (WidthOf(p, p.integers[0]) - 1) / 2;
  return MakeOrderedFor(p, {p.integers[0], false, middle, 1, 1, 2, true});
}

}  // namespace openaclnn::supporting
