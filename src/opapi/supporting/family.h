// SPDX-License-Identifier: Apache-2.0
// The supporting operators: one row of a table each, one shape of parameters for all of them.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "ascendcl/data_type.h"
#include "frame/operation.h"
#include "kernels/number.h"

namespace openaclnn::supporting {

/// A scalar argument.
struct Value {
  Value(const char* scalar_name, const aclScalar* handle) noexcept;
  // Plain parameters that take part like scalars.
  explicit Value(double constant) noexcept;
  explicit Value(int64_t constant) noexcept;

  const char* name;
  OpenaclnnFound found = OPENACLNN_FOREIGN;
  bool optional = false;  // null leaves it out
  bool real = false;      // of a float type
  double number = 0;
  int64_t integer = 0;

  bool given() const { return found == OPENACLNN_LIVE; }
  template <class T>
  T As() const {
    return std::is_integral_v<T> ? static_cast<T>(integer) : static_cast<T>(number);
  }
};

struct Row;

/// The arguments of a call, each kind in the order of the API's parameters.
struct Params {
  explicit Params(const Row& operator_row) : row(operator_row) {}

  Params& In(const char* name, const aclTensor* handle);
  /// With an expression it may be the very same view as any input.
  Params& Out(const char* name, const aclTensor* handle);
  // These may be null.
  Params& OptionalIn(const char* name, const aclTensor* handle);
  Params& OptionalOut(const char* name, const aclTensor* handle);
  /// The members of a list, in order.
  Params& InList(const char* name, const aclTensorList* handle);
  Params& OutList(const char* name, const aclTensorList* handle);
  Params& Scalar(const char* name, const aclScalar* handle);
  Params& ScalarList(const char* name, const aclScalarList* handle);
  Params& OptionalScalar(const char* name, const aclScalar* handle);
  Params& List(const char* name, const aclIntArray* handle);
  Params& OptionalList(const char* name, const aclIntArray* handle);
  Params& Flags(const char* name, const aclBoolArray* handle);
  Params& Constant(double value);
  Params& Whole(int64_t value);
  Params& Integer(int64_t value);
  Params& Real(double value);

  std::vector<const Operand*> operands() const;
  const Operand& out() const;
  bool in_place() const { return tensors.front().role() == OPENACLNN_OUTPUT; }

  const Row& row;
  std::deque<Operand> tensors;
  std::vector<Value> values;
  std::deque<IntList> arrays;
  std::vector<bool> flags;
  std::vector<int64_t> integers;
  std::vector<double> reals;
  std::vector<const aclTensor*> out_handles;  // in their order

  struct GivenList {
    const char* name;
    OpenaclnnFound found;
    size_t size;
  };
  std::vector<GivenList> lists;
  // Of those above, what may be null.
  std::vector<const Operand*> optional;
  std::vector<const IntList*> optional_arrays;

 private:
  Params& TensorList(const char* name, OpenaclnnRole role, const aclTensorList* handle);
};

struct Plan {
  uint64_t workspace_size = 0;
  std::function<Status(const Buffers&)> work;
};

struct Expression;

/// An operator: its name, what it takes, its further checks and its work.
struct Row {
  Operator op;
  DtypeSet dtypes;  // of all tensors
  void (*check)(const Params&, Checker&);
  Plan (*plan)(const Params&);
  const Expression* expression = nullptr;
  /// Without an expression: bit i allows an output to be the very same view as operand i.
  uint64_t may_alias = 0;
};

/// Every product; BFLOAT16 on those that have it.
extern const std::array<OperandSupport, 1> kEverywhere;

/// The operators of the table.
std::span<const Row* const> Table();

/// Phase 1 of every row.
aclnnStatus PlanFamily(const Params& params, uint64_t* workspace_size, aclOpExecutor** executor);

inline int64_t BytesOf(const Operand& operand) {
  return static_cast<int64_t>(FindDataType(operand.dtype())->bytes);
}

/// "self dtype is INT32, expected …".
std::string DtypeIs(const Operand& operand, const std::string& expected);
/// `out shape is …` unless it is the one given.
void CheckShape(const Operand& operand, const std::vector<int64_t>& shape, Checker& checker);

}  // namespace openaclnn::supporting
