// SPDX-License-Identifier: Apache-2.0
// Tensors as groups of elements that are normalised together, and the tensors beside them.
#pragma once

#include <vector>

#include "kernels/move/broadcast.h"
#include "kernels/move/dense_input.h"
#include "kernels/work/scratch.h"
#include "supporting/elements.h"
#include "supporting/family.h"

namespace openaclnn::supporting {

/// How a tensor falls into groups, and which weight each element of a group has.
struct Grouping {
  /// A part of a dimension: `factor` of its elements are one step.
  struct Axis {
    uint32_t dim;
    int64_t length, factor;
  };

  /// Over the last `count` dimensions.
  static Grouping Layers(const Operand& x, uint32_t count);
  /// Over C / groups channels of (N, C, …).
  static Grouping Groups(const Operand& x, int64_t groups);
  /// Over all but the channels.
  static Grouping Channels(const Operand& x);

  size_t WeightOf(int64_t row, int64_t element) const {
    return static_cast<size_t>(row % parts * part_weights + element / weight_elements);
  }

  /// Whether each element of a group has a weight of its own, and all groups the same ones.
  bool OneEach() const { return parts == 1 && part_weights == 0; }

  std::vector<Axis> kept, grouped;
  int64_t rows = 1, width = 1;  // groups, elements of each
  size_t weights = 0;
  /// Rows take turns among `parts` of the weights; neighbours in a group share one.
  int64_t parts = 1, part_weights = 0, weight_elements = 1;

 private:
  void Finish();
};

/// A tensor of x's shape, group by group. Of one that is absent nothing is asked.
class GroupedView {
 public:
  GroupedView(const Tensor& tensor, const Grouping& groups)
      : GroupedView(tensor, groups, nullptr) {}
  /// An input that Take copies into the workspace where its elements lie apart.
  GroupedView(const Tensor& tensor, const Grouping& groups, ScratchParts* parts);

  /// Makes the copy, if there is to be one, before anything is loaded.
  void Take(const Buffers& buffers) const {
    if (dense_.copied()) dense_.Take(place_(buffers), At(buffers));
  }

  std::vector<double> Load(const Buffers& buffers, int64_t row) const;
  void Store(const Buffers& buffers, int64_t row, const std::vector<double>& values) const;

  /// Whether float has the elements' numbers.
  bool floats() const { return floats_; }
  /// Whether a float that is stored is rounded once more.
  bool narrow() const { return narrow_; }
  /// The group's elements: the tensor's own, or those in `room`.
  const float* LoadFloats(const Buffers& buffers, int64_t row, std::vector<float>* room) const;
  /// Calls compute(where the elements go).
  template <class Compute>
  void PutFloats(const Buffers& buffers, int64_t row, std::vector<float>* room,
                 const Compute& compute) const {
    std::byte* const at = RowAt(buffers, row);
    if (direct_) return compute(reinterpret_cast<float*>(at));
    room->resize(static_cast<size_t>(elements_.count()));
    compute(room->data());
    StoreTo(at, store_floats_, room->data());
  }

 private:
  std::byte* At(const Buffers& buffers) const {
    return dense_.copied() ? static_cast<std::byte*>(buffers.workspace) + copy_at_
                           : place_(buffers);
  }
  std::byte* RowAt(const Buffers& buffers, int64_t row) const {
    return At(buffers) + rows_(row) * bytes_;
  }
  template <class T>
  void LoadFrom(std::byte* at, LoadRow<T> load, T* to) const {
    const int64_t count = elements_.count();
    elements_.ForRunsOf(0, count, count, {at}, [&](const Walk::Pointers& from, int64_t n) {
      load(from[0], elements_.step(0), n, to);
      to += n;
    });
  }
  template <class T>
  void StoreTo(std::byte* at, StoreRow<T> store, const T* from) const {
    const int64_t count = elements_.count();
    elements_.ForRunsOf(0, count, count, {at}, [&](const Walk::Pointers& to, int64_t n) {
      store(from, n, to[0], elements_.step(0));
      from += n;
    });
  }

  Place place_;
  DenseInput dense_;
  uint64_t copy_at_ = 0;  // in the workspace
  Offsets rows_;
  Walk elements_;
  int64_t bytes_ = 0;
  LoadRow<double> load_ = nullptr;
  StoreRow<double> store_ = nullptr;
  LoadRow<float> load_floats_ = nullptr;
  StoreRow<float> store_floats_ = nullptr;
  bool floats_ = false, narrow_ = false;
  bool direct_ = false;  // groups are dense rows of FLOAT
};

}  // namespace openaclnn::supporting
