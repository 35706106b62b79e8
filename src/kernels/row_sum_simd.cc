// SPDX-License-Identifier: Apache-2.0
// Sums of rows, compiled once for each instruction set.
#include "kernels/lanes-inl.h"
#include "kernels/row_sum.h"
#include "kernels/strided.h"

namespace openaclnn::OPENACLNN_TARGET {
namespace {

// Terms added in sequence before the tree takes over.
constexpr int64_t kChunk = 64;

// Rows added in one pass over the accumulator: its load and store cost as much as a row does, and
// each row is one more miss that is under way. Speeds against 4, on one thread of a Zen 4: 1.00 to
// 1.35; 16: 0.75 to 1.4, least where rows come from the cache.
constexpr int64_t kRowsAtOnce = 8;

// Bytes of a tile's rows between those that are added and those that are asked for meanwhile: the
// hardware's prefetching starts anew with each row. They are asked into the second level; in the
// first they would drive out the accumulator and the rows at hand (FLOAT 0.86). Speeds against not
// asking, on one thread of a Zen 4: BFLOAT16 1.5 to 2.4, FLOAT 1.05 to 1.2, tokens of 64 columns
// 2.8; from the second level 0.85 to 1; 32 KiB instead: the same.
constexpr int64_t kAheadBytes = 8192;

/// Rows that will be added later, from the tile's first column; none where `rows` is null.
struct RowsAhead {
  const std::byte* const* rows;
  int64_t tile_byte;

  /// Asks for columns [j, j + kLanes) of the first kRows, once for each cache line.
  template <int64_t kRows, class T>
  inline __attribute__((always_inline)) void Ask(int64_t j) const {
    constexpr int kSecondLevel = 2;
    const int64_t byte = j * static_cast<int64_t>(sizeof(T));
    if (byte % 64 != 0) return;
    for (int64_t r = 0; r < kRows; ++r) {
      __builtin_prefetch(rows[r] + tile_byte + byte, /*rw=*/0, kSecondLevel);
    }
  }
};

/// acc[j] = (first ? 0 : acc[j]) + rows[0][j] + rows[1][j] + …, added in that order. Of a row that
/// is more than whole lanes the last lanes overlap the ones before; the columns in both come to the
/// same sums twice. Speed against lanes that stop at the end, rows of 30 columns on one thread of a
/// Zen 4: 2.4 to 2.7.
template <int64_t kRows, bool kFirst, bool kAsk, bool kWhole, class T>
void AddRows(const T* const* rows, RowsAhead ahead, int64_t width, float* acc) {
  const auto sum_of = [&](int64_t j, auto lanes) __attribute__((always_inline)) {
    F32x16 sum = lanes.Load(rows[0] + j);
    if constexpr (!kFirst) sum = lanes.Load(acc + j) + sum;
    for (int64_t r = 1; r < kRows; ++r) sum = sum + lanes.Load(rows[r] + j);
    return sum.template AsResult<float>();  // acc may be the output
  };
  if (!kWhole && width < kLanes) {
    if constexpr (kAsk) ahead.Ask<kRows, T>(0);
    const TailLanes lanes{width};
    return lanes.Store(sum_of(0, lanes), acc);
  }
  const int64_t whole = kWhole ? width : width - width % kLanes;
  F32x16 last;
  if constexpr (!kWhole) last = sum_of(width - kLanes, WholeLanes());
  for (int64_t j = 0; j < whole; j += kLanes) {
    if constexpr (kAsk) ahead.Ask<kRows, T>(j);
    sum_of(j, WholeLanes()).Store(acc + j);
  }
  if constexpr (!kWhole) {
    if constexpr (kAsk) ahead.Ask<kRows, T>(whole);
    last.Store(acc + width - kLanes);
  }
}

/// The first `count` rows, at most kRowsAtOnce.
template <bool kFirst, bool kWhole, int64_t kRows = kRowsAtOnce, class T>
void AddUpToRows(const T* const* rows, RowsAhead ahead, int64_t count, int64_t width, float* acc) {
  if constexpr (kRows > 1) {
    if (count < kRows) {
      return AddUpToRows<kFirst, kWhole, kRows - 1>(rows, ahead, count, width, acc);
    }
  }
  ahead.rows ? AddRows<kRows, kFirst, true, kWhole>(rows, ahead, width, acc)
             : AddRows<kRows, kFirst, false, kWhole>(rows, ahead, width, acc);
}

template <bool kFirst, class T>
void AddRowsOfAnyWidth(const T* const* rows, RowsAhead ahead, int64_t count, int64_t width,
                       float* acc) {
  width % kLanes == 0 ? AddUpToRows<kFirst, true>(rows, ahead, count, width, acc)
                      : AddUpToRows<kFirst, false>(rows, ahead, count, width, acc);
}

/// How many rows are added in one pass. Many rows of 16 bits are read in the order in which they
/// lie, one by one, which the hardware fetches ahead best; the accumulator is then loaded and
/// stored for each, which AVX-512 does beside the loads. Speeds of BFLOAT16 and FLOAT16 against
/// kRowsAtOnce, on one thread of a Zen 4: 512 rows of 1,024 columns 1.15 to 1.2, 200 of 1,408 1.0
/// to 1.1, 4,096 of 30 columns 0.35, 4 of 768 0.8; FLOAT 0.9.
template <class T>
int64_t RowsInAPass(int64_t rows, int64_t width) {
  constexpr int64_t kManyRows = 16, kWide = 512;
  const bool by_one = kRegisters == 1 && sizeof(T) == 2 && rows >= kManyRows && width >= kWide;
  return by_one ? 1 : kRowsAtOnce;
}

/// How many rows lie between those that are added and those that are asked for.
int64_t RowsBetween(int64_t row_bytes, int64_t at_once) {
  const int64_t passes = kAheadBytes / (row_bytes * at_once);
  return at_once * (passes < 1 ? 1 : passes);
}

/// At most kChunk rows, in sequence. Rows that are not dense are packed first.
template <class T>
void SumChunk(const RowSum& sum, int64_t begin, int64_t end, float* acc) {
  T packed[kRowsAtOnce][kTileWidth];
  const T* rows[kRowsAtOnce];
  const int64_t at_once = RowsInAPass<T>(end - begin, sum.width);
  const int64_t between = RowsBetween(sum.width * static_cast<int64_t>(sizeof(T)), at_once);
  for (int64_t i = begin; i < end; i += at_once) {
    const int64_t count = end - i < at_once ? end - i : at_once;
    for (int64_t r = 0; r < count; ++r) {
      rows[r] = reinterpret_cast<const T*>(sum.rows[i + r]) + sum.column * sum.step;
      if (sum.step == 1) continue;
      CopyStrided(rows[r], sum.step, packed[r], 1, sum.width, sizeof(T));
      rows[r] = packed[r];
    }
    RowsAhead ahead = {nullptr, sum.column * static_cast<int64_t>(sizeof(T))};
    if (sum.step == 1 && i + between + count <= sum.known) ahead.rows = sum.rows + i + between;
    i == begin ? AddRowsOfAnyWidth<true>(rows, ahead, count, sum.width, acc)
               : AddRowsOfAnyWidth<false>(rows, ahead, count, sum.width, acc);
  }
}

void Add(const float* term, int64_t width, float* acc) {
  ForLanes(width, [&](int64_t j, auto lanes) {
    const F32x16 sum = lanes.Load(acc + j) + lanes.Load(term + j);
    lanes.Store(sum.AsResult<float>(), acc + j);
  });
}

/// The tree: chunks [begin, end), split at the largest power of two below their number.
template <class T>
void SumTree(const RowSum& sum, int64_t begin, int64_t end, float* acc) {
  const int64_t chunks = end - begin;
  if (chunks == 1) {
    const int64_t last = (begin + 1) * kChunk;
    return SumChunk<T>(sum, begin * kChunk, last < sum.count ? last : sum.count, acc);
  }
  int64_t half = 1;
  while (half * 2 < chunks) half *= 2;
  float right[kTileWidth];
  SumTree<T>(sum, begin, begin + half, acc);
  SumTree<T>(sum, begin + half, end, right);
  Add(right, sum.width, acc);
}

template <class T>
void Store(const float* acc, int64_t width, float divisor, T* out) {
  const F32x16 s = F32x16::Broadcast(divisor);
  ForLanes(width, [&](int64_t j, auto lanes) {
    const F32x16 sum = lanes.Load(acc + j);
    lanes.Store((divisor == 1.0f ? sum : sum / s).template AsResult<T>(), out + j);
  });
}

void SumRows(const RowSum& sum, float* acc) {
  const int64_t chunks = (sum.count + kChunk - 1) / kChunk;
  switch (sum.dtype) {
    case ACL_FLOAT:
      return SumTree<float>(sum, 0, chunks, acc);
    case ACL_FLOAT16:
      return SumTree<Float16>(sum, 0, chunks, acc);
    default:
      return SumTree<BFloat16>(sum, 0, chunks, acc);
  }
}

void StoreRow(const float* acc, int64_t width, float divisor, int32_t dtype, void* out) {
  switch (dtype) {
    case ACL_FLOAT:
      return Store(acc, width, divisor, static_cast<float*>(out));
    case ACL_FLOAT16:
      return Store(acc, width, divisor, static_cast<Float16*>(out));
    default:
      return Store(acc, width, divisor, static_cast<BFloat16*>(out));
  }
}

constexpr int64_t kLine = 64;

/// Whole cache lines, from one place to another.
void StreamLines(const std::byte* from, int64_t bytes, std::byte* to) {
#if defined(__x86_64__)
  for (int64_t i = 0; i < bytes; i += 16) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
  }
#else
  std::memcpy(to, from, static_cast<size_t>(bytes));
#endif
}

void StreamRow(const float* acc, int64_t width, float divisor, int32_t dtype, void* out) {
  const int64_t bytes = width * (dtype == ACL_FLOAT ? sizeof(float) : sizeof(Float16));
  if ((reinterpret_cast<uintptr_t>(out) | static_cast<uintptr_t>(bytes)) % kLine != 0) {
    return StoreRow(acc, width, divisor, dtype, out);
  }
  alignas(kLine) std::byte rounded[kTileWidth * sizeof(float)];
  StoreRow(acc, width, divisor, dtype, rounded);
  StreamLines(rounded, bytes, static_cast<std::byte*>(out));
}

void StreamZeros(std::byte* to, int64_t bytes) {
#if defined(__x86_64__)
  const int64_t head = -reinterpret_cast<intptr_t>(to) & (kLine - 1);
  if (bytes >= head + kLine) {
    std::memset(to, 0, static_cast<size_t>(head));
    for (to += head, bytes -= head; bytes >= kLine; to += kLine, bytes -= kLine) {
      for (int64_t i = 0; i < kLine; i += 16) {
        _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), _mm_setzero_si128());
      }
    }
  }
#endif
  std::memset(to, 0, static_cast<size_t>(bytes));
}

}  // namespace

extern const RowSumKernels kRowSumKernels = {SumRows, Add, StoreRow, StreamRow, StreamZeros};

}  // namespace openaclnn::OPENACLNN_TARGET
