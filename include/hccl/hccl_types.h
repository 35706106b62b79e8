// SPDX-License-Identifier: Apache-2.0
// The types, codes and structures of the collective communication of hccl/hccl.h.
#ifndef OPENACLNN_HCCL_HCCL_TYPES_H_
#define OPENACLNN_HCCL_HCCL_TYPES_H_

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The result of every function. aclGetRecentErrMsg explains a failure in words. */
typedef enum HcclResult OPENACLNN_ENUM_INT {
  HCCL_SUCCESS = 0,
  /** An argument has a value that is not allowed. */
  HCCL_E_PARA = 1,
  /** A required pointer is null. */
  HCCL_E_PTR = 2,
  HCCL_E_MEMORY = 3,
  HCCL_E_INTERNAL = 4,
  HCCL_E_NOT_SUPPORT = 5,
  HCCL_E_NOT_FOUND = 6,
  HCCL_E_UNAVAIL = 7,
  HCCL_E_SYSCALL = 8,
  /** A rank did not come in time. */
  HCCL_E_TIMEOUT = 9,
  HCCL_E_OPEN_FILE_FAILURE = 10,
  HCCL_E_TCP_CONNECT = 11,
  HCCL_E_ROCE_CONNECT = 12,
  HCCL_E_TCP_TRANSFER = 13,
  HCCL_E_ROCE_TRANSFER = 14,
  HCCL_E_RUNTIME = 15,
  HCCL_E_DRV = 16,
  HCCL_E_PROFILING = 17,
  HCCL_E_CCE = 18,
  HCCL_E_NETWORK = 19,
  HCCL_E_AGAIN = 20,
  /** Another rank, or the link to it, failed. */
  HCCL_E_REMOTE = 21,
  HCCL_E_SUSPENDING = 22,
  HCCL_E_RESERVED = 255
} HcclResult;

/** How the elements of the ranks are combined. */
typedef enum HcclReduceOp OPENACLNN_ENUM_INT {
  HCCL_REDUCE_SUM = 0,
  HCCL_REDUCE_PROD = 1,
  HCCL_REDUCE_MAX = 2,
  HCCL_REDUCE_MIN = 3,
  HCCL_REDUCE_RESERVED = 255
} HcclReduceOp;

/** Types of elements. Any of them can be moved; INT128 and the 8-bit floats cannot be reduced. */
typedef enum HcclDataType OPENACLNN_ENUM_INT {
  HCCL_DATA_TYPE_INT8 = 0,
  HCCL_DATA_TYPE_INT16 = 1,
  HCCL_DATA_TYPE_INT32 = 2,
  HCCL_DATA_TYPE_FP16 = 3,
  HCCL_DATA_TYPE_FP32 = 4,
  HCCL_DATA_TYPE_INT64 = 5,
  HCCL_DATA_TYPE_UINT64 = 6,
  HCCL_DATA_TYPE_UINT8 = 7,
  HCCL_DATA_TYPE_UINT16 = 8,
  HCCL_DATA_TYPE_UINT32 = 9,
  HCCL_DATA_TYPE_FP64 = 10,
  HCCL_DATA_TYPE_BFP16 = 11,
  HCCL_DATA_TYPE_INT128 = 12,
  HCCL_DATA_TYPE_HIF8 = 14,
  HCCL_DATA_TYPE_FP8E4M3 = 15,
  HCCL_DATA_TYPE_FP8E5M2 = 16,
  HCCL_DATA_TYPE_FP8E8M0 = 17,
  HCCL_DATA_TYPE_RESERVED = 255
} HcclDataType;

/** A rank's place in a group of ranks. Opaque: never read through it. */
typedef void* HcclComm;

/** Size of an HcclRootInfo in bytes, which programs store and send unchanged. */
#define HCCL_ROOT_INFO_BYTES 4108

/** Where the ranks of a new communicator meet. Opaque; copied byte by byte. */
typedef struct HcclRootInfoDef {
  char internal[HCCL_ROOT_INFO_BYTES];
} HcclRootInfo;

typedef enum HcclSendRecvType OPENACLNN_ENUM_INT {
  HCCL_SEND = 0,
  HCCL_RECV = 1,
  HCCL_SEND_RECV_RESERVED = 255
} HcclSendRecvType;

/** One message of HcclBatchSendRecv. */
typedef struct HcclSendRecvItemDef {
  HcclSendRecvType sendRecvType;
  void* buf;
  uint64_t count;
  HcclDataType dataType;
  uint32_t remoteRank;
} HcclSendRecvItem;

/** Settings of the process. */
typedef enum HcclConfig OPENACLNN_ENUM_INT {
  /** Whether results are the same from run to run: here they always are. */
  HCCL_DETERMINISTIC = 0,
  HCCL_CONFIG_RESERVED = 255
} HcclConfig;

/** The value of a setting: 0 off, 1 on. Passed by value. */
typedef union HcclConfigValueDef {
  int32_t value;
} HcclConfigValue;

/** Members of HcclCommConfig, as HcclGetCommConfigCapability counts them. */
typedef enum HcclCommConfigCapability OPENACLNN_ENUM_INT {
  HCCL_COMM_CONFIG_BUFFER_SIZE = 0,
  HCCL_COMM_CONFIG_DETERMINISTIC = 1,
  HCCL_COMM_CONFIG_COMM_NAME = 2,
  HCCL_COMM_CONFIG_OP_EXPANSION_MODE = 3,
  HCCL_COMM_CONFIG_SUPPORT_INIT_BY_ENV = 4,
  HCCL_COMM_CONFIG_WORLD_RANKID = 5,
  HCCL_COMM_CONFIG_JOBID = 6,
  HCCL_COMM_CONFIG_ACLGRAPH_ZEROCOPY_ENABLE = 7,
  HCCL_COMM_CONFIG_EXEC_TIMEOUT = 8,
  HCCL_COMM_CONFIG_ALGO = 9,
  HCCL_COMM_CONFIG_RETRY = 10,
  HCCL_COMM_CONFIG_BUFFER_NAME = 11,
  HCCL_COMM_CONFIG_RESERVED = 12
} HcclCommConfigCapability;

/** Bytes of a communicator's name, the ending zero included. */
#define COMM_NAME_MAX_LENGTH 128
#define UDI_MAX_LENGTH 128
#define HCCL_COMM_ALGO_MAX_LENGTH 1600
#define HCCL_COMM_RETRY_ENABLE_MAX_LENGTH 50
#define HCCL_COMM_RETRY_PARAMS_MAX_LENGTH 128
#define HCCL_COMM_BUFFER_NAME_MAX_LENGTH 128

/** Second word of a configuration that HcclCommConfigInit has filled. */
#define HCCL_COMM_CONFIG_MAGIC_WORD 0xF0F0F0F0U
#define HCCL_COMM_CONFIG_VERSION 10U
/** A 32-bit member that is not set: the environment decides. */
#define HCCL_COMM_CONFIG_NOT_SET 0xFFFFFFFFU

/**
 * Settings of one communicator. Programs call HcclCommConfigInit and change what they need. Only
 * the first `size` bytes are read.
 */
typedef struct HcclCommConfigDef {
  size_t size;
  uint32_t magic;
  uint32_t version;
  uint64_t reserved;
  /** MB; accepted and ignored, because there are no such buffers. */
  uint32_t hcclBufferSize;
  /** Accepted and ignored: sums always have one order. */
  uint32_t hcclDeterministic;
  /** At most 127 characters; if empty, a name is made. */
  char hcclCommName[COMM_NAME_MAX_LENGTH];
  char hcclUdi[UDI_MAX_LENGTH];
  uint32_t hcclOpExpansionMode;
  uint32_t hcclRdmaTrafficClass;
  uint32_t hcclRdmaServiceLevel;
  uint32_t hcclWorldRankID;
  uint64_t hcclJobID;
  uint8_t aclGraphZeroCopyEnable;
  /** Seconds that an operation may last, 0 for ever; -1: HCCL_EXEC_TIMEOUT decides. */
  int32_t hcclExecTimeOut;
  char hcclAlgo[HCCL_COMM_ALGO_MAX_LENGTH];
  char hcclRetryEnable[HCCL_COMM_RETRY_ENABLE_MAX_LENGTH];
  char hcclRetryParams[HCCL_COMM_RETRY_PARAMS_MAX_LENGTH];
  char hcclBufferName[HCCL_COMM_BUFFER_NAME_MAX_LENGTH];
  uint32_t hcclQos;
  uint64_t hcclSymWinMaxMemSizePerRank;
} HcclCommConfig;

#ifdef __cplusplus
}
#endif

#endif  // OPENACLNN_HCCL_HCCL_TYPES_H_
