// SPDX-License-Identifier: Apache-2.0
// Matrix products: the sizes of the parts of the scratch, for planning and for running.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "kernels/gemm/gemm.h"
#include "kernels/work/divide_up.h"

namespace openaclnn::gemm {

inline int64_t TileColumns(const Gemm& gemm) { return gemm.kernels->tile_columns; }

inline int64_t GroupPanels(const Gemm& gemm) {
  return DivideUp(gemm.pass_panels, gemm.column_groups);
}

/// Batches that are worked on together.
inline int64_t RoundBatches(const Gemm& gemm) { return gemm.batches.count / gemm.rounds; }

/// The items of a round: groups of columns of a block of rows, or of a batch. Bodies take them one
/// by one.
inline int64_t RoundItems(const Gemm& gemm) {
  return gemm.packing == GemmPacking::kBatch
             ? gemm.batches.count * gemm.column_groups
             : RoundBatches(gemm) * gemm.blocks * gemm.column_groups;
}

/// The terms of a group of rows.
inline GemmPart TermsOf(const GemmRows& rows, int64_t group) {
  const __int128 first = rows.first + static_cast<__int128>(group) * rows.step;
  const auto place = [&](__int128 at) {
    return static_cast<int64_t>(std::clamp<__int128>(at, 0, rows.places)) * rows.place_terms;
  };
  return {place(first), place(first + rows.length), 0, 0};
}

/// Terms of B that are packed at a time: every block's units of a segment.
inline GemmPart SegmentOf(const Gemm& gemm, int64_t segment) {
  if (gemm.segment_units == 0) return {0, gemm.terms, 0, 0};
  const __int128 length = static_cast<__int128>(gemm.segment_units) * kGemmUnit;
  const auto term = [&](__int128 at) {
    return static_cast<int64_t>(std::min<__int128>(at, gemm.terms));
  };
  return {term(gemm.first_term + segment * length),
          term(gemm.last_first_term + (segment + 1) * length), 0, 0};
}

inline int64_t Segments(const Gemm& gemm) {
  if (gemm.segment_units == 0) return 1;
  return DivideUp(gemm.terms - gemm.first_term, gemm.segment_units * kGemmUnit);
}

// Parts of the scratch, in floats: the addend of every row, the packed B that all bodies read, sums
// that wait from one segment to the next, and the memory of each body. Sizes are rounded up to
// whole vectors, so every part has the alignment of the first.

inline __int128 WholeVectors(__int128 elements) { return (elements + 15) / 16 * 16; }

inline __int128 AddedElements(const Gemm& gemm) {
  return gemm.added_once ? static_cast<__int128>(gemm.panels) * TileColumns(gemm) : 0;
}

/// Whether two terms take the place of a float.
inline bool InPairs(const Gemm& gemm) { return gemm.operands != GemmOperands::kFloats; }

/// The floats, or pairs, that so many terms take.
inline int64_t Places(const Gemm& gemm, int64_t terms) {
  return InPairs(gemm) ? DivideUp(terms, 2) : terms;
}

/// The floats of B that is packed at a time. In pairs, its least magnitudes follow it.
struct PackedSize {
  __int128 elements, least;

  explicit PackedSize(const Gemm& gemm) {
    const bool units = gemm.packing == GemmPacking::kUnit;
    const GemmPart segment = SegmentOf(gemm, 0);
    const int64_t terms =
        units ? std::min(gemm.terms, kGemmUnit) : segment.term_end - segment.term_begin;
    const bool shared = gemm.packing == GemmPacking::kShared;
    const __int128 panels = shared ? gemm.pass_panels : GroupPanels(gemm);
    const __int128 columns = std::min<__int128>(gemm.columns, panels * TileColumns(gemm));
    elements = WholeVectors(columns * Places(gemm, terms) + TileColumns(gemm));
    least = InPairs(gemm) ? WholeVectors((panels * DivideUp(terms, kGemmChunk) + 1) / 2) : 0;
  }
};

inline __int128 PackedElements(const Gemm& gemm) {
  const PackedSize size(gemm);
  return size.elements + size.least;
}

inline __int128 SharedElements(const Gemm& gemm) {
  return gemm.packing == GemmPacking::kShared ? PackedElements(gemm) : 0;
}

/// The floats of a packed unit of a block of A. If A's whole tiles are read in place, only the rows
/// that are left are packed.
inline int64_t PackedRows(const Gemm& gemm) {
  const int64_t chunks = DivideUp(std::min(gemm.terms, kGemmUnit), kGemmChunk);
  const int64_t rows = gemm.plain_step != 0 ? gemm.kernels->tile_rows : gemm.block_rows;
  return static_cast<int64_t>(WholeVectors(rows * chunks * Places(gemm, kGemmChunk)));
}

/// The floats of one item's sums of units that wait for their partner at the same time.
inline __int128 WaitingElements(const Gemm& gemm) {
  const int64_t units = DivideUp(gemm.terms, kGemmUnit);
  const int64_t levels = units > 1 ? std::bit_width(static_cast<uint64_t>(units - 1)) : 0;
  return static_cast<__int128>(levels * gemm.block_rows) * GroupPanels(gemm) * TileColumns(gemm);
}

/// The floats of all items' waiting sums, which are kept from one segment to the next.
inline __int128 KeptElements(const Gemm& gemm) {
  return gemm.segment_units != 0 ? RoundItems(gemm) * WaitingElements(gemm) : 0;
}

inline __int128 BodyElements(const Gemm& gemm) {
  return PackedRows(gemm) + (gemm.segment_units != 0 ? 0 : WaitingElements(gemm)) +
         (gemm.packing == GemmPacking::kShared ? 0 : PackedElements(gemm));
}

inline __int128 ScratchElements(const Gemm& gemm) {
  return AddedElements(gemm) + SharedElements(gemm) + KeptElements(gemm) +
         gemm.bodies * BodyElements(gemm);
}

}  // namespace openaclnn::gemm
