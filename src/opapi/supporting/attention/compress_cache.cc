// SPDX-License-Identifier: Apache-2.0
// NsaCompressWithCache: the last keys of each batch that fill a block become a compressed key of a
// cache. Native Sparse Attention, arXiv:2502.11089, section 3.3.1.
#include <map>
#include <vector>

#include "generated/attention.h"
#include "kernels/rows/rows.h"
#include "supporting/attention/heads.h"
#include "supporting/attention/infer.h"
#include "supporting/attention/lengths.h"

namespace openaclnn::supporting {
namespace {

constexpr int64_t kOfEachBatch = 1;  // actSeqLenType: lengths, not where sequences end

/// A batch whose last keys are compressed: the first one of them, and where their sum goes.
struct Compressed {
  int64_t batch, first_key, slot;
};

void CheckSizes(const NsaCompressWithCacheParams& p, Checker& checker) {
  constexpr int64_t kMostKeys = 64;
  const int64_t size = p.compressBlockSize, stride = p.compressStride;
  checker.That(size >= 16 && size <= kMostKeys && size % 16 == 0, [&] {
    return Concat("compressBlockSize value is ", size, ", expected a multiple of 16, at most ",
                  kMostKeys);
  });
  checker.That(stride >= 16 && stride <= size && stride % 16 == 0, [&] {
    return Concat("compressStride value is ", stride, ", expected a multiple of 16, at most ",
                  "compressBlockSize, ", size);
  });
  checker.That(p.actSeqLenType == kOfEachBatch, [&] {
    return Concat("actSeqLenType value is ", p.actSeqLenType, ", expected 1, the length of each ",
                  "batch");
  });
}

void CheckTables(const NsaCompressWithCacheParams& p, Checker& checker) {
  const Tensor &table = p.blockTableOptional, &slots = p.slotMapping;
  checker.That(table.present(), [&] {
    return Concat(table.name(), " value is null, expected a tensor: keys are in blocks of a cache");
  });
  if (!checker.ok()) return;
  checker.Rank(slots, 1).Rank(table, 2);
  checker.That(slots.dtype() == ACL_INT32, [&] { return DtypeIs(slots, "INT32"); });
  checker.That(table.dtype() == ACL_INT32, [&] { return DtypeIs(table, "INT32"); });
  if (!checker.ok()) return;
  const int64_t batches = slots.dim(0);
  checker.That(table.dim(0) == batches, [&] {
    return Concat(table.name(), " shape is ", ShapeText(table), ", expected (", batches,
                  ", blocks of a sequence)");
  });
  const IntList& lengths = p.actSeqLenOptional;
  const auto count = static_cast<int64_t>(lengths.values().size());
  checker.That(count == batches, [&] {
    return Concat(lengths.name(), " size is ", count, ", expected ", batches,
                  ", the number of batches");
  });
  if (!checker.ok()) return;
  CheckLengths(lengths, batches, WrappingProduct(table.dim(1), p.pageBlockSize), checker);
}

}  // namespace

void CheckNsaCompressWithCache(const NsaCompressWithCacheParams& p, Checker& checker) {
  CheckSizes(p, checker);
  checker.Rank(p.input, 4).Rank(p.weight, 2).Rank(p.outputCache, 3);
  checker.SameDtype(p.weight, p.input).SameDtype(p.outputCache, p.input);
  CheckType(p.input, checker);
  if (!checker.ok()) return;
  const int64_t heads = p.input.dim(2), width = p.input.dim(3);
  CheckShape(p.weight, {p.compressBlockSize, heads}, checker);
  CheckShape(p.outputCache, {p.outputCache.dim(0), heads, width}, checker);
  checker.That(p.pageBlockSize > 0 && p.pageBlockSize == p.input.dim(1), [&] {
    return Concat("pageBlockSize value is ", p.pageBlockSize, ", expected ", p.input.dim(1),
                  ", the rows of each block of input, and at least 1");
  });
  if (checker.ok()) CheckTables(p, checker);
}

namespace {

/// The call as phase 2 runs it. Sums are in double, in the order of the keys.
class CompressCall {
 public:
  explicit CompressCall(const NsaCompressWithCacheParams& p)
      : keys_(p.input, "BSND", p.input.dim(3)),
        weights_(p.weight, "SN", 1),
        out_(p.outputCache, "TND", p.outputCache.dim(2)),
        size_(p.compressBlockSize),
        slot_step_(p.slotMapping.tensor().strides[0]),
        slots_(p.slotMapping.place),
        table_(p.blockTableOptional.place),
        pages_({.given = true,
                .rows = p.pageBlockSize,
                .batch_step = p.blockTableOptional.tensor().strides[0],
                .entry_step = p.blockTableOptional.tensor().strides[1]}),
        load_(LoaderOf<double>(p.input.dtype())),
        store_(StorerOf<double>(p.input.dtype())) {
    const auto lengths = p.actSeqLenOptional.values();
    for (size_t i = 0; i < lengths.size(); ++i) {
      const int64_t first = lengths[i] - size_;
      if (first >= 0 && first % p.compressStride == 0) {
        filled_.push_back({static_cast<int64_t>(i), first, 0});
      }
    }
  }

  Status Run(const Buffers& buffers) const {
    std::vector<Compressed> work;
    Status found = Find(buffers, &work);
    if (!found.ok() || work.empty()) return found;
    const auto items = static_cast<int64_t>(work.size()) * keys_.heads;
    ParallelRows(items, size_ * keys_.elements, [&](int64_t item) {
      Compress(buffers, work[static_cast<size_t>(item / keys_.heads)], item % keys_.heads);
    });
    return {};
  }

 private:
  /// Finds the keys to compress. If several batches have the same slot, the last one counts.
  Status Find(const Buffers& buffers, std::vector<Compressed>* work) const {
    const auto* const slots = reinterpret_cast<const int32_t*>(slots_(buffers));
    std::map<int64_t, Compressed> by_slot;
    for (Compressed of : filled_) {
      Status found =
          CheckEntries(pages_, of.batch, {of.first_key, size_}, Table(buffers), keys_.batches);
      if (!found.ok()) return found;
      of.slot = slots[of.batch * slot_step_];
      if (of.slot < 0 || of.slot >= out_.rows) {
        return Status(507035, Concat("slotMapping value ", of.batch, " is ", of.slot,
                                     ", expected 0 to ", out_.rows - 1, ", a row of outputCache"));
      }
      by_slot[of.slot] = of;
    }
    for (const auto& [slot, of] : by_slot) work->push_back(of);
    return {};
  }

  void Compress(const Buffers& buffers, const Compressed& of, int64_t head) const {
    const int64_t width = keys_.elements;
    std::vector<double> sum(static_cast<size_t>(width), 0.0), one(sum.size());
    for (int64_t i = 0; i < size_; ++i) {
      const int64_t key = of.first_key + i, block = pages_.Block(Table(buffers), of.batch, 0, key);
      double weight = 0;
      load_(weights_.place(buffers) + weights_.lie.Offset(0, head, i), 0, 1, &weight);
      load_(keys_.place(buffers) + keys_.lie.Offset(block, head, key % pages_.rows),
            keys_.lie.element_step * keys_.lie.bytes, width, one.data());
      for (size_t j = 0; j < sum.size(); ++j) sum[j] += weight * one[j];
    }
    store_(sum.data(), width, out_.place(buffers) + out_.lie.Offset(0, head, of.slot),
           out_.lie.element_step * out_.lie.bytes);
  }

  const int32_t* Table(const Buffers& buffers) const {
    return reinterpret_cast<const int32_t*>(table_(buffers));
  }

  Heads keys_, weights_, out_;
  int64_t size_, slot_step_;
  Place slots_, table_;
  AttentionPages pages_;
  LoadRow<double> load_;
  StoreRow<double> store_;
  std::vector<Compressed> filled_;  // without slots, which are read when the task runs
};

}  // namespace

Plan PlanNsaCompressWithCache(const NsaCompressWithCacheParams& p, const Product&) {
  return {0, [call = CompressCall(p)](const Buffers& buffers) { return call.Run(buffers); }};
}

}  // namespace openaclnn::supporting
