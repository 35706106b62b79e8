// SPDX-License-Identifier: Apache-2.0
// RotaryPositionEmbedding, its second version and InterleaveRope: pairs of numbers turned by
// angles, of which cosines and sines are given.
#include "supporting/attention/rotary.h"

#include "generated/attention.h"
#include "supporting/elements.h"
#include "supporting/row_group.h"
#include "supporting/tree_sum.h"

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

void TurnPairs(const RotaryPairs& pairs, const double* x, const double* cos, const double* sin,
               double* to) {
  for (int64_t i = 0; i < pairs.width / 2; ++i) {
    const auto [first, second] = pairs.From(i);
    const auto [at, next] = pairs.To(i);
    to[at] = x[first] * cos[at] - x[second] * sin[at];
    to[next] = x[second] * cos[next] + x[first] * sin[next];
  }
}

namespace {

/// Plans rows of which turn(x, cos, sin, to) makes those of the result.
template <class Turn>
Plan PlanRows(const Tensor& of_x, const Tensor& of_cos, const Tensor& of_sin, const Tensor& of_out,
              const Turn& turn) {
  const Shape shape = ShapeOf(of_x);
  const int64_t width = shape.back(), rows = width == 0 ? 0 : CountOf(shape) / width;
  const BroadcastRows x(shape, of_x), cos(shape, of_cos), sin(shape, of_sin), out(shape, of_out);
  return {0, [=](const Buffers& buffers) -> Status {
            const auto turn_row = turn.Of(buffers);
            ParallelRowGroups(rows, width, kRowsTogether, [&](int64_t begin, int64_t count) {
              std::vector<double> numbers(static_cast<size_t>(4 * width));
              double *const a = numbers.data(), *const c = a + width, *const s = c + width,
                            *const turned = s + width;
              for (int64_t row = begin; row < begin + count; ++row) {
                x.Load(buffers, row, width, a);
                cos.Load(buffers, row, width, c);
                sin.Load(buffers, row, width, s);
                turn_row(a, c, s, turned);
                out.Store(buffers, row, width, turned);
              }
            });
            return {};
          }};
}

/// Turns pairs.
struct PairTurn {
  auto Of(const Buffers&) const {
    return [this](const double* x, const double* cos, const double* sin, double* to) {
      TurnPairs(pairs, x, cos, sin, to);
    };
  }
  RotaryPairs pairs;
};

/// Takes the product of a row and a matrix for its turned pairs.
struct MatrixTurn {
  auto Of(const Buffers& buffers) const {
    return [this, matrix = elements.All(buffers)](const double* x, const double* cos,
                                                  const double* sin, double* to) {
      for (int64_t j = 0; j < width; ++j) {
        TreeSum<double> sum;
        for (int64_t i = 0; i < width; ++i) {
          sum.Add(x[i] * matrix[static_cast<size_t>(i * width + j)]);
        }
        to[j] = x[j] * cos[j] + sum.Total() * sin[j];
      }
    };
  }
  Elements elements;
  int64_t width;
};

}  // namespace

Plan PlanRotation(const Tensor& x, const Tensor& cos, const Tensor& sin, int64_t mode,
                  const Tensor& out) {
  const RotaryPairs pairs{static_cast<RotaryMode>(mode), x.last_dim()};
  return PlanRows(x, cos, sin, out, PairTurn{pairs});
}

void CheckRotary(const RotaryParams& p, Checker& checker) {
  CheckRotated(p.x, p.mode, p.cos, p.sin, checker);
  CheckShape(p.out, ShapeOf(p.x), checker);
  if (!checker.ok() || !p.rotateOptional.present()) return;
  CheckShape(p.rotateOptional, {p.x.last_dim(), p.x.last_dim()}, checker);
}

Plan PlanRotary(const RotaryParams& p, const Product&) {
  if (!p.rotateOptional.present()) return PlanRotation(p.x, p.cos, p.sin, p.mode, p.out);
  return PlanRows(p.x, p.cos, p.sin, p.out,
                  MatrixTurn{Elements(p.rotateOptional, 0), p.x.last_dim()});
}

void CheckInterleaveRope(const InterleaveRopeParams& p, Checker& checker) {
  CheckRotated(p.x, kNeighboursToHalves, p.cos, p.sin, checker);
  CheckShape(p.out, ShapeOf(p.x), checker);
}

Plan PlanInterleaveRope(const InterleaveRopeParams& p, const Product&) {
  return PlanRotation(p.x, p.cos, p.sin, kNeighboursToHalves, p.out);
}

}  // namespace openaclnn::supporting
