// SPDX-License-Identifier: Apache-2.0
// Work on streams that is not supported: refused, and told again by the stream.
#pragma once

namespace openaclnn {

/// Makes the next synchronise of the stream fail, or the end of its capture. Clients pass over the
/// code of Unsupported (torch-npu makes one warning of all of them) and would go on with what was
/// never computed.
void FailUnsupported(const char* api, void* stream) noexcept;

}  // namespace openaclnn

/// As UNSUPPORTED, for work on a stream; `stream` is one of the parameters that follow the name.
#define UNSUPPORTED_ON_STREAM(name, ...)                 \
  extern "C" ACL_FUNC_VISIBILITY int name(__VA_ARGS__) { \
    openaclnn::FailUnsupported(#name, stream);           \
    return openaclnn::Unsupported(#name);                \
  }
