// SPDX-License-Identifier: Apache-2.0
// aclopCompileAndExecute: operators by their graph names, through libopapi's two phases.
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "acl/acl_op_compiler.h"
#include "acl/acl_rt.h"
#include "ascendcl/report/error.h"
#include "client/check.h"
#include "client/client.h"
#include "graph_operators.h"

namespace openaclnn {
namespace {

using Arguments = GraphArguments;

Status Null(const char* operand) {
  return Status(ACL_ERROR_INVALID_PARAM, Concat(operand, " value is null, expected an address"));
}

Status FindOperator(const char* name, const GraphOperator** found) {
  if (name == nullptr) return Null("opType");
  std::string names;
  for (const GraphOperator& each : GraphOperators()) {
    if (each.name == name) *found = &each;
    names += (names.empty() ? "" : ", ") + std::string(each.name);
  }
  if (*found != nullptr) return {};
  const std::string_view caller = CallerOfAbsent(name);
  const std::string called = caller.empty() ? "" : Concat(" (", caller, ")");
  return Status(ACL_ERROR_OP_NOT_FOUND, Concat("opType value is ", Quoted{name}, called,
                                               ", which is not here, expected one of ", names));
}

/// A dense tensor of the description's shape in the buffer's memory.
Status MakeTensor(const char* operand, int code, const aclTensorDesc* desc,
                  const aclDataBuffer* buffer, TensorPointer* tensor) {
  if (desc == nullptr || buffer == nullptr) return Null(operand);
  std::vector<int64_t> dims(aclGetTensorDescNumDims(desc)), strides(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    const aclError failed = aclGetTensorDescDimV2(desc, i, &dims[i]);
    if (failed != 0) return Status(failed, Concat(operand, " description is not a live one"));
  }
  const aclDataType dtype = aclGetTensorDescType(desc);
  int64_t count = 1;
  bool fits = true;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = count;
    fits = fits && dims[i] >= 0 && !__builtin_mul_overflow(count, dims[i], &count);
  }
  const size_t width = aclDataTypeSize(dtype), bytes = aclGetDataBufferSizeV2(buffer);
  fits = fits && (width == 0 || static_cast<uint64_t>(count) <= bytes / width);
  if (!fits) {
    return Status(code, Concat(operand, " buffer is ", bytes, " bytes, expected at least those of ",
                               count, " elements of ", width, " bytes"));
  }
  tensor->reset(aclCreateTensor(dims.data(), dims.size(), dtype, strides.data(), 0, ACL_FORMAT_ND,
                                dims.data(), dims.size(), aclGetDataBufferAddr(buffer)));
  if (*tensor != nullptr) return {};
  return Status(ACL_ERROR_INVALID_PARAM, Concat(operand,
                                                " description is not that of a tensor, "
                                                "expected a type and a shape"));
}

/// The values of a tensor that the program has told with its description, or by a buffer in memory
/// of the host. Null where they are the device's.
const void* ValuesOf(const aclTensorDesc* desc, const aclDataBuffer* buffer) {
  const void* const values = aclGetTensorDescAddress(desc);
  if (values != nullptr) return values;
  const void* const address = aclGetDataBufferAddr(buffer);
  aclrtPtrAttributes attributes = {};
  const bool known = address != nullptr && aclrtPointerGetAttributes(address, &attributes) == 0;
  return known && attributes.location.type != ACL_MEM_LOCATION_TYPE_DEVICE ? address : nullptr;
}

Status MakeTensors(const char* operand, int code, int expected, int count,
                   const aclTensorDesc* const* descs, const aclDataBuffer* const* buffers,
                   Arguments* arguments) {
  if (count != expected) {
    return Status(code, Concat(operand, " count is ", count, ", expected ", expected));
  }
  if (descs == nullptr || buffers == nullptr) return Null(operand);
  for (int i = 0; i < count; ++i) {
    TensorPointer tensor;
    Status status = MakeTensor(operand, code, descs[i], buffers[i], &tensor);
    if (!status.ok()) return status;
    arguments->tensors.push_back(std::move(tensor));
    arguments->values.push_back(ValuesOf(descs[i], buffers[i]));
  }
  return {};
}

using AttributeType = decltype(OpenaclnnAttribute::type);

/// False where it is not set; *status says why if it is of another type.
bool Read(const aclopAttr* attr, const char* name, AttributeType type, const char* noun,
          OpenaclnnAttribute* value, Status* status) {
  if (!status->ok() || Runtime().attribute(attr, name, value) == 0) return false;
  if (value->type == type) return true;
  *status = Status(ACL_ERROR_OP_ATTR_NOT_MATCH, Concat(name, " type is another, expected ", noun));
  return false;
}

/// A list of integers, or the characters of a string, one by one.
template <class Each>
void ReadEach(const aclopAttr* attr, const char* name, const char* noun, Status* status,
              const Each& each) {
  OpenaclnnAttribute value{};
  for (int i = 0; Read(attr, Concat(name, "[", i, "]").c_str(), OpenaclnnAttribute::OPENACLNN_FLOAT,
                       noun, &value, status);
       ++i) {
    each(value.value);
  }
}

Status ReadAttributes(const aclopAttr* attr, Arguments* a) {
  using Name = const char*;
  Status status;
  OpenaclnnAttribute value{};
  for (const auto& [name, number] : {std::pair<Name, double*>("scale", &a->scale),
                                     {"p", &a->p},
                                     {"dampening", &a->dampening},
                                     {"weight_decay", &a->weight_decay}}) {
    if (Read(attr, name, OpenaclnnAttribute::OPENACLNN_FLOAT, "a float", &value, &status)) {
      *number = value.value;
    }
  }
  if (Read(attr, "epsilon", OpenaclnnAttribute::OPENACLNN_FLOAT, "a float", &value, &status) &&
      value.value != 0) {
    status = Status(ACL_ERROR_OP_ATTR_NOT_MATCH,
                    Concat("epsilon value is ", value.value, ", expected 0"));
  }
  for (const auto& [name, flag] : {std::pair<Name, bool*>("fixed_triu_mask", &a->fixed_triu_mask),
                                   {"keepdim", &a->keepdim},
                                   {"keep_dims", &a->keepdim},
                                   {"noop_with_empty_axes", &a->noop_with_empty_axes},
                                   {"nesterov", &a->nesterov},
                                   {"use_nesterov", &a->nesterov}}) {
    if (Read(attr, name, OpenaclnnAttribute::OPENACLNN_BOOL, "a bool", &value, &status)) {
      *flag = value.value != 0;
    }
  }
  for (const auto& [name, integer] :
       {std::pair<Name, int64_t*>("groups[]", &a->groups), {"batch_dims[]", &a->batch_dims}}) {
    if (Read(attr, name, OpenaclnnAttribute::OPENACLNN_FLOAT, "an integer", &value, &status)) {
      *integer = static_cast<int64_t>(value.value);
    }
  }
  for (const auto& [name, list] : {std::pair<Name, std::vector<int64_t>*>("axes", &a->axes),
                                   {"strides", &a->strides},
                                   {"pads", &a->pads},
                                   {"dilations", &a->dilations}}) {
    ReadEach(attr, name, "a list of integers", &status,
             [into = list](double given) { into->push_back(static_cast<int64_t>(given)); });
  }
  ReadEach(attr, "data_format", "a string", &status,
           [&](double given) { a->data_format += static_cast<char>(given); });
  return status;
}

/// The memory of an operator's own, from the program's allocator if the stream has one. Given back
/// when the operator is queued: whoever has it next is queued behind.
class Workspace {
 public:
  explicit Workspace(aclrtStream stream) : stream_(stream) {}
  Workspace(const Workspace&) = delete;
  ~Workspace() {
    if (address_ != nullptr) Check().forget_touches(address_, bytes_);
    if (block_ == nullptr && address_ != nullptr) aclrtFree(address_);
    try {
      if (block_ != nullptr) free_(allocator_, block_);
    } catch (...) {  // of any kind: the work is queued, and nobody is left to tell
    }
  }

  int Allocate(uint64_t bytes) {
    bytes_ = bytes;
    aclrtAllocatorAllocFunc allocate = nullptr;
    aclrtAllocatorGetAddrFromBlockFunc address = nullptr;
    const int code = aclrtAllocatorGetByStream(stream_, nullptr, &allocator_, &allocate, &free_,
                                               nullptr, &address);
    if (code != 0) return code;
    if (allocate == nullptr) return aclrtMalloc(&address_, bytes, ACL_MEM_MALLOC_NORMAL_ONLY);
    const char* outcome = "null";
    try {
      block_ = allocate(allocator_, bytes);
      address_ = block_ == nullptr ? nullptr : address(block_);
    } catch (...) {
      outcome = "an exception";
    }
    if (address_ != nullptr) return 0;
    return Api("aclopCompileAndExecute", [&] {
      return Status(
          ACL_ERROR_RT_MEMORY_ALLOCATION,
          Concat("stream allocator gives ", outcome, " for ", bytes, " bytes, expected memory"));
    });
  }

  void* address() const { return address_; }

 private:
  const aclrtStream stream_;
  aclrtAllocator allocator_ = nullptr;
  aclrtAllocatorFreeFunc free_ = nullptr;
  aclrtAllocatorBlock block_ = nullptr;
  void* address_ = nullptr;
  uint64_t bytes_ = 0;
};

/// Refuses host memory up front. Otherwise a later step would find it after earlier ones had run.
Status CheckMemory(const GraphOperator& row, const Arguments& arguments) {
  const auto inputs = static_cast<size_t>(row.num_inputs);
  for (size_t i = 0; i < inputs; ++i) {
    if ((row.known >> i & 1) != 0 || arguments.values[i] == nullptr) continue;
    return Status(ACL_ERROR_OP_INPUT_NOT_MATCH,
                  Concat("inputs[", i, "] memory is the host's, expected memory of the device"));
  }
  return {};
}

/// A step that phase 1 has planned.
struct Planned {
  const GraphStep* step = nullptr;
  uint64_t bytes = 0;
  std::unique_ptr<aclOpExecutor, Destroy<aclDestroyAclOpExecutor>> executor;  // null: nothing to do
  std::optional<Workspace> workspace;
};

/// Both phases of all steps; a failure has left its own message. Nothing runs if a plan or its
/// memory is refused.
int Run(const GraphOperator& row, const Arguments& arguments, aclrtStream stream) {
  std::array<Planned, std::tuple_size_v<decltype(row.steps)>> all;
  for (size_t i = 0; i < all.size() && row.steps[i].plan != nullptr; ++i) {
    aclOpExecutor* executor = nullptr;
    const int refused = row.steps[i].plan(arguments, &all[i].bytes, &executor);
    all[i].executor.reset(executor);
    if (refused != 0) return refused;
    all[i].step = &row.steps[i];
  }
  for (Planned& planned : all) {
    if (planned.executor == nullptr || planned.bytes == 0) continue;
    const int failed = planned.workspace.emplace(stream).Allocate(planned.bytes);
    if (failed != 0) return failed;
  }
  for (Planned& planned : all) {
    if (planned.executor == nullptr) continue;
    void* const memory = planned.workspace ? planned.workspace->address() : nullptr;
    const int code = planned.step->run(memory, planned.bytes, planned.executor.get(), stream);
    if (code != 0) return code;
    (void)planned.executor.release();  // phase 2 has taken it
  }
  return 0;
}

/// As Run; a lack of memory for the lists of plans is refused.
int RunOrSay(const GraphOperator& row, const Arguments& arguments, aclrtStream stream) {
  try {
    return Run(row, arguments, stream);
  } catch (...) {
    return Api("aclopCompileAndExecute", []() -> Status { throw; });
  }
}

}  // namespace
}  // namespace openaclnn

using openaclnn::GraphArguments;
using openaclnn::GraphOperator;
using openaclnn::Status;

aclError aclopCompileAndExecute(const char* opType, int numInputs,
                                const aclTensorDesc* const inputDesc[],
                                const aclDataBuffer* const inputs[], int numOutputs,
                                const aclTensorDesc* const outputDesc[],
                                aclDataBuffer* const outputs[], const aclopAttr* attr,
                                aclopEngineType, aclopCompileType, const char*,
                                aclrtStream stream) {
  const GraphOperator* row = nullptr;
  GraphArguments arguments;
  const int code = openaclnn::Api("aclopCompileAndExecute", [&] {
    Status found = openaclnn::FindOperator(opType, &row);
    if (row == nullptr) return found;
    Status status = openaclnn::MakeTensors("inputs", ACL_ERROR_OP_INPUT_NOT_MATCH, row->num_inputs,
                                           numInputs, inputDesc, inputs, &arguments);
    if (status.ok()) {
      status = openaclnn::MakeTensors("outputs", ACL_ERROR_OP_OUTPUT_NOT_MATCH, row->num_outputs,
                                      numOutputs, outputDesc, outputs, &arguments);
    }
    if (status.ok()) status = openaclnn::CheckMemory(*row, arguments);
    return status.ok() ? openaclnn::ReadAttributes(attr, &arguments) : status;
  });
  return code != 0 || row == nullptr ? code : openaclnn::RunOrSay(*row, arguments, stream);
}

aclError aclopCompileAndExecuteV2(const char* opType, int numInputs, aclTensorDesc* inputDesc[],
                                  aclDataBuffer* inputs[], int numOutputs,
                                  aclTensorDesc* outputDesc[], aclDataBuffer* outputs[],
                                  aclopAttr* attr, aclopEngineType engineType,
                                  aclopCompileType compileFlag, const char* opPath,
                                  aclrtStream stream) {
  return aclopCompileAndExecute(opType, numInputs, inputDesc, inputs, numOutputs, outputDesc,
                                outputs, attr, engineType, compileFlag, opPath, stream);
}
