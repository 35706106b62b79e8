// SPDX-License-Identifier: Apache-2.0
// The work of Embedding: check all indices, then copy rows.
#include <algorithm>

#include "embedding/forward/op.h"
#include "kernels/work/parallel.h"

namespace openaclnn::embedding::forward {
namespace {

// Elements that a block copies: enough to be worth waking a thread for.
constexpr int64_t kBlockElements = 32768;
constexpr int64_t kMaxBlocks = 256;

// Bytes of rows between the one that is copied and the one that is asked for meanwhile: rows lie
// anywhere in the table. Speeds against not asking, on one thread of a Zen 4 with cold caches: rows
// of 256 bytes 1.5 to 1.8, of 1 to 3 KB 1.0 to 1.3, of 8 KB and more 0.95; with rows past the
// caches as well 1.9 to 2.1, 1.1 to 2.8 and 1.2. 8 KiB ahead: the same within a tenth.
constexpr int64_t kAheadBytes = 16384;

class Rows {
 public:
  Rows(const Plan& plan, const Buffers& buffers, const int64_t* rows)
      : plan_(plan),
        weight_(buffers.data[kWeight]),
        out_(buffers.data[kOut]),
        rows_(rows),
        streams_(plan.streams != nullptr && BeginsLine(plan.out.Row(out_, 0))) {}

  /// Copies the rows of tokens [begin, end).
  void Copy(int64_t begin, int64_t end) const {
    const int64_t bytes = plan_.width * plan_.weight.element_bytes;
    const int64_t ahead = std::max<int64_t>(kAheadBytes / bytes, 1);
    for (int64_t i = begin; i < end; ++i) {
      if (plan_.weight.step == 1 && i + ahead < end) Ask(Row(i + ahead), bytes);
      std::byte* const out = plan_.out.Row(out_, i);
      if (streams_) {
        plan_.streams->copy(Row(i), out, bytes);
      } else {
        CopyStrided(Row(i), plan_.weight.step, out, plan_.out.step, plan_.width,
                    plan_.weight.element_bytes);
      }
    }
    if (streams_) EndStreams();
  }

 private:
  const std::byte* Row(int64_t i) const { return plan_.weight.Row(weight_, rows_[i]); }

  static void Ask(const std::byte* row, int64_t bytes) {
    constexpr int kSecondLevel = 2;
    for (int64_t i = 0; i < bytes; i += kCacheLine) {
      __builtin_prefetch(row + i, /*rw=*/0, kSecondLevel);
    }
  }

  const Plan& plan_;
  void *weight_, *out_;
  const int64_t* rows_;
  bool streams_;
};

}  // namespace

Status Run(const Plan& plan, const Buffers& buffers) {
  if (plan.tokens == 0) return {};
  auto* indices = static_cast<int64_t*>(buffers.workspace);
  Status status =
      ReadIndices("indices", plan.indices, buffers.data[kIndices], plan.num_weights, indices);
  if (!status.ok()) return status;
  const Rows rows(plan, buffers, indices);
  const int64_t blocks =
      std::min(plan.tokens, BlockCount(plan.tokens * plan.width, kBlockElements, kMaxBlocks));
  ParallelFor(blocks, [&](int64_t block) {
    rows.Copy(BlockBegin(plan.tokens, blocks, block), BlockBegin(plan.tokens, blocks, block + 1));
  });
  return {};
}

}  // namespace openaclnn::embedding::forward
