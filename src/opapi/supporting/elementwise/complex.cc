// SPDX-License-Identifier: Apache-2.0
// InplaceCopy: what it does with complex numbers.
#include "supporting/elementwise/complex.h"

#include "generated/elementwise.h"
#include "generated/expressions.h"
#include "supporting/elementwise.h"
#include "supporting/elementwise/expressions.h"

namespace openaclnn::supporting {
namespace {

Application CopyOf(const CopyParams& p) {
  return {OPENACLNN_TARGET_SELECT(expressions::kCopy),
          {p.src.place.number},
          p.selfRef.place.number,
          {}};
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
  const int64_t from = IsComplex(p.src) ? ImaginaryAt(p.src) : 0;
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

}  // namespace openaclnn::supporting
