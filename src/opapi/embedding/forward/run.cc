// SPDX-License-Identifier: Apache-2.0
// The work of Embedding: check all indices, then copy rows.
#include <algorithm>

#include "embedding/forward/op.h"
#include "kernels/parallel.h"

namespace openaclnn::embedding::forward {
namespace {

// Elements that a block copies: enough to be worth waking a thread for.
constexpr int64_t kBlockElements = 32768;
constexpr int64_t kMaxBlocks = 256;

}  // namespace

Status Run(const Plan& plan, const Buffers& buffers) {
  if (plan.tokens == 0) return {};
  auto* rows = static_cast<int64_t*>(buffers.workspace);
  Status status =
      ReadIndices("indices", plan.indices, buffers.data[kIndices], plan.num_weights, rows);
  if (!status.ok()) return status;
  const int64_t blocks =
      std::min(plan.tokens, BlockCount(plan.tokens * plan.width, kBlockElements, kMaxBlocks));
  ParallelFor(blocks, [&](int64_t block) {
    const int64_t end = BlockBegin(plan.tokens, blocks, block + 1);
    for (int64_t i = BlockBegin(plan.tokens, blocks, block); i < end; ++i) {
      CopyStrided(plan.weight.Row(buffers.data[kWeight], rows[i]), plan.weight.step,
                  plan.out.Row(buffers.data[kOut], i), plan.out.step, plan.width,
                  plan.weight.element_bytes);
    }
  });
  return {};
}

}  // namespace openaclnn::embedding::forward
