// SPDX-License-Identifier: Apache-2.0
// Renorm and EmbeddingRenorm: slices whose norm is above a limit are scaled down to it.
#include <algorithm>
#include <cmath>
#include <vector>

#include "supporting/along.h"
#include "supporting/places.h"
#include "supporting/reduce/norm_fold.h"

namespace openaclnn::supporting {
namespace {

/// A slice of norm above `most` is scaled by most / (norm + near).
struct Limit {
  double order, most, near;
};

void CheckLimit(const char* order_name, double order, double most, Checker& checker) {
  checker.That(order >= 0, [&] {
    return Concat(order_name, " value is ", order, ", expected one that is not negative");
  });
  checker.That(most >= 0, [&] {
    return Concat("maxNorm value is ", most, ", expected one that is not negative");
  });
}

/// The slices of a tensor along a dimension, and those of what they become.
class LimitedSlices {
 public:
  LimitedSlices(const Tensor& self, const Tensor& out, uint32_t dim, const Limit& limit)
      : limit_(limit),
        self_(self.place),
        out_(out.place),
        load_(LoaderOf<double>(self.dtype())),
        store_(StorerOf<double>(out.dtype())) {
    Shape dims = ShapeOf(self);
    Steps from(dims, self), to(dims, out);
    from_step_ = from.bytes[dim];
    to_step_ = to.bytes[dim];
    dims[dim] = 1;
    elements_ = Walk(dims, {from, to});
  }

  int64_t width() const { return elements_.count(); }

  void Scale(const Buffers& buffers, int64_t slice) const {
    const Walk::Pointers origins = {self_(buffers) + slice * from_step_,
                                    out_(buffers) + slice * to_step_};
    const double size = NormOf(origins);
    const double scale = size > limit_.most ? limit_.most / (size + limit_.near) : 1;
    double values[Walk::kRun];
    elements_.ForRunsInOrder(origins, [&](const Walk::Pointers& at, int64_t n) {
      load_(at[0], elements_.step(0), n, values);
      kernels_->scale(values, 0, scale, n);
      store_(values, n, at[1], elements_.step(1));
    });
  }

 private:
  static constexpr int64_t kMostInRow = int64_t{1} << 16;  // which a second-level cache holds

  /// Squares are summed as those of a row.
  double NormOf(const Walk::Pointers& origins) const {
    const bool squares = limit_.order == 2 && width() <= kMostInRow;
    NormFold norm(limit_.order);
    double values[Walk::kRun];
    std::vector<double> row(static_cast<size_t>(squares ? width() : 0));
    double* next = row.data();
    elements_.ForRunsInOrder(origins, [&](const Walk::Pointers& at, int64_t n) {
      load_(at[0], elements_.step(0), n, squares ? next : values);
      next += squares ? n : 0;
      for (int64_t i = 0; !squares && i < n; ++i) norm.Add(values[i]);
    });
    return squares ? std::sqrt(kernels_->squares.row(row.data(), width()))
                   : norm.Result(width(), 0);
  }

  Limit limit_;
  Place self_, out_;
  LoadRow<double> load_;
  StoreRow<double> store_;
  int64_t from_step_ = 0, to_step_ = 0;  // from slice to slice
  Walk elements_;
  const DoubleRowKernels* kernels_ = OPENACLNN_TARGET_SELECT(kDoubleRowKernels);
};

}  // namespace

void CheckRenorm(const RenormParams& p, Checker& checker) {
  checker.RankBetween(p.self, 1, kMaxRank).SameShapeAndDtype(p.out, p.self);
  CheckLimit("p", p.p.number, p.maxNorm.number, checker);
  CheckDim(p.self, p.dim, checker);
}

Plan PlanRenorm(const RenormParams& p, const Product&) {
  const uint32_t dim = *WrapDim(p.dim, p.self.rank());
  const LimitedSlices slices(p.self, p.out, dim, {p.p.number, p.maxNorm.number, 0});
  return {0, [=, count = p.out.empty() ? 0 : p.self.dim(dim)](const Buffers& buffers) -> Status {
            ParallelRows(count, slices.width(), [&](int64_t i) { slices.Scale(buffers, i); });
            return {};
          }};
}

void CheckEmbeddingRenorm(const EmbeddingRenormParams& p, Checker& checker) {
  checker.Rank(p.selfRef, 2);
  constexpr DtypeSet kScaled = Dtypes(ACL_FLOAT, ACL_FLOAT16, ACL_BF16);
  checker.That(Contains(kScaled, p.selfRef.dtype()),
               [&] { return DtypeIs(p.selfRef, DtypesText(kScaled)); });
  CheckIndexType(p.indices, checker);
  CheckLimit("normType", p.normType, p.maxNorm, checker);
}

// A row that several indices name is scaled once.
Plan PlanEmbeddingRenorm(const EmbeddingRenormParams& p, const Product&) {
  const LimitedSlices slices(p.selfRef, p.selfRef, 0, {p.normType, p.maxNorm, 1e-7});
  const IndexReader reader(p.indices, ShapeOf(p.indices));
  return {
      0,
      [=, rows = p.selfRef.dim(0), indices_at = p.indices.place](const Buffers& buffers) -> Status {
        std::vector<int64_t> named;
        Status status = reader.Read(indices_at(buffers), rows, false, &named);
        if (!status.ok()) return status;
        std::ranges::sort(named);
        named.erase(std::unique(named.begin(), named.end()), named.end());
        ParallelRows(static_cast<int64_t>(named.size()), slices.width(),
                     [&](int64_t i) { slices.Scale(buffers, named[static_cast<size_t>(i)]); });
        return {};
      }};
}

}  // namespace openaclnn::supporting
