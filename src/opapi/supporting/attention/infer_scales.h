// SPDX-License-Identifier: Apache-2.0
// Inference with INT8 operands and results: the factors and offsets that belong to them.
//
// Keys and values of INT8 become (element + offset) * factor while a tile of them is packed. If the
// query is INT8 too, the weights are not rounded to INT8 between the two products: their factors
// are applied to the result.
#pragma once

#include <vector>

#include "supporting/attention/infer.h"

namespace openaclnn::supporting {

/// All tensors that may be given.
std::vector<const Tensor*> TensorsOf(const InferScales& scales);

/// Checks the types of query, key, value and the result, and which tensors they need.
void CheckScaledTypes(const InferArguments& of, Checker& checker);

/// Checks shapes and types of factors and offsets, and what pages allow beside them.
void CheckScales(const InferCall& call, Checker& checker);

/// Where a task finds them.
class InferScaling {
 public:
  /// Sets the plan's part. The arguments must be checked.
  InferScaling(const InferCall& call, Attention* plan);

  /// Whether there are factors of products, which Scale reads.
  bool of_products() const { return !products_.empty(); }
  void Scale(const Buffers& buffers, Attention* plan) const;
  void Set(const Buffers& buffers, AttentionTensors* tensors) const;

 private:
  struct Source {
    bool given = false;
    openaclnn::supporting::Place place = {};
    int64_t offset = 0;  // bytes

    const void* operator()(const Buffers& buffers) const {
      return given ? place(buffers) + offset : nullptr;
    }
  };
  struct Factor {
    openaclnn::supporting::Place place;
    bool of_scores;
  };

  Source SourceOf(const Tensor& tensor, int64_t half) const;

  Source k_, k_offset_, v_, v_offset_, out_, out_offset_, q_;
  std::vector<Factor> products_;
};

}  // namespace openaclnn::supporting
