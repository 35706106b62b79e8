// SPDX-License-Identifier: Apache-2.0
// Tensor: what aclTensor stands for.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

#include "common/handle_table.h"
#include "nnopbase/interface.h"

namespace openaclnn {

/// A copy of dimensions; up to eight, which every operator's limit is, without an allocation.
class Dims {
 public:
  Dims() = default;
  Dims(const int64_t* values, uint32_t count) : count_(count) {
    if (count > inline_.size()) heap_ = std::make_unique<int64_t[]>(count);
    std::copy_n(values, count, data());
  }
  Dims(Dims&&) = default;
  Dims& operator=(Dims&&) = default;

  uint32_t count() const { return count_; }
  int64_t* data() { return heap_ != nullptr ? heap_.get() : inline_.data(); }
  const int64_t* data() const { return heap_ != nullptr ? heap_.get() : inline_.data(); }

 private:
  uint32_t count_ = 0;
  std::array<int64_t, 8> inline_{};
  std::unique_ptr<int64_t[]> heap_;
};

struct Tensor {
  static constexpr Kind kKind = Kind::kTensor;
  static constexpr const char* kNoun = "tensor";

  Tensor() = default;
  /// Copies what the view points to.
  explicit Tensor(const OpenaclnnTensor& view)
      : dtype(view.dtype),
        format(view.format),
        dims(view.dims, view.rank),
        strides(view.strides, view.rank),
        storage_dims(view.storage_dims, view.storage_rank),
        offset(view.offset),
        data(view.data) {}

  OpenaclnnTensor view() const {
    return {dtype,       format,         dims.count(),        storage_dims.count(),
            dims.data(), strides.data(), storage_dims.data(), offset,
            data};
  }

  int32_t dtype = 0;
  int32_t format = 0;
  Dims dims;
  Dims strides;
  Dims storage_dims;
  int64_t offset = 0;
  void* data = nullptr;
};

}  // namespace openaclnn
