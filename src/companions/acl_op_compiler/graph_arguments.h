// SPDX-License-Identifier: Apache-2.0
// Arguments of an operator that is called by its graph name.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "aclnn/acl_meta.h"

namespace openaclnn {

template <auto kDestroy>
struct Destroy {
  template <class Handle>
  void operator()(Handle* handle) const {
    kDestroy(handle);
  }
};
using TensorPointer = std::unique_ptr<aclTensor, Destroy<aclDestroyTensor>>;

/// The arguments that an operator gets: its inputs, then its outputs, and the attributes.
struct GraphArguments {
  std::vector<TensorPointer> tensors;
  std::vector<const void*> values;  // of each, where the host knows them; else null
  // Attributes.
  double scale = 1, p = 2, dampening = 0, weight_decay = 0;
  bool fixed_triu_mask = false, keepdim = false, noop_with_empty_axes = false, nesterov = false;
  int64_t groups = 1, batch_dims = 0;
  std::vector<int64_t> axes, strides, pads, dilations;
  std::string data_format;  // empty where it is not set

  aclTensor* operator[](size_t i) const { return tensors[i].get(); }
};

}  // namespace openaclnn
