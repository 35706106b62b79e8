// SPDX-License-Identifier: Apache-2.0
// Mul: of numbers, or of complex ones where a factor is.
#include "generated/elementwise.h"
#include "generated/expressions.h"
#include "supporting/elementwise.h"
#include "supporting/elementwise/complex.h"

namespace openaclnn::supporting {
namespace {

Application ProductOf(const MulParams& p) {
  return {OPENACLNN_TARGET_SELECT(expressions::kMul),
          {p.self.place.number, p.other.place.number},
          p.out.place.number,
          {}};
}

bool HasComplexFactor(const MulParams& p) { return IsComplex(p.self) || IsComplex(p.other); }

}  // namespace

void CheckMul(const MulParams& p, Checker& checker) {
  const bool complex = HasComplexFactor(p);
  for (const Tensor* factor : {&p.self, &p.other}) {
    checker.That(Contains(kNumericTypes | kComplexTypes, factor->dtype()),
                 [&] { return DtypeIs(*factor, DtypesText(kNumericTypes | kComplexTypes)); });
  }
  const DtypeSet products = complex ? kComplexTypes : kNumericTypes;
  checker.That(Contains(products, p.out.dtype()),
               [&] { return DtypeIs(p.out, DtypesText(products)); });
  if (!checker.ok()) return;
  if (!complex) return CheckApplication(p, ProductOf(p), checker);
  Shape shape = ShapeOf(p.self);
  MeetShape(p.other, &shape, &checker);
  if (checker.ok()) CheckShape(p.out, shape, checker);
}

// In double, which holds products of floats, so that a part of COMPLEX64 is as good as rounded
// once; a real factor has an imaginary part of 0, as in NumPy.
Plan PlanMul(const MulParams& p, const Product&) {
  if (!HasComplexFactor(p)) return PlanApplication(p, ProductOf(p));
  const std::array<const Operand*, 3> views = {&p.self, &p.other, &p.out};
  const Walk walk(ShapeOf(p.out), views);
  return {0,
          [=, load_self = LoadParts(p.self), load_other = LoadParts(p.other),
           store = StoreParts(p.out), self = p.self.place, other = p.other.place,
           out = p.out.place](const Buffers& buffers) -> Status {
            walk.ForRuns({self(buffers), other(buffers), out(buffers)},
                         [&](const Walk::Pointers& at, int64_t n) {
                           Parts a(n), b(n);
                           load_self(at[0], walk.step(0), &a);
                           load_other(at[1], walk.step(1), &b);
                           for (int64_t i = 0; i < n; ++i) {
                             const double real = a.real[i], imaginary = a.imaginary[i];
                             a.real[i] = real * b.real[i] - imaginary * b.imaginary[i];
                             a.imaginary[i] = real * b.imaginary[i] + imaginary * b.real[i];
                           }
                           store(a, at[2], walk.step(2));
                         });
            return {};
          }};
}

}  // namespace openaclnn::supporting
