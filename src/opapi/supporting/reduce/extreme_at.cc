// SPDX-License-Identifier: Apache-2.0
// Extremes along one dimension, and where they are: the first of equals.
#include "generated/reduce.h"
#include "supporting/along.h"

namespace openaclnn::supporting {
namespace {

/// The extreme of each row, if it is asked for, and where it is.
template <class T, bool kLargest>
Plan MakeExtremeAt(const ExtremeAtParams& p) {
  const Extent extent = ExtentOf(p.self, p.dim);
  const Rows rows(p.self, extent.dim);
  struct To {
    explicit To(const Tensor& tensor)
        : place(tensor.place), offsets(tensor, tensor.rank()), bytes(BytesOf(tensor)) {}
    std::byte* At(const Buffers& buffers, int64_t row) const {
      return place(buffers) + offsets(row) * bytes;
    }
    Place place;
    Offsets offsets;
    int64_t bytes;
  };
  const bool with_values = p.out.present();
  const To out(with_values ? p.out : p.indices), indices(p.indices);
  const auto load = LoaderOf<T>(p.self.dtype());
  const auto store = StorerOf<T>(with_values ? p.out.dtype() : p.indices.dtype());
  const auto store_index = StorerOf<int64_t>(p.indices.dtype());
  const Place self = p.self.place;
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(extent.rows, extent.width, [&](int64_t row) {
              std::vector<T> x(static_cast<size_t>(extent.width));
              load(rows.At(self(buffers), row), rows.step, extent.width, x.data());
              int64_t best = 0;
              for (int64_t i = 1; i < extent.width && !IsNan(x[best]); ++i) {
                if (IsNan(x[i]) || (kLargest ? x[i] > x[best] : x[i] < x[best])) best = i;
              }
              if (with_values) store(&x[best], 1, out.At(buffers, row), 0);
              store_index(&best, 1, indices.At(buffers, row), 0);
            });
            return {};
          }};
}

/// Integers are compared as they are: DOUBLE does not tell all of INT64 apart.
template <bool kLargest>
Plan MakeExtremeAtFor(const ExtremeAtParams& p) {
  return DomainOf(p.self.dtype()) == Domain::kInteger ? MakeExtremeAt<int64_t, kLargest>(p)
                                                      : MakeExtremeAt<double, kLargest>(p);
}

}  // namespace

void CheckExtremeAt(const ExtremeAtParams& p, Checker& checker) {
  CheckDim(p.self, p.dim, checker);
  if (!checker.ok()) return;
  const Extent extent = ExtentOf(p.self, p.dim);
  Shape shape = ShapeOf(p.self);
  if (p.keepDim && !shape.empty()) {
    shape[extent.dim] = 1;
  } else if (!shape.empty()) {
    shape.erase(shape.begin() + extent.dim);
  }
  if (p.out.present()) CheckShape(p.out, shape, checker);
  CheckShape(p.indices, shape, checker);
  checker.That(extent.width > 0 || extent.rows == 0, [&] {
    return Concat(p.self.name(), " shape is ", ShapeText(p.self),
                  ", expected elements to take the extreme of");
  });
  CheckIndexType(p.indices, checker);
}

Plan PlanLargestAt(const ExtremeAtParams& p, const Product&) { return MakeExtremeAtFor<true>(p); }

Plan PlanSmallestAt(const ExtremeAtParams& p, const Product&) { return MakeExtremeAtFor<false>(p); }

}  // namespace openaclnn::supporting
