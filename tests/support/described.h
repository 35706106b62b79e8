// SPDX-License-Identifier: Apache-2.0
// Tensors of any number of elements, for phase 1 alone.
#pragma once

#include <vector>

#include "aclnn/acl_meta.h"
#include "tests/support/layout.h"

namespace openaclnn::test {

/// A tensor at an address of which phase 1 wants nothing.
class Described {
 public:
  explicit Described(const Dims& dims, aclDataType dtype = ACL_FLOAT)
      : Described(dims, nullptr, dims, dtype) {}
  /// In a storage of so many elements.
  Described(const Dims& dims, const Dims& strides, int64_t storage, aclDataType dtype = ACL_FLOAT)
      : Described(dims, strides.data(), {storage}, dtype) {}
  Described(const Described&) = delete;
  ~Described() { aclDestroyTensor(tensor_); }
  operator aclTensor*() const { return tensor_; }

 private:
  Described(const Dims& dims, const int64_t* strides, const Dims& storage, aclDataType dtype)
      : tensor_(aclCreateTensor(dims.data(), dims.size(), dtype, strides, 0, ACL_FORMAT_ND,
                                storage.data(), storage.size(), &here_)) {}

  double here_ = 0;
  aclTensor* const tensor_;
};

/// One element, seen in all places of a shape.
class Expanded : public Described {
 public:
  explicit Expanded(const Dims& dims, aclDataType dtype = ACL_FLOAT)
      : Described(dims, Dims(dims.size(), 0), 1, dtype) {}
};

/// A list of dense ones.
class DescribedList {
 public:
  explicit DescribedList(const std::vector<Dims>& members, aclDataType dtype = ACL_FLOAT) {
    std::vector<aclTensor*> tensors;
    for (const Dims& dims : members) {
      tensors.push_back(aclCreateTensor(dims.data(), dims.size(), dtype, nullptr, 0, ACL_FORMAT_ND,
                                        dims.data(), dims.size(), &here_));
    }
    list_ = aclCreateTensorList(tensors.data(), tensors.size());
  }
  DescribedList(const DescribedList&) = delete;
  ~DescribedList() { aclDestroyTensorList(list_); }
  operator aclTensorList*() const { return list_; }

 private:
  double here_ = 0;
  aclTensorList* list_ = nullptr;
};

}  // namespace openaclnn::test
