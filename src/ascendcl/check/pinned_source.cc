// SPDX-License-Identifier: Apache-2.0
// Pinned sources: kept whole where they are small, else as hashes of pieces.
#include "ascendcl/check/pinned_source.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "ascendcl/check/race_report.h"
#include "ascendcl/memory/memory.h"
#include "ascendcl/report/report.h"
#include "ascendcl/watch/race_watch.h"

namespace openaclnn {
namespace {

constexpr uint64_t kMostCopied = uint64_t{1} << 20;
constexpr uint64_t kPieceBytes = 4096;

/// Ranges that queued tasks are to write.
struct Writes {
  std::mutex mutex;  // guards what follows
  std::vector<ByteRange> ranges;
  bool more = false;  // there was no memory for one of them
};

Writes& Pending() {
  static auto* const writes = new Writes;  // tasks may outlive static destructors
  return *writes;
}

bool WillBeWritten(const ByteRange& bytes) {
  Writes& pending = Pending();
  std::lock_guard lock(pending.mutex);
  const auto meets = [&](const ByteRange& range) {
    return range.begin < bytes.end && bytes.begin < range.end;
  };
  return pending.more || std::any_of(pending.ranges.begin(), pending.ranges.end(), meets);
}

uint64_t Mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15;
  return hash ^ hash >> 29;
}

uint64_t Hash(const std::byte* bytes, uint64_t count) {
  uint64_t hash = count, word = 0;
  for (; count >= sizeof(word); bytes += sizeof(word), count -= sizeof(word)) {
    std::memcpy(&word, bytes, sizeof(word));
    hash = Mix(hash, word);
  }
  word = 0;
  std::memcpy(&word, bytes, count);
  return Mix(hash, word);
}

/// body(first, bytes) for each piece of the rows, until it returns false.
template <class Body>
void ForPieces(const PinnedRows& rows, const Body& body) {
  for (uint64_t row = 0; row < rows.height; ++row) {
    const std::byte* const first = rows.first + row * rows.pitch;
    for (uint64_t at = 0; at < rows.width; at += kPieceBytes) {
      if (!body(first + at, std::min(kPieceBytes, rows.width - at))) return;
    }
  }
}

}  // namespace

ByteRange PinnedRows::span() const {
  const auto begin = reinterpret_cast<uintptr_t>(first);
  return {begin, begin + (height - 1) * pitch + width};
}

PinnedWrite::PinnedWrite(const PinnedRows& rows) : bytes_(rows.span()) {
  Writes& pending = Pending();
  std::lock_guard lock(pending.mutex);
  try {
    pending.ranges.push_back(bytes_);
  } catch (...) {
    pending.more = true;
  }
}

PinnedWrite::~PinnedWrite() {
  std::vector<ByteRange>& ranges = Pending().ranges;
  std::lock_guard lock(Pending().mutex);
  const auto range = std::find(ranges.begin(), ranges.end(), bytes_);
  if (range == ranges.end()) return;
  *range = ranges.back();
  ranges.pop_back();
}

std::unique_ptr<const PinnedSource> PinnedSource::Take(Role role, const Caller& caller,
                                                       const PinnedRows& rows) {
  if (HostFunctionsPend() || WillBeWritten(rows.span())) return nullptr;
  return std::unique_ptr<const PinnedSource>(new PinnedSource(role, caller, rows));
}

PinnedSource::PinnedSource(Role role, const Caller& caller, const PinnedRows& rows)
    : role_(role), caller_(caller), rows_(rows) {
  const bool small = rows.width * rows.height <= kMostCopied;
  ForPieces(rows, [&](const std::byte* first, uint64_t bytes) {
    if (small) {
      copy_.insert(copy_.end(), first, first + bytes);
    } else {
      hashes_.push_back(Hash(first, bytes));
    }
    return true;
  });
}

PinnedSource::Change PinnedSource::Find() const {
  Change change;
  auto copied = copy_.begin();
  auto hash = hashes_.begin();
  ForPieces(rows_, [&](const std::byte* first, uint64_t bytes) {
    if (copied != copy_.end()) {
      const auto end = copied + static_cast<std::ptrdiff_t>(bytes);
      const auto differs = std::mismatch(copied, end, first).second;
      if (differs != first + bytes) change = {differs, 1};
      copied = end;
    } else if (*hash++ != Hash(first, bytes)) {
      change = {first, bytes};
    }
    return change.first == nullptr;
  });
  return change;
}

void PinnedSource::Compare() const noexcept try {
  const Change change = Find();
  if (change.first == nullptr) return;
  const bool source = role_ == Role::kSource;
  const std::string key = Concat(caller_.call, source ? " reads\n" : " writes\n", caller_.stream,
                                 "\n", rows_.first, " ", rows_.width, " ", rows_.height);
  if (!CountFinding(Check::kRacecheck, key)) return;
  const std::string stream = StreamText(caller_);
  TellFinding(
      {.check = Check::kRacecheck,
       .title = Concat("the host has changed the ", source ? "source" : "destination",
                       " of a queued ", caller_.call, "\non ", stream, " before the copy has ",
                       source ? "read" : "written", " it"),
       .what = Concat(caller_.call, source ? " reads src" : " writes dst",
                      "; the host wrote there after the call"),
       .where = Concat("first changed: ", PlaceOf(change.first, change.bytes)),
       .fix = Concat("wait before the memory is written again: aclrtSynchronizeStream, or an\n"
                     "event recorded behind the copy and aclrtSynchronizeEvent")});
} catch (...) {  // without memory for words there is no report
}

}  // namespace openaclnn
