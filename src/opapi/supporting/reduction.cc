// SPDX-License-Identifier: Apache-2.0
// Reductions over some dimensions.
#include "supporting/reduction.h"

#include <cmath>

#include "kernels/rows.h"

namespace openaclnn::supporting {

std::optional<uint32_t> WrapDim(int64_t dim, uint32_t rank) {
  const int64_t limit = rank == 0 ? 1 : rank;  // a scalar has dimensions -1 and 0
  if (dim < -limit || dim >= limit) return std::nullopt;
  return static_cast<uint32_t>(dim < 0 ? dim + limit : dim);
}

namespace {

struct Layout {
  Shape kept, reduced;              // lengths
  Shape kept_steps, reduced_steps;  // of self, in elements
  Shape result, result_kept;        // out's shape without and with the reduced dimensions
};

std::vector<int64_t> DimsOf(const Params& p) {
  if (!p.list) return {};
  return {p.list->values().begin(), p.list->values().end()};
}

/// Nothing when a dimension is none.
std::optional<Layout> LayoutOf(const Operand& self, const std::vector<int64_t>& dims) {
  std::array<bool, kMaxRank> is_reduced{};
  if (dims.empty()) is_reduced.fill(true);
  for (const int64_t dim : dims) {
    const auto wrapped = WrapDim(dim, self.rank());
    if (!wrapped) return std::nullopt;
    is_reduced[*wrapped] = true;
  }
  Layout layout;
  for (uint32_t i = 0; i < self.rank(); ++i) {
    const int64_t dim = self.dim(i), stride = self.tensor().strides[i];
    layout.result_kept.push_back(is_reduced[i] ? 1 : dim);
    if (!is_reduced[i]) layout.result.push_back(dim);
    (is_reduced[i] ? layout.reduced : layout.kept).push_back(dim);
    (is_reduced[i] ? layout.reduced_steps : layout.kept_steps).push_back(stride);
  }
  return layout;
}

Offsets OffsetsOf(const Shape& dims, const Shape& steps) {
  return Offsets(dims.data(), steps.data(), static_cast<uint32_t>(dims.size()));
}

int64_t BytesOf(const Operand& operand) {
  return static_cast<int64_t>(FindDataType(operand.dtype())->bytes);
}

/// Each element of out from the elements of self that it stands for. `fold` has Add(T) and
/// Total(n).
template <class T, class Fold>
Plan MakeReduction(const Params& p, const Fold& fold) {
  const Operand& self = p.tensors[0];
  const Operand& out = p.out();
  const Layout layout = *LayoutOf(self, DimsOf(p));
  const int64_t self_bytes = BytesOf(self), out_bytes = BytesOf(out);
  Shape steps = layout.reduced_steps;
  for (int64_t& step : steps) step = WrappingProduct(step, self_bytes);
  const Walk terms(layout.reduced, std::vector<Steps>{Steps(steps)});
  const Offsets kept = OffsetsOf(layout.kept, layout.kept_steps), to(out, out.rank());
  const int64_t rows = CountOf(layout.kept), n = terms.count();
  const auto load = LoaderOf<T>(self.dtype());
  const auto store = StorerOf<T>(out.dtype());
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(rows, std::max<int64_t>(n, 1), [&](int64_t row) {
              Fold each = fold;
              Walk::Pointers origin{};
              if (n > 0) origin[0] = buffers.As<std::byte>(0) + kept(row) * self_bytes;
              terms.ForRunsInOrder(origin, [&](const Walk::Pointers& at, int64_t run) {
                T values[Walk::kRun];
                load(at[0], terms.step(0), run, values);
                for (int64_t i = 0; i < run; ++i) each.Add(values[i]);
              });
              const T total = each.Total(n);
              store(&total, 1, buffers.As<std::byte>(1) + to(row) * out_bytes, 0);
            });
            return {};
          }};
}

template <class T>
struct SumFold {
  TreeSum<T> sum{};
  bool mean = false;
  void Add(T term) { sum.Add(term); }
  T Total(int64_t n) {
    const T total = sum.Total();
    return mean ? static_cast<T>(static_cast<double>(total) / static_cast<double>(n)) : total;
  }
};

template <class T, bool kLargest>
struct ExtremeFold {
  T extreme{};
  bool any = false;
  void Add(T term) {
    const bool better = kLargest ? term > extreme : term < extreme;
    const auto nan = [](T value) { return std::isnan(static_cast<double>(value)); };
    if (!any || (!nan(extreme) && (better || nan(term)))) extreme = term;
    any = true;
  }
  T Total(int64_t) { return extreme; }
};

template <class T, bool kAll>
struct TruthFold {
  bool truth = kAll;
  void Add(T term) { truth = kAll ? truth && term != 0 : truth || term != 0; }
  T Total(int64_t) { return static_cast<T>(truth); }
};

bool Integral(const Params& p) {
  return DomainOf(p.tensors[0].dtype()) == Domain::kInteger &&
         DomainOf(p.out().dtype()) == Domain::kInteger;
}

/// The fold for what the operands are computed in: double for floats.
template <template <class> class Fold>
Plan MakeFor(const Params& p) {
  return Integral(p) ? MakeReduction<int64_t>(p, Fold<int64_t>())
                     : MakeReduction<double>(p, Fold<double>());
}

template <class T>
using LargestFold = ExtremeFold<T, true>;
template <class T>
using SmallestFold = ExtremeFold<T, false>;
template <class T>
using AllFold = TruthFold<T, true>;
template <class T>
using AnyFold = TruthFold<T, false>;

bool IsExtreme(const Params& p) { return p.row.plan == PlanAmax || p.row.plan == PlanAmin; }

void CheckShapes(const Params& p, const Layout& layout, bool keep_dim, Checker& checker) {
  CheckShape(p.out(), keep_dim ? layout.result_kept : layout.result, checker);
  checker.That(!IsExtreme(p) || CountOf(layout.reduced) > 0 || CountOf(layout.kept) == 0, [&] {
    return Concat(p.tensors[0].name(), " shape is ", ShapeText(p.tensors[0]),
                  ", expected elements to take the extreme of");
  });
  checker.That(Integral(p) || Contains(kRealTypes, p.out().dtype()) || p.out().dtype() == ACL_BOOL,
               [&] { return DtypeIs(p.out(), "a float type, which the result is of"); });
}

}  // namespace

void CheckReduction(const Params& p, Checker& checker) {
  const auto layout = LayoutOf(p.tensors[0], DimsOf(p));
  checker.That(layout.has_value(), [&] {
    return Concat(
        p.list->name(), " value is ",
        ShapeText(p.list->values().data(), static_cast<uint32_t>(p.list->values().size())),
        ", expected dimensions of ", p.tensors[0].name(), ", ", ShapeText(p.tensors[0]));
  });
  if (layout) CheckShapes(p, *layout, p.integers[0] != 0, checker);
}

void CheckTotal(const Params& p, Checker& checker) {
  CheckShapes(p, *LayoutOf(p.tensors[0], {}), false, checker);
}

Plan PlanSum(const Params& p) { return MakeFor<SumFold>(p); }

Plan PlanMean(const Params& p) { return MakeReduction<double>(p, SumFold<double>{{}, true}); }

Plan PlanAmax(const Params& p) { return MakeFor<LargestFold>(p); }

Plan PlanAmin(const Params& p) { return MakeFor<SmallestFold>(p); }

Plan PlanAll(const Params& p) { return MakeFor<AllFold>(p); }

Plan PlanAny(const Params& p) { return MakeFor<AnyFold>(p); }

}  // namespace openaclnn::supporting
