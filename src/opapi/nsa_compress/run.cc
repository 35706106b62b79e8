// SPDX-License-Identifier: Apache-2.0
// The windows of NsaCompress, head by head.
#include "kernels/rows.h"
#include "nsa_compress/op.h"

namespace openaclnn::nsa_compress {
namespace {

constexpr int64_t kMaxRowBytes = nsa::kMaxWidth * sizeof(uint16_t);

/// w as floats, (N, block): a head's weights follow each other.
void WidenWeight(const Plan& plan, const Buffers& buffers, float* w) {
  float row[nsa::kMaxHeads];
  for (int64_t r = 0; r < plan.block; ++r) {
    DenseRow<nsa::kMaxHeads * sizeof(uint16_t)> dense(plan.w, buffers.data[kWeight], r, plan.heads);
    plan.kernels->widen(dense.In(), plan.heads, row);
    for (int64_t n = 0; n < plan.heads; ++n) w[n * plan.block + r] = row[n];
  }
}

void CompressHead(const Plan& plan, const Buffers& buffers, const float* w, int64_t i, int64_t n) {
  Window window;
  window.block = plan.block;
  window.width = plan.width;
  window.w = w + n * plan.block;
  std::byte packed[nsa::kMaxBlock][kMaxRowBytes];
  for (int64_t r = 0; r < plan.block; ++r) {
    std::byte* row = plan.x.Row(buffers.data[kInput], (plan.starts[i] + r) * plan.heads + n);
    window.x[r] = row;
    if (plan.x.step == 1) continue;
    CopyStrided(row, plan.x.step, packed[r], 1, plan.width, plan.x.element_bytes);
    window.x[r] = packed[r];
  }
  DenseRow<kMaxRowBytes> y(plan.y, buffers.data[kOutput], i * plan.heads + n, plan.width);
  window.y = y.Out();
  plan.kernels->window(window);
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

}  // namespace openaclnn::nsa_compress
