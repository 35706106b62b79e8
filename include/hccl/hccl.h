// SPDX-License-Identifier: Apache-2.0
// Collective communication: communicators, and the operations of their ranks.
#ifndef OPENACLNN_HCCL_HCCL_H_
#define OPENACLNN_HCCL_HCCL_H_

#include <string.h>

#include "acl/acl_base.h"
#include "hccl/hccl_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What holds for every function here, unless its own comment says otherwise:
 *
 * Result. 0, or an HcclResult; aclGetRecentErrMsg tells in words what was wrong. HCCL_E_PTR: a
 * required pointer is null. HCCL_E_PARA: a handle is not a live communicator's, or a value
 * is not allowed.
 *
 * Operations return at once and run in the order of their stream, as kernels do. Buffers are device
 * memory. They and host arrays may be freed as soon as the call has returned. A later failure is
 * the stream's error, which its next synchronise returns. The code is 507057 if another rank has
 * died, 107020 if one did not come in time, 107000 if the ranks' calls differ.
 *
 * All ranks of a communicator call the same operations in the same order, with the same count, type
 * and, where there is one, reduction and root. Two communicators need no common order.
 *
 * Sums have one order: a tree over the ranks, split at the largest power of two, whatever the
 * count, the buffers and the network are. 16-bit floats are added as FP32 over all ranks and
 * rounded once. Integers wrap around; MAX and MIN pass NaN on.
 *
 * Count 0 is legal, and nothing happens.
 *
 * In place: a function that allows it says which bytes source and destination share then. They may
 * not overlap in any other way.
 */

/* ---- Communicators ---- */

/** Makes, on one rank, the place where the ranks meet. Send its bytes to all other ranks. */
ACL_FUNC_VISIBILITY HcclResult HcclGetRootInfo(HcclRootInfo* rootInfo);

/**
 * Call it on every rank, also on that of the root info. It returns when all nRanks have come.
 *
 * HCCL_E_TIMEOUT, with the missing ranks, after HCCL_CONNECT_TIMEOUT seconds (120);
 * HCCL_E_TCP_CONNECT when the root cannot be reached; HCCL_E_UNAVAIL when no library is found that
 * moves bytes between processes.
 */
ACL_FUNC_VISIBILITY HcclResult HcclCommInitRootInfo(uint32_t nRanks, const HcclRootInfo* rootInfo,
                                                    uint32_t rank, HcclComm* comm);

/** Does the same as HcclCommInitRootInfo, with settings. */
ACL_FUNC_VISIBILITY HcclResult HcclCommInitRootInfoConfig(uint32_t nRanks,
                                                          const HcclRootInfo* rootInfo,
                                                          uint32_t rank,
                                                          const HcclCommConfig* config,
                                                          HcclComm* comm);

/** Makes all ranks in this process, one for each device. Devices must differ. Needs no network. */
ACL_FUNC_VISIBILITY HcclResult HcclCommInitAll(uint32_t ndev, int32_t* devices, HcclComm* comms);

/** Refuses: there are no rank tables. */
ACL_FUNC_VISIBILITY HcclResult HcclCommInitClusterInfo(const char* clusterInfo, uint32_t rank,
                                                       HcclComm* comm);

/** Refuses, as HcclCommInitClusterInfo. */
ACL_FUNC_VISIBILITY HcclResult HcclCommInitClusterInfoConfig(const char* clusterInfo, uint32_t rank,
                                                             HcclCommConfig* config,
                                                             HcclComm* comm);

/** Refuses: make a root info for the ranks of the part instead. */
ACL_FUNC_VISIBILITY HcclResult HcclCreateSubCommConfig(HcclComm* comm, uint32_t rankNum,
                                                       uint32_t* rankIds, uint64_t subCommId,
                                                       uint32_t subCommRankId,
                                                       HcclCommConfig* config, HcclComm* subComm);

/** Waits for the communicator's operations on this rank, and ends it. */
ACL_FUNC_VISIBILITY HcclResult HcclCommDestroy(HcclComm comm);

/** Marks all settings as "not set". */
static inline void HcclCommConfigInit(HcclCommConfig* config) {
  if (config == NULL) return;
  memset(config, 0, sizeof(*config));
  config->size = sizeof(*config);
  config->magic = HCCL_COMM_CONFIG_MAGIC_WORD;
  config->version = HCCL_COMM_CONFIG_VERSION;
  config->hcclBufferSize = HCCL_COMM_CONFIG_NOT_SET;
  config->hcclDeterministic = HCCL_COMM_CONFIG_NOT_SET;
  config->hcclRdmaTrafficClass = HCCL_COMM_CONFIG_NOT_SET;
  config->hcclRdmaServiceLevel = HCCL_COMM_CONFIG_NOT_SET;
  config->hcclExecTimeOut = -1;
  config->hcclQos = HCCL_COMM_CONFIG_NOT_SET;
}

/** Returns one more than the last HcclCommConfigCapability that is understood: 12. */
ACL_FUNC_VISIBILITY uint32_t HcclGetCommConfigCapability(void);

/* ---- Properties of communicators ---- */

/** Tells how many ranks the communicator has, and which one this is. */
ACL_FUNC_VISIBILITY HcclResult HcclGetRankSize(HcclComm comm, uint32_t* rankSize);
ACL_FUNC_VISIBILITY HcclResult HcclGetRankId(HcclComm comm, uint32_t* rank);
/** `commName` has room for COMM_NAME_MAX_LENGTH bytes. */
ACL_FUNC_VISIBILITY HcclResult HcclGetCommName(HcclComm comm, char* commName);
/** Tells HCCL_E_REMOTE once another rank has died. Never waits. */
ACL_FUNC_VISIBILITY HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult* asyncError);
/** Returns the name of a result; for another number, words that say so. */
ACL_FUNC_VISIBILITY const char* HcclGetErrorString(HcclResult code);
/** Settings of the process. The only one changes nothing. */
ACL_FUNC_VISIBILITY HcclResult HcclSetConfig(HcclConfig config, HcclConfigValue configValue);
ACL_FUNC_VISIBILITY HcclResult HcclGetConfig(HcclConfig config, HcclConfigValue* configValue);

/* ---- Operations of all ranks ---- */

/** recvBuf = the reduction of all ranks' sendBuf, on every rank. In place: the same buffer. */
ACL_FUNC_VISIBILITY HcclResult HcclAllReduce(void* sendBuf, void* recvBuf, uint64_t count,
                                             HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                                             aclrtStream stream);

/** Does the same on the root alone; other ranks' recvBuf is not touched, and may be null. */
ACL_FUNC_VISIBILITY HcclResult HcclReduce(void* sendBuf, void* recvBuf, uint64_t count,
                                          HcclDataType dataType, HcclReduceOp op, uint32_t root,
                                          HcclComm comm, aclrtStream stream);

/**
 * Reduces ranks x recvCount elements; each rank gets its part of the result. In place: recvBuf is
 * the rank's part of sendBuf.
 */
ACL_FUNC_VISIBILITY HcclResult HcclReduceScatter(void* sendBuf, void* recvBuf, uint64_t recvCount,
                                                 HcclDataType dataType, HcclReduceOp op,
                                                 HcclComm comm, aclrtStream stream);

/** recvBuf = all ranks' sendBuf, in their order. In place: sendBuf is the rank's part of recvBuf.
 */
ACL_FUNC_VISIBILITY HcclResult HcclAllGather(void* sendBuf, void* recvBuf, uint64_t sendCount,
                                             HcclDataType dataType, HcclComm comm,
                                             aclrtStream stream);

/** Copies the root's buf to every rank's buf. */
ACL_FUNC_VISIBILITY HcclResult HcclBroadcast(void* buf, uint64_t count, HcclDataType dataType,
                                             uint32_t root, HcclComm comm, aclrtStream stream);

/** Each rank gets its recvCount elements of the root's sendBuf. Other ranks need no sendBuf. */
ACL_FUNC_VISIBILITY HcclResult HcclScatter(void* sendBuf, void* recvBuf, uint64_t recvCount,
                                           HcclDataType dataType, uint32_t root, HcclComm comm,
                                           aclrtStream stream);

/** Sends sendCount elements to each rank, receives recvCount from each: equally many bytes. */
ACL_FUNC_VISIBILITY HcclResult HcclAlltoAll(const void* sendBuf, uint64_t sendCount,
                                            HcclDataType sendType, const void* recvBuf,
                                            uint64_t recvCount, HcclDataType recvType,
                                            HcclComm comm, aclrtStream stream);

/** Does the same with a count and a displacement for each rank, in elements: uint64_t arrays. */
ACL_FUNC_VISIBILITY HcclResult HcclAlltoAllV(const void* sendBuf, const void* sendCounts,
                                             const void* sdispls, HcclDataType sendType,
                                             const void* recvBuf, const void* recvCounts,
                                             const void* rdispls, HcclDataType recvType,
                                             HcclComm comm, aclrtStream stream);

/** Ends on a rank when all ranks have begun it. */
ACL_FUNC_VISIBILITY HcclResult HcclBarrier(HcclComm comm, aclrtStream stream);

/* ---- Messages between two ranks ---- */

/** Message n from one rank to another meets receive n of that pair. */
ACL_FUNC_VISIBILITY HcclResult HcclSend(void* sendBuf, uint64_t count, HcclDataType dataType,
                                        uint32_t destRank, HcclComm comm, aclrtStream stream);
ACL_FUNC_VISIBILITY HcclResult HcclRecv(void* recvBuf, uint64_t count, HcclDataType dataType,
                                        uint32_t srcRank, HcclComm comm, aclrtStream stream);

/** Sends and receives all at once, in any order. A message to oneself needs both its ends here. */
ACL_FUNC_VISIBILITY HcclResult HcclBatchSendRecv(HcclSendRecvItem* sendRecvInfo, uint32_t itemNum,
                                                 HcclComm comm, aclrtStream stream);

/**
 * Groups HcclSend, HcclRecv and HcclBatchSendRecv of the thread: they begin together when the
 * outermost group ends. In libhcomm.so.
 */
ACL_FUNC_VISIBILITY HcclResult HcclGroupStart(void);
ACL_FUNC_VISIBILITY HcclResult HcclGroupEnd(void);

#ifdef __cplusplus
}
#endif

#endif  // OPENACLNN_HCCL_HCCL_H_
