// SPDX-License-Identifier: Apache-2.0
// Iou and CIoU: how far boxes overlap. In double.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>

#include "generated/vision.h"
#include "kernels/rows/rows.h"
#include "supporting/elements.h"

namespace openaclnn::supporting {
namespace {

/// A box by its edges.
struct Box {
  double left, top, right, bottom;
};

/// The length of what two intervals have in common.
double Common(double begin_a, double end_a, double begin_b, double end_b) {
  return std::min(end_a, end_b) - std::max(begin_a, begin_b);
}

}  // namespace

void CheckIou(const IouParams& p, Checker& checker) {
  checker.Rank(p.bBoxes, 2).Rank(p.gtBoxes, 2);
  checker.SameDtype(p.gtBoxes, p.bBoxes).SameDtype(p.overlap, p.bBoxes);
  checker.That(!p.aligned, [] { return "aligned value is true, expected false"; });
  if (!checker.ok()) return;
  CheckShape(p.bBoxes, {p.bBoxes.dim(0), 4}, checker);
  CheckShape(p.gtBoxes, {p.gtBoxes.dim(0), 4}, checker);
  CheckShape(p.overlap, {p.bBoxes.dim(0), p.gtBoxes.dim(0)}, checker);
}

// Each length has eps added.
Plan PlanIou(const IouParams& p, const Product&) {
  const Elements boxes(p.bBoxes, 0), truths(p.gtBoxes, 0), out(p.overlap, 0);
  const int64_t rows = p.bBoxes.dim(0), columns = p.gtBoxes.dim(0);
  const bool of_truth = std::string_view(p.mode) == "iof";
  return {0, [=, eps = double{p.eps}](const Buffers& buffers) -> Status {
            const auto box_of = [&](const Elements& from, int64_t i) {
              return Box{from.Get(buffers, 4 * i), from.Get(buffers, 4 * i + 1),
                         from.Get(buffers, 4 * i + 2), from.Get(buffers, 4 * i + 3)};
            };
            const auto area = [eps](const Box& box) {
              return (box.right - box.left + eps) * (box.bottom - box.top + eps);
            };
            ParallelRows(rows, 32 * columns, [&](int64_t row) {
              const Box a = box_of(boxes, row);
              for (int64_t column = 0; column < columns; ++column) {
                const Box b = box_of(truths, column);
                const double width = Common(a.left, a.right, b.left, b.right) + eps;
                const double height = Common(a.top, a.bottom, b.top, b.bottom) + eps;
                const double common = std::max(width, 0.0) * std::max(height, 0.0);
                const double whole = of_truth ? area(b) : area(a) + area(b) - common;
                out.Set(buffers, row * columns + column, common / whole);
              }
            });
            return {};
          }};
}

void CheckCiou(const CiouParams& p, Checker& checker) {
  checker.Rank(p.bBoxes, 2).Rank(p.gtBoxes, 2);
  for (const Tensor* each : {&p.gtBoxes, &p.overlap, &p.atanSub}) {
    checker.SameDtype(*each, p.bBoxes);
  }
  checker.That(!p.isCross, [] { return "isCross value is true, expected false"; });
  if (!checker.ok()) return;
  const int64_t count = p.bBoxes.dim(1);
  CheckShape(p.bBoxes, {4, count}, checker);
  CheckShape(p.gtBoxes, {4, count}, checker);
  CheckShape(p.overlap, {1, count}, checker);
  CheckShape(p.atanSub, {1, count}, checker);
}

// Heights and areas have a small number added, so that nothing is divided by 0.
Plan PlanCiou(const CiouParams& p, const Product&) {
  constexpr double kEps = 1e-9;
  const Elements boxes(p.bBoxes, 0), truths(p.gtBoxes, 0), out(p.overlap, 0), sub(p.atanSub, 0);
  const int64_t count = p.bBoxes.dim(1);
  return {
      0, [=, centred = p.trans](const Buffers& buffers) -> Status {
        const auto box_of = [&](const Elements& from, int64_t i) {
          const auto at = [&](int64_t k) { return from.Get(buffers, k * count + i); };
          if (!centred) return Box{at(0), at(1), at(2), at(3)};
          return Box{at(0) - at(2) / 2, at(1) - at(3) / 2, at(0) + at(2) / 2, at(1) + at(3) / 2};
        };
        ParallelRows(count, 256, [&](int64_t i) {
          const Box a = box_of(boxes, i), b = box_of(truths, i);
          const double wide_a = a.right - a.left, high_a = a.bottom - a.top + kEps;
          const double wide_b = b.right - b.left, high_b = b.bottom - b.top + kEps;
          const double common = std::max(Common(a.left, a.right, b.left, b.right), 0.0) *
                                std::max(Common(a.top, a.bottom, b.top, b.bottom), 0.0);
          const double overlap = common / (wide_a * high_a + wide_b * high_b - common + kEps);
          const double width = std::max(a.right, b.right) - std::min(a.left, b.left);
          const double height = std::max(a.bottom, b.bottom) - std::min(a.top, b.top);
          const double across = b.left + b.right - a.left - a.right,
                       along = b.top + b.bottom - a.top - a.bottom;
          const double distance = (across * across + along * along) / 4;
          const double angle = std::atan(wide_b / high_b) - std::atan(wide_a / high_a);
          const double shape = 4 / (std::numbers::pi * std::numbers::pi) * angle * angle;
          const double share = shape / (1 + kEps - overlap + shape);
          out.Set(buffers, i,
                  overlap - distance / (width * width + height * height + kEps) - shape * share);
          sub.Set(buffers, i, angle);
        });
        return {};
      }};
}

}  // namespace openaclnn::supporting
