// SPDX-License-Identifier: Apache-2.0
// Checker: the checks of an operator as a chain in their documented order; the first failure wins.
#pragma once

#include <concepts>
#include <initializer_list>
#include <span>
#include <string>

#include "common/status.h"
#include "frame/operand.h"
#include "frame/support.h"

namespace openaclnn {

using Product = OpenaclnnProduct;

/// Some operands, in the order in which they are checked.
using Operands = std::span<const Operand* const>;

/// Each function is one check; after a failure the others do nothing. Conditions are evaluated all
/// the same, which operands without a tensor bear.
class Checker {
 public:
  Checker(const Operator& op, const Product& product) : op_(op), product_(product) {}

  // First the arguments: 161001 for null at once, 161002 for what is not a live object after them
  // all, by Supported.

  Checker& Required(const Operand& operand);
  Checker& Required(Operands operands);
  /// Null is an error only if `required`.
  Checker& List(const IntList& list, bool required);

  /// Ends the arguments. 561003 on a product that the operator's table leaves out, unless
  /// OPENACLNN_PRODUCTS is lenient.
  Checker& Supported();

  // All below: 161002.

  /// A type of the operator's table on this product.
  Checker& Dtype(const Operand& operand);
  Checker& Dtype(Operands operands);
  Checker& Rank(const Operand& operand, uint32_t rank);
  Checker& RankBetween(const Operand& operand, uint32_t low, uint32_t high);
  Checker& Shape(const Operand& operand, std::initializer_list<int64_t> dims);
  Checker& SameDtype(const Operand& operand, const Operand& other);
  Checker& NotEmpty(const Operand& operand);
  Checker& SameShapeAndDtype(const Operand& operand, const Operand& other);
  /// A format that is a plain layout.
  Checker& PlainFormat(const Operand& operand);
  Checker& PlainFormat(Operands operands);
  /// One of some plain layouts.
  Checker& Format(const Operand& operand, std::span<const int> wanted);

  /// Any other rule; `text` makes "<operand> <property> is <got>, expected <want>".
  template <std::invocable Text>
  Checker& That(bool holds, Text&& text) {
    return That(holds, 161002, std::forward<Text>(text));
  }
  template <std::invocable Text>
  Checker& That(bool holds, int code, Text&& text) {
    if (status_.ok() && !holds) status_ = Status(code, text());
    return *this;
  }

  bool ok() const { return status_.ok(); }
  Status status() { return std::move(status_); }

 private:
  void RequireLive(const char* name, OpenaclnnFound found, const char* noun, const char* kind);
  std::string OnProduct() const;

  const Operator& op_;
  const Product& product_;
  Status status_;
  Status dead_;  // of the first argument that is not a live object
};

/// The check that comes last for every operand: its view stays in its storage, or in the allocation
/// if the storage is a count of elements, and an output's elements are apart from each other.
Status CheckView(const Operand& operand);

}  // namespace openaclnn
