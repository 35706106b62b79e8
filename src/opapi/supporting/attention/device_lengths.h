// SPDX-License-Identifier: Apache-2.0
// Reads lengths of sequences, or ends of packed sequences, from a tensor in device memory.
#pragma once

#include <vector>

#include "supporting/attention/lengths.h"

namespace openaclnn::supporting {

class DeviceLengths {
 public:
  /// With `ends` the tensor has the ends of packed sequences. Else it has the length of each of
  /// `batches` batches, at most `most`; without a tensor each has `most` rows.
  DeviceLengths(const Tensor& tensor, bool ends, int64_t batches, int64_t most);

  /// Checks the type and the number of lengths; the numbers are read when a task runs.
  static void Check(const Tensor& tensor, bool ends, int64_t batches, Checker& checker);

  /// Returns 507035 if a length is negative or too large, or an end is less than the previous one.
  Status Read(const Buffers& buffers, std::vector<Span>* spans) const;

 private:
  const char* name_;
  Place place_;
  bool given_, ends_;
  int64_t step_, batches_, most_;
};

}  // namespace openaclnn::supporting
