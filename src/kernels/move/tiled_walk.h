// SPDX-License-Identifier: Apache-2.0
// A walk over several views, some of which are copied in tiles before they are read.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>

#include "kernels/move/broadcast.h"
#include "kernels/move/tile.h"

namespace openaclnn {

/// Inputs whose neighbours along the runs lie apart, and are next to each other along another
/// dimension, are copied a tile at a time. So each line of their memory is read once. The views
/// behind the inputs are outputs.
class TiledWalk {
 public:
  static constexpr size_t kMaxInputs = 3;

  TiledWalk() = default;
  explicit TiledWalk(const Walk& walk) : walk_(walk) {}
  /// The views of Walk's constructor, of which all but the last are inputs.
  TiledWalk(const Shape& shape, std::span<const Operand* const> views)
      : walk_(shape, views), inputs_(views.size() - 1) {
    for (size_t k = 0; k < inputs_; ++k) {
      if (std::abs(walk_.step(k)) <= kLongestElement) continue;  // at most a few lie between
      const auto bytes = static_cast<int64_t>(FindDataType(views[k]->dtype())->bytes);
      const std::optional<uint32_t> found = walk_.Across(k, bytes);
      if (!found || (across_ && *across_ != *found)) continue;
      across_ = found;
      bytes_[k] = bytes;
    }
  }

  const Walk& walk() const { return walk_; }
  int64_t count() const { return walk_.count(); }
  /// Bytes between the neighbours that ForRuns hands to its body.
  int64_t step(size_t view) const { return IsTiled(view) ? bytes_[view] : walk_.step(view); }

  /// As Walk::ForRuns.
  template <class Body>
  void ForRuns(const Walk::Pointers& origins, const Body& body, int64_t longest) const {
    if (!across_) return walk_.ForRuns(origins, body, longest);
    const int64_t widest = *std::ranges::max_element(bytes_);
    walk_.ForTiles(origins, *across_, kLine / widest, kColumns,
                   [&](const Walk::Pointers& at, int64_t rows, int64_t columns) {
                     ForRunsOfTile(at, rows, columns, body);
                   });
  }

 private:
  // A tile has as many rows as a line holds elements of the widest input. A run of its columns is
  // long enough to be worth a call of the body.
  static constexpr int64_t kLine = 64, kColumns = 128, kLongestElement = 16;

  bool IsTiled(size_t view) const { return view < inputs_ && bytes_[view] != 0; }

  template <class Body>
  void ForRunsOfTile(const Walk::Pointers& at, int64_t rows, int64_t columns,
                     const Body& body) const {
    alignas(kLine) std::byte tiles[kMaxInputs][kLine * kColumns];
    for (size_t k = 0; k < inputs_; ++k) {
      if (!IsTiled(k)) continue;
      CopyRectangle({at[k], bytes_[k], walk_.step(k)}, {tiles[k], kColumns * bytes_[k], bytes_[k]},
                    rows, columns, bytes_[k]);
    }
    for (int64_t row = 0; row < rows; ++row) {
      Walk::Pointers run = at;
      for (size_t k = 0; k < run.size(); ++k) run[k] += row * walk_.step_across(k, *across_);
      for (size_t k = 0; k < kMaxInputs; ++k) {
        if (IsTiled(k)) run[k] = tiles[k] + row * kColumns * bytes_[k];
      }
      body(run, columns);
    }
  }

  Walk walk_;
  size_t inputs_ = 0;
  std::optional<uint32_t> across_;
  std::array<int64_t, kMaxInputs> bytes_{};  // of an element of a tiled input, else 0
};

}  // namespace openaclnn
