// SPDX-License-Identifier: Apache-2.0
// Repeat, RepeatInterleave and its gradient.
#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <vector>

#include "generated/arrange.h"
#include "kernels/move/copy.h"
#include "kernels/rows/rows.h"
#include "kernels/work/divide_up.h"
#include "supporting/along.h"
#include "supporting/in_turn.h"
#include "supporting/places.h"
#include "supporting/tree_sum.h"

namespace openaclnn::supporting {

void CheckRepeat(const RepeatParams& p, Checker& checker) {
  const Tensor& self = p.self;
  const auto repeats = p.repeats.values();
  const bool fits = repeats.size() >= self.rank() && repeats.size() <= kMaxRank &&
                    std::all_of(repeats.begin(), repeats.end(), [](int64_t n) { return n >= 0; });
  checker.That(fits, [&] {
    return Concat("repeats value is ", ShapeText(repeats.data(), repeats.size()),
                  ", expected at least ", self.rank(), " and at most 8 numbers, none negative");
  });
  if (!fits) return;
  Shape shape(repeats.begin(), repeats.end());
  const size_t lead = shape.size() - self.rank();
  bool holds = true;
  for (uint32_t i = 0; i < self.rank(); ++i) {
    holds = holds && !__builtin_mul_overflow(shape[lead + i], self.dim(i), &shape[lead + i]);
  }
  checker.That(holds, [&] {
    return Concat("repeats value is ", ShapeText(repeats.data(), repeats.size()),
                  ", expected a result below 2^63 elements");
  });
  checker.SameDtype(p.out, self);
  CheckShape(p.out, shape, checker);
}

Plan PlanRepeat(const RepeatParams& p, const Product&) {
  const Tensor &self = p.self, &out = p.out;
  const Shape repeats(p.repeats.values().begin(), p.repeats.values().end());
  const size_t lead = repeats.size() - self.rank();
  // Each dimension of out is two, the repeats and within one of them; self stands still along one.
  const Steps from(ShapeOf(self), self), to(ShapeOf(out), out);
  Shape shape = repeats, from_steps(repeats.size()), to_steps = to.bytes;
  for (uint32_t i = 0; i < self.rank(); ++i) {
    to_steps[lead + i] = WrappingProduct(to.bytes[lead + i], self.dim(i));
    shape.push_back(self.dim(i));
    from_steps.push_back(from.bytes[i]);
    to_steps.push_back(to.bytes[lead + i]);
  }
  const Copy copy(shape, Steps(from_steps), Steps(to_steps), BytesOf(self));
  const Place self_at = self.place, out_at = out.place;
  return {0, [=](const Buffers& buffers) -> Status {
            copy(self_at(buffers), out_at(buffers));
            return {};
          }};
}

namespace {

/// Along a dimension, or over the elements in row-major order.
struct Repeated {
  Repeated(const Operand& self, std::optional<int64_t> along, int64_t result) {
    const bool flat = !along || self.rank() == 0;
    const uint32_t dim = flat ? 0 : *WrapDim(*along, self.rank());
    length = flat ? *self.count() : self.dim(dim);
    for (uint32_t d = 0; !flat && d < self.rank(); ++d) {
      int64_t& side = d < dim ? outer : inner;
      if (d != dim) side = WrappingProduct(side, self.dim(d));  // beside 0 it may be any
    }
    shape = flat ? Shape{length} : ShapeOf(self);
    shape[dim] = result;
  }

  Shape shape;  // of the result
  int64_t outer = 1, length = 0, inner = 1;
};

/// The parameters that the four operators of a name share.
Repeated RepeatedOf(const RepeatInterleaveParams& p) {
  return {p.self, p.flat ? std::nullopt : std::optional(p.dim), p.outputSize};
}

void CheckCounts(const RepeatInterleaveParams& p, int64_t length, Checker& checker) {
  const Tensor& repeats = p.repeats;
  CheckIndexType(repeats, checker);
  checker.That(repeats.rank() <= 1 && (repeats.count() == 1 || repeats.count() == length), [&] {
    return Concat("repeats shape is ", ShapeText(repeats), ", expected (1) or (", length, ")");
  });
}

void CheckNumber(const RepeatInterleaveParams& p, int64_t length, Checker& checker) {
  int64_t result = 0;
  const bool fits = p.number >= 0 && !__builtin_mul_overflow(p.number, length, &result);
  checker.That(fits && result == p.outputSize, [&] {
    return Concat("repeats value is ", p.number, ", expected ", p.outputSize, " of ", length,
                  " elements");
  });
}

}  // namespace

void CheckRepeatInterleave(const RepeatInterleaveParams& p, Checker& checker) {
  if (!p.flat) CheckDim(p.self, p.dim, checker);
  checker.SameDtype(p.out, p.self);
  if (!checker.ok()) return;
  const Repeated repeated = RepeatedOf(p);
  CheckShape(p.out, repeated.shape, checker);
  (p.repeats.present() ? CheckCounts : CheckNumber)(p, repeated.length, checker);
}

namespace {

constexpr int64_t kElementsOfPart = 8192;

/// Which places of the result slices have: those before `ends`, or a number of each slice.
struct RepeatedPlaces {
  std::vector<int64_t> ends;  // none: all slices have the same number
  int64_t number = 0;

  int64_t SliceOf(int64_t place) const {
    if (ends.empty()) return place / number;
    return std::upper_bound(ends.begin(), ends.end(), place) - ends.begin();
  }
  int64_t EndOf(int64_t slice) const {
    return ends.empty() ? (slice + 1) * number : ends[static_cast<size_t>(slice)];
  }
};

/// Places [begin, end) of a row, to `to` on; steps are in bytes.
template <class Bits>
void RepeatElements(const std::byte* from, int64_t from_step, const RepeatedPlaces& places,
                    int64_t begin, int64_t end, std::byte* to, int64_t to_step) {
  int64_t slice = places.SliceOf(begin);
  for (int64_t at = begin; at < end; ++slice) {
    const int64_t stop = std::min(places.EndOf(slice), end);
    if (at == stop) continue;
    Bits bits;
    std::memcpy(&bits, from + slice * from_step, sizeof(bits));
    for (; at < stop; ++at, to += to_step) std::memcpy(to, &bits, sizeof(bits));
  }
}

auto RepeaterOf(int64_t bytes) {
  return bytes == 1   ? RepeatElements<uint8_t>
         : bytes == 2 ? RepeatElements<uint16_t>
         : bytes == 4 ? RepeatElements<uint32_t>
         : bytes == 8 ? RepeatElements<uint64_t>
                      : RepeatElements<std::array<uint64_t, 2>>;
}

/// A view as slices: each begins at a place, and has elements that are all steps of one length
/// apart, or not.
struct SlicedView {
  SlicedView(const Tensor& tensor, uint32_t lead_dims)
      : place(tensor.place),
        bytes(BytesOf(tensor)),
        lead(tensor, lead_dims),
        inside(tensor.tensor().dims + lead_dims, tensor.tensor().strides + lead_dims,
               tensor.rank() - lead_dims) {}

  std::byte* At(const Buffers& buffers, int64_t slice) const {
    return place(buffers) + lead(slice) * bytes;
  }

  Place place;
  int64_t bytes;
  Offsets lead, inside;
};

/// Copies slices of `inner` elements.
void RepeatSlices(const SlicedView& from, const SlicedView& to, const Repeated& repeated,
                  const RepeatedPlaces& places, int64_t result, const Buffers& buffers) {
  const int64_t from_step = from.inside.step(), to_step = to.inside.step();
  const bool is_even = repeated.inner == 1 || (from_step != 0 && to_step != 0);
  ParallelRows(repeated.outer * result, repeated.inner, [&](int64_t row) {
    const int64_t slice = row / result * repeated.length + places.SliceOf(row % result);
    const std::byte* const source = from.At(buffers, slice);
    std::byte* const target = to.At(buffers, row);
    if (is_even) {
      return CopyStrided(source, from_step, target, to_step, repeated.inner, from.bytes);
    }
    for (int64_t i = 0; i < repeated.inner; ++i) {
      CopyStrided(source + from.inside(i) * from.bytes, 1, target + to.inside(i) * to.bytes, 1, 1,
                  from.bytes);
    }
  });
}

}  // namespace

Plan PlanRepeatInterleave(const RepeatInterleaveParams& p, const Product&) {
  const Tensor &self = p.self, &out = p.out;
  const Repeated repeated = RepeatedOf(p);
  // The length may be any then.
  if (repeated.outer == 0 || repeated.inner == 0) {
    return Nothing();
  }
  const int64_t result = p.outputSize;
  const bool counted = p.repeats.present(), flat = p.flat || self.rank() == 0;
  const uint32_t lead = flat ? 0 : *WrapDim(p.dim, self.rank());
  const uint32_t own = flat ? self.rank() : 1;  // dimensions that are repeated as one
  const SlicedView from(self, lead + own), to(out, flat ? out.rank() : lead + 1);
  const Offsets along_from(self.tensor().dims + lead, self.tensor().strides + lead, own);
  const Offsets from_rows(self, lead), to_rows(out, flat ? 0 : lead);
  const int64_t from_step = along_from.step() * from.bytes;
  const int64_t to_step = out.tensor().strides[flat ? 0 : lead] * to.bytes;
  const IndexReader reader =
      counted ? IndexReader(p.repeats, Shape{repeated.length}) : IndexReader();
  return {0,
          [=, number = p.number, repeats_at = p.repeats.place,
           repeat = RepeaterOf(from.bytes)](const Buffers& buffers) -> Status {
            RepeatedPlaces places = {{}, number};
            if (counted) {
              Status status = reader.Read(repeats_at(buffers), result + 1, false, &places.ends);
              if (!status.ok()) return status;
              int64_t all = 0;
              for (int64_t& end : places.ends) {
                if (__builtin_add_overflow(all, end, &all)) all = INT64_MAX;
                end = all;
              }
              if (all != result) {
                return Status(507035,
                              Concat("repeats value is ", all, " in all, expected ", result));
              }
            }
            if (result == 0) return {};
            if (repeated.inner != 1 || from_step == 0) {
              RepeatSlices(from, to, repeated, places, result, buffers);
              return {};
            }
            // Rows of single elements, a few of a row at a time.
            const int64_t parts = DivideUp(result, kElementsOfPart);
            const int64_t width = std::min(result, kElementsOfPart);
            ParallelRows(repeated.outer * parts, width, [&](int64_t each) {
              const int64_t row = each / parts, begin = each % parts * kElementsOfPart;
              repeat(from.place(buffers) + from_rows(row) * from.bytes, from_step, places, begin,
                     std::min(result, begin + kElementsOfPart),
                     to.place(buffers) + to_rows(row) * to.bytes + begin * to_step, to_step);
            });
            return {};
          }};
}

// The place of each element of repeats, as often as it says.
void CheckRepeatInterleaveTensor(const RepeatInterleaveTensorParams& p, Checker& checker) {
  checker.Rank(p.repeats, 1);
  CheckIndexType(p.repeats, checker);
  checker.SameDtype(p.out, p.repeats);
  if (checker.ok()) CheckShape(p.out, Shape{p.outputSize}, checker);
}

Plan PlanRepeatInterleaveTensor(const RepeatInterleaveTensorParams& p, const Product&) {
  const int64_t result = p.outputSize, step = p.out.tensor().strides[0] * BytesOf(p.out);
  const IndexReader reader(p.repeats, ShapeOf(p.repeats));
  return {0,
          [=, store = StorerOf<int64_t>(p.out.dtype()), repeats_at = p.repeats.place,
           out = p.out.place](const Buffers& buffers) -> Status {
            std::vector<int64_t> repeats, places;
            Status status = reader.Read(repeats_at(buffers), result + 1, false, &repeats);
            if (!status.ok()) return status;
            __int128 all = 0;
            for (const int64_t each : repeats) all += each;
            if (all != result) {
              return Status(507035, Concat("repeats value is ", static_cast<double>(all),
                                           " in all, expected ", result));
            }
            for (size_t i = 0; i < repeats.size(); ++i) {
              places.insert(places.end(), static_cast<size_t>(repeats[i]), static_cast<int64_t>(i));
            }
            store(places.data(), result, out(buffers), step);
            return {};
          }};
}

// The sums over what each slice along the axis was repeated to.
void CheckRepeatInterleaveGradient(const RepeatInterleaveGradientParams& p, Checker& checker) {
  const Tensor &grad = p.yGrad, &repeats = p.repeats, &out = p.out;
  CheckDim(out, p.axis, checker);
  CheckIndexType(repeats, checker);
  checker.Rank(grad, out.rank());
  if (!checker.ok()) return;
  Shape shape = ShapeOf(out);
  const uint32_t dim = *WrapDim(p.axis, out.rank());
  if (!shape.empty()) shape[dim] = grad.dim(dim);
  CheckShape(grad, shape, checker);
  const int64_t length = ExtentOf(out, p.axis).width;
  checker.That(repeats.rank() <= 1 && (repeats.count() == length || repeats.count() == 1), [&] {
    return Concat("repeats shape is ", ShapeText(repeats), ", expected (", length, ")");
  });
}

namespace {

/// Integers wrap.
template <class T>
Plan SumRepeats(const RepeatInterleaveGradientParams& p) {
  using Total = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;
  const Tensor &grad = p.yGrad, &out = p.out;
  const Extent extent = ExtentOf(out, p.axis), of = ExtentOf(grad, p.axis);
  const Rows from(grad, extent.dim), to(out, extent.dim);
  const IndexReader reader(p.repeats, Shape{extent.width});
  const auto load = LoaderOf<T>(grad.dtype());
  const auto store = StorerOf<T>(out.dtype());
  const Place grad_at = grad.place, repeats_at = p.repeats.place, out_at = out.place;
  return {0, [=](const Buffers& buffers) -> Status {
            std::vector<int64_t> repeats;
            Status status = reader.Read(repeats_at(buffers), of.width + 1, false, &repeats);
            if (!status.ok()) return status;
            const int64_t all = std::accumulate(repeats.begin(), repeats.end(), int64_t{0});
            if (all != of.width) {
              return Status(507035,
                            Concat("repeats value is ", all, " in all, expected ", of.width));
            }
            ParallelRows(extent.rows, of.width, [&](int64_t row) {
              std::vector<T> values(static_cast<size_t>(of.width)), sums;
              load(from.At(grad_at(buffers), row), from.step, of.width, values.data());
              auto next = values.begin();
              for (const int64_t repeat : repeats) {
                TreeSum<Total> sum;
                for (int64_t i = 0; i < repeat; ++i) sum.Add(static_cast<Total>(*next++));
                sums.push_back(static_cast<T>(sum.Total()));
              }
              store(sums.data(), extent.width, to.At(out_at(buffers), row), to.step);
            });
            return {};
          }};
}

}  // namespace

Plan PlanRepeatInterleaveGradient(const RepeatInterleaveGradientParams& p, const Product&) {
  const bool whole = Contains(kIntegerTypes, p.yGrad.dtype());
  return whole ? SumRepeats<int64_t>(p) : SumRepeats<double>(p);
}

}  // namespace openaclnn::supporting
