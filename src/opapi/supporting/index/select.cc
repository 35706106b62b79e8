// SPDX-License-Identifier: Apache-2.0
// Elements that are taken: IndexSelect, MaskedSelect and Nonzero.
#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>

#include "generated/index.h"
#include "kernels/index/selection.h"
#include "kernels/move/broadcast.h"
#include "kernels/rows/rows.h"
#include "supporting/along.h"
#include "supporting/places.h"
#include "supporting/unsigned.h"

namespace openaclnn::supporting {

namespace {

/// Copies slices along a dimension. In out, `given` dimensions take its place.
Selection SelectionAlong(const Tensor& self, const Tensor& out, uint32_t dim, uint32_t given) {
  // There is nothing to copy, and self's slices may be larger than out.
  if (out.empty()) return {};
  const Shape shape = ShapeOf(self), rows = ShapeOf(out);
  const Steps from(shape, self), to(rows, out);
  const uint32_t lead = std::min(dim + 1, self.rank());
  const uint32_t out_lead = self.rank() > 0 ? dim + given : out.rank();
  const Shape slice(shape.begin() + lead, shape.end());
  const Shape places(shape.begin(), shape.begin() + dim);
  const Steps from_slice(Shape(from.bytes.begin() + lead, from.bytes.end()));
  const Steps to_slice(Shape(to.bytes.begin() + out_lead, to.bytes.end()));
  return {Offsets(shape.data(), from.bytes.data(), dim), CountOf(places),
          Offsets(rows.data(), to.bytes.data(), out_lead),
          Copy(slice, from_slice, to_slice, BytesOf(self)), CountOf(slice) * BytesOf(self)};
}

/// Blocks of a walk in which some elements are chosen. Each is walked twice: to count, for where
/// those of a block go depends on the blocks before it, and to move.
class ChosenBlocks {
 public:
  explicit ChosenBlocks(const Walk& walk) : walk_(walk) {}

  /// How many there are. Calls count(at, n) for runs, then move(first, at, n, next) with the number
  /// of a run's first element and of the first that it moves; both return how many are chosen.
  template <class Count, class Move>
  int64_t operator()(const Walk::Pointers& origins, const Count& count, const Move& move) const {
    const int64_t blocks = BlockCount(walk_.count(), 16384, 256);
    if (walk_.count() == 0) return 0;
    std::vector<int64_t> begins(static_cast<size_t>(blocks) + 1);
    ParallelFor(blocks, [&](int64_t block) {
      int64_t chosen = 0;
      ForRuns(blocks, block, origins,
              [&](int64_t, const Walk::Pointers& at, int64_t n) { chosen += count(at, n); });
      begins[static_cast<size_t>(block) + 1] = chosen;
    });
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    ParallelFor(blocks, [&](int64_t block) {
      int64_t next = begins[static_cast<size_t>(block)];
      ForRuns(blocks, block, origins, [&](int64_t first, const Walk::Pointers& at, int64_t n) {
        next += move(first, at, n, next);
      });
    });
    return begins.back();
  }

 private:
  template <class Body>
  void ForRuns(int64_t blocks, int64_t block, const Walk::Pointers& origins,
               const Body& body) const {
    int64_t first = BlockBegin(walk_.count(), blocks, block);
    walk_.ForRunsOf(first, BlockBegin(walk_.count(), blocks, block + 1), Walk::kRun, origins,
                    [&](const Walk::Pointers& at, int64_t n) {
                      body(first, at, n);
                      first += n;
                    });
  }

  const Walk& walk_;
};

/// The elements that are not zero, in order: calls place(i, number) for the i-th of them, on any
/// thread, and says how many there are.
class NonzeroElements {
 public:
  explicit NonzeroElements(const Tensor& self)
      : walk_(ShapeOf(self), {Steps(ShapeOf(self), self)}),
        load_(WholeLoaderOf<double>(self.dtype(), ACL_DOUBLE)),
        is_truths_(self.dtype() == ACL_BOOL && walk_.step(0) == 1) {}

  template <class Body>
  int64_t operator()(std::byte* self, const Body& place) const {
    const auto find = [this](const Walk::Pointers& at, int64_t n, int64_t* found) {
      int64_t count = 0;
      const auto append = [&](int64_t i, bool is_chosen) {
        found[count] = i;
        count += is_chosen ? 1 : 0;
      };
      if (is_truths_) {
        for (int64_t i = 0; i < n;) {
          const int64_t end = std::min(i + kTruths, n);
          if (end - i == kTruths && AreFalse(at[0] + i)) i = end;
          for (; i < end; ++i) append(i, at[0][i] != std::byte{0});
        }
        return count;
      }
      double values[Walk::kRun];
      load_(at[0], walk_.step(0), n, values);
      for (int64_t i = 0; i < n; ++i) append(i, values[i] != 0);
      return count;
    };
    return ChosenBlocks(walk_)(
        {self},
        [&](const Walk::Pointers& at, int64_t n) -> int64_t {
          if (is_truths_) return n - std::count(at[0], at[0] + n, std::byte{0});
          int64_t found[Walk::kRun];
          return find(at, n, found);
        },
        [&](int64_t first, const Walk::Pointers& at, int64_t n, int64_t next) {
          int64_t found[Walk::kRun];
          const int64_t count = find(at, n, found);
          for (int64_t i = 0; i < count; ++i) place(next + i, first + found[i]);
          return count;
        });
  }

 private:
  static constexpr int64_t kTruths = sizeof(uint64_t);

  static bool AreFalse(const std::byte* at) {
    uint64_t truths;
    std::memcpy(&truths, at, sizeof truths);
    return truths == 0;
  }

  Walk walk_;
  LoadRow<double> load_;
  bool is_truths_;  // BOOL, one byte after the other
};

/// Writes the coordinates of ascending numbers of elements, a row of `count` for each dimension.
void WriteCoordinates(const Shape& shape, const int64_t* numbers, int64_t count, int64_t* to) {
  const size_t last = shape.size() - 1;
  const int64_t blocks = BlockCount(count, 16384, 256);
  ParallelFor(blocks, [&](int64_t block) {
    Shape line(last);  // the coordinates of the line that the numbers [begin, end) have
    int64_t begin = 0, end = 0;
    for (int64_t i = BlockBegin(count, blocks, block); i < BlockBegin(count, blocks, block + 1);
         ++i) {
      if (numbers[i] >= end) {
        int64_t rest = numbers[i] / shape[last];
        begin = rest * shape[last];
        end = begin + shape[last];
        for (size_t d = last; d-- > 0; rest /= shape[d]) line[d] = rest % shape[d];
      }
      for (size_t d = 0; d < last; ++d) to[static_cast<int64_t>(d) * count + i] = line[d];
      to[static_cast<int64_t>(last) * count + i] = numbers[i] - begin;
    }
  });
}

}  // namespace

void CheckIndexSelect(const IndexSelectParams& p, Checker& checker) {
  const Tensor &self = p.self, &index = p.index;
  CheckDim(self, p.dim, checker);
  checker.RankBetween(index, 0, 1).SameDtype(p.out, self);
  CheckIndexType(index, checker);
  checker.That(self.rank() > 0 || index.count() == 1, [&] {
    return Concat("index shape is ", ShapeText(index),
                  ", expected 1 element, for self is a scalar");
  });
  if (!checker.ok()) return;
  Shape shape = ShapeOf(self);
  if (!shape.empty()) shape[*WrapDim(p.dim, self.rank())] = *index.count();
  CheckShape(p.out, shape, checker);
}

namespace {

/// Slices of self for the elements of index, in order; a negative one counts from the end.
struct Selecting {
  const Tensor &self, &index, &out;
  uint32_t dim, given;
  bool from_end;
};

Plan MakeSelection(const Selecting& of) {
  const Tensor &self = of.self, &index = of.index, &out = of.out;
  const int64_t limit = self.rank() > 0 ? self.dim(of.dim) : 1;
  const int64_t step = self.rank() > 0 ? self.tensor().strides[of.dim] * BytesOf(self) : 0;
  const Selection selection = SelectionAlong(self, out, of.dim, of.given);
  const IndexReader reader(index, ShapeOf(index));
  const bool from_end = of.from_end;
  const Place self_at = self.place, index_at = index.place, out_at = out.place;
  return {0, [=](const Buffers& buffers) -> Status {
            std::vector<int64_t> offsets;
            Status status = reader.Read(index_at(buffers), limit, from_end, &offsets);
            if (!status.ok()) return status;
            for (int64_t& offset : offsets) offset *= step;
            selection(offsets, self_at(buffers), out_at(buffers));
            return {};
          }};
}

}  // namespace

Plan PlanIndexSelect(const IndexSelectParams& p, const Product&) {
  const uint32_t dim = *WrapDim(p.dim, p.self.rank());
  return MakeSelection({p.self, p.index, p.out, dim, 1, false});
}

void CheckGatherV2(const GatherV2Params& p, Checker& checker) {
  const Tensor &self = p.self, &index = p.index;
  CheckDim(self, p.dim, checker);
  checker.RankBetween(self, 1, kMaxRank).SameDtype(p.out, self);
  CheckIndexType(index, checker);
  checker.That(self.rank() + index.rank() <= kMaxRank + 1, [&] {
    return Concat("index rank is ", index.rank(), ", expected a result of at most ", kMaxRank,
                  " dimensions");
  });
  if (!checker.ok()) return;
  const uint32_t dim = *WrapDim(p.dim, self.rank());
  Shape shape;
  for (uint32_t i = 0; i < dim; ++i) shape.push_back(self.dim(i));
  for (uint32_t i = 0; i < index.rank(); ++i) shape.push_back(index.dim(i));
  for (uint32_t i = dim + 1; i < self.rank(); ++i) shape.push_back(self.dim(i));
  CheckShape(p.out, shape, checker);
}

Plan PlanGatherV2(const GatherV2Params& p, const Product&) {
  const uint32_t dim = *WrapDim(p.dim, p.self.rank());
  return MakeSelection({p.self, p.index, p.out, dim, p.index.rank(), true});
}

void CheckMaskedSelect(const MaskedSelectParams& p, Checker& checker) {
  const Tensor &self = p.self, &mask = p.mask, &out = p.out;
  checker.That(mask.dtype() == ACL_BOOL || mask.dtype() == ACL_UINT8,
               [&] { return DtypeIs(mask, "BOOL, UINT8"); });
  checker.SameDtype(out, self).Rank(out, 1);
  Shape shape = ShapeOf(self);
  const bool fits = BroadcastShape(mask, &shape);
  checker.That(fits, [&] {
    return Concat("mask shape is ", ShapeText(mask), ", expected one that can be broadcast with ",
                  ShapeText(self));
  });
  const auto count = ElementCount(shape.data(), static_cast<uint32_t>(shape.size()));
  checker.That(!fits || (count.has_value() && out.dim(0) >= *count), [&] {
    return Concat("out shape is ", ShapeText(out), ", expected room for the elements of ",
                  ShapeText(shape.data(), static_cast<uint32_t>(shape.size())));
  });
}

// The number of elements becomes out's shape.
Plan PlanMaskedSelect(const MaskedSelectParams& p, const Product&) {
  Shape shape = ShapeOf(p.self);
  BroadcastShape(p.mask, &shape);
  BroadcastShape(p.mask, &shape);
  const Walk walk(shape, {Steps(shape, p.self), Steps(shape, p.mask)});
  const int64_t bytes = BytesOf(p.out), out_step = p.out.tensor().strides[0] * bytes;
  const aclTensor* handle = p.out.handle;
  const Place self = p.self.place, mask = p.mask.place, out_at = p.out.place;
  return {0, [=](const Buffers& buffers) -> Status {
            std::byte* const out = out_at(buffers);
            const auto count = [&](const Walk::Pointers& at, int64_t n) {
              int64_t chosen = 0;
              for (int64_t i = 0; i < n; ++i) {
                chosen += at[1][i * walk.step(1)] != std::byte{0} ? 1 : 0;
              }
              return chosen;
            };
            const auto move = [&](int64_t, const Walk::Pointers& at, int64_t n, int64_t next) {
              int64_t offsets[Walk::kRun], chosen = 0;
              for (int64_t i = 0; i < n; ++i) {
                offsets[chosen] = i * walk.step(0);
                chosen += at[1][i * walk.step(1)] != std::byte{0} ? 1 : 0;
              }
              PickElements(at[0], offsets, chosen, out + next * out_step, out_step, bytes);
              return chosen;
            };
            const int64_t total = ChosenBlocks(walk)({self(buffers), mask(buffers)}, count, move);
            Meta()->set_view_shape(handle, &total, 1);
            return {};
          }};
}

void CheckNonzero(const NonzeroParams& p, Checker& checker) {
  const Tensor &self = p.self, &out = p.out;
  checker.That(out.dtype() == ACL_INT64, [&] { return DtypeIs(out, "INT64"); });
  // The rows of a scalar have no elements: torch-npu makes none for one that is 0.
  const bool room = self.rank() == 0 || out.dim(0) >= *self.count();
  checker.That(out.rank() == 2 && room && out.dim(1) == self.rank(), [&] {
    return Concat("out shape is ", ShapeText(out), ", expected (", *self.count(), ", ", self.rank(),
                  ")");
  });
}

// The number of rows becomes out's shape.
Plan PlanNonzero(const NonzeroParams& p, const Product&) {
  const Tensor &self = p.self, &out = p.out;
  const Shape shape = ShapeOf(self);
  const int64_t row_step = out.tensor().strides[0], column_step = out.tensor().strides[1];
  const NonzeroElements elements(self);
  const aclTensor* handle = p.out.handle;
  const Place self_at = self.place, out_at = p.out.place;
  return {0, [=](const Buffers& buffers) -> Status {
            auto* const rows = reinterpret_cast<int64_t*>(out_at(buffers));
            const int64_t found = elements(self_at(buffers), [&](int64_t row, int64_t number) {
              for (size_t d = shape.size(); d-- > 0; number /= shape[d]) {
                rows[row * row_step + static_cast<int64_t>(d) * column_step] = number % shape[d];
              }
            });
            const int64_t dims[] = {found, static_cast<int64_t>(shape.size())};
            Meta()->set_view_shape(handle, dims, 2);
            return {};
          }};
}

// As Nonzero, with a row for each dimension.
void CheckNonzeroV2(const NonzeroV2Params& p, Checker& checker) {
  const Tensor &self = p.self, &out = p.out;
  const int64_t count = *self.count();
  checker.That(out.dtype() == ACL_INT64, [&] { return DtypeIs(out, "INT64"); });
  checker.That(out.rank() == 2 && out.dim(0) == self.rank() && out.dim(1) >= count, [&] {
    return Concat("out shape is ", ShapeText(out), ", expected (", self.rank(), ", ", count, ")");
  });
  if (!checker.ok() || out.empty()) return;
  const int64_t* strides = out.tensor().strides;
  checker.That(strides[1] == 1 && (out.dim(0) == 1 || strides[0] == out.dim(1)), [&] {
    return Concat("out strides is ", ShapeText(out.given_strides(), 2),
                  ", expected a dense tensor");
  });
}

// The rows are as long as there are places, and follow each other.
Plan PlanNonzeroV2(const NonzeroV2Params& p, const Product&) {
  const Tensor& self = p.self;
  const Shape shape = ShapeOf(self);
  const int64_t count = *self.count();
  const NonzeroElements elements(self);
  const aclTensor* handle = p.out.handle;
  const Place self_at = self.place, out_at = p.out.place;
  return {0, [=](const Buffers& buffers) -> Status {
            auto* const to = reinterpret_cast<int64_t*>(out_at(buffers));
            // The numbers are the coordinates where there is one dimension. Only as much memory is
            // touched as there are numbers: filled with zeros, it took two thirds of the time that
            // 3 M truth values take of which none is true.
            const auto own = std::make_unique_for_overwrite<int64_t[]>(
                shape.size() > 1 ? static_cast<size_t>(count) : 0);
            int64_t* const numbers = shape.size() == 1 ? to : own.get();
            const int64_t found = elements(self_at(buffers), [&](int64_t i, int64_t number) {
              if (!shape.empty()) numbers[i] = number;
            });
            if (shape.size() > 1) WriteCoordinates(shape, numbers, found, to);
            const int64_t dims[] = {static_cast<int64_t>(shape.size()), found};
            Meta()->set_view_shape(handle, dims, 2);
            return {};
          }};
}

}  // namespace openaclnn::supporting
