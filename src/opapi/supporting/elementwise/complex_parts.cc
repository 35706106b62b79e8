// SPDX-License-Identifier: Apache-2.0
// Complex and Polar make complex numbers.
#include <cmath>

#include "generated/elementwise.h"
#include "kernels/move/strided.h"
#include "supporting/complex.h"
#include "supporting/elementwise.h"

namespace openaclnn::supporting {

void CheckComplex(const ComplexParams& p, Checker& checker) {
  constexpr DtypeSet kParts = Dtypes(ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE);
  checker.That(Contains(kParts, p.real.dtype()),
               [&] { return DtypeIs(p.real, DtypesText(kParts)); });
  checker.SameDtype(p.imag, p.real);
  const int32_t part = p.real.dtype();
  const int32_t made = part == ACL_FLOAT    ? ACL_COMPLEX64
                       : part == ACL_DOUBLE ? ACL_COMPLEX128
                                            : ACL_COMPLEX32;
  checker.That(p.out.dtype() == made, [&] { return DtypeIs(p.out, DtypesText(Dtypes(made))); });
  Shape shape = ShapeOf(p.real);
  MeetShape(p.imag, &shape, &checker);
  if (checker.ok()) CheckShape(p.out, shape, checker);
}

// A part may be in its place already, or in the other's.
Plan PlanComplex(const ComplexParams& p, const Product&) {
  const std::array<const Operand*, 3> views = {&p.real, &p.imag, &p.out};
  const Walk walk(ShapeOf(p.out), views);
  return {0,
          [=, bytes = BytesOf(p.real), real_at = p.real.place, imag_at = p.imag.place,
           out = p.out.place](const Buffers& buffers) -> Status {
            walk.ForRuns({real_at(buffers), imag_at(buffers), out(buffers)},
                         [&](const Walk::Pointers& at, int64_t n) {
                           double real[Walk::kRun], imag[Walk::kRun];  // the bits of either type
                           const int64_t step = walk.step(2) / bytes;
                           CopyStrided(at[0], walk.step(0) / bytes, real, 1, n, bytes);
                           CopyStrided(at[1], walk.step(1) / bytes, imag, 1, n, bytes);
                           CopyStrided(real, 1, at[2], step, n, bytes);
                           CopyStrided(imag, 1, at[2] + bytes, step, n, bytes);
                         });
            return {};
          }};
}

void CheckPolar(const PolarParams& p, Checker& checker) {
  for (const Tensor* part : {&p.input, &p.angle}) {
    checker.That(part->dtype() == ACL_FLOAT, [&] { return DtypeIs(*part, "FLOAT"); });
  }
  checker.That(p.out.dtype() == ACL_COMPLEX64, [&] { return DtypeIs(p.out, "COMPLEX64"); });
  CheckShape(p.angle, ShapeOf(p.input), checker);
  CheckShape(p.out, ShapeOf(p.input), checker);
}

Plan PlanPolar(const PolarParams& p, const Product&) {
  const std::array<const Operand*, 3> views = {&p.input, &p.angle, &p.out};
  const Walk walk(ShapeOf(p.out), views);
  return {
      0,
      [=, load = LoaderOf<double>(ACL_FLOAT), store = StorePairs(p.out), length_at = p.input.place,
       angle_at = p.angle.place, out = p.out.place](const Buffers& buffers) -> Status {
        walk.ForRuns(
            {length_at(buffers), angle_at(buffers), out(buffers)},
            [&](const Walk::Pointers& at, int64_t n) {
              double lengths[kPairRun], angles[kPairRun];
              Pair pairs[kPairRun];
              load(at[0], walk.step(0), n, lengths);
              load(at[1], walk.step(1), n, angles);
              for (int64_t i = 0; i < n; ++i) {
                pairs[i] = {lengths[i] * std::cos(angles[i]), lengths[i] * std::sin(angles[i])};
              }
              store(pairs, n, at[2], walk.step(2));
            },
            kPairRun);
        return {};
      }};
}

}  // namespace openaclnn::supporting
