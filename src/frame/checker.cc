// SPDX-License-Identifier: Apache-2.0
// Checker: the checks that operators share, and their words.
#include "frame/checker.h"

#include <algorithm>
#include <bit>

#include "ascendcl/packed.h"
#include "openaclnn/status.h"

namespace openaclnn {
namespace {

constexpr int kPlainFormats[] = {ACL_FORMAT_UNDEFINED, ACL_FORMAT_ND,   ACL_FORMAT_NCHW,
                                 ACL_FORMAT_NHWC,      ACL_FORMAT_HWCN, ACL_FORMAT_NDHWC,
                                 ACL_FORMAT_NCDHW,     ACL_FORMAT_NCL};

const char* FormatName(int format) {
  switch (format) {
    case ACL_FORMAT_UNDEFINED:
      return "UNDEFINED";
    case ACL_FORMAT_ND:
      return "ND";
    case ACL_FORMAT_NCHW:
      return "NCHW";
    case ACL_FORMAT_NHWC:
      return "NHWC";
    case ACL_FORMAT_HWCN:
      return "HWCN";
    case ACL_FORMAT_NDHWC:
      return "NDHWC";
    case ACL_FORMAT_NCDHW:
      return "NCDHW";
    default:
      return "NCL";
  }
}

/// Before a list of so many.
const char* OneOf(int count) { return count > 1 ? "one of " : ""; }

std::string FormatsText(std::span<const int> formats) {
  std::string text;
  for (const int format : formats) text += Concat(text.empty() ? "" : ", ", FormatName(format));
  return text;
}

/// Whether the memory at the tensor's address holds so many elements. Clients that keep pieces of
/// one block, ggml-cann among them, pass an offset and the length of the piece alone as storage.
bool IsAllocated(const OpenaclnnTensor& tensor, int64_t elements, int64_t element_bytes) {
  int64_t bytes = 0;
  if (__builtin_mul_overflow(elements, element_bytes, &bytes)) return false;
  OpenaclnnPin pin = {};
  const OpenaclnnRuntime& runtime = *Meta()->runtime;
  const auto size = static_cast<uint64_t>(bytes);
  if (runtime.pin(tensor.data, size, &pin) != OPENACLNN_PINNED) return false;
  runtime.unpin(&pin);
  return true;
}

/// Whether the elements up to `last` are storage: a shape of several dimensions lays them out, one
/// of a single dimension is a count, which the allocation may exceed.
bool HasStorage(const OpenaclnnTensor& tensor, int64_t storage, int64_t last) {
  const int64_t of_byte = ElementsOfByte(tensor.dtype), bytes = UnitBytes(tensor.dtype);
  if (storage > INT64_MAX / bytes) return false;
  if (last < storage) return true;
  return tensor.storage_rank <= 1 && last < INT64_MAX &&
         IsAllocated(tensor, last / of_byte + 1, bytes);
}

}  // namespace

std::string Checker::OnProduct() const { return Concat(" on ", product_.name); }

void Checker::RequireLive(const char* name, OpenaclnnFound found, const char* noun,
                          const char* kind) {
  if (!dead_.ok() || found == OPENACLNN_LIVE || found == OPENACLNN_NULL) return;
  dead_ = Status(ACLNN_ERR_PARAM_INVALID,
                 Concat(name, " value is ",
                        found == OPENACLNN_STALE ? "a handle that was destroyed"
                                                 : Concat("not the handle of ", noun),
                        ", expected a live ", kind));
}

Checker& Checker::Required(const Operand& operand) {
  RequireLive(operand.name(), operand.found(), "a tensor", "tensor");
  return That(operand.found() != OPENACLNN_NULL, ACLNN_ERR_PARAM_NULLPTR,
              [&] { return Concat(operand.name(), " value is null, expected a tensor"); });
}

Checker& Checker::Required(Operands operands) {
  for (const Operand* operand : operands) Required(*operand);
  return *this;
}

Checker& Checker::List(const IntList& list, bool required) {
  RequireLive(list.name(), list.found(), "an array of integers", "array");
  return That(!required || list.found() != OPENACLNN_NULL, ACLNN_ERR_PARAM_NULLPTR,
              [&] { return Concat(list.name(), " value is null, expected an array"); });
}

Checker& Checker::Supported() {
  if (status_.ok()) status_ = std::move(dead_);
  const bool taken = op_.Supports(product_.family) || Meta()->runtime->lenient_products() != 0;
  return That(taken, ACLNN_ERR_INNER_FIND_KERNEL_ERROR, [&] {
    std::string families;
    int count = 0;
    for (int family = 0; family < OPENACLNN_FAMILY_COUNT; ++family) {
      if (!op_.Supports(static_cast<OpenaclnnFamily>(family))) continue;
      families += Concat(count++ == 0 ? "" : ", ",
                         Meta()->runtime->family_name(static_cast<OpenaclnnFamily>(family)));
    }
    return Concat("product family is ", Meta()->runtime->family_name(product_.family),
                  ", expected ", OneOf(count), families, OnProduct(),
                  "; OPENACLNN_PRODUCTS=lenient takes every product");
  });
}

Checker& Checker::Dtype(const Operand& operand) {
  const DtypeSet wanted = op_.DtypesOf(operand.name(), product_.family);
  return That(Contains(wanted, operand.dtype()), [&] {
    return Concat(operand.name(), " dtype is ", DtypeText(operand.dtype()), ", expected ",
                  OneOf(std::popcount(wanted)), DtypesText(wanted), OnProduct());
  });
}

Checker& Checker::Dtype(Operands operands) {
  for (const Operand* operand : operands) Dtype(*operand);
  return *this;
}

Checker& Checker::Rank(const Operand& operand, uint32_t rank) {
  return That(operand.rank() == rank, [&] {
    return Concat(operand.name(), " rank is ", operand.rank(), " (shape ", ShapeText(operand),
                  "), expected ", rank);
  });
}

Checker& Checker::RankBetween(const Operand& operand, uint32_t low, uint32_t high) {
  return That(low <= operand.rank() && operand.rank() <= high, [&] {
    return Concat(operand.name(), " rank is ", operand.rank(), ", expected ", low, " to ", high);
  });
}

Checker& Checker::Shape(const Operand& operand, std::initializer_list<int64_t> dims) {
  const bool equal =
      operand.rank() == dims.size() && std::equal(dims.begin(), dims.end(), operand.tensor().dims);
  return That(equal, [&] {
    return Concat(operand.name(), " shape is ", ShapeText(operand), ", expected ",
                  openaclnn::ShapeText(dims.begin(), static_cast<uint32_t>(dims.size())));
  });
}

Checker& Checker::SameShapeAndDtype(const Operand& operand, const Operand& other) {
  That(std::equal(operand.tensor().dims, operand.tensor().dims + operand.rank(),
                  other.tensor().dims, other.tensor().dims + other.rank()),
       [&] {
         return Concat(operand.name(), " shape is ", ShapeText(operand), ", expected that of ",
                       other.name(), ", ", ShapeText(other));
       });
  return SameDtype(operand, other);
}

Checker& Checker::SameDtype(const Operand& operand, const Operand& other) {
  return That(operand.dtype() == other.dtype(), [&] {
    return Concat(operand.name(), " dtype is ", DtypeText(operand.dtype()), ", expected that of ",
                  other.name(), ", ", DtypeText(other.dtype()));
  });
}

Checker& Checker::NotEmpty(const Operand& operand) {
  return That(!operand.empty(), [&] {
    return Concat(operand.name(), " shape is ", ShapeText(operand), ", expected elements");
  });
}

Checker& Checker::PlainFormat(const Operand& operand) { return Format(operand, kPlainFormats); }

Checker& Checker::PlainFormat(Operands operands) {
  for (const Operand* operand : operands) PlainFormat(*operand);
  return *this;
}

Checker& Checker::Format(const Operand& operand, std::span<const int> wanted) {
  const int format = operand.tensor().format;
  return That(std::find(wanted.begin(), wanted.end(), format) != wanted.end(), [&] {
    return Concat(operand.name(), " format is number ", format, ", expected ",
                  OneOf(static_cast<int>(wanted.size())), FormatsText(wanted));
  });
}

Status CheckView(const Operand& operand) {
  if (!operand.present()) return {};
  const OpenaclnnTensor& tensor = operand.tensor();
  const auto invalid = [&](auto&&... text) {
    return Status(ACLNN_ERR_PARAM_INVALID, Concat(operand.name(), " ", text...));
  };
  const auto count = ElementCount(tensor);
  if (!count) {
    return invalid("shape is ", ShapeText(operand),
                   ", expected dimensions that are not negative and a size below 2^63");
  }
  const auto storage = ElementCount(tensor.storage_dims, tensor.storage_rank);
  const auto storage_text = [&] {
    return openaclnn::ShapeText(tensor.storage_dims, tensor.storage_rank);
  };
  if (!storage) {
    return invalid("storage shape is ", storage_text(),
                   ", expected dimensions that are not negative and a size below 2^63");
  }
  if (*count == 0) return {};
  const auto span = ElementSpan(tensor);
  if (!span || span->first < 0 || !HasStorage(tensor, *storage, span->last)) {
    return invalid("view is ", ShapeText(operand), " with strides ",
                   openaclnn::ShapeText(operand.given_strides(), tensor.rank), " and offset ",
                   tensor.offset, ", expected one inside its storage of shape ", storage_text());
  }
  if (operand.role() == OPENACLNN_OUTPUT && !operand.shared() && OverlapsItself(tensor)) {
    return invalid("strides are ", openaclnn::ShapeText(operand.given_strides(), tensor.rank),
                   " for shape ", ShapeText(operand), ", expected elements that do not overlap");
  }
  return {};
}

}  // namespace openaclnn
