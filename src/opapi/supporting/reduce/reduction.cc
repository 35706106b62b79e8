// SPDX-License-Identifier: Apache-2.0
// Reductions over some dimensions.
#include "supporting/reduce/row_reduction.h"

namespace openaclnn::supporting {

std::optional<Layout> LayoutOf(const Operand& self, std::span<const int64_t> dims) {
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

bool Integral(const Params& p) {
  return DomainOf(PartOf(p.tensors[0].dtype())) == Domain::kInteger &&
         DomainOf(PartOf(p.first_output().dtype())) == Domain::kInteger;
}

namespace {

template <class T>
T AsIs(T total, int64_t) {
  return total;
}

/// With the fold for what the operands are computed in: double for floats.
Plan MakeExact(const ReductionParams& p, const RowFold<double>& floats,
               const RowFold<int64_t>& integers) {
  const Layout layout = *LayoutOf(p.self, p.dim.values());
  if (Integral(p)) return MakeRowReduction<int64_t>(p, {}, layout, {&integers, AsIs<int64_t>});
  return ForParts(p, p.self, p.out,
                  MakeRowReduction<double>(p, {}, layout, {&floats, AsIs<double>}));
}

}  // namespace

void CheckResult(const Params& p, const Layout& layout, bool keep_dim, Checker& checker) {
  for (size_t i = 1; i < p.tensors.size(); ++i) {
    CheckShape(p.tensors[i], keep_dim ? layout.result_kept : layout.result, checker);
  }
  const Tensor &self = p.tensors[0], &out = p.first_output();
  if (IsComplex(self) || out.dtype() != ACL_BOOL) CheckHolds(self, out, checker);
}

namespace {

void CheckDims(const ReductionParams& p, const std::optional<Layout>& layout, Checker& checker) {
  const auto dims = p.dim.values();
  checker.That(layout.has_value(), [&] {
    return Concat(p.dim.name(), " value is ",
                  ShapeText(dims.data(), static_cast<uint32_t>(dims.size())),
                  ", expected dimensions of self, ", ShapeText(p.self));
  });
}

}  // namespace

void CheckReduction(const ReductionParams& p, Checker& checker) {
  const auto layout = LayoutOf(p.self, p.dim.values());
  CheckDims(p, layout, checker);
  if (layout) CheckResult(p, *layout, p.keepDim, checker);
}

// A sum over the only dimension may have a row of one element to go to, as ggml asks for.
void CheckSum(const ReductionParams& p, Checker& checker) {
  const Tensor& out = p.out;
  const bool row = p.self.rank() == 1 && out.rank() == 1 && out.dim(0) == 1;
  if (!row) return CheckReduction(p, checker);
  const auto layout = LayoutOf(p.self, p.dim.values());
  CheckDims(p, layout, checker);
  if (layout) CheckResult(p, *layout, true, checker);
}

void CheckExtreme(const ReductionParams& p, Checker& checker) {
  CheckReduction(p, checker);
  if (!checker.ok()) return;
  std::array<bool, kMaxRank> named{};
  for (const int64_t dim : p.dim.values()) {
    bool& seen = named[*WrapDim(dim, p.self.rank())];
    checker.That(!seen, [&] {
      return Concat(p.dim.name(), " value is ", dim, " once more, expected each dimension once");
    });
    seen = true;
  }
  checker.That(!p.self.empty() || p.first_output().empty(), [&] {
    return Concat("self shape is ", ShapeText(p.self),
                  ", expected elements to take the extreme of");
  });
}

Plan PlanSum(const ReductionParams& p, const Product&) {
  if (p.out.dtype() == ACL_BOOL) return MakeFoldFor<AnyFold>(p);
  return MakeExact(p, DoubleRows().sum, DoubleRows().integer_sum);
}

Plan PlanMean(const ReductionParams& p, const Product&) {
  const auto mean = [](double total, int64_t n) { return total / static_cast<double>(n); };
  return ForParts(p, p.self, p.out,
                  MakeRowReduction<double>(p, {}, *LayoutOf(p.self, p.dim.values()),
                                           {&DoubleRows().sum, mean}));
}

Plan PlanAmax(const ReductionParams& p, const Product&) {
  return MakeExact(p, DoubleRows().largest, DoubleRows().integer_largest);
}

Plan PlanAmin(const ReductionParams& p, const Product&) {
  return MakeExact(p, DoubleRows().smallest, DoubleRows().integer_smallest);
}

Plan PlanAll(const ReductionParams& p, const Product&) { return MakeFoldFor<AllFold>(p); }

Plan PlanAny(const ReductionParams& p, const Product&) { return MakeFoldFor<AnyFold>(p); }

}  // namespace openaclnn::supporting
