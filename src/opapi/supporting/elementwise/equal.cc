// SPDX-License-Identifier: Apache-2.0
// Equal: whether two tensors are the same.
#include <atomic>

#include "generated/elementwise.h"
#include "kernels/move/broadcast.h"
#include "supporting/unsigned.h"

namespace openaclnn::supporting {

void CheckEqual(const EqualParams& p, Checker& checker) {
  checker.That(p.out.dtype() == ACL_BOOL, [&] { return DtypeIs(p.out, "BOOL"); });
  checker.That(p.out.count() == 1,
               [&] { return Concat("out shape is ", ShapeText(p.out), ", expected one element"); });
}

Plan PlanEqual(const EqualParams& p, const Product&) {
  const Shape shape = ShapeOf(p.self);
  const bool same_shape = shape == ShapeOf(p.other);
  Walk walk;
  if (same_shape) walk = Walk(shape, {Steps(shape, p.self), Steps(shape, p.other)});
  const auto a = WholeLoaderOf<double>(p.self.dtype(), ACL_DOUBLE);
  const auto b = WholeLoaderOf<double>(p.other.dtype(), ACL_DOUBLE);
  const auto c = WholeLoaderOf<int64_t>(p.self.dtype(), ACL_INT64);
  const auto d = WholeLoaderOf<int64_t>(p.other.dtype(), ACL_INT64);
  // Numbers of UINT64 beyond INT64 have the bits of negative ones.
  const bool bits_differ = (p.self.dtype() == ACL_UINT64) != (p.other.dtype() == ACL_UINT64);
  const bool integers =
      DomainOf(p.self.dtype()) == Domain::kInteger && DomainOf(p.other.dtype()) == Domain::kInteger;
  const Place self = p.self.place, other = p.other.place, out = p.out.place;
  return {0, [=](const Buffers& buffers) -> Status {
            std::atomic<bool> equal = same_shape;
            const Walk::Pointers origins = {self(buffers), other(buffers)};
            const auto compare = [&](const Walk::Pointers& at, int64_t n, auto left, auto right,
                                     auto zero) {
              decltype(zero) x[Walk::kRun], y[Walk::kRun];
              left(at[0], walk.step(0), n, x);
              right(at[1], walk.step(1), n, y);
              for (int64_t i = 0; i < n; ++i) {
                const bool beyond = integers && bits_differ && x[i] < 0;
                if (!(x[i] == y[i]) || beyond) equal = false;
              }
            };
            if (same_shape) {
              walk.ForRuns(origins, [&](const Walk::Pointers& at, int64_t n) {
                integers ? compare(at, n, c, d, int64_t{}) : compare(at, n, a, b, double{});
              });
            }
            *out(buffers) = std::byte{equal.load()};
            return {};
          }};
}

}  // namespace openaclnn::supporting
