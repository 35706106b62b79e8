// SPDX-License-Identifier: Apache-2.0
// A small EmbeddingDenseBackward call: work for a stream that fails when its index is out of range.
#pragma once

#include "aclnnop/aclnn_embedding_dense_backward.h"
#include "tests/ascendcl/fixture.h"

namespace openaclnn {

/// The gradient of rows (1, 2, 3, 4), all at `index` of a table of two rows, which held 7 before.
class Gradient {
 public:
  static constexpr int64_t kOutOfRange = 9;

  explicit Gradient(int64_t index, int64_t rows = 1)
      : rows_(rows), grad_(Repeat({1, 2, 3, 4}, rows)), indices_(Repeat<int64_t>({index}, rows)) {}

  /// Both phases; what phase 2 returns.
  int Launch(aclrtStream stream) {
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    const int status = Plan(&bytes, &executor);
    if (status != 0) return status;
    workspace_.emplace_back(std::make_unique<DeviceArray<uint8_t>>(bytes + 1));
    return aclnnEmbeddingDenseBackward(workspace_.back()->data(), bytes, executor, stream);
  }

  /// Phase 1 with tensors that are gone when it returns.
  int Plan(uint64_t* bytes, aclOpExecutor** executor) {
    aclTensor* grad = Tensor({rows_, 4}, ACL_FLOAT, grad_.data());
    aclTensor* indices = Tensor({rows_}, ACL_INT64, indices_.data());
    aclTensor* out = Tensor({2, 4}, ACL_FLOAT, out_.data());
    const int status = aclnnEmbeddingDenseBackwardGetWorkspaceSize(grad, indices, 2, UINT64_MAX,
                                                                   false, out, bytes, executor);
    for (const aclTensor* tensor : {grad, indices, out}) EXPECT_EQ(aclDestroyTensor(tensor), 0);
    return status;
  }

  static aclTensor* Tensor(const std::vector<int64_t>& dims, aclDataType dtype, void* data) {
    aclTensor* tensor = aclCreateTensor(dims.data(), dims.size(), dtype, nullptr, 0, ACL_FORMAT_ND,
                                        dims.data(), dims.size(), data);
    EXPECT_NE(tensor, nullptr) << TakeMessage();
    return tensor;
  }

  DeviceArray<float>& grad() { return grad_; }
  DeviceArray<int64_t>& indices() { return indices_; }
  DeviceArray<float>& out() { return out_; }

 private:
  template <class T = float>
  static std::vector<T> Repeat(const std::vector<T>& values, int64_t times) {
    std::vector<T> all;
    for (int64_t i = 0; i < times; ++i) all.insert(all.end(), values.begin(), values.end());
    return all;
  }

  int64_t rows_;
  DeviceArray<float> grad_;
  DeviceArray<int64_t> indices_;
  DeviceArray<float> out_{8, 7.0F};
  std::vector<std::unique_ptr<DeviceArray<uint8_t>>> workspace_;
};

}  // namespace openaclnn
