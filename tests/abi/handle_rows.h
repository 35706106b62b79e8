// SPDX-License-Identifier: Apache-2.0
// Every exported function by the handles that it takes, and by the memory of the program.
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
  kGraph,
  kCount,
  kMemory = kCount  // no handle, but memory of the program: only null can be told
};

constexpr int kAnyResult = -1;

/// A function with one of its handle arguments left open.
struct HandleRow {
  const char* api;
  HandleKind kind;
  std::function<int(void*)> call;
  int code;                   // for a handle that is none, or of another kind
  int destroyed;              // for one that is destroyed
  int null;                   // for null; kAnyResult where null has a meaning
  std::string says;           // the operand's name
  std::string argument = {};  // its name, where `says` does not begin with it
};

/// Which argument of the function the row leaves open.
inline std::string ArgumentOf(const HandleRow& row) {
  return row.argument.empty() ? row.says.substr(0, row.says.find(' ')) : row.argument;
}

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
/// Those of kMemory.
std::vector<HandleRow> MemoryRows(const Live& live);

}  // namespace openaclnn
