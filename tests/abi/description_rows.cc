// SPDX-License-Identifier: Apache-2.0
// The tables of handle_rows.h for the single-operator interface and physical memory.
#include "abi/handle_rows.h"
#include "acl/acl.h"

namespace openaclnn {
namespace {

/// What a function that returns no code has recorded.
template <class Result>
int Recorded(const Result&) {
  return aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL);
}

using Call = std::function<int(void*)>;

class Rows {
 public:
  Rows(std::vector<HandleRow>* rows, HandleKind kind, const char* says)
      : rows_(rows), kind_(kind), says_(says) {}

  void operator()(const char* api, Call call) const {
    rows_->push_back({api, kind_, std::move(call), ACL_ERROR_RT_INVALID_HANDLE,
                      ACL_ERROR_RT_INVALID_HANDLE, ACL_ERROR_INVALID_PARAM, says_});
  }

 private:
  std::vector<HandleRow>* rows_;
  HandleKind kind_;
  const char* says_;
};

void AddDescriptions(const Rows& row) {
  using T = aclTensorDesc*;
  static int64_t dim = 0;
  row("aclDestroyTensorDesc",
      [](void* h) { return aclDestroyTensorDesc(static_cast<T>(h)), Recorded(0); });
  row("aclGetTensorDescType",
      [](void* h) { return Recorded(aclGetTensorDescType(static_cast<T>(h))); });
  row("aclGetTensorDescFormat",
      [](void* h) { return Recorded(aclGetTensorDescFormat(static_cast<T>(h))); });
  row("aclGetTensorDescNumDims",
      [](void* h) { return Recorded(aclGetTensorDescNumDims(static_cast<T>(h))); });
  row("aclGetTensorDescAddress",
      [](void* h) { return Recorded(aclGetTensorDescAddress(static_cast<T>(h)) != nullptr); });
  row("aclSetTensorConst",
      [](void* h) { return aclSetTensorConst(static_cast<T>(h), &dim, sizeof(dim)); });
  row("aclGetTensorDescDimV2",
      [](void* h) { return aclGetTensorDescDimV2(static_cast<T>(h), 0, &dim); });
  row("aclSetTensorDescName",
      [](void* h) { return aclSetTensorDescName(static_cast<T>(h), ""), Recorded(0); });
  row("aclSetTensorFormat",
      [](void* h) { return aclSetTensorFormat(static_cast<T>(h), ACL_FORMAT_ND); });
  row("aclSetTensorShape", [](void* h) { return aclSetTensorShape(static_cast<T>(h), 1, &dim); });
  row("aclSetTensorPlaceMent",
      [](void* h) { return aclSetTensorPlaceMent(static_cast<T>(h), ACL_MEMTYPE_HOST); });
}

void AddBuffers(const Rows& row) {
  using T = aclDataBuffer*;
  row("aclDestroyDataBuffer", [](void* h) { return aclDestroyDataBuffer(static_cast<T>(h)); });
  row("aclGetDataBufferAddr",
      [](void* h) { return Recorded(aclGetDataBufferAddr(static_cast<T>(h))); });
  row("aclGetDataBufferSizeV2",
      [](void* h) { return Recorded(aclGetDataBufferSizeV2(static_cast<T>(h))); });
}

void AddAttributes(const Rows& row) {
  using T = aclopAttr*;
  static const int64_t number = 1;
  static const int64_t* const numbers = &number;
  static const int count = 1;
  static const float real = 1;
  static const uint8_t flag = 1;
  row("aclopDestroyAttr", [](void* h) { return aclopDestroyAttr(static_cast<T>(h)), Recorded(0); });
  row("aclopSetAttrBool", [](void* h) { return aclopSetAttrBool(static_cast<T>(h), "a", 1); });
  row("aclopSetAttrInt", [](void* h) { return aclopSetAttrInt(static_cast<T>(h), "a", 1); });
  row("aclopSetAttrFloat", [](void* h) { return aclopSetAttrFloat(static_cast<T>(h), "a", 1); });
  row("aclopSetAttrString",
      [](void* h) { return aclopSetAttrString(static_cast<T>(h), "a", "b"); });
  row("aclopSetAttrDataType",
      [](void* h) { return aclopSetAttrDataType(static_cast<T>(h), "a", ACL_FLOAT); });
  row("aclopSetAttrListBool",
      [](void* h) { return aclopSetAttrListBool(static_cast<T>(h), "a", 1, &flag); });
  row("aclopSetAttrListInt",
      [](void* h) { return aclopSetAttrListInt(static_cast<T>(h), "a", 1, &number); });
  row("aclopSetAttrListFloat",
      [](void* h) { return aclopSetAttrListFloat(static_cast<T>(h), "a", 1, &real); });
  row("aclopSetAttrListListInt",
      [](void* h) { return aclopSetAttrListListInt(static_cast<T>(h), "a", 1, &count, &numbers); });
}

}  // namespace

std::vector<HandleRow> DescriptionRows(const Live&) {
  std::vector<HandleRow> rows;
  AddDescriptions(Rows(&rows, HandleKind::kTensorDesc, "desc value is"));
  AddBuffers(Rows(&rows, HandleKind::kDataBuffer, "dataBuffer value is"));
  AddAttributes(Rows(&rows, HandleKind::kAttributes, "attr value is"));
  const Rows memory(&rows, HandleKind::kPhysicalMemory, "handle value is");
  memory("aclrtFreePhysical", aclrtFreePhysical);
  memory("aclrtMapMem", [](void* h) { return aclrtMapMem(&h, 1, 0, h, 0); });
  return rows;
}

}  // namespace openaclnn
