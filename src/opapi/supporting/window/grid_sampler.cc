// SPDX-License-Identifier: Apache-2.0
// GridSampler2D and 3D: elements of planes at the coordinates of a grid, and the gradients by both.
#include <cstring>
#include <vector>

#include "generated/window.h"
#include "kernels/rows/double_rows.h"
#include "kernels/rows/rows.h"
#include "kernels/window/window_rows.h"
#include "kernels/work/divide_up.h"
#include "supporting/in_turn.h"
#include "supporting/window/flat_planes.h"
#include "supporting/window/sampling.h"

namespace openaclnn::supporting {
namespace {

constexpr int64_t kStrip = 256;  // places of a grid that are made at once

/// The taps of a strip's places in a plane: tap by tap, then place by place.
struct StripTaps {
  std::vector<int64_t> numbers, offsets;         // of an element, in row-major order, and in memory
  std::vector<double> weights;                   // numbers are -1 where there is none
  std::array<std::vector<double>, 3> slopes;     // of the weights, by each coordinate
  std::vector<double> coordinates;               // of the places, as the grid has them
  std::vector<uint64_t> bits;                    // room for elements as they are stored
  std::vector<double> values, more, total;       // room for as many numbers, or those of a strip
  std::array<std::vector<double>, 3> gradients;  // room for those by each coordinate
};

/// Sums over taps of values times weights, for each of n places.
void SumTaps(const std::vector<double>& values, const std::vector<double>& weights, size_t n,
             std::vector<double>* total) {
  const auto* const kernels = OPENACLNN_TARGET_SELECT(kDoubleRowKernels);
  total->assign(n, 0);
  for (size_t first = 0; first < values.size(); first += n) {
    kernels->add_products(total->data(), values.data() + first, weights.data() + first,
                          static_cast<int64_t>(n));
  }
}

/// A grid over planes of `dims` dimensions; its last coordinate is along their first dimension.
class Sampler {
 public:
  template <class Call>
  explicit Sampler(const Call& p)
      : input(p.input, static_cast<uint32_t>(p.dims)),
        dims_(static_cast<uint32_t>(p.dims)),
        channels_(p.input.dim(1)),
        grid_(p.grid, dims_ + 1),
        load_(LoaderOf<double>(p.input.dtype())),
        is_float_(p.input.dtype() == ACL_FLOAT),
        kernels_(OPENACLNN_TARGET_SELECT(kWindowRowKernels)) {
    for (uint32_t d = 0; d < dims_; ++d) {
      axes_[d] = {p.input.dim(2 + d), p.interpolationMode, p.paddingMode, p.alignCorners};
      steps_[d] = p.input.tensor().strides[2 + d];
      combinations_ *= axes_[d].taps();
    }
    for (size_t tap = 0; tap < combinations_; ++tap) {
      size_t rest = tap;
      for (uint32_t d = dims_; d-- > 0; rest /= axes_[d].taps()) {
        digits_[tap][d] = rest % axes_[d].taps();
      }
    }
  }

  int64_t places() const { return grid_.count / dims_; }
  int64_t strips() const { return DivideUp(places(), kStrip); }
  int64_t channels() const { return channels_; }
  int64_t batches() const { return grid_.planes; }
  size_t combinations() const { return combinations_; }
  /// Places of a strip.
  int64_t Length(int64_t strip) const { return std::min(kStrip, places() - strip * kStrip); }

  void Make(const Buffers& buffers, int64_t batch, int64_t strip, bool sloped,
            StripTaps* taps) const {
    const int64_t n = Length(strip);
    const size_t room = combinations_ * static_cast<size_t>(n);
    taps->coordinates.resize(static_cast<size_t>(n * dims_));
    grid_.Load(load_, grid_.Plane(buffers, batch), strip * kStrip * dims_, n * dims_,
               taps->coordinates.data());
    taps->numbers.resize(room);
    taps->offsets.resize(room);
    taps->weights.resize(room);
    for (auto& slopes : taps->slopes) slopes.resize(sloped ? room : 0);
    for (int64_t i = 0; i < n; ++i) {
      std::array<AxisTaps, 3> axes;
      for (uint32_t d = 0; d < dims_; ++d) {
        axes[d] = axes_[d].Of(taps->coordinates[static_cast<size_t>(i * dims_ + dims_ - 1 - d)]);
      }
      for (size_t tap = 0; tap < combinations_; ++tap) {
        Combine(axes, tap, tap * static_cast<size_t>(n) + static_cast<size_t>(i), sloped, taps);
      }
    }
  }

  /// The elements of a plane that all places of a strip have, as numbers; 0 where there is none.
  void Gather(const Buffers& buffers, int64_t plane, StripTaps* taps) const {
    std::byte* const from = input.Plane(buffers, plane);
    taps->values.resize(taps->numbers.size());
    switch (input.bytes) {
      case 2:
        return Gather<uint16_t>(from, taps);
      case 4:
        return Gather<uint32_t>(from, taps);
      default:
        return Gather<uint64_t>(from, taps);
    }
  }

  /// The weighted sums of the elements that the places of a strip have of a plane.
  void Sum(const Buffers& buffers, int64_t plane, size_t n, StripTaps* taps) const {
    taps->total.resize(n);
    // A place that is no element counts as the first one with a weight of 0, unless that makes a
    // NaN.
    if (is_float_ && kernels_->taken({input.Plane(buffers, plane), taps->offsets.data(),
                                      taps->weights.data(), static_cast<int64_t>(combinations_),
                                      static_cast<int64_t>(n), taps->total.data()})) {
      return;
    }
    Gather(buffers, plane, taps);
    SumTaps(taps->values, taps->weights, n, &taps->total);
  }

  FlatPlanes input;

 private:
  template <class Bits>
  void Gather(const std::byte* from, StripTaps* taps) const {
    const size_t count = taps->numbers.size();
    taps->bits.resize(count);
    auto* const bits = reinterpret_cast<Bits*>(taps->bits.data());
    constexpr Bits kNone = 0;
    const int64_t *const numbers = taps->numbers.data(), *const offsets = taps->offsets.data();
    for (size_t i = 0; i < count; ++i) {
      // A choice between addresses, not a branch, which random places would mislead.
      const auto* const none = reinterpret_cast<const std::byte*>(&kNone);
      std::memcpy(&bits[i], numbers[i] >= 0 ? from + offsets[i] : none, sizeof(Bits));
    }
    load_(reinterpret_cast<const std::byte*>(bits), sizeof(Bits), static_cast<int64_t>(count),
          taps->values.data());
  }

  void Combine(const std::array<AxisTaps, 3>& axes, size_t tap, size_t at, bool sloped,
               StripTaps* taps) const {
    const std::array<size_t, 3>& of = digits_[tap];
    int64_t number = 0, offset = 0;
    double weight = 1;
    for (uint32_t d = 0; d < dims_; ++d) {
      const int64_t element = axes[d].at[of[d]];
      number = number < 0 || element < 0 ? -1 : number * axes_[d].n + element;
      offset += element * steps_[d];
      weight *= axes[d].weight[of[d]];
    }
    taps->numbers[at] = number;
    taps->offsets[at] = number < 0 ? 0 : offset * input.bytes;
    taps->weights[at] = number < 0 ? 0 : weight;  // of coordinates that are NaN, too
    for (uint32_t along = 0; sloped && along < dims_; ++along) {
      double slope = 1;
      for (uint32_t d = 0; d < dims_; ++d) {
        slope *= d == along ? axes[d].slope[of[d]] : axes[d].weight[of[d]];
      }
      taps->slopes[along][at] = number < 0 ? 0 : slope;
    }
  }

  uint32_t dims_;
  int64_t channels_;
  FlatPlanes grid_;
  LoadRow<double> load_;
  bool is_float_;
  const WindowRowKernels* kernels_;
  std::array<SampledAxis, 3> axes_{};
  std::array<int64_t, 3> steps_{};  // of the planes, in elements
  size_t combinations_ = 1;
  std::array<std::array<size_t, 3>, 16>
      digits_{};  // of a combination, the tap along each dimension
};

/// Checks that both directions share: input and grid.
template <class Call>
void CheckSampled(const Call& p, Checker& checker) {
  const auto dims = static_cast<uint32_t>(p.dims);
  checker.Rank(p.input, dims + 2).SameDtype(p.grid, p.input).Rank(p.grid, dims + 2);
  if (!checker.ok()) return;
  CheckLengths(p.input, dims, checker);
  CheckWithElements(p.input, p.dims, checker);
  Shape shape = ShapeOf(p.grid);
  shape[0] = p.input.dim(0);
  shape[dims + 1] = p.dims;
  CheckShape(p.grid, shape, checker);
}

/// The shape of grid's places, for all of input's channels.
Shape SampledShape(const Tensor& input, const Tensor& grid) {
  Shape shape = ShapeOf(input);
  for (uint32_t d = 2; d < shape.size(); ++d) shape[d] = grid.dim(d - 1);
  return shape;
}

/// Elements of gradients are summed in the order of the places, in double.
void AddByInput(const Sampler& sampler, const StripTaps& taps, const std::vector<double>& gradient,
                double* sums) {
  const size_t n = gradient.size();
  for (size_t i = 0; i < n; ++i) {
    for (size_t tap = 0; tap < sampler.combinations(); ++tap) {
      const size_t at = tap * n + i;
      if (taps.numbers[at] >= 0) sums[taps.numbers[at]] += gradient[i] * taps.weights[at];
    }
  }
}

constexpr int64_t kTogether = 4;  // channels that share the taps of a strip

/// Adds the gradients by the elements of some channels.
void SumByInput(const Sampler& sampler, const FlatPlanes& from, LoadRow<double> load,
                const Buffers& buffers, int64_t batch, int64_t channel, int64_t channels,
                StripTaps* taps, std::vector<double>* sums) {
  const int64_t count = sampler.input.count;
  sums->assign(static_cast<size_t>(count * channels), 0);
  for (int64_t strip = 0; strip < sampler.strips(); ++strip) {
    const int64_t n = sampler.Length(strip);
    sampler.Make(buffers, batch, strip, false, taps);
    taps->more.resize(static_cast<size_t>(n));
    for (int64_t c = 0; c < channels; ++c) {
      const int64_t plane = batch * sampler.channels() + channel + c;
      from.Load(load, from.Plane(buffers, plane), strip * kStrip, n, taps->more.data());
      AddByInput(sampler, *taps, taps->more, sums->data() + c * count);
    }
  }
}

/// Gradients by the coordinates of a strip, as the grid has them.
void SumByGrid(const Sampler& sampler, const FlatPlanes& from, LoadRow<double> load,
               const Buffers& buffers, int64_t batch, int64_t strip, int64_t dims,
               StripTaps* taps) {
  const auto n = static_cast<size_t>(sampler.Length(strip));
  sampler.Make(buffers, batch, strip, true, taps);
  taps->more.resize(n);
  for (auto& gradients : taps->gradients) gradients.assign(n, 0);
  for (int64_t c = 0; c < sampler.channels(); ++c) {
    const int64_t plane = batch * sampler.channels() + c;
    from.Load(load, from.Plane(buffers, plane), strip * kStrip, sampler.Length(strip),
              taps->more.data());
    sampler.Gather(buffers, plane, taps);
    for (int64_t d = 0; d < dims; ++d) {
      const auto axis = static_cast<size_t>(d);
      SumTaps(taps->values, taps->slopes[axis], n, &taps->total);
      for (size_t i = 0; i < n; ++i) {
        taps->gradients[axis][i] += taps->more[i] * taps->total[i];
      }
    }
  }
  for (size_t i = 0; i < n; ++i) {
    for (int64_t d = 0; d < dims; ++d) {
      const auto axis = static_cast<size_t>(d), last = static_cast<size_t>(dims - 1);
      taps->coordinates[i * static_cast<size_t>(dims) + last - axis] = taps->gradients[axis][i];
    }
  }
}

}  // namespace

void CheckGridSampler(const GridSamplerParams& p, Checker& checker) {
  CheckSampled(p, checker);
  checker.SameDtype(p.out, p.input);
  if (checker.ok()) CheckShape(p.out, SampledShape(p.input, p.grid), checker);
}

Plan PlanGridSampler(const GridSamplerParams& p, const Product&) {
  if (p.out.empty()) return Nothing();
  const Sampler sampler(p);
  const FlatPlanes to(p.out, static_cast<uint32_t>(p.dims));
  return {0, [=, store = StorerOf<double>(p.out.dtype())](const Buffers& buffers) -> Status {
            const int64_t strips = sampler.strips();
            const auto width =
                kStrip * sampler.channels() * static_cast<int64_t>(sampler.combinations());
            ParallelRowsIn<StripTaps>(sampler.batches() * strips, width,
                                      [&](int64_t each, StripTaps* taps) {
                                        const int64_t batch = each / strips, strip = each % strips;
                                        const int64_t n = sampler.Length(strip);
                                        sampler.Make(buffers, batch, strip, false, taps);
                                        for (int64_t c = 0; c < sampler.channels(); ++c) {
                                          const int64_t plane = batch * sampler.channels() + c;
                                          sampler.Sum(buffers, plane, static_cast<size_t>(n), taps);
                                          to.Store(store, taps->total.data(), n,
                                                   to.Plane(buffers, plane), strip * kStrip);
                                        }
                                      });
            return {};
          }};
}

void CheckGridSamplerGradient(const GridSamplerGradientParams& p, Checker& checker) {
  CheckSampled(p, checker);
  checker.SameDtype(p.gradOutput, p.input);
  if (checker.ok()) CheckShape(p.gradOutput, SampledShape(p.input, p.grid), checker);
  CheckAsked(p.outputMask, {&p.inputGrad, &p.gridGrad}, checker);
  if (!checker.ok()) return;
  if (p.outputMask[0]) checker.SameShapeAndDtype(p.inputGrad, p.input);
  if (p.outputMask[1]) checker.SameShapeAndDtype(p.gridGrad, p.grid);
}

Plan PlanGridSamplerGradient(const GridSamplerGradientParams& p, const Product&) {
  const auto dims = static_cast<uint32_t>(p.dims);
  const bool by_input = p.outputMask[0] && !p.inputGrad.empty();
  const bool by_grid = p.outputMask[1] && !p.gridGrad.empty();
  if (!by_input && !by_grid) return Nothing();
  const Sampler sampler(p);
  const FlatPlanes from(p.gradOutput, dims);
  const FlatPlanes to_input(by_input ? p.inputGrad : p.input, dims);
  const FlatPlanes to_grid(by_grid ? p.gridGrad : p.grid, dims + 1);
  return {0,
          [=, load = LoaderOf<double>(p.input.dtype()),
           store = StorerOf<double>(p.input.dtype())](const Buffers& buffers) -> Status {
            const int64_t groups = DivideUp(sampler.channels(), kTogether);
            struct Room {
              StripTaps taps;
              std::vector<double> sums;
            };
            const int64_t terms = sampler.places() * static_cast<int64_t>(sampler.combinations());
            const int64_t planes = by_input ? sampler.batches() * groups : 0;
            ParallelRowsIn<Room>(
                planes, kTogether * (terms + to_input.count), [&](int64_t each, Room* room) {
                  const int64_t batch = each / groups, first = each % groups * kTogether;
                  const int64_t channels = std::min(kTogether, sampler.channels() - first);
                  SumByInput(sampler, from, load, buffers, batch, first, channels, &room->taps,
                             &room->sums);
                  for (int64_t c = 0; c < channels; ++c) {
                    to_input.Store(store, room->sums.data() + c * to_input.count, to_input.count,
                                   to_input.Plane(buffers, batch * sampler.channels() + first + c),
                                   0);
                  }
                });
            const int64_t strips = sampler.strips();
            ParallelRowsIn<StripTaps>(
                by_grid ? sampler.batches() * strips : 0,
                kStrip * sampler.channels() * static_cast<int64_t>(sampler.combinations()),
                [&](int64_t each, StripTaps* taps) {
                  const int64_t batch = each / strips, strip = each % strips;
                  SumByGrid(sampler, from, load, buffers, batch, strip, dims, taps);
                  to_grid.Store(store, taps->coordinates.data(), sampler.Length(strip) * dims,
                                to_grid.Plane(buffers, batch), strip * kStrip * dims);
                });
            return {};
          }};
}

}  // namespace openaclnn::supporting
