// SPDX-License-Identifier: Apache-2.0
// The supporting operators: what a row of their tables is, and the arguments of a call.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ascendcl/data_type.h"
#include "common/short_vector.h"
#include "frame/operation.h"
#include "kernels/broadcast.h"
#include "kernels/number.h"
#include "supporting/arguments.h"

namespace openaclnn::supporting {

/// A scalar argument.
struct Value {
  Value() = default;
  Value(const char* scalar_name, const aclScalar* handle) noexcept;
  // Plain parameters that take part like scalars.
  template <std::floating_point T>
  explicit Value(T constant) noexcept
      : name(""),
        found(OPENACLNN_LIVE),
        real(true),
        number(constant),
        integer(ToInteger(constant)) {}
  template <std::integral T>
  explicit Value(T constant) noexcept
      : name(""),
        found(OPENACLNN_LIVE),
        real(std::is_same_v<T, bool>),
        number(static_cast<double>(constant)),
        integer(constant) {}

  const char* name = "";
  OpenaclnnFound found = OPENACLNN_FOREIGN;
  bool optional = false;                 // null leaves it out
  bool real = false;                     // of a float type
  aclDataType dtype = ACL_DT_UNDEFINED;  // where it is given, and that of a scalar of the program
  double number = 0;
  int64_t integer = 0;

  bool given() const { return found == OPENACLNN_LIVE; }
  /// Of a type that takes part in computing: complex ones do not.
  bool usable() const { return dtype == ACL_DT_UNDEFINED || Contains(kNumericTypes, dtype); }
  template <class T>
  T As() const {
    return std::is_integral_v<T> ? static_cast<T>(integer) : static_cast<T>(number);
  }
  /// As what elements of a type are computed in: of BOOL it is whether the number is any but 0.
  template <class T>
  T As(int32_t element_dtype) const {
    return element_dtype == ACL_BOOL ? static_cast<T>(number != 0) : As<T>();
  }
};

/// The bytes of an element of a type that has a value; of a complex one the real part.
std::array<std::byte, 8> ElementOf(int32_t dtype, const Value& value);

struct Row;

/// Where a task finds a tensor of the call.
struct Place {
  size_t number = 0;

  std::byte* operator()(const Buffers& buffers) const { return buffers.As<std::byte>(number); }
};

/// A tensor of a call.
struct Tensor : Operand {
  Tensor(const char* api_name, OpenaclnnRole tensor_role, const aclTensor* tensor_handle,
         uint64_t aliases, OpenaclnnUse use, size_t number) noexcept
      : Operand(api_name, tensor_role, tensor_handle, aliases, use),
        handle(tensor_handle),
        place{number} {}

  const aclTensor* handle;
  Place place;
  bool optional = false;  // null leaves it out
};

/// A list of a call: its length, and of a list of tensors what it holds.
struct GivenList {
  const char* name = "";
  OpenaclnnFound found = OPENACLNN_NULL;
  size_t size = 0;
  std::vector<const Tensor*> tensors = {};

  const Tensor& operator[](size_t i) const { return *tensors[i]; }
};

/// The arguments of a call in the order of the API's parameters: what engines and the checks of all
/// operators see. The structs of single operators (operators.h of a topic, made from its records)
/// have them by name.
struct Params {
  explicit Params(const Row& operator_row) : row(operator_row) {}
  Params(const Params&) = delete;
  virtual ~Params() = default;

  const Tensor& In(const char* name, const aclTensor* handle, OpenaclnnUse use = OPENACLNN_ALL);
  /// With an expression it may be the very same view as any input.
  const Tensor& Out(const char* name, const aclTensor* handle, OpenaclnnUse use = OPENACLNN_ALL);
  // These may be null.
  const Tensor& OptionalIn(const char* name, const aclTensor* handle,
                           OpenaclnnUse use = OPENACLNN_ALL);
  const Tensor& OptionalOut(const char* name, const aclTensor* handle,
                            OpenaclnnUse use = OPENACLNN_ALL);
  /// The members of a list, in order.
  GivenList InList(const char* name, const aclTensorList* handle, OpenaclnnUse use = OPENACLNN_ALL);
  GivenList OutList(const char* name, const aclTensorList* handle,
                    OpenaclnnUse use = OPENACLNN_ALL);
  const Value& Scalar(const char* name, const aclScalar* handle);
  void ScalarList(const char* name, const aclScalarList* handle);
  const Value& OptionalScalar(const char* name, const aclScalar* handle);
  const IntList& Ints(const char* name, const aclIntArray* handle);
  const IntList& OptionalInts(const char* name, const aclIntArray* handle);
  std::vector<bool> Bools(const char* name, const aclBoolArray* handle);
  // Plain parameters that take part like scalars.
  template <class T>
  T Constant(T value) {
    values.emplace_back(value);
    return value;
  }

  // What names a mode or a type; `words` are those that there are. Null is an empty string.
  void Mode(const char* name, int64_t value, std::initializer_list<int64_t> modes,
            const char* words);
  void Mode(const char* name, const char* value, std::initializer_list<std::string_view> modes,
            const char* words);
  void Type(const char* name, int32_t value);
  /// What the work does with a tensor of these; where that depends on other arguments.
  void Use(const Tensor& tensor, OpenaclnnUse use) { tensors[tensor.place.number].set_use(use); }

  ShortVector<const Operand*, 8> operands() const;
  const Tensor& first_output() const;
  bool in_place() const { return tensors.front().role() == OPENACLNN_OUTPUT; }

  const Row& row;
  Arguments<Tensor, 4> tensors;
  Arguments<Value, 2> values;
  Arguments<IntList, 1> arrays;
  std::vector<GivenList> lists;
  std::vector<const IntList*> optional_arrays;  // of the arrays, what may be null
  std::string no_mode;                          // in words: the first parameter that names none

 private:
  GivenList TensorList(const char* name, OpenaclnnRole role, const aclTensorList* handle,
                       OpenaclnnUse use);
};

/// Whether a flag of so many is given and set.
inline bool Asks(const std::vector<bool>& flags, size_t place) {
  return place < flags.size() && flags[place];
}
/// How an output is used that a flag asks for: written, or left alone.
inline OpenaclnnUse Asked(const std::vector<bool>& flags, size_t place) {
  return Asks(flags, place) ? OPENACLNN_ALL : OPENACLNN_UNUSED;
}

// What a struct of several operators has in place of a parameter that one of them lacks.
const Tensor& NoTensor();
const Value& NoValue();
const IntList& NoInts();

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
  Plan (*plan)(const Params&, const Product&);
  const Expression* (*expression)() = nullptr;  // of this process's instruction set
  /// Without an expression: bit i allows an output to be operand i's view, or to have it as parts.
  uint64_t may_alias = 0;
  /// Bit i: operand i is an output that may share memory with the others that have their bit.
  uint64_t shared = 0;
  /// Bit i: operand i may be a weight as aclnnTransMatmulWeight leaves it.
  uint64_t laid_out = 0;
};

/// Every product; BFLOAT16 on those that have it.
extern const std::array<OperandSupport, 1> kEverywhere;

/// The operators of all topics.
std::vector<const Row*> Table();

/// Phase 1 of every row. Collecting the arguments takes memory, which may be short: it happens
/// inside.
aclnnStatus PlanRow(const Row& row, uint64_t* workspace_size, aclOpExecutor** executor,
                    std::unique_ptr<Params> (*collect)(const void* state), const void* state);

template <class Collect>
aclnnStatus PlanRow(const Row& row, uint64_t* workspace_size, aclOpExecutor** executor,
                    const Collect& collect) {
  return PlanRow(
      row, workspace_size, executor,
      [](const void* state) -> std::unique_ptr<Params> {
        return (*static_cast<const Collect*>(state))();
      },
      &collect);
}

inline int64_t BytesOf(const Operand& operand) {
  return static_cast<int64_t>(FindDataType(operand.dtype())->bytes);
}

/// A dimension as callers may write it: -1 is the last. Nothing if it is none.
std::optional<uint32_t> WrapDim(int64_t dim, uint32_t rank);

/// "self dtype is INT32, expected …".
std::string DtypeIs(const Operand& operand, const std::string& expected);
/// INT32 or INT64.
void CheckIndexType(const Operand& index, Checker& checker);
/// The same of an output that gets numbers up to this one, which its type has to hold.
void CheckIndexType(const Operand& index, int64_t most, Checker& checker);
/// A flag for each of the outputs; those that are asked for are given.
void CheckAsked(const std::vector<bool>& mask, std::initializer_list<const Tensor*> outputs,
                Checker& checker);
/// `out shape is …` unless it is the one given.
void CheckShape(const Operand& operand, const Shape& shape, Checker& checker);

}  // namespace openaclnn::supporting
