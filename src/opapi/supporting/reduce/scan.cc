// SPDX-License-Identifier: Apache-2.0
// Running sums, products and extremes along one dimension.
#include <cmath>

#include "generated/reduce.h"
#include "supporting/along.h"

namespace openaclnn::supporting {
namespace {

/// Rows without elements may be of any number.
Plan Nothing() {
  return {0, [](const Buffers&) -> Status { return {}; }};
}

/// out row = the running total of the row; integers wrap.
template <class T, bool kProduct>
Plan MakeScan(const Tensor& self, int64_t dim, const Tensor& out) {
  using Total = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;
  const Extent extent = ExtentOf(self, dim);
  const Rows from(self, extent.dim), to(out, extent.dim);
  const auto load = LoaderOf<T>(self.dtype());
  const auto store = StorerOf<T>(out.dtype());
  const Place self_at = self.place, out_at = out.place;
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(extent.rows, extent.width, [&](int64_t row) {
              std::vector<T> values(static_cast<size_t>(extent.width));
              load(from.At(self_at(buffers), row), from.step, extent.width, values.data());
              Total total = kProduct ? 1 : 0;
              for (T& value : values) {
                const auto term = static_cast<Total>(value);
                total = kProduct ? total * term : total + term;
                value = static_cast<T>(total);
              }
              store(values.data(), extent.width, to.At(out_at(buffers), row), to.step);
            });
            return {};
          }};
}

template <bool kProduct>
Plan MakeScanFor(const Tensor& self, int64_t dim, const Tensor& out) {
  if (out.empty()) return Nothing();
  const bool integers =
      DomainOf(self.dtype()) == Domain::kInteger && DomainOf(out.dtype()) == Domain::kInteger;
  return integers ? MakeScan<int64_t, kProduct>(self, dim, out)
                  : MakeScan<double, kProduct>(self, dim, out);
}

/// The extreme so far, and where the last of its equals is.
template <class T, bool kLargest>
Plan MakeRunningExtreme(const ScanAtParams& p) {
  const Extent extent = ExtentOf(p.self, p.dim);
  const Rows from(p.self, extent.dim), to(p.valuesOut, extent.dim), at(p.indicesOut, extent.dim);
  const auto load = LoaderOf<T>(p.self.dtype());
  const auto store = StorerOf<T>(p.valuesOut.dtype());
  const auto store_index = StorerOf<int64_t>(p.indicesOut.dtype());
  const Place self = p.self.place, values_at = p.valuesOut.place, indices_at = p.indicesOut.place;
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(extent.rows, extent.width, [&](int64_t row) {
              std::vector<T> values(static_cast<size_t>(extent.width));
              std::vector<int64_t> places(values.size());
              load(from.At(self(buffers), row), from.step, extent.width, values.data());
              int64_t best = 0;
              for (size_t i = 0; i < values.size(); ++i) {
                const T value = values[i], top = values[static_cast<size_t>(best)];
                const bool better = kLargest ? value >= top : value <= top;
                if (IsNan(value) || (!IsNan(top) && better)) best = static_cast<int64_t>(i);
                places[i] = best;
                values[i] = values[static_cast<size_t>(best)];
              }
              store(values.data(), extent.width, to.At(values_at(buffers), row), to.step);
              store_index(places.data(), extent.width, at.At(indices_at(buffers), row), at.step);
            });
            return {};
          }};
}

template <bool kLargest>
Plan MakeRunningExtremeFor(const ScanAtParams& p) {
  if (p.valuesOut.empty()) return Nothing();
  return DomainOf(p.self.dtype()) == Domain::kInteger ? MakeRunningExtreme<int64_t, kLargest>(p)
                                                      : MakeRunningExtreme<double, kLargest>(p);
}

void CheckTotals(const Tensor& self, int64_t dim, const Tensor& out, Checker& checker) {
  CheckDim(self, dim, checker);
  CheckShape(out, ShapeOf(self), checker);
  const bool floats = DomainOf(self.dtype()) != Domain::kInteger;
  checker.That(!floats || Contains(kRealTypes, out.dtype()),
               [&] { return DtypeIs(out, "a float type, which the result is of"); });
}

}  // namespace

void CheckScan(const SumsParams& p, Checker& checker) {
  CheckTotals(p.self, p.dim, p.out, checker);
}

Plan PlanSums(const SumsParams& p, const Product&) {
  return MakeScanFor<false>(p.self, p.dim, p.out);
}

// The API has the dimension as a scalar.
void CheckProducts(const ProductsParams& p, Checker& checker) {
  CheckTotals(p.self, p.dim.integer, p.out, checker);
}

Plan PlanProducts(const ProductsParams& p, const Product&) {
  return MakeScanFor<true>(p.self, p.dim.integer, p.out);
}

void CheckScanAt(const ScanAtParams& p, Checker& checker) {
  CheckTotals(p.self, p.dim, p.valuesOut, checker);
  CheckShape(p.indicesOut, ShapeOf(p.self), checker);
  CheckIndexType(p.indicesOut, checker);
}

Plan PlanRunningMax(const ScanAtParams& p, const Product&) {
  return MakeRunningExtremeFor<true>(p);
}

Plan PlanRunningMin(const ScanAtParams& p, const Product&) {
  return MakeRunningExtremeFor<false>(p);
}

}  // namespace openaclnn::supporting
