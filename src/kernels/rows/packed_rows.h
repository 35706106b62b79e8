// SPDX-License-Identifier: Apache-2.0
// Rows of several views, where elements lie apart in some: those are packed, a tile of rows at
// once.
//
// One row at a time would load each cache line of columns anew for every row, and write it so.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/move/broadcast.h"
#include "kernels/work/parallel_items.h"

namespace openaclnn {

class PackedRows {
 public:
  static constexpr size_t kMaxViews = 4;
  /// Element 0 of a row of each view; the elements follow each other.
  using Row = std::array<std::byte*, kMaxViews>;

  PackedRows() = default;
  /// Rows along the last dimension. The last operand is the output, whose shape all have, but that
  /// inputs may be 1 in dimensions before the last. Sources may lie anywhere; the output may be the
  /// very view of an input.
  explicit PackedRows(std::span<const Operand* const> operands);

  /// Whether there is a view to pack; if not the rest is not to be used.
  bool any() const { return rows_ > 0; }
  /// A tile for each thread that takes part.
  uint64_t workspace_bytes() const;

  /// Runs body(row) for every row and done() after each tile, of which threads take turns.
  template <class Body, class Done>
  void ForRows(void* const* data, void* workspace, const Body& body, const Done& done) const {
    ParallelItems(tiles_, slots_, IsLong(), [&](int64_t index, int64_t slot) {
      const Tile tile(*this, index, data, static_cast<std::byte*>(workspace) + slot * tile_bytes_);
      tile.CopyIn();
      tile.ForRows(body);
      done();
      tile.CopyOut();
    });
  }

 private:
  static constexpr size_t kMaxDims = kMaxRank - 1;  // of rows
  using Dims = std::array<int64_t, kMaxDims>;

  struct View {
    bool packed;
    int64_t element_bytes, step;  // along the row, in bytes
    Dims steps;                   // from row to row, in bytes
    int64_t place;                // of its rows in a tile
  };

  /// Rows that are next to each other in every dimension, and where each view's are.
  class Tile {
   public:
    Tile(const PackedRows& rows, int64_t index, void* const* data, std::byte* memory);
    void CopyIn() const;
    void CopyOut() const;

    template <class Body>
    void ForRows(const Body& body) const {
      Dims at{};
      Row row = first_;
      for (int64_t left = count_; left-- > 0;) {
        body(row);
        for (size_t d = rows_.dims_count_; d-- > 0;) {
          const int64_t by = ++at[d] < lengths_[d] ? 1 : 1 - lengths_[d];
          for (size_t v = 0; v < rows_.views_count_; ++v) row[v] += by * steps_[v][d];
          if (by == 1) break;
          at[d] = 0;
        }
      }
    }

   private:
    /// Moves a packed view's rows between their memory and the tile; `in` if the view is an input.
    void Move(size_t view, bool in) const;

    const PackedRows& rows_;
    Dims lengths_{};
    int64_t count_ = 1;
    Row first_{}, source_{};  // of row 0: where it is worked on, and where it lies
    std::array<Dims, kMaxViews> steps_{};
  };

  void Cut();
  void Place();
  bool IsLong() const;

  size_t views_count_ = 0, dims_count_ = 0;
  std::array<View, kMaxViews> views_{};
  Dims dims_{}, tile_dims_{};
  int64_t width_ = 0, rows_ = 0;
  int64_t tiles_ = 0, tile_bytes_ = 0, slots_ = 0;
};

}  // namespace openaclnn
