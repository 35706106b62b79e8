// SPDX-License-Identifier: Apache-2.0
// Strided views as ranges of bytes: dimensions that leave no gap are joined, the rest is walked.
#include "common/byte_runs.h"

#include <algorithm>

namespace openaclnn {
namespace {

struct Step {
  uint64_t bytes;  // from one element to the next
  uint64_t count;
};

/// The dimensions that move, from the smallest step; *origin becomes the view's lowest address.
std::vector<Step> StepsOf(uint64_t element_bytes, std::span<const int64_t> dims,
                          std::span<const int64_t> strides, uint64_t* origin) {
  std::vector<Step> steps;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] <= 1 || strides[i] == 0) continue;
    const auto count = static_cast<uint64_t>(dims[i]);
    const uint64_t bytes = static_cast<uint64_t>(std::abs(strides[i])) * element_bytes;
    if (strides[i] < 0) *origin -= bytes * (count - 1);
    steps.push_back({bytes, count});
  }
  std::sort(steps.begin(), steps.end(),
            [](const Step& a, const Step& b) { return a.bytes < b.bytes; });
  return steps;
}

}  // namespace

bool FindByteRuns(uint64_t origin, uint64_t element_bytes, std::span<const int64_t> dims,
                  std::span<const int64_t> strides, std::vector<ByteRange>* runs) {
  runs->clear();
  if (element_bytes == 0 || std::count(dims.begin(), dims.end(), 0) > 0) return true;
  const std::vector<Step> steps = StepsOf(element_bytes, dims, strides, &origin);
  uint64_t length = element_bytes;
  size_t joined = 0;
  for (; joined < steps.size() && steps[joined].bytes <= length; ++joined) {
    length += steps[joined].bytes * (steps[joined].count - 1);
  }
  const std::span<const Step> left = std::span(steps).subspan(joined);
  uint64_t number = 1;
  for (const Step& step : left) {
    if (step.count > kMaxRuns || (number *= step.count) > kMaxRuns) return false;
  }
  runs->reserve(number);
  for (uint64_t i = 0; i < number; ++i) {
    uint64_t begin = origin;
    uint64_t rest = i;
    for (const Step& step : left) {
      begin += rest % step.count * step.bytes;
      rest /= step.count;
    }
    runs->push_back({begin, begin + length});
  }
  return true;
}

ByteRange FindByteSpan(uint64_t origin, uint64_t element_bytes, std::span<const int64_t> dims,
                       std::span<const int64_t> strides) {
  if (element_bytes == 0 || std::count(dims.begin(), dims.end(), 0) > 0) return {origin, origin};
  uint64_t bytes = element_bytes;
  for (const Step& step : StepsOf(element_bytes, dims, strides, &origin)) {
    bytes += step.bytes * (step.count - 1);
  }
  return {origin, origin + bytes};
}

}  // namespace openaclnn
