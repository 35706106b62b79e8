// SPDX-License-Identifier: Apache-2.0
// Indexing by tensors as self[i, :, j], its gradient, Take, and elements repeated.
#include <algorithm>
#include <numeric>

#include "kernels/rows.h"
#include "supporting/along.h"
#include "supporting/operators.h"
#include "supporting/places.h"
#include "supporting/reduction.h"

namespace openaclnn::supporting {
namespace {

/// An index that stands for a whole dimension is an empty one.
bool IsWhole(const Operand& index) { return index.rank() == 1 && index.dim(0) == 0; }

/// self[indices]: the dimensions before the place of the indices' common shape, that shape, and
/// those behind it. The shape stands where the indices are if they are neighbours, else first.
struct Indexed {
  Indexed(const Params& p, Checker* checker) {
    const Operand& self = p.tensors[0];
    const auto given = static_cast<uint32_t>(p.lists[0].size);
    bool gap = false, apart = false;
    for (uint32_t d = 0; d < self.rank(); ++d) {
      const bool indexed = d < given && !IsWhole(p.tensors[d + 1]);
      if (indexed) {
        apart = apart || (gap && !dims.empty());
        dims.push_back(d);
        Join(p.tensors[d + 1], checker);
      } else {
        gap = !dims.empty();
      }
    }
    const uint32_t first = dims.empty() || apart ? 0 : dims.front();
    for (uint32_t d = 0; d < self.rank(); ++d) {
      if (std::find(dims.begin(), dims.end(), d) != dims.end()) continue;
      const bool leading = d < first;
      (leading ? before : behind).push_back(self.dim(d));
      (leading ? before_steps : behind_steps).push_back(self.tensor().strides[d]);
    }
  }

  void Join(const Operand& index, Checker* checker) {
    Shape joined = common;
    const bool fits = BroadcastShape(index, &joined);
    if (checker != nullptr) {
      checker->That(fits, [&] {
        return Concat(index.name(), " shape is ", ShapeText(index),
                      ", expected one that can be broadcast with ",
                      ShapeText(common.data(), static_cast<uint32_t>(common.size())));
      });
    }
    if (fits) common = joined;
  }

  Shape ResultShape() const {
    Shape shape = before;
    shape.insert(shape.end(), common.begin(), common.end());
    shape.insert(shape.end(), behind.begin(), behind.end());
    return shape;
  }

  std::vector<uint32_t> dims;  // that are indexed
  Shape before, common, behind;
  Shape before_steps, behind_steps;  // of self, in elements
};

/// Reads the indices of a call: the offset of each element of their common shape.
struct IndexedOffsets {
  IndexedOffsets(const Params& p, const Indexed& indexed) : count(CountOf(indexed.common)) {
    for (const uint32_t d : indexed.dims) {
      parts.push_back({IndexReader(p.tensors[d + 1], indexed.common), d + 1, p.tensors[0].dim(d),
                       p.tensors[0].tensor().strides[d]});
    }
  }

  Status Read(const Buffers& buffers, std::vector<int64_t>* offsets) const {
    offsets->assign(static_cast<size_t>(count), 0);
    std::vector<int64_t> values;
    for (const Part& part : parts) {
      Status status = part.reader.Read(buffers.As<std::byte>(part.at), part.limit, true, &values);
      if (!status.ok()) return status;
      for (size_t i = 0; i < values.size(); ++i) (*offsets)[i] += values[i] * part.step;
    }
    return {};
  }

  struct Part {
    IndexReader reader;
    size_t at;
    int64_t limit, step;
  };
  int64_t count;
  std::vector<Part> parts;
};

void CheckIndices(const Params& p, Checker& checker) {
  const Operand& self = p.tensors[0];
  checker.That(p.lists[0].size <= self.rank(), [&] {
    return Concat("indices size is ", p.lists[0].size, ", expected at most the rank of ",
                  self.name(), ", ", self.rank());
  });
  for (size_t i = 0; checker.ok() && i < p.lists[0].size; ++i) {
    if (!IsWhole(p.tensors[i + 1])) CheckIndexType(p.tensors[i + 1], checker);
  }
}

}  // namespace

// self, indices; out.
void CheckIndex(const Params& p, Checker& checker) {
  const Operand& out = p.tensors.back();
  CheckIndices(p, checker);
  checker.SameDtype(out, p.tensors[0]);
  if (!checker.ok()) return;
  const Indexed indexed(p, &checker);
  const Shape shape = indexed.ResultShape();
  checker.That(shape.size() <= kMaxRank, [&] {
    return Concat("indices value makes ", shape.size(), " dimensions, expected at most 8");
  });
  // Nothing is taken by an index without elements, which looks like one for a whole dimension.
  if (!out.empty()) CheckShape(out, shape, checker);
}

Plan PlanIndex(const Params& p) {
  const Operand &self = p.tensors[0], &out = p.tensors.back();
  if (out.empty()) return {0, [](const Buffers&) -> Status { return {}; }};
  const Indexed indexed(p, nullptr);
  const IndexedOffsets index(p, indexed);
  const int64_t bytes = BytesOf(self), count = index.count;
  const int64_t rows = CountOf(indexed.before) * count, width = CountOf(indexed.behind);
  const auto rank = [](const Shape& shape) { return static_cast<uint32_t>(shape.size()); };
  const Offsets before(indexed.before.data(), indexed.before_steps.data(), rank(indexed.before));
  const size_t lead = indexed.before.size() + indexed.common.size();
  const Offsets to(out, static_cast<uint32_t>(lead));
  Shape from_steps = indexed.behind_steps, to_steps;
  for (int64_t& step : from_steps) step = WrappingProduct(step, bytes);
  for (size_t d = lead; d < out.rank(); ++d) {
    to_steps.push_back(WrappingProduct(out.tensor().strides[d], bytes));
  }
  const Walk slice(indexed.behind, {Steps(from_steps), Steps(to_steps)});
  const size_t out_at = p.tensors.size() - 1;
  return {0, [=](const Buffers& buffers) -> Status {
            std::vector<int64_t> offsets;
            Status status = index.Read(buffers, &offsets);
            if (!status.ok()) return status;
            ParallelRows(rows, width, [&](int64_t row) {
              const int64_t from = before(row / count) + offsets[static_cast<size_t>(row % count)];
              const Walk::Pointers origins = {buffers.As<std::byte>(0) + from * bytes,
                                              buffers.As<std::byte>(out_at) + to(row) * bytes};
              slice.ForRunsInOrder(origins, [&](const Walk::Pointers& at, int64_t n) {
                CopyStrided(at[0], slice.step(0) / bytes, at[1], slice.step(1) / bytes, n, bytes);
              });
            });
            return {};
          }};
}

// selfRef, indices, values. accumulate. Where no index has elements nothing is indexed.
void CheckIndexPut(const Params& p, Checker& checker) {
  CheckIndices(p, checker);
  const Operand& values = p.tensors.back();
  checker.SameDtype(values, p.tensors[0]);
  if (!checker.ok()) return;
  const Indexed indexed(p, &checker);
  if (indexed.dims.empty()) return;
  const Shape shape = indexed.ResultShape();
  Shape common = shape;
  const bool fits = BroadcastShape(values, &common) && common == shape;
  checker.That(fits || values.empty(), [&] {
    return Concat("values shape is ", ShapeText(values), ", expected one that can be broadcast to ",
                  ShapeText(shape.data(), static_cast<uint32_t>(shape.size())));
  });
}

Plan PlanIndexPut(const Params& p) {
  const Operand &self = p.tensors[0], &values = p.tensors.back();
  const Indexed indexed(p, nullptr);
  if (values.empty() || indexed.dims.empty()) {
    return {0, [](const Buffers&) -> Status { return {}; }};
  }
  const IndexedOffsets index(p, indexed);
  const auto rank = [](const Shape& shape) { return static_cast<uint32_t>(shape.size()); };
  const Offsets before(indexed.before.data(), indexed.before_steps.data(), rank(indexed.before));
  const Offsets behind(indexed.behind.data(), indexed.behind_steps.data(), rank(indexed.behind));
  const int64_t rows = CountOf(indexed.before), width = CountOf(indexed.behind);
  const Placing placing = p.integers[0] != 0 ? Placing::kAdd : Placing::kSet;
  const Placer placer(self, placing, values, indexed.ResultShape());
  const size_t values_at = p.tensors.size() - 1;
  return {0, [=](const Buffers& buffers) -> Status {
            std::vector<int64_t> offsets, places;
            Status status = index.Read(buffers, &offsets);
            if (!status.ok()) return status;
            for (int64_t row = 0; row < rows; ++row) {
              for (const int64_t offset : offsets) {
                for (int64_t i = 0; i < width; ++i) {
                  places.push_back(before(row) + offset + behind(i));
                }
              }
            }
            placer(places, buffers.As<std::byte>(values_at), buffers.As<std::byte>(0));
            return {};
          }};
}

// self, index; out, of index's shape: elements by their number in row-major order.
void CheckTake(const Params& p, Checker& checker) {
  CheckIndexType(p.tensors[1], checker);
  checker.SameDtype(p.out(), p.tensors[0]);
  CheckShape(p.out(), ShapeOf(p.tensors[1]), checker);
}

Plan PlanTake(const Params& p) {
  const Operand &self = p.tensors[0], &index = p.tensors[1], &out = p.out();
  const IndexReader reader(index, ShapeOf(index));
  const Offsets from(self, self.rank()), to(out, out.rank());
  const int64_t bytes = BytesOf(self), limit = *self.count();
  return {0, [=](const Buffers& buffers) -> Status {
            std::vector<int64_t> taken;
            Status status = reader.Read(buffers.As<std::byte>(1), limit, true, &taken);
            if (!status.ok()) return status;
            for (size_t i = 0; i < taken.size(); ++i) {
              CopyStrided(buffers.As<std::byte>(0) + from(taken[i]) * bytes, 1,
                          buffers.As<std::byte>(2) + to(static_cast<int64_t>(i)) * bytes, 1, 1,
                          bytes);
            }
            return {};
          }};
}

// selfRef, index, source: the same places written to. accumulate.
void CheckPut(const Params& p, Checker& checker) {
  const Operand &self = p.tensors[0], &index = p.tensors[1], &source = p.tensors[2];
  CheckIndexType(index, checker);
  checker.SameDtype(source, self);
  checker.That(source.count() == index.count(), [&] {
    return Concat("source shape is ", ShapeText(source), ", expected as many elements as index, ",
                  ShapeText(index));
  });
}

Plan PlanPut(const Params& p) {
  const Operand &self = p.tensors[0], &index = p.tensors[1], &source = p.tensors[2];
  const IndexReader reader(index, ShapeOf(index));
  const Offsets offsets(self, self.rank());
  const Placing placing = p.integers[0] != 0 ? Placing::kAdd : Placing::kSet;
  const Placer placer(self, placing, source, ShapeOf(source));
  const int64_t limit = *self.count();
  return {0, [=](const Buffers& buffers) -> Status {
            std::vector<int64_t> places;
            Status status = reader.Read(buffers.As<std::byte>(1), limit, true, &places);
            if (!status.ok()) return status;
            for (int64_t& place : places) place = offsets(place);
            if (!places.empty()) placer(places, buffers.As<std::byte>(2), buffers.As<std::byte>(0));
            return {};
          }};
}

namespace {

/// Along a dimension, or over the elements in row-major order.
struct Repeated {
  explicit Repeated(const Params& p) {
    const Operand& self = p.tensors[0];
    const bool flat = p.integers.size() < 2 || self.rank() == 0;
    const uint32_t dim = flat ? 0 : *WrapDim(p.integers[1], self.rank());
    length = flat ? *self.count() : self.dim(dim);
    for (uint32_t d = 0; !flat && d < self.rank(); ++d) {
      (d < dim ? outer : inner) *= d == dim ? 1 : self.dim(d);
    }
    shape = flat ? Shape{length} : ShapeOf(self);
    shape[dim] = p.integers[0];  // the size of the result
  }

  Shape shape;  // of the result
  int64_t outer = 1, length = 0, inner = 1;
};

}  // namespace

// self, (repeats); out. How long the result is, (dim), the repeats if they are a number.
void CheckRepeatInterleave(const Params& p, Checker& checker) {
  const Operand& self = p.tensors[0];
  if (p.integers.size() > 1) CheckDim(self, p.integers[1], checker);
  checker.SameDtype(p.out(), self);
  if (!checker.ok()) return;
  const Repeated repeated(p);
  CheckShape(p.out(), repeated.shape, checker);
  if (!p.values.empty()) {
    const int64_t repeats = p.values[0].integer;
    int64_t result = 0;
    const bool fits = repeats >= 0 && !__builtin_mul_overflow(repeats, repeated.length, &result);
    checker.That(fits && result == p.integers[0], [&] {
      return Concat("repeats value is ", repeats, ", expected ", p.integers[0], " of ",
                    repeated.length, " elements");
    });
    return;
  }
  const Operand& repeats = p.tensors[1];
  CheckIndexType(repeats, checker);
  checker.That(repeats.rank() <= 1 && (repeats.count() == 1 || repeats.count() == repeated.length),
               [&] {
                 return Concat("repeats shape is ", ShapeText(repeats), ", expected (1) or (",
                               repeated.length, ")");
               });
}

Plan PlanRepeatInterleave(const Params& p) {
  const Operand &self = p.tensors[0], &out = p.out();
  const Repeated repeated(p);
  const int64_t result = p.integers[0], bytes = BytesOf(self);
  const Offsets from(self, self.rank()), to(out, out.rank());
  const bool counted = p.values.empty();
  const IndexReader reader =
      counted ? IndexReader(p.tensors[1], Shape{repeated.length}) : IndexReader();
  const int64_t number = counted ? 0 : p.values[0].integer;
  const size_t out_at = p.tensors.size() - 1;
  return {
      0, [=](const Buffers& buffers) -> Status {
        std::vector<int64_t> repeats(static_cast<size_t>(repeated.length), number), sources;
        Status status;
        if (counted) {
          status = reader.Read(buffers.As<std::byte>(1), result + 1, false, &repeats);
        }
        if (!status.ok()) return status;
        for (size_t i = 0; i < repeats.size(); ++i) {
          sources.insert(sources.end(), static_cast<size_t>(repeats[i]), static_cast<int64_t>(i));
        }
        if (static_cast<int64_t>(sources.size()) != result) {
          return Status(507035,
                        Concat("repeats value is ", sources.size(), " in all, expected ", result));
        }
        ParallelRows(repeated.outer * result, repeated.inner, [&](int64_t row) {
          const int64_t source =
              row / result * repeated.length + sources[static_cast<size_t>(row % result)];
          for (int64_t i = 0; i < repeated.inner; ++i) {
            CopyStrided(buffers.As<std::byte>(0) + from(source * repeated.inner + i) * bytes, 1,
                        buffers.As<std::byte>(out_at) + to(row * repeated.inner + i) * bytes, 1, 1,
                        bytes);
          }
        });
        return {};
      }};
}

// yGrad, repeats; out: the sums over what each slice along the axis was repeated to.
void CheckRepeatInterleaveGradient(const Params& p, Checker& checker) {
  const Operand &grad = p.tensors[0], &repeats = p.tensors[1], &out = p.out();
  CheckDim(out, p.integers[0], checker);
  CheckIndexType(repeats, checker);
  checker.Rank(grad, out.rank());
  if (!checker.ok()) return;
  Shape shape = ShapeOf(out);
  const uint32_t dim = *WrapDim(p.integers[0], out.rank());
  if (!shape.empty()) shape[dim] = grad.dim(dim);
  CheckShape(grad, shape, checker);
  checker.That(repeats.count() == out.dim(dim) || repeats.count() == 1, [&] {
    return Concat("repeats shape is ", ShapeText(repeats), ", expected (", out.dim(dim), ")");
  });
}

Plan PlanRepeatInterleaveGradient(const Params& p) {
  const Operand &grad = p.tensors[0], &out = p.out();
  const Extent extent = ExtentOf(out, p.integers[0]), of = ExtentOf(grad, p.integers[0]);
  const Rows from(grad, extent.dim), to(out, extent.dim);
  const IndexReader reader(p.tensors[1], Shape{extent.width});
  const auto load = LoaderOf<double>(grad.dtype());
  const auto store = StorerOf<double>(out.dtype());
  return {0, [=](const Buffers& buffers) -> Status {
            std::vector<int64_t> repeats;
            Status status = reader.Read(buffers.As<std::byte>(1), of.width + 1, false, &repeats);
            if (!status.ok()) return status;
            const int64_t all = std::accumulate(repeats.begin(), repeats.end(), int64_t{0});
            if (all != of.width) {
              return Status(507035,
                            Concat("repeats value is ", all, " in all, expected ", of.width));
            }
            ParallelRows(extent.rows, of.width, [&](int64_t row) {
              std::vector<double> values(static_cast<size_t>(of.width)), sums;
              load(from.At(buffers.As<std::byte>(0), row), from.step, of.width, values.data());
              auto next = values.begin();
              for (const int64_t repeat : repeats) {
                TreeSum<double> sum;
                for (int64_t i = 0; i < repeat; ++i) sum.Add(*next++);
                sums.push_back(sum.Total());
              }
              store(sums.data(), extent.width, to.At(buffers.As<std::byte>(2), row), to.step);
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
