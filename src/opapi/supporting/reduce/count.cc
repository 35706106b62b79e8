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

using Wide = __int128;  // any sum or difference of two elements

template <class T>
struct Range {
  T low, high;

  /// Which of some bins of this range a value of it is in.
  int64_t Bin(T value, int64_t bins) const {
    int64_t bin = 0;
    if constexpr (std::is_same_v<T, Wide>) {
      using Product = unsigned __int128;
      const auto from = static_cast<Product>(value - low), all = static_cast<Product>(high - low);
      bin = static_cast<int64_t>(from * static_cast<Product>(bins) / all);
    } else {
      const double scale = std::isfinite(high - low) ? 1 : 0.5;
      const double all = high * scale - low * scale;
      const double part = all == 0 ? 0.5 : (value * scale - low * scale) / all;
      bin = static_cast<int64_t>(part * static_cast<double>(bins));
    }
    return std::min(bin, bins - 1);
  }
};

/// That of the values; one value is in the middle of its range.
template <class T, class Element>
Range<T> RangeOf(const std::vector<Element>& values) {
  if (values.empty()) return {0, 1};
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const T low = *least, high = *most;
  return low == high ? Range<T>{low - 1, high + 1} : Range<T>{low, high};
}

template <class T, class Element>
std::vector<int64_t> CountIn(const Range<T>& range, const std::vector<Element>& values,
                             int64_t bins) {
  std::vector<int64_t> counts(static_cast<size_t>(bins));
  for (const Element value : values) {
    if (!(range.low <= value && value <= range.high)) continue;
    ++counts[static_cast<size_t>(range.Bin(value, bins))];
  }
  return counts;
}

/// Whether a bound is an integer, which its integer then is.
bool IsWhole(const Value& value) {
  return !value.real ||
         (std::abs(value.number) < 0x1p63 && std::trunc(value.number) == value.number);
}

}  // namespace

// NaN is in no bin. Integers between integers are counted as such.
Plan PlanHistc(const HistcParams& p, const Product&) {
  const Elements self(p.self, 0), out(p.out, 0);
  const Range<double> asked = {p.min.number, p.max.number};
  const Range<Wide> asked_whole = {p.min.integer, p.max.integer};
  const bool whole =
      DomainOf(p.self.dtype()) == Domain::kInteger && IsWhole(p.min) && IsWhole(p.max);
  const int64_t bins = p.bins;
  return {0, [=](const Buffers& buffers) -> Status {
            std::vector<int64_t> counts;
            if (whole) {
              const std::vector<int64_t> values = self.AllWhole(buffers);
              const bool own = asked_whole.low == asked_whole.high;
              counts = CountIn(own ? RangeOf<Wide>(values) : asked_whole, values, bins);
            } else {
              const std::vector<double> values = self.All(buffers);
              const bool own = asked.low == asked.high;
              const Range<double> range = own ? RangeOf<double>(values) : asked;
              if (!std::isfinite(range.low) || !std::isfinite(range.high)) {
                return Status(507035, Concat("self value is not finite, expected min and max to ",
                                             "be given, or finite numbers"));
              }
              counts = CountIn(range, values, bins);
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

namespace {

/// The sums of the weights of each bin by the one tree, in order; `ends` are used up.
void SumByBin(const std::vector<int64_t>& numbers, const std::vector<double>& weights,
              std::vector<int64_t>* ends, std::vector<double>* sums) {
  std::vector<double> ordered(weights.size());
  for (size_t i = weights.size(); i-- > 0;) {
    const int64_t place =
        --(*ends)[static_cast<size_t>(numbers[i])];  // the bin's last, then before
    ordered[static_cast<size_t>(place)] = weights[i];
  }
  for (size_t bin = 0; bin < sums->size(); ++bin) {  // the ends have become beginnings
    const auto begin = static_cast<size_t>((*ends)[bin]);
    const size_t end =
        bin + 1 < ends->size() ? static_cast<size_t>((*ends)[bin + 1]) : ordered.size();
    TreeSum<double> sum;
    for (size_t i = begin; i < end; ++i) sum.Add(ordered[i]);
    (*sums)[bin] = sum.Total();
  }
}

}  // namespace

Plan PlanBincount(const BincountParams& p, const Product&) {
  const Elements self(p.self, 0), weights(p.weights, 1), out(p.out, 0);
  const int64_t bins = p.out.dim(0);
  const bool weighted = p.weights.present() && !p.self.empty();
  return {0, [=](const Buffers& buffers) -> Status {
            const std::vector<int64_t> numbers = self.AllWhole(buffers);
            for (const int64_t number : numbers) {
              if (number >= 0 && number < bins) continue;
              return Status(507035,
                            Concat("self value is ", number, ", expected 0 <= value < ", bins));
            }
            std::vector<int64_t> ends(static_cast<size_t>(bins));  // of the bins, in their order
            for (const int64_t number : numbers) ++ends[static_cast<size_t>(number)];
            std::vector<double> sums(ends.begin(), ends.end());
            if (weighted) {
              std::partial_sum(ends.begin(), ends.end(), ends.begin());
              SumByBin(numbers, weights.All(buffers), &ends, &sums);
            }
            out.SetRun(buffers, 0, sums.data(), bins);
            return {};
          }};
}

}  // namespace openaclnn::supporting
