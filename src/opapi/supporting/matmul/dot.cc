// SPDX-License-Identifier: Apache-2.0
// Dot: of floats as a product of matrices, of integers in 64 bits.
#include "generated/matmul.h"
#include "kernels/broadcast.h"

namespace openaclnn::supporting {
namespace {

bool IsOfIntegers(const MatmulParams& p) { return Contains(kIntegerTypes, p.self.dtype()); }

}  // namespace

void CheckDot(const MatmulParams& p, Checker& checker) {
  if (IsOfIntegers(p)) checker.SameDtype(p.mat2, p.self).SameDtype(p.out, p.self);
  for (const Tensor* each : {&p.mat2, &p.out}) {
    checker.That(IsOfIntegers(p) || Contains(kRealTypes, each->dtype()),
                 [&] { return DtypeIs(*each, DtypesText(kRealTypes)); });
  }
  checker.Rank(p.self, 1).Rank(p.mat2, 1);
  if (checker.ok()) CheckMatmul(p, checker);
}

Plan PlanDot(const MatmulParams& p, const Product& product) {
  if (!IsOfIntegers(p)) return PlanMatmul(p, product);
  const std::array<const Operand*, 2> views = {&p.self, &p.mat2};
  const Walk walk(ShapeOf(p.self), views);
  return {0,
          [=, load = LoaderOf<int64_t>(p.self.dtype()), store = StorerOf<int64_t>(p.out.dtype()),
           self = p.self.place, other = p.mat2.place,
           out = p.out.place](const Buffers& buffers) -> Status {
            uint64_t sum = 0;
            walk.ForRunsInOrder(
                {self(buffers), other(buffers)}, [&](const Walk::Pointers& at, int64_t n) {
                  int64_t a[Walk::kRun], b[Walk::kRun];
                  load(at[0], walk.step(0), n, a);
                  load(at[1], walk.step(1), n, b);
                  for (int64_t i = 0; i < n; ++i) {
                    sum += static_cast<uint64_t>(a[i]) * static_cast<uint64_t>(b[i]);
                  }
                });
            const auto total = static_cast<int64_t>(sum);
            store(&total, 1, out(buffers), 0);
            return {};
          }};
}

}  // namespace openaclnn::supporting
