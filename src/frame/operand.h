// SPDX-License-Identifier: Apache-2.0
// Operand: a tensor argument of an operator, with the name that the API gives it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "common/view.h"
#include "nnopbase/interface.h"

namespace openaclnn {

/// The libnnopbase.so that this library was loaded with; null when it is of another version.
const OpenaclnnMeta* Meta();

inline constexpr uint32_t kMaxRank = 8;

/// Pins the tensor behind a handle for the call. What it says of an operand without a tensor (null
/// or a bad handle) is harmless: rank 0, no elements.
class Operand {
 public:
  Operand(const char* name, OpenaclnnRole role, const aclTensor* handle, uint64_t may_alias = 0,
          OpenaclnnUse use = OPENACLNN_ALL) noexcept;
  Operand(const Operand&) = delete;
  ~Operand();

  const char* name() const { return name_; }
  OpenaclnnRole role() const { return role_; }
  uint64_t may_alias() const { return may_alias_; }
  OpenaclnnUse use() const { return use_; }
  void set_use(OpenaclnnUse use) { use_ = use; }
  bool in_list() const { return in_list_; }
  void set_in_list() { in_list_ = true; }
  /// This output may overlap the other outputs that have this flag, and its own elements.
  bool shared() const { return shared_; }
  void set_shared() { shared_ = true; }
  OpenaclnnFound found() const { return found_; }
  bool present() const { return found_ == OPENACLNN_LIVE; }
  /// Strides are safe to multiply by sizes: those of dimensions of size 1 and of empty views are
  /// replaced, because clients may pass any number there.
  const OpenaclnnTensor& tensor() const { return tensor_; }
  const int64_t* given_strides() const { return given_strides_; }

  int32_t dtype() const { return tensor_.dtype; }
  uint32_t rank() const { return tensor_.rank; }
  int64_t dim(uint32_t i) const { return i < tensor_.rank ? tensor_.dims[i] : 0; }
  int64_t last_dim() const { return tensor_.rank > 0 ? dim(tensor_.rank - 1) : 0; }
  /// The number of elements; nothing when a dimension is negative or the product overflows.
  std::optional<int64_t> count() const {
    return present() ? ElementCount(tensor_) : std::optional<int64_t>(0);
  }
  bool empty() const { return count() == 0; }

 private:
  void ReplaceIdleStrides() noexcept;

  const char* name_;
  OpenaclnnRole role_;
  uint64_t may_alias_;
  OpenaclnnUse use_;
  bool in_list_ = false;
  bool shared_ = false;
  OpenaclnnFound found_ = OPENACLNN_FOREIGN;
  OpenaclnnTensor tensor_ = {};
  void* pin_ = nullptr;
  const int64_t* given_strides_ = nullptr;
  std::array<int64_t, kMaxRank> strides_ = {};
};

/// An input and an output of an operator's parameters.
struct Input : Operand {
  Input(const char* name, const aclTensor* handle, OpenaclnnUse use = OPENACLNN_ALL) noexcept
      : Operand(name, OPENACLNN_INPUT, handle, 0, use) {}
};
struct Output : Operand {
  /// Bit i of `may_alias` allows the output to be the view of operand i, or to have it as parts.
  Output(const char* name, const aclTensor* handle, uint64_t may_alias = 0) noexcept
      : Operand(name, OPENACLNN_OUTPUT, handle, may_alias) {}
};

/// An argument that is an array of integers; without an array it is empty.
class IntList {
 public:
  IntList(const char* name, const aclIntArray* handle) noexcept;
  IntList(const IntList&) = delete;
  ~IntList();

  const char* name() const { return name_; }
  OpenaclnnFound found() const { return found_; }
  std::span<const int64_t> values() const { return {values_, count_}; }

 private:
  const char* name_;
  OpenaclnnFound found_ = OPENACLNN_FOREIGN;
  const int64_t* values_ = nullptr;
  uint64_t count_ = 0;
  void* pin_ = nullptr;
};

/// "(2, 3)".
std::string ShapeText(const int64_t* dims, uint32_t rank);
std::string ShapeText(const Operand& operand);

}  // namespace openaclnn
