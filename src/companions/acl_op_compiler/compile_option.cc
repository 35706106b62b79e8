// SPDX-License-Identifier: Apache-2.0
// Options of the compiler: kept for the process and given back; no kernel here is compiled by them.
#include <array>
#include <cstring>
#include <mutex>
#include <string>

#include "acl/acl_op_compiler.h"
#include "ascendcl/report/error.h"
#include "common/hold_during_fork.h"
#include "common/lasting.h"

namespace openaclnn {
namespace {

struct Options {
  Options() { values[ACL_OP_JIT_COMPILE] = "disable"; }

  std::mutex mutex;  // guards what follows
  std::array<std::string, ACL_OP_DEBUG_OPTION + 1> values;
};

Options& All() { return Lasting<Options>(); }

std::mutex& Mutex() { return All().mutex; }
[[maybe_unused]] const int kAtFork = HoldDuringFork<Mutex>();

Status CheckOption(aclCompileOpt opt) {
  if (opt >= ACL_PRECISION_MODE && opt <= ACL_OP_DEBUG_OPTION) return {};
  return Status(ACL_ERROR_INVALID_PARAM, Concat("opt value is ", static_cast<int>(opt),
                                                ", expected a value of aclCompileOpt"));
}

Status CheckValue(const char* value) {
  if (value != nullptr) return {};
  return Status(ACL_ERROR_INVALID_PARAM, "value value is null, expected an address");
}

}  // namespace
}  // namespace openaclnn

using openaclnn::All;
using openaclnn::Api;
using openaclnn::Status;

aclError aclSetCompileopt(aclCompileOpt opt, const char* value) {
  return Api("aclSetCompileopt", [&] {
    Status status = openaclnn::CheckOption(opt);
    if (status.ok()) status = openaclnn::CheckValue(value);
    if (!status.ok()) return status;
    std::lock_guard lock(All().mutex);
    All().values[opt] = value;
    return status;
  });
}

size_t aclGetCompileoptSize(aclCompileOpt opt) {
  size_t size = 0;
  Api("aclGetCompileoptSize", [&] {
    Status status = openaclnn::CheckOption(opt);
    if (!status.ok()) return status;
    std::lock_guard lock(All().mutex);
    size = All().values[opt].size() + 1;
    return status;
  });
  return size;
}

aclError aclGetCompileopt(aclCompileOpt opt, char* value, size_t length) {
  return Api("aclGetCompileopt", [&] {
    Status status = openaclnn::CheckOption(opt);
    if (status.ok()) status = openaclnn::CheckValue(value);
    if (!status.ok()) return status;
    std::lock_guard lock(All().mutex);
    const std::string& option = All().values[opt];
    if (length <= option.size()) {
      return Status(
          ACL_ERROR_INVALID_PARAM,
          openaclnn::Concat("length value is ", length, ", expected at least ", option.size() + 1));
    }
    std::memcpy(value, option.c_str(), option.size() + 1);
    return status;
  });
}
