// SPDX-License-Identifier: Apache-2.0
// InplaceCopy and Abs: what they do with complex numbers.
#include <cmath>

#include "generated/elementwise.h"
#include "generated/expressions.h"
#include "supporting/elementwise.h"
#include "supporting/elementwise/expressions.h"

namespace openaclnn::supporting {
namespace {

constexpr DtypeSet kComplexTypes = Dtypes(ACL_COMPLEX64, ACL_COMPLEX128);

/// The type of a complex number's two parts; any other is its own.
int32_t PartOf(int32_t dtype) {
  return dtype == ACL_COMPLEX64 ? ACL_FLOAT : dtype == ACL_COMPLEX128 ? ACL_DOUBLE : dtype;
}
/// Of them, in bytes from the first.
int64_t ImaginaryAt(const Operand& complex) { return BytesOf(complex) / 2; }

/// Both as an expression's only input and its output.
Application OneOf(const Expression* expression, const Tensor& in, const Tensor& out) {
  return {expression, {in.place.number}, out.place.number, {}};
}

Application CopyOf(const CopyParams& p) {
  return OneOf(OPENACLNN_TARGET_SELECT(expressions::kCopy), p.src, p.selfRef);
}
Application AbsOf(const AbsParams& p) {
  return OneOf(OPENACLNN_TARGET_SELECT(expressions::kAbs), p.self, p.out);
}

bool IsWidened(const CopyParams& p) {
  const int32_t from = p.src.dtype(), to = p.selfRef.dtype();
  return from != to && Contains(kComplexTypes, to) && Contains(kComplexTypes | kNumericTypes, from);
}

/// In double, which holds the parts of both; T is what a real number is rounded to once.
template <class T>
Plan PlanWidened(const CopyParams& p) {
  const std::array<const Operand*, 2> views = {&p.src, &p.selfRef};
  const Walk walk(ShapeOf(p.selfRef), views);
  const auto load = LoaderOf<T>(PartOf(p.src.dtype()));
  const auto store = StorerOf<T>(PartOf(p.selfRef.dtype()));
  const int64_t from = Contains(kComplexTypes, p.src.dtype()) ? ImaginaryAt(p.src) : 0;
  return {0,
          [=, to = ImaginaryAt(p.selfRef), src = p.src.place,
           self = p.selfRef.place](const Buffers& buffers) -> Status {
            walk.ForRuns({src(buffers), self(buffers)}, [&](const Walk::Pointers& at, int64_t n) {
              T parts[Walk::kRun];
              load(at[0], walk.step(0), n, parts);
              store(parts, n, at[1], walk.step(1));
              std::fill_n(parts, n, T{0});
              if (from > 0) load(at[0] + from, walk.step(0), n, parts);
              store(parts, n, at[1] + to, walk.step(1));
            });
            return {};
          }};
}

}  // namespace

void CheckCopy(const CopyParams& p, Checker& checker) {
  if (!IsWidened(p)) return CheckApplication(p, CopyOf(p), checker);
  Shape shape = ShapeOf(p.selfRef);
  MeetShape(p.src, &shape, &checker);
  if (checker.ok()) CheckShape(p.selfRef, shape, checker);
}

Plan PlanCopy(const CopyParams& p, const Product&) {
  if (!IsWidened(p)) return PlanApplication(p, CopyOf(p));
  return p.selfRef.dtype() == ACL_COMPLEX64 ? PlanWidened<float>(p) : PlanWidened<double>(p);
}

void CheckAbs(const AbsParams& p, Checker& checker) {
  if (p.self.dtype() != ACL_COMPLEX64) {
    checker.That(Contains(kNumericTypes, p.self.dtype()), [&] {
      return DtypeIs(p.self, DtypesText(kNumericTypes | Dtypes(ACL_COMPLEX64)));
    });
    checker.That(Contains(kNumericTypes, p.out.dtype()),
                 [&] { return DtypeIs(p.out, DtypesText(kNumericTypes)); });
    if (checker.ok()) CheckApplication(p, AbsOf(p), checker);
    return;
  }
  checker.That(p.out.dtype() == ACL_FLOAT, [&] { return DtypeIs(p.out, "FLOAT"); });
  CheckShape(p.out, ShapeOf(p.self), checker);
}

Plan PlanAbs(const AbsParams& p, const Product&) {
  if (p.self.dtype() != ACL_COMPLEX64) return PlanApplication(p, AbsOf(p));
  const std::array<const Operand*, 2> views = {&p.self, &p.out};
  const Walk walk(ShapeOf(p.out), views);
  const auto load = LoaderOf<double>(ACL_FLOAT);
  const auto store = StorerOf<double>(ACL_FLOAT);
  return {0, [=, self = p.self.place, out = p.out.place](const Buffers& buffers) -> Status {
            walk.ForRuns({self(buffers), out(buffers)}, [&](const Walk::Pointers& at, int64_t n) {
              double real[Walk::kRun], imaginary[Walk::kRun];
              load(at[0], walk.step(0), n, real);
              load(at[0] + sizeof(float), walk.step(0), n, imaginary);
              // Squares of floats do not overflow in double; infinite beside NaN is infinite.
              for (int64_t i = 0; i < n; ++i) {
                const bool infinite = std::isinf(real[i]) || std::isinf(imaginary[i]);
                real[i] = infinite ? INFINITY
                                   : std::sqrt(real[i] * real[i] + imaginary[i] * imaginary[i]);
              }
              store(real, n, at[1], walk.step(1));
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
