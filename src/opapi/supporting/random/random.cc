// SPDX-License-Identifier: Apache-2.0
// Random numbers: Philox 4x32-10 with the seed as its key, so that each element depends on seed,
// offset and its own place alone.
#include "generated/random.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "kernels/broadcast.h"
#include "kernels/philox.h"
#include "kernels/rows.h"
#include "kernels/strided.h"
#include "supporting/philox.h"
#include "supporting/random/unit_digits.h"

namespace openaclnn::supporting {
namespace {

constexpr int64_t kRun = 256;     // elements that are made at once
constexpr int64_t kBlock = 4096;  // and by a thread at least: about 10 us
constexpr int64_t kMaxBlocks = 1024;

struct Seed {
  template <class P>
  explicit Seed(const P& p)
      : key{static_cast<uint64_t>(p.seed), static_cast<uint64_t>(p.offset)},
        kernels(RandomNumbers()) {}
  Bits At(int64_t place) const {
    return Philox(key.seed, key.offset, static_cast<uint64_t>(place));
  }

  RandomKey key;
  const PhiloxKernels* kernels;
};

/// Elements of out in order, at most kRun at once: make(buffers, first, n, values).
template <class T, class Make>
Plan MakeRandom(const Tensor& out, const Make& make) {
  const Offsets offsets(out, out.rank());
  const int64_t bytes = BytesOf(out), count = *out.count(), step = offsets.step();
  const auto store = StorerOf<T>(out.dtype());
  const Place out_at = out.place;
  return {0, [=](const Buffers& buffers) -> Status {
            const int64_t blocks = BlockCount(count, kBlock, kMaxBlocks);
            ParallelFor(blocks, [&](int64_t block) {
              const int64_t end = BlockBegin(count, blocks, block + 1);
              for (int64_t i = BlockBegin(count, blocks, block); i < end; i += kRun) {
                const int64_t n = std::min(kRun, end - i);
                T values[kRun];
                make(buffers, i, n, values);
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

void CheckReal(const Tensor& tensor, Checker& checker) {
  checker.That(Contains(kRealTypes, tensor.dtype()),
               [&] { return DtypeIs(tensor, DtypesText(kRealTypes)); });
}

}  // namespace

void CheckNormal(const NormalParams& p, Checker& checker) { CheckReal(p.selfRef, checker); }

Plan PlanNormal(const NormalParams& p, const Product&) {
  const double mean = p.mean, deviation = p.std;
  const Seed seed(p);
  return MakeRandom<double>(p.selfRef, [=](const Buffers&, int64_t first, int64_t n, double* out) {
    seed.kernels->normal(seed.key, static_cast<uint64_t>(first), n, mean, deviation, out);
  });
}

void CheckUniform(const UniformParams& p, Checker& checker) {
  CheckReal(p.selfRef, checker);
  checker.That(p.from <= p.to,
               [&] { return Concat("from value is ", p.from, ", expected at most to, ", p.to); });
}

Plan PlanUniform(const UniformParams& p, const Product&) {
  const double from = p.from, to = p.to;
  const int digits = UnitDigits(p.selfRef.dtype());
  const Seed seed(p);
  return MakeRandom<double>(p.selfRef, [=](const Buffers&, int64_t first, int64_t n, double* out) {
    seed.kernels->uniform(seed.key, static_cast<uint64_t>(first), n, digits, from, to - from, out);
  });
}

void CheckIntegers(const IntegersParams& p, Checker& checker) {
  checker.That(p.from < p.to,
               [&] { return Concat("from value is ", p.from, ", expected less than to, ", p.to); });
}

Plan PlanIntegers(const IntegersParams& p, const Product&) {
  const auto from = static_cast<uint64_t>(p.from);
  const uint64_t span = static_cast<uint64_t>(p.to) - from;
  const Seed seed(p);
  return MakeRandom<int64_t>(p.selfRef,
                             [=](const Buffers&, int64_t first, int64_t n, int64_t* out) {
                               uint64_t bits[kRun];
                               seed.kernels->bits(seed.key, static_cast<uint64_t>(first), n, bits);
                               for (int64_t i = 0; i < n; ++i)
                                 out[i] = static_cast<int64_t>(from + bits[i] % span);
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
  const Parameter probability(p.probabilities, p.prob.number, self);
  const Seed seed(p);
  return MakeRandom<double>(
      self, [=](const Buffers& buffers, int64_t first, int64_t n, double* out) {
        seed.kernels->uniform(seed.key, static_cast<uint64_t>(first), n, 53, 0, 1, out);
        for (int64_t i = 0; i < n; ++i) {
          out[i] = static_cast<double>(out[i] < probability.At(buffers, first + i));
        }
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
  const Seed seed(p);
  return MakeRandom<double>(
      p.out, [=](const Buffers& buffers, int64_t first, int64_t n, double* out) {
        seed.kernels->normal(seed.key, static_cast<uint64_t>(first), n, 0, 1, out);
        for (int64_t i = 0; i < n; ++i) {
          out[i] = mean.At(buffers, first + i) + deviation.At(buffers, first + i) * out[i];
        }
      });
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
