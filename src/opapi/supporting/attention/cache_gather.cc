// SPDX-License-Identifier: Apache-2.0
// GatherPaKvCache: keys and values of sequences, from blocks of caches that a table names.
#include <vector>

#include "generated/attention.h"
#include "kernels/rows/rows.h"
#include "supporting/attention/cache_rows.h"
#include "supporting/elements.h"

namespace openaclnn::supporting {
namespace {

class GatherCall {
 public:
  explicit GatherCall(const GatherPaKvCacheParams& p)
      : keys_(p.keyRef, p.keyCache, InGroups(p.cacheMode)),
        values_(p.valueRef, p.valueCache, InGroups(p.cacheMode)),
        lengths_name_(p.seqLens.name()),
        offsets_name_(p.seqOffsetOptional.name()),
        lengths_(p.seqLens, 0),
        offsets_(p.seqOffsetOptional, 0),
        table_(p.blockTables.place),
        load_(LoaderOf<int64_t>(p.blockTables.dtype())),
        entry_bytes_(BytesOf(p.blockTables)),
        batch_step_(p.blockTables.tensor().strides[0]),
        entry_step_(p.blockTables.tensor().strides[1]),
        entries_(p.blockTables.dim(1)),
        batches_(p.blockTables.dim(0)),
        tokens_(p.keyRef.dim(0)),
        ends_(p.isSeqLensCumsum),
        moves_(p.seqOffsetOptional.present()) {}

  Status Run(const Buffers& buffers) const {
    std::vector<Part> parts;
    Status found = Find(buffers, &parts);
    if (!found.ok()) return found;
    for (const Part& part : parts) {
      ParallelRows(part.count, keys_.width() + values_.width(),
                   [&](int64_t i) { Copy(buffers, part, i); });
    }
    return {};
  }

 private:
  /// The tokens of a batch, and the entry of the table that has the block of the first one.
  struct Part {
    int64_t batch, first, count, entry;
  };

  Status Find(const Buffers& buffers, std::vector<Part>* parts) const {
    const std::vector<int64_t> lengths = lengths_.AllWhole(buffers),
                               offsets = offsets_.AllWhole(buffers);
    int64_t first = 0;
    for (int64_t b = 0; b < batches_; ++b) {
      const auto i = static_cast<size_t>(b);
      const int64_t count = ends_ ? lengths[i + 1] - lengths[i] : lengths[i];
      if (count < 0 || count > tokens_ - first) {
        return Status(507035, Concat(lengths_name_, " value of batch ", b, " is ", count,
                                     " tokens, expected 0 to ", tokens_ - first,
                                     ", the rest of the rows of keyRef"));
      }
      const int64_t offset = moves_ ? offsets[i] : 0;
      if (offset < 0) {
        return Status(507035,
                      Concat(offsets_name_, " value ", b, " is ", offset, ", expected 0 or more"));
      }
      parts->push_back({b, first, count, keys_.rows() == 0 ? 0 : offset / keys_.rows()});
      first += count;
    }
    return {};
  }

  void Copy(const Buffers& buffers, const Part& part, int64_t i) const {
    const int64_t token = part.first + i;
    const int64_t entry = keys_.rows() == 0 ? entries_ : part.entry + i / keys_.rows();
    int64_t block = -1;
    if (entry < entries_) {
      load_(table_(buffers) + (part.batch * batch_step_ + entry * entry_step_) * entry_bytes_, 0, 1,
            &block);
    }
    for (const CacheRows* rows : {&keys_, &values_}) {
      if (block < 0 || block >= rows->blocks()) {
        rows->Clear(buffers, token);
      } else {
        rows->FromCache(buffers, block * rows->rows() + i % rows->rows(), token);
      }
    }
  }

  CacheRows keys_, values_;
  const char *lengths_name_, *offsets_name_;
  Elements lengths_, offsets_;
  Place table_;
  LoadRow<int64_t> load_;
  int64_t entry_bytes_, batch_step_, entry_step_, entries_, batches_, tokens_;
  bool ends_, moves_;
};

}  // namespace

void CheckGatherPaKvCache(const GatherPaKvCacheParams& p, Checker& checker) {
  const bool grouped = InGroups(p.cacheMode);
  CheckCaches(p.keyRef, p.keyCache, p.valueRef, p.valueCache, grouped, checker);
  if (!checker.ok()) return;
  CheckIntegers(p.blockTables, 2, checker);
  CheckIntegers(p.seqLens, 1, checker);
  if (p.seqOffsetOptional.present()) CheckIntegers(p.seqOffsetOptional, 1, checker);
  if (!checker.ok()) return;
  const int64_t batches = p.blockTables.dim(0);
  CheckShape(p.seqLens, {batches + (p.isSeqLensCumsum ? 1 : 0)}, checker);
  if (p.seqOffsetOptional.present()) CheckShape(p.seqOffsetOptional, {batches}, checker);
}

Plan PlanGatherPaKvCache(const GatherPaKvCacheParams& p, const Product&) {
  return {0, [call = GatherCall(p)](const Buffers& buffers) { return call.Run(buffers); }};
}

}  // namespace openaclnn::supporting
