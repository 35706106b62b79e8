// SPDX-License-Identifier: Apache-2.0
// ROIAlign and its gradient: regions of planes as grids of bins, each the mean of samples that are
// interpolated. In double.
#include <algorithm>
#include <cmath>
#include <vector>

#include "generated/vision.h"
#include "kernels/rows/rows.h"
#include "supporting/elements.h"
#include "supporting/in_turn.h"

namespace openaclnn::supporting {
namespace {

/// Samples along a bin are refused beyond this number: a region would take hours.
constexpr double kMostSamples = 4096;

/// Along one dimension: where a region begins, how long its bins are, and how many samples they
/// have.
struct RegionAxis {
  double begin = 0, bin = 0;
  int64_t samples = 1, length = 1;

  double Place(int64_t number, int64_t sample) const {
    return begin + (static_cast<double>(number) +
                    (static_cast<double>(sample) + 0.5) / static_cast<double>(samples)) *
                       bin;
  }
};

/// Two neighbours along one dimension, and the share of the second one.
struct Neighbours {
  /// A place up to one element outside stands for the edge; others are `inside` no image.
  Neighbours(double place, int64_t length) {
    inside = -1 <= place && place <= static_cast<double>(length);
    if (!inside) return;
    place = std::max(place, 0.0);
    first = std::min(static_cast<int64_t>(place), length - 1);
    second = std::min(first + 1, length - 1);
    share = first == length - 1 ? 0 : place - static_cast<double>(first);
  }

  bool inside = false;
  int64_t first = 0, second = 0;
  double share = 0;
};

struct Region {
  int64_t image = 0;
  RegionAxis rows, columns;
};

/// Parameters that the operator and its gradient have in common.
struct Grid {
  int64_t images, channels, height, width;  // of the planes
  int64_t regions, high, wide;              // and of the bins
  double scale;
  int64_t samples, end_mode;

  int64_t bins() const { return high * wide; }

  RegionAxis AxisOf(double begin, double end, int64_t bins, int64_t length) const {
    const double more = end_mode == 1 ? 1 : 0;
    RegionAxis axis;
    axis.begin = begin * scale;
    axis.bin = std::max((end + more) * scale - axis.begin, 1.0) / static_cast<double>(bins);
    axis.length = length;
    const double count = samples > 0 ? static_cast<double>(samples) : std::ceil(axis.bin);
    axis.samples = count <= kMostSamples ? static_cast<int64_t>(count) : -1;
    return axis;
  }

  Status Read(const Elements& rois, const Buffers& buffers, std::vector<Region>* read) const {
    read->clear();
    for (int64_t i = 0; i < regions; ++i) {
      const auto at = [&](int64_t k) { return rois.Get(buffers, i * 5 + k); };
      const double image = at(0);
      if (!(image >= 0 && image < static_cast<double>(images))) {
        return Status(507035, Concat("rois value is ", image, " for the image of region ", i,
                                     ", expected 0 to ", images - 1));
      }
      Region region = {static_cast<int64_t>(image), AxisOf(at(2), at(4), high, height),
                       AxisOf(at(1), at(3), wide, width)};
      if (region.rows.samples < 0 || region.columns.samples < 0) {
        return Status(507035, Concat("rois value makes more than ", kMostSamples,
                                     " samples of a bin for region ", i,
                                     ", expected a smaller region, or sampleNum"));
      }
      read->push_back(region);
    }
    return {};
  }

  /// Calls body(element of the plane, weight) for each neighbour of each sample of a bin.
  template <class Body>
  static void ForSamples(const Region& region, int64_t row, int64_t column, int64_t width,
                         const Body& body) {
    const double count =
        static_cast<double>(region.rows.samples) * static_cast<double>(region.columns.samples);
    for (int64_t i = 0; i < region.rows.samples; ++i) {
      const Neighbours y(region.rows.Place(row, i), region.rows.length);
      for (int64_t k = 0; y.inside && k < region.columns.samples; ++k) {
        const Neighbours x(region.columns.Place(column, k), region.columns.length);
        if (!x.inside) continue;
        body(y.first * width + x.first, (1 - y.share) * (1 - x.share) / count);
        body(y.first * width + x.second, (1 - y.share) * x.share / count);
        body(y.second * width + x.first, y.share * (1 - x.share) / count);
        body(y.second * width + x.second, y.share * x.share / count);
      }
    }
  }
};

/// `planes` are (N, C, H, W), `bins` (regions, C, high, wide).
template <class P>
Grid GridOf(const P& p, const Tensor& planes, const Tensor& bins) {
  return {planes.dim(0), planes.dim(1), planes.dim(2),          planes.dim(3), bins.dim(0),
          bins.dim(2),   bins.dim(3),   double{p.spatialScale}, p.sampleNum,   p.roiEndMode};
}

template <class P>
void CheckRegions(const P& p, const Tensor& planes, const Tensor& bins, Checker& checker) {
  checker.Rank(planes, 4).Rank(p.rois, 2).Rank(bins, 4);
  checker.SameDtype(p.rois, planes).SameDtype(bins, planes).NotEmpty(planes);
  for (const auto& [name, value] :
       {std::pair("pooledHeight", p.pooledHeight), std::pair("pooledWidth", p.pooledWidth)}) {
    checker.That(value > 0, [&, name = name, value = value] {
      return Concat(name, " value is ", value, ", expected one above 0");
    });
  }
  checker.That(0 <= p.sampleNum && p.sampleNum <= static_cast<int64_t>(kMostSamples), [&] {
    return Concat("sampleNum value is ", p.sampleNum, ", expected 0 to ", kMostSamples);
  });
  if (!checker.ok()) return;
  CheckShape(p.rois, {p.rois.dim(0), 5}, checker);
  CheckShape(bins, {p.rois.dim(0), planes.dim(1), p.pooledHeight, p.pooledWidth}, checker);
}

}  // namespace

void CheckRoiAlign(const RoiAlignParams& p, Checker& checker) {
  CheckRegions(p, p.self, p.out, checker);
}

Plan PlanRoiAlign(const RoiAlignParams& p, const Product&) {
  if (p.out.empty()) return Nothing();
  const Grid grid = GridOf(p, p.self, p.out);
  const Elements planes(p.self, 0), rois(p.rois, 0), out(p.out, 0);
  return {0, [=](const Buffers& buffers) -> Status {
            std::vector<Region> regions;
            Status status = grid.Read(rois, buffers, &regions);
            if (!status.ok()) return status;
            const int64_t plane = grid.height * grid.width, bins = grid.bins();
            ParallelRowsIn<std::vector<double>>(
                grid.regions * bins, 16 * grid.channels, [&](int64_t number, auto* sums) {
                  const int64_t bin = number % bins, which = number / bins;
                  const Region& region = regions[static_cast<size_t>(which)];
                  sums->assign(static_cast<size_t>(grid.channels), 0.0);
                  const auto add = [&](int64_t at, double weight) {
                    for (int64_t c = 0; c < grid.channels; ++c) {
                      const int64_t first = (region.image * grid.channels + c) * plane;
                      (*sums)[static_cast<size_t>(c)] += weight * planes.Get(buffers, first + at);
                    }
                  };
                  Grid::ForSamples(region, bin / grid.wide, bin % grid.wide, grid.width, add);
                  for (int64_t c = 0; c < grid.channels; ++c) {
                    out.Set(buffers, (which * grid.channels + c) * bins + bin,
                            (*sums)[static_cast<size_t>(c)]);
                  }
                });
            return {};
          }};
}

void CheckRoiAlignGradient(const RoiAlignGradientParams& p, Checker& checker) {
  const auto dims = p.inputShape.values();
  checker.That(dims.size() == 4 && Shape(dims.begin(), dims.end()) == ShapeOf(p.gradInput), [&] {
    return Concat("inputShape value is ",
                  ShapeText(dims.data(), static_cast<uint32_t>(dims.size())),
                  ", expected that of gradInput, ", ShapeText(p.gradInput));
  });
  CheckRegions(p, p.gradInput, p.gradOutput, checker);
}

Plan PlanRoiAlignGradient(const RoiAlignGradientParams& p, const Product&) {
  if (p.gradInput.empty()) return Nothing();
  const Grid grid = GridOf(p, p.gradInput, p.gradOutput);
  const Elements gradient(p.gradOutput, 0), rois(p.rois, 0), out(p.gradInput, 0);
  return {0, [=](const Buffers& buffers) -> Status {
            std::vector<Region> regions;
            Status status = grid.Read(rois, buffers, &regions);
            if (!status.ok()) return status;
            const int64_t plane = grid.height * grid.width, bins = grid.bins();
            // A plane is one thread's, so that its sums have one order.
            ParallelRowsIn<std::vector<double>>(
                grid.images * grid.channels, plane + 16 * grid.regions * bins,
                [&](int64_t number, auto* sums) {
                  const int64_t image = number / grid.channels, c = number % grid.channels;
                  sums->assign(static_cast<size_t>(plane), 0.0);
                  for (int64_t i = 0; i < grid.regions; ++i) {
                    const Region& region = regions[static_cast<size_t>(i)];
                    if (region.image != image) continue;
                    for (int64_t bin = 0; bin < bins; ++bin) {
                      const double dy = gradient.Get(buffers, (i * grid.channels + c) * bins + bin);
                      const auto add = [&](int64_t at, double weight) {
                        (*sums)[static_cast<size_t>(at)] += weight * dy;
                      };
                      Grid::ForSamples(region, bin / grid.wide, bin % grid.wide, grid.width, add);
                    }
                  }
                  out.SetRun(buffers, number * plane, sums->data(), plane);
                });
            return {};
          }};
}

}  // namespace openaclnn::supporting
