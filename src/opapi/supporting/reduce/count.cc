// SPDX-License-Identifier: Apache-2.0
// Histc and Bincount: how often values occur.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "generated/reduce.h"
#include "supporting/elements.h"
#include "supporting/tree_sum.h"

namespace openaclnn::supporting {

void CheckHistc(const HistcParams& p, Checker& checker) {
  checker.That(p.bins > 0,
               [&] { return Concat("bins value is ", p.bins, ", expected more than 0"); });
  checker.That(std::isfinite(p.max.number) && p.min.number <= p.max.number, [&] {
    return Concat("max value is ", p.max.number, ", expected at least min, ", p.min.number);
  });
  CheckShape(p.out, {p.bins}, checker);
}

namespace {

struct Range {
  double low, high;
};

/// That of the values; one value is in the middle of its range.
Range RangeOf(const std::vector<double>& values) {
  if (values.empty()) return {0, 1};
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return *low == *high ? Range{*low - 1, *high + 1} : Range{*low, *high};
}

}  // namespace

// NaN is in no bin.
Plan PlanHistc(const HistcParams& p, const Product&) {
  const Elements self(p.self, 0), out(p.out, 0);
  const Range asked = {p.min.number, p.max.number};
  const int64_t bins = p.bins;
  return {0, [=](const Buffers& buffers) -> Status {
            const std::vector<double> values = self.All(buffers);
            const Range range = asked.low == asked.high ? RangeOf(values) : asked;
            if (!std::isfinite(range.low) || !std::isfinite(range.high)) {
              return Status(507035, Concat("self value is not finite, expected min and max to be ",
                                           "given, or finite numbers"));
            }
            std::vector<int64_t> counts(static_cast<size_t>(bins));
            for (const double value : values) {
              if (!(range.low <= value && value <= range.high)) continue;
              const double part = (value - range.low) / (range.high - range.low);
              const auto bin = static_cast<int64_t>(part * static_cast<double>(bins));
              ++counts[static_cast<size_t>(std::min(bin, bins - 1))];
            }
            for (int64_t i = 0; i < bins; ++i) {
              out.Set(buffers, i, static_cast<double>(counts[static_cast<size_t>(i)]));
            }
            return {};
          }};
}

void CheckBincount(const BincountParams& p, Checker& checker) {
  checker.Rank(p.self, 1);
  checker.That(Contains(kIntegerTypes, p.self.dtype()),
               [&] { return DtypeIs(p.self, DtypesText(kIntegerTypes)); });
  if (p.weights.present()) CheckShape(p.weights, ShapeOf(p.self), checker);
  checker.That(p.minlength >= 0, [&] {
    return Concat("minlength value is ", p.minlength, ", expected one that is not negative");
  });
  checker.That(p.out.rank() == 1 && p.out.dim(0) >= p.minlength, [&] {
    return Concat("out shape is ", ShapeText(p.out), ", expected (", p.minlength, ") or longer");
  });
  checker.That(!p.weights.present() || Contains(kRealTypes, p.out.dtype()),
               [&] { return DtypeIs(p.out, "a float type, which sums of weights are of"); });
}

Plan PlanBincount(const BincountParams& p, const Product&) {
  const Elements self(p.self, 0), weights(p.weights, 1), out(p.out, 0);
  const int64_t bins = p.out.dim(0), count = *p.self.count();
  return {0, [=](const Buffers& buffers) -> Status {
            const std::vector<double> numbers = self.All(buffers);
            for (const double number : numbers) {
              if (number >= 0 && number < static_cast<double>(bins)) continue;
              return Status(507035, Concat("self value is ", static_cast<int64_t>(number),
                                           ", expected 0 <= value < ", bins));
            }
            std::vector<int64_t> order(static_cast<size_t>(count));
            std::iota(order.begin(), order.end(), int64_t{0});
            const auto number = [&](int64_t i) { return numbers[static_cast<size_t>(i)]; };
            std::stable_sort(order.begin(), order.end(),
                             [&](int64_t a, int64_t b) { return number(a) < number(b); });
            auto next = order.begin();
            for (int64_t bin = 0; bin < bins; ++bin) {
              TreeSum<double> sum;
              for (; next != order.end() && number(*next) == static_cast<double>(bin); ++next) {
                sum.Add(weights.Get(buffers, *next));
              }
              out.Set(buffers, bin, sum.Total());
            }
            return {};
          }};
}

}  // namespace openaclnn::supporting
