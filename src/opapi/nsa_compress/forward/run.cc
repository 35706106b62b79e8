// SPDX-License-Identifier: Apache-2.0
// The windows of NsaCompress, head by head.
#include <algorithm>

#include "kernels/rows.h"
#include "nsa_compress/forward/op.h"

namespace openaclnn::nsa_compress::forward {
namespace {

constexpr int64_t kMaxRowBytes = kMaxWidth * sizeof(uint16_t);

/// w as floats, (N, block): a head's weights follow each other.
void WidenWeight(const Plan& plan, const Buffers& buffers, float* w) {
  float row[kMaxHeads];
  for (int64_t r = 0; r < plan.block; ++r) {
    DenseRow<kMaxHeads * sizeof(uint16_t)> dense(plan.w, buffers.data[kWeight], r, plan.heads);
    plan.kernels->widen(dense.In(), plan.heads, row);
    for (int64_t n = 0; n < plan.heads; ++n) w[n * plan.block + r] = row[n];
  }
}

/// Columns of a window whose elements do not follow each other that are packed at a time: 8 KiB,
/// for the thread may be a client's with a small stack.
constexpr int64_t kPackedColumns = 32;

void CompressHead(const Plan& plan, const Buffers& buffers, const float* w, int64_t i, int64_t n) {
  const int64_t start = WindowToken(plan.segments, plan.stride, i);
  const bool dense = plan.x.step == 1;
  std::byte packed[kMaxBlock][kPackedColumns * sizeof(uint16_t)];
  DenseRow<kMaxRowBytes> y(plan.y, buffers.data[kOutput], i * plan.heads + n, plan.width);
  Window window;
  window.block = plan.block;
  window.w = w + n * plan.block;
  // The next head's part of the same tokens; it is there already where there is none.
  const bool more = dense && n + 1 < plan.heads;
  window.ahead =
      more ? plan.x.rows(start * plan.heads + n + 1) - plan.x.rows(start * plan.heads + n) : 0;
  const int64_t columns = dense ? plan.width : kPackedColumns;
  for (int64_t begin = 0; begin < plan.width; begin += columns) {
    window.width = std::min(columns, plan.width - begin);
    window.y = y.Out() + begin * plan.x.element_bytes;
    for (int64_t r = 0; r < plan.block; ++r) {
      const std::byte* row = plan.x.Row(buffers.data[kInput], (start + r) * plan.heads + n) +
                             begin * plan.x.step * plan.x.element_bytes;
      window.x[r] = dense ? row : packed[r];
      if (dense) continue;
      CopyStrided(row, plan.x.step, packed[r], 1, window.width, plan.x.element_bytes);
    }
    plan.kernels->window(window);
  }
  y.Flush();
}

}  // namespace

Status Run(const Plan& plan, const Buffers& buffers) {
  auto* w = static_cast<float*>(buffers.workspace);
  WidenWeight(plan, buffers, w);
  ParallelRows(plan.windows, plan.block * plan.heads * plan.width, [&](int64_t i) {
    for (int64_t n = 0; n < plan.heads; ++n) CompressHead(plan, buffers, w, i, n);
  });
  return {};
}

}  // namespace openaclnn::nsa_compress::forward
