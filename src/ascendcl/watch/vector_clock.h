// SPDX-License-Identifier: Apache-2.0
// Vector clock: how much of each stream's work something comes after.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace openaclnn {

/// A stream's place in clocks; of two streams of one process never the same.
using StreamNumber = uint64_t;

class VectorClock {
 public:
  /// Tasks of the stream that lie before; 0 for a stream that the clock knows nothing of.
  uint64_t At(StreamNumber stream) const {
    const auto place = std::lower_bound(ticks_.begin(), ticks_.end(), Tick{stream, 0});
    return place != ticks_.end() && place->first == stream ? place->second : 0;
  }

  void Raise(StreamNumber stream, uint64_t tick) {
    const auto place = std::lower_bound(ticks_.begin(), ticks_.end(), Tick{stream, 0});
    if (place == ticks_.end() || place->first != stream) {
      ticks_.insert(place, {stream, tick});
    } else {
      place->second = std::max(place->second, tick);
    }
  }

  /// Raises the ticks of the streams for which `keep` returns true.
  template <class Keep>
  void Join(const VectorClock& other, const Keep& keep) {
    for (const auto& [stream, tick] : other.ticks_) {
      if (keep(stream)) Raise(stream, tick);
    }
  }

  void Forget(StreamNumber stream) {
    std::erase_if(ticks_, [&](const Tick& tick) { return tick.first == stream; });
  }

 private:
  using Tick = std::pair<StreamNumber, uint64_t>;
  std::vector<Tick> ticks_;  // by stream, ascending
};

}  // namespace openaclnn
