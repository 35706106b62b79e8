// SPDX-License-Identifier: Apache-2.0
// Operand, and this library's connection to libnnopbase.so.
#include "frame/operand.h"

#include <algorithm>

#include "common/status.h"

namespace openaclnn {

const OpenaclnnMeta* Meta() {
  static const OpenaclnnMeta* const meta = openaclnn_meta(OPENACLNN_META_INTERFACE);
  return meta;
}

// At load: a child of fork would wait for ever for a thread that asks first.
[[maybe_unused]] const bool kConnected = Meta() != nullptr;

Operand::Operand(const char* name, OpenaclnnRole role, const aclTensor* handle, uint64_t may_alias,
                 OpenaclnnUse use) noexcept
    : name_(name), role_(role), may_alias_(may_alias), use_(use) {
  if (Meta() != nullptr) found_ = Meta()->pin_tensor(handle, &tensor_, &pin_);
  given_strides_ = tensor_.strides;
  const bool idle = std::any_of(tensor_.dims, tensor_.dims + tensor_.rank,
                                [](int64_t dim) { return dim == 0 || dim == 1; });
  if (idle && tensor_.rank <= kMaxRank) ReplaceIdleStrides();  // more are refused
}

// Gives each dimension of size one the stride of dense rows, so that a tensor without gaps has no
// gap there.
void Operand::ReplaceIdleStrides() noexcept {
  constexpr int64_t kLargestElement = 16;
  const bool none =
      std::find(tensor_.dims, tensor_.dims + tensor_.rank, 0) != tensor_.dims + tensor_.rank;
  int64_t next = 1, bytes = 0;
  for (uint32_t i = tensor_.rank; i-- > 0;) {
    const int64_t dim = tensor_.dims[i];
    strides_[i] = none ? 0 : dim == 1 ? next : tensor_.strides[i];
    const bool far = __builtin_mul_overflow(strides_[i], dim, &next) ||
                     __builtin_mul_overflow(next, kLargestElement, &bytes);
    if (far) next = 0;
  }
  tensor_.strides = strides_.data();
}

Operand::~Operand() {
  if (present()) Meta()->unpin(pin_);
}

IntList::IntList(const char* name, const aclIntArray* handle) noexcept : name_(name) {
  if (Meta() != nullptr) found_ = Meta()->pin_int_array(handle, &values_, &count_, &pin_);
}

IntList::~IntList() {
  if (found_ == OPENACLNN_LIVE) Meta()->unpin(pin_);
}

std::string ShapeText(const int64_t* dims, uint32_t rank) {
  std::string text = "(";
  for (uint32_t i = 0; i < rank; ++i) text += Concat(i > 0 ? ", " : "", dims[i]);
  return text + ")";
}

std::string ShapeText(const Operand& operand) {
  return ShapeText(operand.tensor().dims, operand.rank());
}

}  // namespace openaclnn
