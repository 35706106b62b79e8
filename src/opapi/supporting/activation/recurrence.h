// SPDX-License-Identifier: Apache-2.0
// The loops of recurrences, of any cell.
//
// A cell has kGates gates, kStates states (the first one is the result) and kSaved lists of what
// the gradient needs. Forward makes of a row of gates the next states, and what is saved. Backward
// turns gradients by the states after a step into those by the gates and the states before it; what
// the products with weights add to the first one comes on top.
#pragma once

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "supporting/activation/recurrent.h"
#include "supporting/tree_sum.h"

namespace openaclnn::supporting {

using Floats = std::vector<float>;

inline Floats Zeros(int64_t count) { return Floats(static_cast<size_t>(count)); }

/// The weights of a layer and a direction.
struct LayerWeights {
  LayerWeights(const Recurrent& of, const RecurrentSizes& sizes, size_t part)
      : by_input(Weight(of, sizes, part, 0).place),
        by_state(Weight(of, sizes, part, 1).place),
        input_matrix(MatrixOf(Weight(of, sizes, part, 0))),
        state_matrix(MatrixOf(Weight(of, sizes, part, 1))),
        input_bias(sizes.biases ? Weight(of, sizes, part, 2) : NoTensor(), 0),
        state_bias(sizes.biases ? Weight(of, sizes, part, 3) : NoTensor(), 0) {}

  static const Tensor& Weight(const Recurrent& of, const RecurrentSizes& sizes, size_t part,
                              size_t which) {
    return of.params[part * (sizes.biases ? 4 : 2) + which];
  }

  Place by_input, by_state;
  TapMatrix input_matrix, state_matrix;
  Elements input_bias, state_bias;
};

/// Adds a bias to each row.
inline void AddToRows(const Elements& bias, const Buffers& buffers, int64_t rows, int64_t width,
                      float* to) {
  const std::vector<double> all = bias.All(buffers);
  if (all.empty()) return;
  ParallelRows(rows, width, [&](int64_t row) {
    for (int64_t i = 0; i < width; ++i) {
      to[row * width + i] += static_cast<float>(all[static_cast<size_t>(i)]);
    }
  });
}

/// The step that a direction takes as its i-th.
inline int64_t StepOf(const RecurrentSizes& sizes, int64_t direction, int64_t i) {
  return direction == 0 ? i : sizes.steps - 1 - i;
}

template <class Cell>
class RecurrentForward {
 public:
  /// `last` are the states behind the last step; `saved` is empty where nothing is kept.
  RecurrentForward(const Recurrent& of, const Tensor& output, std::vector<const Tensor*> last,
                   const std::vector<const GivenList*>& saved)
      : sizes_(of), counts_(of.batchSizes, sizes_) {
    const RecurrentSizes& s = sizes_;
    input_ = StepRows(of.input, s.steps, s.batch, of.batch_first);
    output_ = StepRows(output, s.steps, s.batch, of.batch_first && !of.batchSizes.present());
    const int64_t wide = s.gates * s.width;
    for (size_t k = 0; k < Cell::kStates; ++k) {
      first_[k] = StepRows(*of.states[k], s.layers * s.directions, s.batch, false);
      last_[k] = StepRows(*last[k], s.layers * s.directions, s.batch, false);
    }
    for (int64_t layer = 0; layer < s.layers; ++layer) {
      for (int64_t d = 0; d < s.directions; ++d) {
        const size_t part = s.part(layer, d);
        Part& made = parts_.emplace_back(LayerWeights(of, s, part));
        const TapMatrix x =
            layer == 0 ? input_.Matrix(s.size) : DenseFloats(s.rows(), s.input_of(layer));
        made.by_input =
            PlanFloats(x, Turned(made.weights.input_matrix), s.rows(), s.input_of(layer), wide);
        made.by_state = PlanFloats(DenseFloats(s.batch, s.width), Turned(made.weights.state_matrix),
                                   s.batch, s.width, wide);
        for (const GivenList* list : saved) {
          made.saved.emplace_back((*list)[part], s.steps, s.batch, false);
        }
      }
    }
  }

  uint64_t bytes() const {
    uint64_t most = 0;
    for (const Part& part : parts_) {
      most = std::max({most, part.by_input.scratch_bytes(), part.by_state.scratch_bytes()});
    }
    return most;
  }

  Status Run(const Buffers& buffers) const {
    std::vector<int64_t> counts;
    Status status = counts_.Read(buffers, &counts);
    if (!status.ok()) return status;
    const RecurrentSizes& s = sizes_;
    Floats below, result;
    for (int64_t layer = 0; layer < s.layers; ++layer) {
      result = Zeros(s.rows() * s.directions * s.width);
      for (int64_t d = 0; d < s.directions; ++d) {
        RunPart(buffers, layer, d, counts, layer == 0 ? nullptr : below.data(), result.data());
      }
      below = std::move(result);
    }
    ParallelRows(s.rows(), s.directions * s.width, [&](int64_t row) {
      const int64_t n = s.directions * s.width;
      output_.Store(buffers, row, below.data() + row * n, n);
    });
    return {};
  }

 private:
  struct Part {
    explicit Part(const LayerWeights& of) : weights(of) {}
    LayerWeights weights;
    Gemm by_input = {}, by_state = {};
    std::vector<StepRows> saved;
  };

  void RunPart(const Buffers& buffers, int64_t layer, int64_t d, const std::vector<int64_t>& counts,
               const float* below, float* result) const {
    const RecurrentSizes& s = sizes_;
    const auto number = static_cast<int64_t>(s.part(layer, d));
    const Part& part = parts_[s.part(layer, d)];
    const int64_t wide = s.gates * s.width;
    Floats gates = Zeros(s.rows() * wide), more = Zeros(s.batch * wide);
    RunGemm(part.by_input,
            below != nullptr ? static_cast<const void*>(below) : input_.place()(buffers),
            part.weights.by_input(buffers), nullptr, gates.data(), buffers.workspace);
    AddToRows(part.weights.input_bias, buffers, s.rows(), wide, gates.data());
    std::array<Floats, Cell::kStates> states;
    for (size_t k = 0; k < Cell::kStates; ++k) {
      states[k] = Zeros(s.batch * s.width);
      first_[k].LoadRows(buffers, number * s.batch, s.batch, s.width, states[k].data());
    }
    for (int64_t i = 0; i < s.steps; ++i) {
      const int64_t t = StepOf(s, d, i), count = counts[static_cast<size_t>(t)];
      RunGemm(part.by_state, states[0].data(), part.weights.by_state(buffers), nullptr, more.data(),
              buffers.workspace);
      AddToRows(part.weights.state_bias, buffers, s.batch, wide, more.data());
      ParallelRowsIn<Floats>(s.batch, 16 * wide, [&](int64_t b, Floats* room) {
        const int64_t row = t * s.batch + b;
        std::array<float*, Cell::kStates> own;
        for (size_t k = 0; k < Cell::kStates; ++k) own[k] = states[k].data() + b * s.width;
        room->assign(static_cast<size_t>(Cell::kSaved) * static_cast<size_t>(s.width), 0.0f);
        if (b < count) {
          Cell::Forward(s.width, gates.data() + row * wide, more.data() + b * wide, own,
                        room->data());
          float* const to = result + (row * s.directions + d) * s.width;
          std::copy_n(own[0], s.width, to);
        }
        Cell::Keep(s.width, own, room->data());
        for (size_t k = 0; k < part.saved.size(); ++k) {
          part.saved[k].Store(buffers, row, room->data() + static_cast<int64_t>(k) * s.width,
                              s.width);
        }
      });
    }
    for (size_t k = 0; k < Cell::kStates; ++k) {
      for (int64_t b = 0; b < s.batch; ++b) {
        last_[k].Store(buffers, number * s.batch + b, states[k].data() + b * s.width, s.width);
      }
    }
  }

  RecurrentSizes sizes_;
  ActiveRows counts_;
  StepRows input_, output_;
  std::array<StepRows, Cell::kStates> first_, last_;
  std::vector<Part> parts_;
};

/// Operands and results of a gradient beside the operands of the forward.
struct RecurrentGradients {
  const Tensor& output;             // the gradient by the result; absent: 0
  std::vector<const Tensor*> last;  // by the states behind the last step; absent: 0
  std::vector<const GivenList*> saved;
  const Tensor& input;  // those that are written
  std::vector<const Tensor*> first;
  const GivenList& params;
};

template <class Cell>
class RecurrentBackward {
 public:
  RecurrentBackward(const Recurrent& of, const RecurrentGradients& gradients)
      : sizes_(of), counts_(of.batchSizes, sizes_) {
    const RecurrentSizes& s = sizes_;
    const bool batch_first = of.batch_first && !of.batchSizes.present();
    input_ = StepRows(of.input, s.steps, s.batch, of.batch_first);
    by_output_ = StepRows(gradients.output, s.steps, s.batch, batch_first);
    by_input_ = StepRows(gradients.input, s.steps, s.batch, of.batch_first);
    for (size_t k = 0; k < Cell::kStates; ++k) {
      const int64_t parts = s.layers * s.directions;
      first_[k] = StepRows(*of.states[k], parts, s.batch, false);
      by_last_[k] = StepRows(*gradients.last[k], parts, s.batch, false);
      by_first_[k] = StepRows(*gradients.first[k], parts, s.batch, false);
    }
    for (int64_t layer = 0; layer < s.layers; ++layer) {
      for (int64_t d = 0; d < s.directions; ++d)
        parts_.push_back(MakePart(of, gradients, layer, d));
    }
  }

  uint64_t bytes() const {
    uint64_t most = 0;
    for (const Part& part : parts_) {
      for (const Gemm* gemm :
           {&part.to_state, &part.to_input, &part.to_input_weight, &part.to_state_weight}) {
        most = std::max(most, gemm->scratch_bytes());
      }
    }
    return most;
  }

  Status Run(const Buffers& buffers) const {
    std::vector<int64_t> counts;
    Status status = counts_.Read(buffers, &counts);
    if (!status.ok()) return status;
    const RecurrentSizes& s = sizes_;
    Floats above = Zeros(s.rows() * s.directions * s.width);
    by_output_.LoadRows(buffers, 0, s.rows(), s.directions * s.width, above.data());
    for (int64_t layer = s.layers; layer-- > 0;) {
      const Floats below = layer == 0 ? Floats() : ResultOf(buffers, layer - 1, counts);
      Floats by_input = Zeros(s.rows() * s.input_of(layer));
      for (int64_t d = 0; d < s.directions; ++d) {
        RunPart(buffers, layer, d, counts, above, below, &by_input);
      }
      above = std::move(by_input);
    }
    for (int64_t row = 0; row < s.rows(); ++row) {
      by_input_.Store(buffers, row, above.data() + row * s.size, s.size);
    }
    return {};
  }

 private:
  struct Part {
    explicit Part(const LayerWeights& of) : weights(of) {}
    LayerWeights weights;
    Gemm to_state = {}, to_input = {}, to_input_weight = {}, to_state_weight = {};
    std::vector<StepRows> saved;
    std::vector<Elements> by_params;
  };

  Part MakePart(const Recurrent& of, const RecurrentGradients& gradients, int64_t layer,
                int64_t d) const {
    const RecurrentSizes& s = sizes_;
    const size_t number = s.part(layer, d);
    const int64_t wide = s.gates * s.width, size = s.input_of(layer);
    Part made(LayerWeights(of, s, number));
    const TapMatrix step = DenseFloats(s.batch, wide), all = DenseFloats(s.rows(), wide);
    const TapMatrix x = layer == 0 ? input_.Matrix(s.size) : DenseFloats(s.rows(), size);
    made.to_state = PlanFloats(step, made.weights.state_matrix, s.batch, wide, s.width);
    // The second direction adds to what the first one has made.
    made.to_input = PlanFloats(all, made.weights.input_matrix, s.rows(), wide, size, d > 0);
    made.to_input_weight = PlanFloats(Turned(all), x, wide, s.rows(), size);
    made.to_state_weight =
        PlanFloats(Turned(all), DenseFloats(s.rows(), s.width), wide, s.rows(), s.width);
    for (const GivenList* list : gradients.saved) {
      made.saved.emplace_back((*list)[number], s.steps, s.batch, false);
    }
    const size_t each = s.biases ? 4 : 2;
    for (size_t i = 0; i < each; ++i) {
      made.by_params.emplace_back(gradients.params[number * each + i], 0);
    }
    return made;
  }

  /// States of both directions side by side as a layer made them, 0 behind a sequence's end.
  Floats ResultOf(const Buffers& buffers, int64_t layer, const std::vector<int64_t>& counts) const {
    const RecurrentSizes& s = sizes_;
    Floats result = Zeros(s.rows() * s.directions * s.width);
    for (int64_t d = 0; d < s.directions; ++d) {
      const StepRows& states = parts_[s.part(layer, d)].saved[Cell::kStateAt[0]];
      for (int64_t row = 0; row < s.rows(); ++row) {
        if (row % s.batch >= counts[static_cast<size_t>(row / s.batch)]) continue;
        states.Load(buffers, row, s.width, result.data() + (row * s.directions + d) * s.width);
      }
    }
    return result;
  }

  /// The states before a step, of a row.
  void LoadBefore(const Buffers& buffers, const Part& part, int64_t number, int64_t d, int64_t i,
                  int64_t b, size_t state, float* to) const {
    const RecurrentSizes& s = sizes_;
    if (i == 0) return first_[state].Load(buffers, number * s.batch + b, s.width, to);
    part.saved[Cell::kStateAt[state]].Load(buffers, StepOf(s, d, i - 1) * s.batch + b, s.width, to);
  }

  struct Gates {
    Floats by_input, by_state;  // gradients by what the products of both make
    Floats before;              // the results before each step
  };

  void RunPart(const Buffers& buffers, int64_t layer, int64_t d, const std::vector<int64_t>& counts,
               const Floats& above, const Floats& below, Floats* by_input) const {
    const RecurrentSizes& s = sizes_;
    const auto number = static_cast<int64_t>(s.part(layer, d));
    const Part& part = parts_[s.part(layer, d)];
    const int64_t wide = s.gates * s.width;
    Gates gates = {Zeros(s.rows() * wide), Zeros(s.rows() * wide), Zeros(s.rows() * s.width)};
    std::array<Floats, Cell::kStates> by_states;
    for (size_t k = 0; k < Cell::kStates; ++k) {
      by_states[k] = Zeros(s.batch * s.width);
      by_last_[k].LoadRows(buffers, number * s.batch, s.batch, s.width, by_states[k].data());
    }
    Floats through = Zeros(s.batch * s.width);
    for (int64_t i = s.steps; i-- > 0;) {
      const int64_t t = StepOf(s, d, i), count = counts[static_cast<size_t>(t)];
      ParallelRowsIn<Floats>(s.batch, 16 * wide, [&](int64_t b, Floats* room) {
        const int64_t row = t * s.batch + b;
        float* const before = gates.before.data() + row * s.width;
        LoadBefore(buffers, part, number, d, i, b, 0, before);
        if (b < count) {
          StepBack(buffers, part, {number, d, i, b, row}, above, before, &by_states, &gates, room);
        }
      });
      RunGemm(part.to_state, gates.by_state.data() + t * s.batch * wide,
              part.weights.by_state(buffers), nullptr, through.data(), buffers.workspace);
      for (size_t k = 0; k < through.size(); ++k) by_states[0][k] += through[k];
    }
    for (size_t k = 0; k < Cell::kStates; ++k) {
      for (int64_t b = 0; b < s.batch; ++b) {
        by_first_[k].Store(buffers, number * s.batch + b, by_states[k].data() + b * s.width,
                           s.width);
      }
    }
    RunGemm(part.to_input, gates.by_input.data(), part.weights.by_input(buffers), by_input->data(),
            by_input->data(), buffers.workspace);
    StoreWeights(buffers, part, layer, gates, below);
  }

  struct At {
    int64_t number, d, i, b, row;
  };

  void StepBack(const Buffers& buffers, const Part& part, const At& at, const Floats& above,
                const float* result_before, std::array<Floats, Cell::kStates>* by_states,
                Gates* gates, Floats* room) const {
    const RecurrentSizes& s = sizes_;
    const int64_t wide = s.gates * s.width;
    const size_t kept = part.saved.size();
    room->resize((kept + Cell::kStates) * static_cast<size_t>(s.width));
    for (size_t k = 0; k < kept; ++k) {
      part.saved[k].Load(buffers, at.row, s.width,
                         room->data() + static_cast<int64_t>(k) * s.width);
    }
    std::array<float*, Cell::kStates> before, by;
    for (size_t k = 0; k < Cell::kStates; ++k) {
      before[k] = room->data() + static_cast<int64_t>(kept + k) * s.width;
      by[k] = (*by_states)[k].data() + at.b * s.width;
      if (k > 0) LoadBefore(buffers, part, at.number, at.d, at.i, at.b, k, before[k]);
    }
    std::copy_n(result_before, s.width, before[0]);
    const float* const more = above.data() + (at.row * s.directions + at.d) * s.width;
    for (int64_t j = 0; j < s.width; ++j) by[0][j] += more[j];
    Cell::Backward(s.width, room->data(), before, by, gates->by_input.data() + at.row * wide,
                   gates->by_state.data() + at.row * wide);
  }

  void StoreWeights(const Buffers& buffers, const Part& part, int64_t layer, const Gates& gates,
                    const Floats& below) const {
    const RecurrentSizes& s = sizes_;
    const int64_t wide = s.gates * s.width, size = s.input_of(layer);
    Floats weight = Zeros(wide * size);
    RunGemm(part.to_input_weight, gates.by_input.data(),
            layer == 0 ? static_cast<const void*>(input_.place()(buffers)) : below.data(), nullptr,
            weight.data(), buffers.workspace);
    StoreAll(buffers, part.by_params[0], weight);
    weight = Zeros(wide * s.width);
    RunGemm(part.to_state_weight, gates.by_state.data(), gates.before.data(), nullptr,
            weight.data(), buffers.workspace);
    StoreAll(buffers, part.by_params[1], weight);
    if (!s.biases) return;
    for (const auto& [bias, from] : {std::pair(&part.by_params[2], &gates.by_input),
                                     std::pair(&part.by_params[3], &gates.by_state)}) {
      for (int64_t column = 0; column < wide; ++column) {
        TreeSum<double> sum;
        for (int64_t row = 0; row < s.rows(); ++row) {
          sum.Add(static_cast<double>((*from)[static_cast<size_t>(row * wide + column)]));
        }
        bias->Set(buffers, column, sum.Total());
      }
    }
  }

  static void StoreAll(const Buffers& buffers, const Elements& to, const Floats& values) {
    to.SetAll(buffers, std::vector<double>(values.begin(), values.end()));
  }

  RecurrentSizes sizes_;
  ActiveRows counts_;
  StepRows input_, by_output_, by_input_;
  std::array<StepRows, Cell::kStates> first_, by_last_, by_first_;
  std::vector<Part> parts_;
};

}  // namespace openaclnn::supporting
