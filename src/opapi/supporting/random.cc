// SPDX-License-Identifier: Apache-2.0
// Random numbers: Philox 4x32-10 with the seed as its key, so that each element depends on seed,
// offset and its own place alone.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "kernels/broadcast.h"
#include "kernels/rows.h"
#include "kernels/strided.h"
#include "supporting/operators.h"
#include "supporting/philox.h"
#include "supporting/reduction.h"

namespace openaclnn::supporting {
namespace {

/// A normal number of mean 0 and deviation 1.
double Normal(const Bits& bits) {
  const double radius = std::sqrt(-2 * std::log(bits.Open(0)));
  return radius * std::cos(2 * M_PI * bits.Open(1));
}

/// Every element from the bits at its place. The last two integers are seed and offset.
template <class T, class Function>
Plan MakeRandom(const Params& p, const Function& function) {
  const auto seed = static_cast<uint64_t>(p.integers.end()[-2]);
  const auto offset = static_cast<uint64_t>(p.integers.end()[-1]);
  const Offsets offsets(p.out(), p.out().rank());
  const auto bytes = static_cast<int64_t>(FindDataType(p.out().dtype())->bytes);
  const int64_t count = *p.out().count();
  const auto store = StorerOf<T>(p.out().dtype());
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(count, 8, [&](int64_t i) {
              const T value = function(Philox(seed, offset, static_cast<uint64_t>(i)));
              store(&value, 1, buffers.As<std::byte>(0) + offsets(i) * bytes, 0);
            });
            return {};
          }};
}

}  // namespace

void CheckRandom(const Params& p, Checker& checker) {
  if (p.row.plan != PlanIntegers) {
    checker.That(Contains(kRealTypes, p.out().dtype()),
                 [&] { return DtypeIs(p.out(), DtypesText(kRealTypes)); });
    checker.That(p.row.plan != PlanUniform || p.reals[0] <= p.reals[1], [&] {
      return Concat("from value is ", p.reals[0], ", expected at most to, ", p.reals[1]);
    });
    return;
  }
  checker.That(p.integers[0] < p.integers[1], [&] {
    return Concat("from value is ", p.integers[0], ", expected less than to, ", p.integers[1]);
  });
}

Plan PlanNormal(const Params& p) {
  const double mean = p.reals[0], deviation = p.reals[1];
  return MakeRandom<double>(p, [=](const Bits& bits) { return mean + deviation * Normal(bits); });
}

Plan PlanUniform(const Params& p) {
  const double from = p.reals[0], to = p.reals[1];
  // In steps that the type has, so that nothing is rounded up to `to`.
  const double steps = p.out().dtype() == ACL_DOUBLE    ? 0x1p53
                       : p.out().dtype() == ACL_FLOAT   ? 0x1p24
                       : p.out().dtype() == ACL_FLOAT16 ? 0x1p11
                                                        : 0x1p8;
  return MakeRandom<double>(p, [=](const Bits& bits) {
    const double unit = std::floor((1 - bits.Open(0)) * steps) / steps;
    return from + (to - from) * unit;
  });
}

Plan PlanIntegers(const Params& p) {
  const auto from = static_cast<uint64_t>(p.integers[0]);
  const uint64_t span = static_cast<uint64_t>(p.integers[1]) - from;
  return MakeRandom<int64_t>(
      p, [=](const Bits& bits) { return static_cast<int64_t>(from + bits.Long() % span); });
}

namespace {

struct Seed {
  explicit Seed(const Params& p)
      : seed(static_cast<uint64_t>(p.integers.end()[-2])),
        offset(static_cast<uint64_t>(p.integers.end()[-1])) {}
  Bits At(int64_t place) const { return Philox(seed, offset, static_cast<uint64_t>(place)); }

  uint64_t seed, offset;
};

/// A parameter of each element: of a tensor that is broadcast to out, or the same for all.
struct Parameter {
  Parameter(const Params& p, size_t at) : place(at), bytes(BytesOf(p.tensors[at])) {
    const Operand& tensor = p.tensors[at];
    const Shape shape = ShapeOf(p.out());
    offsets = Offsets(shape.data(), Steps(shape, tensor).bytes.data(), p.out().rank());
    load = LoaderOf<double>(tensor.dtype());
  }
  explicit Parameter(double constant) : value(constant) {}

  double At(const Buffers& buffers, int64_t i) const {
    if (load == nullptr) return value;
    double own = 0;
    load(buffers.As<std::byte>(place) + offsets(i), 0, 1, &own);
    return own;
  }

  size_t place = 0;
  int64_t bytes = 0;
  Offsets offsets;
  LoadRow<double> load = nullptr;
  double value = 0;
};

/// Every element of out from its parameters and its bits.
template <class Function>
Plan MakeRandomOf(const Params& p, size_t out_at, const Parameter& a, const Parameter& b,
                  const Function& function) {
  const Operand& out = p.out();
  const Seed seed(p);
  const Offsets to(out, out.rank());
  const int64_t bytes = BytesOf(out), count = *out.count();
  const auto store = StorerOf<double>(out.dtype());
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(count, 8, [&](int64_t i) {
              const double value = function(a.At(buffers, i), b.At(buffers, i), seed.At(i));
              store(&value, 1, buffers.As<std::byte>(out_at) + to(i) * bytes, 0);
            });
            return {};
          }};
}

}  // namespace

// In place, of one probability or of a tensor of them.
void CheckBernoulli(const Params& p, Checker& checker) {
  if (p.values.empty()) {
    Shape shape = ShapeOf(p.out());
    const Operand& probability = p.tensors[1];
    checker.That(Contains(kRealTypes, probability.dtype()),
                 [&] { return DtypeIs(probability, DtypesText(kRealTypes)); });
    checker.That(BroadcastShape(probability, &shape) && shape == ShapeOf(p.out()), [&] {
      return Concat("prob shape is ", ShapeText(probability),
                    ", expected one that can be broadcast to ", ShapeText(p.out()));
    });
    return;
  }
  const double probability = p.values[0].number;
  checker.That(0 <= probability && probability <= 1,
               [&] { return Concat("prob value is ", probability, ", expected 0 to 1"); });
}

Plan PlanBernoulli(const Params& p) {
  const Parameter probability = p.values.empty() ? Parameter(p, 1) : Parameter(p.values[0].number);
  return MakeRandomOf(p, 0, probability, Parameter(0), [](double own, double, const Bits& bits) {
    return static_cast<double>(1 - bits.Open(0) < own);
  });
}

// mean and deviation, tensors or numbers; out.
void CheckNormalOf(const Params& p, Checker& checker) {
  Shape shape;
  for (const Operand& tensor : p.tensors) {
    checker.That(Contains(kRealTypes, tensor.dtype()),
                 [&] { return DtypeIs(tensor, DtypesText(kRealTypes)); });
    if (tensor.role() == OPENACLNN_OUTPUT) continue;
    checker.That(BroadcastShape(tensor, &shape), [&] {
      return Concat(tensor.name(), " shape is ", ShapeText(tensor),
                    ", expected one that can be broadcast with ",
                    ShapeText(shape.data(), static_cast<uint32_t>(shape.size())));
    });
  }
  if (checker.ok() && p.tensors.size() > 1) CheckShape(p.out(), shape, checker);
}

// Numbers come in the order of the parameters; their names say which is one.
Plan PlanNormalOf(const Params& p) {
  size_t tensor = 0, number = 0;
  const auto next = [&](const char* name) {
    const bool given = p.tensors[tensor].name() == std::string_view(name);
    return given ? Parameter(p, tensor++) : Parameter(p.reals[number++]);
  };
  const Parameter mean = next("mean"), deviation = next("std");
  return MakeRandomOf(p, p.tensors.size() - 1, mean, deviation,
                      [](double m, double s, const Bits& bits) { return m + s * Normal(bits); });
}

// n.
void CheckRandomPermutation(const Params& p, Checker& checker) {
  checker.That(p.integers[0] >= 0, [&] {
    return Concat("n value is ", p.integers[0], ", expected one that is not negative");
  });
  CheckShape(p.out(), {p.integers[0]}, checker);
}

// 0 … n - 1 in the order of their random bits.
Plan PlanRandomPermutation(const Params& p) {
  const Seed seed(p);
  const int64_t count = p.integers[0], bytes = BytesOf(p.out());
  const Offsets to(p.out(), p.out().rank());
  const auto store = StorerOf<int64_t>(p.out().dtype());
  return {0, [=](const Buffers& buffers) -> Status {
            std::vector<std::pair<uint64_t, int64_t>> keys(static_cast<size_t>(count));
            for (int64_t i = 0; i < count; ++i) {
              keys[static_cast<size_t>(i)] = {seed.At(i).Long(), i};
            }
            std::sort(keys.begin(), keys.end());
            for (int64_t i = 0; i < count; ++i) {
              store(&keys[static_cast<size_t>(i)].second, 1,
                    buffers.As<std::byte>(0) + to(i) * bytes, 0);
            }
            return {};
          }};
}

// self, weights of categories in the last dimension; out, categories. numsamples, replacement.
void CheckMultinomial(const Params& p, Checker& checker) {
  const Operand &self = p.tensors[0], &out = p.out();
  const int64_t samples = p.integers[0];
  checker.RankBetween(self, 1, 2);
  checker.That(Contains(kRealTypes, self.dtype()),
               [&] { return DtypeIs(self, DtypesText(kRealTypes)); });
  checker.That(out.dtype() == ACL_INT64, [&] { return DtypeIs(out, "INT64"); });
  const bool enough =
      samples > 0 && self.last_dim() > 0 && (p.integers[1] != 0 || samples <= self.last_dim());
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
Plan PlanMultinomial(const Params& p) {
  const Operand &self = p.tensors[0], &out = p.out();
  const Seed seed(p);
  const int64_t samples = p.integers[0], width = self.last_dim(),
                rows = *self.count() / std::max<int64_t>(width, 1);
  const bool replacement = p.integers[1] != 0;
  const RowView from(self), to(out);
  const auto load = LoaderOf<double>(self.dtype());
  return {0, [=](const Buffers& buffers) -> Status {
            std::atomic<bool> bad = false;
            ParallelRows(rows, width * samples, [&](int64_t row) {
              std::vector<double> weights(static_cast<size_t>(width));
              load(from.Row(buffers.As<std::byte>(0), row), from.step * from.element_bytes, width,
                   weights.data());
              auto* chosen = reinterpret_cast<int64_t*>(to.Row(buffers.As<std::byte>(1), row));
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
