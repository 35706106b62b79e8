// SPDX-License-Identifier: Apache-2.0
// Running sums, products and extremes along one dimension.
#include <cmath>

#include "supporting/along.h"
#include "supporting/operators.h"

namespace openaclnn::supporting {
namespace {

/// The dimension is a number, or a scalar.
int64_t DimOf(const Params& p) { return p.values.empty() ? p.integers[0] : p.values[0].integer; }

/// out row = the running total of the row; integers wrap.
template <class T, bool kProduct>
Plan MakeScan(const Params& p) {
  using Total = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;
  const Extent extent = ExtentOf(p.tensors[0], DimOf(p));
  const Rows from(p.tensors[0], extent.dim), to(p.tensors[1], extent.dim);
  const auto load = LoaderOf<T>(p.tensors[0].dtype());
  const auto store = StorerOf<T>(p.tensors[1].dtype());
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(extent.rows, extent.width, [&](int64_t row) {
              std::vector<T> values(static_cast<size_t>(extent.width));
              load(from.At(buffers.As<std::byte>(0), row), from.step, extent.width, values.data());
              Total total = kProduct ? 1 : 0;
              for (T& value : values) {
                const auto term = static_cast<Total>(value);
                total = kProduct ? total * term : total + term;
                value = static_cast<T>(total);
              }
              store(values.data(), extent.width, to.At(buffers.As<std::byte>(1), row), to.step);
            });
            return {};
          }};
}

template <bool kProduct>
Plan MakeScanFor(const Params& p) {
  const bool integers = DomainOf(p.tensors[0].dtype()) == Domain::kInteger &&
                        DomainOf(p.tensors[1].dtype()) == Domain::kInteger;
  return integers ? MakeScan<int64_t, kProduct>(p) : MakeScan<double, kProduct>(p);
}

/// The extreme so far, and where the last of its equals is.
template <class T, bool kLargest>
Plan MakeRunningExtreme(const Params& p) {
  const Extent extent = ExtentOf(p.tensors[0], p.integers[0]);
  const Rows from(p.tensors[0], extent.dim), to(p.tensors[1], extent.dim),
      at(p.tensors[2], extent.dim);
  const auto load = LoaderOf<T>(p.tensors[0].dtype());
  const auto store = StorerOf<T>(p.tensors[1].dtype());
  const auto store_index = StorerOf<int64_t>(p.tensors[2].dtype());
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(extent.rows, extent.width, [&](int64_t row) {
              std::vector<T> values(static_cast<size_t>(extent.width));
              std::vector<int64_t> places(values.size());
              load(from.At(buffers.As<std::byte>(0), row), from.step, extent.width, values.data());
              int64_t best = 0;
              for (size_t i = 0; i < values.size(); ++i) {
                const T value = values[i], top = values[static_cast<size_t>(best)];
                const bool better = kLargest ? value >= top : value <= top;
                if (IsNan(value) || (!IsNan(top) && better)) best = static_cast<int64_t>(i);
                places[i] = best;
                values[i] = values[static_cast<size_t>(best)];
              }
              store(values.data(), extent.width, to.At(buffers.As<std::byte>(1), row), to.step);
              store_index(places.data(), extent.width, at.At(buffers.As<std::byte>(2), row),
                          at.step);
            });
            return {};
          }};
}

template <bool kLargest>
Plan MakeRunningExtremeFor(const Params& p) {
  return DomainOf(p.tensors[0].dtype()) == Domain::kInteger
             ? MakeRunningExtreme<int64_t, kLargest>(p)
             : MakeRunningExtreme<double, kLargest>(p);
}

}  // namespace

// self; out.
void CheckScan(const Params& p, Checker& checker) {
  const Operand &self = p.tensors[0], &out = p.out();
  CheckDim(self, DimOf(p), checker);
  CheckShape(out, ShapeOf(self), checker);
  const bool floats = DomainOf(self.dtype()) != Domain::kInteger;
  checker.That(!floats || Contains(kRealTypes, out.dtype()),
               [&] { return DtypeIs(out, "a float type, which the result is of"); });
}

void CheckProducts(const Params& p, Checker& checker) { CheckScan(p, checker); }

Plan PlanSums(const Params& p) { return MakeScanFor<false>(p); }

Plan PlanProducts(const Params& p) { return MakeScanFor<true>(p); }

// self; values, indices.
void CheckScanAt(const Params& p, Checker& checker) {
  CheckScan(p, checker);
  const Operand& indices = p.tensors[2];
  CheckShape(indices, ShapeOf(p.tensors[0]), checker);
  checker.That(indices.dtype() == ACL_INT64 || indices.dtype() == ACL_INT32,
               [&] { return DtypeIs(indices, "INT32, INT64"); });
}

Plan PlanRunningMax(const Params& p) { return MakeRunningExtremeFor<true>(p); }

Plan PlanRunningMin(const Params& p) { return MakeRunningExtremeFor<false>(p); }

}  // namespace openaclnn::supporting
