// SPDX-License-Identifier: Apache-2.0
// The tables of handle_rows.h for the supporting operators, from their own table.
#include <cmath>

#include "abi/handle_rows.h"
#include "abi/phase1_rows.h"

namespace openaclnn {
namespace {

/// The names of a call's handles, in order.
struct HandleNames {
  std::vector<std::string> names;

  HandleNames& Add(const char* name) {
    names.emplace_back(name);
    return *this;
  }
  HandleNames& AddOptional(const char* name) {
    names.push_back(std::string(name) + kMayBeNull);
    return *this;
  }
  HandleNames& In(const char* name, const void*) { return Add(name); }
  HandleNames& Out(const char* name, const void*) { return Add(name); }
  HandleNames& InList(const char* name, const void*) { return Add(name); }
  HandleNames& OutList(const char* name, const void*) { return Add(name); }
  HandleNames& ScalarList(const char* name, const void*) { return Add(name); }
  HandleNames& Scalar(const char* name, const void*) { return Add(name); }
  HandleNames& List(const char* name, const void*) { return Add(name); }
  HandleNames& Flags(const char* name, const void*) { return Add(name); }
  HandleNames& OptionalScalar(const char* name, const void*) { return AddOptional(name); }
  HandleNames& OptionalIn(const char* name, const void*) { return AddOptional(name); }
  HandleNames& OptionalOut(const char* name, const void*) { return AddOptional(name); }
  HandleNames& OptionalList(const char* name, const void*) { return AddOptional(name); }
  HandleNames& Constant(double) { return *this; }
  HandleNames& Whole(int64_t) { return *this; }
  HandleNames& Integer(int64_t) { return *this; }
  HandleNames& Real(double) { return *this; }
};

template <class... Args>
std::vector<std::string> NamesOf(void (*collect)(HandleNames*, Args...)) {
  HandleNames names;
  collect(&names, Args{}...);
  return names.names;
}

// As the entry points have them.
bool IsTanh(const char*) { return false; }
int64_t AttentionLayout(const char*) { return 0; }

}  // namespace
}  // namespace openaclnn

using openaclnn::AttentionLayout;
using openaclnn::IsTanh;

#define PARAMETERS(...) __VA_ARGS__
#define ENTRY(name, parameters, arguments, ...)                                          \
  extern "C" aclnnStatus aclnn##name##GetWorkspaceSize(PARAMETERS parameters, uint64_t*, \
                                                       aclOpExecutor**);                 \
  static void Collect##name(openaclnn::HandleNames* handles, PARAMETERS parameters) {    \
    (*handles) arguments;                                                                \
  }
#include "src/opapi/supporting/signatures.inc"
// After what its lines are made of.
#include "src/opapi/supporting/operator_table.inc"
#undef ENTRY

namespace openaclnn {

std::vector<HandleRow> SupportingRows(const Live& live) {
  std::vector<HandleRow> rows;
#define ENTRY(name, parameters, arguments, ...)                                    \
  AddPhase1(live, "aclnn" #name "GetWorkspaceSize", aclnn##name##GetWorkspaceSize, \
            NamesOf(Collect##name), &rows);
#include "src/opapi/supporting/operator_table.inc"
  return rows;
}

}  // namespace openaclnn
