// SPDX-License-Identifier: Apache-2.0
// Recurrences over sequences, layer by layer and in one or both directions: what LSTM and GRU
// share.
#pragma once

#include <vector>

#include "generated/activation.h"
#include "kernels/gemm/gemm.h"
#include "kernels/rows/rows.h"
#include "supporting/elements.h"

namespace openaclnn::supporting {

/// The operands that the forward and the gradient have.
struct Recurrent {
  const Tensor& input;
  const GivenList& params;  // of each layer and direction: weights by input and state, then biases
  std::vector<const Tensor*> states;  // before the first step: (layers * directions, batch, width)
  const Tensor& batchSizes;           // how many sequences each step has; absent: all
  bool has_biases, bidirectional, batch_first;
  int64_t layers, gates;
};

struct RecurrentSizes {
  explicit RecurrentSizes(const Recurrent& of);

  int64_t rows() const { return steps * batch; }
  size_t part(int64_t layer, int64_t direction) const {
    return static_cast<size_t>(layer * directions + direction);
  }
  /// Width of what a layer reads.
  int64_t input_of(int64_t layer) const { return layer == 0 ? size : directions * width; }

  int64_t steps = 0, batch = 0, size = 0, width = 0, layers = 0, directions = 1, gates = 0;
  bool biases = false;
};

/// Checks all that the forward and the gradient have.
void CheckRecurrent(const Recurrent& of, Checker& checker);
/// Checks that a list has a tensor for each layer and direction, of an element for each step,
/// sequence and place of the state.
void CheckSteps(const GivenList& list, const RecurrentSizes& sizes, Checker& checker);
/// Checks the shape of a sequence that has `width` numbers for each step.
void CheckSequence(const Tensor& tensor, const Recurrent& of, int64_t width, Checker& checker);
/// Refuses a dropout between layers: no argument gives a seed, and nothing keeps what was dropped.
/// The gradients by the input and the parameters have their shapes.
void CheckGradients(const Recurrent& of, const Tensor& input, const GivenList& params,
                    Checker& checker);
void CheckDropout(double dropout, bool train, int64_t layers, Checker& checker);

/// Rows of a tensor, (steps, batch) in this order, as floats.
class StepRows {
 public:
  StepRows() = default;
  /// A tensor of three dimensions, or of two whose first is both.
  StepRows(const Tensor& tensor, int64_t steps, int64_t batch, bool batch_first);

  bool present() const { return load_ != nullptr; }
  void Load(const Buffers& buffers, int64_t row, int64_t n, float* to) const;
  void Store(const Buffers& buffers, int64_t row, const float* from, int64_t n,
             int64_t first = 0) const;
  /// `count` rows of n elements, one after the other; an absent tensor leaves them.
  void LoadRows(const Buffers& buffers, int64_t row, int64_t count, int64_t n, float* to) const {
    for (int64_t i = 0; present() && i < count; ++i) Load(buffers, row + i, n, to + i * n);
  }
  /// As a factor of a product, of so many columns.
  TapMatrix Matrix(int64_t columns) const;
  Place place() const { return place_; }

 private:
  Place place_;
  Offsets rows_;
  int64_t step_ = 0, bytes_ = 0;
  int32_t dtype_ = ACL_FLOAT;
  LoadRow<float> load_ = nullptr;
  StoreRow<float> store_ = nullptr;
};

/// A dense matrix of floats.
TapMatrix DenseFloats(int64_t rows, int64_t columns);
TapMatrix MatrixOf(const Tensor& weight);
TapMatrix Turned(TapMatrix matrix);

/// Plans c = a b, or c = a b + c, of dense floats c.
Gemm PlanFloats(const TapMatrix& a, const TapMatrix& b, int64_t rows, int64_t terms,
                int64_t columns, bool adds = false);

/// How many sequences each step has. 507035 where they grow, or are more than there are.
class ActiveRows {
 public:
  ActiveRows(const Tensor& batch_sizes, const RecurrentSizes& sizes)
      : given_(batch_sizes, 0), present_(batch_sizes.present()), sizes_(sizes) {}

  Status Read(const Buffers& buffers, std::vector<int64_t>* counts) const;

 private:
  Elements given_;
  bool present_;
  RecurrentSizes sizes_;
};

}  // namespace openaclnn::supporting
