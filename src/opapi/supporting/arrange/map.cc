// SPDX-License-Identifier: Apache-2.0
// Operators that map the coordinates of their output, one dimension apart from the others: Flip,
// Roll, paddings and repeated elements; gradients of paddings.
#include <algorithm>
#include <vector>

#include "generated/arrange.h"
#include "kernels/move/broadcast.h"
#include "kernels/rows/rows.h"
#include "supporting/complex.h"
#include "supporting/in_turn.h"
#include "supporting/tree_sum.h"

namespace openaclnn::supporting {
namespace {

/// Neighbours along a dimension of out that come from places of self as far apart from each other,
/// or from nowhere.
struct Stretch {
  int64_t to, count;
  int64_t from, step;  // from < 0: nowhere

  int64_t From(int64_t coordinate) const { return from + (coordinate - to) * step; }
};

/// Where the coordinates of out along a dimension come from: a few stretches, however many they
/// are.
struct Map {
  int64_t length = 0;
  std::vector<Stretch> stretches;

  /// None where count is not positive.
  void Append(int64_t count, int64_t from, int64_t step) {
    if (count <= 0) return;
    stretches.push_back({length, count, from, count == 1 ? 0 : step});
    length += count;
  }
  void AppendNowhere(int64_t count) { Append(count, -1, 0); }
  /// Whether it is one element that comes from one.
  bool IsOne() const { return length == 1 && stretches.front().from == 0; }
  /// Negative: from nowhere.
  int64_t From(int64_t coordinate) const {
    const auto holds = [=](const Stretch& each) { return coordinate < each.to + each.count; };
    return std::find_if(stretches.begin(), stretches.end(), holds)->From(coordinate);
  }
};

/// The 0 <= shift < length that rolls as far.
int64_t ShiftWithin(int64_t shift, int64_t length) {
  const int64_t rest = shift % length;
  return rest < 0 ? rest + length : rest;
}

/// The map of a roll by 0 <= shift < length.
Map Rolled(int64_t length, int64_t shift) {
  Map map;
  map.Append(shift, length - shift, 1);
  map.Append(length - shift, 0, 1);
  return map;
}

/// The bytes of an element that comes from nowhere.
using Fill = std::array<std::byte, 16>;

/// Where row `row` of out's leading dimensions lies in self, in elements; nothing: nowhere.
std::optional<int64_t> SourceRow(const std::vector<Map>& maps, const Shape& strides, int64_t row) {
  int64_t offset = 0;
  for (size_t d = maps.size() - 1; d-- > 0;) {
    const int64_t from = maps[d].From(row % maps[d].length);
    if (from < 0) return std::nullopt;
    offset += from * strides[d];
    row /= maps[d].length;
  }
  return offset;
}

Plan MakeMapped(const Tensor& self, const Tensor& out, std::vector<Map> maps,
                const Fill& fill = {}) {
  const int64_t bytes = BytesOf(out);
  Shape strides(self.tensor().strides, self.tensor().strides + self.rank());
  if (maps.empty()) {  // a scalar is a row of one
    maps.push_back(Rolled(1, 0));
    strides.push_back(0);
  }
  Shape to_strides(out.tensor().strides, out.tensor().strides + out.rank());
  if (to_strides.empty()) to_strides.push_back(0);
  // Last dimensions of one element that stay as they are would make a row of each element.
  while (maps.size() > 1 && maps.back().IsOne()) {
    maps.pop_back();
    strides.pop_back();
    to_strides.pop_back();
  }
  const auto lead = static_cast<uint32_t>(maps.size() - 1);
  const int64_t width = maps.back().length;
  const int64_t rows = width == 0 ? 0 : *out.count() / width;
  const Offsets to(out, lead);
  const int64_t from_step = strides.back(), to_step = to_strides.back();
  const std::vector<Stretch> stretches = maps.back().stretches;
  const Place self_at = self.place, out_at = out.place;
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(rows, width, [&](int64_t row) {
              const auto base = SourceRow(maps, strides, row);
              std::byte* const out_row = out_at(buffers) + to(row) * bytes;
              for (const Stretch& each : stretches) {
                const bool nowhere = !base || each.from < 0;
                const std::byte* const from =
                    nowhere ? fill.data()
                            : self_at(buffers) + (*base + each.from * from_step) * bytes;
                CopyStrided(from, nowhere ? 0 : each.step * from_step,
                            out_row + each.to * to_step * bytes, to_step, each.count, bytes);
              }
            });
            return {};
          }};
}

/// Calls use(coordinate of out) for each that comes from a coordinate of self, in order.
template <class Use>
void EachUser(const Map& map, int64_t of, const Use& use) {
  for (const Stretch& each : map.stretches) {
    if (each.step == 0) {
      for (int64_t i = 0; each.from == of && i < each.count; ++i) use(each.to + i);
      continue;
    }
    const int64_t steps = (of - each.from) * each.step;  // of 1 or -1
    if (steps >= 0 && steps < each.count) use(each.to + steps);
  }
}

constexpr int64_t kInSequence = 64;  // terms of the tree that are added one after the other

/// How many elements of out come from one of self, at most.
int64_t MostUsers(const std::vector<Map>& maps) {
  int64_t most = 1;
  for (const Map& map : maps) {
    int64_t own = 0;
    for (const Stretch& each : map.stretches) own += each.step == 0 ? each.count : 1;
    if (__builtin_mul_overflow(most, own, &most)) return INT64_MAX;
  }
  return most;
}

/// Adds a row of gradients to those of the elements that they come from, in order.
void AddUsers(const Map& map, const double* gradients, double* sums) {
  for (const Stretch& each : map.stretches) {
    const double* const from = gradients + each.to;
    double* const to = sums + each.from;
    if (each.step == 1) {
      for (int64_t i = 0; i < each.count; ++i) to[i] += from[i];
    } else {
      for (int64_t i = 0; i < each.count; ++i) to[i * each.step] += from[i];
    }
  }
}

/// The gradient by rows of self, each of which gathers the rows that come from it. Sums of at most
/// kInSequence terms are added in order.
Plan MakeGradientRows(const Tensor& grad, const Tensor& out, std::vector<Map> maps) {
  const int64_t grad_bytes = BytesOf(grad), out_bytes = BytesOf(out);
  const uint32_t lead = out.rank() - 1;
  const Shape dims = ShapeOf(out);
  const Shape strides(grad.tensor().strides, grad.tensor().strides + grad.rank());
  const int64_t width = dims[lead], rows = width == 0 ? 0 : *out.count() / width;
  const int64_t from_step = strides[lead] * grad_bytes;
  const int64_t to_step = out.tensor().strides[lead] * out_bytes;
  struct Room {
    std::vector<int64_t> offsets, next;  // of rows, in elements
    std::vector<double> gradients, sums;
  };
  return {
      0,
      [=, maps = std::move(maps), to = Offsets(out, lead),
       load = LoaderOf<double>(PartOf(grad.dtype())), store = StorerOf<double>(PartOf(out.dtype())),
       grad_at = grad.place, out_at = out.place](const Buffers& buffers) -> Status {
        const Map& along = maps[lead];
        ParallelRowsIn<Room>(rows, along.length, [&](int64_t row, Room* room) {
          room->offsets.assign(1, 0);
          int64_t rest = row;
          for (size_t d = lead; d-- > 0; rest /= dims[d]) {
            room->next.clear();
            EachUser(maps[d], rest % dims[d], [&](int64_t user) {
              for (const int64_t offset : room->offsets) {
                room->next.push_back(offset + user * strides[d]);
              }
            });
            room->offsets.swap(room->next);
          }
          room->gradients.resize(static_cast<size_t>(along.length));
          room->sums.assign(static_cast<size_t>(width), 0);
          for (const int64_t offset : room->offsets) {
            load(grad_at(buffers) + offset * grad_bytes, from_step, along.length,
                 room->gradients.data());
            AddUsers(along, room->gradients.data(), room->sums.data());
          }
          store(room->sums.data(), width, out_at(buffers) + to(row) * out_bytes, to_step);
        });
        return {};
      }};
}

/// gradInput = for each element of self, the sum of the gradients of those that come from it.
Plan MakeMappedGradient(const Tensor& grad, const Tensor& out, std::vector<Map> maps) {
  const int64_t grad_bytes = BytesOf(grad), out_bytes = BytesOf(out);
  const Shape dims = ShapeOf(out);
  const Shape strides(grad.tensor().strides, grad.tensor().strides + grad.rank());
  const Offsets to(out, out.rank());
  const auto load = LoaderOf<double>(PartOf(grad.dtype()));
  const auto store = StorerOf<double>(PartOf(out.dtype()));
  const int64_t count = *out.count();
  const Place grad_at = grad.place, out_at = out.place;
  if (MostUsers(maps) <= kInSequence && out.rank() > 0) return MakeGradientRows(grad, out, maps);
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(count, 8, [&](int64_t index) {
              std::vector<int64_t> offsets = {0};
              int64_t rest = index;
              for (size_t d = dims.size(); d-- > 0; rest /= dims[d]) {
                std::vector<int64_t> next;
                EachUser(maps[d], rest % dims[d], [&](int64_t user) {
                  for (const int64_t offset : offsets) next.push_back(offset + user * strides[d]);
                });
                offsets = std::move(next);
              }
              TreeSum<double> sum;
              for (const int64_t offset : offsets) {
                double value = 0;
                load(grad_at(buffers) + offset * grad_bytes, 0, 1, &value);
                sum.Add(value);
              }
              const double total = sum.Total();
              store(&total, 1, out_at(buffers) + to(index) * out_bytes, 0);
            });
            return {};
          }};
}

void CheckDims(const Tensor& self, const IntList& dims, Checker& checker) {
  std::array<bool, kMaxRank> seen{};
  for (const int64_t dim : dims.values()) {
    const auto wrapped = WrapDim(dim, self.rank());
    checker.That(wrapped && !seen[*wrapped], [&] {
      return Concat(dims.name(), " value is ",
                    ShapeText(dims.values().data(), static_cast<uint32_t>(dims.values().size())),
                    ", expected dimensions of self, ", ShapeText(self), ", each once");
    });
    if (wrapped) seen[*wrapped] = true;
  }
}

/// Before and after dimension d, as the pairs of a padding say, which begin with the last
/// dimension.
std::pair<int64_t, int64_t> PadOf(const IntList& pads, uint32_t rank, uint32_t d) {
  const auto padding = pads.values();
  const size_t pair = 2 * (rank - 1 - d);
  if (pair + 1 >= padding.size()) return {0, 0};
  return {padding[pair], padding[pair + 1]};
}

Shape PaddedShape(const IntList& padding, const Operand& self, Checker& checker) {
  Shape shape = ShapeOf(self);
  for (uint32_t d = 0; d < self.rank(); ++d) {
    const auto pads = PadOf(padding, self.rank(), d);
    const int64_t before = pads.first, after = pads.second;  // clang 14 captures no bindings
    int64_t length = 0;
    const bool fits = !__builtin_add_overflow(shape[d], before, &length) &&
                      !__builtin_add_overflow(length, after, &length) && length >= 0;
    checker.That(fits, [&] {
      return Concat(padding.name(), " value is ", before, " and ", after, " for dimension ", d,
                    ", expected a result that is not negative");
    });
    if (fits) shape[d] = length;
  }
  return shape;
}

/// How many of self a negative pad cuts off.
int64_t CutBy(int64_t pad) { return pad >= 0 ? 0 : pad == INT64_MIN ? INT64_MAX : -pad; }

/// The pads of a reflection are shorter than the dimension; those of a replication need elements.
std::vector<Map> PadMaps(const IntList& padding, const Operand& self, bool reflect) {
  std::vector<Map> maps;
  for (uint32_t d = 0; d < self.rank(); ++d) {
    const auto [before, after] = PadOf(padding, self.rank(), d);
    const int64_t length = self.dim(d), last = length - 1;
    const int64_t padded = length + before + after;  // which fits, as PaddedShape has shown
    const int64_t lead = std::clamp<int64_t>(before, 0, padded), first = CutBy(before);
    Map map;
    map.Append(lead, reflect ? before : 0, reflect ? -1 : 0);
    map.Append(std::min(length - first, padded - lead), first, 1);
    map.Append(padded - map.length, reflect ? last - (std::max(first, length) - last) : last,
               reflect ? -1 : 0);
    maps.push_back(std::move(map));
  }
  return maps;
}

/// dims: how many of the last dimensions the padding is of.
template <class P>
void CheckMirror(const P& p, const Operand& self, const Operand& padded, Checker& checker) {
  const auto dims = static_cast<size_t>(p.dims);
  const size_t given = p.padding.values().size();
  checker.That(given == 2 * dims,
               [&] { return Concat("padding size is ", given, ", expected ", 2 * dims); });
  checker.RankBetween(self, static_cast<uint32_t>(dims) + 1, static_cast<uint32_t>(dims) + 2);
  if (!checker.ok()) return;
  const Shape shape = PaddedShape(p.padding, self, checker);
  for (uint32_t d = 0; d < self.rank(); ++d) {
    const auto pads = PadOf(p.padding, self.rank(), d);
    const int64_t before = pads.first, after = pads.second;
    const int64_t longest = std::max(before, after);
    checker.That(longest <= 0 || (p.reflects ? longest < self.dim(d) : self.dim(d) > 0), [&] {
      return Concat("padding value is ", before, " and ", after, " for dimension ", d,
                    ", expected less than its length, ", self.dim(d));
    });
  }
  if (checker.ok()) CheckShape(padded, shape, checker);
}

}  // namespace

void CheckFlip(const FlipParams& p, Checker& checker) {
  CheckDims(p.self, p.dims, checker);
  checker.SameShapeAndDtype(p.out, p.self);
}

Plan PlanFlip(const FlipParams& p, const Product&) {
  if (p.out.empty()) return Nothing();
  std::vector<Map> maps;
  for (uint32_t d = 0; d < p.self.rank(); ++d) {
    const auto dims = p.dims.values();
    const bool flipped = std::any_of(
        dims.begin(), dims.end(), [&](int64_t dim) { return *WrapDim(dim, p.self.rank()) == d; });
    const int64_t length = p.self.dim(d);
    maps.emplace_back().Append(length, flipped ? length - 1 : 0, flipped ? -1 : 1);
  }
  return MakeMapped(p.self, p.out, maps);
}

// Without dims the elements in order are rolled by one shift.
void CheckRoll(const RollParams& p, Checker& checker) {
  const size_t shifts = p.shifts.values().size(), dims = p.dims.values().size();
  checker.That(shifts == (dims == 0 ? 1 : dims), [&] {
    return Concat("shifts size is ", shifts, ", expected ", dims == 0 ? 1 : dims);
  });
  for (const int64_t dim : p.dims.values()) {
    checker.That(WrapDim(dim, p.x.rank()).has_value(), [&] {
      return Concat("dims value is ", dim, ", expected a dimension of x, ", ShapeText(p.x));
    });
  }
  checker.SameShapeAndDtype(p.out, p.x);
}

Plan PlanRoll(const RollParams& p, const Product&) {
  const Tensor &self = p.x, &out = p.out;
  if (out.empty()) return Nothing();
  const auto shifts = p.shifts.values(), dims = p.dims.values();
  if (!dims.empty()) {
    std::vector<Map> maps;
    for (uint32_t d = 0; d < self.rank(); ++d) {
      const int64_t length = self.dim(d);
      int64_t shift = 0;  // by all that are given for the dimension
      for (size_t k = 0; k < dims.size(); ++k) {
        if (*WrapDim(dims[k], self.rank()) != d) continue;
        // Less one length, which rolls as far: the sum itself may overflow.
        shift = ShiftWithin(shift - (length - ShiftWithin(shifts[k], length)), length);
      }
      maps.push_back(Rolled(length, shift));
    }
    return MakeMapped(self, out, maps);
  }
  const int64_t count = *self.count(), bytes = BytesOf(self);
  const int64_t shift = ShiftWithin(shifts[0], count);
  const uint32_t last = std::max<uint32_t>(self.rank(), 1) - 1;
  const int64_t width = self.rank() > 0 ? self.dim(last) : 1;
  const int64_t from_step = self.rank() > 0 ? self.tensor().strides[last] : 0;
  const int64_t to_step = out.rank() > 0 ? out.tensor().strides[last] : 0;
  const Offsets from(self, self.rank()), to(out, out.rank());
  const Place self_at = self.place, out_at = out.place;
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(count / width, width, [&](int64_t row) {
              for (int64_t i = row * width; i < (row + 1) * width;) {
                const int64_t source = i < shift ? i - shift + count : i - shift;
                // To the end of a line of out or of self.
                const int64_t run = width - std::max(i % width, source % width);
                CopyStrided(self_at(buffers) + from(source) * bytes, from_step,
                            out_at(buffers) + to(i) * bytes, to_step, run, bytes);
                i += run;
              }
            });
            return {};
          }};
}

void CheckConstantPad(const ConstantPadParams& p, Checker& checker) {
  const Tensor& self = p.self;
  checker.That(!p.value.complex() || IsComplex(self), [&] {
    return Concat(p.value.name, " dtype is ", DtypeText(p.value.dtype), ", expected a real type");
  });
  const size_t given = p.pad.values().size();
  checker.That(given % 2 == 0 && given <= 2 * size_t{self.rank()}, [&] {
    return Concat("padding size is ", given, ", expected an even number up to ", 2 * self.rank());
  });
  checker.SameDtype(p.out, self);
  if (!checker.ok()) return;
  const Shape shape = PaddedShape(p.pad, self, checker);
  CheckShape(p.out, shape, checker);
}

Plan PlanConstantPad(const ConstantPadParams& p, const Product&) {
  const Tensor& self = p.self;
  if (p.out.empty()) return Nothing();
  std::vector<Map> maps;
  for (uint32_t d = 0; d < self.rank(); ++d) {
    const int64_t before = PadOf(p.pad, self.rank(), d).first;
    const int64_t length = p.out.dim(d);
    const int64_t lead = std::clamp<int64_t>(before, 0, length);
    Map map;
    map.AppendNowhere(lead);
    const int64_t first = CutBy(before);
    map.Append(std::min(length - lead, self.dim(d) - first), first, 1);
    map.AppendNowhere(length - map.length);
    maps.push_back(std::move(map));
  }
  return MakeMapped(self, p.out, maps, ElementOf(p.out.dtype(), p.value));
}

void CheckMirrorPad(const MirrorPadParams& p, Checker& checker) {
  checker.SameDtype(p.out, p.self);
  CheckMirror(p, p.self, p.out, checker);
}

Plan PlanMirrorPad(const MirrorPadParams& p, const Product&) {
  if (p.out.empty()) return Nothing();
  return MakeMapped(p.self, p.out, PadMaps(p.padding, p.self, p.reflects));
}

void CheckMirrorPadGradient(const MirrorPadGradientParams& p, Checker& checker) {
  CheckMirror(p, p.self, p.gradOutput, checker);
  CheckHolds(p.gradOutput, p.gradInput, checker);
  CheckShape(p.gradInput, ShapeOf(p.self), checker);
}

Plan PlanMirrorPadGradient(const MirrorPadGradientParams& p, const Product&) {
  if (p.gradInput.empty()) return Nothing();
  return ForParts(
      p, p.gradOutput, p.gradInput,
      MakeMappedGradient(p.gradOutput, p.gradInput, PadMaps(p.padding, p.self, p.reflects)));
}

}  // namespace openaclnn::supporting
