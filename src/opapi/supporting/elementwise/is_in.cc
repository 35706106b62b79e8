// SPDX-License-Identifier: Apache-2.0
// IsInScalarTensor: whether a number is among those of a tensor.
#include <algorithm>
#include <atomic>

#include "generated/elementwise.h"
#include "kernels/move/broadcast.h"
#include "supporting/promotion.h"

namespace openaclnn::supporting {
namespace {

template <class T>
Plan MakeSearch(const IsInScalarTensorParams& p, T element) {
  const Shape shape = ShapeOf(p.testElements);
  const Walk walk(shape, {Steps(shape, p.testElements)});
  const auto load = LoaderOf<T>(p.testElements.dtype());
  return {0,
          [=, invert = p.invert, in = p.testElements.place,
           out = p.out.place](const Buffers& buffers) -> Status {
            std::atomic<bool> found = false;
            walk.ForRuns({in(buffers)}, [&](const Walk::Pointers& at, int64_t n) {
              T values[Walk::kRun];
              load(at[0], walk.step(0), n, values);
              if (std::find(values, values + n, element) != values + n) found = true;
            });
            *out(buffers) = std::byte{found != invert};
            return {};
          }};
}

}  // namespace

void CheckIsInScalarTensor(const IsInScalarTensorParams& p, Checker& checker) {
  checker.That(!p.element.complex(), [&] {
    return Concat("element dtype is ", DtypeText(p.element.dtype), ", expected a real type");
  });
  checker.That(p.out.dtype() == ACL_BOOL, [&] { return DtypeIs(p.out, "BOOL"); });
  checker.That(p.out.count() == 1,
               [&] { return Concat("out shape is ", ShapeText(p.out), ", expected one element"); });
}

Plan PlanIsInScalarTensor(const IsInScalarTensorParams& p, const Product&) {
  const int32_t dtype = p.testElements.dtype();
  const bool integers = DomainOf(dtype) == Domain::kInteger;
  if (integers && !p.element.real) {
    return MakeSearch<int64_t>(p, p.element.In(MetType(dtype, p.element)).integer);
  }
  const Value element = p.element.In(integers ? ACL_FLOAT : dtype);
  return dtype == ACL_DOUBLE ? MakeSearch<double>(p, element.number)
                             : MakeSearch<float>(p, element.As<float>());
}

}  // namespace openaclnn::supporting
