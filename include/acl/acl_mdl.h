// SPDX-License-Identifier: Apache-2.0
// Streams captured as graphs; offline models and dumps of operators' tensors, which this project
// refuses.
#ifndef OPENACLNN_ACL_ACL_MDL_H_
#define OPENACLNN_ACL_ACL_MDL_H_

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A model running instance: captured tasks of one context that may run any number of times. It
 * keeps the memory that they use. Memory of aclrtHostRegister must stay registered.
 */
typedef void* aclmdlRI;

/** Captured tasks that may be updated together. Opaque; it lives as long as its model. */
typedef void* aclrtTaskGrp;

/**
 * Which threads may make calls that are not safe during a capture (aclrtMemcpy, aclrtMemcpy2d,
 * aclrtMemset, asynchronous copies and fills of pageable memory). GLOBAL: none. THREAD_LOCAL: all
 * but the thread that began the capture. RELAXED: all.
 */
typedef enum aclmdlRICaptureMode {
  ACL_MODEL_RI_CAPTURE_MODE_GLOBAL = 0,
  ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL = 1,
  ACL_MODEL_RI_CAPTURE_MODE_RELAXED = 2
} aclmdlRICaptureMode;

/** Whether a stream is captured, and whether the capture has failed. */
typedef enum aclmdlRICaptureStatus {
  ACL_MODEL_RI_CAPTURE_STATUS_NONE = 0,
  ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE = 1,
  ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED = 2
} aclmdlRICaptureStatus;

/**
 * Records what is launched on the stream from now on instead of running it: operators, copies and
 * fills of device and pinned memory, with their addresses, and host functions. Each execution runs
 * the host functions too, in their turn.
 *
 * A stream that waits for an event recorded in the capture joins it. Calls that the mode forbids
 * are refused and end the capture as invalid. So are collectives and uses of the context's default
 * stream. So is synchronising or querying a stream, an event or the device of the capture. A call
 * that fails for its arguments or for lack of memory captures nothing. Repeat it.
 *
 * @retval ACL_ERROR_RT_STREAM_CAPTURED the stream is captured already.
 * @retval ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT the stream is the default stream.
 */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode);

/**
 * Ends the capture that began on the stream. Only a relaxed one may end in another thread.
 *
 * @retval ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED a call was refused before; the message says
 *     which. Nothing was captured.
 * @retval ACL_ERROR_RT_STREAM_UNJOINED a stream that joined has tasks for which this stream does
 *     not wait. Nothing was captured.
 * @retval ACL_ERROR_RT_STREAM_NOT_CAPTURED the stream is not captured.
 * @retval ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED the capture began on another stream.
 * @retval ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD the capture began in another thread.
 */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI* modelRI);

/** Tells whether the stream is captured, and for which model. */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureGetInfo(aclrtStream stream,
                                                    aclmdlRICaptureStatus* status,
                                                    aclmdlRI* modelRI);

/**
 * Begins a group of tasks on a captured stream. What is launched on this stream until the end of
 * the group can be updated later: operators, copies and fills.
 *
 * Host functions and aclrtValueWait are refused in a group, and end the capture as invalid.
 *
 * @retval ACL_ERROR_RT_STREAM_NOT_CAPTURED the stream is not captured.
 * @retval ACL_ERROR_STREAM_TASK_GROUP_STATUS a group has begun on the stream and not ended.
 */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream);

/**
 * Ends the group.
 *
 * @param stream the stream.
 * @param[out] handle the group.
 * @retval ACL_ERROR_INVALID_PARAM handle is NULL.
 * @retval ACL_ERROR_RT_STREAM_NOT_CAPTURED the stream is not captured.
 * @retval ACL_ERROR_STREAM_TASK_GROUP_STATUS no group has begun on the stream.
 */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp* handle);

/**
 * Begins an update of a group. What is launched on the stream until the end of the update does not
 * run there. It replaces the tasks of the group, one by one.
 *
 * @param stream a stream of the model's context, not captured and not the default stream.
 * @param handle the group, of a model whose capture has ended.
 * @retval ACL_ERROR_RT_INVALID_HANDLE handle is not a group of a live model.
 * @retval ACL_ERROR_RT_MODEL_CAPTURED the model's capture has not ended.
 * @retval ACL_ERROR_RT_STREAM_CAPTURED the stream is captured, or updates a group already.
 * @retval ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT the stream is the default stream.
 * @retval ACL_ERROR_RT_STREAM_CONTEXT the stream is of another context than the model.
 */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream,
                                                            aclrtTaskGrp handle);

/**
 * Ends the update. Asynchronous: the stream replaces the tasks when it comes to this call. Tasks
 * of an execution that begin later run in their new form; order them behind the update by an event
 * or by aclrtValueWait. Later executions run it too.
 *
 * @retval ACL_ERROR_STREAM_TASK_GROUP_STATUS no update has begun on the stream.
 * @retval ACL_ERROR_RT_MODEL_UPDATE_FAILED the launches are not as many as the tasks of the group,
 *     one is of another call than its task, or a call during the update was refused. No task is
 *     replaced.
 */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream);

/** Exchanges the calling thread's mode. At first it is ACL_MODEL_RI_CAPTURE_MODE_GLOBAL. */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode* mode);

/**
 * Launches the captured tasks on the stream, one after another in the order in which they were
 * captured, whatever streams they came from. Executions of a model run in the order of the calls.
 *
 * @retval ACL_ERROR_RT_MODEL_CAPTURED the capture has not ended.
 * @retval ACL_ERROR_RT_STREAM_CONTEXT the stream is of another context than the model.
 * @retval ACL_ERROR_RT_PARAM_INVALID the tasks use memory of the host that was unregistered.
 */
ACL_FUNC_VISIBILITY aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream);

/**
 * Executes the model on the context's default stream and waits for it.
 *
 * @param timeout milliseconds; -1 waits for ever.
 */
ACL_FUNC_VISIBILITY aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout);

/** Ends a model. Executions launched before still run; then its memory is released. */
ACL_FUNC_VISIBILITY aclError aclmdlRIDestroy(aclmdlRI modelRI);

/**
 * Names a model, also during its capture. Its latest name counts; at first it is empty.
 *
 * @param modelRI the model.
 * @param name text, which is copied.
 * @retval ACL_ERROR_INVALID_PARAM name is null.
 */
ACL_FUNC_VISIBILITY aclError aclmdlRISetName(aclmdlRI modelRI, const char* name);

/**
 * Tells the name of a model.
 *
 * @param modelRI the model.
 * @param maxLen size of the memory at name in bytes, more than 0.
 * @param[out] name the text with the zero that ends it, cut to 512 bytes and to maxLen.
 * @retval ACL_ERROR_INVALID_PARAM name is null.
 * @retval ACL_ERROR_RT_PARAM_INVALID maxLen is 0.
 */
ACL_FUNC_VISIBILITY aclError aclmdlRIGetName(aclmdlRI modelRI, uint32_t maxLen, char* name);

/** A model's description and its inputs or outputs. Opaque; none can be made. @{ */
typedef struct aclmdlDesc aclmdlDesc;
typedef struct aclmdlDataset aclmdlDataset;
/** @} */

/**
 * Begins, configures and ends a dump of operators' tensors.
 *
 * @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT always: nothing is dumped.
 * @{
 */
ACL_FUNC_VISIBILITY aclError aclmdlInitDump(void);
ACL_FUNC_VISIBILITY aclError aclmdlSetDump(const char* dumpCfgPath);
ACL_FUNC_VISIBILITY aclError aclmdlFinalizeDump(void);
/** @} */

/**
 * Loads, describes and runs offline models: programs link these.
 *
 * @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT always. Functions without a code return NULL or 0, and
 *     the recent error message says so.
 * @{
 */
ACL_FUNC_VISIBILITY aclError aclmdlLoadFromFile(const char* modelPath, uint32_t* modelId);
ACL_FUNC_VISIBILITY aclError aclmdlLoadFromMem(const void* model, size_t modelSize,
                                               uint32_t* modelId);
ACL_FUNC_VISIBILITY aclError aclmdlLoadFromFileWithMem(const char* modelPath, uint32_t* modelId,
                                                       void* workPtr, size_t workSize,
                                                       void* weightPtr, size_t weightSize);
ACL_FUNC_VISIBILITY aclError aclmdlLoadFromMemWithMem(const void* model, size_t modelSize,
                                                      uint32_t* modelId, void* workPtr,
                                                      size_t workSize, void* weightPtr,
                                                      size_t weightSize);
ACL_FUNC_VISIBILITY aclError aclmdlUnload(uint32_t modelId);
ACL_FUNC_VISIBILITY aclError aclmdlQuerySize(const char* fileName, size_t* workSize,
                                             size_t* weightSize);
ACL_FUNC_VISIBILITY aclError aclmdlQuerySizeFromMem(const void* model, size_t modelSize,
                                                    size_t* workSize, size_t* weightSize);
ACL_FUNC_VISIBILITY aclError aclmdlExecute(uint32_t modelId, const aclmdlDataset* input,
                                           aclmdlDataset* output);
ACL_FUNC_VISIBILITY aclError aclmdlExecuteAsync(uint32_t modelId, const aclmdlDataset* input,
                                                aclmdlDataset* output, aclrtStream stream);
ACL_FUNC_VISIBILITY aclmdlDesc* aclmdlCreateDesc(void);
ACL_FUNC_VISIBILITY aclError aclmdlDestroyDesc(aclmdlDesc* modelDesc);
ACL_FUNC_VISIBILITY aclError aclmdlGetDesc(aclmdlDesc* modelDesc, uint32_t modelId);
ACL_FUNC_VISIBILITY size_t aclmdlGetNumInputs(aclmdlDesc* modelDesc);
ACL_FUNC_VISIBILITY size_t aclmdlGetNumOutputs(aclmdlDesc* modelDesc);
ACL_FUNC_VISIBILITY size_t aclmdlGetInputSizeByIndex(aclmdlDesc* modelDesc, size_t index);
ACL_FUNC_VISIBILITY size_t aclmdlGetOutputSizeByIndex(aclmdlDesc* modelDesc, size_t index);
ACL_FUNC_VISIBILITY const char* aclmdlGetInputNameByIndex(const aclmdlDesc* modelDesc,
                                                          size_t index);
ACL_FUNC_VISIBILITY const char* aclmdlGetOutputNameByIndex(const aclmdlDesc* modelDesc,
                                                           size_t index);
ACL_FUNC_VISIBILITY aclmdlDataset* aclmdlCreateDataset(void);
ACL_FUNC_VISIBILITY aclError aclmdlDestroyDataset(const aclmdlDataset* dataset);
ACL_FUNC_VISIBILITY aclError aclmdlAddDatasetBuffer(aclmdlDataset* dataset,
                                                    aclDataBuffer* dataBuffer);
ACL_FUNC_VISIBILITY size_t aclmdlGetDatasetNumBuffers(const aclmdlDataset* dataset);
ACL_FUNC_VISIBILITY aclDataBuffer* aclmdlGetDatasetBuffer(const aclmdlDataset* dataset,
                                                          size_t index);
/** @} */

#ifdef __cplusplus
}
#endif

#endif  // OPENACLNN_ACL_ACL_MDL_H_
