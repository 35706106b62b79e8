// SPDX-License-Identifier: Apache-2.0
// The steps of NsaCompressGrad: dw from windows in chunks, dx token by token.
#include <algorithm>

#include "kernels/rows.h"
#include "nsa_compress/backward/op.h"

namespace openaclnn::nsa_compress::backward {
namespace {

using DenseHeads = DenseRow<kMaxHeads * sizeof(uint16_t)>;

class Gradient {
 public:
  Gradient(const Plan& plan, const Buffers& buffers)
      : plan_(plan),
        buffers_(buffers),
        workspace_(static_cast<std::byte*>(buffers.workspace)),
        dy_(plan.dy.Base(buffers.data[kOutputGrad], workspace_)),
        x_(plan.x.Base(buffers.data[kInput], workspace_)),
        dx_(plan.dx.Base(buffers.data[kInputGrad], workspace_)),
        w_(reinterpret_cast<float*>(workspace_ + plan.weight_at)),
        sums_(reinterpret_cast<float*>(workspace_ + plan.sums_at)) {}

  void CopyIn() const {
    Copy(plan_.dy, buffers_.data[kOutputGrad], dy_, true);
    Copy(plan_.x, buffers_.data[kInput], x_, true);
    for (int64_t r = 0; r < plan_.block; ++r) {
      DenseHeads row(plan_.w, buffers_.data[kWeight], r, plan_.heads);
      plan_.kernels->widen(row.In(), plan_.heads, w_ + r * plan_.heads);
    }
  }

  void CopyOut() const { Copy(plan_.dx, buffers_.data[kInputGrad], dx_, false); }

  /// The sums of a unit of windows for one head: its chunks, added up pairwise.
  void SumUnit(int64_t unit, int64_t head) const {
    float chunks[kUnitChunks][kMaxBlock];
    int64_t starts[kChunkTerms + 1];
    const int64_t chunk_windows = ChunkWindows(plan_.width);
    int64_t count = 0;
    for (; count < kUnitChunks; ++count) {
      const int64_t first = (unit * kUnitChunks + count) * chunk_windows;
      if (first >= plan_.windows) break;
      const int64_t windows = std::min(chunk_windows, plan_.windows - first);
      for (int64_t i = 0; i <= windows; ++i) {
        const int64_t window = std::min(first + i, plan_.windows - 1);
        starts[i] = WindowToken(plan_.segments, plan_.stride, window);
      }
      const HeadGrad grad = {
          .block = plan_.block,
          .width = plan_.width,
          .starts = starts,
          .windows = windows,
          .x = x_ + head * plan_.x.head,
          .x_token = plan_.x.token,
          .dy = dy_ + first * plan_.dy.token + head * plan_.dy.head,
          .dy_window = plan_.dy.token,
      };
      plan_.kernels->head(grad, chunks[count]);
    }
    AddPairwise(chunks[0], kMaxBlock, count, plan_.block);
    std::copy_n(chunks[0], plan_.block, Sums(unit) + head * plan_.block);
  }

  /// dw from the sums of all units.
  void WriteWeightGrad() const {
    const int64_t size = plan_.block * plan_.heads;
    AddPairwise(sums_, size, plan_.units, size);
    float row[kMaxHeads];
    for (int64_t r = 0; r < plan_.block; ++r) {
      for (int64_t n = 0; n < plan_.heads; ++n) row[n] = sums_[n * plan_.block + r];
      DenseHeads out(plan_.dw, buffers_.data[kWeightGrad], r, plan_.heads);
      plan_.kernels->narrow(row, plan_.heads, out.Out());
      out.Flush();
    }
  }

  void WriteToken(int64_t token) const {
    const auto after =
        std::upper_bound(plan_.segments.begin(), plan_.segments.end(), token,
                         [](int64_t value, const Segment& s) { return value < s.end; });
    const int64_t place = token - after->begin;
    const int64_t reach = place - plan_.block + 1;
    const int64_t first = reach > 0 ? (reach + plan_.stride - 1) / plan_.stride : 0;
    const int64_t last = std::min(place / plan_.stride, after->windows - 1);
    TokenGrad grad;
    grad.heads = plan_.heads;
    grad.width = plan_.width;
    grad.count = std::max<int64_t>(last - first + 1, 0);
    grad.dy_head = plan_.dy.head;
    grad.dx = dx_ + token * plan_.dx.token;
    grad.dx_head = plan_.dx.head;
    for (int64_t k = 0; k < grad.count; ++k) {
      grad.w[k] = w_ + (place - (first + k) * plan_.stride) * plan_.heads;
      grad.dy[k] = dy_ + (after->first_window + first + k) * plan_.dy.token;
    }
    if (grad.count > 0) return plan_.kernels->token(grad);
    for (int64_t n = 0; n < plan_.heads; ++n) {
      ZeroStrided(grad.dx + n * grad.dx_head, 1, plan_.width, plan_.dx.view.element_bytes);
    }
  }

 private:
  static void Copy(const Dense& dense, void* data, std::byte* copy, bool in) {
    if (!dense.copied) return;
    const int64_t bytes = dense.view.element_bytes;
    ParallelRows(dense.rows, dense.width, [&](int64_t row) {
      std::byte* place = dense.view.Row(data, row);
      std::byte* packed = copy + row * dense.width * bytes;
      in ? CopyStrided(place, dense.view.step, packed, 1, dense.width, bytes)
         : CopyStrided(packed, 1, place, dense.view.step, dense.width, bytes);
    });
  }

  /// rows[0][:] = the sum of `count` rows of n floats, `step` apart, by the binary tree.
  static void AddPairwise(float* rows, int64_t step, int64_t count, int64_t n) {
    for (int64_t half = 1; half < count; half *= 2) {
      for (int64_t i = 0; i + half < count; i += 2 * half) {
        float* to = rows + i * step;
        const float* from = rows + (i + half) * step;
        for (int64_t j = 0; j < n; ++j) to[j] += from[j];
      }
    }
  }

  float* Sums(int64_t unit) const { return sums_ + unit * plan_.block * plan_.heads; }

  const Plan& plan_;
  const Buffers& buffers_;
  std::byte* workspace_;
  std::byte* dy_;
  std::byte* x_;
  std::byte* dx_;
  float* w_;
  float* sums_;
};

}  // namespace

Status Run(const Plan& plan, const Buffers& buffers) {
  const Gradient run(plan, buffers);
  run.CopyIn();
  ParallelFor(plan.units * plan.heads,
              [&](int64_t block) { run.SumUnit(block / plan.heads, block % plan.heads); });
  run.WriteWeightGrad();
  ParallelRows(plan.tokens, plan.heads * plan.width, [&](int64_t token) { run.WriteToken(token); });
  run.CopyOut();
  return {};
}

}  // namespace openaclnn::nsa_compress::backward
