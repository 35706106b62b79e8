// SPDX-License-Identifier: Apache-2.0
// Lengths of sequences, or ends of packed sequences, that a tensor in device memory has.
#pragma once

#include <vector>

#include "supporting/attention/lengths.h"

namespace openaclnn::supporting {

class DeviceLengths {
 public:
  /// `ends`: packed sequences, of which the tensor has the ends. Else each of `batches` batches has
  /// at most `most` rows, and has all of them if there is no tensor.
  DeviceLengths(const Tensor& tensor, bool ends, int64_t batches, int64_t most);

  /// Checks the type and the number of lengths; the numbers are read when a task runs.
  static void Check(const Tensor& tensor, bool ends, int64_t batches, Checker& checker);

  /// 507035 for a length that is negative or too large, and for an end before another one.
  Status Read(const Buffers& buffers, std::vector<Span>* spans) const;

 private:
  const char* name_;
  Place place_;
  bool given_, ends_;
  int64_t step_, batches_, most_;
};

}  // namespace openaclnn::supporting
