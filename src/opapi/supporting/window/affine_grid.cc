// SPDX-License-Identifier: Apache-2.0
// AffineGrid: the coordinates of pixels, mapped by a matrix of each image.
#include <algorithm>
#include <array>
#include <vector>

#include "generated/window.h"
#include "kernels/rows/rows.h"
#include "supporting/elements.h"

namespace openaclnn::supporting {
namespace {

double CoordinateOf(int64_t place, int64_t length, bool align_corners) {
  const auto at = static_cast<double>(2 * place), n = static_cast<double>(length);
  if (align_corners) return length == 1 ? 0 : at / (n - 1) - 1;
  return (at + 1) / n - 1;
}

}  // namespace

void CheckAffineGrid(const AffineGridParams& p, Checker& checker) {
  const auto size = p.size.values();
  const auto text = [&] { return ShapeText(size.data(), static_cast<uint32_t>(size.size())); };
  checker.That(size.size() == 4 || size.size() == 5,
               [&] { return Concat("size value is ", text(), ", expected 4 or 5 lengths"); });
  checker.That(std::all_of(size.begin(), size.end(), [](int64_t n) { return n > 0; }),
               [&] { return Concat("size value is ", text(), ", expected lengths above 0"); });
  checker.SameDtype(p.out, p.theta);
  if (!checker.ok()) return;
  const auto dims = static_cast<int64_t>(size.size()) - 2;
  Shape shape = {size[0]};
  shape.insert(shape.end(), size.begin() + 2, size.end());
  shape.push_back(dims);
  CheckShape(p.theta, Shape{size[0], dims, dims + 1}, checker);
  CheckShape(p.out, shape, checker);
}

Plan PlanAffineGrid(const AffineGridParams& p, const Product&) {
  const Elements theta(p.theta, 0), out(p.out, 0);
  const Shape size(p.size.values().begin() + 2, p.size.values().end());
  const auto dims = static_cast<int64_t>(size.size());
  const int64_t pixels = CountOf(size), images = p.size.values()[0];
  const bool align = p.alignCorners;
  return {0, [=](const Buffers& buffers) -> Status {
            const std::vector<double> all = theta.All(buffers);
            ParallelRows(images * pixels, 8, [&](int64_t row) {
              // x first, which is the last dimension.
              std::array<double, 4> at{};
              int64_t rest = row % pixels;
              for (int64_t d = 0; d < dims; ++d) {
                const int64_t length = size[static_cast<size_t>(dims - 1 - d)];
                at[static_cast<size_t>(d)] = CoordinateOf(rest % length, length, align);
                rest /= length;
              }
              at[static_cast<size_t>(dims)] = 1;
              const double* matrix = all.data() + row / pixels * dims * (dims + 1);
              for (int64_t i = 0; i < dims; ++i, matrix += dims + 1) {
                double sum = 0;
                for (int64_t d = 0; d <= dims; ++d) sum += matrix[d] * at[static_cast<size_t>(d)];
                out.Set(buffers, row * dims + i, sum);
              }
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
