// SPDX-License-Identifier: Apache-2.0
// The windows of NsaCompress, head by head.
#include <algorithm>

#include "kernels/rows/rows.h"
#include "kernels/work/divide_up.h"
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

// Windows that follow each other and are worked on together, and elements of their heads. Speed
// against one window at a time, one and two threads of a Zen 3, 0.5 to 200 MB: 1.1 to 1.6; of a
// head's tokens one after the other, in registers, 0.95 to 1.75, with 4 or 16 windows or stores
// past the caches no more.
constexpr int64_t kTogether = 8, kHeadElements = 1024;

/// Some heads of some windows that follow each other, stride by stride of tokens.
void CompressHeads(const Plan& plan, const Buffers& buffers, const float* w, int64_t window,
                   int64_t windows, int64_t first_head, int64_t heads) {
  const int64_t start = WindowToken(plan.segments, plan.stride, window);
  alignas(64) float sums[kHeadElements];
  Step step;
  step.stride = plan.stride;
  step.width = plan.width;
  step.x_token = plan.x.rows.step() * plan.x.element_bytes * plan.heads;
  for (int64_t i = 0; i <= windows; ++i) {
    const int64_t token = start + i * plan.stride;
    const bool last = token + 2 * plan.stride > plan.tokens;
    step.ahead = last ? 0 : plan.stride * step.x_token;
    step.more = i < windows;
    for (int64_t n = 0; n < heads; ++n) {
      const int64_t head = first_head + n;
      step.w = w + head * plan.block;
      step.x = plan.x.Row(buffers.data[kInput], token * plan.heads + head);
      step.sums = sums + n * plan.width;
      step.y = i == 0 ? nullptr
                      : plan.y.Row(buffers.data[kOutput], (window + i - 1) * plan.heads + head);
      plan.kernels->step(step);
    }
  }
}

/// Those of [begin, end) that follow each other, together.
void CompressWindows(const Plan& plan, const Buffers& buffers, const float* w, int64_t begin,
                     int64_t end, int64_t first_head, int64_t heads) {
  for (int64_t i = begin, next; i < end; i = next) {
    const int64_t start = WindowToken(plan.segments, plan.stride, i);
    for (next = i + 1; next < end; ++next) {
      if (WindowToken(plan.segments, plan.stride, next) != start + (next - i) * plan.stride) break;
    }
    CompressHeads(plan, buffers, w, i, next - i, first_head, heads);
  }
}

void CompressHalves(const Plan& plan, const Buffers& buffers, const float* w) {
  const int64_t group = std::clamp<int64_t>(kHeadElements / plan.width, 1, plan.heads);
  const int64_t groups = DivideUp(plan.heads, group);
  const int64_t runs = DivideUp(plan.windows, kTogether);
  constexpr int64_t kLong = 1 << 21;  // products that one thread takes half a millisecond for
  const bool is_long = plan.windows * plan.block * plan.heads * plan.width >= kLong;
  ParallelFor(runs * groups, is_long, [&](int64_t item) {
    const int64_t begin = item / groups * kTogether, head = item % groups * group;
    CompressWindows(plan, buffers, w, begin, std::min(begin + kTogether, plan.windows), head,
                    std::min(group, plan.heads - head));
  });
}

}  // namespace

Status Run(const Plan& plan, const Buffers& buffers) {
  auto* w = static_cast<float*>(buffers.workspace);
  WidenWeight(plan, buffers, w);
  if (plan.halves) {
    CompressHalves(plan, buffers, w);
    return {};
  }
  ParallelRows(plan.windows, plan.block * plan.heads * plan.width, [&](int64_t i) {
    for (int64_t n = 0; n < plan.heads; ++n) CompressHead(plan, buffers, w, i, n);
  });
  return {};
}

}  // namespace openaclnn::nsa_compress::forward
