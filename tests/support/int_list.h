// SPDX-License-Identifier: Apache-2.0
// Lists of integers for tests: descriptions of good and bad ones.
#pragma once

#include <cstdint>

#include "aclnn/acl_meta.h"
#include "tests/support/layout.h"

namespace openaclnn::test {

/// The values of aclCreateIntArray, or a handle that is none.
struct IntListSpec {
  enum Given { kList, kNull, kDestroyed, kForeign };

  Dims values = {};
  Given given = kList;
};

class IntListHandle {
 public:
  explicit IntListHandle(const IntListSpec& spec) {
    if (spec.given == IntListSpec::kNull) return;
    if (spec.given == IntListSpec::kForeign) {
      handle_ = reinterpret_cast<aclIntArray*>(uintptr_t{0x1230});
      return;
    }
    handle_ = aclCreateIntArray(spec.values.data(), spec.values.size());
    owned_ = spec.given == IntListSpec::kList;
    if (!owned_) aclDestroyIntArray(handle_);
  }
  IntListHandle(const IntListHandle&) = delete;
  ~IntListHandle() {
    if (owned_) aclDestroyIntArray(handle_);
  }

  aclIntArray* get() const { return handle_; }

 private:
  aclIntArray* handle_ = nullptr;
  bool owned_ = false;
};

}  // namespace openaclnn::test
