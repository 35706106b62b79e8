// SPDX-License-Identifier: Apache-2.0
// Lists of tensors that may be null: such a list counts as an empty one.
#pragma once

#include "supporting/family.h"

namespace openaclnn::supporting {

/// A list without tensors, which was not given.
inline GivenList NoList(Params* params, const char* name) {
  params->lists.push_back({name, OPENACLNN_LIVE, 0});
  return params->lists.back();
}

inline GivenList OptionalInList(Params* params, const char* name, const aclTensorList* handle,
                                OpenaclnnUse use = OPENACLNN_ALL) {
  return handle == nullptr ? NoList(params, name) : params->InList(name, handle, use);
}

inline GivenList OptionalOutList(Params* params, const char* name, const aclTensorList* handle,
                                 OpenaclnnUse use = OPENACLNN_ALL) {
  return handle == nullptr ? NoList(params, name) : params->OutList(name, handle, use);
}

}  // namespace openaclnn::supporting
