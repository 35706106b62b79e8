// SPDX-License-Identifier: Apache-2.0
// Complex and Polar make complex numbers; Abs, AngleV2, Sign and InplaceZero take them.
#include <cmath>

#include "generated/elementwise.h"
#include "generated/expressions.h"
#include "kernels/strided.h"
#include "supporting/elementwise.h"
#include "supporting/elementwise/complex.h"
#include "supporting/elementwise/expressions.h"

namespace openaclnn::supporting {
namespace {

/// f(parts, at, step) for runs of complex elements; at is where the run of the output is.
template <class Function>
Plan PlanOfParts(const Tensor& self, const Tensor& out, const Function& function) {
  const std::array<const Operand*, 2> views = {&self, &out};
  const Walk walk(ShapeOf(out), views);
  return {0,
          [=, from = self.place, to = out.place,
           load = LoadParts(self)](const Buffers& buffers) -> Status {
            walk.ForRuns({from(buffers), to(buffers)}, [&](const Walk::Pointers& at, int64_t n) {
              Parts parts(n);
              load(at[0], walk.step(0), &parts);
              function(&parts, at[1], walk.step(1));
            });
            return {};
          }};
}

void StoreReal(const Parts& parts, std::byte* at, int64_t step) {
  StorerOf<double>(ACL_FLOAT)(parts.real, parts.n, at, step);
}

Application AbsOf(const AbsParams& p) {
  return {
      OPENACLNN_TARGET_SELECT(expressions::kAbs), {p.self.place.number}, p.out.place.number, {}};
}
Application SignOf(const SignParams& p) {
  return {
      OPENACLNN_TARGET_SELECT(expressions::kSign), {p.self.place.number}, p.out.place.number, {}};
}
Application AngleOf(const AngleV2Params& p) {
  return {OPENACLNN_TARGET_SELECT(expressions::kAngle), {p.x.place.number}, p.out.place.number, {}};
}
Application ZeroOf(const ZeroParams& p) {
  return {OPENACLNN_TARGET_SELECT(expressions::kZero), {}, p.selfRef.place.number, {}};
}

/// Numbers, or COMPLEX64.
void CheckNumeric(const Tensor& self, Checker& checker) {
  checker.That(Contains(kNumericTypes, self.dtype()),
               [&] { return DtypeIs(self, DtypesText(kNumericTypes | Dtypes(ACL_COMPLEX64))); });
}

/// A real number of each: FLOAT of COMPLEX64, else what the expression makes, of which `results` is
/// told.
template <class P>
void CheckRealResult(const P& p, const Tensor& self, const Application& application,
                     DtypeSet results, Checker& checker) {
  if (self.dtype() != ACL_COMPLEX64) {
    CheckNumeric(self, checker);
    checker.That(Contains(kNumericTypes, p.out.dtype()),
                 [&] { return DtypeIs(p.out, DtypesText(results)); });
    if (checker.ok()) CheckApplication(p, application, checker);
    return;
  }
  checker.That(p.out.dtype() == ACL_FLOAT, [&] { return DtypeIs(p.out, "FLOAT"); });
  CheckShape(p.out, ShapeOf(self), checker);
}

}  // namespace

void CheckAbs(const AbsParams& p, Checker& checker) {
  CheckRealResult(p, p.self, AbsOf(p), kNumericTypes, checker);
}

Plan PlanAbs(const AbsParams& p, const Product&) {
  if (p.self.dtype() != ACL_COMPLEX64) return PlanApplication(p, AbsOf(p));
  return PlanOfParts(p.self, p.out, [](Parts* parts, std::byte* at, int64_t step) {
    // Squares of floats do not overflow in double; infinite beside NaN is infinite.
    for (int64_t i = 0; i < parts->n; ++i) {
      const double real = parts->real[i], imaginary = parts->imaginary[i];
      const bool infinite = std::isinf(real) || std::isinf(imaginary);
      parts->real[i] = infinite ? INFINITY : std::sqrt(real * real + imaginary * imaginary);
    }
    StoreReal(*parts, at, step);
  });
}

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
      [=, load = LoaderOf<double>(ACL_FLOAT), store = StoreParts(p.out), length_at = p.input.place,
       angle_at = p.angle.place, out = p.out.place](const Buffers& buffers) -> Status {
        walk.ForRuns({length_at(buffers), angle_at(buffers), out(buffers)},
                     [&](const Walk::Pointers& at, int64_t n) {
                       Parts parts(n);
                       load(at[0], walk.step(0), n, parts.real);
                       load(at[1], walk.step(1), n, parts.imaginary);
                       for (int64_t i = 0; i < n; ++i) {
                         const double length = parts.real[i], angle = parts.imaginary[i];
                         parts.real[i] = length * std::cos(angle);
                         parts.imaginary[i] = length * std::sin(angle);
                       }
                       store(parts, at[2], walk.step(2));
                     });
        return {};
      }};
}

void CheckAngleV2(const AngleV2Params& p, Checker& checker) {
  CheckRealResult(p, p.x, AngleOf(p), kRealTypes, checker);
}

Plan PlanAngleV2(const AngleV2Params& p, const Product&) {
  if (p.x.dtype() != ACL_COMPLEX64) return PlanApplication(p, AngleOf(p));
  return PlanOfParts(p.x, p.out, [](Parts* parts, std::byte* at, int64_t step) {
    for (int64_t i = 0; i < parts->n; ++i) {
      parts->real[i] = std::atan2(parts->imaginary[i], parts->real[i]);
    }
    StoreReal(*parts, at, step);
  });
}

void CheckSign(const SignParams& p, Checker& checker) {
  if (p.self.dtype() != ACL_COMPLEX64) {
    CheckNumeric(p.self, checker);
    if (checker.ok()) CheckApplication(p, SignOf(p), checker);
    return;
  }
  checker.SameShapeAndDtype(p.out, p.self);
}

Plan PlanSign(const SignParams& p, const Product&) {
  if (p.self.dtype() != ACL_COMPLEX64) return PlanApplication(p, SignOf(p));
  const StoreParts store(p.out);
  return PlanOfParts(p.self, p.out, [store](Parts* parts, std::byte* at, int64_t step) {
    // Squares of floats do not overflow in double.
    for (int64_t i = 0; i < parts->n; ++i) {
      double &real = parts->real[i], &imaginary = parts->imaginary[i];
      const double size = std::sqrt(real * real + imaginary * imaginary);
      real = size == 0 ? 0 : real / size;
      imaginary = size == 0 ? 0 : imaginary / size;
    }
    store(*parts, at, step);
  });
}

void CheckZero(const ZeroParams& p, Checker& checker) {
  constexpr DtypeSet kCleared = kNumericTypes | kComplexTypes;
  checker.That(Contains(kCleared, p.selfRef.dtype()),
               [&] { return DtypeIs(p.selfRef, DtypesText(kCleared)); });
}

// Complex numbers are zero bytes as well.
Plan PlanZero(const ZeroParams& p, const Product&) {
  if (Contains(kNumericTypes, p.selfRef.dtype())) return PlanApplication(p, ZeroOf(p));
  const std::array<const Operand*, 1> views = {&p.selfRef};
  const Walk walk(ShapeOf(p.selfRef), views);
  return {0,
          [=, bytes = static_cast<size_t>(BytesOf(p.selfRef)),
           self = p.selfRef.place](const Buffers& buffers) -> Status {
            walk.ForRuns({self(buffers)}, [&](const Walk::Pointers& at, int64_t n) {
              for (int64_t i = 0; i < n; ++i)
                std::fill_n(at[0] + i * walk.step(0), bytes, std::byte{0});
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
