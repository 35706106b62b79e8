// SPDX-License-Identifier: Apache-2.0
// Weighted sums along each dimension of planes.
#include "supporting/window/separable.h"

#include <algorithm>
#include <array>

#include "kernels/rows.h"
#include "supporting/tree_sum.h"
#include "supporting/window/planes.h"

namespace openaclnn::supporting {
namespace {

constexpr size_t kAxes = 3;
constexpr int64_t kRun = 64;  // sources that are loaded at a time

/// Of three dimensions, the first of which may be of one place.
struct Sum {
  std::array<AxisMap, kAxes> axes;
  std::array<int64_t, kAxes> steps;  // of the sources, in bytes
  LoadRow<double> load;

  double operator()(const std::byte* plane, const std::array<int64_t, kAxes>& target) const {
    TreeSum<double> sum;
    const auto span = [&](size_t i) { return axes[i].span(target[i]); };
    for (int64_t i = span(0).begin; i < span(0).end; ++i) {
      const double outer = axes[0].weight(target[0], i);
      for (int64_t j = span(1).begin; j < span(1).end; ++j) {
        const double weight = outer * axes[1].weight(target[1], j);
        AddRow(plane + i * steps[0] + j * steps[1], weight, target[2], &sum);
      }
    }
    return sum.Total();
  }

 private:
  void AddRow(const std::byte* row, double weight, int64_t target, TreeSum<double>* sum) const {
    const AxisMap::Span span = axes[2].span(target);
    for (int64_t begin = span.begin; begin < span.end; begin += kRun) {
      const int64_t n = std::min(kRun, span.end - begin);
      double values[kRun];
      load(row + begin * steps[2], steps[2], n, values);
      for (int64_t i = 0; i < n; ++i) {
        sum->Add(weight * axes[2].weight(target, begin + i) * values[i]);
      }
    }
  }
};

AxisMap OfOnePlace() {
  AxisMap one(1, 1, 1);
  one.span(0) = {0, 1};
  *one.weights(0) = 1;
  return one;
}

/// A tensor's last dimensions as three, in bytes.
std::array<int64_t, kAxes> StepsOf(const Tensor& tensor, size_t axes) {
  std::array<int64_t, kAxes> steps{};
  for (size_t i = 0; i < axes; ++i) {
    const auto dim = static_cast<uint32_t>(tensor.rank() - axes + i);
    steps[kAxes - axes + i] = tensor.tensor().strides[dim] * BytesOf(tensor);
  }
  return steps;
}

}  // namespace

int64_t AxisMap::longest() const {
  int64_t most = 0;
  for (const Span& span : spans_) most = std::max(most, span.end - span.begin);
  return most;
}

AxisMap AxisMap::Transposed() const {
  AxisMap turned(targets(), sources_, 1);
  turned.each_ = each_;
  turned.given_ = spans_;
  turned.weights_ = weights_;
  int64_t begin = 0, end = 0;
  for (int64_t source = 0; source < sources_; ++source) {
    while (begin < targets() && span(begin).end <= source) ++begin;
    while (end < targets() && span(end).begin <= source) ++end;
    turned.span(source) = {begin, std::max(begin, end)};
  }
  return turned;
}

Plan PlanSeparable(const Tensor& from, const Tensor& to, std::vector<AxisMap> axes) {
  if (to.empty()) return {0, [](const Buffers&) -> Status { return {}; }};
  const size_t own = axes.size();
  axes.insert(axes.begin(), kAxes - own, OfOnePlace());
  const Sum sum = {{std::move(axes[0]), std::move(axes[1]), std::move(axes[2])},
                   StepsOf(from, own),
                   LoaderOf<double>(from.dtype())};
  const Offsets from_lead(from, static_cast<uint32_t>(from.rank() - own)),
      to_lead(to, static_cast<uint32_t>(to.rank() - own));
  const int64_t planes = PlaneCount(to, static_cast<uint32_t>(own));
  return {0,
          [=, steps = StepsOf(to, own), store = StorerOf<double>(to.dtype()),
           from_bytes = BytesOf(from), to_bytes = BytesOf(to), source = from.place,
           target = to.place](const Buffers& buffers) -> Status {
            const std::array<int64_t, kAxes> lengths = {
                sum.axes[0].targets(), sum.axes[1].targets(), sum.axes[2].targets()};
            int64_t terms = 1;
            for (const AxisMap& axis : sum.axes) terms = WrappingProduct(terms, axis.longest());
            const int64_t places = lengths[0] * lengths[1] * lengths[2];
            ParallelRows(planes * places, terms, [&](int64_t each) {
              const int64_t plane = each / places;
              const auto at = DigitsOf(each % places, lengths);
              const double value = sum(source(buffers) + from_lead(plane) * from_bytes, at);
              std::byte* const row = target(buffers) + to_lead(plane) * to_bytes;
              store(&value, 1, row + at[0] * steps[0] + at[1] * steps[1] + at[2] * steps[2], 0);
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
