// SPDX-License-Identifier: Apache-2.0
// Output watch: elements of an output that its task did not write (OPENACLNN_CHECK=full).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/byte_runs.h"
#include "nnopbase/operand/operand.h"
#include "nnopbase/operand/short_rows.h"

namespace openaclnn {

/// One output while its task runs, in memory of the host.
class WatchedOutput {
 public:
  /// `origin`: its element [0, …, 0].
  WatchedOutput(const BoundOperand& operand, std::byte* origin);

  /// Watched ones.
  uint64_t bytes() const;
  /// Watches the ends alone, `most` bytes together, if it has more.
  void Limit(uint64_t most);

  /// Keeps what is there and writes the pattern over it. Without memory this run is not watched.
  void Fill(uint64_t pattern) noexcept;
  /// Puts back what the elements held before Fill.
  void Restore() const noexcept;
  /// Restores the elements that still hold the pattern, and reports them.
  void Report(const char* api) const noexcept;
  /// Gives back what Fill has kept: the task may be a graph's, which stays.
  void Forget() noexcept { before_ = std::vector<std::byte>(); }  // with its capacity

 private:
  template <class Unit>
  void Report(const char* api) const noexcept;
  bool IsProof(const char* api, const ShortRow& row) const noexcept;
  bool filled() const { return !before_.empty(); }

  const char* name_;
  bool is_float_;
  uint64_t element_bytes_;
  uint64_t elements_;
  uint64_t to_device_;  // from an address of the host to the one that clients know
  uint64_t pattern_ = 0;
  std::vector<ByteRange> runs_;    // whole elements
  std::vector<std::byte> before_;  // of the run that is under way
};

/// The outputs of a call that its task is to write as a whole and without looking at them.
class OutputWatch {
 public:
  /// `data`: where the operands' elements [0, …, 0] are; `pins`: of those with elements. Null where
  /// there is nothing to watch, and without memory for it.
  static std::unique_ptr<OutputWatch> Of(std::span<const BoundOperand> operands, void* const* data,
                                         const OpenaclnnPin* pins) noexcept;

  /// Before the task and after it; `code` is what it returned.
  void Begin() noexcept;
  void End(const char* api, int code) noexcept;

 private:
  void Limit();

  std::vector<WatchedOutput> outputs_;
};

}  // namespace openaclnn
