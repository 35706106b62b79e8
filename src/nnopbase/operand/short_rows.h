// SPDX-License-Identifier: Apache-2.0
// Short rows: elements that hold the pattern of their output watch, too few to tell that no task
// wrote them, until tasks of the operator have left them one after the other.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace openaclnn {

struct ShortRow {
  uint64_t begin, bytes;  // from the output's first byte

  bool operator==(const ShortRow&) const = default;
};

/// Each task has a pattern of its own: a row that two tasks leave is proof as one of both lengths.
class ShortRows {
 public:
  static ShortRows& Get();

  /// A task of the operator has left this row of its output. True where it and those before it have
  /// left as many bytes there as are proof.
  bool IsProof(const char* api, const char* operand, const ShortRow& row, uint64_t proof);

  /// A task of the operator has left none.
  void Forget(const char* api, const char* operand) {
    if (count_.load(std::memory_order_relaxed) != 0) Erase({api, operand});
  }

 private:
  using Key = std::pair<std::string, std::string>;
  struct Left {
    ShortRow row;
    uint64_t bytes;
  };

  void Erase(const Key& key);

  std::mutex mutex_;
  std::map<Key, Left> left_;      // under the lock
  std::atomic<size_t> count_{0};  // of them
};

}  // namespace openaclnn
