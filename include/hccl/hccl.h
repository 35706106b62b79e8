// SPDX-License-Identifier: Apache-2.0
// Collective communication: communicators, and what the ranks of one do together.
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
 * pointer is null that may not be. HCCL_E_PARA: a handle is not a live communicator's, or a value
 * is not allowed.
 *
 * Operations return at once and run in the order of their stream, as kernels do. Buffers are device
 * memory and may be freed, host arrays may go, as soon as the call has returned. What fails later
 * is the stream's error, which its next synchronise returns: 507057 when another rank has died,
 * 107020 when one did not come in time, 107000 when the ranks do not call the same thing.
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
 * In place: where source and destination are said to may be the same memory, they are the same
 * bytes; they may not overlap otherwise.
 */

/* ---- Communicators ---- */

/** On one rank: makes the place where the ranks meet. Its bytes then go to all others. */
ACL_FUNC_VISIBILITY HcclResult HcclGetRootInfo(HcclRootInfo* rootInfo);

/**
 * On every rank, that which made the root info included: returns when all nRanks have come.
 *
 * HCCL_E_TIMEOUT, with who is missing, after HCCL_CONNECT_TIMEOUT seconds (120);
 * HCCL_E_TCP_CONNECT when the root cannot be reached; HCCL_E_UNAVAIL when there is nothing to move
 * bytes with between processes.
 */
ACL_FUNC_VISIBILITY HcclResult HcclCommInitRootInfo(uint32_t nRanks, const HcclRootInfo* rootInfo,
                                                    uint32_t rank, HcclComm* comm);

/** The same with settings. */
ACL_FUNC_VISIBILITY HcclResult HcclCommInitRootInfoConfig(uint32_t nRanks,
                                                          const HcclRootInfo* rootInfo,
                                                          uint32_t rank,
                                                          const HcclCommConfig* config,
                                                          HcclComm* comm);

/** All ranks in this process, one for each of the devices, which differ. Needs no network. */
ACL_FUNC_VISIBILITY HcclResult HcclCommInitAll(uint32_t ndev, int32_t* devices, HcclComm* comms);

/** Refuses: there are no rank tables. */
ACL_FUNC_VISIBILITY HcclResult HcclCommInitClusterInfo(const char* clusterInfo, uint32_t rank,
                                                       HcclComm* comm);

/** Refuses, as HcclCommInitClusterInfo. */
ACL_FUNC_VISIBILITY HcclResult HcclCommInitClusterInfoConfig(const char* clusterInfo, uint32_t rank,
                                                             HcclCommConfig* config,
                                                             HcclComm* comm);

/** Refuses: make a root info for the ranks of the part. */
ACL_FUNC_VISIBILITY HcclResult HcclCreateSubCommConfig(HcclComm* comm, uint32_t rankNum,
                                                       uint32_t* rankIds, uint64_t subCommId,
                                                       uint32_t subCommRankId,
                                                       HcclCommConfig* config, HcclComm* subComm);

/** Waits for the communicator's operations on this rank, and ends it. */
ACL_FUNC_VISIBILITY HcclResult HcclCommDestroy(HcclComm comm);

/** Fills the settings with what stands for "not set". */
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

/** One more than the last HcclCommConfigCapability that is understood: 12. */
ACL_FUNC_VISIBILITY uint32_t HcclGetCommConfigCapability(void);

/* ---- What is known of them ---- */

/** How many ranks the communicator has, and which one this is. */
ACL_FUNC_VISIBILITY HcclResult HcclGetRankSize(HcclComm comm, uint32_t* rankSize);
ACL_FUNC_VISIBILITY HcclResult HcclGetRankId(HcclComm comm, uint32_t* rank);
/** `commName` has room for COMM_NAME_MAX_LENGTH bytes. */
ACL_FUNC_VISIBILITY HcclResult HcclGetCommName(HcclComm comm, char* commName);
/** HCCL_E_REMOTE from when another rank has died; never waits. */
ACL_FUNC_VISIBILITY HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult* asyncError);
/** The name of a result; for what is none, words that say so. */
ACL_FUNC_VISIBILITY const char* HcclGetErrorString(HcclResult code);
/** Settings of the process; the only one says what is so anyway. */
ACL_FUNC_VISIBILITY HcclResult HcclSetConfig(HcclConfig config, HcclConfigValue configValue);
ACL_FUNC_VISIBILITY HcclResult HcclGetConfig(HcclConfig config, HcclConfigValue* configValue);

/* ---- Operations of all ranks ---- */

/** recvBuf = the reduction of all ranks' sendBuf, on every rank. In place: the same buffer. */
ACL_FUNC_VISIBILITY HcclResult HcclAllReduce(void* sendBuf, void* recvBuf, uint64_t count,
                                             HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                                             aclrtStream stream);

/** The same on the root alone; recvBuf of the others is not touched, and may be null. */
ACL_FUNC_VISIBILITY HcclResult HcclReduce(void* sendBuf, void* recvBuf, uint64_t count,
                                          HcclDataType dataType, HcclReduceOp op, uint32_t root,
                                          HcclComm comm, aclrtStream stream);

/**
 * Of ranks x recvCount elements each rank gets the reduction of its part. In place: recvBuf is the
 * rank's part of sendBuf.
 */
ACL_FUNC_VISIBILITY HcclResult HcclReduceScatter(void* sendBuf, void* recvBuf, uint64_t recvCount,
                                                 HcclDataType dataType, HcclReduceOp op,
                                                 HcclComm comm, aclrtStream stream);

/** recvBuf = all ranks' sendBuf, in their order. In place: sendBuf is the rank's part of recvBuf.
 */
ACL_FUNC_VISIBILITY HcclResult HcclAllGather(void* sendBuf, void* recvBuf, uint64_t sendCount,
                                             HcclDataType dataType, HcclComm comm,
                                             aclrtStream stream);

/** buf of the root, to every rank's buf. */
ACL_FUNC_VISIBILITY HcclResult HcclBroadcast(void* buf, uint64_t count, HcclDataType dataType,
                                             uint32_t root, HcclComm comm, aclrtStream stream);

/** Each rank gets its recvCount elements of the root's sendBuf, which no other rank needs. */
ACL_FUNC_VISIBILITY HcclResult HcclScatter(void* sendBuf, void* recvBuf, uint64_t recvCount,
                                           HcclDataType dataType, uint32_t root, HcclComm comm,
                                           aclrtStream stream);

/** sendCount elements to each rank, recvCount from each; both are as many bytes. */
ACL_FUNC_VISIBILITY HcclResult HcclAlltoAll(const void* sendBuf, uint64_t sendCount,
                                            HcclDataType sendType, const void* recvBuf,
                                            uint64_t recvCount, HcclDataType recvType,
                                            HcclComm comm, aclrtStream stream);

/** The same with a count and a displacement for each rank, in elements: arrays of uint64_t. */
ACL_FUNC_VISIBILITY HcclResult HcclAlltoAllV(const void* sendBuf, const void* sendCounts,
                                             const void* sdispls, HcclDataType sendType,
                                             const void* recvBuf, const void* recvCounts,
                                             const void* rdispls, HcclDataType recvType,
                                             HcclComm comm, aclrtStream stream);

/** Done on a rank when all have begun it. */
ACL_FUNC_VISIBILITY HcclResult HcclBarrier(HcclComm comm, aclrtStream stream);

/* ---- Messages between two ranks ---- */

/** The messages of a pair, in their order, meet the pair's receives in theirs. */
ACL_FUNC_VISIBILITY HcclResult HcclSend(void* sendBuf, uint64_t count, HcclDataType dataType,
                                        uint32_t destRank, HcclComm comm, aclrtStream stream);
ACL_FUNC_VISIBILITY HcclResult HcclRecv(void* recvBuf, uint64_t count, HcclDataType dataType,
                                        uint32_t srcRank, HcclComm comm, aclrtStream stream);

/** All at once, whatever their order; a rank's messages to itself need both ends here. */
ACL_FUNC_VISIBILITY HcclResult HcclBatchSendRecv(HcclSendRecvItem* sendRecvInfo, uint32_t itemNum,
                                                 HcclComm comm, aclrtStream stream);

/**
 * The thread's HcclSend, HcclRecv and HcclBatchSendRecv until the end of the outermost group begin
 * together there. In libhcomm.so.
 */
ACL_FUNC_VISIBILITY HcclResult HcclGroupStart(void);
ACL_FUNC_VISIBILITY HcclResult HcclGroupEnd(void);

#ifdef __cplusplus
}
#endif

#endif  // OPENACLNN_HCCL_HCCL_H_
