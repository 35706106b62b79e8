// SPDX-License-Identifier: Apache-2.0
// ScatterPaKvCache and ScatterPaCache: keys and values of tokens become rows of caches in blocks.
#include <algorithm>
#include <utility>

#include "generated/attention.h"
#include "kernels/rows/rows.h"
#include "supporting/attention/cache_rows.h"
#include "supporting/elements.h"

namespace openaclnn::supporting {
namespace {

/// Tokens' rows that are written: (row, token), each row once.
using Slots = std::vector<std::pair<int64_t, int64_t>>;

/// Reads where tokens go. Negative slots are none; of tokens with the same slot the last one stays.
Status FindSlots(const char* name, const std::vector<int64_t>& read, int64_t limit, Slots* slots) {
  for (size_t i = 0; i < read.size(); ++i) {
    if (read[i] >= limit) {
      return Status(507035, Concat(name, " value ", i, " is ", read[i], ", expected less than ",
                                   limit, ", the rows of the cache"));
    }
    // The last token comes first.
    if (read[i] >= 0) slots->emplace_back(read[i], -static_cast<int64_t>(i));
  }
  std::sort(slots->begin(), slots->end());
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  slots->erase(std::unique(slots->begin(), slots->end(), same), slots->end());
  return {};
}

Plan PlanScatter(const Tensor& mapping, std::vector<CacheRows> caches) {
  return {0, [name = mapping.name(), numbers = Elements(mapping, 0),
              caches = std::move(caches)](const Buffers& buffers) {
            Slots slots;
            const int64_t limit = caches[0].blocks() * caches[0].rows();
            Status found = FindSlots(name, numbers.AllWhole(buffers), limit, &slots);
            if (!found.ok()) return found;
            for (const CacheRows& cache : caches) {
              ParallelRows(static_cast<int64_t>(slots.size()), cache.width(), [&](int64_t i) {
                const auto& [row, token] = slots[static_cast<size_t>(i)];
                cache.ToCache(buffers, -token, row);
              });
            }
            return Status();
          }};
}

void CheckSlots(const Tensor& mapping, const Tensor& tokens, Checker& checker) {
  CheckIntegers(mapping, 1, checker);
  if (checker.ok()) CheckShape(mapping, {tokens.dim(0)}, checker);
}

/// Checks that parameters of compression, of which no page at hand gives the formula, are absent.
template <class P>
void CheckUncompressed(const P& p, Checker& checker) {
  for (const Tensor* tensor :
       {&p.compressLensOptional, &p.compressSeqOffsetOptional, &p.seqLensOptional}) {
    checker.That(!tensor->present(), [&] {
      return Concat(tensor->name(),
                    " value is a tensor, expected null: compression is not supported");
    });
  }
}

/// Checks a list that only other scatter modes read: absent, or of two numbers.
void CheckUnread(const IntList& list, int64_t number, Checker& checker) {
  const auto values = list.values();
  const bool fine =
      values.empty() || (values.size() == 2 && values[0] == number && values[1] == number);
  checker.That(fine, [&] {
    return Concat(list.name(), " size is ", values.size(), ", expected 0, or two numbers that are ",
                  number);
  });
}

}  // namespace

void CheckScatterPaKvCache(const ScatterPaKvCacheParams& p, Checker& checker) {
  CheckUncompressed(p, checker);
  CheckUnread(p.stridesOptional, 1, checker);
  CheckUnread(p.offsetsOptional, 0, checker);
  const bool grouped = InGroups(p.cacheModeOptional);
  CheckCaches(p.key, p.keyCacheRef, p.value, p.valueCacheRef, grouped, checker);
  if (!checker.ok()) return;
  CheckSlots(p.slotMapping, p.key, checker);
}

Plan PlanScatterPaKvCache(const ScatterPaKvCacheParams& p, const Product&) {
  const bool grouped = InGroups(p.cacheModeOptional);
  return PlanScatter(p.slotMapping,
                     {{p.key, p.keyCacheRef, grouped}, {p.value, p.valueCacheRef, grouped}});
}

void CheckScatterPaCache(const ScatterPaCacheParams& p, Checker& checker) {
  CheckUncompressed(p, checker);
  CheckCache(p.key, p.keyCacheRef, false, checker);
  if (checker.ok()) CheckSlots(p.slotMapping, p.key, checker);
}

Plan PlanScatterPaCache(const ScatterPaCacheParams& p, const Product&) {
  return PlanScatter(p.slotMapping, {{p.key, p.keyCacheRef, false}});
}

}  // namespace openaclnn::supporting
