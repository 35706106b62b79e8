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

// Figures are speeds against the value here: processor time of one thread of a Xeon with AVX-512
// and 2 MB of second-level cache, interleaved; "two": elapsed time of two threads.

// Pieces of work. 8: 1.00 to 1.23, 32: 0.93 to 1.10, 64: 0.86 to 1.12; fewer would leave threads
// idle.
constexpr int64_t kWantedItems = 16;
// Threads that can take part. 4, 8, 16: 0.98 to 1.04.
constexpr int64_t kMaxBodies = 32;
static_assert(kMaxBodies <= 32);  // Slots has a bit for each
// Of B that a thread packs at a time. 4096 to 4 Mi: 0.96 to 1.02, two: 0.95 to 1.03.
constexpr int64_t kPackElements = 65536;
// Of B that are packed before they are multiplied. 1 Mi: 0.93 to 1.00, 4 Mi: 0.84 to 1.05, 16 Mi:
// 0.82 to 0.99.
constexpr int64_t kPassElements = 2 << 20;
// But of so many columns, for which A is packed again. 64: 0.69 to 0.93, 128: 0.89 to 1.07, 512:
// 0.95 to 1.03.
constexpr int64_t kPassColumns = 256;
// Of B that a body packs for a batch. None: 0.83 to 0.98, two: 0.39 to 0.86.
constexpr int64_t kBatchElements = 1 << 18;
// Columns of B that a body packs a unit of. 32: 0.89 to 0.99, 256: 0.92 to 1.05, 512: 0.82 to 1.08.
constexpr int64_t kUnitColumns = 128;

/// Of any length: terms that repeat may be as many as a number holds.
int64_t DivideUp(int64_t a, int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

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
  return gemm.added_once ? static_cast<__int128>(gemm.panels) * TileColumns(gemm) : 0;
}

/// Floats, or pairs that take their place, of so many terms.
int64_t Places(const Gemm& gemm, int64_t terms) { return gemm.pairs ? DivideUp(terms, 2) : terms; }

/// Terms and columns of B that are packed at a time; of pairs, the least magnitudes follow.
struct PackedSize {
  __int128 elements, least;

  explicit PackedSize(const Gemm& gemm) {
    const bool units = gemm.packing == GemmPacking::kUnit;
    const int64_t terms = units ? std::min(gemm.terms, kGemmUnit) : gemm.terms;
    const __int128 panels = units ? GroupPanels(gemm) : gemm.pass_panels;
    const __int128 columns = std::min<__int128>(gemm.columns, panels * TileColumns(gemm));
    elements = WholeVectors(columns * Places(gemm, terms) + TileColumns(gemm));
    least = gemm.pairs ? WholeVectors((panels * DivideUp(terms, kGemmChunk) + 1) / 2) : 0;
  }
};

__int128 PackedElements(const Gemm& gemm) {
  const PackedSize size(gemm);
  return size.elements + size.least;
}

__int128 SharedElements(const Gemm& gemm) {
  return gemm.packing == GemmPacking::kShared ? PackedElements(gemm) : 0;
}

/// A unit of a block of A.
int64_t PackedRows(const Gemm& gemm) {
  const int64_t chunks = DivideUp(std::min(gemm.terms, kGemmUnit), kGemmChunk);
  return kGemmRows * chunks * Places(gemm, kGemmChunk);
}

__int128 BodyElements(const Gemm& gemm) {
  const __int128 partials =
      static_cast<__int128>(Levels(gemm) * kGemmRows) * GroupPanels(gemm) * TileColumns(gemm);
  return PackedRows(gemm) + partials +
         (gemm.packing == GemmPacking::kShared ? 0 : PackedElements(gemm));
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

// Columns up to which A is read where it lies. Speed of that with 64 columns: 1.16, 256: 1.04, 512:
// 1.05, 768: 1.01, 4096: 0.97.
constexpr int64_t kPlainColumns = 1024;

/// Elements between A's rows where it is read as it lies: FLOAT in rows of one distance, a chunk
/// within a tap. Rows at multiples of 2 KB would share few places of a first-level cache.
int64_t PlainStep(const Gemm& gemm) {
  constexpr int64_t kShared = 2048 / sizeof(float);
  const TapMatrix& a = gemm.a;
  const bool plain = !a.transposed && a.dtype == ACL_FLOAT && a.rounding == Rounding::kNone &&
                     a.view.step == 1 && gemm.columns <= kPlainColumns &&
                     (a.width % kGemmChunk == 0 || a.width >= gemm.terms);
  const int64_t step = a.view.rows.step();
  return plain && step % kShared != 0 ? step : 0;
}

/// Pairs begin with a block's terms, those of B with all terms.
bool TakesPairs(const Gemm& gemm) {
  const auto pairs = [](const TapMatrix& m) {
    return m.dtype == ACL_BF16 && m.rounding == Rounding::kNone;
  };
  return gemm.kernels->pairs && Simd() == OPENACLNN_SIMD_AVX512_BF16 && pairs(gemm.a) &&
         pairs(gemm.b) && (gemm.rows.places == 1 || gemm.rows.place_terms % 2 == 0);
}

/// Who packs B, how much of it at a time, and the pieces of parallel work.
void Cut(Gemm* gemm) {
  const int64_t terms = std::max<int64_t>(gemm->terms, 1);
  const GemmBatches& batches = gemm->batches;
  const bool own_b = batches.count > 1 && !batches.b.constant();
  gemm->packing = GemmPacking::kShared;
  if (gemm->blocks == 1 && (own_b || batches.count == 1)) {
    gemm->packing = GemmPacking::kUnit;
  } else if (own_b && batches.count >= kWantedItems && kBatchElements / terms >= gemm->columns) {
    gemm->packing = GemmPacking::kBatch;
  }
  const bool shared = gemm->packing == GemmPacking::kShared;
  const int64_t pass_columns = std::max(kPassElements / terms, kPassColumns);
  const int64_t passes =
      shared ? DivideUp(gemm->panels, DivideUp(pass_columns, TileColumns(*gemm))) : 1;
  gemm->pass_panels = DivideUp(gemm->panels, passes);
  gemm->rounds = own_b && shared ? batches.count : 1;
  const int64_t blocks = RoundBatches(*gemm) * gemm->blocks;
  int64_t groups = DivideUp(kWantedItems, blocks);
  if (gemm->packing == GemmPacking::kUnit) {
    groups = std::max(groups, DivideUp(gemm->columns, kUnitColumns));
  }
  const bool whole = gemm->packing == GemmPacking::kBatch;
  gemm->column_groups = whole ? 1 : std::min(groups, gemm->pass_panels);
  gemm->bodies = std::min(whole ? batches.count : blocks * gemm->column_groups, kMaxBodies);
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
        bodies_(packed_ + SharedElements(gemm)) {}

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
      const GemmPacked packed = Packed(OwnPacked(own), 0, gemm_.terms);
      Pack(batch, {0, gemm_.terms, 0, gemm_.panels}, packed);
      for (int64_t block = 0; block < gemm_.blocks; ++block) {
        Multiply(batch, block, 0, gemm_.panels, packed, own);
      }
    });
  }

  /// Some panels of the batches of a round.
  void RunPass(int64_t round, int64_t begin, int64_t end) const {
    const int64_t first = round * RoundBatches(gemm_);
    const GemmPacked packed = Packed(packed_, begin, gemm_.terms);
    const bool shared = gemm_.packing == GemmPacking::kShared;
    if (shared && gemm_.terms > 0) {
      const int64_t columns =
          std::min(gemm_.columns, end * TileColumns(gemm_)) - begin * TileColumns(gemm_);
      int64_t grain = DivideUp(kPackElements, columns);
      if (gemm_.pairs) grain = DivideUp(grain, kGemmChunk) * kGemmChunk;
      ParallelFor(DivideUp(gemm_.terms, grain), [&](int64_t part) {
        Pack(first, {part * grain, std::min((part + 1) * grain, gemm_.terms), begin, end}, packed);
      });
    }
    const int64_t per_batch = gemm_.blocks * gemm_.column_groups;
    const int64_t group_panels = GroupPanels(gemm_);
    ForItems(RoundBatches(gemm_) * per_batch, [&](int64_t item, float* own) {
      const int64_t group = begin + item % gemm_.column_groups * group_panels;
      if (group >= end) return;
      Multiply(first + item / per_batch, item % per_batch / gemm_.column_groups, group,
               std::min(group + group_panels, end), shared ? packed : Packed(OwnPacked(own), 0, 0),
               own);
    });
  }

  void Pack(int64_t batch, const GemmPart& part, const GemmPacked& packed) const {
    gemm_.kernels->pack_b(gemm_, At(b_, gemm_.batches.b, gemm_.b.view, batch), part, packed);
  }

  void Multiply(int64_t batch, int64_t block, int64_t panel_begin, int64_t panel_end,
                const GemmPacked& packed, float* own) const {
    const GemmBatches& batches = gemm_.batches;
    gemm_.kernels->multiply({
        .gemm = &gemm_,
        .block = BlockOf(gemm_, block),
        .panel_begin = panel_begin,
        .panel_end = panel_end,
        .a = At(a_, batches.a, gemm_.a.view, batch),
        .b = At(b_, batches.b, gemm_.b.view, batch),
        .packed_b = packed,
        .added = added_ ? At(added_, batches.added, gemm_.added.view, batch) : nullptr,
        .added_row = gemm_.added_once ? added_row_ : nullptr,
        .c = At(c_, batches.c, gemm_.c, batch),
        .packed_a = own,
        .partials = own + PackedRows(gemm_),
    });
  }

  GemmPacked Packed(float* data, int64_t panel, int64_t terms) const {
    float* const least = data + PackedSize(gemm_).elements;
    return {data, reinterpret_cast<uint16_t*>(least), panel, 0, terms};
  }

  /// Where a body packs B, behind the rest of its own.
  float* OwnPacked(float* own) const { return own + BodyElements(gemm_) - PackedElements(gemm_); }

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
  const __int128 elements =
      AddedElements(*this) + SharedElements(*this) + bodies * BodyElements(*this);
  return ScratchBytes(elements * static_cast<int>(sizeof(float)));
}

void PlanGemm(Gemm* gemm) {
  gemm->kernels = OPENACLNN_TARGET_SELECT(kGemmKernels);
  // Without terms A and B have no elements, perhaps no address.
  if (gemm->terms == 0) gemm->batches.a = gemm->batches.b = {};
  const GemmRows& rows = gemm->rows;
  gemm->added_once =
      gemm->adds && gemm->added.view.rows.constant() && gemm->batches.added.constant();
  gemm->pairs = TakesPairs(*gemm);
  gemm->plain_step = PlainStep(*gemm);
  MergeGroups(gemm);
  const int64_t merged = gemm->merged_end - gemm->merged_begin;
  gemm->blocks = (rows.groups - merged) * DivideUp(rows.group_rows, kGemmRows) +
                 DivideUp(merged * rows.group_rows, kGemmRows);
  gemm->panels = DivideUp(gemm->columns, TileColumns(*gemm));
  Cut(gemm);
}

void RunGemm(const Gemm& gemm, const void* a, const void* b, const void* added, void* c,
             void* scratch) {
  if (gemm.bodies > 0) Call(gemm, a, b, added, c, scratch).Run();
}

}  // namespace openaclnn
