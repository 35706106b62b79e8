// SPDX-License-Identifier: Apache-2.0
// The structures of hccl/hccl_types.h lie as clients of the wheels pass them.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

#include "hccl/hccl.h"

namespace {

static_assert(sizeof(HcclRootInfo) == 4108);
static_assert(sizeof(HcclSendRecvItem) == 32);
static_assert(offsetof(HcclSendRecvItem, buf) == 8);
static_assert(offsetof(HcclSendRecvItem, count) == 16);
static_assert(offsetof(HcclSendRecvItem, dataType) == 24);
static_assert(offsetof(HcclSendRecvItem, remoteRank) == 28);
static_assert(sizeof(HcclConfigValue) == 4);

static_assert(sizeof(HcclCommConfig) == 2240);
static_assert(offsetof(HcclCommConfig, magic) == 8);
static_assert(offsetof(HcclCommConfig, version) == 12);
static_assert(offsetof(HcclCommConfig, hcclBufferSize) == 24);
static_assert(offsetof(HcclCommConfig, hcclDeterministic) == 28);
static_assert(offsetof(HcclCommConfig, hcclCommName) == 32);
static_assert(offsetof(HcclCommConfig, hcclUdi) == 160);
static_assert(offsetof(HcclCommConfig, hcclOpExpansionMode) == 288);
static_assert(offsetof(HcclCommConfig, hcclRdmaTrafficClass) == 292);
static_assert(offsetof(HcclCommConfig, hcclRdmaServiceLevel) == 296);
static_assert(offsetof(HcclCommConfig, hcclWorldRankID) == 300);
static_assert(offsetof(HcclCommConfig, hcclJobID) == 304);
static_assert(offsetof(HcclCommConfig, aclGraphZeroCopyEnable) == 312);
static_assert(offsetof(HcclCommConfig, hcclExecTimeOut) == 316);
static_assert(offsetof(HcclCommConfig, hcclAlgo) == 320);
static_assert(offsetof(HcclCommConfig, hcclRetryEnable) == 1920);
static_assert(offsetof(HcclCommConfig, hcclRetryParams) == 1970);
static_assert(offsetof(HcclCommConfig, hcclBufferName) == 2098);
static_assert(offsetof(HcclCommConfig, hcclQos) == 2228);
static_assert(offsetof(HcclCommConfig, hcclSymWinMaxMemSizePerRank) == 2232);

TEST(LayoutTest, DefaultsSayNotSet) {
  HcclCommConfig config;
  std::memset(&config, 0x55, sizeof(config));
  HcclCommConfigInit(&config);
  EXPECT_EQ(config.size, sizeof(config));
  EXPECT_EQ(config.magic, 0xF0F0F0F0u);
  EXPECT_EQ(config.version, 10u);
  EXPECT_EQ(config.hcclDeterministic, 0xFFFFFFFFu);
  EXPECT_EQ(config.hcclExecTimeOut, -1);
  EXPECT_EQ(config.hcclCommName[0], '\0');
}

}  // namespace
