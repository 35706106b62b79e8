// SPDX-License-Identifier: Apache-2.0
// Matrix products: how the work is cut, and the parts of the scratch.
#include "kernels/gemm.h"

#include <algorithm>
#include <atomic>
#include <bit>

#include "kernels/parallel.h"
#include "kernels/scratch.h"

namespace openaclnn {
namespace {

// Enough for some threads to share evenly, and few enough for their scratch to be small.
constexpr int64_t kWantedItems = 16;
constexpr int64_t kMaxBodies = 32;
constexpr int64_t kPackElements = 65536;     // of B that a thread packs at a time
constexpr int64_t kPassElements = 4 << 20;   // of B that are packed at a time, but whole terms
constexpr int64_t kPassColumns = 256;        // of at least so many columns
constexpr int64_t kBatchElements = 1 << 18;  // of B that one body packs for itself

int64_t DivideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t GroupPanels(const Gemm& gemm) { return DivideUp(gemm.pass_panels, gemm.column_groups); }

int64_t TileColumns(const Gemm& gemm) { return gemm.kernels->tile_columns; }

/// Batches that are worked on together.
int64_t RoundBatches(const Gemm& gemm) { return gemm.batches.count / gemm.rounds; }

/// Sums of units that wait for their partner at the same time.
int64_t Levels(const Gemm& gemm) {
  const int64_t units = DivideUp(gemm.terms, kGemmUnit);
  return units > 1 ? std::bit_width(static_cast<uint64_t>(units - 1)) : 0;
}

// Parts of the scratch, in floats; whole vectors, so that all are aligned as the first one is.

__int128 WholeVectors(__int128 elements) { return (elements + 15) / 16 * 16; }

__int128 AddedElements(const Gemm& gemm) {
  return gemm.added_once ? gemm.panels * TileColumns(gemm) : 0;
}

__int128 PackedElements(const Gemm& gemm) {
  const int64_t columns = std::min(gemm.columns, gemm.pass_panels * TileColumns(gemm));
  return WholeVectors(static_cast<__int128>(columns) * gemm.terms + TileColumns(gemm));
}

/// A unit of a block of A.
int64_t PackedRows(const Gemm& gemm) {
  return kGemmRows * std::min(kGemmUnit, DivideUp(gemm.terms, kGemmChunk) * kGemmChunk);
}

__int128 BodyElements(const Gemm& gemm) {
  const int64_t partials = Levels(gemm) * kGemmRows * GroupPanels(gemm) * TileColumns(gemm);
  return PackedRows(gemm) + partials + (gemm.bodies_pack ? PackedElements(gemm) : 0);
}

/// The groups from merged_begin to merged_end have all places, which makes their terms the same.
void MergeGroups(Gemm* gemm) {
  const GemmRows& rows = gemm->rows;
  const auto clamped = [&](__int128 group) {
    return static_cast<int64_t>(std::clamp<__int128>(group, 0, rows.groups));
  };
  // first + group * step <= 0 and first + group * step + length >= places.
  const __int128 low = rows.step > 0 ? rows.places - rows.length - rows.first : rows.first;
  const __int128 high = (rows.step > 0 ? -rows.first : rows.first + rows.length - rows.places) + 1;
  gemm->merged_begin = clamped(low);
  gemm->merged_end = rows.merge ? std::max(clamped(high), gemm->merged_begin) : gemm->merged_begin;
}

GemmBlock BlockOf(const Gemm& gemm, int64_t index) {
  const GemmRows& rows = gemm.rows;
  const int64_t per_group = DivideUp(rows.group_rows, kGemmRows);
  const int64_t before = gemm.merged_begin * per_group;
  const int64_t merged =
      DivideUp((gemm.merged_end - gemm.merged_begin) * rows.group_rows, kGemmRows);
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
  const __int128 first = rows.first + static_cast<__int128>(group) * rows.step;
  const auto place = [&](__int128 at) {
    return static_cast<int64_t>(std::clamp<__int128>(at, 0, rows.places)) * rows.place_terms;
  };
  const int64_t row = group * rows.group_rows + part * kGemmRows;
  return {row, std::min(row + kGemmRows, end * rows.group_rows), place(first),
          place(first + rows.length)};
}

/// Which parts of the scratch running bodies have. The lowest free one is taken, whose memory is
/// most likely in the cache of the thread that had it before.
class Slots {
 public:
  int Take() {
    uint32_t taken = taken_.load(std::memory_order_relaxed);
    while (!taken_.compare_exchange_weak(taken, taken | (taken + 1), std::memory_order_acquire)) {
    }
    return std::countr_one(taken);
  }
  void GiveBack(int slot) { taken_.fetch_and(~(uint32_t{1} << slot), std::memory_order_release); }

 private:
  std::atomic<uint32_t> taken_ = 0;
};

/// A call: where its operands are, and the parts of its scratch.
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
        bodies_(packed_ + (gemm.bodies_pack ? 0 : PackedElements(gemm))) {}

  void Run() const {
    if (gemm_.added_once) {
      std::fill_n(added_row_, gemm_.panels * TileColumns(gemm_), 0.0f);
      const GemmAddend& added = gemm_.added;
      gemm_.kernels->widen(added_, added.view.step, added.dtype, gemm_.columns, added_row_);
    }
    if (gemm_.bodies_pack) return RunBatches();
    for (int64_t round = 0; round < gemm_.rounds; ++round) {
      for (int64_t panel = 0; panel < gemm_.panels; panel += gemm_.pass_panels) {
        RunPass(round, panel, std::min(panel + gemm_.pass_panels, gemm_.panels));
      }
    }
  }

 private:
  /// Calls work(item, scratch) for all items, in bodies with a part of the scratch each.
  template <class Work>
  void ForItems(int64_t items, const Work& work) const {
    Slots slots;
    ParallelFor(gemm_.bodies, [&](int64_t body) {
      const int slot = slots.Take();
      const int64_t end = BlockBegin(items, gemm_.bodies, body + 1);
      for (int64_t item = BlockBegin(items, gemm_.bodies, body); item < end; ++item) {
        work(item, bodies_ + slot * BodyElements(gemm_));
      }
      slots.GiveBack(slot);
    });
  }

  /// Batches in parallel.
  void RunBatches() const {
    ForItems(gemm_.batches.count, [&](int64_t batch, float* own) {
      float* const packed = own + BodyElements(gemm_) - PackedElements(gemm_);
      Pack(batch, {0, gemm_.terms, 0, gemm_.panels}, packed);
      for (int64_t block = 0; block < gemm_.blocks; ++block) {
        Multiply(batch, block, 0, gemm_.panels, packed, 0, own);
      }
    });
  }

  /// Some panels of the batches of a round, which share B.
  void RunPass(int64_t round, int64_t begin, int64_t end) const {
    const int64_t first = round * RoundBatches(gemm_);
    const int64_t columns =
        std::min(gemm_.columns, end * TileColumns(gemm_)) - begin * TileColumns(gemm_);
    const int64_t grain = DivideUp(kPackElements, columns);
    if (gemm_.terms > 0) {
      ParallelFor(DivideUp(gemm_.terms, grain), [&](int64_t part) {
        Pack(first, {part * grain, std::min((part + 1) * grain, gemm_.terms), begin, end}, packed_);
      });
    }
    const int64_t per_batch = gemm_.blocks * gemm_.column_groups;
    const int64_t items = RoundBatches(gemm_) * per_batch;
    const int64_t group_panels = GroupPanels(gemm_);
    ForItems(items, [&](int64_t item, float* own) {
      const int64_t group = begin + item % gemm_.column_groups * group_panels;
      if (group >= end) return;
      Multiply(first + item / per_batch, item % per_batch / gemm_.column_groups, group,
               std::min(group + group_panels, end), packed_, begin, own);
    });
  }

  void Pack(int64_t batch, const GemmPart& part, float* packed) const {
    gemm_.kernels->pack_b(gemm_, At(b_, gemm_.batches.b, gemm_.b.view, batch), part, packed);
  }

  void Multiply(int64_t batch, int64_t block, int64_t panel_begin, int64_t panel_end,
                const float* packed, int64_t packed_panel, float* own) const {
    const GemmBatches& batches = gemm_.batches;
    gemm_.kernels->multiply({
        .gemm = &gemm_,
        .block = BlockOf(gemm_, block),
        .panel_begin = panel_begin,
        .panel_end = panel_end,
        .a = At(a_, batches.a, gemm_.a.view, batch),
        .b = packed,
        .b_panel = packed_panel,
        .added = added_ ? At(added_, batches.added, gemm_.added.view, batch) : nullptr,
        .added_row = gemm_.added_once ? added_row_ : nullptr,
        .c = At(c_, batches.c, gemm_.c, batch),
        .packed = own,
        .partials = own + PackedRows(gemm_),
    });
  }

  template <class Byte>
  static Byte* At(Byte* origin, const Offsets& offsets, const RowView& view, int64_t batch) {
    return origin + offsets(batch) * view.element_bytes;
  }

  const Gemm& gemm_;
  const std::byte *a_, *b_, *added_;
  std::byte* c_;
  float *added_row_, *packed_, *bodies_;
};

}  // namespace

uint64_t Gemm::scratch_bytes() const {
  if (bodies == 0) return 0;
  __int128 elements = AddedElements(*this) + bodies * BodyElements(*this);
  if (!bodies_pack) elements += PackedElements(*this);
  return ScratchBytes(elements * static_cast<int>(sizeof(float)));
}

void PlanGemm(Gemm* gemm) {
  gemm->kernels = OPENACLNN_TARGET_SELECT(kGemmKernels);
  const int64_t tile_columns = TileColumns(*gemm);
  // Without terms A and B have no elements, perhaps no address.
  if (gemm->terms == 0) gemm->batches.a = gemm->batches.b = {};
  const GemmRows& rows = gemm->rows;
  const GemmBatches& batches = gemm->batches;
  gemm->added_once = gemm->adds && gemm->added.view.rows.constant() && batches.added.constant();
  MergeGroups(gemm);
  const int64_t merged = gemm->merged_end - gemm->merged_begin;
  gemm->blocks = (rows.groups - merged) * DivideUp(rows.group_rows, kGemmRows) +
                 DivideUp(merged * rows.group_rows, kGemmRows);
  gemm->panels = DivideUp(gemm->columns, tile_columns);
  const int64_t terms = std::max<int64_t>(gemm->terms, 1);
  const int64_t pass_columns = std::max(kPassElements / terms, kPassColumns);
  const int64_t passes = DivideUp(gemm->panels, DivideUp(pass_columns, tile_columns));
  gemm->pass_panels = DivideUp(gemm->panels, passes);
  const bool own_b = batches.count > 1 && !batches.b.constant();
  gemm->bodies_pack =
      own_b && batches.count >= kWantedItems && kBatchElements / terms >= gemm->columns;
  gemm->rounds = own_b && !gemm->bodies_pack ? batches.count : 1;
  const int64_t round_blocks = RoundBatches(*gemm) * gemm->blocks;
  gemm->column_groups =
      gemm->bodies_pack ? 1 : std::min(DivideUp(kWantedItems, round_blocks), gemm->pass_panels);
  const int64_t items = gemm->bodies_pack ? batches.count : round_blocks * gemm->column_groups;
  gemm->bodies = std::min(items, kMaxBodies);
}

void RunGemm(const Gemm& gemm, const void* a, const void* b, const void* added, void* c,
             void* scratch) {
  if (gemm.bodies > 0) Call(gemm, a, b, added, c, scratch).Run();
}

}  // namespace openaclnn
