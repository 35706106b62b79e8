// SPDX-License-Identifier: Apache-2.0
// Random numbers: Philox 4x32-10 with the seed as its key, so that each element depends on seed,
// offset and its own place alone.
#include "generated/random.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "kernels/broadcast.h"
#include "kernels/rows.h"
#include "kernels/strided.h"
#include "supporting/philox.h"

namespace openaclnn::supporting {
namespace {

/// A normal number of mean 0 and deviation 1.
double Normal(const Bits& bits) {
  const double radius = std::sqrt(-2 * std::log(bits.Open(0)));
  return radius * std::cos(2 * M_PI * bits.Open(1));
}

struct Seed {
  template <class P>
  explicit Seed(const P& p)
      : seed(static_cast<uint64_t>(p.seed)), offset(static_cast<uint64_t>(p.offset)) {}
  Bits At(int64_t place) const { return Philox(seed, offset, static_cast<uint64_t>(place)); }

  uint64_t seed, offset;
};

/// Every element from the bits at its place.
template <class T, class Function>
Plan MakeRandom(const Tensor& out, const Seed& seed, const Function& function) {
  const Offsets offsets(out, out.rank());
  const int64_t bytes = BytesOf(out), count = *out.count();
  const auto store = StorerOf<T>(out.dtype());
  const Place out_at = out.place;
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(count, 8, [&](int64_t i) {
              const T value = function(seed.At(i));
              store(&value, 1, out_at(buffers) + offsets(i) * bytes, 0);
            });
            return {};
          }};
}

/// A parameter of each element: of a tensor that is broadcast to out, or the same for all.
struct Parameter {
  Parameter(const Tensor& tensor, double constant, const Tensor& out)
      : place(tensor.place), value(constant) {
    if (!tensor.present()) return;
    const Shape shape = ShapeOf(out);
    offsets = Offsets(shape.data(), Steps(shape, tensor).bytes.data(), out.rank());
    load = LoaderOf<double>(tensor.dtype());
  }

  double At(const Buffers& buffers, int64_t i) const {
    if (load == nullptr) return value;
    double own = 0;
    load(place(buffers) + offsets(i), 0, 1, &own);
    return own;
  }

  Place place;
  Offsets offsets;
  LoadRow<double> load = nullptr;
  double value;
};

/// Every element of out from its parameters and its bits.
template <class Function>
Plan MakeRandomOf(const Tensor& out, const Seed& seed, const Parameter& a, const Parameter& b,
                  const Function& function) {
  const Offsets to(out, out.rank());
  const int64_t bytes = BytesOf(out), count = *out.count();
  const auto store = StorerOf<double>(out.dtype());
  const Place out_at = out.place;
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(count, 8, [&](int64_t i) {
              const double value = function(a.At(buffers, i), b.At(buffers, i), seed.At(i));
              store(&value, 1, out_at(buffers) + to(i) * bytes, 0);
            });
            return {};
          }};
}

void CheckReal(const Tensor& tensor, Checker& checker) {
  checker.That(Contains(kRealTypes, tensor.dtype()),
               [&] { return DtypeIs(tensor, DtypesText(kRealTypes)); });
}

}  // namespace

void CheckNormal(const NormalParams& p, Checker& checker) { CheckReal(p.selfRef, checker); }

Plan PlanNormal(const NormalParams& p, const Product&) {
  const double mean = p.mean, deviation = p.std;
  return MakeRandom<double>(p.selfRef, Seed(p),
                            [=](const Bits& bits) { return mean + deviation * Normal(bits); });
}

void CheckUniform(const UniformParams& p, Checker& checker) {
  CheckReal(p.selfRef, checker);
  checker.That(p.from <= p.to,
               [&] { return Concat("from value is ", p.from, ", expected at most to, ", p.to); });
}

Plan PlanUniform(const UniformParams& p, const Product&) {
  const double from = p.from, to = p.to;
  const int32_t dtype = p.selfRef.dtype();
  // In steps that the type has, so that nothing is rounded up to `to`.
  const double steps = dtype == ACL_DOUBLE    ? 0x1p53
                       : dtype == ACL_FLOAT   ? 0x1p24
                       : dtype == ACL_FLOAT16 ? 0x1p11
                                              : 0x1p8;
  return MakeRandom<double>(p.selfRef, Seed(p), [=](const Bits& bits) {
    const double unit = std::floor((1 - bits.Open(0)) * steps) / steps;
    return from + (to - from) * unit;
  });
}

void CheckIntegers(const IntegersParams& p, Checker& checker) {
  checker.That(p.from < p.to,
               [&] { return Concat("from value is ", p.from, ", expected less than to, ", p.to); });
}

Plan PlanIntegers(const IntegersParams& p, const Product&) {
  const auto from = static_cast<uint64_t>(p.from);
  const uint64_t span = static_cast<uint64_t>(p.to) - from;
  return MakeRandom<int64_t>(p.selfRef, Seed(p), [=](const Bits& bits) {
    return static_cast<int64_t>(from + bits.Long() % span);
  });
}

// Of one probability, or of a tensor of them.
void CheckBernoulli(const BernoulliParams& p, Checker& checker) {
  if (p.prob.given()) {
    const double probability = p.prob.number;
    checker.That(0 <= probability && probability <= 1,
                 [&] { return Concat("prob value is ", probability, ", expected 0 to 1"); });
    return;
  }
  Shape shape = ShapeOf(p.selfRef);
  CheckReal(p.probabilities, checker);
  checker.That(BroadcastShape(p.probabilities, &shape) && shape == ShapeOf(p.selfRef), [&] {
    return Concat("prob shape is ", ShapeText(p.probabilities),
                  ", expected one that can be broadcast to ", ShapeText(p.selfRef));
  });
}

Plan PlanBernoulli(const BernoulliParams& p, const Product&) {
  const Tensor& self = p.selfRef;
  return MakeRandomOf(self, Seed(p), Parameter(p.probabilities, p.prob.number, self),
                      Parameter(NoTensor(), 0, self), [](double own, double, const Bits& bits) {
                        return static_cast<double>(1 - bits.Open(0) < own);
                      });
}

// Of means and deviations that are tensors or numbers.
void CheckNormalOf(const NormalOfParams& p, Checker& checker) {
  Shape shape;
  for (const Tensor& tensor : p.tensors) {
    CheckReal(tensor, checker);
    if (&tensor == &p.out) continue;
    checker.That(BroadcastShape(tensor, &shape), [&] {
      return Concat(tensor.name(), " shape is ", ShapeText(tensor),
                    ", expected one that can be broadcast with ",
                    ShapeText(shape.data(), static_cast<uint32_t>(shape.size())));
    });
  }
  if (checker.ok() && p.tensors.size() > 1) CheckShape(p.out, shape, checker);
}

Plan PlanNormalOf(const NormalOfParams& p, const Product&) {
  const Parameter mean(p.mean, p.meanNumber, p.out), deviation(p.std, p.stdNumber, p.out);
  return MakeRandomOf(p.out, Seed(p), mean, deviation,
                      [](double m, double s, const Bits& bits) { return m + s * Normal(bits); });
}

void CheckRandomPermutation(const RandomPermutationParams& p, Checker& checker) {
  checker.That(p.n >= 0,
               [&] { return Concat("n value is ", p.n, ", expected one that is not negative"); });
  CheckShape(p.out, {p.n}, checker);
}

// 0 … n - 1 in the order of their random bits.
Plan PlanRandomPermutation(const RandomPermutationParams& p, const Product&) {
  const Seed seed(p);
  const int64_t count = p.n, bytes = BytesOf(p.out);
  const Offsets to(p.out, p.out.rank());
  const Place out_at = p.out.place;
  const auto store = StorerOf<int64_t>(p.out.dtype());
  return {0, [=](const Buffers& buffers) -> Status {
            std::vector<std::pair<uint64_t, int64_t>> keys(static_cast<size_t>(count));
            for (int64_t i = 0; i < count; ++i) {
              keys[static_cast<size_t>(i)] = {seed.At(i).Long(), i};
            }
            std::sort(keys.begin(), keys.end());
            for (int64_t i = 0; i < count; ++i) {
              store(&keys[static_cast<size_t>(i)].second, 1, out_at(buffers) + to(i) * bytes, 0);
            }
            return {};
          }};
}

// Weights of categories in the last dimension.
void CheckMultinomial(const MultinomialParams& p, Checker& checker) {
  const Tensor &self = p.self, &out = p.out;
  const int64_t samples = p.numsamples;
  checker.RankBetween(self, 1, 2);
  checker.That(Contains(kRealTypes, self.dtype()),
               [&] { return DtypeIs(self, DtypesText(kRealTypes)); });
  checker.That(out.dtype() == ACL_INT64, [&] { return DtypeIs(out, "INT64"); });
  const bool enough =
      samples > 0 && self.last_dim() > 0 && (p.replacement || samples <= self.last_dim());
  checker.That(enough, [&] {
    return Concat("numsamples value is ", samples, ", expected 1 to the number of categories, ",
                  self.last_dim(), ", or more with replacement");
  });
  if (!checker.ok()) return;
  Shape shape = ShapeOf(self);
  shape.back() = samples;
  CheckShape(out, shape, checker);
}

// Each sample falls into the running sum of the weights; without replacement its weight is 0 then.
Plan PlanMultinomial(const MultinomialParams& p, const Product&) {
  const Tensor &self = p.self, &out = p.out;
  const Seed seed(p);
  const int64_t samples = p.numsamples, width = self.last_dim(),
                rows = *self.count() / std::max<int64_t>(width, 1);
  const bool replacement = p.replacement;
  const Place self_at = self.place, out_at = out.place;
  const RowView from(self), to(out);
  const auto load = LoaderOf<double>(self.dtype());
  return {0, [=](const Buffers& buffers) -> Status {
            std::atomic<bool> bad = false;
            ParallelRows(rows, width * samples, [&](int64_t row) {
              std::vector<double> weights(static_cast<size_t>(width));
              load(from.Row(self_at(buffers), row), from.step * from.element_bytes, width,
                   weights.data());
              auto* chosen = reinterpret_cast<int64_t*>(to.Row(out_at(buffers), row));
              for (int64_t sample = 0; sample < samples; ++sample) {
                const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
                const bool fine = std::isfinite(total) && total > 0 &&
                                  *std::min_element(weights.begin(), weights.end()) >= 0;
                if (!fine) bad = true;
                const double aim = (1 - seed.At(row * samples + sample).Open(0)) * total;
                int64_t category = 0;
                double sum = 0;
                for (int64_t i = 0; fine && i < width; ++i) {
                  const double weight = weights[static_cast<size_t>(i)];
                  if (weight > 0) category = i;
                  sum += weight;
                  if (weight > 0 && aim < sum) break;
                }
                chosen[sample * to.step] = category;
                if (!replacement) weights[static_cast<size_t>(category)] = 0;
              }
            });
            return bad ? Status(507035, Concat("self value is not a row of weights, expected ",
                                               "numbers that are not negative and enough above 0"))
                       : Status();
          }};
}

}  // namespace openaclnn::supporting
