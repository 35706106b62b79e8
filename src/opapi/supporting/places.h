// SPDX-License-Identifier: Apache-2.0
// Lists of places: reading indices, checked before anything is written, and writing to them.
#pragma once

#include <optional>

#include "kernels/move/broadcast.h"
#include "kernels/move/strided.h"
#include "supporting/family.h"

namespace openaclnn::supporting {

/// The elements of an index, broadcast to a shape and in order.
struct IndexReader {
  IndexReader() = default;
  IndexReader(const Operand& index, const Shape& shape, std::optional<size_t> place = {})
      : name(index.name()),
        member(place),
        walk(shape, {Steps(shape, index)}),
        load(LoaderOf<int64_t>(index.dtype())),
        dense_bytes(DenseBytes(index, walk.step(0))) {}

  /// 0 <= value < limit, or with `from_end` -limit <= value too, which counts from the end; 507035
  /// for others.
  Status Read(std::byte* origin, int64_t limit, bool from_end, std::vector<int64_t>* indices) const;

  /// Checks again, for a caller that reads the indices again.
  Status Check(std::byte* origin, int64_t limit, bool from_end) const;

  /// The bytes of an INT32 or INT64 whose neighbours follow each other, so that it is read where it
  /// is; else 0.
  static int64_t DenseBytes(const Operand& index, int64_t step);

  // By these a report finds the operand's memory.
  const char* name = "";
  std::optional<size_t> member;  // of a list
  Walk walk;
  LoadRow<int64_t> load = nullptr;
  int64_t dense_bytes = 0;
};

/// How values meet what is there. A Placer sets and adds.
enum class Placing { kSet, kAdd, kMultiply, kLargest, kSmallest, kMean };

/// Slices of a view that the places of a list name: for each of some rows, and there for each
/// place, some columns. Steps are in elements.
struct Slices {
  Shape rows = {}, row_steps = {};
  Shape columns = {}, column_steps = {};
};

/// Writes a slice of values to each of some places of a view: the last one stays, or all are added
/// to what is there, by the one tree and rounded once, of complex numbers one part (ForParts).
class Placer {
 public:
  /// Values of an operand broadcast to `shape`: the rows of the slices, the places, the columns.
  Placer(const Operand& out, Placing placing, Slices slices, const Operand& values,
         const Shape& shape);
  /// One value everywhere.
  Placer(const Operand& out, Slices slices, const Value& value);
  /// Sets the factor of an added value, in the type of the view.
  void Scale(const Value& value) { scale_ = value.In(dtype_); }

  /// `places` are offsets from the slices' rows, in elements.
  void operator()(const std::vector<int64_t>& places, std::byte* values, std::byte* out) const;

 private:
  struct Group;

  void InOrder(const std::vector<int64_t>& places, std::byte* values, std::byte* out) const;
  void Place(const Group& group, std::byte* values, std::byte* out) const;
  void Move(const Group& group, std::byte* values, std::byte* out) const;
  template <class T>
  void Combine(const Group& group, std::byte* values, std::byte* out) const;
  template <class T>
  void Set(const Group& group, std::byte* values, std::byte* out) const;
  template <class T>
  void Add(const Group& group, std::byte* values, std::byte* out) const;
  template <class T>
  void AddElement(const Group& group, const std::byte* values, std::byte* out) const;
  std::byte* RowOf(std::byte* out, int64_t row) const { return out + rows_(row) * bytes_; }

  int32_t dtype_;
  int64_t bytes_;
  Placing placing_;
  Offsets rows_;
  int64_t row_count_;
  Walk columns_;        // of a slice, and of its values
  Offsets from_;        // of the values of a row's places, in bytes
  bool moved_ = false;  // the bits of the values stay as they are
  std::optional<Value> value_, scale_;
};

}  // namespace openaclnn::supporting
