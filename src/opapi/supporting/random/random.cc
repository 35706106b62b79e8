// SPDX-License-Identifier: Apache-2.0
// Random numbers: Philox 4x32-10 with the seed as its key, so that each element depends on seed,
// offset and its own place alone.
#include "generated/random.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "kernels/move/broadcast.h"
#include "kernels/move/strided.h"
#include "kernels/number/philox.h"
#include "kernels/rows/rows.h"
#include "supporting/complex.h"
#include "supporting/philox.h"
#include "supporting/random/interval.h"
#include "supporting/random/seed.h"

namespace openaclnn::supporting {
namespace {

constexpr int64_t kRun = 256;     // elements that are made at once
constexpr int64_t kBlock = 4096;  // and by a thread at least: about 10 us
constexpr int64_t kMaxBlocks = 1024;

/// Elements that are made at once: `first` is the place of the first of n.
struct Stretch {
  const RandomKey& key;
  const Buffers& buffers;
  uint64_t first;
  int64_t n;
};

/// Makes the elements of out in order, at most kRun at once, by make(stretch, values); of complex
/// numbers the real parts.
template <class T, class Make>
Plan MakeRandom(const Tensor& out, const Seed& seed, const Make& make) {
  const Offsets offsets(out, out.rank());
  const int64_t bytes = BytesOf(out), count = *out.count(), step = offsets.step();
  const auto store = StorerOf<T>(PartOf(out.dtype()));
  const Place out_at = out.place;
  return {0, [=](const Buffers& buffers) -> Status {
            if (count == 0) return {};
            const RandomKey key = seed(buffers);
            const int64_t blocks = BlockCount(count, kBlock, kMaxBlocks);
            ParallelFor(blocks, [&](int64_t block) {
              const int64_t end = BlockBegin(count, blocks, block + 1);
              for (int64_t i = BlockBegin(count, blocks, block); i < end; i += kRun) {
                const int64_t n = std::min(kRun, end - i);
                T values[kRun];
                make(Stretch{key, buffers, static_cast<uint64_t>(i), n}, values);
                std::byte* const to = out_at(buffers);
                if (step != 0) {
                  store(values, n, to + offsets(i) * bytes, step * bytes);
                  continue;
                }
                for (int64_t k = 0; k < n; ++k) {
                  store(values + k, 1, to + offsets(i + k) * bytes, 0);
                }
              }
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

  /// The parameter of the i-th element of a stretch.
  double At(const Stretch& of, int64_t i) const {
    if (load == nullptr) return value;
    double own = 0;
    load(place(of.buffers) + offsets(static_cast<int64_t>(of.first) + i), 0, 1, &own);
    return own;
  }

  Place place;
  Offsets offsets;
  LoadRow<double> load = nullptr;
  double value;
};

void CheckReal(const Tensor& tensor, Checker& checker) {
  checker.That(Contains(kRealTypes, tensor.dtype()),
               [&] { return DtypeIs(tensor, DtypesText(kRealTypes)); });
}

}  // namespace

void CheckNormal(const NormalParams& p, Checker& checker) {
  CheckReal(p.selfRef, checker);
  CheckSeed(p, checker);
}

Plan PlanNormal(const NormalParams& p, const Product&) {
  const double mean = p.mean, deviation = p.std;
  return MakeRandom<double>(p.selfRef, Seed(p),
                            [=, numbers = RandomNumbers()](const Stretch& of, double* out) {
                              numbers->normal(of.key, of.first, of.n, mean, deviation, out);
                            });
}

void CheckUniform(const UniformParams& p, Checker& checker) {
  CheckReal(p.selfRef, checker);
  checker.That(p.from <= p.to,
               [&] { return Concat("from value is ", p.from, ", expected at most to, ", p.to); });
  const double largest = LargestOf(p.selfRef.dtype());
  for (const auto& [name, value] : {std::pair("from", p.from), std::pair("to", p.to)}) {
    checker.That(std::abs(value) <= largest, [&, name = name, value = value] {
      return Concat(name, " value is ", value, ", expected ", -largest, " to ", largest,
                    ", the range of ", DtypeText(p.selfRef.dtype()));
    });
  }
  checker.That(std::isfinite(p.to - p.from), [&] {
    return Concat("to value is ", p.to, ", expected less than ", std::numeric_limits<double>::max(),
                  " above from, ", p.from);
  });
  CheckSeed(p, checker);
}

Plan PlanUniform(const UniformParams& p, const Product&) {
  const double from = p.from, span = p.to - p.from;
  const int digits = UnitDigits(p.selfRef.dtype());
  const Interval<double> inside = RealsIn(p.selfRef.dtype(), p.from, p.to);
  return MakeRandom<double>(p.selfRef, Seed(p),
                            [=, numbers = RandomNumbers()](const Stretch& of, double* out) {
                              numbers->uniform(of.key, of.first, of.n, digits, from, span, out);
                              for (int64_t i = 0; i < of.n; ++i) {
                                out[i] = std::clamp(out[i], inside.first, inside.last);
                              }
                            });
}

void CheckIntegers(const IntegersParams& p, Checker& checker) {
  const int32_t dtype = PartOf(p.selfRef.dtype());
  const Interval<int64_t> range = RangeOfIntegers(dtype);
  checker.That(p.from < p.to,
               [&] { return Concat("from value is ", p.from, ", expected less than to, ", p.to); });
  checker.That(p.from >= range.first, [&] {
    return Concat("from value is ", p.from, ", expected at least ", range.first, ", the least of ",
                  DtypeText(dtype));
  });
  checker.That(p.to <= p.from || p.to - 1 <= range.last, [&] {
    return Concat("to value is ", p.to, ", expected at most ", range.last + 1,
                  ", behind the greatest of ", DtypeText(dtype));
  });
  if (checker.ok()) {
    checker.That(!IntegersIn(dtype, p.from, p.to).empty(), [&] {
      return Concat("to value is ", p.to, ", expected a number of ", DtypeText(dtype),
                    " that is less and at least from, ", p.from);
    });
  }
  CheckSeed(p, checker);
}

namespace {

Plan MakeIntegers(const IntegersParams& p, const Interval<int64_t>& inside) {
  const auto least = static_cast<uint64_t>(inside.first);
  const uint64_t span = static_cast<uint64_t>(inside.last) - least + 1;
  const auto make = [=, numbers = RandomNumbers()](const Stretch& of, int64_t* out) {
    uint64_t bits[kRun];
    numbers->bits(of.key, of.first, of.n, bits);
    for (int64_t i = 0; i < of.n; ++i) out[i] = static_cast<int64_t>(least + bits[i] % span);
  };
  return ForParts(p, NoTensor(), p.selfRef, MakeRandom<int64_t>(p.selfRef, Seed(p), make));
}

}  // namespace

Plan PlanIntegers(const IntegersParams& p, const Product&) {
  return MakeIntegers(p, IntegersIn(PartOf(p.selfRef.dtype()), p.from, p.to));
}

void CheckAllIntegers(const IntegersParams& p, Checker& checker) { CheckSeed(p, checker); }

// A float type has all integers up to its first one whose neighbour it lacks.
Plan PlanAllIntegers(const IntegersParams& p, const Product&) {
  return MakeIntegers(p, {0, LastOfAllIntegers(PartOf(p.selfRef.dtype()))});
}

void CheckExponential(const ExponentialParams& p, Checker& checker) {
  CheckReal(p.self, checker);
  checker.That(p.lambd > 0 && std::isfinite(p.lambd),
               [&] { return Concat("lambd value is ", p.lambd, ", expected one above 0"); });
  checker.That(p.count == p.self.count(), [&] {
    return Concat("count value is ", p.count, ", expected the number of elements of self, ",
                  ShapeText(p.self));
  });
}

Plan PlanExponential(const ExponentialParams& p, const Product&) {
  return MakeRandom<double>(p.self, Seed(p), [rate = p.lambd](const Stretch& of, double* out) {
    for (int64_t i = 0; i < of.n; ++i) {
      const auto place = of.first + static_cast<uint64_t>(i);
      out[i] = -std::log(Philox(of.key.seed, of.key.offset, place).Open(0)) / rate;
    }
  });
}

// The probability is one number, or a tensor of them.
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

// Draws as the mask of dropout does, which has a 0 with the complement: dropout in place draws by
// Bernoulli.
Plan PlanBernoulli(const BernoulliParams& p, const Product&) {
  const Tensor& self = p.selfRef;
  const Parameter probability(p.probabilities, p.prob.number, self);
  return MakeRandom<double>(self, Seed(p),
                            [=, numbers = RandomNumbers()](const Stretch& of, double* out) {
                              numbers->uniform(of.key, of.first, of.n, 53, 0, 1, out);
                              for (int64_t i = 0; i < of.n; ++i) {
                                out[i] = static_cast<double>(out[i] >= 1 - probability.At(of, i));
                              }
                            });
}

// Means and deviations are tensors or numbers.
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
  return MakeRandom<double>(p.out, Seed(p),
                            [=, numbers = RandomNumbers()](const Stretch& of, double* out) {
                              numbers->normal(of.key, of.first, of.n, 0, 1, out);
                              for (int64_t i = 0; i < of.n; ++i) {
                                out[i] = mean.At(of, i) + deviation.At(of, i) * out[i];
                              }
                            });
}

void CheckRandomPermutation(const RandomPermutationParams& p, Checker& checker) {
  checker.That(p.n >= 0,
               [&] { return Concat("n value is ", p.n, ", expected one that is not negative"); });
  checker.That(p.n <= 0 || p.n - 1 <= LastOfAllIntegers(p.out.dtype()), [&] {
    return Concat("n value is ", p.n, ", expected at most ", LastOfAllIntegers(p.out.dtype()) + 1,
                  ": ", DtypeText(p.out.dtype()), " does not tell larger integers apart");
  });
  CheckShape(p.out, {p.n}, checker);
}

// 0 … n - 1 in the order of their random bits.
Plan PlanRandomPermutation(const RandomPermutationParams& p, const Product&) {
  const int64_t count = p.n, bytes = BytesOf(p.out);
  const Offsets to(p.out, p.out.rank());
  const Place out_at = p.out.place;
  const auto store = StorerOf<int64_t>(p.out.dtype());
  return {0, [=, seed = Seed(p)](const Buffers& buffers) -> Status {
            const RandomKey key = seed(buffers);
            std::vector<std::pair<uint64_t, int64_t>> keys(static_cast<size_t>(count));
            for (int64_t i = 0; i < count; ++i) {
              const Bits bits = Philox(key.seed, key.offset, static_cast<uint64_t>(i));
              keys[static_cast<size_t>(i)] = {bits.Long(), i};
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
  CheckSeed(p, checker);
}

namespace {

/// Running sums of weights, added one after the other. They do not fall, so that the category of a
/// sample is found by halves.
struct RunningSums {
  /// Takes the weights' memory.
  explicit RunningSums(std::vector<double>* weights) {
    double least = INFINITY;
    for (size_t i = 0; i < weights->size(); ++i) {
      double& weight = (*weights)[i];
      least = weight < least || IsNan(weight) ? weight : least;
      if (weight > 0) last = static_cast<int64_t>(i);
      weight = total += weight;
    }
    fine = std::isfinite(total) && total > 0 && least >= 0;
    sums = std::move(*weights);
  }

  /// The first category whose sum is above a number, or the last that has a weight.
  int64_t Find(double aim) const {
    const auto found = std::upper_bound(sums.begin(), sums.end(), aim);
    return found == sums.end() ? last : found - sums.begin();
  }

  double total = 0;
  bool fine = false;
  int64_t last = 0;
  std::vector<double> sums;
};

}  // namespace

// Each sample falls into the running sum of the weights; without replacement its weight is 0 then.
Plan PlanMultinomial(const MultinomialParams& p, const Product&) {
  const Tensor &self = p.self, &out = p.out;
  const int64_t samples = p.numsamples, width = self.last_dim(),
                rows = *self.count() / std::max<int64_t>(width, 1);
  const bool replacement = p.replacement;
  const Place self_at = self.place, out_at = out.place;
  const RowView from(self), to(out);
  const auto load = LoaderOf<double>(self.dtype());
  return {
      0, [=, seed = Seed(p)](const Buffers& buffers) -> Status {
        if (rows == 0) return {};
        const RandomKey key = seed(buffers);
        std::atomic<bool> bad = false;
        ParallelRows(rows, replacement ? width + 16 * samples : width * samples, [&](int64_t row) {
          std::vector<double> weights(static_cast<size_t>(width));
          load(from.Row(self_at(buffers), row), from.step * from.element_bytes, width,
               weights.data());
          auto* chosen = reinterpret_cast<int64_t*>(to.Row(out_at(buffers), row));
          const auto aim_of = [&](int64_t sample, double total) {
            const auto place = static_cast<uint64_t>(row * samples + sample);
            return (1 - Philox(key.seed, key.offset, place).Open(0)) * total;
          };
          if (replacement) {
            const RunningSums sums(&weights);
            if (!sums.fine) bad = true;
            for (int64_t sample = 0; sample < samples; ++sample) {
              chosen[sample * to.step] = sums.fine ? sums.Find(aim_of(sample, sums.total)) : 0;
            }
            return;
          }
          for (int64_t sample = 0; sample < samples; ++sample) {
            const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
            const bool fine = std::isfinite(total) && total > 0 &&
                              *std::min_element(weights.begin(), weights.end()) >= 0;
            if (!fine) bad = true;
            const double aim = aim_of(sample, total);
            int64_t category = 0;
            double sum = 0;
            for (int64_t i = 0; fine && i < width; ++i) {
              const double weight = weights[static_cast<size_t>(i)];
              if (weight > 0) category = i;
              sum += weight;
              if (weight > 0 && aim < sum) break;
            }
            chosen[sample * to.step] = category;
            weights[static_cast<size_t>(category)] = 0;
          }
        });
        return bad ? Status(507035, Concat("self value is not a row of weights, expected ",
                                           "numbers that are not negative and enough above 0"))
                   : Status();
      }};
}

}  // namespace openaclnn::supporting
