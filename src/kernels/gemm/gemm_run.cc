// SPDX-License-Identifier: Apache-2.0
// Matrix products: runs a planned product in parallel pieces.
#include <algorithm>

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/gemm_layout.h"
#include "kernels/work/parallel_items.h"

namespace openaclnn {
namespace gemm {
namespace {

// Elements of B that a thread packs at a time. 4096 to 4 Mi: 0.96 to 1.02, two: 0.95 to 1.03;
// measured as in gemm_plan.cc.
constexpr int64_t kPackElements = 65536;
// The least parts of B for each thread.
constexpr int64_t kPackParts = 2;

GemmBlock BlockOf(const Gemm& gemm, int64_t index) {
  const GemmRows& rows = gemm.rows;
  const int64_t per_group = DivideUp(rows.group_rows, gemm.block_rows);
  const int64_t before = gemm.merged_begin * per_group;
  const int64_t merged =
      DivideUp((gemm.merged_end - gemm.merged_begin) * rows.group_rows, gemm.block_rows);
  int64_t group = index / per_group, end = group + 1, part = index % per_group;
  if (index >= before + merged) {
    group = gemm.merged_end + (index - before - merged) / per_group;
    end = group + 1;
    part = (index - before - merged) % per_group;
  } else if (index >= before) {
    group = gemm.merged_begin;
    end = gemm.merged_end;
    part = index - before;
  }
  const GemmPart terms = TermsOf(rows, group);
  const int64_t row = group * rows.group_rows + part * gemm.block_rows;
  return {row, std::min(row + gemm.block_rows, end * rows.group_rows), terms.term_begin,
          terms.term_end};
}

/// One call: the addresses of its operands and of the parts of its scratch.
class Call {
 public:
  Call(const Gemm& gemm, const void* a, const void* b, const void* added, void* c, void* scratch)
      : gemm_(gemm),
        a_(static_cast<const std::byte*>(a)),
        b_(static_cast<const std::byte*>(b)),
        added_(gemm.adds ? static_cast<const std::byte*>(added) : nullptr),
        c_(static_cast<std::byte*>(c)),
        added_row_(static_cast<float*>(scratch)),
        packed_(added_row_ + AddedElements(gemm)),
        kept_(packed_ + SharedElements(gemm)),
        bodies_(kept_ + KeptElements(gemm)) {}

  void Run() const {
    if (gemm_.added_once) {
      std::fill_n(added_row_, gemm_.panels * TileColumns(gemm_), 0.0f);
      const GemmAddend& added = gemm_.added;
      gemm_.kernels->widen(added_, added.view.step, added.dtype, gemm_.columns, added_row_);
    }
    if (gemm_.packing == GemmPacking::kBatch) return RunBatches();
    for (int64_t round = 0; round < gemm_.rounds; ++round) {
      for (int64_t panel = 0; panel < gemm_.panels; panel += gemm_.pass_panels) {
        RunPass(round, panel, std::min(panel + gemm_.pass_panels, gemm_.panels));
      }
    }
  }

 private:
  /// Whether one thread would take half a millisecond or more.
  bool IsLong() const {
    constexpr double kLong = 1 << 25;  // multiplications, 120 GFLOP/s
    const double rows = static_cast<double>(gemm_.blocks) * static_cast<double>(gemm_.block_rows);
    return rows * static_cast<double>(gemm_.terms) * static_cast<double>(gemm_.columns) *
               static_cast<double>(gemm_.batches.count) >=
           kLong;
  }

  /// Calls work(item, scratch) for all items, in bodies with a part of the scratch each.
  template <class Work>
  void ForItems(const Work& work) const {
    ParallelItems(RoundItems(gemm_), gemm_.bodies, IsLong(), [&](int64_t item, int64_t body) {
      work(item, bodies_ + body * BodyElements(gemm_));
    });
  }

  /// Runs groups of columns of batches in parallel.
  void RunBatches() const {
    ForItems([&](int64_t item, float* own) {
      const int64_t batch = item / gemm_.column_groups;
      const int64_t begin = item % gemm_.column_groups * GroupPanels(gemm_);
      const int64_t end = std::min(begin + GroupPanels(gemm_), gemm_.panels);
      if (begin >= end) return;
      const GemmPart part = {0, gemm_.terms, begin, end};
      const GemmPacked packed = Packed(OwnPacked(own), part);
      Pack(batch, part, packed);
      for (int64_t block = 0; block < gemm_.blocks; ++block) {
        Multiply({.batch = batch, .block = block, .panel_begin = begin, .panel_end = end}, packed,
                 own);
      }
    });
  }

  /// Some panels of the batches of a round, segment by segment.
  void RunPass(int64_t round, int64_t begin, int64_t end) const {
    const int64_t first = round * RoundBatches(gemm_);
    const int64_t per_batch = gemm_.blocks * gemm_.column_groups;
    const int64_t group_panels = GroupPanels(gemm_), units = gemm_.segment_units;
    const bool shared = gemm_.packing == GemmPacking::kShared;
    for (int64_t segment = 0; segment < Segments(gemm_); ++segment) {
      GemmPart part = SegmentOf(gemm_, segment);
      part.panel_begin = begin;
      part.panel_end = end;
      const GemmPacked packed = Packed(packed_, part);
      if (shared) PackShared(first, part, packed);
      ForItems([&](int64_t item, float* own) {
        const int64_t group = begin + item % gemm_.column_groups * group_panels;
        if (group >= end) return;
        Multiply({.batch = first + item / per_batch,
                  .block = item % per_batch / gemm_.column_groups,
                  .panel_begin = group,
                  .panel_end = std::min(group + group_panels, end),
                  .unit_begin = segment * units,
                  .unit_end = units != 0 ? (segment + 1) * units : INT64_MAX,
                  .waiting = units != 0 ? kept_ + item * WaitingElements(gemm_) : nullptr},
                 shared ? packed : Packed(OwnPacked(own), {}), own);
      });
    }
  }

  /// The work that a body does at a time.
  struct Piece {
    int64_t batch, block, panel_begin = 0, panel_end, unit_begin = 0, unit_end = INT64_MAX;
    float* waiting = nullptr;  // null: the body's own
  };

  void PackShared(int64_t batch, const GemmPart& part, const GemmPacked& packed) const {
    const int64_t terms = part.term_end - part.term_begin;
    if (terms <= 0) return;
    const int64_t columns = std::min(gemm_.columns, part.panel_end * TileColumns(gemm_)) -
                            part.panel_begin * TileColumns(gemm_);
    const int64_t most = DivideUp(terms, kPackParts * gemm_.bodies);
    const int64_t grain =
        DivideUp(std::min(DivideUp(kPackElements, columns), most), kGemmChunk) * kGemmChunk;
    ParallelFor(DivideUp(terms, grain), IsLong(), [&](int64_t index) {
      GemmPart own = part;
      own.term_begin = part.term_begin + index * grain;
      own.term_end = std::min(own.term_begin + grain, part.term_end);
      Pack(batch, own, packed);
    });
  }

  void Pack(int64_t batch, const GemmPart& part, const GemmPacked& packed) const {
    gemm_.kernels->pack_b(gemm_, At(b_, gemm_.batches.b, gemm_.b.view, batch), part, packed);
  }

  void Multiply(const Piece& piece, const GemmPacked& packed, float* own) const {
    const GemmBatches& batches = gemm_.batches;
    gemm_.kernels->multiply({
        .gemm = &gemm_,
        .block = BlockOf(gemm_, piece.block),
        .panel_begin = piece.panel_begin,
        .panel_end = piece.panel_end,
        .unit_begin = piece.unit_begin,
        .unit_end = piece.unit_end,
        .a = At(a_, batches.a, gemm_.a.view, piece.batch),
        .b = At(b_, batches.b, gemm_.b.view, piece.batch),
        .packed_b = packed,
        .added = added_ ? At(added_, batches.added, gemm_.added.view, piece.batch) : nullptr,
        .added_row = gemm_.added_once ? added_row_ : nullptr,
        .c = At(c_, batches.c, gemm_.c, piece.batch),
        .packed_a = own,
        .partials = piece.waiting != nullptr ? piece.waiting : own + PackedRows(gemm_),
    });
  }

  GemmPacked Packed(float* data, const GemmPart& part) const {
    float* const least = data + PackedSize(gemm_).elements;
    return {data, reinterpret_cast<uint16_t*>(least), part.panel_begin, part.term_begin,
            part.term_end - part.term_begin};
  }

  /// Where a body packs B: the last part of its memory.
  float* OwnPacked(float* own) const { return own + BodyElements(gemm_) - PackedElements(gemm_); }

  template <class Byte>
  static Byte* At(Byte* origin, const Offsets& offsets, const RowView& view, int64_t batch) {
    return origin + offsets(batch) * view.element_bytes;
  }

  const Gemm& gemm_;
  const std::byte *a_, *b_, *added_;
  std::byte* c_;
  float *added_row_, *packed_, *kept_, *bodies_;
};

}  // namespace
}  // namespace gemm

void RunGemm(const Gemm& planned, const void* a, const void* b, const void* added, void* c,
             void* scratch) {
  if (planned.bodies > 0) gemm::Call(planned, a, b, added, c, scratch).Run();
}

}  // namespace openaclnn
