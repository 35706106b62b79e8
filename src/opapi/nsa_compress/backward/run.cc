// SPDX-License-Identifier: Apache-2.0
// The steps of NsaCompressGrad: units of windows, for dw and dx in one pass, then dw of all units.
#include <algorithm>

#include "kernels/rows/rows.h"
#include "kernels/simd/stream.h"
#include "kernels/work/divide_up.h"
#include "nsa_compress/backward/op.h"

namespace openaclnn::nsa_compress::backward {
namespace {

using DenseHeads = DenseRow<kMaxHeads * sizeof(uint16_t)>;

class Gradient {
 public:
  class UnitWork;

  Gradient(const Plan& plan, const Buffers& buffers)
      : plan_(plan),
        buffers_(buffers),
        workspace_(static_cast<std::byte*>(buffers.workspace)),
        dy_(plan.dy.Base(buffers.data[kOutputGrad], workspace_)),
        x_(plan.x.Base(buffers.data[kInput], workspace_)),
        dx_(plan.dx.Base(buffers.data[kInputGrad], workspace_)),
        w_(reinterpret_cast<float*>(workspace_ + plan.weight_at)),
        sums_(reinterpret_cast<float*>(workspace_ + plan.sums_at)),
        streams_(plan.streams && BeginsLine(dx_)) {}

  void CopyIn() const {
    Copy(plan_.dy, buffers_.data[kOutputGrad], dy_, true);
    Copy(plan_.x, buffers_.data[kInput], x_, true);
    for (int64_t r = 0; r < plan_.block; ++r) {
      DenseHeads row(plan_.w, buffers_.data[kWeight], r, plan_.heads);
      plan_.kernels->widen(row.In(), plan_.heads, w_ + r * plan_.heads);
    }
  }

  void CopyOut() const { Copy(plan_.dx, buffers_.data[kInputGrad], dx_, false); }

  /// The work of a unit of windows for some heads: its sums of dw, and dx of the tokens that begin
  /// under it.
  void RunUnit(int64_t unit, int64_t first_head) const;

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

  /// Zeros the tokens of a segment that are under no window: the last ones.
  void ZeroRest(const Segment& segment) const {
    int64_t token = segment.begin;
    if (segment.windows > 0) token += (segment.windows - 1) * plan_.stride + plan_.block;
    for (; token < segment.end; ++token) {
      for (int64_t n = 0; n < plan_.heads; ++n) {
        std::byte* const dx = dx_ + token * plan_.dx.token + n * plan_.dx.head;
        ZeroStrided(dx, 1, plan_.width, plan_.dx.view.element_bytes);
      }
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
  bool streams_;
};

/// Tokens between those that are read and those that are asked for: 8 KiB,
/// but not those that are read at once.
int64_t TokensAhead(int64_t token_bytes) {
  constexpr int64_t kAheadBytes = 8192, kLeast = 4;
  return std::max(kAheadBytes / token_bytes, kLeast);
}

/// One unit of windows and a group of heads. Granule by granule, each token is read once for all of
/// its windows.
class Gradient::UnitWork {
 public:
  UnitWork(const Gradient& run, int64_t unit, int64_t first_head)
      : run_(run),
        plan_(run.plan_),
        first_head_(first_head),
        heads_(std::min(plan_.group, plan_.heads - first_head)),
        chunk_windows_(ChunkWindows(plan_.width)),
        begin_(unit * kUnitChunks * chunk_windows_),
        end_(std::min(begin_ + kUnitChunks * chunk_windows_, plan_.windows)),
        ahead_(TokensAhead(heads_ * plan_.width * plan_.dx.view.element_bytes)) {
    std::fill_n(sums_, heads_ * plan_.block * kGranule, 0.0f);
    for (int64_t i = begin_ - kMaxOver; i <= end_; ++i) {
      starts_[i - begin_ + kMaxOver] = StartOf(i);
    }
  }

  int64_t heads() const { return heads_; }
  float* chunks() { return chunks_; }
  int64_t chunk_count() const { return DivideUp(end_ - begin_, chunk_windows_); }

  void Run() {
    for (int64_t window = begin_; window < end_; ++window) {
      const int64_t reach = Start(window) + plan_.block;
      const int64_t stop = window + 1 < end_ ? std::min(reach, Start(window + 1)) : reach;
      for (int64_t token = Start(window); token < stop; token += kGranule) {
        RunGranule(window, token);
      }
    }
    if (run_.streams_) EndStreams();
  }

 private:
  /// The first token of a window; before the first window and behind the last one, none near.
  int64_t StartOf(int64_t window) const {
    if (window < 0) return -plan_.block;
    if (window >= plan_.windows) return plan_.tokens;
    return WindowToken(plan_.segments, plan_.stride, window);
  }
  int64_t Start(int64_t window) const { return starts_[window - begin_ + kMaxOver]; }

  /// A granule whose last window in this unit is `last`. Where a window of the next unit lies over
  /// it too, that unit writes its dx.
  void RunGranule(int64_t last, int64_t token) {
    const bool writes = token < Start(end_);
    int64_t first = last;
    const int64_t least = writes ? begin_ - kMaxOver : begin_;
    while (first > least && Start(first - 1) + plan_.block > token) --first;
    Granule granule;
    granule.heads = heads_;
    granule.width = plan_.width;
    granule.count = last - first + 1;
    granule.own = std::max<int64_t>(begin_ - first, 0);
    for (int64_t k = 0; k < granule.count; ++k) {
      const int64_t row = token - Start(first + k);
      granule.dy[k] = run_.dy_ + (first + k) * plan_.dy.token + first_head_ * plan_.dy.head;
      granule.w[k] = run_.w_ + row * plan_.heads + first_head_;
      granule.row[k] = row;
    }
    granule.dy_head = plan_.dy.head;
    granule.w_token = plan_.heads;
    granule.x = run_.x_ + token * plan_.x.token + first_head_ * plan_.x.head;
    granule.ahead = granule.x + std::min(ahead_, plan_.tokens - kGranule - token) * plan_.x.token;
    granule.x_token = plan_.x.token;
    granule.x_head = plan_.x.head;
    granule.dx = writes ? run_.dx_ + token * plan_.dx.token + first_head_ * plan_.dx.head : nullptr;
    granule.dx_token = plan_.dx.token;
    granule.dx_head = plan_.dx.head;
    granule.streams = run_.streams_;
    granule.sums = sums_;
    granule.sums_head = plan_.block * kGranule;
    plan_.kernels->granule(granule);
    for (int64_t k = granule.own; k < granule.count; ++k) {
      EndChunk(first + k, granule.row[k]);
    }
  }

  /// After a window's rows from `row`: if it is the last of its chunk, their sums are kept.
  void EndChunk(int64_t window, int64_t row) {
    const int64_t place = window - begin_;
    if ((place + 1) % chunk_windows_ != 0 && window + 1 != end_) return;
    float* const chunk = chunks_ + place / chunk_windows_ * heads_ * plan_.block;
    for (int64_t n = 0; n < heads_; ++n) {
      const int64_t at = n * plan_.block + row;
      plan_.kernels->add_lanes(sums_ + at * kGranule, chunk + at);
    }
  }

  const Gradient& run_;
  const Plan& plan_;
  const int64_t first_head_, heads_;
  const int64_t chunk_windows_;
  const int64_t begin_, end_;  // windows
  const int64_t ahead_;        // tokens
  int64_t starts_[kMaxOver + kUnitChunks * kChunkTerms + 1];
  float chunks_[kUnitChunks * kGroupRows];
  alignas(64) float sums_[kGroupRows * kGranule];
};

void Gradient::RunUnit(int64_t unit, int64_t first_head) const {
  UnitWork work(*this, unit, first_head);
  work.Run();
  const int64_t rows = work.heads() * plan_.block;
  AddPairwise(work.chunks(), rows, work.chunk_count(), rows);
  std::copy_n(work.chunks(), rows, Sums(unit) + first_head * plan_.block);
}

}  // namespace

Status Run(const Plan& plan, const Buffers& buffers) {
  const Gradient run(plan, buffers);
  run.CopyIn();
  const int64_t groups = DivideUp(plan.heads, plan.group);
  constexpr int64_t kLong = 1 << 21;  // elements that one thread takes half a millisecond for
  ParallelFor(plan.units * groups, plan.tokens * plan.heads * plan.width >= kLong,
              [&](int64_t block) { run.RunUnit(block / groups, block % groups * plan.group); });
  run.WriteWeightGrad();
  const auto segments = static_cast<int64_t>(plan.segments.size());
  ParallelRows(segments, plan.stride * plan.heads * plan.width,
               [&](int64_t segment) { run.ZeroRest(plan.segments[segment]); });
  run.CopyOut();
  return {};
}

}  // namespace openaclnn::nsa_compress::backward
