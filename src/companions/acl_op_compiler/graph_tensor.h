// SPDX-License-Identifier: Apache-2.0
// Tensors of an operator that is called by its graph name, and views of their memory.
#pragma once

#include <cstdint>
#include <vector>

#include "aclnn/acl_meta.h"

namespace openaclnn {

using Dims = std::vector<int64_t>;

/// Strides of a dense tensor, in elements.
Dims DenseStrides(const Dims& dims);

/// The product of dimensions.
int64_t CountOf(const Dims& dims);

struct GraphTensor {
  GraphTensor() = default;
  /// A dense one.
  GraphTensor(aclDataType type, const Dims& shape, void* address = nullptr)
      : dims(shape), strides(DenseStrides(shape)), storage(shape), dtype(type), data(address) {}

  /// False for an optional operand that the program has left out.
  bool given() const { return dtype != ACL_DT_UNDEFINED; }
  int64_t count() const { return CountOf(dims); }
  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
  /// A dimension; a negative one counts from the last.
  int64_t dim(int64_t at) const { return dims[static_cast<size_t>(at < 0 ? at + rank() : at)]; }

  Dims dims, strides, storage;
  aclDataType dtype = ACL_DT_UNDEFINED;
  void* data = nullptr;
  const void* values = nullptr;  // where the host knows them; else null
  bool on_host = false;          // the memory is the host's
  int64_t offset = 0;            // of the first element
};

/// An element of those that the host knows, as any number and as an integer; false for other types
/// than numbers of 32 or 64 bits and truth values.
bool ReadElement(const GraphTensor& tensor, size_t i, double* value, int64_t* integer);

/// Another shape of the same memory; strides are in elements.
GraphTensor View(const GraphTensor& tensor, const Dims& dims, const Dims& strides,
                 int64_t offset = 0);
/// A dense tensor with another shape of as many elements.
GraphTensor Reshape(const GraphTensor& tensor, const Dims& dims);
/// A dense tensor as one dimension.
GraphTensor Flat(const GraphTensor& tensor);
/// One dimension of a tensor is the i-th of order.
GraphTensor Transposed(const GraphTensor& tensor, const Dims& order);
/// A tensor of one dimension along a dimension of the other, with 1 for the others.
GraphTensor Along(const GraphTensor& line, const GraphTensor& other, int64_t dim);

/// 0, 1, … below count.
Dims Range(int64_t count);
/// The dimensions of a tensor but one; a negative one counts from the last.
Dims Without(const GraphTensor& tensor, int64_t dim);

}  // namespace openaclnn
