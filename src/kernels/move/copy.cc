// SPDX-License-Identifier: Apache-2.0
// Copies between views: dense runs, strided rows, and tiles of transposed dimensions.
#include "kernels/move/copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "kernels/move/tile.h"
#include "kernels/work/divide_up.h"

namespace openaclnn {
namespace {

// Bytes that one thread takes at least: about 10 us.
constexpr int64_t kBlockBytes = 64 << 10;
constexpr int64_t kMaxBlocks = 1024;

// Sizes of a block of tiles: its rows in bytes, and all of it, which the second-level cache holds
// twice.
constexpr int64_t kTiledRow = 1024;
constexpr int64_t kTiledBytes = 256 << 10;

/// Whether so many steps are one of the dimension outside. Behind the last of them nothing needs to
/// lie, so that their product may overflow.
bool Spans(int64_t step, int64_t length, int64_t outer) {
  int64_t all = 0;
  return !__builtin_mul_overflow(step, length, &all) && all == outer;
}

}  // namespace

Copy::Copy(const Operand& from, const Operand& to)
    : Copy(ShapeOf(to), Steps(ShapeOf(to), from), Steps(ShapeOf(to), to),
           static_cast<int64_t>(FindDataType(to.dtype())->bytes)) {}

Copy::Copy(const Shape& shape, const Steps& from, const Steps& to, int64_t element_bytes)
    : bytes_(element_bytes) {
  for (const int64_t dim : shape) {
    if (dim == 0) return;
  }
  total_bytes_ = CountOf(shape) * bytes_;
  Join(shape, from, to);
  Widen();
  FindRows();
  CutIntoBlocks();
}

void Copy::Join(const Shape& shape, const Steps& from, const Steps& to) {
  std::array<Dim, 2 * kMaxRank> given;
  uint32_t rank = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1) given[rank++] = {shape[i], from.bytes[i], to.bytes[i]};
  }
  std::stable_sort(given.begin(), given.begin() + rank,
                   [](const Dim& a, const Dim& b) { return std::abs(a.to) > std::abs(b.to); });
  for (uint32_t i = 0; i < rank; ++i) {
    const Dim& dim = given[i];
    Dim* const outer = rank_ > 0 ? &dims_[rank_ - 1] : nullptr;
    if (outer != nullptr && Spans(dim.from, dim.length, outer->from) &&
        Spans(dim.to, dim.length, outer->to)) {
      *outer = {outer->length * dim.length, dim.from, dim.to};
    } else {
      dims_[rank_++] = dim;
    }
  }
}

/// A dense run of 2 to 16 bytes is moved as if it were an element.
void Copy::Widen() {
  if (rank_ == 0) return;
  const Dim& inner = dims_[rank_ - 1];
  if (inner.from != bytes_ || inner.to != bytes_) return;
  const int64_t run = inner.length * bytes_;
  if (run > 16 || (run & (run - 1)) != 0) return;
  bytes_ = run;
  --rank_;
}

/// Takes the columns, along which the output's elements are next to each other, and the rows: of
/// the dimension where the source's are if it is another, else of the one before.
void Copy::FindRows() {
  columns_ = {1, bytes_, bytes_};
  if (rank_ > 0) columns_ = dims_[--rank_];
  if (rank_ == 0) {
    rows_ = {};
    return;
  }
  uint32_t near = rank_ - 1;
  if (columns_.from != 0) {
    for (uint32_t i = 0; i < rank_; ++i) {
      const int64_t step = std::abs(dims_[i].from);
      const int64_t best = std::abs(dims_[near].from);
      if (step != 0 && (best == 0 || step < best)) near = i;
    }
    if (std::abs(dims_[near].from) >= std::abs(columns_.from)) near = rank_ - 1;
  }
  rows_ = dims_[near];
  std::copy(dims_.begin() + near + 1, dims_.begin() + rank_, dims_.begin() + near);
  --rank_;
}

/// The blocks of rows and columns become the last two dimensions.
void Copy::CutIntoBlocks() {
  const bool tiled = rows_.from != 0 && std::abs(rows_.from) < std::abs(columns_.from);
  const int64_t most = (tiled ? kTiledBytes : kBlockBytes) / bytes_;
  block_columns_ = std::min(columns_.length, tiled ? kTiledRow / bytes_ : most);
  block_rows_ = std::min(rows_.length, std::max<int64_t>(1, most / block_columns_));
  const auto cut = [&](const Dim& dim, int64_t length) -> Dim {
    const int64_t blocks = DivideUp(dim.length, length);
    if (blocks == 1) return {};  // nobody steps to a second, whose place may be beyond any number
    return {blocks, dim.from * length, dim.to * length};
  };
  dims_[rank_++] = cut(rows_, block_rows_);
  dims_[rank_++] = cut(columns_, block_columns_);
  blocks_ = 1;
  for (uint32_t i = 0; i < rank_; ++i) blocks_ *= dims_[i].length;
}

int64_t Copy::run() const {
  const bool dense = columns_.from == bytes_ && columns_.to == bytes_;
  return dense && columns_.length * bytes_ == total_bytes_ ? total_bytes_ : 0;
}

void Copy::operator()(const std::byte* from, std::byte* to) const {
  if (blocks_ == 0 || from == to) return;
  const int64_t shares = std::min(blocks_, BlockCount(total_bytes_, kBlockBytes, kMaxBlocks));
  ParallelFor(shares, [&](int64_t share) {
    CopyBlocks(BlockBegin(blocks_, shares, share), BlockBegin(blocks_, shares, share + 1), from,
               to);
  });
}

void Copy::InOrder(const std::byte* from, std::byte* to) const {
  if (from != to) CopyBlocks(0, blocks_, from, to);
}

void Copy::CopyBlocks(int64_t begin, int64_t end, const std::byte* from, std::byte* to) const {
  std::array<int64_t, 2 * kMaxRank + 2> at{};
  int64_t rest = begin;
  for (uint32_t i = rank_; i-- > 0; rest /= dims_[i].length) {
    at[i] = rest % dims_[i].length;
    from += at[i] * dims_[i].from;
    to += at[i] * dims_[i].to;
  }
  for (int64_t block = begin; block < end; ++block) {
    Dim rows = rows_, columns = columns_;
    rows.length = std::min(block_rows_, rows_.length - at[rank_ - 2] * block_rows_);
    columns.length = std::min(block_columns_, columns_.length - at[rank_ - 1] * block_columns_);
    CopyBlock(rows, columns, from, to);
    for (uint32_t i = rank_; i-- > 0;) {
      from += dims_[i].from;
      to += dims_[i].to;
      if (++at[i] < dims_[i].length) break;
      from -= at[i] * dims_[i].from;
      to -= at[i] * dims_[i].to;
      at[i] = 0;
    }
  }
}

void Copy::CopyBlock(const Dim& rows, const Dim& columns, const std::byte* from,
                     std::byte* to) const {
  if (columns.from == bytes_ && columns.to == bytes_ && columns.length * bytes_ >= 32) {
    for (int64_t row = 0; row < rows.length; ++row) {
      std::memcpy(to + row * rows.to, from + row * rows.from,
                  static_cast<size_t>(columns.length * bytes_));
    }
    return;
  }
  CopyRectangle({from, rows.from, columns.from}, {to, rows.to, columns.to}, rows.length,
                columns.length, bytes_);
}

}  // namespace openaclnn
