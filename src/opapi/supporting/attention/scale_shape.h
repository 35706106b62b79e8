// SPDX-License-Identifier: Apache-2.0
// Shapes of factors of quantised keys, values and results: what their numbers belong to.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "supporting/attention/infer.h"

namespace openaclnn::supporting {

/// The numbers of keyAntiquantMode, valueAntiquantMode and antiquantMode.
enum class ScaleMode {
  kChannel,   // of each head's elements, or one for all
  kRow,       // of each row of a batch
  kHead,      // of each head
  kHeadRow,   // of each head's rows in a batch
  kPage,      // of each row of a block
  kHeadPage,  // of each head's rows in a block
};

/// Sizes of a call: heads, their elements, batches, at least so many rows, blocks and their rows.
struct ScaleSizes {
  int64_t heads, width, batches = 0, rows = 0, blocks = 0, block_rows = 0;
};

/// Dimensions and their steps in bytes.
using ScaleAxes = std::vector<std::pair<int64_t, int64_t>>;
/// Those of a tensor from a dimension on.
ScaleAxes AxesOf(const Tensor& tensor, uint32_t first);

/// Whether dimensions are those of a mode. Sets the steps.
bool Belongs(const ScaleAxes& axes, ScaleMode mode, const ScaleSizes& sizes,
             AttentionNumbers* numbers);
/// The shapes that a mode takes, in words.
std::string ShapesOf(ScaleMode mode, const ScaleSizes& sizes);

ScaleSizes SizesOf(const InferCall& call, bool of_key);
ScaleSizes SizesOfResult(const InferCall& call);

/// Whether a tensor has a number for each row of query. Sets the steps.
bool BelongsToRows(const Tensor& tensor, const InferCall& call, AttentionNumbers* numbers);

}  // namespace openaclnn::supporting
