// SPDX-License-Identifier: Apache-2.0
// AdaptiveMaxPool2d and 3d, which tell where a maximum was, and their gradients.
#include "generated/window.h"
#include "kernels/rows/rows.h"
#include "supporting/along.h"
#include "supporting/in_turn.h"
#include "supporting/window/flat_planes.h"
#include "supporting/window/max_volumes.h"

namespace openaclnn::supporting {
namespace {

/// Checks that both directions share: self's planes are shared out among those of a result and of
/// indices.
template <class Call>
void CheckShares(const Call& p, const Tensor& pooled, const Tensor& indices, Checker& checker) {
  const auto dims = static_cast<uint32_t>(p.dims);
  checker.RankBetween(p.self, dims + 1, dims + 2);
  CheckPooledTypes(p, p.self, pooled, checker);
  CheckIndexType(indices, checker);
  CheckWithElements(p.self, p.dims, checker);
  if (!checker.ok()) return;
  CheckNumbered(p.self, dims, checker);
}

/// The first of the largest elements of a share; NaN is the largest.
struct Largest {
  double value = -INFINITY;
  int64_t number = -1;  // in the plane

  void Meet(double element, int64_t at) {
    if (number < 0 || Less(value, element)) *this = {element, at};
  }
};

}  // namespace

void CheckAdaptiveMaxPool(const AdaptiveMaxPoolParams& p, Checker& checker) {
  const auto dims = static_cast<uint32_t>(p.dims);
  CheckAxes(p.outputSize, dims, 0, checker);
  CheckShares(p, p.outputOut, p.indicesOut, checker);
  if (!checker.ok()) return;
  std::array<int64_t, 3> lengths{};
  for (uint32_t i = 0; i < dims; ++i) lengths[i] = AtAxis(p.outputSize, i);
  CheckPlanes(p.outputOut, p.self, std::span(lengths.data(), dims), checker);
  CheckPlanes(p.indicesOut, p.self, std::span(lengths.data(), dims), checker);
}

Plan PlanAdaptiveMaxPool(const AdaptiveMaxPoolParams& p, const Product&) {
  if (p.outputOut.empty()) return Nothing();
  const Volumes from(p.self, p.dims), to(p.outputOut, p.dims), told(p.indicesOut, p.dims);
  MaxRows::Axes axes;
  for (size_t i = 0; i < 3; ++i) axes[i] = MaxAxis::Shares(from.lengths[i], to.lengths[i]);
  if (auto plan = PlanMaxVolumes(p.self, axes, p.outputOut, p.indicesOut, p.dims)) {
    return std::move(*plan);
  }
  return {0,
          [=, load = LoaderOf<double>(p.self.dtype()), store = StorerOf<double>(p.self.dtype()),
           tell = StorerOf<int64_t>(p.indicesOut.dtype()),
           volumes = PlaneCount(p.self, static_cast<uint32_t>(p.dims))](
              const Buffers& buffers) -> Status {
            const int64_t places = to.count(), share = from.count() / places + 1;
            ParallelRows(volumes * places, share, [&](int64_t each) {
              const int64_t volume = each / places;
              const auto at = DigitsOf(each % places, to.lengths);
              std::array<Share, 3> spans;
              for (size_t i = 0; i < 3; ++i)
                spans[i] = ShareOf(from.lengths[i], to.lengths[i], at[i]);
              const int64_t width = spans[2].end - spans[2].begin;
              std::vector<double> row(static_cast<size_t>(width));
              Largest largest;
              for (int64_t i = spans[0].begin; i < spans[0].end; ++i) {
                for (int64_t j = spans[1].begin; j < spans[1].end; ++j) {
                  const std::array<int64_t, 3> first = {i, j, spans[2].begin};
                  load(from.At(buffers, volume, first), from.strides[2] * from.bytes, width,
                       row.data());
                  const int64_t number = (i * from.lengths[1] + j) * from.lengths[2] + first[2];
                  for (int64_t k = 0; k < width; ++k) {
                    largest.Meet(row[static_cast<size_t>(k)], number + k);
                  }
                }
              }
              store(&largest.value, 1, to.At(buffers, volume, at), 0);
              tell(&largest.number, 1, told.At(buffers, volume, at), 0);
            });
            return {};
          }};
}

void CheckAdaptiveMaxPoolGradient(const AdaptiveMaxPoolGradientParams& p, Checker& checker) {
  CheckShares(p, p.gradOutput, p.indices, checker);
  checker.SameDtype(p.gradInput, p.self).Rank(p.gradOutput, p.self.rank());
  if (!checker.ok()) return;
  Shape shape = ShapeOf(p.self);
  for (uint32_t d = p.self.rank() - static_cast<uint32_t>(p.dims); d < p.self.rank(); ++d) {
    shape[d] = p.gradOutput.dim(d);
  }
  CheckShape(p.gradOutput, shape, checker);
  CheckShape(p.indices, shape, checker);
  CheckShape(p.gradInput, ShapeOf(p.self), checker);
}

Plan PlanAdaptiveMaxPoolGradient(const AdaptiveMaxPoolGradientParams& p, const Product&) {
  return PlanSumsByNumber(p.gradOutput, p.indices, p.gradInput, static_cast<uint32_t>(p.dims));
}

}  // namespace openaclnn::supporting
