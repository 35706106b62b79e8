// SPDX-License-Identifier: Apache-2.0
// Operand, and this library's connection to libnnopbase.so.
#include "frame/operand.h"

#include "common/status.h"

namespace openaclnn {

const OpenaclnnMeta* Meta() {
  static const OpenaclnnMeta* const meta = openaclnn_meta(OPENACLNN_META_INTERFACE);
  return meta;
}

Operand::Operand(const char* name, OpenaclnnRole role, const aclTensor* handle, uint64_t may_alias,
                 OpenaclnnUse use) noexcept
    : name_(name), role_(role), may_alias_(may_alias), use_(use) {
  if (Meta() != nullptr) found_ = Meta()->pin_tensor(handle, &tensor_, &pin_);
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
