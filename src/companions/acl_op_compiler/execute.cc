// SPDX-License-Identifier: Apache-2.0
// aclopCompileAndExecute: operators by their graph names, through libopapi's two phases.
#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
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

/// Inputs or outputs: their parameter of aclopCompileAndExecute, and what it has.
struct Operands {
  const char* parameter;
  int code;
  std::span<const GraphOperand> expected;
  int count;
  const aclTensorDesc* const* descs;
  const aclDataBuffer* const* buffers;
};

/// A dense tensor of the description's shape in the buffer's memory.
Status MakeTensor(const Operands& of, const char* name, int index, GraphTensor* tensor) {
  const std::string operand = Concat(of.parameter, "[", index, "] (", name, ")");
  const aclTensorDesc* const desc = of.descs[index];
  const aclDataBuffer* const buffer = of.buffers[index];
  if (desc == nullptr || buffer == nullptr) return Null(operand.c_str());
  Dims dims(aclGetTensorDescNumDims(desc));
  for (size_t i = 0; i < dims.size(); ++i) {
    const aclError failed = aclGetTensorDescDimV2(desc, i, &dims[i]);
    if (failed != 0) return Status(failed, Concat(operand, " description is not a live one"));
  }
  const aclDataType dtype = aclGetTensorDescType(desc);
  if (dtype == ACL_DT_UNDEFINED) return {};
  int64_t count = 1;
  bool fits = true;
  for (const int64_t dim : dims) {
    fits = fits && dim >= 0 && !__builtin_mul_overflow(count, dim, &count);
  }
  const size_t width = aclDataTypeSize(dtype), bytes = aclGetDataBufferSizeV2(buffer);
  fits = fits && (width == 0 || static_cast<uint64_t>(count) <= bytes / width);
  if (!fits) {
    return Status(
        of.code, Concat(operand, " buffer is ", bytes, " bytes, expected at least those of ", count,
                        " elements of ", width, " bytes"));
  }
  void* const address = aclGetDataBufferAddr(buffer);
  *tensor = GraphTensor(dtype, dims, address);
  aclrtPtrAttributes attributes = {};
  const bool known = address != nullptr && aclrtPointerGetAttributes(address, &attributes) == 0;
  tensor->on_host = known && attributes.location.type != ACL_MEM_LOCATION_TYPE_DEVICE;
  // Values that the program has told with the description, or in memory of the host.
  tensor->values = aclGetTensorDescAddress(desc);
  if (tensor->values == nullptr && tensor->on_host) tensor->values = address;
  return {};
}

/// The names of operands, for a message.
std::string NamesOf(std::span<const GraphOperand> operands) {
  std::string names;
  for (const GraphOperand& each : operands) {
    names += Concat(names.empty() ? "" : ", ", each.name, each.many ? "..." : "",
                    each.optional ? " or not" : "");
  }
  return names;
}

/// Tells operands apart: those of one name that are many take what the others leave over.
Status MakeTensors(const Operands& of, std::vector<std::vector<GraphTensor>>* made) {
  const auto most = static_cast<int>(of.expected.size());
  int least = 0;
  bool many = false;
  for (const GraphOperand& each : of.expected) {
    many = many || each.many;
    if (!each.optional && !each.many) ++least;
  }
  if (of.count < least || (!many && of.count > most)) {
    const std::string wanted = many            ? Concat("at least ", least)
                               : least == most ? Concat(most)
                                               : Concat(least, " to ", most);
    return Status(of.code, Concat(of.parameter, " count is ", of.count, ", expected ", wanted, " (",
                                  NamesOf(of.expected), ")"));
  }
  if (of.count > 0 && (of.descs == nullptr || of.buffers == nullptr)) return Null(of.parameter);
  int index = 0;
  for (int place = 0; place < most; ++place) {
    const GraphOperand& each = of.expected[static_cast<size_t>(place)];
    int take = each.many ? of.count - (most - 1) : index < of.count ? 1 : 0;
    std::vector<GraphTensor>& tensors = made->emplace_back();
    for (; take > 0; --take, ++index) {
      Status status = MakeTensor(of, each.name, index, &tensors.emplace_back());
      if (!status.ok()) return status;
      const bool given = tensors.back().given();
      if (!given && !each.optional) {
        return Status(ACL_ERROR_INVALID_PARAM,
                      Concat(of.parameter, "[", index, "] (", each.name,
                             ") type is undefined, expected a type and a shape"));
      }
      // Otherwise a later step would find it after earlier ones had run.
      if (given && each.use == OperandUse::kDevice && tensors.back().on_host) {
        return Status(of.code, Concat(of.parameter, "[", index, "] (", each.name,
                                      ") memory is the host's, expected memory of the device"));
      }
    }
  }
  return {};
}

using AttributeType = decltype(OpenaclnnAttribute::type);

constexpr struct {
  AttributeType type;
  const char* suffix;  // of the name by which the value is read; "[": its elements are
  const char* noun;
} kAttributeTypes[] = {
    {OpenaclnnAttribute::OPENACLNN_BOOL, "", "a bool"},
    {OpenaclnnAttribute::OPENACLNN_INTEGER, "[]", "an integer"},
    {OpenaclnnAttribute::OPENACLNN_FLOAT, "", "a float"},
    {OpenaclnnAttribute::OPENACLNN_CHARACTER, "[", "a string"},
    {OpenaclnnAttribute::OPENACLNN_INTEGER, "[", "a list of integers"},
    {OpenaclnnAttribute::OPENACLNN_FLOAT, "[", "a list of floats"},
    {OpenaclnnAttribute::OPENACLNN_INTEGER, "[]", "a data type"},
};

/// The elements of a list or the characters of a string; null for one of another type.
std::optional<std::vector<double>> ReadElements(const aclopAttr* attr, const char* name,
                                                AttributeType type) {
  std::vector<double> made;
  OpenaclnnAttribute value{};
  while (Runtime().attribute(attr, Concat(name, "[", made.size(), "]").c_str(), &value) != 0) {
    if (value.type != type) return {};
    made.push_back(value.value);
  }
  return made;
}

Status ReadAttribute(const aclopAttr* attr, const GraphAttribute& row, GraphCall::Attribute* made) {
  const auto& [type, suffix, noun] = kAttributeTypes[row.kind];
  OpenaclnnAttribute value{};
  if (Runtime().attribute(attr, row.name, &value) == 0) {
    if (!row.required) return {};
    return Status(ACL_ERROR_OP_ATTR_NOT_MATCH, Concat(row.name, " is not set, expected ", noun));
  }
  // op-plugin gives some texts as literals, of which C++ makes a bool.
  if (row.kind == GraphAttribute::kText && value.type == OpenaclnnAttribute::OPENACLNN_BOOL) {
    return {};
  }
  std::optional<std::vector<double>> values;
  if (suffix[0] == '[' && suffix[1] == '\0') {
    values = ReadElements(attr, row.name, type);
  } else {
    Runtime().attribute(attr, Concat(row.name, suffix).c_str(), &value);
    if (value.type == type) values = {value.value};
  }
  if (!values) {
    return Status(ACL_ERROR_OP_ATTR_NOT_MATCH,
                  Concat(row.name, " type is another, expected ", noun));
  }
  switch (row.kind) {
    case GraphAttribute::kFlag:
      *made = (*values)[0] != 0;
      break;
    case GraphAttribute::kReal:
      *made = (*values)[0];
      break;
    case GraphAttribute::kInteger:
    case GraphAttribute::kType:
      *made = static_cast<int64_t>((*values)[0]);
      break;
    case GraphAttribute::kText:  // frameworks set an empty one for what they do not say
      if (!values->empty()) *made = std::string(values->begin(), values->end());
      break;
    case GraphAttribute::kIntegers:
      *made = Dims(values->begin(), values->end());
      break;
    case GraphAttribute::kReals:
      *made = *std::move(values);
      break;
  }
  return {};
}

Status ReadAttributes(const aclopAttr* attr, const GraphOperator& row, GraphCall* call) {
  for (const GraphAttribute& each : row.attributes) {
    Status status = ReadAttribute(attr, each, &call->attributes.emplace_back());
    if (!status.ok()) return status;
  }
  return {};
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

/// A step that phase 1 has planned.
struct Planned {
  const GraphStep* step = nullptr;
  uint64_t bytes = 0;
  std::unique_ptr<aclOpExecutor, Destroy<aclDestroyAclOpExecutor>> executor;  // null: nothing to do
  std::optional<Workspace> workspace;
};

/// Both phases of all steps; a failure has left its own message. Nothing runs if a plan or its
/// memory is refused.
int Run(const GraphOperator& row, GraphCall* call, aclrtStream stream) {
  std::deque<Workspace> scratches;
  for (GraphTensor& each : call->scratches) {
    const size_t bytes = static_cast<size_t>(each.count()) * aclDataTypeSize(each.dtype);
    const int failed = scratches.emplace_back(stream).Allocate(std::max<size_t>(bytes, 1));
    if (failed != 0) return failed;
    each.data = scratches.back().address();
  }
  std::deque<Planned> all;
  for (auto first = row.steps.begin(); first != row.steps.end();) {
    auto end = first + 1;
    while (first->turns != nullptr && end != row.steps.end() && end->turns == first->turns) ++end;
    const int64_t turns = first->turns == nullptr ? 1 : first->turns(*call);
    for (call->turn = 0; call->turn < turns; ++call->turn) {
      for (auto step = first; step != end; ++step) {
        Planned& planned = all.emplace_back();
        aclOpExecutor* executor = nullptr;
        const int refused = step->plan(*call, &planned.bytes, &executor);
        planned.executor.reset(executor);
        if (refused != 0) return refused;
        planned.step = &*step;
      }
    }
    first = end;
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
int RunOrSay(const GraphOperator& row, GraphCall* call, aclrtStream stream) {
  try {
    return Run(row, call, stream);
  } catch (...) {
    return Api("aclopCompileAndExecute", []() -> Status { throw; });
  }
}

}  // namespace
}  // namespace openaclnn

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
  std::optional<openaclnn::GraphCall> call;
  const int code = openaclnn::Api("aclopCompileAndExecute", [&] {
    Status status = openaclnn::FindOperator(opType, &row);
    if (row == nullptr) return status;
    call.emplace(row->inputs, stream);
    status = openaclnn::MakeTensors(
        {"inputs", ACL_ERROR_OP_INPUT_NOT_MATCH, row->inputs, numInputs, inputDesc, inputs},
        &call->inputs);
    if (status.ok()) {
      status = openaclnn::MakeTensors(
          {"outputs", ACL_ERROR_OP_OUTPUT_NOT_MATCH, row->outputs, numOutputs, outputDesc, outputs},
          &call->outputs);
    }
    if (status.ok()) status = openaclnn::ReadAttributes(attr, *row, &*call);
    if (status.ok()) row->prepare(*call);
    return status;
  });
  return code != 0 || row == nullptr ? code : openaclnn::RunOrSay(*row, &*call, stream);
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
