// SPDX-License-Identifier: Apache-2.0
// Values written along a dimension, to places that each row has of its own.
#pragma once

#include "kernels/work/scratch.h"
#include "supporting/complex.h"
#include "supporting/places.h"

namespace openaclnn::supporting {

/// out[.., index[.., j, ..], ..] = or += or *= values[.., j, ..] along a dimension, for what the
/// index has of the other dimensions, or becomes an extreme or the mean of them all. Where several
/// values are set the last one stays; others are combined as a Placer does it, complex numbers in
/// pairs.
class RowPlacer {
 public:
  /// `values` are as many as the index has in each dimension, or more; of a null pointer each is
  /// `value`. The index is not empty, and a scalar is a vector of one.
  RowPlacer(const Operand& out, uint32_t dim, Placing placing, const Operand& index,
            const Operand* values, const Value& value);
  /// Leaves out what is there: places that the index names get the values alone.
  void LeaveOutSelf() { includes_self_ = false; }

  uint64_t workspace_size() const { return ScratchBytes(blocks_ * block_bytes_); }

  /// 507035 for an index that is not one, before anything is written.
  Status Check(std::byte* index) const { return reader_.Check(index, limit_, false); }
  void operator()(std::byte* index, std::byte* values, std::byte* out, void* workspace) const;

 private:
  struct Addresses;

  Addresses RowOf(int64_t row, const Addresses& origins) const;
  void Set(const Addresses& row) const;
  template <class T>
  void SetConverted(const Addresses& row) const;
  template <class T>
  void Combine(const Addresses& row, std::byte* scratch) const;
  template <class T>
  bool CombineCounted(const Addresses& row, std::byte* scratch) const;
  /// Whether a table of all places takes less time than sorting, and knows how to combine.
  bool Counts() const;
  void WriteMet(const uint16_t* met, const std::byte* packed, std::byte* out) const;
  template <class T>
  void CombineSorted(const Addresses& row, std::byte* scratch) const;
  /// Calls body(i, place) for each index of a row.
  template <class Body>
  void ForIndices(const Addresses& row, const Body& body) const;
  template <class T>
  auto Loader() const;
  template <class T>
  auto Storer() const;
  template <class T, class Body>
  void ForPieces(const Addresses& row, const Body& body) const;
  template <class Value, class Body>
  void ForPiecesOf(const Addresses& row, LoadRow<Value> load, const Body& body) const;

  int32_t dtype_;
  int64_t bytes_;
  Placing placing_;
  bool includes_self_ = true;
  IndexReader reader_;
  bool indices_as_they_are_;                    // dense and INT64 along a row
  Offsets index_rows_, value_rows_, out_rows_;  // in bytes
  int64_t index_step_, value_step_ = 0, out_step_ = 0;
  int64_t next_step_ = 0;  // of the output's next row, bytes that are asked for with some places
  int64_t rows_ = 1, count_, limit_ = 1;
  std::optional<Value> value_;
  LoadPairs load_pairs_;
  StorePairs store_pairs_;
  int64_t blocks_;
  __int128 block_bytes_ = 0;
};

}  // namespace openaclnn::supporting
