// SPDX-License-Identifier: Apache-2.0
// Arange: numbers by a step.
#include <cmath>

#include "generated/create.h"
#include "kernels/rows.h"

namespace openaclnn::supporting {
namespace {

/// How many values there are from start, by step, before end.
double ArangeCount(const ArangeParams& p) {
  const Value &start = p.start, &end = p.end, &step = p.step;
  if (start.real || end.real || step.real) {
    return std::ceil((end.number - start.number) / step.number);
  }
  const __int128 span = static_cast<__int128>(end.integer) - start.integer;
  const __int128 sign = step.integer > 0 ? 1 : -1;
  const __int128 count = (span + step.integer - sign) / step.integer;
  return static_cast<double>(count);
}

template <class T>
Plan MakeArange(const ArangeParams& p) {
  const T start = p.start.As<T>(), step = p.step.As<T>();
  const Offsets offsets(p.out, p.out.rank());
  const int64_t bytes = BytesOf(p.out), count = *p.out.count();
  const auto store = StorerOf<T>(p.out.dtype());
  const Place out = p.out.place;
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(count, 1, [&](int64_t i) {
              const T value = start + static_cast<T>(i) * step;
              store(&value, 1, out(buffers) + offsets(i) * bytes, 0);
            });
            return {};
          }};
}

}  // namespace

void CheckArange(const ArangeParams& p, Checker& checker) {
  const Value& step = p.step;
  checker.That(step.number != 0 && std::isfinite(step.number), [&] {
    return Concat("step value is ", step.number, ", expected one that is not 0");
  });
  if (!checker.ok()) return;
  const double count = ArangeCount(p);
  checker.That(p.out.rank() == 1 && static_cast<double>(p.out.dim(0)) == std::max(count, 0.0), [&] {
    return Concat("out shape is ", ShapeText(p.out), ", expected (", std::max(count, 0.0), ")");
  });
}

Plan PlanArange(const ArangeParams& p, const Product&) {
  const bool real = p.start.real || p.end.real || p.step.real;
  return real ? MakeArange<double>(p) : MakeArange<int64_t>(p);
}

}  // namespace openaclnn::supporting
