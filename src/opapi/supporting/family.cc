// SPDX-License-Identifier: Apache-2.0
// The arguments of the supporting operators, and the checks that all of them share.
#include "supporting/family.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "kernels/move/strided.h"
#include "opapi/registry.h"

namespace openaclnn::supporting {
namespace {

std::string NullText(const char* name) { return Concat(name, " value is null, expected a value"); }
std::string DeadText(const char* name, const char* noun) {
  return Concat(name, " value is not a live handle, expected a live ", noun);
}

/// A factor in the format that aclnnTransMatmulWeight gives weights on a device: here it leaves
/// them as they are, and products read them so. Storage of more dimensions than the view is of
/// blocks that somebody has laid out, which nobody reads here.
bool IsLaidOutWeight(const Row& row, const Params& p, const Tensor& operand) {
  if (row.laid_out == 0 || !operand.present() || operand.tensor().format != ACL_FORMAT_FRACTAL_NZ ||
      operand.rank() < 2) {
    return false;
  }
  // Members of a list are one parameter. Such weights stand before what may be left out.
  size_t number = 0;
  for (size_t i = 1; i <= operand.place.number; ++i) {
    if (p.tensors[i].name() != p.tensors[i - 1].name()) ++number;
  }
  return number < 64 && (row.laid_out >> number & 1) != 0 &&
         operand.tensor().storage_rank <= operand.rank();
}

/// The types that the vendor's page lists for the tensor and that the product has; without a list
/// all types of the operator that the product has.
DtypeSet TypesOf(const Row& row, const OperandSupport& listed, OpenaclnnFamily family) {
  return row.dtypes & kTypesOfFamilies[family] & listed.dtypes[family];
}

/// The types that a tensor of a call may have. Only lenient products get here with a family that
/// does not have the operator.
DtypeSet TakenTypes(const Row& row, const OperandSupport& listed, OpenaclnnFamily family) {
  if (row.op.Supports(family)) return TypesOf(row, listed, family);
  return row.dtypes & DtypesElsewhere(listed.dtypes, family);
}

/// The tensor's line of the table. It is at the tensor's place, unless lists come before it.
/// Tensors without a line of their own have the first one.
const OperandSupport& ListedOf(const Row& row, const Tensor& tensor) {
  const std::span<const OperandSupport> table = row.op.support;
  const size_t place = tensor.place.number + 1;
  if (table.size() == 1) return table.front();
  if (place < table.size() && table[place].operand == tensor.name()) return table[place];
  const auto named = std::ranges::find_if(table, [&](const OperandSupport& line) {
    return std::string_view(line.operand) == tensor.name();
  });
  return named != table.end() ? *named : table.front();
}

Status Check(const Params& p, const Product& product) {
  Checker checker(p.row.op, product);
  for (const Tensor& tensor : p.tensors) {
    if (!tensor.optional || tensor.found() != OPENACLNN_NULL) checker.Required(tensor);
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
  for (const GivenList& list : p.lists) require(list.name, list.found, "list");
  checker.Supported();
  for (const Value& value : p.values) {
    checker.That(value.usable(p.row.dtypes), [&] {
      return Concat(value.name, " dtype is ", DtypeText(value.dtype), ", expected a real type");
    });
  }
  if (!p.lists.empty()) {
    checker.That(p.tensors.size() <= OPENACLNN_MAX_OPERANDS, [&] {
      return Concat(p.lists[0].name, " size is ", p.lists[0].size, ", expected fewer: all tensors ",
                    "of a call are at most ", OPENACLNN_MAX_OPERANDS);
    });
  }
  for (const Tensor& tensor : p.tensors) {
    const DtypeSet types = TakenTypes(p.row, ListedOf(p.row, tensor), product.family);
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
  // Outputs that may share memory with each other must not overlap themselves.
  for (const Tensor& tensor : p.tensors) {
    if (!checker.ok()) break;
    const bool apart = !tensor.shared() || std::has_single_bit(p.row.shared);
    checker.That(apart || tensor.empty() || !OverlapsItself(tensor.tensor()), [&] {
      return Concat(tensor.name(), " strides overlap, expected elements that do not");
    });
  }
  checker.That(p.no_mode.empty(), [&] { return p.no_mode; });
  if (checker.ok()) p.row.check(p, checker);
  for (const Tensor& tensor : p.tensors) {
    if (!IsLaidOutWeight(p.row, p, tensor)) checker.PlainFormat(tensor);
  }
  return checker.status();
}

/// A table that would be longer than any vector is a lack of memory.
Plan MakePlan(const Params& p, const Product& product) try {
  return p.row.plan(p, product);
} catch (const std::length_error&) {
  throw std::bad_alloc();
}

Status Run(const Plan& plan, const Buffers& buffers) { return plan.work(buffers); }

/// Lets a list go when its members were read.
struct Pin {
  ~Pin() {
    if (pin != nullptr) Meta()->unpin(pin);
  }
  void* pin = nullptr;
};

}  // namespace

const std::array<OperandSupport, 1> kEverywhere = {{{"tensors", kTypesOfFamilies}}};

Value::Value(const char* scalar_name, const aclScalar* handle) noexcept : name(scalar_name) {
  OpenaclnnScalar scalar = {};
  if (Meta() != nullptr) found = Meta()->read_scalar(handle, &scalar);
  if (!given()) return;
  dtype = static_cast<aclDataType>(scalar.dtype);
  real = Contains(kRealTypes | kComplexTypes, scalar.dtype);
  if (!usable(kComplexTypes)) return;
  alignas(16) std::byte bytes[sizeof(scalar.value)];
  std::memcpy(bytes, scalar.value, sizeof(bytes));
  if (complex()) {
    LoadParts(scalar.dtype, bytes);
    return;
  }
  LoaderOf<double>(scalar.dtype)(bytes, 0, 1, &number);
  LoaderOf<int64_t>(scalar.dtype)(bytes, 0, 1, &integer);
}

void Value::LoadParts(int32_t complex_dtype, const std::byte* element) noexcept {
  const auto load = LoaderOf<double>(PartOf(complex_dtype));
  load(element, 0, 1, &number);
  load(element + ImaginaryAt(complex_dtype), 0, 1, &imaginary);
  integer = ToInteger(number);
}

// The element goes through memory: GCC 12 drops two conversions to float and back side by side.
Value Value::In(int32_t element_dtype) const {
  const bool complex_element = Contains(kComplexTypes, element_dtype);
  if (as_given || dtype == ACL_DT_UNDEFINED || dtype == element_dtype) return *this;
  if (!complex_element && !Contains(kNumericTypes, element_dtype)) return *this;
  Value converted = *this;
  const std::array<std::byte, 16> element = ElementOf(element_dtype, *this);
  if (complex_element) {
    converted.LoadParts(element_dtype, element.data());
    return converted;
  }
  LoaderOf<double>(element_dtype)(element.data(), 0, 1, &converted.number);
  LoaderOf<int64_t>(element_dtype)(element.data(), 0, 1, &converted.integer);
  converted.real = Contains(kRealTypes, element_dtype);
  converted.dtype = static_cast<aclDataType>(element_dtype);
  return converted;
}

const Tensor& Params::In(const char* name, const aclTensor* handle, OpenaclnnUse use) {
  return tensors.emplace_back(name, OPENACLNN_INPUT, handle, 0, use, tensors.size());
}

uint64_t Params::MayAlias() const {
  if (row.expression == nullptr) return row.may_alias;
  // An expression reads an element of each input before it writes that of the output. A tensor
  // beside lists is read for every member, after outputs of others were written.
  uint64_t beside = 0;
  for (size_t i = 0; !lists.empty() && i < tensors.size(); ++i) {
    if (!tensors[i].in_list()) beside |= uint64_t{1} << std::min<size_t>(i, 63);
  }
  return ~beside;
}

const Tensor& Params::Out(const char* name, const aclTensor* handle, OpenaclnnUse use) {
  return Out(name, handle, use, MayAlias());
}

const Tensor& Params::Out(const char* name, const aclTensor* handle, OpenaclnnUse use,
                          uint64_t may_alias) {
  const size_t number = tensors.size();
  Tensor& tensor = tensors.emplace_back(name, OPENACLNN_OUTPUT, handle, may_alias, use, number);
  if (number < 64 && (row.shared >> number & 1) != 0) tensor.set_shared();
  return tensor;
}

const Tensor& Params::OptionalIn(const char* name, const aclTensor* handle, OpenaclnnUse use) {
  In(name, handle, use);
  tensors.back().optional = true;
  return tensors.back();
}

const Tensor& Params::OptionalOut(const char* name, const aclTensor* handle, OpenaclnnUse use) {
  Out(name, handle, use);
  tensors.back().optional = true;
  return tensors.back();
}

GivenList Params::TensorList(const char* name, OpenaclnnRole role, const aclTensorList* handle,
                             OpenaclnnUse use) {
  const aclTensor* const* members = nullptr;
  uint64_t count = 0;
  Pin pin;
  GivenList list = {name, OPENACLNN_FOREIGN, 0};
  if (Meta() != nullptr) list.found = Meta()->pin_tensor_list(handle, &members, &count, &pin.pin);
  list.size = count;
  const uint64_t may_alias = MayAlias();
  if (list.found == OPENACLNN_LIVE) {
    for (uint64_t i = 0; i < count; ++i) {
      role == OPENACLNN_INPUT ? In(name, members[i], use) : Out(name, members[i], use, may_alias);
      tensors.back().set_in_list();
      list.tensors.push_back(&tensors.back());
    }
  }
  return lists.emplace_back(list);
}

GivenList Params::InList(const char* name, const aclTensorList* handle, OpenaclnnUse use) {
  return TensorList(name, OPENACLNN_INPUT, handle, use);
}

GivenList Params::OutList(const char* name, const aclTensorList* handle, OpenaclnnUse use) {
  return TensorList(name, OPENACLNN_OUTPUT, handle, use);
}

void Params::ScalarList(const char* name, const aclScalarList* handle) {
  const aclScalar* const* members = nullptr;
  uint64_t count = 0;
  Pin pin;
  OpenaclnnFound found = OPENACLNN_FOREIGN;
  if (Meta() != nullptr) found = Meta()->pin_scalar_list(handle, &members, &count, &pin.pin);
  lists.push_back({name, found, count});
  if (found != OPENACLNN_LIVE) return;
  for (uint64_t i = 0; i < count; ++i) Scalar(name, members[i]);
}

const Value& Params::Scalar(const char* name, const aclScalar* handle) {
  return values.emplace_back(name, handle);
}

const Value& Params::OptionalScalar(const char* name, const aclScalar* handle) {
  Scalar(name, handle);
  values.back().optional = true;
  return values.back();
}

const Value& Params::ScalarAsGiven(const char* name, const aclScalar* handle) {
  Scalar(name, handle);
  values.back().as_given = true;
  return values.back();
}

const Value& Params::Factor(const char* name, const aclScalar* handle) {
  Scalar(name, handle);
  values.back().factor = true;
  return values.back();
}

const IntList& Params::Ints(const char* name, const aclIntArray* handle) {
  return arrays.emplace_back(name, handle);
}

const IntList& Params::OptionalInts(const char* name, const aclIntArray* handle) {
  Ints(name, handle);
  optional_arrays.push_back(&arrays.back());
  return arrays.back();
}

std::vector<bool> Params::Bools(const char* name, const aclBoolArray* handle) {
  const uint8_t* bytes = nullptr;
  uint64_t count = 0;
  Pin pin;
  OpenaclnnFound found = OPENACLNN_FOREIGN;
  if (Meta() != nullptr) found = Meta()->pin_bool_array(handle, &bytes, &count, &pin.pin);
  lists.push_back({name, found, count});
  if (found != OPENACLNN_LIVE) return {};
  return std::vector<bool>(bytes, bytes + count);
}

void Params::Mode(const char* name, int64_t value, std::initializer_list<int64_t> modes,
                  const char* words) {
  if (!no_mode.empty() || std::find(modes.begin(), modes.end(), value) != modes.end()) return;
  no_mode = Concat(name, " value is ", value, ", expected ", words);
}

void Params::Mode(const char* name, const char* value,
                  std::initializer_list<std::string_view> modes, const char* words) {
  const std::string_view given = value == nullptr ? "" : value;
  if (!no_mode.empty() || std::find(modes.begin(), modes.end(), given) != modes.end()) return;
  no_mode = value == nullptr ? Concat(name, " value is null, expected ", words)
                             : Concat(name, " value is ", Quoted{given}, ", expected ", words);
}

void Params::Type(const char* name, int32_t value) {
  if (!no_mode.empty() || value == ACL_DT_UNDEFINED || FindDataType(value) != nullptr) return;
  no_mode = Concat(name, " value is ", value, ", expected an aclDataType");
}

ShortVector<const Operand*, 8> Params::operands() const {
  ShortVector<const Operand*, 8> pointers;
  for (const Operand& tensor : tensors) pointers.push_back(&tensor);
  return pointers;
}

const Tensor& Params::first_output() const {
  for (const Tensor& tensor : tensors) {
    if (tensor.role() == OPENACLNN_OUTPUT) return tensor;
  }
  return tensors.back();
}

const Tensor& NoTensor() {
  static const Tensor none("", OPENACLNN_INPUT, nullptr, 0, OPENACLNN_ALL, 0);
  return none;
}

const Value& NoValue() {
  static const Value none("", nullptr);
  return none;
}

const IntList& NoInts() {
  static const IntList none("", nullptr);
  return none;
}

aclnnStatus PlanRow(const Row& row, uint64_t* workspace_size, aclOpExecutor** executor,
                    std::unique_ptr<Params> (*collect)(const void* state), const void* state) {
  const Operation<Params, Plan> operation = {row.op, Check, MakePlan, Run};
  return PlanOperation(
      operation, [&] { return collect(state); }, workspace_size, executor);
}

std::array<std::byte, 16> ElementOf(int32_t dtype, const Value& value) {
  std::array<std::byte, 16> bytes{};
  if (Contains(kComplexTypes, dtype)) {
    const auto store = StorerOf<double>(PartOf(dtype));
    store(&value.number, 1, bytes.data(), 0);
    store(&value.imaginary, 1, bytes.data() + ImaginaryAt(dtype), 0);
  } else if (DomainOf(dtype) == Domain::kInteger) {
    const auto integer = value.As<int64_t>(dtype);
    StorerOf<int64_t>(dtype)(&integer, 1, bytes.data(), 0);
  } else {
    StorerOf<double>(dtype)(&value.number, 1, bytes.data(), 0);
  }
  return bytes;
}

std::optional<uint32_t> WrapDim(int64_t dim, uint32_t rank) {
  const int64_t limit = rank == 0 ? 1 : rank;  // a scalar has dimensions -1 and 0
  if (dim < -limit || dim >= limit) return std::nullopt;
  return static_cast<uint32_t>(dim < 0 ? dim + limit : dim);
}

std::string DtypeIs(const Operand& operand, const std::string& expected) {
  return Concat(operand.name(), " dtype is ", DtypeText(operand.dtype()), ", expected ", expected);
}

void CheckIndexType(const Operand& index, Checker& checker) {
  checker.That(index.dtype() == ACL_INT64 || index.dtype() == ACL_INT32,
               [&] { return DtypeIs(index, "INT32, INT64"); });
}

void CheckIndexType(const Operand& index, int64_t most, Checker& checker) {
  CheckIndexType(index, checker);
  checker.That(index.dtype() == ACL_INT64 || most <= INT32_MAX,
               [&] { return DtypeIs(index, Concat("INT64, for numbers up to ", most)); });
}

void CheckAsked(const std::vector<bool>& mask, std::initializer_list<const Tensor*> outputs,
                Checker& checker) {
  checker.That(mask.size() == outputs.size(), [&] {
    return Concat("outputMask size is ", mask.size(), ", expected ", outputs.size());
  });
  for (size_t i = 0; checker.ok() && i < outputs.size(); ++i) {
    const Tensor& output = *outputs.begin()[i];
    checker.That(!mask[i] || output.present(), ACLNN_ERR_PARAM_NULLPTR,
                 [&] { return Concat(output.name(), " value is null, expected a tensor"); });
  }
}

void CheckShape(const Operand& operand, const Shape& shape, Checker& checker) {
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

namespace openaclnn {

std::vector<RecordedOperator> RecordedOperators() {
  std::vector<RecordedOperator> operators;
  for (const supporting::Row* row : supporting::Table()) {
    RecordedOperator recorded = {row->op.api, {}};
    for (OperandSupport operand : row->op.support) {
      for (int f = 0; f < OPENACLNN_FAMILY_COUNT; ++f) {
        const auto family = static_cast<OpenaclnnFamily>(f);
        operand.dtypes[family] = supporting::TypesOf(*row, operand, family);
      }
      recorded.support.push_back(operand);
    }
    operators.push_back(std::move(recorded));
  }
  return operators;
}

}  // namespace openaclnn
