// SPDX-License-Identifier: Apache-2.0
// RReluWithNoise: negative elements times random slopes, which are told.
#include "generated/random.h"
#include "kernels/move/broadcast.h"
#include "kernels/number/philox.h"
#include "supporting/random/interval.h"
#include "supporting/random/seed.h"

namespace openaclnn::supporting {
namespace {

constexpr int64_t kBlock = 4096;  // elements of a thread at least: about 10 us
constexpr int64_t kMaxBlocks = 1024;

const Tensor& Result(const RReluParams& p) { return p.out.present() ? p.out : p.self; }

/// body(first, pointers, n) for runs of elements, which begin with the first-th.
template <class Body>
void ForNumberedRuns(const Walk& walk, const Walk::Pointers& origins, const Body& body) {
  const int64_t count = walk.count(), blocks = BlockCount(count, kBlock, kMaxBlocks);
  if (count == 0) return;
  ParallelFor(blocks, [&](int64_t block) {
    int64_t first = BlockBegin(count, blocks, block);
    walk.ForRunsOf(first, BlockBegin(count, blocks, block + 1), Walk::kRun, origins,
                   [&](const Walk::Pointers& at, int64_t n) {
                     body(first, at, n);
                     first += n;
                   });
  });
}

/// NaN is not negative.
Plan MakeLeaky(const Walk& walk, const RReluParams& p, double slope) {
  return {0,
          [=, self = p.self.place, out = Result(p).place, load = LoaderOf<double>(p.self.dtype()),
           store = StorerOf<double>(p.self.dtype())](const Buffers& buffers) -> Status {
            walk.ForRuns({self(buffers), out(buffers)}, [&](const Walk::Pointers& at, int64_t n) {
              double values[Walk::kRun];
              load(at[0], walk.step(0), n, values);
              for (int64_t i = 0; i < n; ++i) values[i] *= values[i] <= 0 ? slope : 1;
              store(values, n, at[1], walk.step(1));
            });
            return {};
          }};
}

}  // namespace

void CheckRRelu(const RReluParams& p, Checker& checker) {
  checker.SameShapeAndDtype(p.noise, p.self);
  if (p.out.present()) checker.SameShapeAndDtype(p.out, p.self);
  checker.That(p.lower.number <= p.upper.number, [&] {
    return Concat("lower value is ", p.lower.number, ", expected at most upper, ", p.upper.number);
  });
}

Plan PlanRRelu(const RReluParams& p, const Product&) {
  const Shape shape = ShapeOf(p.self);
  const double lower = p.lower.number, upper = p.upper.number;
  const Steps from(shape, p.self), to(shape, Result(p)), noise(shape, p.noise);
  if (!p.training) return MakeLeaky(Walk(shape, {from, to}), p, (lower + upper) / 2);
  return {0,
          [=, walk = Walk(shape, {from, to, noise}), kernels = RandomNumbers(), seed = Seed(p),
           digits = UnitDigits(p.noise.dtype()), inside = RealsIn(p.noise.dtype(), lower, upper),
           self = p.self.place, out = Result(p).place, noise_at = p.noise.place,
           load = LoaderOf<double>(p.self.dtype()),
           store = StorerOf<double>(p.self.dtype())](const Buffers& buffers) -> Status {
            const RandomKey key = seed(buffers);
            const Walk::Pointers origins = {self(buffers), out(buffers), noise_at(buffers)};
            ForNumberedRuns(walk, origins, [&](int64_t first, const Walk::Pointers& at, int64_t n) {
              double values[Walk::kRun], slopes[Walk::kRun];
              load(at[0], walk.step(0), n, values);
              kernels->uniform(key, static_cast<uint64_t>(first), n, digits, lower, upper - lower,
                               slopes);
              for (int64_t i = 0; i < n; ++i) {
                // Choices between numbers, not branches, which random signs would mislead.
                const double above = slopes[i] < inside.first ? inside.first : slopes[i];
                const double within = above > inside.last ? inside.last : above;
                slopes[i] = values[i] <= 0 ? within : 1;
                values[i] *= slopes[i];
              }
              store(values, n, at[1], walk.step(1));
              store(slopes, n, at[2], walk.step(2));
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
