// SPDX-License-Identifier: Apache-2.0
// Arange and Range: numbers by a step.
#include <algorithm>
#include <cmath>

#include "generated/create.h"
#include "supporting/create/numbers.h"

namespace openaclnn::supporting {
namespace {

bool AreReal(const ArangeParams& p) { return p.start.real || p.end.real || p.step.real; }

/// An integer output takes the parameters without their fractions.
bool InIntegers(const ArangeParams& p) {
  return !AreReal(p) || DomainOf(p.out.dtype()) == Domain::kInteger;
}

/// How many values there are from start, by step, before end, or up to it.
double CountOfReals(const ArangeParams& p) {
  const double steps = (p.end.number - p.start.number) / p.step.number;
  return std::max(p.inclusive ? std::floor(steps) + 1 : std::ceil(steps), 0.0);
}

double CountOfIntegers(const ArangeParams& p) {
  if (p.step.integer == 0) return 0;  // refused where it counts
  const __int128 span = static_cast<__int128>(p.end.integer) - p.start.integer;
  const __int128 sign = p.step.integer > 0 ? 1 : -1;
  const bool ends = p.inclusive && (span == 0 || (span > 0) == (sign > 0));
  const __int128 count = ends          ? span / p.step.integer + 1
                         : p.inclusive ? 0
                                       : (span + p.step.integer - sign) / p.step.integer;
  return std::max(static_cast<double>(count), 0.0);
}

/// All dimensions but one of length 1 may stand beside the values'.
bool IsRow(const Operand& out, double count) {
  uint32_t longer = 0;
  for (uint32_t i = 0; i < out.rank(); ++i) longer += out.dim(i) != 1;
  return out.rank() > 0 && longer <= 1 && static_cast<double>(*out.count()) == count;
}

template <class T>
Plan MakeArange(const ArangeParams& p) {
  const T start = p.start.As<T>(), step = p.step.As<T>();
  return MakeNumbers<T>(p.out, [=](int64_t begin, int64_t n, T* numbers) {
    for (int64_t i = 0; i < n; ++i) numbers[i] = start + static_cast<T>(begin + i) * step;
  });
}

}  // namespace

void CheckArange(const ArangeParams& p, Checker& checker) {
  const Value& step = p.step;
  const bool whole = InIntegers(p);
  checker.That(std::isfinite(step.number) && (whole ? step.integer != 0 : step.number != 0), [&] {
    return Concat("step value is ", step.number, ", expected one that is not 0",
                  whole ? " without its fraction" : "");
  });
  for (const Value* limit : {&p.start, &p.end}) {
    checker.That(std::isfinite(limit->number), [&] {
      return Concat(limit->name, " value is ", limit->number, ", expected a finite one");
    });
  }
  if (!checker.ok()) return;
  // PyTorch counts without fractions for an INT64 output, with them for others.
  const double count = AreReal(p) ? CountOfReals(p) : CountOfIntegers(p);
  const bool fits = IsRow(p.out, count) || (whole && IsRow(p.out, CountOfIntegers(p)));
  checker.That(
      fits, [&] { return Concat("out shape is ", ShapeText(p.out), ", expected (", count, ")"); });
}

Plan PlanArange(const ArangeParams& p, const Product&) {
  return InIntegers(p) ? MakeArange<int64_t>(p) : MakeArange<double>(p);
}

}  // namespace openaclnn::supporting
