// SPDX-License-Identifier: Apache-2.0
// Lists of places: reading indices, checked before anything is written, and writing to them.
#pragma once

#include "kernels/broadcast.h"
#include "supporting/family.h"

namespace openaclnn::supporting {

/// The elements of an index, broadcast to a shape and in order.
struct IndexReader {
  IndexReader() = default;
  IndexReader(const Operand& index, const Shape& shape)
      : walk(shape, {Steps(shape, index)}), load(LoaderOf<int64_t>(index.dtype())) {}

  /// 0 <= value < limit, or with `from_end` -limit <= value too, which counts from the end; 507035
  /// for others.
  Status Read(std::byte* origin, int64_t limit, bool from_end, std::vector<int64_t>* indices) const;

  /// The same check, for who reads them again.
  Status Check(std::byte* origin, int64_t limit, bool from_end) const;

  Walk walk;
  LoadRow<int64_t> load = nullptr;
};

enum class Placing { kSet, kAdd, kMultiply };

/// Writes a value to each of some places of a view: the last one stays, or all are added to what is
/// there, by the one tree and rounded once, or it is multiplied by them.
class Placer {
 public:
  /// Values of an operand broadcast to `shape`, which has as many elements as there are places.
  Placer(const Operand& out, Placing placing, const Operand& values, const Shape& shape);
  /// One value for all places.
  Placer(const Operand& out, Placing placing, const Value& value);
  /// What an added value is multiplied by.
  void Scale(const Value& value) { scale_ = value; }

  /// `places` are offsets from `out`, in elements.
  void operator()(const std::vector<int64_t>& places, std::byte* values, std::byte* out) const;

 private:
  template <class T>
  void Place(const std::vector<int64_t>& places, std::byte* values, std::byte* out) const;
  void Move(const std::vector<int64_t>& places, std::byte* values, std::byte* out) const;

  int32_t dtype_;
  int64_t bytes_;
  Placing placing_;
  Walk walk_;
  int32_t values_dtype_ = 0;
  std::optional<Value> value_, scale_;
};

}  // namespace openaclnn::supporting
