// SPDX-License-Identifier: Apache-2.0
// Tiles of rows whose elements are packed.
#include "kernels/rows/packed_rows.h"

#include <algorithm>
#include <cstdlib>

#include "kernels/move/copy.h"
#include "kernels/work/scratch.h"

namespace openaclnn {
namespace {

// Rows of a tile at least: a cache line of bytes, as masks have. Time against a copy and the dense
// gradient of the masked softmax, FLOAT, all transposed, 2,048 and 4,096 columns, on one thread of
// a Zen 3: 16 rows 1.5 and 0.8, 32 rows 1.3 and 0.9, 64 rows 0.4 to 0.9 and 0.3 to 0.4.
constexpr int64_t kLeastRows = 64;
// Elements, where that is more rows.
constexpr int64_t kTileElements = 32768;

}  // namespace

PackedRows::PackedRows(std::span<const Operand* const> operands) {
  const Operand& out = *operands.back();
  const uint32_t rank = out.rank();
  views_count_ = operands.size();
  dims_count_ = rank - 1;
  width_ = out.last_dim();
  const Shape shape = ShapeOf(out);
  bool any = false;
  for (size_t v = 0; v < views_count_; ++v) {
    const Steps steps(shape, *operands[v]);
    View& view = views_[v];
    view.element_bytes = static_cast<int64_t>(FindDataType(operands[v]->dtype())->bytes);
    view.step = steps.bytes[rank - 1];
    view.packed = width_ > 1 && view.step != view.element_bytes;
    any |= view.packed;
    std::copy_n(steps.bytes.begin(), dims_count_, view.steps.begin());
  }
  if (!any || out.empty()) return;
  std::copy_n(shape.begin(), dims_count_, dims_.begin());
  rows_ = *out.count() / width_;
  Cut();
  Place();
}

/// A tile is longest along the dimension where the elements of the first packed view are nearest.
void PackedRows::Cut() {
  const View& leader = *std::find_if(views_.begin(), views_.begin() + views_count_,
                                     [](const View& view) { return view.packed; });
  const auto far = [&](size_t d) {
    return leader.steps[d] == 0 ? INT64_MAX : std::abs(leader.steps[d]);
  };
  std::array<size_t, kMaxDims> order;
  for (size_t d = 0; d < dims_count_; ++d) order[d] = dims_count_ - 1 - d;
  std::stable_sort(order.begin(), order.begin() + dims_count_,
                   [&](size_t a, size_t b) { return far(a) < far(b); });
  int64_t wanted = std::max(kLeastRows, kTileElements / width_);
  tiles_ = 1;
  for (size_t i = 0; i < dims_count_; ++i) {
    const size_t d = order[i];
    tile_dims_[d] = std::min(dims_[d], wanted);
    wanted /= tile_dims_[d];
    wanted = std::max<int64_t>(wanted, 1);
    tiles_ *= (dims_[d] + tile_dims_[d] - 1) / tile_dims_[d];
  }
}

/// The packed views' places in a tile, and how many tiles there are at the same time: together no
/// more rows than there are.
void PackedRows::Place() {
  int64_t rows = 1;
  for (size_t d = 0; d < dims_count_; ++d) rows *= tile_dims_[d];
  ScratchParts parts;
  for (View& view : views_) {
    if (!view.packed) continue;
    int64_t own = 1;
    for (size_t d = 0; d < dims_count_; ++d) own *= view.steps[d] != 0 ? tile_dims_[d] : 1;
    view.place = static_cast<int64_t>(parts.Take(__int128{own} * width_ * view.element_bytes));
  }
  tile_bytes_ = static_cast<int64_t>(parts.bytes());
  const int64_t threads = Meta()->runtime->threads();
  slots_ = std::clamp<int64_t>(rows_ / rows, 1, threads);
}

uint64_t PackedRows::workspace_bytes() const {
  return ScratchBytes(__int128{slots_} * tile_bytes_);
}

bool PackedRows::IsLong() const { return rows_ * width_ >= kLongBlocks * kTileElements; }

PackedRows::Tile::Tile(const PackedRows& rows, int64_t index, void* const* data, std::byte* memory)
    : rows_(rows) {
  Dims begin{};
  for (size_t d = rows.dims_count_; d-- > 0;) {
    const int64_t parts = (rows.dims_[d] + rows.tile_dims_[d] - 1) / rows.tile_dims_[d];
    begin[d] = index % parts * rows.tile_dims_[d];
    lengths_[d] = std::min(rows.tile_dims_[d], rows.dims_[d] - begin[d]);
    count_ *= lengths_[d];
    index /= parts;
  }
  for (size_t v = 0; v < rows.views_count_; ++v) {
    const View& view = rows.views_[v];
    source_[v] = static_cast<std::byte*>(data[v]);
    for (size_t d = 0; d < rows.dims_count_; ++d) source_[v] += begin[d] * view.steps[d];
    first_[v] = view.packed ? memory + view.place : source_[v];
    int64_t step = rows.width_ * view.element_bytes;
    for (size_t d = rows.dims_count_; d-- > 0;) {
      steps_[v][d] = view.steps[d];
      if (!view.packed || view.steps[d] == 0) continue;  // rows that coincide are packed once
      steps_[v][d] = step;
      step *= lengths_[d];
    }
  }
}

void PackedRows::Tile::Move(size_t v, bool in) const {
  const View& view = rows_.views_[v];
  if (!view.packed) return;
  Shape shape, lies, packed;
  for (size_t d = 0; d < rows_.dims_count_; ++d) {
    shape.push_back(view.steps[d] != 0 ? lengths_[d] : 1);
    lies.push_back(view.steps[d]);
    packed.push_back(steps_[v][d]);
  }
  shape.push_back(rows_.width_);
  lies.push_back(view.step);
  packed.push_back(view.element_bytes);
  if (in) {
    Copy(shape, Steps(lies), Steps(packed), view.element_bytes).InOrder(source_[v], first_[v]);
  } else {
    Copy(shape, Steps(packed), Steps(lies), view.element_bytes).InOrder(first_[v], source_[v]);
  }
}

void PackedRows::Tile::CopyIn() const {
  for (size_t v = 0; v + 1 < rows_.views_count_; ++v) Move(v, true);
}

void PackedRows::Tile::CopyOut() const { Move(rows_.views_count_ - 1, false); }

}  // namespace openaclnn
