// SPDX-License-Identifier: Apache-2.0
// AvgPool3d, gradients of means of windows, and windows that share planes out evenly.
#include "generated/window.h"
#include "supporting/in_turn.h"
#include "supporting/window/planes.h"
#include "supporting/window/separable.h"

namespace openaclnn::supporting {
namespace {

/// One dimension of AvgPool2d; `divisor`: of its sums, or 0 for as many as count in the window.
AxisMap MeanOf(const WindowAxis& axis, bool pads_count, int64_t divisor) {
  return AxisMap(axis.in, axis.out, 1, [=](int64_t i, double* weight) {
    const int64_t begin = i * axis.stride - axis.pad, end = begin + axis.taps;
    const int64_t first = std::clamp(begin, int64_t{0}, axis.in), last = std::min(end, axis.in);
    const int64_t count = pads_count ? std::min(end, axis.in + axis.pad) - begin : last - first;
    *weight = 1 / static_cast<double>(divisor != 0 ? divisor : std::max(count, int64_t{1}));
    return AxisMap::Span{first, std::max(first, last)};
  });
}

/// Windows meet where a place's share of the input ends inside of an element.
AxisMap SharesOf(int64_t in, int64_t out) {
  return AxisMap(in, out, 1, [=](int64_t i, double* weight) {
    const Share share = ShareOf(in, out, i);
    *weight = 1 / static_cast<double>(share.end - share.begin);
    return AxisMap::Span{share.begin, share.end};
  });
}

std::vector<AxisMap> SharesOf(const Tensor& in, const Tensor& out, int64_t dims) {
  std::vector<AxisMap> maps;
  for (int64_t i = dims; i > 0; --i) {
    const auto length = [&](const Tensor& of) {
      return of.dim(static_cast<uint32_t>(of.rank() - i));
    };
    maps.push_back(SharesOf(length(in), length(out)));
  }
  return maps;
}

WindowLists ListsOf(const AvgPool2dGradientParams& p) {
  return {p.kernelSize, p.stride, p.padding};
}
WindowLists ListsOf(const AvgPool3dParams& p) {
  return {p.kernelSize, p.stride, p.padding, nullptr, 3};
}
WindowLists ListsOf(const AvgPool3dGradientParams& p) {
  return {p.kernelSize, p.stride, p.padding, nullptr, 3};
}

/// The means of self; a given divisor stands for the windows' own ones.
template <class Call>
std::vector<AxisMap> MeansOf(const Call& p) {
  std::vector<AxisMap> maps;
  for (const WindowAxis& axis : WindowsOf(ListsOf(p), p.self, p.ceilMode).axes) {
    const int64_t divisor = p.divisorOverride != 0 && !maps.empty() ? 1 : p.divisorOverride;
    maps.push_back(MeanOf(axis, p.countIncludePad, divisor));
  }
  return maps;
}

template <class Call>
void CheckMeans(const Call& p, const Tensor& pooled, Checker& checker) {
  CheckLists(ListsOf(p), p.self, checker);
  checker.SameDtype(pooled, p.self);
  CheckPads(ListsOf(p), checker);
  if (!checker.ok()) return;
  CheckPlanes(pooled, p.self, WindowsOf(ListsOf(p), p.self, p.ceilMode).out, checker);
}

template <class Call>
void CheckGradientOfMeans(const Call& p, const Tensor& by_self, Checker& checker) {
  CheckMeans(p, p.gradOutput, checker);
  checker.SameDtype(by_self, p.self);
  if (checker.ok()) CheckShape(by_self, ShapeOf(p.self), checker);
}

template <class Call>
Plan PlanGradientOfMeans(const Call& p, const Tensor& by_self) {
  if (by_self.empty()) return Nothing();
  std::vector<AxisMap> maps = MeansOf(p);
  for (AxisMap& map : maps) map = std::move(map).Transposed();
  return PlanSeparable(p.gradOutput, by_self, std::move(maps));
}

}  // namespace

void CheckAvgPool3d(const AvgPool3dParams& p, Checker& checker) { CheckMeans(p, p.out, checker); }

Plan PlanAvgPool3d(const AvgPool3dParams& p, const Product&) {
  if (p.out.empty()) return Nothing();
  return PlanSeparable(p.self, p.out, MeansOf(p));
}

void CheckAvgPool2dGradient(const AvgPool2dGradientParams& p, Checker& checker) {
  CheckGradientOfMeans(p, p.gradInput, checker);
}

Plan PlanAvgPool2dGradient(const AvgPool2dGradientParams& p, const Product&) {
  return PlanGradientOfMeans(p, p.gradInput);
}

void CheckAvgPool3dGradient(const AvgPool3dGradientParams& p, Checker& checker) {
  CheckGradientOfMeans(p, p.output, checker);
}

Plan PlanAvgPool3dGradient(const AvgPool3dGradientParams& p, const Product&) {
  return PlanGradientOfMeans(p, p.output);
}

void CheckAdaptiveAvgPool(const AdaptiveAvgPoolParams& p, Checker& checker) {
  const auto dims = static_cast<uint32_t>(p.dims);
  checker.RankBetween(p.self, dims + 1, dims + 2).SameDtype(p.out, p.self);
  CheckAxes(p.outputSize, dims, 0, checker);
  CheckWithElements(p.self, p.dims, checker);
  if (!checker.ok()) return;
  std::array<int64_t, 3> lengths{};
  for (uint32_t i = 0; i < dims; ++i) lengths[i] = AtAxis(p.outputSize, i);
  CheckPlanes(p.out, p.self, std::span(lengths.data(), dims), checker);
}

Plan PlanAdaptiveAvgPool(const AdaptiveAvgPoolParams& p, const Product&) {
  if (p.out.empty()) return Nothing();
  return PlanSeparable(p.self, p.out, SharesOf(p.self, p.out, p.dims));
}

void CheckAdaptiveAvgPoolGradient(const AdaptiveAvgPoolGradientParams& p, Checker& checker) {
  const auto dims = static_cast<uint32_t>(p.dims);
  checker.RankBetween(p.self, dims + 1, dims + 2).Rank(p.gradOutput, p.self.rank());
  checker.SameDtype(p.gradOutput, p.self).SameDtype(p.out, p.self);
  CheckWithElements(p.self, p.dims, checker);
  if (!checker.ok()) return;
  std::array<int64_t, 3> lengths{};
  for (uint32_t i = 0; i < dims; ++i) {
    lengths[i] = p.gradOutput.dim(static_cast<uint32_t>(p.self.rank() - dims + i));
    checker.That(lengths[i] <= kMostWindow, [&] {
      return Concat("gradOutput shape is ", ShapeText(p.gradOutput),
                    ", expected planes of at most ", kMostWindow, " in each dimension");
    });
  }
  if (!checker.ok()) return;
  CheckPlanes(p.gradOutput, p.self, std::span(lengths.data(), dims), checker);
  CheckShape(p.out, ShapeOf(p.self), checker);
}

Plan PlanAdaptiveAvgPoolGradient(const AdaptiveAvgPoolGradientParams& p, const Product&) {
  if (p.out.empty()) return Nothing();
  std::vector<AxisMap> maps = SharesOf(p.out, p.gradOutput, p.dims);
  for (AxisMap& map : maps) map = std::move(map).Transposed();
  return PlanSeparable(p.gradOutput, p.out, std::move(maps));
}

}  // namespace openaclnn::supporting
