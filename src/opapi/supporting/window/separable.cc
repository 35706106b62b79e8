// SPDX-License-Identifier: Apache-2.0
// Weighted sums along each dimension of planes.
#include "supporting/window/separable.h"

#include <algorithm>
#include <array>

#include "kernels/rows.h"
#include "supporting/in_turn.h"
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
    const AxisMap::Span planes = axes[0].span(target[0]), rows = axes[1].span(target[1]);
    for (int64_t i = planes.begin; i < planes.end; ++i) {
      const double outer = axes[0].weight(target[0], i);
      for (int64_t j = rows.begin; j < rows.end; ++j) {
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

AxisMap::AxisMap(int64_t sources, int64_t targets, int64_t weights_each, Rule rule)
    : sources_(sources), targets_(targets), each_(weights_each), rule_(std::move(rule)) {
  if (targets > kMostKept) return;
  spans_.resize(static_cast<size_t>(targets));
  weights_.resize(static_cast<size_t>(targets * weights_each));
  for (int64_t i = 0; i < targets; ++i) {
    spans_[static_cast<size_t>(i)] = rule_(i, &weights_[static_cast<size_t>(i * weights_each)]);
  }
}

AxisMap AxisMap::Same(int64_t length) {
  return AxisMap(length, length, 1, [](int64_t i, double* weight) {
    *weight = 1;
    return Span{i, i + 1};
  });
}

AxisMap::AxisMap(std::shared_ptr<const AxisMap> forward)
    : sources_(forward->targets_), targets_(forward->sources_), forward_(std::move(forward)) {
  if (targets_ > kMostKept) return;
  spans_.reserve(static_cast<size_t>(targets_));
  int64_t begin = 0, end = 0;
  for (int64_t i = 0; i < targets_; ++i) {
    while (begin < sources_ && forward_->span(begin).end <= i) ++begin;
    while (end < sources_ && forward_->span(end).begin <= i) ++end;
    spans_.push_back({begin, std::max(begin, end)});
  }
}

AxisMap::Span AxisMap::FindSpan(int64_t target) const {
  if (forward_ == nullptr) {
    double weights[kMostWeights] = {};
    return rule_(target, weights);
  }
  const auto first_not = [this](auto&& holds) {  // of the sources, it holds of those before
    int64_t begin = 0, end = sources_;
    while (begin < end) {
      const int64_t middle = begin + (end - begin) / 2;
      if (holds(middle)) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin;
  };
  const int64_t begin = first_not([&](int64_t i) { return forward_->span(i).end <= target; });
  const int64_t end = first_not([&](int64_t i) { return forward_->span(i).begin <= target; });
  return {begin, std::max(begin, end)};
}

double AxisMap::FindWeight(int64_t target, int64_t source) const {
  double weights[kMostWeights] = {};
  const Span found = rule_(target, weights);
  return weights[each_ == 1 ? 0 : source - found.begin];
}

int64_t AxisMap::longest() const {
  int64_t most = 0;
  const auto look = [&](const Span& span) { most = std::max(most, span.end - span.begin); };
  for (const Span& span : spans_) look(span);
  if (spans_.empty() && targets_ > 0) look(span(targets_ / 2));
  return most;
}

AxisMap AxisMap::Transposed() && {
  return AxisMap(std::make_shared<const AxisMap>(std::move(*this)));
}

Plan PlanSeparable(const Tensor& from, const Tensor& to, std::vector<AxisMap> axes) {
  if (to.empty()) return Nothing();
  const size_t own = axes.size();
  axes.insert(axes.begin(), kAxes - own, AxisMap::Same(1));
  const auto kept = std::make_shared<const Sum>(  // whose tables nobody copies
      Sum{{std::move(axes[0]), std::move(axes[1]), std::move(axes[2])},
          StepsOf(from, own),
          LoaderOf<double>(from.dtype())});
  const Offsets from_lead(from, static_cast<uint32_t>(from.rank() - own)),
      to_lead(to, static_cast<uint32_t>(to.rank() - own));
  const int64_t planes = PlaneCount(to, static_cast<uint32_t>(own));
  return {0,
          [=, steps = StepsOf(to, own), store = StorerOf<double>(to.dtype()),
           from_bytes = BytesOf(from), to_bytes = BytesOf(to), source = from.place,
           target = to.place](const Buffers& buffers) -> Status {
            const Sum& sum = *kept;
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
