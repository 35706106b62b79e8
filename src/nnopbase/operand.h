// SPDX-License-Identifier: Apache-2.0
// Operand: a tensor argument of an operator, with the name that the API gives it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "nnopbase/interface.h"
#include "nnopbase/view.h"

namespace openaclnn {

/// The libnnopbase.so that this library was loaded with; null when it is of another version.
const OpenaclnnMeta* Meta();

/// Pins the tensor behind a handle for the call. What it says of an operand without a tensor (null
/// or a bad handle) is harmless: rank 0, no elements.
class Operand {
 public:
  Operand(const char* name, OpenaclnnRole role, const aclTensor* handle) noexcept;
  Operand(const Operand&) = delete;
  ~Operand();

  const char* name() const { return name_; }
  OpenaclnnRole role() const { return role_; }
  OpenaclnnFound found() const { return found_; }
  bool present() const { return found_ == OPENACLNN_LIVE; }
  const OpenaclnnTensor& tensor() const { return tensor_; }

  int32_t dtype() const { return tensor_.dtype; }
  uint32_t rank() const { return tensor_.rank; }
  int64_t dim(uint32_t i) const { return i < tensor_.rank ? tensor_.dims[i] : 0; }
  int64_t last_dim() const { return tensor_.rank > 0 ? dim(tensor_.rank - 1) : 0; }
  /// Nothing when a dimension is negative or the product overflows.
  std::optional<int64_t> count() const {
    return present() ? ElementCount(tensor_) : std::optional<int64_t>(0);
  }
  bool empty() const { return count() == 0; }

 private:
  const char* name_;
  OpenaclnnRole role_;
  OpenaclnnFound found_ = OPENACLNN_FOREIGN;
  OpenaclnnTensor tensor_ = {};
  void* pin_ = nullptr;
};

/// An input and an output of an operator's parameters.
struct Input : Operand {
  Input(const char* name, const aclTensor* handle) noexcept
      : Operand(name, OPENACLNN_INPUT, handle) {}
};
struct Output : Operand {
  Output(const char* name, const aclTensor* handle) noexcept
      : Operand(name, OPENACLNN_OUTPUT, handle) {}
};

/// "(2, 3)".
std::string ShapeText(const int64_t* dims, uint32_t rank);

}  // namespace openaclnn
