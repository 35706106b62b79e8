// SPDX-License-Identifier: Apache-2.0
// Sums of rows, compiled once for each instruction set.
#include "kernels/move/strided.h"
#include "kernels/rows/row_sum.h"
#include "kernels/simd/lanes-inl.h"
#include "kernels/simd/stream.h"

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
// first they would drive out the accumulator and the rows at hand (FLOAT 0.86; not to be kept there
// at all, prefetchnta, 0.76). Speeds against not asking, on one thread of a Zen 4: BFLOAT16 1.8 to
// 2.4, FLOAT 1.1 to 1.3, tokens of 64 columns 2.8. Against 8 KiB, 16 bits: 1.05 to 1.25; 32 KiB:
// 1.0 to 1.25.
constexpr int64_t kAheadBytes = 16384;

/// Rows that will be added later, from the tile's first column; none where `rows` is null.
struct RowsAhead {
  const std::byte* const* rows;
  int64_t tile_byte;

  const std::byte* Row(int64_t r) const { return rows[r] + tile_byte; }
};

/// Asks for `kBytes` bytes, once for each cache line.
template <int64_t kBytes>
inline __attribute__((always_inline)) void Ask(const std::byte* from) {
  constexpr int kSecondLevel = 2;
  for (int64_t byte = 0; byte < kBytes; byte += kCacheLine) {
    __builtin_prefetch(from + byte, /*rw=*/0, kSecondLevel);
  }
}

/// Calls work(group) for each group of lanes of [0, groups), and asks for kRows rows meanwhile.
/// Wide rows are asked for one by one, as they lie in memory, each during its part of the work.
/// Speed of FLOAT against the same columns of all rows at once, on one thread of a Zen 4: 1.1 from
/// memory, 1.15 to 1.4 from the third level.
template <int64_t kRows, class T, class Work>
inline __attribute__((always_inline)) void AskBetween(RowsAhead ahead, int64_t groups,
                                                      Work&& work) {
  constexpr int64_t kGroupBytes = kLanes * sizeof(T);
  int64_t group = 0;
  if (groups < kRows) {
    for (; group < groups; ++group) {
      if (group * kGroupBytes % kCacheLine == 0) {
        for (int64_t r = 0; r < kRows; ++r) Ask<1>(ahead.Row(r) + group * kGroupBytes);
      }
      work(group);
    }
    return;
  }
  for (int64_t r = 0; r < kRows; ++r) {
    const std::byte* from = ahead.Row(r);
    for (const int64_t end = groups * (r + 1) / kRows; group < end; ++group) {
      if (kRows * kGroupBytes >= kCacheLine || group % 2 == 0) Ask<kRows * kGroupBytes>(from);
      from += kRows * kGroupBytes;
      work(group);
    }
  }
}

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
    if constexpr (kAsk) AskBetween<kRows, T>(ahead, 1, [](int64_t) {});
    const TailLanes lanes{width};
    return lanes.Store(sum_of(0, lanes), acc);
  }
  F32x16 last;
  if constexpr (!kWhole) last = sum_of(width - kLanes, WholeLanes());
  const int64_t groups = width / kLanes;
  const auto add = [&](int64_t group) __attribute__((always_inline)) {
    sum_of(group * kLanes, WholeLanes()).Store(acc + group * kLanes);
  };
  if constexpr (kAsk) {
    AskBetween<kRows, T>(ahead, groups, add);
  } else {
    for (int64_t group = 0; group < groups; ++group) add(group);
  }
  if constexpr (!kWhole) last.Store(acc + width - kLanes);
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

/// How many rows lie between those that are added and those that are asked for: whole passes, and
/// no more than are known behind a sum's last.
int64_t RowsBetween(int64_t row_bytes, int64_t at_once) {
  const int64_t most = kRowsAhead / at_once - 1;
  const int64_t passes = kAheadBytes / (row_bytes * at_once);
  return at_once * (passes < 1 ? 1 : passes > most ? most : passes);
}

// Groups of lanes that narrow rows have at most: their sums stay in registers, half of all there
// are.
constexpr int64_t kNarrowGroups = 8 / kRegisters;
constexpr int64_t kNarrowWidth = kNarrowGroups * kLanes;

/// Dense rows of kGroups groups of lanes, one by one as they lie. The last group overlaps the one
/// before where the row is not whole lanes. Speeds against kRowsAtOnce at a time, on one thread of
/// a Zen 4: 30 columns 1.4 to 2.1, 64 columns 1.2 to 1.5, 80 to 128 columns 1.3 to 1.7, FLOAT16 of
/// 100 columns 1.0.
template <class T, int64_t kGroups>
class NarrowRows {
 public:
  explicit NarrowRows(const RowSum& rows)
      : rows_(rows),
        bytes_(rows.width * static_cast<int64_t>(sizeof(T))),
        tile_byte_(rows.column * static_cast<int64_t>(sizeof(T))),
        between_(RowsBetween(bytes_, 1)),
        asks_(sizeof(T) != sizeof(float) || kGroups > kFetchedGroups || !OneStream()) {}

  int64_t Column(int64_t group) const {
    return group == kGroups - 1 ? rows_.width - kLanes : group * kLanes;
  }

  /// total[g] = the sum of rows [begin, end), at most kChunk and at least one, in sequence.
  inline __attribute__((always_inline)) void Sum(int64_t begin, int64_t end, F32x16* total) const {
    for (int64_t i = begin; i < end; ++i) {
      if (asks_ && i + between_ < rows_.known) {
        const std::byte* ahead = rows_.rows[i + between_] + tile_byte_;
        for (int64_t byte = 0; byte < bytes_; byte += kCacheLine) Ask<1>(ahead + byte);
      }
      const T* row = reinterpret_cast<const T*>(rows_.rows[i] + tile_byte_);
      for (int64_t g = 0; g < kGroups; ++g) {
        const F32x16 term = F32x16::Load(row + Column(g));
        total[g] = i == begin ? term : total[g] + term;
      }
    }
  }

 private:
  // The hardware fetches one stream of FLOAT ahead by itself. Speeds against asking, from memory
  // and from the third level: 64 columns 1.3 and 1.0, 96 1.25, 128 1.1 and 0.7; BFLOAT16 0.85.
  static constexpr int64_t kFetchedGroups = 6;

  bool OneStream() const {
    const int64_t last = rows_.count - 1;
    return last < 0 || rows_.rows[last] - rows_.rows[0] == last * bytes_;
  }

  const RowSum& rows_;
  int64_t bytes_, tile_byte_, between_;
  bool asks_;
};

/// At most kChunk narrow rows.
template <class T, int64_t kGroups = 1>
void AddNarrowRows(const RowSum& sum, int64_t begin, int64_t end, float* acc) {
  if constexpr (kGroups < kNarrowGroups) {
    if (sum.width > kGroups * kLanes) return AddNarrowRows<T, kGroups + 1>(sum, begin, end, acc);
  }
  const NarrowRows<T, kGroups> rows(sum);
  F32x16 total[kGroups];
  rows.Sum(begin, end, total);
  for (int64_t g = 0; g < kGroups; ++g) {
    total[g].template AsResult<float>().Store(acc + rows.Column(g));
  }
}

/// At most kChunk rows, in sequence. Rows that are not dense are packed first. Inline, the packed
/// rows would be on the stack once for each level of the tree.
template <class T>
__attribute__((noinline)) void SumChunk(const RowSum& sum, int64_t begin, int64_t end, float* acc) {
  const bool narrow = kLanes <= sum.width && sum.width <= kNarrowWidth && sum.step == 1;
  if (narrow) return AddNarrowRows<T>(sum, begin, end, acc);
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

template <bool kStream, class T>
void Store(const float* acc, int64_t width, float divisor, T* out) {
  const F32x16 s = F32x16::Broadcast(divisor);
  const auto result = [&](int64_t j, auto lanes) {
    const F32x16 sum = lanes.Load(acc + j);
    return (divisor == 1.0f ? sum : sum / s).template AsResult<T>();
  };
  if constexpr (kStream) {
    for (int64_t j = 0; j < width; j += kLanes) result(j, WholeLanes()).Stream(out + j);
  } else {
    ForLanes(width, [&](int64_t j, auto lanes) { lanes.Store(result(j, lanes), out + j); });
  }
}

int64_t Chunks(int64_t count) { return (count + kChunk - 1) / kChunk; }

/// All segments of narrow rows, from registers to the output.
template <class T, bool kStream, int64_t kGroups = 1>
void WriteNarrowSums(const SegmentRows& segments) {
  if constexpr (kGroups < kNarrowGroups) {
    if (segments.rows.width > kGroups * kLanes) {
      return WriteNarrowSums<T, kStream, kGroups + 1>(segments);
    }
  }
  const NarrowRows<T, kGroups> rows(segments.rows);
  int64_t begin = 0;
  for (int64_t segment = 0; segment < segments.count; ++segment) {
    const int64_t end = segments.ends[segment];
    F32x16 total[kGroups];
    if (begin == end) {
      for (F32x16& each : total) each = F32x16::Broadcast(0.0f);
    } else if (end - begin <= kChunk) {
      rows.Sum(begin, end, total);
    } else {
      RowSum sum = segments.rows;
      sum.rows += begin;
      sum.known -= begin;
      sum.count = end - begin;
      float acc[kNarrowWidth];
      SumTree<T>(sum, 0, Chunks(sum.count), acc);
      for (int64_t g = 0; g < kGroups; ++g) total[g] = F32x16::Load(acc + rows.Column(g));
    }
    const F32x16 divisor = F32x16::Broadcast(static_cast<float>(end - begin));
    T* out = reinterpret_cast<T*>(segments.out[segment]);
    for (int64_t g = 0; g < kGroups; ++g) {
      const bool divides = segments.divide_by_count && begin < end;
      const F32x16 value = (divides ? total[g] / divisor : total[g]).template AsResult<T>();
      kStream ? value.Stream(out + rows.Column(g)) : value.Store(out + rows.Column(g));
    }
    begin = end;
  }
}

template <bool kStream>
void WriteNarrow(const SegmentRows& segments) {
  switch (segments.rows.dtype) {
    case ACL_FLOAT:
      return WriteNarrowSums<float, kStream>(segments);
    case ACL_FLOAT16:
      return WriteNarrowSums<Float16, kStream>(segments);
    default:
      return WriteNarrowSums<BFloat16, kStream>(segments);
  }
}

void SumRows(const RowSum& sum, float* acc) {
  const int64_t chunks = Chunks(sum.count);
  switch (sum.dtype) {
    case ACL_FLOAT:
      return SumTree<float>(sum, 0, chunks, acc);
    case ACL_FLOAT16:
      return SumTree<Float16>(sum, 0, chunks, acc);
    default:
      return SumTree<BFloat16>(sum, 0, chunks, acc);
  }
}

template <bool kStream>
void StoreRow(const float* acc, int64_t width, float divisor, int32_t dtype, void* out) {
  switch (dtype) {
    case ACL_FLOAT:
      return Store<kStream>(acc, width, divisor, static_cast<float*>(out));
    case ACL_FLOAT16:
      return Store<kStream>(acc, width, divisor, static_cast<Float16*>(out));
    default:
      return Store<kStream>(acc, width, divisor, static_cast<BFloat16*>(out));
  }
}

}  // namespace

extern const RowSumKernels kRowSumKernels = {SumRows,          Add,          StoreRow<false>,
                                             StoreRow<true>,   kNarrowWidth, WriteNarrow<false>,
                                             WriteNarrow<true>};

}  // namespace openaclnn::OPENACLNN_TARGET
