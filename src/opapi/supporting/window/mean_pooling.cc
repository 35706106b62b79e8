// SPDX-License-Identifier: Apache-2.0
// AvgPool2dBackward, and means of windows that share planes out evenly, with their gradients.
#include "generated/window.h"
#include "supporting/window/planes.h"
#include "supporting/window/separable.h"

namespace openaclnn::supporting {
namespace {

/// One dimension of AvgPool2d; `divide`: whether its length is a part of the divisor.
AxisMap MeanOf(const WindowAxis& axis, bool pads_count, bool divide) {
  AxisMap map(axis.in, axis.out, 1);
  for (int64_t i = 0; i < axis.out; ++i) {
    const int64_t begin = i * axis.stride - axis.pad, end = begin + axis.taps;
    const int64_t first = std::clamp(begin, int64_t{0}, axis.in), last = std::min(end, axis.in);
    map.span(i) = {first, std::max(first, last)};
    const int64_t count = pads_count ? std::min(end, axis.in + axis.pad) - begin : last - first;
    *map.weights(i) = divide && count > 0 ? 1 / static_cast<double>(count) : 1;
  }
  return map;
}

/// Windows meet where a place's share of the input ends inside of an element.
AxisMap SharesOf(int64_t in, int64_t out) {
  AxisMap map(in, out, 1);
  for (int64_t i = 0; i < out; ++i) {
    // i * in / out without the product, which may leave 64 bits.
    const auto share = [&](int64_t n, int64_t more) {
      return n * (in / out) + (n * (in % out) + more) / out;
    };
    map.span(i) = {share(i, 0), share(i + 1, out - 1)};
    *map.weights(i) = 1 / static_cast<double>(map.span(i).end - map.span(i).begin);
  }
  return map;
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

void CheckWithElements(const Tensor& tensor, int64_t dims, Checker& checker) {
  if (!checker.ok()) return;
  bool some = true;
  for (int64_t i = dims; i > 0; --i) {
    some = some && tensor.dim(static_cast<uint32_t>(tensor.rank() - i)) > 0;
  }
  checker.That(some, [&] {
    return Concat(tensor.name(), " shape is ", ShapeText(tensor),
                  ", expected planes with elements");
  });
}

}  // namespace

void CheckAvgPool2dGradient(const AvgPool2dGradientParams& p, Checker& checker) {
  CheckLists(ListsOf(p), p.self, checker);
  checker.SameDtype(p.gradOutput, p.self).SameDtype(p.gradInput, p.self);
  CheckPads(ListsOf(p), checker);
  if (!checker.ok()) return;
  CheckPlanes(p.gradOutput, p.self, WindowsOf(ListsOf(p), p.self, p.ceilMode).out, checker);
  CheckShape(p.gradInput, ShapeOf(p.self), checker);
}

Plan PlanAvgPool2dGradient(const AvgPool2dGradientParams& p, const Product&) {
  if (p.gradInput.empty()) return {0, [](const Buffers&) -> Status { return {}; }};
  std::vector<AxisMap> maps;
  for (const WindowAxis& axis : WindowsOf(ListsOf(p), p.self, p.ceilMode).axes) {
    AxisMap map = MeanOf(axis, p.countIncludePad, p.divisorOverride == 0);
    if (p.divisorOverride != 0 && maps.empty()) {
      for (int64_t i = 0; i < axis.out; ++i) {
        *map.weights(i) = 1 / static_cast<double>(p.divisorOverride);
      }
    }
    maps.push_back(map.Transposed());
  }
  return PlanSeparable(p.gradOutput, p.gradInput, std::move(maps));
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
  if (p.out.empty()) return {0, [](const Buffers&) -> Status { return {}; }};
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
  if (p.out.empty()) return {0, [](const Buffers&) -> Status { return {}; }};
  std::vector<AxisMap> maps;
  for (const AxisMap& map : SharesOf(p.out, p.gradOutput, p.dims)) maps.push_back(map.Transposed());
  return PlanSeparable(p.gradOutput, p.out, std::move(maps));
}

}  // namespace openaclnn::supporting
