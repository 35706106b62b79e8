// SPDX-License-Identifier: Apache-2.0
// Running sums, products and extremes along one dimension.
#include <cmath>

#include "generated/reduce.h"
#include "supporting/along.h"
#include "supporting/complex.h"
#include "supporting/in_turn.h"
#include "supporting/row_group.h"

namespace openaclnn::supporting {
namespace {

constexpr int64_t kScanned = 8;  // rows at a time, since each addition waits for the previous one
constexpr int64_t kPiece = 256;  // elements of a row at a time; they stay in the first-level cache

/// Replaces the elements of `rows` rows by their running totals, which start from totals[].
/// Integers wrap. If there are kScanned rows, Count is a constant.
template <bool kProduct, class T, class Total, class Count>
void Scan(T (*values)[kPiece], Count rows, int64_t n, Total* totals) {
  Total own[kScanned];
  std::copy_n(totals, kScanned, own);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t r = 0; r < rows; ++r) {
      const auto term = static_cast<Total>(values[r][i]);
      own[r] = kProduct ? own[r] * term : own[r] + term;
      values[r][i] = static_cast<T>(own[r]);
    }
  }
  std::copy_n(own, kScanned, totals);
}

/// Writes the running totals of each row.
template <class T, bool kProduct>
Plan MakeScan(const Tensor& self, int64_t dim, const Tensor& out) {
  using Total = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;
  const Extent extent = ExtentOf(self, dim);
  const Rows from(self, extent.dim), to(out, extent.dim);
  const auto load = LoaderOf<T>(PartOf(self.dtype()));
  const auto store = StorerOf<T>(PartOf(out.dtype()));
  const Place self_at = self.place, out_at = out.place;
  // A few rows are better spread over threads.
  const int64_t together = extent.rows < kScanned * kScanned ? 1 : kScanned;
  return {
      0, [=](const Buffers& buffers) -> Status {
        ParallelRowGroups(extent.rows, extent.width, together, [&](int64_t first, int64_t rows) {
          T values[kScanned][kPiece];
          Total totals[kScanned];
          std::fill_n(totals, kScanned, Total{kProduct});
          for (int64_t at = 0; at < extent.width; at += kPiece) {
            const int64_t n = std::min(kPiece, extent.width - at);
            for (int64_t r = 0; r < rows; ++r) {
              load(from.At(self_at(buffers), first + r) + at * from.step, from.step, n, values[r]);
            }
            if (rows == kScanned) {
              Scan<kProduct>(values, std::integral_constant<int64_t, kScanned>(), n, totals);
            } else {
              Scan<kProduct>(values, rows, n, totals);
            }
            for (int64_t r = 0; r < rows; ++r) {
              store(values[r], n, to.At(out_at(buffers), first + r) + at * to.step, to.step);
            }
          }
        });
        return {};
      }};
}

template <bool kProduct>
Plan MakeScanFor(const Tensor& self, int64_t dim, const Tensor& out) {
  if (out.empty()) return Nothing();
  const bool integers = DomainOf(PartOf(self.dtype())) == Domain::kInteger &&
                        DomainOf(PartOf(out.dtype())) == Domain::kInteger;
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
  CheckHolds(self, out, checker);
}

}  // namespace

void CheckScan(const SumsParams& p, Checker& checker) {
  CheckTotals(p.self, p.dim, p.out, checker);
}

Plan PlanSums(const SumsParams& p, const Product&) {
  return ForParts(p, p.self, p.out, MakeScanFor<false>(p.self, p.dim, p.out));
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
  if (!checker.ok()) return;
  CheckShape(p.indicesOut, ShapeOf(p.self), checker);
  CheckIndexType(p.indicesOut, ExtentOf(p.self, p.dim).width - 1, checker);
}

Plan PlanRunningMax(const ScanAtParams& p, const Product&) {
  return MakeRunningExtremeFor<true>(p);
}

Plan PlanRunningMin(const ScanAtParams& p, const Product&) {
  return MakeRunningExtremeFor<false>(p);
}

}  // namespace openaclnn::supporting
