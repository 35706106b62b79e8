// SPDX-License-Identifier: Apache-2.0
// Every exported function by the handles that it takes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "aclnn/acl_meta.h"

namespace openaclnn {

enum class HandleKind {
  kContext,
  kStream,
  kEvent,
  kTensor,
  kScalar,
  kIntArray,
  kFloatArray,
  kBoolArray,
  kTensorList,
  kScalarList,
  kExecutor,
  kTensorDesc,
  kDataBuffer,
  kAttributes,
  kPhysicalMemory,
  kCount
};

constexpr int kAnyResult = -1;

/// A function with one of its handle arguments left open.
struct HandleRow {
  const char* api;
  HandleKind kind;
  std::function<int(void*)> call;
  int code;          // for a handle that is none, or of another kind
  int destroyed;     // for one that is destroyed
  int null;          // for null; kAnyResult where null has a meaning
  std::string says;  // the operand's name
};

/// Live objects for the arguments that are not left open.
struct Live {
  void* handles[static_cast<int>(HandleKind::kCount)] = {};
  void* workspace = nullptr;  // for the executor
  uint64_t workspace_size = 0;
  void* operator[](HandleKind kind) const { return handles[static_cast<int>(kind)]; }
};

std::vector<HandleRow> RuntimeRows(const Live& live);
std::vector<HandleRow> MetaRows(const Live& live);
std::vector<HandleRow> ExecutorRows(const Live& live);
std::vector<HandleRow> OperatorRows(const Live& live);
std::vector<HandleRow> DescriptionRows(const Live& live);
std::vector<HandleRow> SupportingRows(const Live& live);

/// The functions that take no handle.
std::vector<std::string> WithoutHandles();

}  // namespace openaclnn
