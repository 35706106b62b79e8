// SPDX-License-Identifier: Apache-2.0
// aclopCompileAndExecute: operators by their graph names, through libopapi's two phases.
#include <array>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "acl/acl_op_compiler.h"
#include "acl/acl_rt.h"
#include "aclnnop/aclnn_scaled_masked_softmax.h"
#include "aclnnop/aclnn_scaled_masked_softmax_backward.h"
#include "ascendcl/error.h"
#include "client/client.h"

namespace openaclnn {
namespace {

struct DestroyTensor {
  void operator()(aclTensor* tensor) const { aclDestroyTensor(tensor); }
};
using TensorPointer = std::unique_ptr<aclTensor, DestroyTensor>;

/// What an operator gets: its inputs, then its outputs, and the attributes.
struct Arguments {
  std::vector<TensorPointer> tensors;
  double scale = 1;
  bool fixed_triu_mask = false;
};

using Phase1 = aclnnStatus (*)(const Arguments&, uint64_t*, aclOpExecutor**);
using Phase2 = aclnnStatus (*)(void*, uint64_t, aclOpExecutor*, aclrtStream);

struct Row {
  std::string_view name;
  int num_inputs;
  int num_outputs;
  Phase1 plan;
  Phase2 run;
};

// One line an operator.
constexpr Row kOperators[] = {
    {"ScaledMaskedSoftmax", 2, 1,
     [](const Arguments& a, uint64_t* bytes, aclOpExecutor** executor) {
       return aclnnScaledMaskedSoftmaxGetWorkspaceSize(a.tensors[0].get(), a.tensors[1].get(),
                                                       a.scale, a.fixed_triu_mask,
                                                       a.tensors[2].get(), bytes, executor);
     },
     aclnnScaledMaskedSoftmax},
    {"ScaledMaskedSoftmaxGrad", 3, 1,
     [](const Arguments& a, uint64_t* bytes, aclOpExecutor** executor) {
       return aclnnScaledMaskedSoftmaxBackwardGetWorkspaceSize(
           a.tensors[0].get(), a.tensors[1].get(), a.tensors[2].get(), a.scale, a.fixed_triu_mask,
           a.tensors[3].get(), bytes, executor);
     },
     aclnnScaledMaskedSoftmaxBackward},
};

Status Null(const char* operand) {
  return Status(ACL_ERROR_INVALID_PARAM, Concat(operand, " value is null, expected an address"));
}

Status FindOperator(const char* name, const Row** row) {
  if (name == nullptr) return Null("opType");
  for (const Row& each : kOperators) {
    if (each.name == name) *row = &each;
  }
  if (*row != nullptr) return {};
  return Status(ACL_ERROR_OP_NOT_FOUND, Concat("opType value is '", name,
                                               "', expected ScaledMaskedSoftmax or "
                                               "ScaledMaskedSoftmaxGrad"));
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

Status ReadAttributes(const aclopAttr* attr, Arguments* arguments) {
  const OpenaclnnRuntime& runtime = Runtime();
  OpenaclnnAttribute value{};
  if (runtime.attribute(attr, "scale", &value) != 0) {
    if (value.type != OpenaclnnAttribute::OPENACLNN_FLOAT) {
      return Status(ACL_ERROR_OP_ATTR_NOT_MATCH, "scale type is another, expected a float");
    }
    arguments->scale = value.value;
  }
  if (runtime.attribute(attr, "fixed_triu_mask", &value) != 0) {
    if (value.type != OpenaclnnAttribute::OPENACLNN_BOOL) {
      return Status(ACL_ERROR_OP_ATTR_NOT_MATCH,
                    "fixed_triu_mask type is another, expected a bool");
    }
    arguments->fixed_triu_mask = value.value != 0;
  }
  return {};
}

/// Both phases; a failure has left its own message.
int Run(const Row& row, const Arguments& arguments, aclrtStream stream) {
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  int code = row.plan(arguments, &bytes, &executor);
  if (code != 0) return code;
  void* workspace = nullptr;
  if (bytes > 0) code = aclrtMalloc(&workspace, bytes, ACL_MEM_MALLOC_NORMAL_ONLY);
  if (code == 0) code = row.run(workspace, bytes, executor, stream);
  if (code != 0) aclDestroyAclOpExecutor(executor);
  // Takes effect when the queued work is done.
  if (workspace != nullptr) aclrtFree(workspace);
  return code;
}

}  // namespace
}  // namespace openaclnn

using openaclnn::Arguments;
using openaclnn::Row;
using openaclnn::Status;

aclError aclopCompileAndExecute(const char* opType, int numInputs,
                                const aclTensorDesc* const inputDesc[],
                                const aclDataBuffer* const inputs[], int numOutputs,
                                const aclTensorDesc* const outputDesc[],
                                aclDataBuffer* const outputs[], const aclopAttr* attr,
                                aclopEngineType, aclopCompileType, const char*,
                                aclrtStream stream) {
  const Row* row = nullptr;
  Arguments arguments;
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
  return openaclnn::Run(*row, arguments, stream);
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
