// SPDX-License-Identifier: Apache-2.0
// The runtime: devices, contexts, streams, events, memory, copies, callbacks and error text.
#ifndef OPENACLNN_ACL_ACL_RT_H_
#define OPENACLNN_ACL_ACL_RT_H_

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What holds for every function here, unless its own comment says otherwise:
 *
 * Result. ACL_SUCCESS (0), or a code. On failure nothing is written, nothing is queued, and
 * aclGetRecentErrMsg tells in words what was wrong. Each function lists its codes; these mean the
 * same everywhere:
 *
 * - ACL_ERROR_INVALID_PARAM (100000): a pointer that the function writes through is null.
 * - ACL_ERROR_UNINITIALIZE (100001): the process is a child of fork() and its parent used the
 *   runtime. Any function can return it, except those that free and destroy. These do nothing then
 *   and return 0.
 * - ACL_ERROR_RT_PARAM_INVALID (107000): any other argument is not allowed.
 * - ACL_ERROR_RT_CONTEXT_NULL (107002): the function needs a current context and the thread
 *   has none: it called neither aclrtSetDevice nor aclrtCreateContext nor
 *   aclrtSetCurrentContext.
 * - ACL_ERROR_RT_STREAM_CONTEXT (107003): the stream belongs to another context than the thread's
 *   current one.
 * - ACL_ERROR_RT_INVALID_HANDLE (107017): a stream, event or context is not a live one of its kind.
 *
 * Start. Functions that need the environment's settings read them if aclInit has not. For a wrong
 * setting they return the codes of aclInit.
 *
 * Streams. NULL is the default stream of the thread's current context.
 *
 * Threads. Any thread may call any function, at the same time as others. The current context (and
 * with it the device), the recent error message and the last error belong to the calling thread.
 *
 * Order. Work of one stream runs in the order of its calls; different streams run at the same time.
 * An asynchronous function (it says so, or its name ends in Async) returns when its work is
 * queued. A function that takes no stream acts at once and is not ordered with any stream.
 *
 * Task errors. When queued work fails, the call that queued it has long returned 0. The first error
 * stays with its stream. The next synchronise of that stream, of an event recorded in it, or of the
 * device returns the code with its message, and clears it.
 *
 * Memory. The host program can neither read nor write device memory itself: copy with aclrtMemcpy.
 */

/** Flags of aclrtCreateEventWithFlag and aclrtCreateEventExWithFlag, to be or-ed. @{ */
#define ACL_EVENT_SYNC 0x00000001U                    /**< may make streams wait; may be reset */
#define ACL_EVENT_CAPTURE_STREAM_PROGRESS 0x00000002U /**< may be queried */
#define ACL_EVENT_TIME_LINE 0x00000008U               /**< keeps the time at which it was reached */
#define ACL_EVENT_EXTERNAL 0x00000020U                /**< meant for captured graphs */
#define ACL_EVENT_IPC 0x00000040U                     /**< meant to be shared between processes */
/** @} */

/** Flags of aclrtCreateStreamWithConfig, to be or-ed. Hints: none changes a result. @{ */
#define ACL_STREAM_FAST_LAUNCH 0x00000001U
#define ACL_STREAM_FAST_SYNC 0x00000002U
#define ACL_STREAM_PERSISTENT 0x00000004U
#define ACL_STREAM_HUGE 0x00000008U
#define ACL_STREAM_CPU_SCHEDULE 0x00000010U
/** @} */

/** Conditions of aclrtValueWait on the number in memory and `value`. @{ */
#define ACL_STREAM_WAIT_VALUE_GEQ 0x00000000U /**< (int64_t)(number - value) >= 0 */
#define ACL_STREAM_WAIT_VALUE_EQ 0x00000001U  /**< number == value */
#define ACL_STREAM_WAIT_VALUE_AND 0x00000002U /**< (number & value) != 0 */
#define ACL_STREAM_WAIT_VALUE_NOR 0x00000003U /**< ~(number | value) != 0 */
/** @} */

/** Modes of aclrtSetStreamFailureMode. @{ */
#define ACL_CONTINUE_ON_FAILURE 0x00000000U
#define ACL_STOP_ON_FAILURE 0x00000001U
/** @} */

/** A function that aclrtLaunchCallback queues; it gets the pointer given there. */
typedef void (*aclrtCallback)(void* userData);

/** A function that aclrtLaunchHostFunc queues; it gets the pointer given there. */
typedef void (*aclrtHostFunc)(void* args);

/** Facts of a failed task. Valid only in the function that gets it as its argument. Opaque. */
typedef struct aclrtExceptionInfo aclrtExceptionInfo;

/** A function that aclrtSetExceptionInfoCallback sets. */
typedef void (*aclrtExceptionInfoCallback)(aclrtExceptionInfo* exceptionInfo);

/**
 * Page sizes and memory kinds to prefer in an allocation. All of them give the same memory here.
 * The last three may be or-ed to one of the others.
 */
typedef enum aclrtMemMallocPolicy OPENACLNN_ENUM_INT {
  ACL_MEM_MALLOC_HUGE_FIRST = 0,
  ACL_MEM_MALLOC_HUGE_ONLY = 1,
  ACL_MEM_MALLOC_NORMAL_ONLY = 2,
  ACL_MEM_MALLOC_HUGE_FIRST_P2P = 3,
  ACL_MEM_MALLOC_HUGE_ONLY_P2P = 4,
  ACL_MEM_MALLOC_NORMAL_ONLY_P2P = 5,
  ACL_MEM_MALLOC_HUGE1G_ONLY = 6,
  ACL_MEM_MALLOC_HUGE1G_ONLY_P2P = 7,
  ACL_MEM_TYPE_LOW_BAND_WIDTH = 256,
  ACL_MEM_TYPE_HIGH_BAND_WIDTH = 4096,
  ACL_MEM_ACCESS_USER_SPACE_READONLY = 1048576,
} aclrtMemMallocPolicy;

/** Direction of a copy. */
typedef enum aclrtMemcpyKind OPENACLNN_ENUM_INT {
  ACL_MEMCPY_HOST_TO_HOST = 0,
  ACL_MEMCPY_HOST_TO_DEVICE = 1,
  ACL_MEMCPY_DEVICE_TO_HOST = 2,
  ACL_MEMCPY_DEVICE_TO_DEVICE = 3,
  ACL_MEMCPY_DEFAULT = 4,
  ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE = 5,
  ACL_MEMCPY_INNER_DEVICE_TO_DEVICE = 6,
  ACL_MEMCPY_INTER_DEVICE_TO_DEVICE = 7,
} aclrtMemcpyKind;

/** Where a program runs: on the device's own processor, or on a host beside it. */
typedef enum aclrtRunMode OPENACLNN_ENUM_INT {
  ACL_DEVICE = 0,
  ACL_HOST = 1,
} aclrtRunMode;

/** Answer of aclrtQueryEvent. Its numbers are the reverse of those of aclrtEventRecordedStatus. */
typedef enum aclrtEventStatus OPENACLNN_ENUM_INT {
  ACL_EVENT_STATUS_COMPLETE = 0,
  ACL_EVENT_STATUS_NOT_READY = 1,
  ACL_EVENT_STATUS_RESERVED = 2,
} aclrtEventStatus;

/** Answer of aclrtQueryEventStatus. */
typedef enum aclrtEventRecordedStatus OPENACLNN_ENUM_INT {
  ACL_EVENT_RECORDED_STATUS_NOT_READY = 0,
  ACL_EVENT_RECORDED_STATUS_COMPLETE = 1,
} aclrtEventRecordedStatus;

/** Answer of aclrtQueryEventWaitStatus. */
typedef enum aclrtEventWaitStatus OPENACLNN_ENUM_INT {
  ACL_EVENT_WAIT_STATUS_COMPLETE = 0,
  ACL_EVENT_WAIT_STATUS_NOT_READY = 1,
  ACL_EVENT_WAIT_STATUS_RESERVED = 65535,
} aclrtEventWaitStatus;

/** Answer of aclrtStreamQuery. */
typedef enum aclrtStreamStatus OPENACLNN_ENUM_INT {
  ACL_STREAM_STATUS_COMPLETE = 0,
  ACL_STREAM_STATUS_NOT_READY = 1,
  ACL_STREAM_STATUS_RESERVED = 65535,
} aclrtStreamStatus;

/** Whether work queued after a callback waits for it. */
typedef enum aclrtCallbackBlockType OPENACLNN_ENUM_INT {
  ACL_CALLBACK_NO_BLOCK = 0,
  ACL_CALLBACK_BLOCK = 1,
} aclrtCallbackBlockType;

/** Kinds of device memory that aclrtGetMemInfo can be asked about. */
typedef enum aclrtMemAttr OPENACLNN_ENUM_INT {
  ACL_DDR_MEM = 0,
  ACL_HBM_MEM = 1,
  ACL_DDR_MEM_HUGE = 2,
  ACL_DDR_MEM_NORMAL = 3,
  ACL_HBM_MEM_HUGE = 4,
  ACL_HBM_MEM_NORMAL = 5,
  ACL_DDR_MEM_P2P_HUGE = 6,
  ACL_DDR_MEM_P2P_NORMAL = 7,
  ACL_HBM_MEM_P2P_HUGE = 8,
  ACL_HBM_MEM_P2P_NORMAL = 9,
  ACL_HBM_MEM_HUGE1G = 10,
  ACL_HBM_MEM_P2P_HUGE1G = 11,
  ACL_MEM_NORMAL = 12,
  ACL_MEM_HUGE = 13,
  ACL_MEM_HUGE1G = 14,
  ACL_MEM_P2P_NORMAL = 15,
  ACL_MEM_P2P_HUGE = 16,
  ACL_MEM_P2P_HUGE1G = 17,
} aclrtMemAttr;

/** Whose errors aclrtGetLastError returns. */
typedef enum aclrtLastErrLevel OPENACLNN_ENUM_INT {
  ACL_RT_THREAD_LEVEL = 0,
} aclrtLastErrLevel;

/** Where an address points. */
typedef enum aclrtMemLocationType OPENACLNN_ENUM_INT {
  ACL_MEM_LOCATION_TYPE_HOST = 0,
  ACL_MEM_LOCATION_TYPE_DEVICE = 1,
  ACL_MEM_LOCATION_TYPE_UNREGISTERED = 2,
  ACL_MEM_LOCATION_TYPE_MANAGED = 3,
  ACL_MEM_LOCATION_TYPE_HOST_NUMA = 4,
} aclrtMemLocationType;

/** A place for memory. */
typedef struct aclrtMemLocation {
  uint32_t id;               /**< device number; 0 for the host */
  aclrtMemLocationType type; /**< which kind of place */
} aclrtMemLocation;

/** Result of aclrtPointerGetAttributes. */
typedef struct aclrtPtrAttributes {
  aclrtMemLocation location; /**< where the address points */
  uint32_t pageSize;         /**< size of its pages, in bytes; 0 when not known */
  uint32_t rsv[4];           /**< set to 0 */
} aclrtPtrAttributes;

/** What becomes of a float that leaves its range: the largest number, or infinity or NaN.
 */
typedef enum aclrtFloatOverflowMode OPENACLNN_ENUM_INT {
  ACL_RT_OVERFLOW_MODE_SATURATION = 0,
  ACL_RT_OVERFLOW_MODE_INFNAN = 1,
  ACL_RT_OVERFLOW_MODE_UNDEF = 2,
} aclrtFloatOverflowMode;

/** Parameters of the system that a process or a context may set. */
typedef enum aclSysParamOpt OPENACLNN_ENUM_INT {
  ACL_OPT_DETERMINISTIC = 0,
  ACL_OPT_ENABLE_DEBUG_KERNEL = 1,
  ACL_OPT_STRONG_CONSISTENCY = 2,
  ACL_OPT_ENABLE_KERNEL_EARLY_START = 3,
} aclSysParamOpt;

/** Facts of a device. */
typedef enum aclDeviceInfo OPENACLNN_ENUM_INT {
  ACL_DEVICE_INFO_UNDEFINED = -1,
  ACL_DEVICE_INFO_AI_CORE_NUM = 0,
  ACL_DEVICE_INFO_VECTOR_CORE_NUM = 1,
  ACL_DEVICE_INFO_L2_SIZE = 2,
} aclDeviceInfo;

/** Physical memory that aclrtMallocPhysical made. Opaque. */
typedef void* aclrtDrvMemHandle;

/** How physical memory may be shared. */
typedef enum aclrtMemHandleType OPENACLNN_ENUM_INT {
  ACL_MEM_HANDLE_TYPE_NONE = 0,
  ACL_MEM_HANDLE_TYPE_POSIX = 2,
} aclrtMemHandleType;

/** How physical memory is allocated. */
typedef enum aclrtMemAllocationType OPENACLNN_ENUM_INT {
  ACL_MEM_ALLOCATION_TYPE_PINNED = 0,
} aclrtMemAllocationType;

/** Properties of physical memory. */
typedef struct aclrtPhysicalMemProp {
  aclrtMemHandleType handleType;         /**< ACL_MEM_HANDLE_TYPE_NONE */
  aclrtMemAllocationType allocationType; /**< ACL_MEM_ALLOCATION_TYPE_PINNED */
  aclrtMemAttr memAttr;                  /**< any kind: one pool stands for all */
  aclrtMemLocation location;             /**< a device */
  uint64_t reserve;                      /**< 0 */
} aclrtPhysicalMemProp;

/* ---- Devices ---- */

/**
 * Makes a device the calling thread's device, with its default context and that context's default
 * stream.
 *
 * Calls are counted per process: the device is in use until aclrtResetDevice is called as often.
 *
 * @param deviceId number from 0 among the visible devices.
 * @retval ACL_ERROR_RT_INVALID_DEVICEID there is no such device.
 * @retval ACL_ERROR_RT_RESOURCE_ALLOC_FAIL no thread of the runtime can be started.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetDevice(int32_t deviceId);

/**
 * Undoes one aclrtSetDevice. The last call waits for the device's work, also for aclrtValueWait,
 * and frees its default context and streams.
 *
 * @param deviceId the number that was set.
 * @retval ACL_ERROR_RT_INVALID_DEVICEID there is no such device.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the device is not set.
 */
ACL_FUNC_VISIBILITY aclError aclrtResetDevice(int32_t deviceId);

/**
 * Tells the calling thread's device.
 *
 * @param[out] deviceId its number.
 * @retval ACL_ERROR_INVALID_PARAM deviceId is null.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has no device yet; frameworks set one when they get
 *     this code.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetDevice(int32_t* deviceId);

/**
 * Counts the devices that ASCEND_RT_VISIBLE_DEVICES lets the process use.
 *
 * @param[out] count their number.
 * @retval ACL_ERROR_INVALID_PARAM count is null.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceCount(uint32_t* count);

/**
 * Waits until all streams of the calling thread's device are empty.
 *
 * The calling thread runs queued work itself while it waits.
 *
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has no device.
 * @return also the first task error that any of the streams still holds.
 */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeDevice(void);

/**
 * As aclrtSynchronizeDevice, for a limited time. The calling thread runs no work. The work goes on
 * when the time is over.
 *
 * @param timeout milliseconds; -1 is for ever.
 * @retval ACL_ERROR_RT_PARAM_INVALID timeout is below -1.
 * @retval ACL_ERROR_RT_STREAM_SYNC_TIMEOUT there was still work when the time was over.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has no device.
 * @return also the first task error that any of the streams still holds.
 */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout);

/**
 * Tells the name of the emulated product: OPENACLNN_SOC of the environment, else Ascend910B1.
 *
 * @return a string that stays valid for the life of the process; NULL when OPENACLNN_SOC names no
 *     known product.
 */
ACL_FUNC_VISIBILITY const char* aclrtGetSocName(void);

/**
 * Tells whether the program runs beside the device or on it. Always ACL_HOST.
 *
 * @param[out] runMode the answer.
 * @retval ACL_ERROR_INVALID_PARAM runMode is null.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetRunMode(aclrtRunMode* runMode);

/**
 * Tells whether a device can read another one's memory.
 *
 * @param[out] canAccessPeer 1 for two different devices, 0 for a device and itself.
 * @param deviceId the one that would read.
 * @param peerDeviceId the one whose memory it would read.
 * @retval ACL_ERROR_INVALID_PARAM canAccessPeer is null.
 * @retval ACL_ERROR_RT_INVALID_DEVICEID one of the devices does not exist.
 */
ACL_FUNC_VISIBILITY aclError aclrtDeviceCanAccessPeer(int32_t* canAccessPeer, int32_t deviceId,
                                                      int32_t peerDeviceId);

/**
 * Allows the calling thread's device to read another one's memory. Twice is not an error.
 *
 * @param peerDeviceId the other device.
 * @param flags must be 0.
 * @retval ACL_ERROR_RT_INVALID_DEVICEID there is no such device.
 * @retval ACL_ERROR_RT_PARAM_INVALID flags is not 0, or the device is the thread's own.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has no device.
 */
ACL_FUNC_VISIBILITY aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags);

/**
 * Undoes aclrtDeviceEnablePeerAccess. Doing it twice is not an error.
 *
 * @param peerDeviceId the other device.
 * @retval ACL_ERROR_RT_INVALID_DEVICEID there is no such device.
 * @retval ACL_ERROR_RT_PARAM_INVALID the device is the thread's own.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has no device.
 */
ACL_FUNC_VISIBILITY aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId);

/**
 * Tells the version of the interface: the same three numbers as ACL_MAJOR_VERSION and its
 * companions in acl/acl.h.
 *
 * @param[out] majorVersion first number.
 * @param[out] minorVersion second number.
 * @param[out] patchVersion third number.
 * @retval ACL_ERROR_INVALID_PARAM one of them is null.
 * @deprecated kept for programs that call it.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion,
                                             int32_t* patchVersion);

/**
 * Tells a fact of a device.
 *
 * @param deviceId number of the device.
 * @param deviceInfo the fact. The size of the cache is not known here: 0.
 * @param[out] value the fact.
 * @retval ACL_ERROR_INVALID_PARAM value is null, or deviceInfo is not in the enumeration.
 * @retval ACL_ERROR_RT_INVALID_DEVICEID there is no such device.
 */
ACL_FUNC_VISIBILITY aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo,
                                                    int64_t* value);

/**
 * Tells the number by which a device knows this process.
 *
 * @param[out] pid the process id.
 * @retval ACL_ERROR_INVALID_PARAM pid is null.
 */
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetBareTgid(int32_t* pid);

/* ---- Settings ---- */

/**
 * Sets what becomes of floats that leave their range. Here they always become infinity or NaN, as
 * in IEEE 754. The mode is kept for aclrtGetDeviceSatMode and changes no result.
 *
 * @retval ACL_ERROR_RT_PARAM_INVALID mode is neither SATURATION nor INFNAN.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode);

/**
 * Tells the mode in force, at first ACL_RT_OVERFLOW_MODE_INFNAN.
 *
 * @param[out] mode the mode.
 * @retval ACL_ERROR_INVALID_PARAM mode is null.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode* mode);

/**
 * Sets how long an operator may run, and how long a stream may wait for an event, in seconds; 0 is
 * the longest. Operators here run in threads of this process, which cannot be stopped from outside.
 * The limits are accepted and end nothing.
 * @{
 */
ACL_FUNC_VISIBILITY aclError aclrtSetOpExecuteTimeOut(uint32_t timeout);
ACL_FUNC_VISIBILITY aclError aclrtSetOpWaitTimeout(uint32_t timeout);
/** @} */

/**
 * Sets and returns a parameter of the process, at first 0. Results here are deterministic for any
 * value of ACL_OPT_DETERMINISTIC; the other parameters change nothing either.
 *
 * @param opt the parameter.
 * @param value 0 or 1; the getter writes it.
 * @retval ACL_ERROR_RT_PARAM_INVALID opt is not in the enumeration, or value is neither 0 nor 1.
 * @retval ACL_ERROR_INVALID_PARAM value is null.
 * @{
 */
ACL_FUNC_VISIBILITY aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value);
ACL_FUNC_VISIBILITY aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t* value);
/** @} */

/**
 * As aclrtSetSysParamOpt and aclrtGetSysParamOpt, for the calling thread's context alone.
 *
 * @retval ACL_ERROR_RT_SYSPARAMOPT_NOT_SET the parameter was never set for the context.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has no context.
 * @{
 */
ACL_FUNC_VISIBILITY aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value);
ACL_FUNC_VISIBILITY aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t* value);
/** @} */

/* ---- Contexts ---- */

/**
 * Makes a context with a default stream of its own and makes it the calling thread's current one.
 *
 * @param[out] context the new context; end it with aclrtDestroyContext.
 * @param deviceId the device that it is for.
 * @retval ACL_ERROR_INVALID_PARAM context is null.
 * @retval ACL_ERROR_RT_INVALID_DEVICEID there is no such device.
 * @retval ACL_ERROR_RT_RESOURCE_ALLOC_FAIL too many contexts, or no thread can be started.
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId);

/**
 * Waits for a context's streams (aclrtValueWait too); ends it and its default stream.
 *
 * @param context one from aclrtCreateContext.
 * @retval ACL_ERROR_RT_INVALID_HANDLE context is null or not a live context.
 * @retval ACL_ERROR_RT_PARAM_INVALID context is a device's default context, which aclrtResetDevice
 *     ends.
 */
ACL_FUNC_VISIBILITY aclError aclrtDestroyContext(aclrtContext context);

/**
 * Makes a context, and with it its device, the calling thread's current one.
 *
 * @param context any live context; it may be current in several threads.
 * @retval ACL_ERROR_RT_INVALID_HANDLE context is null or not a live context.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetCurrentContext(aclrtContext context);

/**
 * Tells the calling thread's current context.
 *
 * @param[out] context the context.
 * @retval ACL_ERROR_INVALID_PARAM context is null.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has none.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetCurrentContext(aclrtContext* context);

/* ---- Streams ---- */

/**
 * Makes a stream of default priority in the current context.
 *
 * @param[out] stream the new stream; end it with aclrtDestroyStream.
 * @retval ACL_ERROR_INVALID_PARAM stream is null.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has no context.
 * @retval ACL_ERROR_RT_NO_STREAM_RESOURCE too many streams.
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateStream(aclrtStream* stream);

/**
 * As aclrtCreateStream, with hints.
 *
 * @param[out] stream the new stream.
 * @param priority 0 is the most urgent; it never changes a result.
 * @param flag ACL_STREAM_* values, or-ed; bits that are not known are ignored.
 * @retval ACL_ERROR_INVALID_PARAM stream is null.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has no context.
 * @retval ACL_ERROR_RT_NO_STREAM_RESOURCE too many streams.
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority,
                                                         uint32_t flag);

/**
 * Waits for a stream's work (aclrtValueWait too) and ends the stream. The log gets a task error
 * that no call has returned. Launches of other threads meanwhile get ACL_ERROR_RT_INVALID_HANDLE.
 *
 * @param stream one from aclrtCreateStream or aclrtCreateStreamWithConfig.
 * @retval ACL_ERROR_INVALID_PARAM stream is null.
 * @retval ACL_ERROR_RT_INVALID_HANDLE stream is not a live stream.
 * @retval ACL_ERROR_RT_STREAM_CONTEXT stream belongs to another context.
 */
ACL_FUNC_VISIBILITY aclError aclrtDestroyStream(aclrtStream stream);

/**
 * As aclrtDestroyStream, but drops the work that has not begun.
 *
 * @param stream one from aclrtCreateStream or aclrtCreateStreamWithConfig.
 * @retval ACL_ERROR_INVALID_PARAM stream is null.
 * @retval ACL_ERROR_RT_INVALID_HANDLE stream is not a live stream.
 * @retval ACL_ERROR_RT_STREAM_CONTEXT stream belongs to another context.
 */
ACL_FUNC_VISIBILITY aclError aclrtDestroyStreamForce(aclrtStream stream);

/**
 * Waits until everything queued in a stream so far is done.
 *
 * The calling thread runs queued work itself while it waits.
 *
 * @param stream the stream; NULL is the default one.
 * @retval ACL_ERROR_RT_INVALID_HANDLE stream is not a live stream.
 * @retval ACL_ERROR_RT_STREAM_CONTEXT stream belongs to another context.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has no context.
 * @return also the first task error of the stream, for instance ACL_ERROR_RT_VECTOR_CORE_EXCEPTION
 *     when values in device memory broke a rule of an operator; aclGetRecentErrMsg names operator,
 *     position and value.
 */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeStream(aclrtStream stream);

/**
 * As aclrtSynchronizeStream, for a limited time. The calling thread runs no work. The work goes on
 * when the time is over.
 *
 * @param stream the stream; NULL is the default one.
 * @param timeout milliseconds; -1 is for ever.
 * @retval ACL_ERROR_RT_PARAM_INVALID timeout is below -1.
 * @retval ACL_ERROR_RT_STREAM_SYNC_TIMEOUT the stream still had work when the time was over.
 * @retval ACL_ERROR_RT_INVALID_HANDLE stream is not a live stream.
 * @retval ACL_ERROR_RT_STREAM_CONTEXT stream belongs to another context.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has no context.
 * @return also the first task error of the stream.
 */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout);

/**
 * Tells, without waiting, whether a stream is empty. A task error stays with the stream.
 *
 * @param stream the stream; NULL is the default one.
 * @param[out] status ACL_STREAM_STATUS_COMPLETE or ACL_STREAM_STATUS_NOT_READY.
 * @retval ACL_ERROR_INVALID_PARAM status is null.
 * @retval ACL_ERROR_RT_INVALID_HANDLE stream is not a live stream.
 * @retval ACL_ERROR_RT_STREAM_CONTEXT stream belongs to another context.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status);

/**
 * Chooses what happens to the rest of a stream's work after a task of it has failed.
 *
 * @param stream the stream; NULL is the default one.
 * @param mode ACL_CONTINUE_ON_FAILURE: later tasks run, the default; ACL_STOP_ON_FAILURE: they are
 *     dropped until a synchronise has returned the error.
 * @retval ACL_ERROR_RT_PARAM_INVALID mode is neither of them.
 * @retval ACL_ERROR_RT_INVALID_HANDLE stream is not a live stream.
 * @retval ACL_ERROR_RT_STREAM_CONTEXT stream belongs to another context.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode);

/**
 * Sets and returns whether later work of a stream looks for numbers that leave their range, as on
 * products with saturating floats. Here floats become infinity or NaN on every product, so results
 * show it themselves. The switch is kept and changes nothing.
 *
 * @param stream the stream; NULL is the default one.
 * @param flag 0 is off, at first; 1 is on. The getter writes the last value set.
 * @retval ACL_ERROR_INVALID_PARAM flag is null.
 * @retval ACL_ERROR_RT_INVALID_HANDLE stream is not a live stream.
 * @retval ACL_ERROR_RT_STREAM_CONTEXT stream belongs to another context.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has no context.
 * @{
 */
ACL_FUNC_VISIBILITY aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag);
ACL_FUNC_VISIBILITY aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t* flag);
/** @} */

/**
 * Queues the write of a 64-bit number to device memory. Asynchronous.
 *
 * @param devAddr the number's address in device memory, a multiple of 8.
 * @param value the number.
 * @param flag 0.
 * @param stream the stream; NULL is the default one.
 * @retval ACL_ERROR_INVALID_PARAM devAddr is null.
 * @retval ACL_ERROR_RT_PARAM_INVALID devAddr is not such an address, or flag is not 0.
 * @retval ACL_ERROR_RT_INVALID_HANDLE stream is not a live stream.
 * @retval ACL_ERROR_RT_STREAM_CONTEXT stream belongs to another context.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtValueWrite(void* devAddr, uint64_t value, uint32_t flag,
                                             aclrtStream stream);

/**
 * Makes the later work of a stream wait until a number in device memory fulfils a condition.
 * aclrtValueWrite, an operator, a copy or a fill may write it. Asynchronous: the host goes on. A
 * stream's end waits too, for ever if nothing writes the number; the log says so after 5 s.
 *
 * @param devAddr the number's address in device memory, a multiple of 8.
 * @param value the number is compared with it.
 * @param flag ACL_STREAM_WAIT_VALUE_*: the condition.
 * @param stream the stream that waits; NULL is the default one.
 * @retval ACL_ERROR_INVALID_PARAM devAddr is null.
 * @retval ACL_ERROR_RT_PARAM_INVALID devAddr is not such an address, or flag is not such a value.
 * @retval ACL_ERROR_RT_INVALID_HANDLE stream is not a live stream.
 * @retval ACL_ERROR_RT_STREAM_CONTEXT stream belongs to another context.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtValueWait(void* devAddr, uint64_t value, uint32_t flag,
                                            aclrtStream stream);

/* ---- Events ---- */

/*
 * Recording an event marks the end of all work that its stream has queued; a later record moves the
 * mark. An event that was never recorded, or was reset, counts as reached: nothing waits for it.
 */

/**
 * Makes an event that can be recorded, waited for, queried and read for its time, but not reset.
 *
 * @param[out] event the new event; end it with aclrtDestroyEvent.
 * @retval ACL_ERROR_INVALID_PARAM event is null.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has no context.
 * @retval ACL_ERROR_RT_NO_EVENT_RESOURCE too many events.
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateEvent(aclrtEvent* event);

/**
 * Makes an event for chosen uses.
 *
 * @param[out] event the new event.
 * @param flag ACL_EVENT_* values, or-ed. Without ACL_EVENT_SYNC no stream can wait for the event
 *     and it cannot be reset; without ACL_EVENT_TIME_LINE it keeps no time. The others are accepted
 *     and change nothing.
 * @retval ACL_ERROR_INVALID_PARAM event is null.
 * @retval ACL_ERROR_RT_PARAM_INVALID flag is 0 or has a bit that is no ACL_EVENT_* value.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has no context.
 * @retval ACL_ERROR_RT_NO_EVENT_RESOURCE too many events.
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag);

/**
 * As aclrtCreateEventWithFlag, for an event that is recorded again and again: each wait and each
 * query is about the latest record before it.
 *
 * @param[out] event the new event.
 * @param flag as in aclrtCreateEventWithFlag.
 * @retval ACL_ERROR_INVALID_PARAM event is null.
 * @retval ACL_ERROR_RT_PARAM_INVALID flag is 0 or has a bit that is no ACL_EVENT_* value.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has no context.
 * @retval ACL_ERROR_RT_NO_EVENT_RESOURCE too many events.
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag);

/**
 * Ends an event at once. Streams that already wait for it are still released when its mark is
 * reached.
 *
 * @param event one from the functions above.
 * @retval ACL_ERROR_INVALID_PARAM event is null.
 * @retval ACL_ERROR_RT_INVALID_HANDLE event is not a live event.
 */
ACL_FUNC_VISIBILITY aclError aclrtDestroyEvent(aclrtEvent event);

/**
 * Marks the end of all work that a stream has queued. Asynchronous.
 *
 * @param event the mark.
 * @param stream the stream; NULL is the default one.
 * @retval ACL_ERROR_RT_INVALID_HANDLE event is null or not a live event, or stream is not a live
 *     stream.
 * @retval ACL_ERROR_RT_STREAM_CONTEXT stream belongs to another context.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream);

/**
 * Queues the removal of an event's mark. Asynchronous.
 *
 * @param event one made with ACL_EVENT_SYNC.
 * @param stream the stream that removes it in its order; NULL is the default one.
 * @retval ACL_ERROR_RT_PARAM_INVALID event was made without ACL_EVENT_SYNC.
 * @retval ACL_ERROR_RT_INVALID_HANDLE event is null or not a live event, or stream is not a live
 *     stream.
 * @retval ACL_ERROR_RT_STREAM_CONTEXT stream belongs to another context.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream);

/**
 * Makes the later work of a stream wait until an event's latest mark is reached. Asynchronous: the
 * host goes on.
 *
 * A task error of the stream that recorded the event is not passed on.
 *
 * @param stream the stream that waits; NULL is the default one.
 * @param event one from aclrtCreateEvent, or made with ACL_EVENT_SYNC; of any stream, context or
 *     device.
 * @retval ACL_ERROR_RT_PARAM_INVALID event was made with flags that lack ACL_EVENT_SYNC.
 * @retval ACL_ERROR_RT_INVALID_HANDLE event is null or not a live event, or stream is not a live
 *     stream.
 * @retval ACL_ERROR_RT_STREAM_CONTEXT stream belongs to another context.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event);

/**
 * Waits until an event's latest mark is reached. The calling thread runs queued work itself while
 * it waits.
 *
 * @param event the event.
 * @retval ACL_ERROR_RT_INVALID_HANDLE event is null or not a live event.
 * @return also the first task error of the stream that the event was recorded in.
 */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeEvent(aclrtEvent event);

/**
 * As aclrtSynchronizeEvent, for a limited time. The work goes on when the time is over.
 *
 * @param event the event.
 * @param timeout milliseconds; -1 is for ever.
 * @retval ACL_ERROR_RT_INVALID_HANDLE event is null or not a live event.
 * @retval ACL_ERROR_RT_PARAM_INVALID timeout is below -1.
 * @retval ACL_ERROR_RT_STREAM_SYNC_TIMEOUT the event was not reached when the time was over.
 * @return also the first task error of the stream that the event was recorded in.
 */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout);

/**
 * Tells when an event was reached, counted from the machine's start. Synchronise it first.
 *
 * @param event the event.
 * @param[out] timestamp microseconds.
 * @retval ACL_ERROR_INVALID_PARAM timestamp is null.
 * @retval ACL_ERROR_RT_INVALID_HANDLE event is null or not a live event.
 * @retval ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID event was never recorded, or was made with flags
 *     that lack ACL_EVENT_TIME_LINE.
 * @retval ACL_ERROR_RT_EVENT_NOT_COMPLETE event is not reached yet.
 */
ACL_FUNC_VISIBILITY aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* timestamp);

/**
 * Tells, without waiting, whether an event's latest mark is reached.
 *
 * @param event the event.
 * @param[out] status ACL_EVENT_RECORDED_STATUS_COMPLETE (1) or ACL_EVENT_RECORDED_STATUS_NOT_READY
 *     (0).
 * @retval ACL_ERROR_INVALID_PARAM status is null.
 * @retval ACL_ERROR_RT_INVALID_HANDLE event is null or not a live event.
 */
ACL_FUNC_VISIBILITY aclError aclrtQueryEventStatus(aclrtEvent event,
                                                   aclrtEventRecordedStatus* status);

/**
 * Does what aclrtQueryEventStatus does, with the numbers of aclrtEventStatus.
 *
 * @param event the event.
 * @param[out] status ACL_EVENT_STATUS_COMPLETE (0) or ACL_EVENT_STATUS_NOT_READY (1).
 * @retval ACL_ERROR_INVALID_PARAM status is null.
 * @retval ACL_ERROR_RT_INVALID_HANDLE event is null or not a live event.
 * @deprecated aclrtQueryEventStatus.
 */
ACL_FUNC_VISIBILITY aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus* status);

/**
 * Tells, without waiting, whether every wait for an event that is queued so far has ended.
 *
 * @param event the event.
 * @param[out] status ACL_EVENT_WAIT_STATUS_COMPLETE, also when nothing ever waited, or
 *     ACL_EVENT_WAIT_STATUS_NOT_READY.
 * @retval ACL_ERROR_INVALID_PARAM status or event is null.
 * @retval ACL_ERROR_RT_INVALID_HANDLE event is not a live event.
 */
ACL_FUNC_VISIBILITY aclError aclrtQueryEventWaitStatus(aclrtEvent event,
                                                       aclrtEventWaitStatus* status);

/**
 * Tells the time between two events that are both reached. Synchronise the second one first.
 *
 * @param[out] ms milliseconds from startEvent to endEvent.
 * @param startEvent the earlier one.
 * @param endEvent the later one, recorded in the same stream.
 * @retval ACL_ERROR_INVALID_PARAM ms is null.
 * @retval ACL_ERROR_RT_INVALID_HANDLE one of the events is null or not a live event.
 * @retval ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID one was never recorded, or was made with flags that
 *     lack ACL_EVENT_TIME_LINE.
 * @retval ACL_ERROR_RT_EVENT_NOT_COMPLETE one is not reached yet.
 * @retval ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL endEvent was reached before startEvent.
 */
ACL_FUNC_VISIBILITY aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent,
                                                   aclrtEvent endEvent);

/* ---- Memory ---- */

/**
 * Allocates device memory of the current device. Its contents are undefined.
 *
 * Waits for no stream.
 *
 * @param[out] devPtr its address, a multiple of 64.
 * @param size bytes, more than 0; rounded up to a multiple of 32, with 32 more on most products.
 * @param policy preferred page size and kind of memory; a hint.
 * @retval ACL_ERROR_INVALID_PARAM devPtr is null or size is 0.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has no device.
 * @retval ACL_ERROR_RT_MEMORY_ALLOCATION there is not that much memory.
 */
ACL_FUNC_VISIBILITY aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy);

/**
 * As aclrtMalloc, without the 32 extra bytes.
 *
 * @param[out] devPtr its address, a multiple of 64.
 * @param size bytes, more than 0; rounded up to a multiple of 32.
 * @param policy preferred page size and kind of memory; a hint.
 * @retval ACL_ERROR_INVALID_PARAM devPtr is null or size is 0.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has no device.
 * @retval ACL_ERROR_RT_MEMORY_ALLOCATION there is not that much memory.
 */
ACL_FUNC_VISIBILITY aclError aclrtMallocAlign32(void** devPtr, size_t size,
                                                aclrtMemMallocPolicy policy);

/**
 * Frees device memory.
 *
 * Waits for no stream: the address is invalid at once; memory that queued work uses is kept until
 * that work is done. A block that aclFinalize freed may be freed once more, until the next aclInit:
 * this does nothing and returns 0. Static objects of programs free theirs that late.
 *
 * @param devPtr an address from aclrtMalloc or aclrtMallocAlign32.
 * @retval ACL_ERROR_INVALID_PARAM devPtr is null.
 * @retval ACL_ERROR_RT_PARAM_INVALID no live allocation of device memory starts there.
 */
ACL_FUNC_VISIBILITY aclError aclrtFree(void* devPtr);

/**
 * Allocates pinned memory: host memory that asynchronous copies use directly, without an extra copy
 * of it.
 *
 * It is host memory: operators refuse it as tensor data. Its contents are undefined.
 *
 * @param[out] hostPtr its address, a multiple of 64.
 * @param size bytes, more than 0.
 * @retval ACL_ERROR_INVALID_PARAM hostPtr is null or size is 0.
 * @retval ACL_ERROR_RT_MEMORY_ALLOCATION there is not that much memory.
 */
ACL_FUNC_VISIBILITY aclError aclrtMallocHost(void** hostPtr, size_t size);

/** Attributes of an allocation of host memory. */
typedef enum aclrtMallocAttrType OPENACLNN_ENUM_INT {
  ACL_RT_MEM_ATTR_RSV = 0,
  ACL_RT_MEM_ATTR_MODULE_ID = 1, /**< whose memory it is, for statistics */
  ACL_RT_MEM_ATTR_DEVICE_ID = 2, /**< the device that uses it */
  ACL_RT_MEM_ATTR_VA_FLAG = 3,   /**< 1: host and device use the same address */
} aclrtMallocAttrType;

/** The value of an attribute, in the member of its type. */
typedef union aclrtMallocAttrValue {
  uint16_t moduleId;
  uint32_t deviceId;
  uint32_t vaFlag;
  uint8_t rsv[8];
} aclrtMallocAttrValue;

/** An attribute and its value. */
typedef struct aclrtMallocAttribute {
  aclrtMallocAttrType attr;
  aclrtMallocAttrValue value;
} aclrtMallocAttribute;

/** The attributes of an allocation. */
typedef struct aclrtMallocConfig {
  aclrtMallocAttribute* attrs;
  size_t numAttrs;
} aclrtMallocConfig;

/**
 * As aclrtMallocHost, with attributes; aclrtFreeHost frees the memory.
 *
 * @param[out] ptr its address.
 * @param size bytes, more than 0.
 * @param cfg NULL, or attributes: a module, which is accepted and changes nothing; an existing
 *     device; and vaFlag 0.
 * @retval ACL_ERROR_INVALID_PARAM ptr is null, size is 0, or cfg has attributes without an address.
 * @retval ACL_ERROR_RT_PARAM_INVALID an attribute is not in the enumeration.
 * @retval ACL_ERROR_RT_INVALID_DEVICEID there is no such device.
 * @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT vaFlag is not 0: the device has addresses of its own.
 * @retval ACL_ERROR_RT_MEMORY_ALLOCATION there is not that much memory.
 */
ACL_FUNC_VISIBILITY aclError aclrtMallocHostWithCfg(void** ptr, uint64_t size,
                                                    aclrtMallocConfig* cfg);

/**
 * Frees host memory, as aclrtFree does: queued copies that use it still run.
 *
 * @param hostPtr an address from aclrtMallocHost.
 * @retval ACL_ERROR_INVALID_PARAM hostPtr is null.
 * @retval ACL_ERROR_RT_PARAM_INVALID no live allocation of pinned memory starts there.
 */
ACL_FUNC_VISIBILITY aclError aclrtFreeHost(void* hostPtr);

/** Kinds of registered host memory. */
typedef enum aclrtHostRegisterType OPENACLNN_ENUM_INT {
  ACL_HOST_REGISTER_MAPPED = 0, /**< the device can use it too */
} aclrtHostRegisterType;

/**
 * Gives host memory an address at which operators reach it. The program keeps its own address. It
 * must not free the memory before aclrtHostUnregister and before queued work that uses it is
 * done.
 *
 * @param ptr any memory of the process; a multiple of 4096.
 * @param size bytes, more than 0.
 * @param type ACL_HOST_REGISTER_MAPPED.
 * @param[out] devPtr the device's address of the memory.
 * @retval ACL_ERROR_INVALID_PARAM ptr or devPtr is null.
 * @retval ACL_ERROR_RT_PARAM_INVALID another argument is wrong, or ptr is registered already.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has no context.
 * @retval ACL_ERROR_RT_MEMORY_ALLOCATION the process has no address space left.
 */
ACL_FUNC_VISIBILITY aclError aclrtHostRegister(void* ptr, uint64_t size, aclrtHostRegisterType type,
                                               void** devPtr);

/**
 * Removes the device's address once queued work is done. Graphs that use it cannot run again.
 *
 * @param ptr the address given to aclrtHostRegister.
 * @retval ACL_ERROR_INVALID_PARAM ptr is null.
 * @retval ACL_ERROR_RT_PARAM_INVALID ptr is not registered.
 */
ACL_FUNC_VISIBILITY aclError aclrtHostUnregister(void* ptr);

/**
 * Copies bytes and returns when the copy is done. It is ordered with no stream: first synchronise
 * the stream that writes the source.
 *
 * The ranges may not overlap.
 *
 * @param dst the destination.
 * @param destMax size of the memory at dst, in bytes.
 * @param src the source.
 * @param count bytes to copy; with 0 nothing is done.
 * @param kind a hint; the addresses decide.
 * @retval ACL_ERROR_INVALID_PARAM dst or src is null.
 * @retval ACL_ERROR_RT_PARAM_INVALID count is more than destMax, kind is not in the enumeration, or
 *     a range leaves the allocation that it starts in or the memory of the process. Nothing is
 *     written.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count,
                                         aclrtMemcpyKind kind);

/**
 * Queues a copy in a stream.
 *
 * Host memory from aclrtMallocHost must stay untouched until the copy is done; with other host
 * memory the call returns after the copy.
 *
 * @param dst the destination.
 * @param destMax size of the memory at dst, in bytes.
 * @param src the source.
 * @param count bytes to copy; with 0 nothing is done.
 * @param kind must agree with where the addresses point; ACL_MEMCPY_DEFAULT always does.
 * @param stream the stream; NULL is the default one.
 * @retval ACL_ERROR_INVALID_PARAM dst or src is null.
 * @retval ACL_ERROR_RT_PARAM_INVALID count is more than destMax, a range leaves the allocation that
 *     it starts in, or kind does not fit the addresses or is not in the enumeration.
 * @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT kind is ACL_MEMCPY_HOST_TO_HOST.
 * @retval ACL_ERROR_RT_INVALID_HANDLE stream is not a live stream.
 * @retval ACL_ERROR_RT_STREAM_CONTEXT stream belongs to another context.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src,
                                              size_t count, aclrtMemcpyKind kind,
                                              aclrtStream stream);

/**
 * Copies a rectangle of bytes between two arrays of rows and returns when the copy is done.
 *
 * @param dst first byte to write.
 * @param dpitch bytes from one row of dst to the next.
 * @param src first byte to read.
 * @param spitch bytes from one row of src to the next.
 * @param width bytes to copy of each row.
 * @param height rows; with width or height 0 nothing is done.
 * @param kind a hint; the addresses decide.
 * @retval ACL_ERROR_INVALID_PARAM dst or src is null.
 * @retval ACL_ERROR_RT_PARAM_INVALID width is more than a pitch, the rows leave the allocation that
 *     they start in, or kind is not in the enumeration; nothing is written.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch,
                                           size_t width, size_t height, aclrtMemcpyKind kind);

/**
 * Queues a copy of a rectangle in a stream, with the arguments of aclrtMemcpy2d and the rules of
 * aclrtMemcpyAsync.
 *
 * @param dst first byte to write.
 * @param dpitch bytes from one row of dst to the next.
 * @param src first byte to read.
 * @param spitch bytes from one row of src to the next.
 * @param width bytes to copy of each row.
 * @param height rows; with width or height 0 nothing is done.
 * @param kind must agree with where the addresses point; ACL_MEMCPY_DEFAULT always does.
 * @param stream the stream; NULL is the default one.
 * @retval ACL_ERROR_INVALID_PARAM dst or src is null.
 * @retval ACL_ERROR_RT_PARAM_INVALID width is more than a pitch, the rows leave the allocation that
 *     they start in, or kind does not fit the addresses or is not in the enumeration.
 * @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT kind is ACL_MEMCPY_HOST_TO_HOST.
 * @retval ACL_ERROR_RT_INVALID_HANDLE stream is not a live stream.
 * @retval ACL_ERROR_RT_STREAM_CONTEXT stream belongs to another context.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpy2dAsync(void* dst, size_t dpitch, const void* src,
                                                size_t spitch, size_t width, size_t height,
                                                aclrtMemcpyKind kind, aclrtStream stream);

/**
 * Sets bytes of host or device memory and returns when they are set.
 *
 * @param devPtr first byte.
 * @param maxCount size of the memory at devPtr, in bytes.
 * @param value its lowest 8 bits are written to every byte.
 * @param count bytes to set; with 0 nothing is done.
 * @retval ACL_ERROR_INVALID_PARAM devPtr is null.
 * @retval ACL_ERROR_RT_PARAM_INVALID count is more than maxCount, or the range leaves the
 *     allocation that it starts in; nothing is written.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value,
                                         size_t count);

/**
 * Does what aclrtMemset does, queued in a stream.
 *
 * @param devPtr first byte.
 * @param maxCount size of the memory at devPtr, in bytes.
 * @param value its lowest 8 bits are written to every byte.
 * @param count bytes to set; with 0 nothing is done.
 * @param stream the stream; NULL is the default one.
 * @retval ACL_ERROR_INVALID_PARAM devPtr is null.
 * @retval ACL_ERROR_RT_PARAM_INVALID count is more than maxCount, or the range leaves the
 *     allocation that it starts in.
 * @retval ACL_ERROR_RT_INVALID_HANDLE stream is not a live stream.
 * @retval ACL_ERROR_RT_STREAM_CONTEXT stream belongs to another context.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value,
                                              size_t count, aclrtStream stream);

/** Operations on the device's cache. */
typedef enum aclrtCmoType OPENACLNN_ENUM_INT {
  ACL_RT_CMO_TYPE_PREFETCH = 0,
  ACL_RT_CMO_TYPE_WRITEBACK = 1,
  ACL_RT_CMO_TYPE_INVALID = 2,
  ACL_RT_CMO_TYPE_FLUSH = 3,
} aclrtCmoType;

/**
 * Queues a prefetch in a stream: later work may find the bytes in the cache. Changes no result.
 *
 * @param src first byte, in device memory.
 * @param size bytes; at most the first MiB is fetched.
 * @param cmoType ACL_RT_CMO_TYPE_PREFETCH.
 * @param stream the stream; NULL is the default one.
 * @retval ACL_ERROR_INVALID_PARAM src is null.
 * @retval ACL_ERROR_RT_PARAM_INVALID cmoType is another value, or the range is not device memory of
 *     one allocation.
 * @retval ACL_ERROR_RT_INVALID_HANDLE stream is not a live stream.
 * @retval ACL_ERROR_RT_STREAM_CONTEXT stream belongs to another context.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtCmoAsync(void* src, size_t size, aclrtCmoType cmoType,
                                           aclrtStream stream);

/**
 * Tells how much memory the current device has.
 *
 * @param attr the kind of memory. One pool serves all kinds, also those that the product does not
 *     have; a number that names no kind gives 0 and 0.
 * @param[out] free bytes not in use.
 * @param[out] total bytes in all.
 * @retval ACL_ERROR_INVALID_PARAM free or total is null.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has no device.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t* free, size_t* total);

/**
 * Tells which memory an address points to.
 *
 * @param ptr any address; it is not read.
 * @param[out] attributes device memory with its device, pinned host memory, or
 *     ACL_MEM_LOCATION_TYPE_UNREGISTERED for memory that the runtime did not allocate.
 * @retval ACL_ERROR_INVALID_PARAM attributes is null.
 * @retval ACL_ERROR_RT_PARAM_INVALID ptr is null.
 */
ACL_FUNC_VISIBILITY aclError aclrtPointerGetAttributes(const void* ptr,
                                                       aclrtPtrAttributes* attributes);

/* ---- Virtual memory ---- */

/** Kinds of granularity. */
typedef enum aclrtMemGranularityOptions OPENACLNN_ENUM_INT {
  ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM = 0,
  ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED = 1,
} aclrtMemGranularityOptions;

/**
 * Tells the unit of sizes and of mapped addresses of physical memory.
 *
 * @param prop the kind of memory.
 * @param option either value; both give the same here.
 * @param[out] granularity bytes: 2 MiB.
 * @retval ACL_ERROR_INVALID_PARAM prop or granularity is null.
 * @retval ACL_ERROR_RT_PARAM_INVALID another argument is not as listed.
 * @retval ACL_ERROR_RT_INVALID_DEVICEID prop names no device.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp* prop,
                                                              aclrtMemGranularityOptions option,
                                                              size_t* granularity);

/**
 * Reserves a range of addresses, to be backed by physical memory later.
 *
 * @param[out] virPtr the first address.
 * @param size bytes, more than 0; rounded up to a multiple of 2 MiB.
 * @param alignment 0, which means 2 MiB.
 * @param expectPtr NULL: anywhere.
 * @param flags 0 or 1, the size of pages, which is ignored here.
 * @retval ACL_ERROR_INVALID_PARAM virPtr is null or size is 0.
 * @retval ACL_ERROR_RT_PARAM_INVALID another argument is not as listed.
 * @retval ACL_ERROR_RT_MEMORY_ALLOCATION the process has no address space left.
 */
ACL_FUNC_VISIBILITY aclError aclrtReserveMemAddress(void** virPtr, size_t size, size_t alignment,
                                                    void* expectPtr, uint64_t flags);

/**
 * Releases a reserved range once tasks that were queued with its memory are done. After aclFinalize
 * it acts as aclrtFree does.
 *
 * @retval ACL_ERROR_INVALID_PARAM virPtr is null.
 * @retval ACL_ERROR_RT_PARAM_INVALID virPtr is not the start of a reserved range, or memory is
 *     mapped there.
 */
ACL_FUNC_VISIBILITY aclError aclrtReleaseMemAddress(void* virPtr);

/**
 * Allocates physical memory without an address.
 *
 * @param[out] handle the memory.
 * @param size bytes; a multiple of 2 MiB.
 * @param prop the kind of memory.
 * @param flags 0.
 * @retval ACL_ERROR_INVALID_PARAM handle or prop is null, or size is 0.
 * @retval ACL_ERROR_RT_PARAM_INVALID another argument is not as listed.
 * @retval ACL_ERROR_RT_INVALID_DEVICEID prop names no device.
 * @retval ACL_ERROR_RT_MEMORY_ALLOCATION, ACL_ERROR_RT_RESOURCE_ALLOC_FAIL no memory, or no handle.
 */
ACL_FUNC_VISIBILITY aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t size,
                                                 const aclrtPhysicalMemProp* prop, uint64_t flags);

/**
 * Frees physical memory; aclFinalize frees the rest. Mapped memory stays until aclrtUnmapMem.
 *
 * @retval ACL_ERROR_INVALID_PARAM handle is null.
 * @retval ACL_ERROR_RT_INVALID_HANDLE handle is not live physical memory.
 */
ACL_FUNC_VISIBILITY aclError aclrtFreePhysical(aclrtDrvMemHandle handle);

/**
 * Maps physical memory to reserved addresses. Adjacent ranges can be used as one.
 *
 * @param virPtr an address in a reserved range, a multiple of 2 MiB from its start.
 * @param size bytes, as many as the physical memory has.
 * @param offset 0.
 * @param handle the physical memory.
 * @param flags 0.
 * @retval ACL_ERROR_INVALID_PARAM virPtr is null.
 * @retval ACL_ERROR_RT_INVALID_HANDLE handle is not live physical memory.
 * @retval ACL_ERROR_RT_PARAM_INVALID the range is not reserved and free, or an argument is wrong.
 * @retval ACL_ERROR_RT_MEMORY_ALLOCATION the kernel has no room for another mapping.
 */
ACL_FUNC_VISIBILITY aclError aclrtMapMem(void* virPtr, size_t size, size_t offset,
                                         aclrtDrvMemHandle handle, uint64_t flags);

/**
 * Undoes an aclrtMapMem once queued tasks and graphs are gone; aclFinalize undoes the rest.
 *
 * @retval ACL_ERROR_INVALID_PARAM virPtr is null.
 * @retval ACL_ERROR_RT_PARAM_INVALID virPtr is not where memory was mapped.
 */
ACL_FUNC_VISIBILITY aclError aclrtUnmapMem(void* virPtr);

/**
 * Shares physical memory with other processes.
 *
 * @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT always.
 * @{
 */
ACL_FUNC_VISIBILITY aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle,
                                                             aclrtMemHandleType handleType,
                                                             uint64_t flags,
                                                             uint64_t* shareableHandle);
ACL_FUNC_VISIBILITY aclError aclrtMemImportFromShareableHandle(uint64_t shareableHandle,
                                                               int32_t deviceId,
                                                               aclrtDrvMemHandle* handle);
ACL_FUNC_VISIBILITY aclError aclrtMemSetPidToShareableHandle(uint64_t shareableHandle, int32_t* pid,
                                                             size_t pidNum);
/** @} */

/* ---- Functions of the host in a stream ---- */

/**
 * Names the thread that runs the callbacks of a stream: the one that calls aclrtProcessReport.
 *
 * A stream has one such thread; a thread may serve several streams.
 *
 * @param threadId the thread, as pthread_self() names it.
 * @param stream the stream; NULL is the default one.
 * @retval ACL_ERROR_RT_STREAM_SUBSCRIBE the stream already has a thread.
 * @retval ACL_ERROR_RT_INVALID_HANDLE stream is not a live stream.
 * @retval ACL_ERROR_RT_STREAM_CONTEXT stream belongs to another context.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream);

/**
 * Undoes aclrtSubscribeReport.
 *
 * @param threadId the thread that was named.
 * @param stream the stream; NULL is the default one.
 * @retval ACL_ERROR_RT_STREAM_NO_CB_REG the stream has no thread.
 * @retval ACL_ERROR_RT_THREAD_SUBSCRIBE the stream's thread is another one.
 * @retval ACL_ERROR_RT_INVALID_HANDLE stream is not a live stream.
 * @retval ACL_ERROR_RT_STREAM_CONTEXT stream belongs to another context.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream);

/**
 * Waits for callbacks of the streams that the calling thread serves, runs those that are due, and
 * returns.
 *
 * @param timeout milliseconds to wait for the first one; -1 is for ever.
 * @retval ACL_ERROR_RT_PARAM_INVALID timeout is below -1.
 * @retval ACL_ERROR_RT_THREAD_SUBSCRIBE the calling thread serves no stream.
 * @retval ACL_ERROR_RT_REPORT_TIMEOUT no callback came in time.
 */
ACL_FUNC_VISIBILITY aclError aclrtProcessReport(int32_t timeout);

/**
 * Queues a host function. The thread that serves the stream runs it. Asynchronous.
 *
 * The function must not wait for work of the runtime. If it throws, the stream gets an error.
 *
 * @param fn the function.
 * @param userData the argument of the function.
 * @param blockType ACL_CALLBACK_BLOCK: later work of the stream waits for the function;
 *     ACL_CALLBACK_NO_BLOCK: it does not.
 * @param stream the stream; NULL is the default one.
 * @retval ACL_ERROR_INVALID_PARAM blockType is not in the enumeration.
 * @retval ACL_ERROR_RT_PARAM_INVALID fn is null.
 * @retval ACL_ERROR_RT_STREAM_NO_CB_REG no thread serves the stream.
 * @retval ACL_ERROR_RT_INVALID_HANDLE stream is not a live stream.
 * @retval ACL_ERROR_RT_STREAM_CONTEXT stream belongs to another context.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtLaunchCallback(aclrtCallback fn, void* userData,
                                                 aclrtCallbackBlockType blockType,
                                                 aclrtStream stream);

/**
 * Queues a host function. A thread of the runtime runs it, and later work of the stream waits for
 * it. Asynchronous; needs no subscription.
 *
 * A function that blocks holds up its own stream only; other streams' functions run on other
 * threads. It must not wait for work of the runtime. If it throws, the stream gets an error.
 *
 * @param stream the stream; NULL is the default one.
 * @param func the function.
 * @param args the argument of the function.
 * @retval ACL_ERROR_RT_PARAM_INVALID func is null.
 * @retval ACL_ERROR_RT_INVALID_HANDLE stream is not a live stream.
 * @retval ACL_ERROR_RT_STREAM_CONTEXT stream belongs to another context.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc func,
                                                 void* args);

/* ---- Memory that operators take by themselves ---- */

/** A description of an allocator of the program. Opaque. */
typedef void* aclrtAllocatorDesc;
/** The argument of an allocator's functions, a block that they return, an address. @{ */
typedef void* aclrtAllocator;
typedef void* aclrtAllocatorBlock;
typedef void* aclrtAllocatorAddr;
/** @} */

/** Returns a block of at least `size` bytes of device memory, or NULL. */
typedef aclrtAllocatorBlock (*aclrtAllocatorAllocFunc)(aclrtAllocator allocator, size_t size);
/** Takes a block back: work that is queued later in the stream may use its memory. */
typedef void (*aclrtAllocatorFreeFunc)(aclrtAllocator allocator, aclrtAllocatorBlock block);
/** As aclrtAllocatorAllocFunc, at the given address if possible. Not called here. */
typedef aclrtAllocatorBlock (*aclrtAllocatorAllocAdviseFunc)(aclrtAllocator allocator, size_t size,
                                                             aclrtAllocatorAddr addr);
/** Returns the address of a block. */
typedef aclrtAllocatorAddr (*aclrtAllocatorGetAddrFromBlockFunc)(aclrtAllocatorBlock block);

/** Makes an empty description, to be ended with aclrtAllocatorDestroyDesc; NULL when memory is
 * short. */
ACL_FUNC_VISIBILITY aclrtAllocatorDesc aclrtAllocatorCreateDesc(void);

/**
 * Ends a description, or sets a part of it. Streams that it was registered for keep their copy.
 *
 * @param allocatorDesc the description.
 * @param allocator the argument of the functions.
 * @param func the function.
 * @retval ACL_ERROR_INVALID_PARAM allocatorDesc is NULL.
 * @retval ACL_ERROR_RT_INVALID_HANDLE allocatorDesc is not a live description.
 * @{
 */
ACL_FUNC_VISIBILITY aclError aclrtAllocatorDestroyDesc(aclrtAllocatorDesc allocatorDesc);
ACL_FUNC_VISIBILITY aclError aclrtAllocatorSetObjToDesc(aclrtAllocatorDesc allocatorDesc,
                                                        aclrtAllocator allocator);
ACL_FUNC_VISIBILITY aclError aclrtAllocatorSetAllocFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                                              aclrtAllocatorAllocFunc func);
ACL_FUNC_VISIBILITY aclError aclrtAllocatorSetFreeFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                                             aclrtAllocatorFreeFunc func);
ACL_FUNC_VISIBILITY aclError aclrtAllocatorSetAllocAdviseFuncToDesc(
    aclrtAllocatorDesc allocatorDesc, aclrtAllocatorAllocAdviseFunc func);
ACL_FUNC_VISIBILITY aclError aclrtAllocatorSetGetAddrFromBlockFuncToDesc(
    aclrtAllocatorDesc allocatorDesc, aclrtAllocatorGetAddrFromBlockFunc func);
/** @} */

/**
 * Lets operators that are called by their graph names (aclopCompileAndExecute) take their workspace
 * from the program's allocator, in this stream, until aclrtAllocatorUnregister.
 *
 * @param stream the stream; NULL is the default one.
 * @param allocatorDesc a description with all functions; allocAdviseFunc may be missing. It is
 *     copied and replaces the one before.
 * @retval ACL_ERROR_INVALID_PARAM allocatorDesc is NULL, or lacks a function.
 * @retval ACL_ERROR_RT_INVALID_HANDLE stream is not a live stream, or allocatorDesc not a live
 *     description.
 * @retval ACL_ERROR_RT_STREAM_CONTEXT stream belongs to another context.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtAllocatorRegister(aclrtStream stream,
                                                    aclrtAllocatorDesc allocatorDesc);

/**
 * Undoes aclrtAllocatorRegister. Without an allocator it does nothing.
 *
 * @param stream the stream; NULL is the default one.
 * @retval ACL_ERROR_RT_INVALID_HANDLE stream is not a live stream.
 * @retval ACL_ERROR_RT_STREAM_CONTEXT stream belongs to another context.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtAllocatorUnregister(aclrtStream stream);

/**
 * Tells the allocator that is registered for a stream; NULL if there is none.
 *
 * @param stream the stream; NULL is the default one.
 * @param[out] allocatorDesc the description; may be NULL, as the others may.
 * @param[out] allocator the argument of the functions.
 * @param[out] allocFunc the functions.
 * @param[out] freeFunc
 * @param[out] allocAdviseFunc
 * @param[out] getAddrFromBlockFunc
 * @retval ACL_ERROR_RT_INVALID_HANDLE stream is not a live stream.
 * @retval ACL_ERROR_RT_STREAM_CONTEXT stream belongs to another context.
 * @retval ACL_ERROR_RT_CONTEXT_NULL the thread has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtAllocatorGetByStream(
    aclrtStream stream, aclrtAllocatorDesc* allocatorDesc, aclrtAllocator* allocator,
    aclrtAllocatorAllocFunc* allocFunc, aclrtAllocatorFreeFunc* freeFunc,
    aclrtAllocatorAllocAdviseFunc* allocAdviseFunc,
    aclrtAllocatorGetAddrFromBlockFunc* getAddrFromBlockFunc);

/* ---- Errors ---- */

/**
 * Returns the code of the calling thread's latest failed runtime call, and clears it.
 *
 * @param level ACL_RT_THREAD_LEVEL.
 * @retval ACL_SUCCESS no call has failed since the last call of this function.
 * @retval ACL_ERROR_RT_PARAM_INVALID level is not in the enumeration.
 * @return the code.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetLastError(aclrtLastErrLevel level);

/**
 * As aclrtGetLastError, but clears nothing.
 *
 * @param level ACL_RT_THREAD_LEVEL.
 * @retval ACL_SUCCESS no call has failed since the last aclrtGetLastError.
 * @retval ACL_ERROR_RT_PARAM_INVALID level is not in the enumeration.
 * @return the code.
 */
ACL_FUNC_VISIBILITY aclError aclrtPeekAtLastError(aclrtLastErrLevel level);

/**
 * Sets the function that is called once for each failed task, on the task's thread, before the
 * stream goes on. If a callback throws that no stream waits for, the function is called with the
 * number 0xFFFFFFFF. The task's error stays with its stream as usual.
 *
 * The function must not wait for work of the runtime, nor call aclInit: such calls return
 * ACL_ERROR_RT_NO_PERMISSION. An exception that it throws is dropped. Changes to its thread
 * (signals, floating-point environment, cancellation) are undone.
 *
 * @param callback the function, which replaces the one before; NULL for none.
 * @return ACL_SUCCESS.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback);

/**
 * Answers for the function of aclrtSetExceptionInfoCallback: the number of the task in its stream
 * from 1, of the stream in the process, of the device, and the task's error code. The thread that
 * queued a task is not known.
 *
 * @param info the argument of that function.
 * @return the number; 0xFFFFFFFF where info is null, and for the thread.
 * @{
 */
ACL_FUNC_VISIBILITY uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo* info);
ACL_FUNC_VISIBILITY uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo* info);
ACL_FUNC_VISIBILITY uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo* info);
ACL_FUNC_VISIBILITY uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo* info);
ACL_FUNC_VISIBILITY uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo* info);
/** @} */

/**
 * Returns the text of the calling thread's latest error, of runtime or operator, and clears it.
 *
 * The text begins with a code that logs can be searched for. It names the function, the argument,
 * its value and the expected one: "EZ1001: aclnnXxx: indices dtype is BFLOAT16, expected ...".
 *
 * @return the text, valid until the thread calls this function again; NULL when there is none.
 */
ACL_FUNC_VISIBILITY const char* aclGetRecentErrMsg(void);

#ifdef __cplusplus
}
#endif

#endif  // OPENACLNN_ACL_ACL_RT_H_
