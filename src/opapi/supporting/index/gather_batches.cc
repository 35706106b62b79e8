// SPDX-License-Identifier: Apache-2.0
// GatherV3: slices along a dimension, of each batch by indices of its own.
#include "generated/index.h"
#include "kernels/index/selection.h"
#include "supporting/along.h"
#include "supporting/places.h"

namespace openaclnn::supporting {
namespace {

/// How many of the first dimensions are batches; nothing if it is no number of them.
std::optional<uint32_t> BatchesOf(const GatherV2Params& p, uint32_t dim) {
  const int64_t most = std::min(dim, p.index.rank());
  const int64_t given = p.batchDims < 0 ? p.batchDims + p.index.rank() : p.batchDims;
  if (given < 0 || given > most) return {};
  return static_cast<uint32_t>(given);
}

/// One number for each dimension of the result: of self's before dim, the index's own, those
/// behind.
Shape Together(const Shape& before, const Shape& own, const Shape& behind) {
  Shape all = before;
  all.insert(all.end(), own.begin(), own.end());
  all.insert(all.end(), behind.begin(), behind.end());
  return all;
}

Shape Part(const Shape& of, size_t begin, size_t end) {
  return Shape(of.begin() + static_cast<ptrdiff_t>(begin),
               of.begin() + static_cast<ptrdiff_t>(end));
}

}  // namespace

void CheckGatherV3(const GatherV2Params& p, Checker& checker) {
  const Tensor &self = p.self, &index = p.index;
  checker.RankBetween(self, 1, kMaxRank).SameDtype(p.out, self);
  CheckDim(self, p.dim, checker);
  CheckIndexType(index, checker);
  if (!checker.ok()) return;
  const uint32_t dim = *WrapDim(p.dim, self.rank());
  const auto batches = BatchesOf(p, dim);
  checker.That(batches.has_value(), [&] {
    return Concat("batchDims value is ", p.batchDims, ", expected at most dim, ", dim,
                  ", and index's rank, ", index.rank());
  });
  if (!checker.ok()) return;
  checker.That(self.rank() + index.rank() - *batches <= kMaxRank + 1, [&] {
    return Concat("index rank is ", index.rank(), ", expected a result of at most ", kMaxRank,
                  " dimensions");
  });
  for (uint32_t i = 0; i < *batches; ++i) {
    checker.That(index.dim(i) == self.dim(i), [&] {
      return Concat("index shape is ", ShapeText(index), ", expected its first ", *batches,
                    " dimensions to be self's, ", ShapeText(self));
    });
  }
  if (!checker.ok()) return;
  const Shape from = ShapeOf(self), places = ShapeOf(index);
  CheckShape(p.out,
             Together(Part(from, 0, dim), Part(places, *batches, places.size()),
                      Part(from, dim + 1, from.size())),
             checker);
}

Plan PlanGatherV3(const GatherV2Params& p, const Product& product) {
  const Tensor &self = p.self, &index = p.index;
  const uint32_t dim = *WrapDim(p.dim, self.rank()), batches = *BatchesOf(p, dim);
  if (batches == 0) return PlanGatherV2(p, product);
  const Shape shape = ShapeOf(p.out);
  const Shape from = Steps(ShapeOf(self), self).bytes, places = Steps(ShapeOf(index), index).bytes;
  const Shape of_self = Together(Part(from, 0, dim), Shape(places.size() - batches),
                                 Part(from, dim + 1, from.size()));
  const Shape of_index = Together(Together(Part(places, 0, batches), Shape(dim - batches),
                                           Part(places, batches, places.size())),
                                  Shape(from.size() - dim - 1), {});
  const Walk walk(shape, {Steps(of_self), Steps(of_index), Steps(shape, p.out)});
  const IndexReader reader(index, ShapeOf(index));
  const auto load = LoaderOf<int64_t>(index.dtype());
  const int64_t limit = self.dim(dim), along = from[dim], bytes = BytesOf(self);
  const Place self_at = self.place, index_at = index.place, out_at = p.out.place;
  return {0, [=](const Buffers& buffers) -> Status {
            Status status = reader.Check(index_at(buffers), limit, true);
            if (!status.ok()) return status;
            const Walk::Pointers origins = {self_at(buffers), index_at(buffers), out_at(buffers)};
            walk.ForRuns(origins, [&](const Walk::Pointers& at, int64_t n) {
              int64_t offsets[Walk::kRun];
              load(at[1], walk.step(1), n, offsets);
              for (int64_t i = 0; i < n; ++i) {
                const int64_t place = offsets[i] + (offsets[i] < 0 ? limit : 0);
                offsets[i] = place * along + i * walk.step(0);
              }
              PickElements(at[0], offsets, n, at[2], walk.step(2), bytes);
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
