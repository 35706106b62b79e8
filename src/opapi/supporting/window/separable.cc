// SPDX-License-Identifier: Apache-2.0
// Weighted sums along each dimension of planes.
#include "supporting/window/separable.h"

#include <algorithm>
#include <array>
#include <optional>

#include "kernels/rows/rows.h"
#include "supporting/in_turn.h"
#include "supporting/tree_sum.h"
#include "supporting/window/lines.h"
#include "supporting/window/planes.h"

namespace openaclnn::supporting {
namespace {

constexpr size_t kAxes = 3;
constexpr int64_t kRun = 64;  // sources that are loaded at a time

/// Three dimensions, the first of which may be of one place.
struct Sum {
  std::array<AxisMap, kAxes> axes;
  Divisors divisors;                 // of all axes, or none
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
    return divisors.empty() ? sum.Total() : sum.Total() / Divisor(target, kAxes);
  }

  /// The part of the divisor that the first `count` axes give.
  double Divisor(const std::array<int64_t, kAxes>& target, size_t count) const {
    double divisor = 1;
    for (size_t i = 0; i < std::min(count, divisors.size()); ++i) {
      divisor *= divisors[i](target[i]);
    }
    return divisor;
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

constexpr int64_t kInSequence = 64;  // terms of the tree that are added one after the other
constexpr int64_t kFewPlaces = 4;    // of a row, which are not worth lanes

/// Sources of places that step with them, cut at the ends: [i + low, i + high].
struct Band {
  int64_t low = INT64_MAX, high = INT64_MIN;

  explicit Band(const AxisMap& axis) {
    for (int64_t i = 0; i < axis.targets(); ++i) {
      const AxisMap::Span span = axis.span(i);
      if (span.begin >= span.end) continue;
      low = std::min(low, span.begin - i);
      high = std::max(high, span.end - 1 - i);
    }
  }
  bool Is(const AxisMap& axis) const {
    for (int64_t i = 0; i < axis.targets(); ++i) {
      const AxisMap::Span span = axis.span(i);
      const int64_t begin = std::max(i + low, int64_t{0});
      const int64_t end = std::min(i + high + 1, axis.sources());
      if (begin < end ? span.begin != begin || span.end != end : span.begin < span.end) {
        return false;
      }
    }
    return true;
  }
};

/// Sums of all targets of a row at once, in lanes. Each sum's terms are few, so that the tree adds
/// them in sequence; where a target has fewer than others, zeros are added.
class RowSums {
 public:
  struct Room {
    LineRing<double> ring;
    std::vector<const double*> lines;
    std::vector<double> weights, sums;
  };

  static std::optional<RowSums> Of(const Sum& sum) {
    if (!std::ranges::all_of(sum.axes, &AxisMap::kept)) return {};
    const AxisMap& last = sum.axes[2];
    const int64_t longest = last.longest();
    int64_t terms = 1;
    for (const AxisMap& axis : sum.axes) terms = WrappingProduct(terms, axis.longest());
    const int64_t slots = WrappingProduct(sum.axes[0].longest(), sum.axes[1].longest());
    if (terms < 1 || terms > kInSequence || last.targets() < kFewPlaces || slots > terms ||
        !TapLines::Fit(last.sources(), last.targets(), 2 * longest, slots)) {
      return {};
    }
    const Band band(last);
    const int64_t reach = band.high - band.low + 1;
    const bool is_band = reach <= 2 * longest && band.Is(last);
    const auto from = [&](int64_t tap, int64_t i) {
      const AxisMap::Span span = last.span(i);
      const int64_t at = is_band ? i + band.low + tap : span.begin + tap;
      return at >= span.begin && at < span.end ? at : -1;
    };
    return RowSums(sum, TapLines(last.sources(), last.targets(), is_band ? reach : longest, from),
                   from);
  }

  /// Makes the sums of a row of targets. Its plane is the one with `number` and begins at `plane`.
  void Row(const Sum& sum, const std::byte* plane, int64_t number,
           const std::array<int64_t, kAxes>& target, Room* room) const {
    const AxisMap &planes = sum.axes[0], &rows = sum.axes[1];
    room->ring.Reserve(plane_slots_ * row_slots_, lines_.length, lines_.sources);
    room->sums.resize(static_cast<size_t>(lines_.pitch));
    room->lines.clear();
    room->weights.clear();
    const AxisMap::Span deep = planes.span(target[0]), high = rows.span(target[1]);
    for (int64_t i = deep.begin; i < deep.end; ++i) {
      const double outer = planes.weight(target[0], i);
      for (int64_t j = high.begin; j < high.end; ++j) {
        room->weights.push_back(outer * rows.weight(target[1], j));
        room->lines.push_back(room->ring.Get(
            i % plane_slots_ * row_slots_ + j % row_slots_,
            (number * planes.sources() + i) * rows.sources() + j, lines_.length, [&](double* line) {
              lines_.Make(sum.load, plane + i * sum.steps[0] + j * sum.steps[1], sum.steps[2], 0.0,
                          room->ring.source.data(), line);
            }));
      }
    }
    kernels_->sums({room->lines.data(), room->weights.data(),
                    static_cast<int64_t>(room->lines.size()), lines_.offsets.data(),
                    weights_.empty() ? nullptr : weights_.data(), lines_.taps, lines_.pitch,
                    divisors_.empty() ? nullptr : divisors_.data(), sum.Divisor(target, 2),
                    room->sums.data()});
  }

 private:
  template <class From>
  RowSums(const Sum& sum, TapLines lines, const From& from)
      : lines_(std::move(lines)),
        plane_slots_(sum.axes[0].longest()),
        row_slots_(sum.axes[1].longest()),
        kernels_(OPENACLNN_TARGET_SELECT(kWindowRowKernels)) {
    if (!std::ranges::all_of(sum.axes, &AxisMap::plain)) {
      weights_.resize(static_cast<size_t>(lines_.taps * lines_.pitch), 0);
      for (int64_t tap = 0; tap < lines_.taps; ++tap) {
        for (int64_t i = 0; i < lines_.places; ++i) {
          const int64_t at = from(tap, i);
          if (at >= 0) {
            weights_[static_cast<size_t>(tap * lines_.pitch + i)] = sum.axes[2].weight(i, at);
          }
        }
      }
    }
    if (sum.divisors.empty()) return;
    divisors_.resize(static_cast<size_t>(lines_.pitch), 1);
    for (int64_t i = 0; i < lines_.places; ++i) {
      divisors_[static_cast<size_t>(i)] = sum.divisors[2](i);
    }
  }

  TapLines lines_;
  int64_t plane_slots_, row_slots_;
  const WindowRowKernels* kernels_;
  std::vector<double> weights_, divisors_;  // no weights: all are 1
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

namespace {

/// A task's sums, and where they go.
struct Separable {
  Separable(const Tensor& source_tensor, const Tensor& target_tensor, size_t own, Sum of)
      : sum(std::move(of)),
        rows(RowSums::Of(sum)),
        from(source_tensor.place),
        to(target_tensor.place),
        from_bytes(BytesOf(source_tensor)),
        to_bytes(BytesOf(target_tensor)),
        planes(PlaneCount(target_tensor, static_cast<uint32_t>(own))),
        from_lead(source_tensor, static_cast<uint32_t>(source_tensor.rank() - own)),
        to_lead(target_tensor, static_cast<uint32_t>(target_tensor.rank() - own)),
        steps(StepsOf(target_tensor, own)),
        store(StorerOf<double>(target_tensor.dtype())) {}

  std::byte* Source(const Buffers& buffers, int64_t plane) const {
    return from(buffers) + from_lead(plane) * from_bytes;
  }
  std::byte* Target(const Buffers& buffers, int64_t plane,
                    const std::array<int64_t, kAxes>& at) const {
    return to(buffers) + to_lead(plane) * to_bytes + at[0] * steps[0] + at[1] * steps[1] +
           at[2] * steps[2];
  }

  void RunRows(const Buffers& buffers, int64_t terms) const {
    const std::array<int64_t, kAxes> lengths = {sum.axes[0].targets(), sum.axes[1].targets(), 1};
    const int64_t each_plane = lengths[0] * lengths[1], places = sum.axes[2].targets();
    ParallelRowsIn<RowSums::Room>(
        planes * each_plane, places * terms, [&](int64_t row, RowSums::Room* room) {
          const int64_t plane = row / each_plane;
          const auto at = DigitsOf(row % each_plane, lengths);
          rows->Row(sum, Source(buffers, plane), plane, at, room);
          store(room->sums.data(), places, Target(buffers, plane, at), steps[2]);
        });
  }

  void RunPlaces(const Buffers& buffers, int64_t terms) const {
    const std::array<int64_t, kAxes> lengths = {sum.axes[0].targets(), sum.axes[1].targets(),
                                                sum.axes[2].targets()};
    const int64_t places = lengths[0] * lengths[1] * lengths[2];
    ParallelRows(planes * places, terms, [&](int64_t each) {
      const int64_t plane = each / places;
      const auto at = DigitsOf(each % places, lengths);
      const double value = sum(Source(buffers, plane), at);
      store(&value, 1, Target(buffers, plane, at), 0);
    });
  }

  Sum sum;
  std::optional<RowSums> rows;
  Place from, to;
  int64_t from_bytes, to_bytes, planes;
  Offsets from_lead, to_lead;
  std::array<int64_t, kAxes> steps;
  StoreRow<double> store;
};

}  // namespace

Plan PlanSeparable(const Tensor& from, const Tensor& to, std::vector<AxisMap> axes,
                   Divisors divisors) {
  if (to.empty()) return Nothing();
  const size_t own = axes.size();
  axes.insert(axes.begin(), kAxes - own, AxisMap::Same(1));
  if (!divisors.empty()) {
    divisors.insert(divisors.begin(), kAxes - own, [](int64_t) { return 1.0; });
  }
  const auto kept = std::make_shared<const Separable>(  // whose tables nobody copies
      from, to, own,
      Sum{{std::move(axes[0]), std::move(axes[1]), std::move(axes[2])},
          std::move(divisors),
          StepsOf(from, own),
          LoaderOf<double>(from.dtype())});
  return {0, [kept](const Buffers& buffers) -> Status {
            int64_t terms = 1;
            for (const AxisMap& axis : kept->sum.axes) {
              terms = WrappingProduct(terms, axis.longest());
            }
            kept->rows ? kept->RunRows(buffers, terms) : kept->RunPlaces(buffers, terms);
            return {};
          }};
}

}  // namespace openaclnn::supporting
