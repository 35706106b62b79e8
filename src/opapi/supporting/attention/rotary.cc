// SPDX-License-Identifier: Apache-2.0
// RotaryPositionEmbedding: pairs of numbers turned by angles, of which cosines and sines are given.
#include "generated/attention.h"
#include "kernels/move/broadcast.h"
#include "supporting/row_group.h"

namespace openaclnn::supporting {
namespace {

constexpr int64_t kRowsTogether = 64;  // of one allocation

/// Which numbers are a pair, and where both go.
enum Mode { kHalves, kNeighbours, kQuarters, kNeighboursToHalves };

struct Pairs {
  Mode mode;
  int64_t width;

  /// The places of the i-th pair among width numbers.
  std::pair<int64_t, int64_t> From(int64_t i) const {
    switch (mode) {
      case kNeighbours:
      case kNeighboursToHalves:
        return {2 * i, 2 * i + 1};
      case kQuarters: {
        const int64_t quarter = width / 4, first = i < quarter ? i : i + quarter;
        return {first, first + quarter};
      }
      case kHalves:
        break;
    }
    return {i, i + width / 2};
  }
  std::pair<int64_t, int64_t> To(int64_t i) const {
    return mode == kNeighboursToHalves ? std::pair(i, i + width / 2) : From(i);
  }
};

/// A tensor, broadcast to a shape, as rows of its last dimension.
struct BroadcastRows {
  BroadcastRows(const Shape& shape, const Tensor& tensor)
      : place(tensor.place), load(LoaderOf<double>(tensor.dtype())) {
    const Steps steps(shape, tensor);
    const auto lead = static_cast<uint32_t>(shape.size() - 1);
    rows = Offsets(shape.data(), steps.bytes.data(), lead);
    step = steps.bytes[lead];
  }
  void Load(const Buffers& buffers, int64_t row, int64_t n, double* to) const {
    load(place(buffers) + rows(row), step, n, to);
  }

  Place place;
  Offsets rows;  // in bytes
  int64_t step;
  LoadRow<double> load;
};

}  // namespace

void CheckRotary(const RotaryParams& p, Checker& checker) {
  const Shape shape = ShapeOf(p.x);
  checker.RankBetween(p.x, 1, kMaxRank);
  const int64_t unit = p.mode == kQuarters ? 4 : 2;
  checker.That(p.x.last_dim() % unit == 0, [&] {
    return Concat("x shape is ", ShapeText(p.x),
                  ", expected a last dimension that is a multiple of ", unit);
  });
  for (const Tensor* angles : {&p.cos, &p.sin}) {
    Shape common = shape;
    checker.That(BroadcastShape(*angles, &common) && common == shape, [&] {
      return Concat(angles->name(), " shape is ", ShapeText(*angles),
                    ", expected one that can be broadcast to ", ShapeText(p.x));
    });
  }
  CheckShape(p.out, shape, checker);
}

Plan PlanRotary(const RotaryParams& p, const Product&) {
  const Shape shape = ShapeOf(p.x);
  const int64_t width = shape.back(), rows = width == 0 ? 0 : CountOf(shape) / width;
  const BroadcastRows x(shape, p.x), cos(shape, p.cos), sin(shape, p.sin), out(shape, p.out);
  const auto store = StorerOf<double>(p.out.dtype());
  const Pairs pairs{static_cast<Mode>(p.mode), width};
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
                store(turned, width, out.place(buffers) + out.rows(row), out.step);
              }
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
