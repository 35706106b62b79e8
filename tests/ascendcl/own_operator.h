// SPDX-License-Identifier: Apache-2.0
// A client's own operator: its operands, and a body for its task.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ascendcl/message.h"
#include "nnopbase/interface.h"
#include "tests/ascendcl/fixture.h"

namespace openaclnn {

/// Lives until its tasks are done.
class OwnOperator {
 public:
  static constexpr const char* kApi = "aclnnOwn";

  /// Returns the task's code.
  using Body = std::function<int(void* const* data, void* workspace)>;

  explicit OwnOperator(Body body, uint64_t workspace_size = 0)
      : body_(std::move(body)), workspace_size_(workspace_size) {}
  OwnOperator(const OwnOperator&) = delete;

  /// The operand's view; its strides count elements.
  struct View {
    aclDataType dtype;
    std::vector<int64_t> dims, strides;
    int64_t offset = 0;
  };
  void Add(const char* name, OpenaclnnRole role, const View& view, void* data,
           OpenaclnnUse use = OPENACLNN_ALL, uint64_t may_alias = 0) {
    const View& kept = views_.emplace_back(view);
    OpenaclnnOperand operand = {};
    operand.name = name;
    operand.role = role;
    operand.present = 1;
    operand.tensor = {.dtype = kept.dtype,
                      .format = ACL_FORMAT_ND,
                      .rank = static_cast<uint32_t>(kept.dims.size()),
                      .storage_rank = 0,
                      .dims = kept.dims.data(),
                      .strides = kept.strides.data(),
                      .storage_dims = nullptr,
                      .offset = kept.offset,
                      .data = data};
    operand.may_alias = may_alias;
    operand.use = use;
    operands_.push_back(operand);
  }

  /// The message of tasks that fail, from now on.
  void Say(std::string words) { words_ = std::move(words); }

  /// What phase 2 returns.
  int Launch(aclrtStream stream, void* workspace = nullptr) {
    const OpenaclnnMeta* meta = openaclnn_meta(OPENACLNN_META_INTERFACE);
    const OpenaclnnCall call = {
        .api = kApi,
        .plan = this,
        .destroy = [](void*) {},
        .run =
            [](const void* plan, void* const* data, void* given, OpenaclnnMessage* said) {
              const auto* const own = static_cast<const OwnOperator*>(plan);
              Write(said, own->words_);
              return own->body_(data, given);
            },
        .workspace_size = workspace_size_,
        .operand_count = static_cast<uint32_t>(operands_.size()),
        .operands = operands_.data(),
    };
    aclOpExecutor* executor = nullptr;
    OpenaclnnMessage message;
    const int code = meta->create_executor(&call, &executor, &message);
    return code != 0 ? code
                     : meta->execute(kApi, workspace, workspace_size_, executor, stream, &message);
  }

 private:
  const Body body_;
  const uint64_t workspace_size_;
  std::string words_;
  std::deque<View> views_;
  std::vector<OpenaclnnOperand> operands_;
};

}  // namespace openaclnn
