// SPDX-License-Identifier: Apache-2.0
// The arguments of the supporting operators, and the checks that all of them share.
#include "supporting/family.h"

#include <algorithm>
#include <cstring>

#include "kernels/strided.h"

namespace openaclnn::supporting {
namespace {

constexpr DtypeSet kWithoutBf16 = ~Dtypes(ACL_BF16);
constexpr DtypeSet kAll = ~DtypeSet{0};

std::string NullText(const char* name) { return Concat(name, " value is null, expected a value"); }
std::string DeadText(const char* name, const char* noun) {
  return Concat(name, " value is not a live handle, expected a live ", noun);
}

Status Check(const Params& p, const Product& product) {
  Checker checker(p.row.op, product);
  for (const Operand& tensor : p.tensors) {
    const bool optional =
        std::find(p.optional.begin(), p.optional.end(), &tensor) != p.optional.end();
    if (!optional || tensor.found() != OPENACLNN_NULL) checker.Required(tensor);
  }
  const auto require = [&](const char* name, OpenaclnnFound found, const char* noun) {
    checker.That(found != OPENACLNN_NULL, ACLNN_ERR_PARAM_NULLPTR, [&] { return NullText(name); });
    checker.That(found == OPENACLNN_LIVE || found == OPENACLNN_NULL,
                 [&] { return DeadText(name, noun); });
  };
  for (const Value& value : p.values) {
    if (!value.optional || value.found != OPENACLNN_NULL) {
      require(value.name, value.found, "scalar");
    }
  }
  for (const IntList& array : p.arrays) {
    checker.List(array, std::find(p.optional_arrays.begin(), p.optional_arrays.end(), &array) ==
                            p.optional_arrays.end());
  }
  for (const Params::GivenList& list : p.lists) require(list.name, list.found, "list");
  if (!p.lists.empty()) {
    checker.That(p.tensors.size() <= OPENACLNN_MAX_OPERANDS, [&] {
      return Concat(p.lists[0].name, " size is ", p.lists[0].size, ", expected fewer: all tensors ",
                    "of a call are at most ", OPENACLNN_MAX_OPERANDS);
    });
  }
  checker.Supported();
  const DtypeSet types = p.row.dtypes & kEverywhere[0].dtypes[product.family];
  for (const Operand& tensor : p.tensors) {
    checker.That(!tensor.present() || Contains(types, tensor.dtype()),
                 [&] { return DtypeIs(tensor, DtypesText(types)); });
  }
  for (const Operand& tensor : p.tensors) checker.RankBetween(tensor, 0, kMaxRank);
  for (const Operand& tensor : p.tensors) {
    checker.That(tensor.count().has_value(), [&] {
      return Concat(tensor.name(), " shape is ", ShapeText(tensor),
                    ", expected dimensions that are not negative and a size below 2^63");
    });
  }
  if (checker.ok()) p.row.check(p, checker);
  for (const Operand& tensor : p.tensors) checker.PlainFormat(tensor);
  return checker.status();
}

Plan MakePlan(const Params& p, const Product&) { return p.row.plan(p); }

Status Run(const Plan& plan, const Buffers& buffers) { return plan.work(buffers); }

}  // namespace

const std::array<OperandSupport, 1> kEverywhere = {
    {{"tensors", {kWithoutBf16, kAll, kAll, kAll, kWithoutBf16, kWithoutBf16}}}};

Value::Value(const char* scalar_name, const aclScalar* handle) noexcept : name(scalar_name) {
  OpenaclnnScalar scalar = {};
  if (Meta() != nullptr) found = Meta()->read_scalar(handle, &scalar);
  if (!given()) return;
  real = Contains(kRealTypes, scalar.dtype);
  if (!Contains(kNumericTypes, scalar.dtype)) {
    found = OPENACLNN_FOREIGN;
    return;
  }
  alignas(16) std::byte bytes[sizeof(scalar.value)];
  std::memcpy(bytes, scalar.value, sizeof(bytes));
  LoaderOf<double>(scalar.dtype)(bytes, 0, 1, &number);
  LoaderOf<int64_t>(scalar.dtype)(bytes, 0, 1, &integer);
}

Value::Value(double constant) noexcept
    : name(""),
      found(OPENACLNN_LIVE),
      real(true),
      number(constant),
      integer(static_cast<int64_t>(constant)) {}

Value::Value(int64_t constant) noexcept
    : name(""), found(OPENACLNN_LIVE), number(static_cast<double>(constant)), integer(constant) {}

Params& Params::In(const char* name, const aclTensor* handle) {
  tensors.emplace_back(name, OPENACLNN_INPUT, handle);
  return *this;
}

Params& Params::Out(const char* name, const aclTensor* handle) {
  out_handles.push_back(handle);
  // An expression reads an element of each input before it writes that of the output.
  const uint64_t may_alias = row.expression != nullptr ? ~uint64_t{0} : row.may_alias;
  tensors.emplace_back(name, OPENACLNN_OUTPUT, handle, may_alias);
  return *this;
}

Params& Params::OptionalIn(const char* name, const aclTensor* handle) {
  In(name, handle);
  optional.push_back(&tensors.back());
  return *this;
}

Params& Params::OptionalOut(const char* name, const aclTensor* handle) {
  Out(name, handle);
  optional.push_back(&tensors.back());
  return *this;
}

Params& Params::TensorList(const char* name, OpenaclnnRole role, const aclTensorList* handle) {
  const aclTensor* const* members = nullptr;
  uint64_t count = 0;
  void* pin = nullptr;
  OpenaclnnFound found = OPENACLNN_FOREIGN;
  if (Meta() != nullptr) found = Meta()->pin_tensor_list(handle, &members, &count, &pin);
  lists.push_back({name, found, count});
  if (found != OPENACLNN_LIVE) return *this;
  for (uint64_t i = 0; i < count; ++i) {
    role == OPENACLNN_INPUT ? In(name, members[i]) : Out(name, members[i]);
    tensors.back().set_in_list();
  }
  Meta()->unpin(pin);
  return *this;
}

Params& Params::InList(const char* name, const aclTensorList* handle) {
  return TensorList(name, OPENACLNN_INPUT, handle);
}

Params& Params::OutList(const char* name, const aclTensorList* handle) {
  return TensorList(name, OPENACLNN_OUTPUT, handle);
}

Params& Params::ScalarList(const char* name, const aclScalarList* handle) {
  const aclScalar* const* members = nullptr;
  uint64_t count = 0;
  void* pin = nullptr;
  OpenaclnnFound found = OPENACLNN_FOREIGN;
  if (Meta() != nullptr) found = Meta()->pin_scalar_list(handle, &members, &count, &pin);
  lists.push_back({name, found, count});
  if (found != OPENACLNN_LIVE) return *this;
  for (uint64_t i = 0; i < count; ++i) Scalar(name, members[i]);
  Meta()->unpin(pin);
  return *this;
}

Params& Params::Scalar(const char* name, const aclScalar* handle) {
  values.emplace_back(name, handle);
  return *this;
}

Params& Params::OptionalScalar(const char* name, const aclScalar* handle) {
  values.emplace_back(name, handle).optional = true;
  return *this;
}

Params& Params::List(const char* name, const aclIntArray* handle) {
  arrays.emplace_back(name, handle);
  return *this;
}

Params& Params::OptionalList(const char* name, const aclIntArray* handle) {
  List(name, handle);
  optional_arrays.push_back(&arrays.back());
  return *this;
}

Params& Params::Flags(const char* name, const aclBoolArray* handle) {
  const uint8_t* values = nullptr;
  uint64_t count = 0;
  void* pin = nullptr;
  OpenaclnnFound found = OPENACLNN_FOREIGN;
  if (Meta() != nullptr) found = Meta()->pin_bool_array(handle, &values, &count, &pin);
  lists.push_back({name, found, count});
  if (found != OPENACLNN_LIVE) return *this;
  flags.assign(values, values + count);
  Meta()->unpin(pin);
  return *this;
}

Params& Params::Constant(double value) {
  values.emplace_back(value);
  return *this;
}

Params& Params::Whole(int64_t value) {
  values.emplace_back(value);
  return *this;
}

Params& Params::Integer(int64_t value) {
  integers.push_back(value);
  return *this;
}

Params& Params::Real(double value) {
  reals.push_back(value);
  return *this;
}

std::vector<const Operand*> Params::operands() const {
  std::vector<const Operand*> pointers;
  for (const Operand& tensor : tensors) pointers.push_back(&tensor);
  return pointers;
}

const Operand& Params::out() const {
  for (const Operand& tensor : tensors) {
    if (tensor.role() == OPENACLNN_OUTPUT) return tensor;
  }
  return tensors.back();
}

aclnnStatus PlanFamily(const Params& params, uint64_t* workspace_size, aclOpExecutor** executor) {
  const Operation<Params, Plan> operation = {params.row.op, Check, MakePlan, Run};
  return PlanOperation(operation, params, workspace_size, executor);
}

std::string DtypeIs(const Operand& operand, const std::string& expected) {
  return Concat(operand.name(), " dtype is ", DtypeText(operand.dtype()), ", expected ", expected);
}

void CheckShape(const Operand& operand, const std::vector<int64_t>& shape, Checker& checker) {
  bool same = operand.rank() == shape.size();
  for (size_t i = 0; same && i < shape.size(); ++i) {
    same = operand.dim(static_cast<uint32_t>(i)) == shape[i];
  }
  checker.That(same, [&] {
    return Concat(operand.name(), " shape is ", ShapeText(operand), ", expected ",
                  ShapeText(shape.data(), static_cast<uint32_t>(shape.size())));
  });
}

}  // namespace openaclnn::supporting
