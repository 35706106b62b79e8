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
#include "kernels/move/broadcast.h"
#include "kernels/number/number.h"
#include "supporting/arguments.h"
#include "supporting/movable.h"

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
  bool as_given = false;                 // keeps its own value, whatever the tensors' type is
  bool real = false;                     // of a float type, or a complex one
  bool factor = false;                   // leaves numbers of BOOL in that type
  aclDataType dtype = ACL_DT_UNDEFINED;  // where it is given, and that of a scalar of the program
  double number = 0;                     // the real part of a complex one
  double imaginary = 0;                  // and its other
  int64_t integer = 0;

  bool given() const { return found == OPENACLNN_LIVE; }
  bool complex() const { return Contains(kComplexTypes, dtype); }
  /// Whether its type can be computed with; a complex one needs tensors that may be complex.
  bool usable(DtypeSet tensors) const {
    return dtype == ACL_DT_UNDEFINED || Contains(kNumericTypes, dtype) ||
           (complex() && Contains(tensors, dtype));
  }
  template <class T>
  T As() const {
    return std::is_integral_v<T> ? static_cast<T>(integer) : static_cast<T>(number);
  }
  /// The number as T. For elements of BOOL it is 1, unless the number is 0.
  template <class T>
  T As(int32_t element_dtype) const {
    return element_dtype == ACL_BOOL ? static_cast<T>(number != 0) : As<T>();
  }
  /// The value as an element of a numeric type holds it: rounded once, or its low bits. A constant
  /// and a scalar that is taken as given stay as they are.
  Value In(int32_t element_dtype) const;

 private:
  void LoadParts(int32_t complex_dtype, const std::byte* element) noexcept;
};

/// The bytes of an element of a type that has a value.
std::array<std::byte, 16> ElementOf(int32_t dtype, const Value& value);

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

/// A list argument: its length, and its members where they are tensors.
struct GivenList {
  const char* name = "";
  OpenaclnnFound found = OPENACLNN_NULL;
  size_t size = 0;
  std::vector<const Tensor*> tensors = {};

  const Tensor& operator[](size_t i) const { return *tensors[i]; }
};

/// The arguments of a call in the order of the API's parameters, as engines and the checks of all
/// operators see them. The structs of single operators (operators.h of a topic, made from its
/// records) have them by name too.
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
  /// One that is not converted to the type which the tensors meet in.
  const Value& ScalarAsGiven(const char* name, const aclScalar* handle);
  /// A factor, which becomes BOOL where what it multiplies and is added to are BOOL. It comes after
  /// the scalars that it meets.
  const Value& Factor(const char* name, const aclScalar* handle);
  const IntList& Ints(const char* name, const aclIntArray* handle);
  const IntList& OptionalInts(const char* name, const aclIntArray* handle);
  std::vector<bool> Bools(const char* name, const aclBoolArray* handle);
  // Plain parameters that take part like scalars.
  template <class T>
  T Constant(T value) {
    values.emplace_back(value);
    return value;
  }

  // These note an error where a parameter names no mode or no type; `words` says which modes there
  // are. A null string counts as an empty one.
  void Mode(const char* name, int64_t value, std::initializer_list<int64_t> modes,
            const char* words);
  void Mode(const char* name, const char* value, std::initializer_list<std::string_view> modes,
            const char* words);
  void Type(const char* name, int32_t value);
  /// Says what the work does with a tensor, where other arguments decide that.
  void Use(const Tensor& tensor, OpenaclnnUse use) { tensors[tensor.place.number].set_use(use); }

  ShortVector<const Operand*, 8> operands() const;
  const Tensor& first_output() const;
  bool in_place() const { return tensors.front().role() == OPENACLNN_OUTPUT; }

  const Row& row;
  Arguments<Tensor, 4> tensors;
  Arguments<Value, 2> values;
  Arguments<IntList, 1> arrays;
  std::vector<GivenList> lists;
  std::vector<const IntList*> optional_arrays;  // the arrays that may be null
  std::string no_mode;                          // what to say of a parameter that names no mode

 private:
  const Tensor& Out(const char* name, const aclTensor* handle, OpenaclnnUse use,
                    uint64_t may_alias);
  /// A bit for each input whose very view the next output may be.
  uint64_t MayAlias() const;
  GivenList TensorList(const char* name, OpenaclnnRole role, const aclTensorList* handle,
                       OpenaclnnUse use);
};

/// Whether a flag of so many is given and set.
inline bool Asks(const std::vector<bool>& flags, size_t place) {
  return place < flags.size() && flags[place];
}
/// The use of an output that a flag asks for: it is written, or left alone.
inline OpenaclnnUse Asked(const std::vector<bool>& flags, size_t place) {
  return Asks(flags, place) ? OPENACLNN_ALL : OPENACLNN_UNUSED;
}

// These stand for a parameter that a struct of several operators has and one of them lacks.
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
  /// Bit i: output i may share memory with the others that have a bit; a single one with itself.
  uint64_t shared = 0;
  /// Bit i: operand i may be a weight as aclnnTransMatmulWeight leaves it.
  uint64_t laid_out = 0;
};

/// Every product; BFLOAT16 on those that have it.
extern const std::array<OperandSupport, 1> kEverywhere;

/// The operators of all topics.
std::vector<const Row*> Table();

/// Runs phase 1 of an operator. It calls `collect` for the arguments, since collecting takes memory
/// and a lack of memory is an outcome of the call.
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
/// Checks that indices are INT32 or INT64.
void CheckIndexType(const Operand& index, Checker& checker);
/// Checks that an output of indices is INT32 or INT64, and holds numbers up to `most`.
void CheckIndexType(const Operand& index, int64_t most, Checker& checker);
/// Checks that there is a flag for each output, and that outputs whose flag is set are given.
void CheckAsked(const std::vector<bool>& mask, std::initializer_list<const Tensor*> outputs,
                Checker& checker);
/// Refuses (`out shape is …`) any shape but the one given.
void CheckShape(const Operand& operand, const Shape& shape, Checker& checker);

}  // namespace openaclnn::supporting
