// SPDX-License-Identifier: Apache-2.0
// Objects behind the handles of a program: the public API tells no values of scalars and arrays, so
// they are noted when they are made.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "aclnn/acl_meta.h"

namespace openaclnn::capture {

/// A tensor as aclCreateTensor was told.
struct Tensor {
  aclDataType dtype;
  aclFormat format;
  std::vector<int64_t> dims, strides, storage_dims;
  int64_t offset;
  void* data;
};

/// A scalar: its bytes, as its type has them.
struct Scalar {
  aclDataType dtype;
  std::string bytes;
};

/// The object behind a handle: one of these is filled, as `kind` says.
struct Object {
  enum Kind { kTensor, kScalar, kInts, kFloats, kBools, kTensors, kScalars } kind;
  Tensor tensor;
  Scalar scalar;
  std::vector<int64_t> ints;  // of a bool array too
  std::vector<double> floats;
  std::vector<const void*> members;  // handles
};

/// Null for a handle that was not made while this library was in place.
std::shared_ptr<const Object> FindObject(const void* handle);

/// Bytes of an element; 0 for a type that the libraries do not know.
size_t ElementBytes(aclDataType dtype);

}  // namespace openaclnn::capture
