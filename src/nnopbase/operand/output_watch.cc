// SPDX-License-Identifier: Apache-2.0
// Output watch: outputs are filled before their task, and looked through after it.
//
// What was there comes back where nothing was written: a task that fails, or is a mistake, leaves
// what it would leave otherwise. But for rows of less than 8 bytes that a task has not written, of
// another type than FLOAT: they may be its values, and so the pattern stays there, until as many
// tasks in a row as make 8 bytes have left the same.
#include "nnopbase/operand/output_watch.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstring>
#include <new>
#include <utility>

#include "acl/acl_base.h"
#include "common/view.h"
#include "nnopbase/operand/access.h"

namespace openaclnn {
namespace {

/// Bytes that are kept for the outputs of a call at most, together.
constexpr uint64_t kWatchedBytes = uint64_t{64} << 20;
constexpr uint64_t kLargestElement = 16;

constexpr uint64_t kPatternBytes = 8;

/// Random bits, others for each task: any 8 bytes in a row are them once in 2^64.
uint64_t NewPattern() {
  static std::atomic<uint64_t> last{
      static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count())};
  uint64_t bits = last.fetch_add(0x9E3779B97F4A7C15, std::memory_order_relaxed);
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9;  // splitmix64
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
  return bits ^ (bits >> 31);
}

/// Makes two signalling NaNs of FLOAT from random bits. No arithmetic gives them, so one element of
/// FLOAT is proof. For any other type each value may be meant, so that 8 bytes in a row are needed.
uint64_t SignallingNaNs(uint64_t bits) {
  constexpr uint64_t kExponents = 0x7F8000007F800000, kQuiet = 0x0040000000400000;
  constexpr uint64_t kNotInfinity = 0x0000000100000001;
  return (bits & ~kQuiet) | kExponents | kNotInfinity;
}

uint64_t BytesOf(std::span<const ByteRange> runs) {
  uint64_t bytes = 0;
  for (const ByteRange& run : runs) bytes += run.end - run.begin;
  return bytes;
}

/// The most that each output may keep, of which there are so many bytes: small ones leave their
/// share to others.
uint64_t ShareOf(std::vector<uint64_t> sizes) {
  std::sort(sizes.begin(), sizes.end());
  uint64_t rest = kWatchedBytes;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const uint64_t share = rest / (sizes.size() - i);
    if (sizes[i] > share) return share;
    rest -= sizes[i];
  }
  return kWatchedBytes;
}

/// Leaves the first and the last `most` bytes of them.
void KeepEnds(uint64_t most, std::vector<ByteRange>* runs) {
  const uint64_t total = BytesOf(*runs);
  if (total <= 2 * most) return;
  std::vector<ByteRange> kept;
  uint64_t passed = 0;
  for (const ByteRange& run : *runs) {
    const uint64_t bytes = run.end - run.begin;
    if (passed < most) kept.push_back({run.begin, run.begin + std::min(bytes, most - passed)});
    passed += bytes;
    if (passed > total - most) {
      kept.push_back({run.end - std::min(bytes, passed - (total - most)), run.end});
    }
  }
  *runs = std::move(kept);
}

bool Apart(const ByteRange& a, const ByteRange& b) { return a.end <= b.begin || b.end <= a.begin; }

ByteRange SpanOf(const BoundOperand& operand, const void* origin) {
  const uint64_t begin = reinterpret_cast<uintptr_t>(origin) +
                         static_cast<uint64_t>(operand.first_byte - operand.origin_byte);
  return {begin, begin + operand.bytes};
}

/// As a whole, and without a look at what was there.
bool IsWritten(const BoundOperand& operand) {
  return operand.role == OPENACLNN_OUTPUT && operand.use == OPENACLNN_ALL;
}

/// From what may be read.
bool IsApart(std::span<const BoundOperand> operands, void* const* data, size_t output) {
  const ByteRange own = SpanOf(operands[output], data[output]);
  for (size_t i = 0; i < operands.size(); ++i) {
    if (i == output || operands[i].bytes == 0) continue;
    if (!Apart(own, SpanOf(operands[i], data[i]))) return false;
  }
  return true;
}

std::byte* At(uint64_t address) {
  return reinterpret_cast<std::byte*>(static_cast<uintptr_t>(address));
}

/// Elements that hold the pattern, one after the other in the order of memory. `Unit` is an element
/// or half of one.
template <class Unit>
class Remains {
 public:
  /// `alone`: one of them is enough, else as many as the pattern has.
  explicit Remains(bool alone) : proof_(alone ? 1 : kUnits) {}

  void Add(std::byte* unit, const std::byte* before) {
    if (row_ < proof_) held_[row_] = {unit, before};
    if (++row_ < proof_) return;
    if (row_ > proof_) return Leave({unit, before});
    for (size_t i = 0; i < proof_; ++i) Leave(held_[i]);
  }
  void EndRow() {
    if (row_ > 0 && row_ < proof_ && short_ == 0) {
      for (; short_ < row_; ++short_) first_[short_] = held_[short_];
    }
    row_ = 0;
  }

  /// The first row that is no proof; of no bytes where there is none.
  ShortRow FirstShort(uint64_t origin) const {
    if (short_ == 0) return {};
    return {reinterpret_cast<uintptr_t>(first_[0].unit) - origin, short_ * sizeof(Unit)};
  }
  void LeaveFirstShort() {
    for (size_t i = 0; i < short_; ++i) Leave(first_[i]);
  }

  uint64_t count() const { return count_; }
  ByteRange bytes() const { return bytes_; }

 private:
  struct Held {
    std::byte* unit;
    const std::byte* before;
  };

  void Leave(const Held& held) {
    std::memcpy(held.unit, held.before, sizeof(Unit));
    const uint64_t begin = reinterpret_cast<uintptr_t>(held.unit);
    if (count_++ == 0) bytes_ = {begin, begin};
    bytes_ = {std::min(bytes_.begin, begin), std::max(bytes_.end, begin + sizeof(Unit))};
  }

  static constexpr size_t kUnits = kPatternBytes / sizeof(Unit);

  const size_t proof_;
  Held held_[kUnits] = {}, first_[kUnits] = {};
  size_t row_ = 0, short_ = 0;
  uint64_t count_ = 0;
  ByteRange bytes_ = {0, 0};
};

}  // namespace

WatchedOutput::WatchedOutput(const BoundOperand& operand, std::byte* origin)
    : name_(operand.name),
      is_float_(operand.tensor.dtype == ACL_FLOAT),
      element_bytes_(static_cast<uint64_t>(operand.element_bytes)),
      elements_(static_cast<uint64_t>(ElementCount(operand.tensor).value_or(0))),
      to_device_(reinterpret_cast<uintptr_t>(operand.tensor.data) +
                 static_cast<uint64_t>(operand.origin_byte) - reinterpret_cast<uintptr_t>(origin)) {
  const OpenaclnnTensor& tensor = operand.tensor;
  (void)FindByteRuns(reinterpret_cast<uintptr_t>(origin), element_bytes_,
                     std::span(tensor.dims, tensor.rank), std::span(tensor.strides, tensor.rank),
                     &runs_);
  if (!is_float_ && bytes() < kPatternBytes) runs_.clear();  // never enough to tell
}

uint64_t WatchedOutput::bytes() const { return BytesOf(runs_); }

// Keeps both ends: a kernel that stops early mostly leaves the last elements.
void WatchedOutput::Limit(uint64_t most) {
  if (bytes() > most) KeepEnds(most / 2 / kLargestElement * kLargestElement, &runs_);
}

void WatchedOutput::Fill(uint64_t pattern) noexcept try {
  before_.resize(BytesOf(runs_));
  pattern_ = is_float_ ? SignallingNaNs(pattern) : pattern;
  std::byte* before = before_.data();
  for (const ByteRange& run : runs_) {
    const uint64_t bytes = run.end - run.begin;
    // Goes on where the last run ended: all runs may be as short as an element.
    const auto done = static_cast<uint64_t>(before - before_.data()) % kPatternBytes;
    const uint64_t rest = std::rotr(pattern_, static_cast<int>(8 * done));
    before = std::copy_n(At(run.begin), bytes, before);
    for (uint64_t i = 0; i < bytes; i += kPatternBytes) {
      std::memcpy(At(run.begin + i), &rest, std::min(bytes - i, kPatternBytes));
    }
  }
} catch (const std::bad_alloc&) {
  // Nothing is kept: the next run may find memory.
}

void WatchedOutput::Restore() const noexcept {
  if (!filled()) return;
  const std::byte* before = before_.data();
  for (const ByteRange& run : runs_) {
    std::memcpy(At(run.begin), before, run.end - run.begin);
    before += run.end - run.begin;
  }
}

bool WatchedOutput::IsProof(const char* api, const ShortRow& row) const noexcept try {
  if (row.bytes > 0) return ShortRows::Get().IsProof(api, name_, row, kPatternBytes);
  ShortRows::Get().Forget(api, name_);
  return false;
} catch (const std::bad_alloc&) {
  return false;
}

template <class Unit>
void WatchedOutput::Report(const char* api) const noexcept {
  if (!filled()) return;
  std::array<Unit, kPatternBytes / sizeof(Unit)> expected;
  std::memcpy(expected.data(), &pattern_, kPatternBytes);
  Remains<Unit> remains(is_float_);
  const std::byte* before = before_.data();
  uint64_t done = 0;
  for (const ByteRange& run : runs_) {
    const uint64_t units = (run.end - run.begin) / sizeof(Unit);
    for (uint64_t i = 0; i < units; ++i, ++done, before += sizeof(Unit)) {
      std::byte* const unit = At(run.begin) + i * sizeof(Unit);
      Unit value;
      std::memcpy(&value, unit, sizeof(Unit));
      if (value == expected[done % expected.size()]) [[unlikely]] {
        remains.Add(unit, before);
      } else {
        remains.EndRow();
      }
    }
  }
  remains.EndRow();
  if (remains.count() == 0 && IsProof(api, remains.FirstShort(runs_.front().begin))) {
    remains.LeaveFirstShort();
  }
  if (remains.count() == 0) return;
  const auto [begin, end] = remains.bytes();
  const OpenaclnnLeft left = {
      .api = api,
      .operand = name_,
      .elements = elements_,
      .left = std::max<uint64_t>(remains.count() * sizeof(Unit) / element_bytes_, 1),
      .address = begin + to_device_,
      .bytes = end - begin,
  };
  Check().tell_left(&left);
}

void WatchedOutput::Report(const char* api) const noexcept {
  switch (element_bytes_) {
    case 1:
      return Report<uint8_t>(api);
    case 2:
      return Report<uint16_t>(api);
    case 4:
      return Report<uint32_t>(api);
    default:
      return Report<uint64_t>(api);
  }
}

std::unique_ptr<OutputWatch> OutputWatch::Of(std::span<const BoundOperand> operands,
                                             void* const* data, const OpenaclnnPin* pins) noexcept
    try {
  std::unique_ptr<OutputWatch> watch;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].bytes == 0) continue;
    const OpenaclnnPin* const pin = pins++;
    if (!IsWritten(operands[i]) || !IsApart(operands, data, i)) continue;
    if (Check().has_other_addresses(pin) != 0) continue;  // that of an input, perhaps
    if (watch == nullptr) watch = std::make_unique<OutputWatch>();
    watch->outputs_.emplace_back(operands[i], static_cast<std::byte*>(data[i]));
  }
  if (watch != nullptr) watch->Limit();
  return watch;
} catch (const std::bad_alloc&) {
  return nullptr;  // a check must not fail what it checks
}

void OutputWatch::Limit() {
  std::vector<uint64_t> sizes;
  for (const WatchedOutput& output : outputs_) sizes.push_back(output.bytes());
  const uint64_t most = ShareOf(std::move(sizes));
  for (WatchedOutput& output : outputs_) output.Limit(most);
}

void OutputWatch::Begin() noexcept {
  const uint64_t pattern = NewPattern();
  for (WatchedOutput& output : outputs_) output.Fill(pattern);
}

void OutputWatch::End(const char* api, int code) noexcept {
  for (WatchedOutput& output : outputs_) {
    code == 0 ? output.Report(api) : output.Restore();
    output.Forget();
  }
}

}  // namespace openaclnn
