// SPDX-License-Identifier: Apache-2.0
// Gather: out[…, i, …] = self[…, index[…, i, …], …].
#include <algorithm>

#include "generated/index.h"
#include "kernels/index/selection.h"
#include "kernels/move/broadcast.h"
#include "supporting/along.h"
#include "supporting/places.h"

namespace openaclnn::supporting {
namespace {

/// Elements of self at the places of an index, which are in range.
class Gathering {
 public:
  Gathering(const GatherParams& p, uint32_t dim)
      : bytes_(BytesOf(p.self)),
        limit_(p.self.rank() > 0 ? p.self.dim(dim) : 1),
        load_(LoaderOf<int64_t>(p.index.dtype())) {
    const Tensor& self = p.self;
    const Shape shape = ShapeOf(p.index);
    Shape steps(shape.size());
    for (uint32_t i = 0; i < steps.size() && i < self.rank(); ++i) {
      steps[i] = i == dim ? 0 : WrappingProduct(self.tensor().strides[i], bytes_);
    }
    if (self.rank() > 0) along_ = self.tensor().strides[dim] * bytes_;
    // For what is asked for early: of a longer row no place is foreseen.
    constexpr int64_t kLongest = int64_t{1} << 40;
    if (self.rank() > 0) row_bytes_ = std::min(limit_, kLongest) * bytes_;
    walk_ = Walk(shape, {Steps(steps), Steps(shape, p.index), Steps(shape, p.out)});
    index_bytes_ = IndexReader::DenseBytes(p.index, walk_.step(1));
  }

  int64_t limit() const { return limit_; }

  /// `from_end`: some of the indices are negative, and count from the end.
  void operator()(const Walk::Pointers& origins, bool from_end) const {
    if (index_bytes_ == 0 || from_end) {
      return walk_.ForRuns(origins,
                           [&](const Walk::Pointers& at, int64_t n) { PickConverted(at, n); });
    }
    const int64_t count = walk_.count();
    if (count == 0) return;
    const int64_t blocks = BlockCount(count, 16384, 1024);
    ParallelFor(blocks, [&](int64_t block) {
      Walk::Pointers found{};  // a run that waits for the next one to be known
      int64_t length = 0;
      walk_.ForRunsOf(BlockBegin(count, blocks, block), BlockBegin(count, blocks, block + 1), count,
                      origins, [&](const Walk::Pointers& at, int64_t n) {
                        if (length > 0) Pick(found, length, at[0]);
                        found = at, length = n;
                      });
      Pick(found, length, nullptr);
    });
  }

 private:
  void Pick(const Walk::Pointers& at, int64_t n, const std::byte* next) const {
    PickIndexed({at[0], along_, walk_.step(0), at[1], index_bytes_, at[2], walk_.step(2), bytes_,
                 next, row_bytes_},
                n);
  }

  void PickConverted(const Walk::Pointers& at, int64_t n) const {
    int64_t offsets[Walk::kRun];
    load_(at[1], walk_.step(1), n, offsets);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t place = offsets[i] + (offsets[i] < 0 ? limit_ : 0);
      offsets[i] = place * along_ + i * walk_.step(0);
    }
    PickElements(at[0], offsets, n, at[2], walk_.step(2), bytes_);
  }

  int64_t bytes_, limit_, along_ = 0, row_bytes_ = 0;
  LoadRow<int64_t> load_;
  Walk walk_;
  int64_t index_bytes_;  // where it is read as it is, else 0
};

}  // namespace

void CheckGather(const GatherParams& p, Checker& checker) {
  const Tensor &self = p.self, &index = p.index;
  CheckDim(self, p.dim, checker);
  // A scalar is a row of one element.
  const auto rank_of = [](const Tensor& tensor) { return std::max<uint32_t>(tensor.rank(), 1); };
  if (rank_of(index) != rank_of(self)) checker.Rank(index, self.rank());
  checker.SameDtype(p.out, self);
  CheckIndexType(index, checker);
  CheckShape(p.out, ShapeOf(index), checker);
  for (uint32_t i = 0; checker.ok() && i < self.rank() && i < index.rank(); ++i) {
    checker.That(i == *WrapDim(p.dim, self.rank()) || index.dim(i) <= self.dim(i), [&] {
      return Concat("index shape is ", ShapeText(index), ", expected at most that of self, ",
                    ShapeText(self));
    });
  }
}

Plan PlanGather(const GatherParams& p, const Product&) {
  const uint32_t dim = *WrapDim(p.dim, p.self.rank());
  const IndexReader reader(p.index, ShapeOf(p.index));
  const Gathering gathering(p, dim);
  const Place self_at = p.self.place, index_at = p.index.place, out_at = p.out.place;
  return {0, [=](const Buffers& buffers) -> Status {
            std::byte* const index = index_at(buffers);
            Status status = reader.Check(index, gathering.limit(), false);
            const bool from_end = !status.ok();  // of some at least, which the other way knows
            if (from_end) status = reader.Check(index, gathering.limit(), true);
            if (status.ok()) gathering({self_at(buffers), index, out_at(buffers)}, from_end);
            return status;
          }};
}

}  // namespace openaclnn::supporting
