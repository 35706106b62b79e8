// SPDX-License-Identifier: Apache-2.0
// Lists of tensors and of scalars, which own their members.
#pragma once

#include <vector>

#include "nnopbase/array.h"
#include "nnopbase/handles.h"
#include "nnopbase/tensor.h"

namespace openaclnn {

template <class Member, Kind kListKind>
struct List {
  static constexpr Kind kKind = kListKind;
  static constexpr const char* kNoun =
      kListKind == Kind::kTensorList ? "list of tensors" : "list of scalars";
  std::vector<const void*> members;

  /// From when on the members are the list's: it has its handle.
  void Own() { owning_ = true; }

  ~List() {
    if (!owning_) return;
    for (const void* member : members) MetaHandles().Remove(Member::kKind, member);
  }

 private:
  bool owning_ = false;
};

using TensorList = List<Tensor, Kind::kTensorList>;
using ScalarList = List<Scalar, Kind::kScalarList>;

}  // namespace openaclnn
