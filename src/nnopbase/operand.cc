// SPDX-License-Identifier: Apache-2.0
// Operand, and this library's connection to libnnopbase.so.
#include "nnopbase/operand.h"

#include "ascendcl/status.h"

namespace openaclnn {

const OpenaclnnMeta* Meta() {
  static const OpenaclnnMeta* const meta = openaclnn_meta(OPENACLNN_META_INTERFACE);
  return meta;
}

Operand::Operand(const char* name, OpenaclnnRole role, const aclTensor* handle) noexcept
    : name_(name), role_(role) {
  if (Meta() != nullptr) found_ = Meta()->pin_tensor(handle, &tensor_, &pin_);
}

Operand::~Operand() {
  if (present()) Meta()->unpin_tensor(pin_);
}

std::string ShapeText(const int64_t* dims, uint32_t rank) {
  std::string text = "(";
  for (uint32_t i = 0; i < rank; ++i) text += Concat(i > 0 ? ", " : "", dims[i]);
  return text + ")";
}

}  // namespace openaclnn
