// SPDX-License-Identifier: Apache-2.0
// Segment sums, tile by tile; each output row is written once.
#include "kernels/rows/segment_sum.h"

#include <algorithm>

#include "kernels/work/scratch.h"

namespace openaclnn {
namespace {

// Zero rows go past the caches in rows that are not whole cache lines, where they are long. Speeds
// against ordinary stores, on one thread of a Zen 4: 8 KB 1.1 to 1.3, 1 KB 0.45.
constexpr int64_t kStreamedPartOfLine = 8 << 10;

int64_t TileWidth(int64_t width, int64_t column) { return std::min(kTileWidth, width - column); }

}  // namespace

SegmentSumPlan::SegmentSumPlan(const RowView& from_rows, int32_t dtype, const Operand& to,
                               int64_t positions, bool divide)
    : kernels(OPENACLNN_TARGET_SELECT(kRowSumKernels)),
      streams(OPENACLNN_TARGET_SELECT(kStreamKernels)),
      from(from_rows),
      to(to),
      width(to.last_dim()),
      from_dtype(dtype),
      to_dtype(to.dtype()),
      divide_by_count(divide),
      streams_rows(IsStreamed(to) && RowsAreLines(to)),
      streams_zeros(IsStreamed(to) && this->to.step == 1 &&
                    width * this->to.element_bytes >= kStreamedPartOfLine),
      narrow(dtype == to.dtype() && from.step == 1 && this->to.step == 1 &&
             kLeastNarrowWidth <= width && width <= kernels->narrow_width),
      max_units(2 * (positions / kUnitRows)) {}

uint64_t SegmentSumPlan::scratch_bytes() const {
  const __int128 unit = static_cast<__int128>(width) * sizeof(float) + sizeof(SumUnit);
  return ScratchBytes(max_units * unit);
}

SegmentSum::SegmentSum(const SegmentSumPlan& plan, const void* from, void* to, void* scratch,
                       const Hit* hits)
    : plan_(plan),
      from_(const_cast<void*>(from)),
      to_(to),
      hits_(hits),
      units_(static_cast<SumUnit*>(scratch)),
      partials_(reinterpret_cast<float*>(units_ + plan.max_units)),
      streams_rows_(plan.streams_rows && BeginsLine(plan.to.Row(to_, 0))),
      streams_zeros_(plan.streams_zeros || streams_rows_) {}

void SegmentSum::AddLongSegment(int64_t begin, int64_t end) {
  if (end - begin <= kUnitRows) return;
  for (; begin < end; begin += kUnitRows) {
    units_[num_units_++] = {begin, std::min(begin + kUnitRows, end)};
  }
}

SegmentSum::Window::Window(const SegmentSum& sum, int64_t end)
    : sum_(sum), limit_(std::min(end + kRowsAhead, sum.positions_)) {}

RowSum SegmentSum::Window::Sum(int64_t begin, int64_t end) {
  const SegmentSumPlan& plan = sum_.plan_;
  if (begin < first_ || std::min(end + kRowsAhead, limit_) > last_) {
    first_ = begin;
    last_ = std::min(begin + kUnitRows + kRowsAhead, limit_);
    for (int64_t p = first_; p < last_; ++p) {
      const int64_t row = sum_.hits_ != nullptr ? sum_.hits_[p].token : p;
      rows_[p - first_] = plan.from.Row(sum_.from_, row);
    }
  }
  return {.rows = rows_ + (begin - first_),
          .count = end - begin,
          .known = last_ - begin,
          .column = 0,
          .width = 0,
          .step = plan.from.step,
          .dtype = plan.from_dtype};
}

void SegmentSum::SumOneUnit(int64_t unit) const {
  Window window(*this, units_[unit].end);
  RowSum sum = window.Sum(units_[unit].begin, units_[unit].end);
  for (; sum.column < plan_.width; sum.column += kTileWidth) {
    sum.width = TileWidth(plan_.width, sum.column);
    plan_.kernels->sum(sum, Partial(unit) + sum.column);
  }
}

void SegmentSum::WriteRow(int64_t row, int64_t begin, int64_t end, Window& window) const {
  if (begin == end && streams_zeros_) {
    return plan_.streams->zeros(Out(row, 0), plan_.width * plan_.to.element_bytes);
  }
  if (begin == end) {
    return ZeroStrided(Out(row, 0), plan_.to.step, plan_.width, plan_.to.element_bytes);
  }
  if (end - begin > kUnitRows) return WriteLongRow(row, begin, end);
  float buffer[kTileWidth];
  RowSum sum = window.Sum(begin, end);
  const float divisor = Divisor(end - begin);
  const bool in_place =
      plan_.to_dtype == ACL_FLOAT && plan_.to.step == 1 && divisor == 1.0f && !streams_rows_;
  for (; sum.column < plan_.width; sum.column += kTileWidth) {
    sum.width = TileWidth(plan_.width, sum.column);
    std::byte* out = Out(row, sum.column);
    if (in_place) {
      plan_.kernels->sum(sum, reinterpret_cast<float*>(out));
    } else {
      plan_.kernels->sum(sum, buffer);
      Store(buffer, sum.width, divisor, out);
    }
  }
}

void SegmentSum::WriteNarrow(int64_t row, int64_t begin, std::span<const int64_t> ends,
                             Window& window) const {
  std::byte* out[kNarrowRows];
  const auto count = static_cast<int64_t>(ends.size());
  for (int64_t i = 0; i < count; ++i) out[i] = Out(row + i, 0);
  SegmentRows segments = {.rows = window.Sum(begin, begin + ends.back()),
                          .ends = ends.data(),
                          .out = out,
                          .count = count,
                          .divide_by_count = plan_.divide_by_count};
  segments.rows.width = plan_.width;
  streams_rows_ ? plan_.kernels->stream_narrow(segments) : plan_.kernels->narrow(segments);
}

// The upper levels of the tree, over the sums of the segment's units.
void SegmentSum::WriteLongRow(int64_t row, int64_t begin, int64_t end) const {
  const SumUnit* first =
      std::lower_bound(units_, units_ + num_units_, begin,
                       [](const SumUnit& unit, int64_t value) { return unit.begin < value; });
  const int64_t base = first - units_;
  const int64_t count = (end - begin + kUnitRows - 1) / kUnitRows;
  for (int64_t column = 0; column < plan_.width; column += kTileWidth) {
    const int64_t width = TileWidth(plan_.width, column);
    for (int64_t half = 1; half < count; half *= 2) {
      for (int64_t i = 0; i + half < count; i += 2 * half) {
        plan_.kernels->add(Partial(base + i + half) + column, width, Partial(base + i) + column);
      }
    }
    Store(Partial(base) + column, width, Divisor(end - begin), Out(row, column));
  }
}

void SegmentSum::Store(const float* acc, int64_t width, float divisor, std::byte* out) const {
  const auto store = streams_rows_ ? plan_.kernels->stream : plan_.kernels->store;
  if (plan_.to.step == 1) return store(acc, width, divisor, plan_.to_dtype, out);
  float packed[kTileWidth];
  plan_.kernels->store(acc, width, divisor, plan_.to_dtype, packed);
  CopyStrided(packed, 1, out, plan_.to.step, width, plan_.to.element_bytes);
}

float SegmentSum::Divisor(int64_t count) const {
  return plan_.divide_by_count ? static_cast<float>(count) : 1.0f;
}

std::byte* SegmentSum::Out(int64_t row, int64_t column) const {
  return plan_.to.Row(to_, row) + column * plan_.to.step * plan_.to.element_bytes;
}

}  // namespace openaclnn
