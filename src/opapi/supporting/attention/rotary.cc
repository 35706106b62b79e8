// SPDX-License-Identifier: Apache-2.0
// RotaryPositionEmbedding: pairs of numbers turned by angles, of which cosines and sines are given.
#include "supporting/attention/rotary.h"

#include "generated/attention.h"
#include "supporting/row_group.h"

namespace openaclnn::supporting {
namespace {

constexpr int64_t kRowsTogether = 64;  // of one allocation

}  // namespace

void CheckRotated(const Tensor& x, int64_t mode, const Tensor& cos, const Tensor& sin,
                  Checker& checker) {
  const Shape shape = ShapeOf(x);
  checker.RankBetween(x, 1, kMaxRank);
  const int64_t unit = mode == kQuarters ? 4 : 2;
  checker.That(x.last_dim() % unit == 0, [&] {
    return Concat(x.name(), " shape is ", ShapeText(x),
                  ", expected a last dimension that is a multiple of ", unit);
  });
  for (const Tensor* angles : {&cos, &sin}) {
    Shape common = shape;
    checker.That(BroadcastShape(*angles, &common) && common == shape, [&] {
      return Concat(angles->name(), " shape is ", ShapeText(*angles),
                    ", expected one that can be broadcast to ", ShapeText(x));
    });
  }
}

void CheckRotary(const RotaryParams& p, Checker& checker) {
  CheckRotated(p.x, p.mode, p.cos, p.sin, checker);
  CheckShape(p.out, ShapeOf(p.x), checker);
}

Plan PlanRotary(const RotaryParams& p, const Product&) {
  const Shape shape = ShapeOf(p.x);
  const int64_t width = shape.back(), rows = width == 0 ? 0 : CountOf(shape) / width;
  const BroadcastRows x(shape, p.x), cos(shape, p.cos), sin(shape, p.sin), out(shape, p.out);
  const RotaryPairs pairs{static_cast<RotaryMode>(p.mode), width};
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRowGroups(rows, width, kRowsTogether, [&](int64_t begin, int64_t count) {
              std::vector<double> numbers(static_cast<size_t>(4 * width));
              double *const a = numbers.data(), *const c = a + width, *const s = c + width,
                            *const turned = s + width;
              for (int64_t row = begin; row < begin + count; ++row) {
                x.Load(buffers, row, width, a);
                cos.Load(buffers, row, width, c);
                sin.Load(buffers, row, width, s);
                for (int64_t i = 0; i < width / 2; ++i) {
                  const auto [first, second] = pairs.From(i);
                  const auto [to, next] = pairs.To(i);
                  turned[to] = a[first] * c[to] - a[second] * s[to];
                  turned[next] = a[second] * c[next] + a[first] * s[next];
                }
                out.Store(buffers, row, width, turned);
              }
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
