// SPDX-License-Identifier: Apache-2.0
// Settings, facts of a device, descriptions, attributes, and functions that only refuse.
#include <dlfcn.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <thread>
#include <utility>

#include "abi/exports.h"
#include "tests/ascendcl/fixture.h"

namespace openaclnn {
namespace {

using SettingTest = RuntimeTest;

TEST_F(SettingTest, ParametersAreOfTheProcessOrOfAContext) {
  int64_t value = -1;
  const auto context_value = [&] { return aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value); };
  EXPECT_EQ(context_value(), ACL_ERROR_RT_SYSPARAMOPT_NOT_SET);
  EXPECT_EQ(aclrtGetSysParamOpt(ACL_OPT_STRONG_CONSISTENCY, &value), 0);
  EXPECT_EQ(value, 0);
  EXPECT_EQ(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1), 0);
  EXPECT_EQ(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), 0);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(context_value(), ACL_ERROR_RT_SYSPARAMOPT_NOT_SET) << "the context has its own";
  EXPECT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 0), 0);
  EXPECT_EQ(context_value(), 0);
  EXPECT_EQ(value, 0);
  const int invalid = ACL_ERROR_RT_PARAM_INVALID;
  ExpectRefused({"aclrtSetSysParamOpt",
                 [] { return aclrtSetSysParamOpt(static_cast<aclSysParamOpt>(9), 0); }, invalid,
                 "opt value is 9"});
  ExpectRefused({"aclrtGetSysParamOpt",
                 [&] { return aclrtGetSysParamOpt(static_cast<aclSysParamOpt>(-1), &value); },
                 invalid, "opt value is -1"});
  std::thread([&] {
    for (const auto& [api, call] :
         {std::pair<const char*, std::function<int()>>{
              "aclrtCtxSetSysParamOpt",
              [] { return aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1); }},
          {"aclrtCtxGetSysParamOpt", context_value}}) {
      ExpectRefused({api, call, ACL_ERROR_RT_CONTEXT_NULL, ""});
    }
  }).join();
  ExpectRefused({"aclrtCtxSetSysParamOpt",
                 [] { return aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 2); }, invalid,
                 "value value is 2"});
}

TEST_F(SettingTest, TheOverflowModeIsKept) {
  aclrtFloatOverflowMode mode{};
  EXPECT_EQ(aclrtGetDeviceSatMode(&mode), 0);
  EXPECT_EQ(mode, ACL_RT_OVERFLOW_MODE_INFNAN);
  EXPECT_EQ(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_SATURATION), 0);
  EXPECT_EQ(aclrtGetDeviceSatMode(&mode), 0);
  EXPECT_EQ(mode, ACL_RT_OVERFLOW_MODE_SATURATION);
  EXPECT_EQ(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_INFNAN), 0);
  ExpectRefused({"aclrtSetDeviceSatMode",
                 [] { return aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_UNDEF); },
                 ACL_ERROR_RT_PARAM_INVALID, "mode value is 2"});
  EXPECT_EQ(aclrtSetOpExecuteTimeOut(5), 0);
  EXPECT_EQ(aclrtSetOpWaitTimeout(0), 0);
}

TEST_F(SettingTest, DevicesHaveTheCoresOfTheirProduct) {
  int64_t cores = 0;
  EXPECT_EQ(aclGetDeviceCapability(0, ACL_DEVICE_INFO_AI_CORE_NUM, &cores), 0);
  EXPECT_EQ(cores, 24) << "an Ascend910B1";
  int64_t value = -1;
  EXPECT_EQ(aclGetDeviceCapability(0, ACL_DEVICE_INFO_VECTOR_CORE_NUM, &value), 0);
  EXPECT_EQ(value, cores);
  EXPECT_EQ(aclGetDeviceCapability(0, ACL_DEVICE_INFO_L2_SIZE, &value), 0);
  EXPECT_EQ(value, 0) << "there is none";
  ExpectRefused({"aclGetDeviceCapability",
                 [&] { return aclGetDeviceCapability(0, static_cast<aclDeviceInfo>(9), &value); },
                 ACL_ERROR_INVALID_PARAM, "deviceInfo value is 9"});
  ExpectRefused(
      {"aclGetDeviceCapability",
       [&] { return aclGetDeviceCapability(UINT32_MAX, ACL_DEVICE_INFO_L2_SIZE, &cores); },
       ACL_ERROR_RT_INVALID_DEVICEID, "deviceId value is"});
  ExpectRefused({"aclGetDeviceCapability",
                 [&] { return aclGetDeviceCapability(0, ACL_DEVICE_INFO_UNDEFINED, &cores); },
                 ACL_ERROR_INVALID_PARAM, "deviceInfo value is -1"});
  int32_t pid = 0;
  EXPECT_EQ(aclrtDeviceGetBareTgid(&pid), 0);
  EXPECT_EQ(pid, getpid());
}

TEST_F(SettingTest, DescriptionsSayWhatTheyWereMadeOf) {
  const int64_t dims[] = {3, 5};
  aclTensorDesc* desc = aclCreateTensorDesc(ACL_BF16, 2, dims, ACL_FORMAT_NCHW);
  ASSERT_NE(desc, nullptr);
  int64_t dim = 0;
  EXPECT_EQ(aclGetTensorDescType(desc), ACL_BF16);
  EXPECT_EQ(aclGetTensorDescFormat(desc), ACL_FORMAT_NCHW);
  EXPECT_EQ(aclGetTensorDescNumDims(desc), 2u);
  EXPECT_EQ(aclGetTensorDescDimV2(desc, 1, &dim), 0);
  EXPECT_EQ(dim, 5);
  ExpectRefused({"aclGetTensorDescDimV2", [&] { return aclGetTensorDescDimV2(desc, 2, &dim); },
                 ACL_ERROR_INVALID_PARAM, "index value is 2"});
  ExpectRefused({"aclSetTensorPlaceMent",
                 [&] { return aclSetTensorPlaceMent(desc, static_cast<aclMemType>(7)); },
                 ACL_ERROR_INVALID_PARAM, "memType value is 7"});
  ExpectRefused({"aclSetTensorPlaceMent",
                 [&] { return aclSetTensorPlaceMent(desc, static_cast<aclMemType>(-1)); },
                 ACL_ERROR_INVALID_PARAM, "memType value is -1"});
  ExpectRefused({"aclSetTensorShape", [&] { return aclSetTensorShape(desc, -1, dims); },
                 ACL_ERROR_INVALID_PARAM, "numDims value is -1"});
  EXPECT_EQ(aclSetTensorShape(desc, 0, nullptr), 0) << "a scalar's";
  // What concerns the memory changes nothing of what was described.
  const int64_t stored[] = {5, 3};
  aclSetTensorDescName(desc, "x");
  EXPECT_EQ(aclSetTensorFormat(desc, ACL_FORMAT_ND), 0);
  EXPECT_EQ(aclSetTensorShape(desc, 2, stored), 0);
  EXPECT_EQ(aclSetTensorPlaceMent(desc, ACL_MEMTYPE_HOST), 0);
  EXPECT_EQ(aclGetTensorDescFormat(desc), ACL_FORMAT_NCHW);
  aclDestroyTensorDesc(desc);
  EXPECT_EQ(aclCreateTensorDesc(ACL_FLOAT, -1, dims, ACL_FORMAT_ND), nullptr);
  EXPECT_NE(TakeMessage().find("numDims value is -1"), std::string::npos);

  aclDataBuffer* buffer = aclCreateDataBuffer(&dim, sizeof(dim));
  EXPECT_EQ(aclGetDataBufferAddr(buffer), &dim);
  EXPECT_EQ(aclGetDataBufferSizeV2(buffer), sizeof(dim));
  EXPECT_EQ(aclDestroyDataBuffer(buffer), 0);
}

TEST_F(SettingTest, AttributesCheckTheirLists) {
  aclopAttr* attr = aclopCreateAttr();
  const int64_t values[] = {1, 2};
  EXPECT_EQ(aclopSetAttrListInt(attr, "list", 2, values), 0);
  EXPECT_EQ(aclopSetAttrListInt(attr, "list", 0, nullptr), 0);
  const uint8_t flags[] = {1, 0};
  const float reals[] = {0.5f, 2};
  const int counts[] = {2, 0};
  const int64_t* const lists[] = {values, nullptr};
  EXPECT_EQ(aclopSetAttrString(attr, "text", "value"), 0);
  EXPECT_EQ(aclopSetAttrInt(attr, "int", 3), 0);
  EXPECT_EQ(aclopSetAttrFloat(attr, "float", 3), 0);
  EXPECT_EQ(aclopSetAttrDataType(attr, "type", ACL_BF16), 0);
  EXPECT_EQ(aclopSetAttrListBool(attr, "flags", 2, flags), 0);
  EXPECT_EQ(aclopSetAttrListFloat(attr, "reals", 2, reals), 0);
  EXPECT_EQ(aclopSetAttrListListInt(attr, "lists", 2, counts, lists), 0);
  ExpectRefused({"aclopSetAttrListListInt",
                 [&] { return aclopSetAttrListListInt(attr, "a", 2, counts, lists + 1); },
                 ACL_ERROR_INVALID_PARAM, "values value is null"});
  const int invalid = ACL_ERROR_INVALID_PARAM;
  EXPECT_EQ(aclopSetAttrListListInt(attr, "none", 0, nullptr, nullptr), 0);
  ExpectRefused({"aclopSetAttrListListInt",
                 [&] { return aclopSetAttrListListInt(attr, "a", -1, counts, lists); }, invalid,
                 "numLists value is -1"});
  ExpectRefused({"aclopSetAttrListListInt",
                 [&] { return aclopSetAttrListListInt(attr, "a", 2, nullptr, lists); }, invalid,
                 "numValues value is null"});
  ExpectRefused({"aclopSetAttrListInt", [&] { return aclopSetAttrListInt(attr, "a", -1, values); },
                 invalid, "numValues value is -1"});
  ExpectRefused({"aclopSetAttrListInt", [&] { return aclopSetAttrListInt(attr, "a", 1, nullptr); },
                 invalid, "values value is null"});
  ExpectRefused({"aclopSetAttrBool", [&] { return aclopSetAttrBool(attr, nullptr, 1); }, invalid,
                 "attrName value is null"});
  ExpectRefused({"aclopSetAttrString", [&] { return aclopSetAttrString(attr, "a", nullptr); },
                 invalid, "attrValue value is null"});
  aclopDestroyAttr(attr);
}

TEST_F(SettingTest, VersionsOfPackages) {
  aclCANNPackageVersion version;
  std::memset(&version, 1, sizeof(version));
  ASSERT_EQ(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, &version), 0) << TakeMessage();
  const std::string parts =
      std::string(version.majorVersion) + "." + version.minorVersion + "." + version.releaseVersion;
  EXPECT_EQ(parts, version.version);
  EXPECT_STREQ(version.patchVersion, "");
  EXPECT_EQ(version.reserved[0] + version.reserved[ACL_PKG_VERSION_MAX_SIZE - 1], 0);
  char name[] = "runtime", unknown[] = "none", text[ACL_PKG_VERSION_MAX_SIZE];
  ASSERT_EQ(aclsysGetVersionStr(name, text), 0) << TakeMessage();
  EXPECT_STREQ(text, version.version);
  ExpectRefused({"aclsysGetVersionStr", [&] { return aclsysGetVersionStr(unknown, text); },
                 ACL_ERROR_INVALID_PARAM, "pkgName value is none"});
  ExpectRefused(
      {"aclsysGetCANNVersion",
       [&] { return aclsysGetCANNVersion(static_cast<aclCANNPackageName>(-1), &version); },
       ACL_ERROR_INVALID_PARAM, "name value is -1"});
  ExpectRefused({"aclsysGetCANNVersion",
                 [&] { return aclsysGetCANNVersion(ACL_PKG_NAME_DRIVER, &version); },
                 ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "there is no driver"});
  ExpectRefused({"aclsysGetCANNVersion",
                 [&] { return aclsysGetCANNVersion(static_cast<aclCANNPackageName>(8), &version); },
                 ACL_ERROR_INVALID_PARAM, "name value is 8"});
}

TEST_F(SettingTest, WhatIsNotSupportedSaysSo) {
  // By name: their parameters do not matter.
  for (const std::string& name : RefusingFunctions(false)) {
    const char* const api = name.c_str();
    const auto call = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, api));
    ASSERT_NE(call, nullptr) << api;
    ExpectRefused({api, call, ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "function is not supported"});
  }
  for (const std::string& api : RefusingFunctions(true)) {
    const auto call = reinterpret_cast<uint64_t (*)()>(dlsym(RTLD_DEFAULT, api.c_str()));
    ASSERT_NE(call, nullptr) << api;
    EXPECT_EQ(call(), 0u);
    EXPECT_NE(TakeMessage().find(api + ": function is not"), std::string::npos);
  }
  (void)aclrtSynchronizeStream(nullptr);  // which may be told of work that was asked of it
}

}  // namespace
}  // namespace openaclnn
