// SPDX-License-Identifier: Apache-2.0
// Prelu and its gradients: a slope for all elements that are not above 0, or one for each channel.
#include <bit>

#include "generated/activation.h"
#include "kernels/move/broadcast.h"
#include "kernels/simd/stream.h"
#include "kernels/work/divide_up.h"
#include "supporting/elements.h"
#include "supporting/elementwise.h"
#include "supporting/in_turn.h"
#include "supporting/tree_sum.h"

namespace openaclnn::supporting {
namespace {

constexpr uint32_t kChannelDim = 1;
constexpr int64_t kPart = 32768;  // terms of a sum that are worth a thread: a power of two chunks

void CheckWeight(const Tensor& weight, const Tensor& self, Checker& checker) {
  const int64_t channels = self.rank() <= kChannelDim ? 1 : self.dim(kChannelDim);
  checker.That(weight.count() == 1 || weight.count() == channels, [&] {
    return Concat("weight shape is ", ShapeText(weight), ", expected 1 element or ", channels,
                  ", the channels of self");
  });
}

bool IsOfChannels(const Tensor& weight) { return weight.count() != 1; }

/// The steps of weights that lie next to each other, as a task reads them.
Steps WeightSteps(const Shape& shape, const Tensor& weight) {
  Shape steps(shape.size(), 0);
  if (IsOfChannels(weight)) steps[kChannelDim] = sizeof(double);
  return Steps(steps);
}

std::byte* AddressOf(std::vector<double>& weights) {
  return reinterpret_cast<std::byte*>(weights.data());
}

/// All bits where x is above 0, else none. A branch would be mispredicted at every change of sign:
/// 10 ns for an element against less than 1.
template <class Bits, class T>
Bits MaskAbove(T x) {
  return Bits{0} - Bits{x > 0};
}

float Slope(float x, float weight) {
  const auto above = MaskAbove<uint32_t>(x);
  return std::bit_cast<float>((above & std::bit_cast<uint32_t>(1.0F)) |
                              (~above & std::bit_cast<uint32_t>(weight)));
}

/// grad * x where x is not above 0, else 0.
double Term(double grad, double x) {
  return std::bit_cast<double>(~MaskAbove<uint64_t>(x) & std::bit_cast<uint64_t>(grad * x));
}

/// gradInput = gradOutput * (self > 0 ? 1 : weight)
class GradientByInput {
 public:
  GradientByInput(const PreluGradientParams& p, const Shape& shape)
      : walk_(shape, {Steps(shape, p.gradOutput), Steps(shape, p.self),
                      WeightSteps(shape, p.weight), Steps(shape, p.gradInput)}),
        grad_(p.gradOutput.place),
        self_(p.self.place),
        out_(p.gradInput.place),
        load_(LoaderOf<float>(p.self.dtype())),
        load_weight_(LoaderOf<float>(ACL_DOUBLE)),
        store_(StorerOf<float>(p.gradInput.dtype())) {}

  void operator()(const Buffers& buffers, std::vector<double>& weights) const {
    walk_.ForRuns({grad_(buffers), self_(buffers), AddressOf(weights), out_(buffers)},
                  [&](const Walk::Pointers& at, int64_t n) {
                    float g[Walk::kRun], x[Walk::kRun], w[Walk::kRun];
                    load_(at[0], walk_.step(0), n, g);
                    load_(at[1], walk_.step(1), n, x);
                    load_weight_(at[2], walk_.step(2), n, w);
                    for (int64_t i = 0; i < n; ++i) g[i] *= Slope(x[i], w[i]);
                    store_(g, n, at[3], walk_.step(3));
                  });
  }

 private:
  Walk walk_;
  Place grad_, self_, out_;
  LoadRow<float> load_, load_weight_;
  StoreRow<float> store_;
};

/// gradWeight = for each weight the sum of gradOutput * self where self is not above 0, in double.
class GradientByWeight {
 public:
  GradientByWeight(const PreluGradientParams& p, Shape shape)
      : grad_(p.gradOutput.place),
        self_(p.self.place),
        load_(LoaderOf<double>(p.self.dtype())),
        out_(p.gradWeight, 0) {
    Steps grad(shape, p.gradOutput), self(shape, p.self);
    if (IsOfChannels(p.weight)) {
      weights_ = shape[kChannelDim];
      grad_step_ = grad.bytes[kChannelDim];
      self_step_ = self.bytes[kChannelDim];
      shape[kChannelDim] = 1;
    }
    terms_ = Walk(shape, {grad, self});
    parts_ = std::max<int64_t>(DivideUp(terms_.count(), kPart), 1);
  }

  void operator()(const Buffers& buffers) const {
    std::vector<double> sums(static_cast<size_t>(weights_ * parts_));
    if (Follow()) {
      const int64_t tiles = DivideUp(weights_, kTile);
      ParallelFor(tiles * parts_, [&](int64_t task) {
        SumTile(buffers, task / parts_ * kTile, task % parts_, sums.data());
      });
    } else {
      ParallelFor(weights_ * parts_, [&](int64_t task) {
        sums[static_cast<size_t>(task)] = SumOf(buffers, task / parts_, task % parts_);
      });
    }
    for (int64_t k = 0; k < weights_; ++k) {
      const double* const own = sums.data() + k * parts_;
      out_.Set(buffers, k, SumParts(0, parts_, [&](int64_t part) { return own[part]; }));
    }
  }

 private:
  double SumOf(const Buffers& buffers, int64_t k, int64_t part) const {
    TreeSum<double> sum;
    const int64_t begin = part * kPart, end = std::min(begin + kPart, terms_.count());
    terms_.ForRunsOf(begin, end, Walk::kRun,
                     {grad_(buffers) + k * grad_step_, self_(buffers) + k * self_step_},
                     [&](const Walk::Pointers& at, int64_t n) {
                       double g[Walk::kRun], x[Walk::kRun];
                       load_(at[0], terms_.step(0), n, g);
                       load_(at[1], terms_.step(1), n, x);
                       for (int64_t i = 0; i < n; ++i) sum.Add(Term(g[i], x[i]));
                     });
    return sum.Total();
  }

  static constexpr int64_t kLane = 16, kTile = 64;  // channels

  /// The sums of some channels.
  struct Lane {
    Lane& operator+=(const Lane& other) {
      for (size_t k = 0; k < of.size(); ++k) of[k] += other.of[k];
      return *this;
    }
    friend Lane operator+(Lane a, const Lane& b) { return a += b; }
    std::array<double, kLane> of = {};
  };

  /// Whether channels follow each other: those of a tile are read together, as cache lines hold
  /// several.
  bool Follow() const {
    const auto is_short = [](int64_t step) { return step > -kCacheLine && step < kCacheLine; };
    return weights_ > 1 && is_short(grad_step_) && is_short(self_step_);
  }

  /// Sums a tile from `first` on: for each channel the sum that SumOf takes, with the same bits.
  void SumTile(const Buffers& buffers, int64_t first, int64_t part, double* sums) const {
    const int64_t count = std::min(kTile, weights_ - first), longest = 32;
    std::array<TreeSum<Lane>, kTile / kLane> lanes;
    const int64_t begin = part * kPart, end = std::min(begin + kPart, terms_.count());
    terms_.ForRunsOf(begin, end, longest,
                     {grad_(buffers) + first * grad_step_, self_(buffers) + first * self_step_},
                     [&](const Walk::Pointers& at, int64_t n) {
                       for (int64_t k = 0; k < count; k += kLane) {
                         AddLane({at[0] + k * grad_step_, at[1] + k * self_step_}, n,
                                 std::min(kLane, count - k),
                                 &lanes[static_cast<size_t>(k / kLane)]);
                       }
                     });
    for (int64_t k = 0; k < count; k += kLane) {
      const Lane total = lanes[static_cast<size_t>(k / kLane)].Total();
      for (int64_t i = 0; i < std::min(kLane, count - k); ++i) {
        sums[(first + k + i) * parts_ + part] = total.of[static_cast<size_t>(i)];
      }
    }
  }

  void AddLane(std::array<std::byte*, 2> at, int64_t n, int64_t count, TreeSum<Lane>* sum) const {
    Lane g, x;
    for (int64_t i = 0; i < n; ++i) {
      load_(at[0] + i * terms_.step(0), grad_step_, count, g.of.data());
      load_(at[1] + i * terms_.step(1), self_step_, count, x.of.data());
      for (size_t k = 0; k < kLane; ++k) g.of[k] = Term(g.of[k], x.of[k]);
      sum->Add(g);
    }
  }

  Place grad_, self_;
  LoadRow<double> load_;
  Elements out_;
  int64_t weights_ = 1, parts_ = 1;
  int64_t grad_step_ = 0, self_step_ = 0;  // from channel to channel
  Walk terms_;
};

}  // namespace

void CheckPrelu(const PreluParams& p, Checker& checker) {
  CheckWeight(p.weight, p.self, checker);
  CheckShape(p.out, ShapeOf(p.self), checker);
}

Plan PlanPrelu(const PreluParams& p, const Product&) {
  if (p.out.empty()) return Nothing();
  const Shape shape = ShapeOf(p.self);
  const Walk walk(shape, {Steps(shape, p.self), WeightSteps(shape, p.weight), Steps(shape, p.out)});
  return {0,
          [=, load = LoaderOf<float>(p.self.dtype()), load_weight = LoaderOf<float>(ACL_DOUBLE),
           store = StorerOf<float>(p.out.dtype()), weight = Elements(p.weight, 0),
           self = p.self.place, out = p.out.place](const Buffers& buffers) -> Status {
            std::vector<double> weights = weight.All(buffers);
            walk.ForRuns({self(buffers), AddressOf(weights), out(buffers)},
                         [&](const Walk::Pointers& at, int64_t n) {
                           float x[Walk::kRun], w[Walk::kRun];
                           load(at[0], walk.step(0), n, x);
                           load_weight(at[1], walk.step(1), n, w);
                           for (int64_t i = 0; i < n; ++i) x[i] *= Slope(x[i], w[i]);
                           store(x, n, at[2], walk.step(2));
                         });
            return {};
          }};
}

void CheckPreluGradient(const PreluGradientParams& p, Checker& checker) {
  CheckWeight(p.weight, p.self, checker);
  for (const Tensor* like : {&p.gradOutput, &p.weight, &p.gradInput, &p.gradWeight}) {
    checker.SameDtype(*like, p.self);
  }
  CheckShape(p.gradInput, ShapeOf(p.self), checker);
  checker.That(p.gradWeight.count() == p.weight.count(), [&] {
    return Concat("gradWeight shape is ", ShapeText(p.gradWeight),
                  ", expected as many elements as "
                  "weight, ",
                  ShapeText(p.weight));
  });
  Shape shape = ShapeOf(p.self);
  MeetShape(p.gradOutput, &shape, &checker);
  if (checker.ok()) CheckShape(p.gradInput, shape, checker);
}

Plan PlanPreluGradient(const PreluGradientParams& p, const Product&) {
  const Shape shape = ShapeOf(p.self);
  return {0,
          [by_input = GradientByInput(p, shape), by_weight = GradientByWeight(p, shape),
           weight = Elements(p.weight, 0)](const Buffers& buffers) -> Status {
            std::vector<double> weights = weight.All(buffers);
            by_input(buffers, weights);
            by_weight(buffers);
            return {};
          }};
}

}  // namespace openaclnn::supporting
