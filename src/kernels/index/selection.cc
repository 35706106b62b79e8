// SPDX-License-Identifier: Apache-2.0
// Selected slices: single elements in one loop, dense ones as a whole, others as views.
#include "kernels/index/selection.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "kernels/work/parallel.h"

namespace openaclnn {
namespace {

constexpr int64_t kBlockBytes = 64 << 10;
constexpr int64_t kMaxBlocks = 1024;
constexpr int64_t kLine = 64;

// The first lines of a slice some slices ahead are asked for; the processor foresees the others.
constexpr int64_t kAhead = 4;
constexpr int64_t kLinesAhead = 4;

template <int kBytes>
void Pick(const std::byte* from, const int64_t* offsets, int64_t n, std::byte* to,
          int64_t to_step) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) std::memcpy(to + i * to_step, from + offsets[i], kBytes);
}

template <int kBytes>
void Put(const std::byte* from, int64_t from_step, const int64_t* offsets, int64_t n,
         std::byte* to) {
  for (int64_t i = 0; i < n; ++i) std::memcpy(to + offsets[i], from + i * from_step, kBytes);
}

/// Elements of a dense row. Indices ahead and the row that follows are asked for meanwhile: a miss
/// of a random place is not foreseen, and few are under way at once. Speeds against not asking, on
/// two threads of a Zen 4 and rows of 8 KiB: 1.5 to 2.
template <int kBytes, class Index>
void PickOfRow(const IndexedPick& pick, int64_t n) {
  constexpr int64_t kGroup = 8, kIndicesAhead = 4096;
  const Index* const indices = reinterpret_cast<const Index*>(pick.indices);
  // Copies, for what is written could be `pick`.
  const std::byte *const from = pick.from, *next = pick.next_from;
  std::byte* const to = pick.to;
  int64_t next_step = (pick.next_bytes * kGroup + n - 1) / n;
  if (next == nullptr || next_step > kLine) next = from, next_step = 0;
  int64_t i = 0;
  for (; i + kGroup <= n; i += kGroup, next += next_step) {
    __builtin_prefetch(reinterpret_cast<const std::byte*>(indices + i) + kIndicesAhead);
    __builtin_prefetch(next);
    for (int64_t j = i; j < i + kGroup; ++j) {
      std::memcpy(to + j * kBytes, from + indices[j] * int64_t{kBytes}, kBytes);
    }
  }
  for (; i < n; ++i) std::memcpy(to + i * kBytes, from + indices[i] * int64_t{kBytes}, kBytes);
}

template <int kBytes, class Index>
void PickIndexed(const IndexedPick& pick, int64_t n) {
  if (pick.along == kBytes && pick.across == 0 && pick.to_step == kBytes) {
    return PickOfRow<kBytes, Index>(pick, n);
  }
  const Index* const indices = reinterpret_cast<const Index*>(pick.indices);
  const std::byte* const from = pick.from;
  std::byte* const to = pick.to;
  const int64_t along = pick.along, across = pick.across, to_step = pick.to_step;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    std::memcpy(to + i * to_step, from + i * across + indices[i] * along, kBytes);
  }
}

/// Calls body with the size of an element as a constant.
template <class Body>
void WithSize(int64_t element_bytes, const Body& body) {
  switch (element_bytes) {
    case 1:
      return body(std::integral_constant<int, 1>());
    case 2:
      return body(std::integral_constant<int, 2>());
    case 4:
      return body(std::integral_constant<int, 4>());
    case 8:
      return body(std::integral_constant<int, 8>());
    default:
      return body(std::integral_constant<int, 16>());
  }
}

void Prefetch(const std::byte* slice, int64_t bytes) {
  for (int64_t line = 0; line < std::min(bytes, kLinesAhead * kLine); line += kLine) {
    __builtin_prefetch(slice + line);
  }
}

}  // namespace

void PickElements(const std::byte* from, const int64_t* offsets, int64_t n, std::byte* to,
                  int64_t to_step, int64_t element_bytes) {
  WithSize(element_bytes, [&](auto bytes) { Pick<bytes>(from, offsets, n, to, to_step); });
}

void PutElements(const std::byte* from, int64_t from_step, const int64_t* offsets, int64_t n,
                 std::byte* to, int64_t element_bytes) {
  WithSize(element_bytes, [&](auto bytes) { Put<bytes>(from, from_step, offsets, n, to); });
}

void PickIndexed(const IndexedPick& pick, int64_t n) {
  WithSize(pick.element_bytes, [&](auto bytes) {
    pick.index_bytes == 4 ? PickIndexed<bytes, int32_t>(pick, n)
                          : PickIndexed<bytes, int64_t>(pick, n);
  });
}

/// Copies for one place: the slices of offsets [begin, end), of which the first goes to slice
/// `row`.
struct Selection::Part {
  const std::byte* from;
  const int64_t* offsets;
  int64_t begin, end, row;
  std::byte* to;
};

Selection::Selection(const Offsets& before, int64_t places, const Offsets& to, const Copy& slice,
                     int64_t slice_bytes)
    : before_(before), to_(to), places_(places), slice_(slice), bytes_(slice_bytes) {}

void Selection::operator()(const std::vector<int64_t>& offsets, const std::byte* from,
                           std::byte* to) const {
  const auto count = static_cast<int64_t>(offsets.size());
  const int64_t rows = places_ * count;
  if (rows == 0 || bytes_ == 0) return;
  const int64_t blocks = std::min(rows, BlockCount(rows * bytes_, kBlockBytes, kMaxBlocks));
  ParallelFor(blocks, [&](int64_t block) {
    const int64_t end = BlockBegin(rows, blocks, block + 1);
    for (int64_t row = BlockBegin(rows, blocks, block); row < end;) {
      const int64_t begin = row % count, n = std::min(count - begin, end - row);
      CopyPart({from + before_(row / count), offsets.data(), begin, begin + n, row, to});
      row += n;
    }
  });
}

void Selection::CopyPart(const Part& part) const {
  const int64_t run = slice_.run(), step = to_.step();
  const int64_t n = part.end - part.begin;
  if (run > 0 && run <= 16 && (run & (run - 1)) == 0 && (step != 0 || n == 1)) {
    return PickElements(part.from, part.offsets + part.begin, n, part.to + to_(part.row), step,
                        run);
  }
  for (int64_t i = part.begin; i < part.end; ++i) {
    std::byte* const target = part.to + to_(part.row + i - part.begin);
    const std::byte* const source = part.from + part.offsets[i];
    if (i + kAhead < part.end) Prefetch(part.from + part.offsets[i + kAhead], run);
    if (run > 0) {
      std::memcpy(target, source, static_cast<size_t>(run));
    } else {
      slice_.InOrder(source, target);
    }
  }
}

}  // namespace openaclnn
