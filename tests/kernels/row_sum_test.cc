// SPDX-License-Identifier: Apache-2.0
// Sums of rows: those of the tree, bit by bit, and all that is asked for and nothing beside it.
#include "kernels/rows/row_sum.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <random>
#include <vector>

#include "kernels/rows/softmax_rows.h"
#include "kernels/simd/stream.h"
#include "tests/support/numbers.h"

namespace openaclnn::test {
namespace {

TEST(StreamRow, IsStoreRow) {
  const RowSumKernels& kernels = *OPENACLNN_TARGET_SELECT(kRowSumKernels);
  std::vector<float> sums(kTileWidth);
  for (size_t i = 0; i < sums.size(); ++i) sums[i] = 1.0f / static_cast<float>(i + 1);
  alignas(64) std::byte memory[2][kTileWidth * sizeof(float) + 128];
  for (const int32_t dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
    for (const int64_t width : {0, 32, 64, 992, 2048}) {
      for (const int64_t at : {0, 64}) {
        for (auto& each : memory) std::fill(std::begin(each), std::end(each), std::byte{0x5a});
        kernels.store(sums.data(), width, 3.0f, dtype, memory[0] + at);
        kernels.stream(sums.data(), width, 3.0f, dtype, memory[1] + at);
        EndStreams();
        ASSERT_TRUE(std::equal(std::begin(memory[0]), std::end(memory[0]), memory[1]))
            << dtype << ": " << width << " at " << at;
      }
    }
  }
}

/// Memory that ends where nobody may read.
class Guarded {
 public:
  explicit Guarded(size_t bytes) : bytes_(bytes) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    length_ = (bytes + page - 1) / page * page + page;
    void* const at =
        mmap(nullptr, length_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(at, MAP_FAILED);
    begin_ = static_cast<std::byte*>(at);
    EXPECT_EQ(mprotect(begin_ + length_ - page, page, PROT_NONE), 0);
    data_ = begin_ + length_ - page - bytes;
  }
  Guarded(const Guarded&) = delete;
  ~Guarded() { munmap(begin_, length_); }

  std::byte* data() const { return data_; }
  std::byte* end() const { return data_ + bytes_; }

 private:
  size_t bytes_, length_ = 0;
  std::byte *begin_ = nullptr, *data_ = nullptr;
};

int64_t BytesOf(int32_t dtype) { return dtype == ACL_FLOAT ? 4 : 2; }

using Floats = std::vector<float>;

/// The tree of row_sum.h: 64 terms in sequence, then pairs, split at the largest power of two.
Floats TreeOf(const std::vector<Floats>& rows, size_t begin, size_t end) {
  constexpr size_t kChunk = 64;
  Floats sum = rows[begin];
  const auto add = [&](const Floats& term) {
    for (size_t j = 0; j < sum.size(); ++j) sum[j] += term[j];
  };
  if (end - begin <= kChunk) {
    for (size_t i = begin + 1; i < end; ++i) add(rows[i]);
    return sum;
  }
  size_t half = kChunk;
  while (half * 2 < end - begin) half *= 2;
  sum = TreeOf(rows, begin, begin + half);
  add(TreeOf(rows, begin + half, end));
  return sum;
}

/// Rows of random numbers in memory: at their addresses in any order, or as they lie. Behind the
/// last row nothing may be read, nor behind the last address.
class Rows {
 public:
  Rows(int32_t dtype, int64_t count, int64_t length, int64_t step, bool in_order)
      : dtype_(static_cast<aclDataType>(dtype)),
        step_(step),
        memory_(static_cast<size_t>(((count * length - 1) * step + 1) * BytesOf(dtype))),
        table_(static_cast<size_t>(count) * sizeof(std::byte*)) {
    std::minstd_rand random(static_cast<uint32_t>(count + length));
    const int64_t bytes = BytesOf(dtype);
    std::vector<int64_t> places(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) places[static_cast<size_t>(i)] = i;
    if (!in_order) std::shuffle(places.begin(), places.end(), random);
    for (int64_t i = 0; i < count; ++i) {
      std::byte* const row =
          memory_.data() + places[static_cast<size_t>(i)] * length * step * bytes;
      Floats& values = values_.emplace_back();
      for (int64_t j = 0; j < length; ++j) {
        const double drawn = static_cast<double>(random() % 20001) / 1000 - 10;
        StoreElement(dtype_, drawn, row + j * step * bytes);
        values.push_back(static_cast<float>(LoadElement(dtype_, row + j * step * bytes)));
      }
      std::memcpy(table_.data() + i * static_cast<int64_t>(sizeof(row)), &row, sizeof(row));
    }
  }

  const std::byte* const* table() const {
    return reinterpret_cast<const std::byte* const*>(table_.data());
  }
  /// Of the columns, what the tree says.
  Floats Sum(size_t begin, size_t end, int64_t column, int64_t width) const {
    std::vector<Floats> columns;
    for (const Floats& row : values_) {
      columns.emplace_back(row.begin() + column, row.begin() + column + width);
    }
    return TreeOf(columns, begin, end);
  }
  RowSum Columns(int64_t count, int64_t column, int64_t width) const {
    return {table(), count, static_cast<int64_t>(values_.size()), column, width, step_, dtype_};
  }
  std::byte* memory() const { return memory_.data(); }

 private:
  aclDataType dtype_;
  int64_t step_;
  Guarded memory_, table_;
  std::vector<Floats> values_;
};

constexpr int32_t kTypes[] = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};

TEST(RowSum, IsTheTree) {
  const RowSumKernels& kernels = *OPENACLNN_TARGET_SELECT(kRowSumKernels);
  for (const int32_t dtype : kTypes) {
    for (const int64_t width : {1, 7, 15, 16, 17, 32, 50, 64, 65, 100, 128, 129, 300, 512, 1030}) {
      for (const int64_t count : {1, 2, 7, 8, 9, 16, 17, 64, 65, 128, 200, 321}) {
        if (width * count > 100'000) continue;
        for (const int64_t step : {1, 3}) {
          for (const int64_t column : {0, 5}) {
            const bool in_order = (width + count) % 2 == 0;
            const Rows rows(dtype, count, width + column, step, in_order);
            Floats sum(static_cast<size_t>(width) + 1, 77.0F);
            kernels.sum(rows.Columns(count, column, width), sum.data());
            EXPECT_EQ(sum.back(), 77.0F);
            sum.pop_back();
            ASSERT_EQ(sum, rows.Sum(0, static_cast<size_t>(count), column, width))
                << dtype << ": " << count << " rows of " << width << " from " << column << ", step "
                << step;
          }
        }
      }
    }
  }
}

// Rows behind a sum's are asked for ahead, as far as their addresses are known.
TEST(RowSum, KnowsNoAddressBehindTheLast) {
  const RowSumKernels& kernels = *OPENACLNN_TARGET_SELECT(kRowSumKernels);
  for (const int32_t dtype : kTypes) {
    for (const int64_t width : {1, 16, 40, 100, 128, 200, 600, 2048}) {
      for (const int64_t known : {1, 8, 30, 64, 65, 90, 140}) {
        const Rows rows(dtype, known, width, 1, false);
        for (const int64_t count : {int64_t{1}, known / 2, known - 1, known}) {
          if (count < 1) continue;
          Floats sum(static_cast<size_t>(width));
          kernels.sum(rows.Columns(count, 0, width), sum.data());
          ASSERT_EQ(sum, rows.Sum(0, static_cast<size_t>(count), 0, width))
              << dtype << ": " << count << " of " << known << " rows of " << width;
        }
      }
    }
  }
}

TEST(RowSum, SegmentsOfNarrowRows) {
  const RowSumKernels& kernels = *OPENACLNN_TARGET_SELECT(kRowSumKernels);
  const std::vector<int64_t> ends = {0, 1, 3, 3, 67, 131, 131, 331, 332, 396, 461};
  for (const int32_t dtype : kTypes) {
    const int64_t bytes = BytesOf(dtype);
    for (int64_t width = kLeastNarrowWidth; width <= kernels.narrow_width; width += 5) {
      for (const int mode : {0, 1, 2, 3}) {
        const bool mean = mode % 2 != 0, in_order = mode >= 2;
        const bool streams = width * bytes % 64 == 0;
        const Rows rows(dtype, ends.back(), width, 1, in_order);
        const auto row_bytes = static_cast<size_t>(width * bytes);
        const Guarded out(row_bytes * ends.size());
        std::vector<std::byte*> places;
        std::vector<std::byte> wanted(row_bytes * ends.size());
        size_t begin = 0;
        for (size_t s = 0; s < ends.size(); ++s) {
          places.push_back(out.data() + s * row_bytes);
          const auto end = static_cast<size_t>(ends[s]);
          Floats sum(static_cast<size_t>(width));
          if (end > begin) sum = rows.Sum(begin, end, 0, width);
          for (size_t j = 0; j < sum.size(); ++j) {
            const float value =
                mean && end > begin ? sum[j] / static_cast<float>(end - begin) : sum[j];
            StoreElement(static_cast<aclDataType>(dtype), value,
                         wanted.data() + s * row_bytes + j * static_cast<size_t>(bytes));
          }
          begin = end;
        }
        const SegmentRows segments = {rows.Columns(ends.back(), 0, width), ends.data(),
                                      places.data(), static_cast<int64_t>(ends.size()), mean};
        for (const bool past : {false, true}) {
          if (past && !streams) continue;
          std::fill(out.data(), out.end(), std::byte{0x5a});
          past ? kernels.stream_narrow(segments) : kernels.narrow(segments);
          EndStreams();
          ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), out.data()))
              << dtype << ": width " << width << ", " << mode;
        }
      }
    }
  }
}

TEST(RowSum, IsStoredAsTheQuotient) {
  const RowSumKernels& kernels = *OPENACLNN_TARGET_SELECT(kRowSumKernels);
  for (const int32_t dtype : kTypes) {
    for (const int64_t width : {0, 1, 15, 16, 17, 40, 2048}) {
      for (const float divisor : {1.0F, 3.0F}) {
        Floats sums(static_cast<size_t>(width));
        for (size_t i = 0; i < sums.size(); ++i) sums[i] = 1.7F * static_cast<float>(i) - 20;
        const auto bytes = static_cast<size_t>(width * BytesOf(dtype));
        std::vector<std::byte> wanted(bytes + 64, std::byte{0x5a}), got = wanted;
        for (size_t i = 0; i < sums.size(); ++i) {
          StoreElement(static_cast<aclDataType>(dtype), sums[i] / divisor,
                       wanted.data() + i * static_cast<size_t>(BytesOf(dtype)));
        }
        kernels.store(sums.data(), width, divisor, dtype, got.data());
        ASSERT_EQ(got, wanted) << dtype << ": " << width;
      }
    }
  }
}

// The tree of sum-inl.h: 4 accumulators of 16 lanes in turn, blocks of 4,096 elements one after the
// other, then the lanes by halves.
TEST(LaneSum, IsItsTree) {
  constexpr size_t kLanes = 16, kAccumulators = 4, kBlock = 64 * kAccumulators * kLanes;
  const SoftmaxKernels<float>& kernels = *OPENACLNN_TARGET_SELECT(kFloatSoftmax);
  std::minstd_rand random(3);
  for (const size_t n :
       {0UL,   1UL,   15UL,   16UL,   17UL,   47UL,   63UL,   64UL,   65UL,   81UL,
        127UL, 129UL, 1000UL, 4032UL, 4095UL, 4096UL, 4097UL, 8191UL, 8200UL, 12288UL}) {
    const Guarded memory(n * sizeof(float));
    auto* const x = reinterpret_cast<float*>(memory.data());
    Floats lanes(kLanes);
    for (size_t i = 0; i < n; ++i) x[i] = static_cast<float>(random() % 20001) / 999 - 10;
    for (size_t begin = 0; begin == 0 || begin < n; begin += kBlock) {
      std::vector<Floats> sums(kAccumulators, Floats(kLanes));
      for (size_t i = begin; i < std::min(begin + kBlock, n); ++i) {
        sums[(i - begin) / kLanes % kAccumulators][i % kLanes] += x[i];
      }
      for (size_t k = 0; k < kLanes; ++k) {
        lanes[k] += (sums[0][k] + sums[2][k]) + (sums[1][k] + sums[3][k]);
      }
    }
    for (size_t apart = kLanes / 2; apart > 0; apart /= 2) {
      for (size_t i = 0; i < apart; ++i) lanes[i] += lanes[i + apart];
    }
    ASSERT_EQ(kernels.sum(x, static_cast<int64_t>(n)), lanes[0]) << n;
  }
}

}  // namespace
}  // namespace openaclnn::test
