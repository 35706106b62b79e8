// SPDX-License-Identifier: Apache-2.0
// Conversion and range check of indices, in blocks.
#include "kernels/index/indices.h"

#include <atomic>
#include <cmath>

#include "kernels/work/parallel.h"

namespace openaclnn {
namespace {

constexpr int64_t kOutOfRange = -1;

// About 20 us of work: below, waking a thread costs more than it saves.
constexpr int64_t kGrain = 16384;
constexpr int64_t kMaxBlocks = 64;

struct Half {
  uint16_t bits;
};

struct Boolean {
  uint8_t byte;
};

double ToDouble(Half half) {
  const int exponent = half.bits >> 10 & 0x1F;
  const int mantissa = half.bits & 0x3FF;
  const double magnitude = exponent == 31  ? (mantissa != 0 ? NAN : INFINITY)
                           : exponent == 0 ? std::ldexp(mantissa, -24)
                                           : std::ldexp(mantissa + 1024, exponent - 25);
  return half.bits >> 15 != 0 ? -magnitude : magnitude;
}

/// The row that an index stands for; every value that is none becomes kOutOfRange.
int64_t ToRow(int64_t value, uint64_t limit) {
  return static_cast<uint64_t>(value) < limit && value >= 0 ? value : kOutOfRange;
}
int64_t ToRow(double value, uint64_t limit) {
  // Truncated toward zero, (-1, 0) is row 0; NaN compares false; 2^63 is the first double too
  // large.
  if (!(value > -1.0 && value < 9223372036854775808.0)) return kOutOfRange;
  return ToRow(static_cast<int64_t>(value), limit);
}
int64_t ToRow(Half value, uint64_t limit) { return ToRow(ToDouble(value), limit); }
int64_t ToRow(Boolean value, uint64_t limit) {
  return ToRow(static_cast<int64_t>(value.byte != 0), limit);
}

/// A value that is out of range. Whole numbers have all digits: the fewest that tell the float 2^60
/// from the others make a number below it.
template <class T>
std::string Text(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    const T magnitude = std::abs(value);
    if (std::trunc(magnitude) == magnitude && magnitude < static_cast<T>(0x1p64)) {
      return Concat(value < 0 ? "-" : "", static_cast<uint64_t>(magnitude));
    }
  }
  return Concat(value);
}
std::string Text(Half value) { return Text(ToDouble(value)); }
std::string Text(Boolean value) { return value.byte != 0 ? "true" : "false"; }

template <class T, class Number>
Status Read(const char* operand, const IndexView& view, const void* data, uint64_t limit,
            int64_t* rows) {
  const T* const values = static_cast<const T*>(data);
  std::atomic<int64_t> first_bad = view.count;
  const int64_t blocks = BlockCount(view.count, kGrain, kMaxBlocks);
  ParallelFor(blocks, [&](int64_t block) {
    const int64_t end = BlockBegin(view.count, blocks, block + 1);
    for (int64_t i = BlockBegin(view.count, blocks, block); i < end; ++i) {
      rows[i] = ToRow(static_cast<Number>(values[view.offsets(i)]), limit);
      if (rows[i] != kOutOfRange) continue;
      int64_t seen = first_bad.load(std::memory_order_relaxed);
      while (i < seen && !first_bad.compare_exchange_weak(seen, i, std::memory_order_relaxed)) {
      }
      return;
    }
  });
  const int64_t bad = first_bad.load(std::memory_order_relaxed);
  if (bad == view.count) return {};
  return Status(507035, Concat(operand, " value ", bad, " is ", Text(values[view.offsets(bad)]),
                               ", expected 0 <= value < ", limit));
}

}  // namespace

Status ReadIndices(const char* operand, const IndexView& view, const void* data, uint64_t limit,
                   int64_t* rows) {
  switch (view.dtype) {
    case ACL_FLOAT:
      return Read<float, double>(operand, view, data, limit, rows);
    case ACL_FLOAT16:
      return Read<Half, Half>(operand, view, data, limit, rows);
    case ACL_DOUBLE:
      return Read<double, double>(operand, view, data, limit, rows);
    case ACL_INT32:
      return Read<int32_t, int64_t>(operand, view, data, limit, rows);
    case ACL_INT64:
      return Read<int64_t, int64_t>(operand, view, data, limit, rows);
    case ACL_INT16:
      return Read<int16_t, int64_t>(operand, view, data, limit, rows);
    case ACL_INT8:
      return Read<int8_t, int64_t>(operand, view, data, limit, rows);
    case ACL_UINT8:
      return Read<uint8_t, int64_t>(operand, view, data, limit, rows);
    default:
      return Read<Boolean, Boolean>(operand, view, data, limit, rows);
  }
}

}  // namespace openaclnn
