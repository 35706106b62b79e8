// SPDX-License-Identifier: Apache-2.0
// A call of aclopCompileAndExecute in the default stream.
#pragma once

#include <vector>

#include "acl/acl_op_compiler.h"
#include "tests/ascendcl/fixture.h"

namespace openaclnn {

/// Descriptions and buffers of a call.
struct SingleOp {
  explicit SingleOp(const char* name) : type(name) {}
  SingleOp(const SingleOp&) = delete;
  ~SingleOp() {
    for (auto* list : {&input_descs, &output_descs}) {
      for (const aclTensorDesc* desc : *list) aclDestroyTensorDesc(desc);
    }
    for (aclDataBuffer* buffer : inputs) aclDestroyDataBuffer(buffer);
    for (aclDataBuffer* buffer : outputs) aclDestroyDataBuffer(buffer);
    aclopDestroyAttr(attr);
  }

  void Add(bool input, aclDataType dtype, void* data, size_t bytes,
           const std::vector<int64_t>& dims = {1, 1, 2, 4}) {
    (input ? input_descs : output_descs)
        .push_back(
            aclCreateTensorDesc(dtype, static_cast<int>(dims.size()), dims.data(), ACL_FORMAT_ND));
    (input ? inputs : outputs).push_back(aclCreateDataBuffer(data, bytes));
  }

  int Run() const {
    return aclopCompileAndExecute(type, static_cast<int>(inputs.size()), input_descs.data(),
                                  inputs.data(), static_cast<int>(outputs.size()),
                                  output_descs.data(), outputs.data(), attr, ACL_ENGINE_SYS,
                                  ACL_COMPILE_SYS, nullptr, nullptr);
  }

  const char* type;
  std::vector<const aclTensorDesc*> input_descs, output_descs;
  std::vector<aclDataBuffer*> inputs, outputs;
  aclopAttr* attr = aclopCreateAttr();
};

}  // namespace openaclnn
