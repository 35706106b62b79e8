// SPDX-License-Identifier: Apache-2.0
// Other sizes of planes: the nearest element, linear and cubic interpolation, and their gradients.
#include <cmath>
#include <cstring>
#include <limits>

#include "generated/window.h"
#include "kernels/rows/rows.h"
#include "supporting/in_turn.h"
#include "supporting/window/planes.h"
#include "supporting/window/separable.h"

namespace openaclnn::supporting {
namespace {

/// As the vendor says, so that places are numbers of double.
constexpr int64_t kMostLength = std::numeric_limits<int32_t>::max();

/// One dimension of a call: its lengths and how far a step in the result goes in the input.
struct Scale {
  int64_t in, out;
  double step;  // without aligned corners
  bool exact;   // the nearest element is that of a target's middle, not of where it begins
};

/// A factor counts where it makes one length of the other, as the vendor says: torch-npu has 1 for
/// none. PyTorch leaves it for equal lengths, and for the nearest element for twice as many too.
Scale ScaleOf(int64_t in, int64_t out, double factor, int64_t taps, bool exact) {
  const bool fits =
      factor > 0 && std::floor(static_cast<double>(in) * factor) == static_cast<double>(out);
  const bool plain =
      !exact && ((taps <= 2 && out == in) || (taps == 1 && out / 2 == in && out % 2 == 0));
  const double ratio = static_cast<double>(in) / static_cast<double>(out);
  return {in, out, fits && !plain ? 1 / factor : ratio, exact};
}

/// In float, as PyTorch has it.
int64_t NearestTo(int64_t target, const Scale& scale) {
  const float begin = static_cast<float>(target) + (scale.exact ? 0.5f : 0.0f);
  const float place = begin * static_cast<float>(scale.step);
  return std::min(static_cast<int64_t>(place), scale.in - 1);
}

AxisMap Nearest(const Scale& scale) {
  return AxisMap(scale.in, scale.out, 1, [=](int64_t i, double* weight) {
    const int64_t from = NearestTo(i, scale);
    *weight = 1;
    return AxisMap::Span{from, from + 1};
  });
}

/// Where the middle of a target lies in the input, or with corners aligned where it does itself.
double SourceOf(int64_t target, const Scale& scale, bool align) {
  const auto i = static_cast<double>(target);
  if (!align) return scale.step * (i + 0.5) - 0.5;
  if (scale.out <= 1) return 0;
  return i * static_cast<double>(scale.in - 1) / static_cast<double>(scale.out - 1);
}

AxisMap Linear(const Scale& scale, bool align) {
  // A neighbour with the weight 0 would pass its NaN on.
  if (scale.in == scale.out) return AxisMap::Same(scale.in);
  return AxisMap(scale.in, scale.out, 2, [=](int64_t i, double* weights) {
    const double source =
        std::clamp(SourceOf(i, scale, align), 0.0, static_cast<double>(scale.in - 1));
    const auto from = static_cast<int64_t>(source);
    const double far = source - static_cast<double>(from);
    weights[0] = 1 - far;
    weights[1] = far;
    return AxisMap::Span{from, std::min(from + 2, scale.in)};
  });
}

/// Cubic convolution with PyTorch's and the vendor's parameter; |x| < 2.
double Cubic(double x) {
  constexpr double kA = -0.75;
  x = std::abs(x);
  return x <= 1 ? ((kA + 2) * x - (kA + 3)) * x * x + 1
                : ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA;
}

/// Elements at the edge stand for those beyond it.
AxisMap Cubic(const Scale& scale, bool align) {
  return AxisMap(scale.in, scale.out, 4, [=](int64_t i, double* weights) {
    const double source = SourceOf(i, scale, align);
    const double floor = std::floor(source);
    const auto first = static_cast<int64_t>(floor) - 1;
    const auto inside = [&](int64_t at) { return std::clamp(at, int64_t{0}, scale.in - 1); };
    for (int64_t tap = 0; tap < 4; ++tap) {
      const double distance = source - floor + 1 - static_cast<double>(tap);
      weights[inside(first + tap) - inside(first)] += Cubic(distance);
    }
    return AxisMap::Span{inside(first), inside(first + 3) + 1};
  });
}

/// `taps` of one dimension: 1 nearest, 2 linear, 4 cubic.
AxisMap MapOf(int64_t taps, const Scale& scale, bool align) {
  return taps == 1 ? Nearest(scale) : taps == 2 ? Linear(scale, align) : Cubic(scale, align);
}

/// The last dimensions of `in` and of `out`.
template <class Call>
std::vector<Scale> ScalesOf(const Call& p, const Tensor& in, const Tensor& out) {
  const double factors[] = {p.scalesD, p.scalesH, p.scalesW};
  std::vector<Scale> scales;
  for (int64_t i = 0; i < p.dims; ++i) {
    const auto dim = static_cast<uint32_t>(i + 2);
    scales.push_back(ScaleOf(in.dim(dim), out.dim(dim), factors[3 - p.dims + i], p.taps, p.exact));
  }
  return scales;
}

template <class Call>
std::vector<AxisMap> MapsOf(const Call& p, const Tensor& in, const Tensor& out) {
  std::vector<AxisMap> maps;
  for (const Scale& scale : ScalesOf(p, in, out)) {
    maps.push_back(MapOf(p.taps, scale, p.alignCorners));
  }
  return maps;
}

/// Checks the sizes of (N, C, …) against those that the call gives.
template <class Call>
void CheckSizes(const Call& p, const Tensor& in, const Tensor& out, Checker& checker) {
  const auto dims = static_cast<uint32_t>(p.dims);
  CheckAxes(p.outputSize, dims, 1, checker);
  checker.Rank(in, dims + 2).Rank(out, dims + 2).SameDtype(out, in);
  if (!checker.ok()) return;
  const std::array<int64_t, 3> lengths = {in.dim(2), in.dim(1 + dims), in.dim(dims / 2 + 2)};
  const auto fits = [](int64_t n) { return n > 0 && n <= kMostLength; };
  checker.That(std::ranges::all_of(lengths, fits), [&] {
    return Concat(in.name(), " shape is ", ShapeText(in),
                  ", expected planes with elements, of at most ", kMostLength,
                  " in each dimension");
  });
}

/// Elements of a row by their numbers, one after the other; steps are in bytes.
template <class Bits>
void TakeRow(const std::byte* from, int64_t from_step, const std::vector<int32_t>& numbers,
             std::byte* to, int64_t step) {
  const size_t count = numbers.size();
  const int32_t* const at = numbers.data();
  if (from_step == sizeof(Bits) && step == sizeof(Bits)) {
    const auto* const elements = reinterpret_cast<const Bits*>(from);
    auto* const out = reinterpret_cast<Bits*>(to);
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
      const Bits four[] = {elements[at[i]], elements[at[i + 1]], elements[at[i + 2]],
                           elements[at[i + 3]]};
      std::memcpy(out + i, four, sizeof(four));
    }
    for (; i < count; ++i) out[i] = elements[at[i]];
    return;
  }
  for (size_t i = 0; i < count; ++i, to += step) {
    std::memcpy(to, from + at[i] * from_step, sizeof(Bits));
  }
}

auto TakerOf(int64_t bytes) {
  return bytes == 1   ? TakeRow<uint8_t>
         : bytes == 2 ? TakeRow<uint16_t>
         : bytes == 4 ? TakeRow<uint32_t>
                      : TakeRow<uint64_t>;
}

/// Bits as they are, row by row. A row that comes from where the one before it does is that one's
/// copy.
Plan PlanNearest(const UpsampleParams& p) {
  const int64_t bytes = BytesOf(p.out);
  std::vector<std::vector<int64_t>> sources;  // in bytes
  std::vector<int32_t> along;                 // of the last dimension, by their numbers
  std::vector<int64_t> lengths, to_steps;     // of all dimensions but the last
  uint32_t dim = 2;
  for (const Scale& scale : ScalesOf(p, p.self, p.out)) {
    std::vector<int64_t>& places = sources.emplace_back();
    const int64_t step = p.self.tensor().strides[dim++] * bytes;
    for (int64_t i = 0; i < scale.out; ++i) places.push_back(NearestTo(i, scale) * step);
    if (dim < p.self.rank()) continue;
    for (int64_t i = 0; i < scale.out; ++i) {
      along.push_back(static_cast<int32_t>(NearestTo(i, scale)));
    }
  }
  int64_t rows = 1;  // of a plane
  for (uint32_t d = 2; d + 1 < p.self.rank(); ++d) {
    lengths.push_back(p.out.dim(d));
    to_steps.push_back(p.out.tensor().strides[d] * bytes);
    rows *= p.out.dim(d);
  }
  const Offsets from_lead(p.self, 2), to_lead(p.out, 2);
  const int64_t step = p.out.tensor().strides[p.out.rank() - 1] * bytes;
  const int64_t from_step = p.self.tensor().strides[p.self.rank() - 1] * bytes;
  struct Before {
    const std::byte *source = nullptr, *row = nullptr;
  };
  return {0,
          [=, planes = p.out.dim(0) * p.out.dim(1), self = p.self.place, out = p.out.place,
           take = TakerOf(bytes)](const Buffers& buffers) -> Status {
            const auto width = static_cast<int64_t>(along.size());
            ParallelRowsIn<Before>(planes * rows, width, [&](int64_t row, Before* before) {
              const auto at = DigitsOf(row % rows, lengths);
              int64_t from = from_lead(row / rows) * bytes, to = to_lead(row / rows) * bytes;
              for (size_t i = 0; i < lengths.size(); ++i) {
                from += sources[i][static_cast<size_t>(at[i])];
                to += at[i] * to_steps[i];
              }
              const std::byte* const source = self(buffers) + from;
              std::byte* const target = out(buffers) + to;
              if (source == before->source && step == bytes) {
                std::memcpy(target, before->row, static_cast<size_t>(width * bytes));
              } else {
                take(source, from_step, along, target, step);
              }
              *before = {source, target};
            });
            return {};
          }};
}

}  // namespace

void CheckUpsample(const UpsampleParams& p, Checker& checker) {
  CheckSizes(p, p.self, p.out, checker);
  if (!checker.ok()) return;
  Shape shape = {p.self.dim(0), p.self.dim(1)};
  for (int64_t i = 0; i < p.dims; ++i) {
    shape.push_back(AtAxis(p.outputSize, static_cast<size_t>(i)));
  }
  CheckShape(p.out, shape, checker);
}

Plan PlanUpsample(const UpsampleParams& p, const Product&) {
  if (p.out.empty()) return Nothing();
  if (p.taps == 1) return PlanNearest(p);
  return PlanSeparable(p.self, p.out, MapsOf(p, p.self, p.out));
}

void CheckUpsampleGradient(const UpsampleGradientParams& p, Checker& checker) {
  CheckSizes(p, p.gradInput, p.gradOut, checker);
  if (!checker.ok()) return;
  const auto sizes = p.inputSize.values();
  checker.That(sizes.size() == p.gradInput.rank(), [&] {
    return Concat("inputSize size is ", sizes.size(), ", expected ", p.gradInput.rank());
  });
  if (!checker.ok()) return;
  CheckShape(p.gradInput, Shape(sizes.begin(), sizes.end()), checker);
  Shape shape = {p.gradInput.dim(0), p.gradInput.dim(1)};
  for (int64_t i = 0; i < p.dims; ++i) {
    shape.push_back(AtAxis(p.outputSize, static_cast<size_t>(i)));
  }
  CheckShape(p.gradOut, shape, checker);
}

Plan PlanUpsampleGradient(const UpsampleGradientParams& p, const Product&) {
  if (p.gradInput.empty()) return Nothing();
  std::vector<AxisMap> maps = MapsOf(p, p.gradInput, p.gradOut);
  for (AxisMap& map : maps) map = std::move(map).Transposed();
  return PlanSeparable(p.gradOut, p.gradInput, std::move(maps));
}

}  // namespace openaclnn::supporting
