// SPDX-License-Identifier: Apache-2.0
// aclopCompileAndExecute: operators by their graph names, through libopapi's two phases.
#include <string>
#include <utility>
#include <vector>

#include "acl/acl_op_compiler.h"
#include "acl/acl_rt.h"
#include "ascendcl/error.h"
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
  return Status(ACL_ERROR_OP_NOT_FOUND,
                Concat("opType value is '", name, "', expected one of ", names));
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

Status ReadAttributes(const aclopAttr* attr, Arguments* arguments) {
  Status status;
  OpenaclnnAttribute value{};
  for (const auto& [name, number] :
       {std::pair<const char*, double*>("scale", &arguments->scale), {"p", &arguments->p}}) {
    if (Read(attr, name, OpenaclnnAttribute::OPENACLNN_FLOAT, "a float", &value, &status)) {
      *number = value.value;
    }
  }
  if (Read(attr, "epsilon", OpenaclnnAttribute::OPENACLNN_FLOAT, "a float", &value, &status) &&
      value.value != 0) {
    status = Status(ACL_ERROR_OP_ATTR_NOT_MATCH,
                    Concat("epsilon value is ", value.value, ", expected 0"));
  }
  for (const auto& [name, flag] :
       {std::pair<const char*, bool*>("fixed_triu_mask", &arguments->fixed_triu_mask),
        {"keepdim", &arguments->keepdim}}) {
    if (Read(attr, name, OpenaclnnAttribute::OPENACLNN_BOOL, "a bool", &value, &status)) {
      *flag = value.value != 0;
    }
  }
  for (int i = 0; Read(attr, Concat("axes[", i, "]").c_str(), OpenaclnnAttribute::OPENACLNN_FLOAT,
                       "a list of integers", &value, &status);
       ++i) {
    arguments->axes.push_back(static_cast<int64_t>(value.value));
  }
  return status;
}

/// Both phases; a failure has left its own message.
int Run(const GraphStep& step, const Arguments& arguments, aclrtStream stream) {
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  int code = step.plan(arguments, &bytes, &executor);
  if (code != 0 || executor == nullptr) return code;  // or there is nothing to do
  void* workspace = nullptr;
  if (bytes > 0) code = aclrtMalloc(&workspace, bytes, ACL_MEM_MALLOC_NORMAL_ONLY);
  if (code == 0) code = step.run(workspace, bytes, executor, stream);
  if (code != 0) aclDestroyAclOpExecutor(executor);
  // Takes effect when the queued work is done.
  if (workspace != nullptr) aclrtFree(workspace);
  return code;
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
    return status.ok() ? openaclnn::ReadAttributes(attr, &arguments) : status;
  });
  if (code != 0 || row == nullptr) return code;
  for (const openaclnn::GraphStep& step : row->steps) {
    const int failed = step.plan == nullptr ? 0 : openaclnn::Run(step, arguments, stream);
    if (failed != 0) return failed;
  }
  return 0;
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
