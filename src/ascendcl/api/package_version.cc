// SPDX-License-Identifier: Apache-2.0
// The release of the toolkit that this library acts as, as programs ask for it.
#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "acl/acl.h"
#include "ascendcl/process/handles.h"
#include "ascendcl/report/error.h"

namespace openaclnn {
namespace {

constexpr std::string_view kRelease = OPENACLNN_CANN_RELEASE;

constexpr std::string_view kPackages[] = {"cann",    "runtime", "compiler",  "hccl",
                                          "toolkit", "opp",     "opp_kernel"};

Status Refused(const char* operand, const auto& value, const char* expected) {
  return Status(ACL_ERROR_INVALID_PARAM,
                Concat(operand, " value is ", value, ", expected ", expected));
}

/// Into zeros, so that it ends with one.
template <size_t kRoom>
void Write(std::string_view text, char (&room)[kRoom]) {
  static_assert(kRelease.size() < kRoom);
  std::copy(text.begin(), text.end(), room);
}

/// "8.2.RC1" is 8, 2, RC1 and nothing.
void WriteParts(aclCANNPackageVersion* version) {
  std::array<std::string_view, 4> parts;
  std::string_view rest = kRelease;
  for (std::string_view& part : parts) {
    part = rest.substr(0, rest.find('.'));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
  }
  Write(kRelease, version->version);
  Write(parts[0], version->majorVersion);
  Write(parts[1], version->minorVersion);
  Write(parts[2], version->releaseVersion);
  Write(parts[3], version->patchVersion);
}

}  // namespace
}  // namespace openaclnn

using openaclnn::Api;
using openaclnn::RequireOut;
using openaclnn::Status;

aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion* version) {
  return Api("aclsysGetCANNVersion", [&] {
    Status status = RequireOut("version", version);
    if (!status.ok()) return status;
    const int number = static_cast<int>(name);
    if (number < ACL_PKG_NAME_CANN || number > ACL_PKG_NAME_DRIVER) {
      return openaclnn::Refused("name", number, "a package of the enumeration");
    }
    if (number == ACL_PKG_NAME_DRIVER) {
      return Status(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                    "name value is ACL_PKG_NAME_DRIVER (7), expected another: there is no driver");
    }
    *version = {};
    openaclnn::WriteParts(version);
    return status;
  });
}

aclError aclsysGetVersionStr(char* pkgName, char* versionStr) {
  return Api("aclsysGetVersionStr", [&] {
    Status status = RequireOut("pkgName", pkgName);
    if (status.ok()) status = RequireOut("versionStr", versionStr);
    if (!status.ok()) return status;
    if (std::ranges::count(openaclnn::kPackages, std::string_view(pkgName)) == 0) {
      return openaclnn::Refused("pkgName", pkgName, "cann, runtime or another package's name");
    }
    std::memset(versionStr, 0, ACL_PKG_VERSION_MAX_SIZE);
    std::copy(openaclnn::kRelease.begin(), openaclnn::kRelease.end(), versionStr);
    return status;
  });
}
