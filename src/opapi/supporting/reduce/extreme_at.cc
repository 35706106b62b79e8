// SPDX-License-Identifier: Apache-2.0
// Extremes along one dimension, and where they are: the first of equals.
#include "generated/reduce.h"
#include "supporting/along.h"

namespace openaclnn::supporting {
namespace {

template <bool kLargest, class T>
bool IsBetter(T x, T best) {
  return IsNan(x) || (kLargest ? x > best : x < best);
}

/// Where the extreme is: the first NaN, or the first of equals. Blocks that have nothing better are
/// passed over by a loop without branches, which becomes vectors.
template <bool kLargest, class T>
int64_t PlaceOfExtreme(const T* x, int64_t n) {
  constexpr int64_t kBlock = 64;
  int64_t best = 0;
  for (int64_t begin = 1; begin < n && !IsNan(x[best]); begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, n);
    const T value = x[best];
    int better = 0;
    // A NaN is neither.
    for (int64_t i = begin; i < end; ++i)
      better |= (kLargest ? x[i] <= value : x[i] >= value) ? 0 : 1;
    if (better == 0) continue;
    for (int64_t i = begin; i < end && !IsNan(x[best]); ++i) {
      if (IsBetter<kLargest>(x[i], x[best])) best = i;
    }
  }
  return best;
}

/// The extreme of each row, if it is asked for, and where it is. T has the numbers of self.
template <class T, bool kLargest>
Plan MakeExtremeAt(const ExtremeAtParams& p, int32_t dtype) {
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
  const bool dense = p.self.dtype() == dtype && rows.step == int64_t{sizeof(T)};
  const auto load = LoaderOf<T>(p.self.dtype());
  const auto store = StorerOf<T>(with_values ? p.out.dtype() : p.indices.dtype());
  const auto store_index = StorerOf<int64_t>(p.indices.dtype());
  const Place self = p.self.place;
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(extent.rows, extent.width, [&](int64_t row) {
              std::vector<T> copy;
              std::byte* const from = rows.At(self(buffers), row);
              const T* x = reinterpret_cast<const T*>(from);
              if (!dense) {
                copy.resize(static_cast<size_t>(extent.width));
                load(from, rows.step, extent.width, copy.data());
                x = copy.data();
              }
              const int64_t best = PlaceOfExtreme<kLargest>(x, extent.width);
              if (with_values) store(&x[best], 1, out.At(buffers, row), 0);
              store_index(&best, 1, indices.At(buffers, row), 0);
            });
            return {};
          }};
}

/// Integers are compared as they are: DOUBLE does not tell all of INT64 apart.
template <bool kLargest>
Plan MakeExtremeAtFor(const ExtremeAtParams& p) {
  switch (DomainOf(p.self.dtype())) {
    case Domain::kInteger:
      return MakeExtremeAt<int64_t, kLargest>(p, ACL_INT64);
    case Domain::kDouble:
      return MakeExtremeAt<double, kLargest>(p, ACL_DOUBLE);
    default:
      return MakeExtremeAt<float, kLargest>(p, ACL_FLOAT);
  }
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
  CheckIndexType(p.indices, extent.width - 1, checker);
}

Plan PlanLargestAt(const ExtremeAtParams& p, const Product&) { return MakeExtremeAtFor<true>(p); }

Plan PlanSmallestAt(const ExtremeAtParams& p, const Product&) { return MakeExtremeAtFor<false>(p); }

}  // namespace openaclnn::supporting
