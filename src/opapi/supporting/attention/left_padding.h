// SPDX-License-Identifier: Apache-2.0
// Inference: batches whose rows and keys lie at the end of their tensors, before a padding whose
// size is in device memory.
#pragma once

#include <vector>

#include "supporting/attention/infer.h"

namespace openaclnn::supporting {

/// Checks the tensors of padding sizes, and what the page allows beside them.
void CheckPadding(const InferCall& call, Checker& checker);

class LeftPadding {
 public:
  explicit LeftPadding(const InferCall& call);

  bool given() const { return q_.given || k_.given; }
  /// Reads the sizes and moves the sequences of InferCall::Sequences to their rows and keys.
  /// Returns 507035 if a batch has too few rows. If the query has one row and its keys do not fit,
  /// the row becomes 0.
  Status Place(const Buffers& buffers, std::vector<AttentionSequence>* sequences) const;

 private:
  struct Size {
    Size(const Tensor& tensor, bool reads)
        : given(reads), name(tensor.name()), place(tensor.place) {}
    int64_t Read(const Buffers& buffers) const;

    bool given;
    const char* name;
    openaclnn::supporting::Place place;
  };

  Size q_, k_;
  int64_t rows_;                   // of each batch of the query
  std::vector<int64_t> key_rows_;  // of each batch of keys
};

}  // namespace openaclnn::supporting
