// SPDX-License-Identifier: Apache-2.0
// Copies of all elements of one view to those of another of the same shape and type.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/move/broadcast.h"

namespace openaclnn {

/// Dimensions are walked in the order of the output's steps and joined where both views step alike.
/// Where the output's neighbours are far apart in the source, and others are near, the two
/// dimensions are copied in tiles.
class Copy {
 public:
  Copy() = default;
  /// Elements of 1, 2, 4, 8 or 16 bytes; a source may step by 0, an output may not.
  Copy(const Shape& shape, const Steps& from, const Steps& to, int64_t element_bytes);
  /// `from` is broadcast to the shape of `to`.
  Copy(const Operand& from, const Operand& to);

  /// In blocks that are worth a thread. The views are apart, or the very same.
  void operator()(const std::byte* from, std::byte* to) const;
  /// On the calling thread.
  void InOrder(const std::byte* from, std::byte* to) const;

  /// The bytes of the one run that a copy between dense views is, else 0.
  int64_t run() const;

 private:
  struct Dim {
    int64_t length = 1, from = 0, to = 0;  // steps in bytes
  };

  void Join(const Shape& shape, const Steps& from, const Steps& to);
  void Widen();
  void FindRows();
  void CutIntoBlocks();
  void CopyBlocks(int64_t begin, int64_t end, const std::byte* from, std::byte* to) const;
  void CopyBlock(const Dim& rows, const Dim& columns, const std::byte* from, std::byte* to) const;

  uint32_t rank_ = 0;
  std::array<Dim, 2 * kMaxRank + 2> dims_{};  // those of the blocks, at last of a block's rows
  Dim rows_, columns_;                        // of which a block has at most as many as:
  int64_t block_rows_ = 0, block_columns_ = 0;
  int64_t bytes_ = 0;  // of an element, or of the short run that is copied like one
  int64_t blocks_ = 0, total_bytes_ = 0;
};

}  // namespace openaclnn
