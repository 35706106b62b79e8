// SPDX-License-Identifier: Apache-2.0
// The arguments of aclnn operators (tensors, scalars, arrays, lists) and their executors.
#ifndef OPENACLNN_ACLNN_ACL_META_H_
#define OPENACLNN_ACLNN_ACL_META_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What holds for every function here, unless its own comment says otherwise:
 *
 * Result. A function that creates returns NULL when it fails. The others return 0 or a code of
 * openaclnn/status.h. aclGetRecentErrMsg tells in words what was wrong. Codes common
 * to all:
 *
 * - 161001: a pointer that may not be null is null.
 * - 161002: an object is not a live one of its kind (destroyed, or never created), or a value is
 *   not allowed.
 *
 * Ownership. A program destroys what it creates. A function that creates copies values, shapes and
 * strides: the arrays that they came from may be freed at once. The memory that a tensor
 * points to is not copied. Once phase 2 of an operator has returned, its tensors, scalars, arrays
 * and lists may be destroyed, even though the work has not run yet.
 *
 * Threads. Any thread may call any function, and an object may pass from one thread to another; two
 * threads must not change or destroy the same object at the same time.
 */

/** The result of an aclnn function: 0, or a number that openaclnn/status.h names. */
typedef int32_t aclnnStatus;

#ifndef ACLNN_META
#define ACLNN_META
/** Success. */
#ifdef __cplusplus
constexpr aclnnStatus OK = 0;
#else
static const aclnnStatus OK = 0;
#endif
#endif

/** A strided view of typed elements in device memory. Opaque. */
typedef struct aclTensor aclTensor;

/** One typed value. Opaque. */
typedef struct aclScalar aclScalar;

/** An array of int64_t. Opaque. */
typedef struct aclIntArray aclIntArray;

/** An array of float. Opaque. */
typedef struct aclFloatArray aclFloatArray;

/** An array of bool. Opaque. */
typedef struct aclBoolArray aclBoolArray;

/** A list of tensors, which it owns. Opaque. */
typedef struct aclTensorList aclTensorList;

/** A list of scalars, which it owns. Opaque. */
typedef struct aclScalarList aclScalarList;

/** The work that phase 1 of an operator planned, for phase 2 to run. Opaque. */
typedef struct aclOpExecutor aclOpExecutor;

/* ---- Create ---- */

/**
 * Makes a tensor: a view of viewDims over storage of storageDims.
 *
 * Element (i0, i1, ...) lies at tensorData + (offset + i0*stride[0] + i1*stride[1] + ...) * element
 * size. Phase 1 of an operator checks that the view stays inside its storage and that no dim is
 * negative. It also checks the data type, the rank (at most 8) and the format.
 *
 * @param viewDims length of each axis.
 * @param viewDimsNum number of axes; 0 is a single element.
 * @param dataType type of the elements.
 * @param stride elements from one index of an axis to the next, viewDimsNum of them; NULL means
 *     dense rows of viewDims.
 * @param offset elements from tensorData to the view's first element.
 * @param format meaning of the axes; ACL_FORMAT_ND for none.
 * @param storageDims shape of the storage.
 * @param storageDimsNum number of its axes, 0 for one element; if 0 or 1, the memory may be larger.
 * @param tensorData address in device memory; may be NULL until phase 2.
 * @return the tensor, to be ended with aclDestroyTensor; NULL when viewDims or storageDims is null
 *     although its number is not 0, a number is above 65,536, or memory is short.
 */
ACL_FUNC_VISIBILITY aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum,
                                               aclDataType dataType, const int64_t* stride,
                                               int64_t offset, aclFormat format,
                                               const int64_t* storageDims, uint64_t storageDimsNum,
                                               void* tensorData);

/**
 * Gives a tensor a new view, storage and address, as if it had been created with them.
 *
 * @param tensor the tensor.
 * @param viewDims length of each axis.
 * @param viewDimsNum number of axes; 0 is a single element.
 * @param dataType type of the elements.
 * @param stride elements from one index of an axis to the next; NULL means dense rows of viewDims.
 * @param offset elements from tensorData to the view's first element.
 * @param format meaning of the axes.
 * @param storageDims shape of the storage.
 * @param storageDimsNum number of its axes; 0 is a single element.
 * @param tensorData address in device memory; may be NULL until phase 2.
 * @retval 161001 tensor is null, or viewDims or storageDims is null although its number is not 0;
 *     the tensor stays as it was.
 * @retval 161002 tensor is not a live tensor, or it or its storage has more than 65,536 axes.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclInitTensor(aclTensor* tensor, const int64_t* viewDims,
                                              uint64_t viewDimsNum, aclDataType dataType,
                                              const int64_t* stride, int64_t offset,
                                              aclFormat format, const int64_t* storageDims,
                                              uint64_t storageDimsNum, void* tensorData);

/**
 * Makes a scalar.
 *
 * @param value address in host memory of the value, aclDataTypeSize(dataType) bytes, which are
 *     copied.
 * @param dataType its type.
 * @return the scalar, to be ended with aclDestroyScalar; NULL when value is null or dataType has no
 *     size.
 */
ACL_FUNC_VISIBILITY aclScalar* aclCreateScalar(void* value, aclDataType dataType);

/**
 * Makes an array of int64_t.
 *
 * @param value host memory, copied.
 * @param size number of elements; may be 0.
 * @return the array, to be ended with aclDestroyIntArray; NULL when value is null although size is
 *     not 0.
 */
ACL_FUNC_VISIBILITY aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size);

/**
 * Makes an array of float.
 *
 * @param value host memory, copied.
 * @param size number of elements; may be 0.
 * @return the array, to be ended with aclDestroyFloatArray; NULL when value is null although size
 *     is not 0.
 */
ACL_FUNC_VISIBILITY aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size);

/**
 * Makes an array of bool.
 *
 * @param value host memory, copied.
 * @param size number of elements; may be 0.
 * @return the array, to be ended with aclDestroyBoolArray; NULL when value is null although size is
 *     not 0.
 */
ACL_FUNC_VISIBILITY aclBoolArray* aclCreateBoolArray(const bool* value, uint64_t size);

/**
 * Makes a list of tensors and takes them over: aclDestroyTensorList destroys them too.
 *
 * @param value the tensors; the array is copied. Whether a member may be NULL is each operator's
 *     rule.
 * @param size number of members; may be 0.
 * @return the list; NULL when value is null although size is not 0, or a member is neither NULL nor
 *     a live tensor. The members then still belong to the caller.
 */
ACL_FUNC_VISIBILITY aclTensorList* aclCreateTensorList(const aclTensor* const* value,
                                                       uint64_t size);

/**
 * Makes a list of scalars and takes them over: aclDestroyScalarList destroys them too.
 *
 * @param value the scalars; the array is copied. Whether a member may be NULL is each operator's
 *     rule.
 * @param size number of members; may be 0.
 * @return the list; NULL when value is null although size is not 0, or a member is neither NULL nor
 *     a live scalar. The members then still belong to the caller.
 */
ACL_FUNC_VISIBILITY aclScalarList* aclCreateScalarList(const aclScalar* const* value,
                                                       uint64_t size);

/* ---- Destroy ---- */

/**
 * Ends a tensor. Its memory is not freed.
 *
 * @param tensor the tensor; may be NULL.
 * @retval 161002 tensor is not a live tensor.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyTensor(const aclTensor* tensor);

/**
 * Ends a scalar.
 *
 * @param scalar the scalar; may be NULL.
 * @retval 161002 scalar is not a live scalar.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyScalar(const aclScalar* scalar);

/**
 * Ends an array of int64_t.
 *
 * @param array the array; may be NULL.
 * @retval 161002 array is not a live array of int64_t.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyIntArray(const aclIntArray* array);

/**
 * Ends an array of float.
 *
 * @param array the array; may be NULL.
 * @retval 161002 array is not a live array of float.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyFloatArray(const aclFloatArray* array);

/**
 * Ends an array of bool.
 *
 * @param array the array; may be NULL.
 * @retval 161002 array is not a live array of bool.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyBoolArray(const aclBoolArray* array);

/**
 * Ends a list together with its tensors, which must not be destroyed again.
 *
 * @param array the list; may be NULL.
 * @retval 161002 array is not a live list of tensors.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyTensorList(const aclTensorList* array);

/**
 * Ends a list together with its scalars, which must not be destroyed again.
 *
 * @param array the list; may be NULL.
 * @retval 161002 array is not a live list of scalars.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyScalarList(const aclScalarList* array);

/* ---- Read ---- */

/**
 * Tells the shape of a tensor's view. After phase 2 of an operator whose result has a shape that
 * depends on the data, and a synchronise of its stream, it is that shape.
 *
 * @param tensor the tensor.
 * @param[out] viewDims a new array of viewDimsNum lengths, never NULL, that the caller frees with
 *     delete[].
 * @param[out] viewDimsNum number of axes.
 * @retval 161001 an argument is null.
 * @retval 161002 tensor is not a live tensor.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** viewDims,
                                                uint64_t* viewDimsNum);

/**
 * Tells the shape of a tensor's storage.
 *
 * @param tensor the tensor.
 * @param[out] storageDims a new array of storageDimsNum lengths, never NULL, that the caller frees
 *     with delete[].
 * @param[out] storageDimsNum number of axes.
 * @retval 161001 an argument is null.
 * @retval 161002 tensor is not a live tensor.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclGetStorageShape(const aclTensor* tensor, int64_t** storageDims,
                                                   uint64_t* storageDimsNum);

/**
 * Tells the strides of a tensor's view, in elements.
 *
 * @param tensor the tensor.
 * @param[out] stridesValue a new array of stridesNum strides, never NULL, that the caller frees
 *     with delete[].
 * @param[out] stridesNum number of axes.
 * @retval 161001 an argument is null.
 * @retval 161002 tensor is not a live tensor.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** stridesValue,
                                                  uint64_t* stridesNum);

/**
 * Tells the offset of a tensor's view, in elements.
 *
 * @param tensor the tensor.
 * @param[out] offset elements from the tensor's address to the view's first element.
 * @retval 161001 an argument is null.
 * @retval 161002 tensor is not a live tensor.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclGetViewOffset(const aclTensor* tensor, int64_t* offset);

/**
 * Tells the format of a tensor.
 *
 * @param tensor the tensor.
 * @param[out] format the format that it was created with.
 * @retval 161001 an argument is null.
 * @retval 161002 tensor is not a live tensor.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format);

/**
 * Tells the type of a tensor's elements.
 *
 * @param tensor the tensor.
 * @param[out] dataType the type that it was created with.
 * @retval 161001 an argument is null.
 * @retval 161002 tensor is not a live tensor.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dataType);

/**
 * Tells the number of elements of an array of int64_t.
 *
 * @param array the array.
 * @param[out] size the number.
 * @retval 161001 an argument is null.
 * @retval 161002 array is not a live array of int64_t.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclGetIntArraySize(const aclIntArray* array, uint64_t* size);

/**
 * Tells the number of elements of an array of float.
 *
 * @param array the array.
 * @param[out] size the number.
 * @retval 161001 an argument is null.
 * @retval 161002 array is not a live array of float.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclGetFloatArraySize(const aclFloatArray* array, uint64_t* size);

/**
 * Tells the number of elements of an array of bool.
 *
 * @param array the array.
 * @param[out] size the number.
 * @retval 161001 an argument is null.
 * @retval 161002 array is not a live array of bool.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclGetBoolArraySize(const aclBoolArray* array, uint64_t* size);

/**
 * Tells the number of members of a list of tensors.
 *
 * @param tensorList the list.
 * @param[out] size the number.
 * @retval 161001 an argument is null.
 * @retval 161002 tensorList is not a live list of tensors.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclGetTensorListSize(const aclTensorList* tensorList,
                                                     uint64_t* size);

/**
 * Tells the number of members of a list of scalars.
 *
 * @param scalarList the list.
 * @param[out] size the number.
 * @retval 161001 an argument is null.
 * @retval 161002 scalarList is not a live list of scalars.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclGetScalarListSize(const aclScalarList* scalarList,
                                                     uint64_t* size);

/* ---- Addresses ---- */

/**
 * Sets the address of a tensor, before phase 1 or after phase 2 of the operators that take it.
 *
 * An existing executor keeps the address that it has: see aclSetTensorAddr.
 *
 * @param tensor the tensor.
 * @param addr address in device memory, from which the view's offset counts; may be NULL.
 * @retval 161001 tensor is null.
 * @retval 161002 tensor is not a live tensor.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclSetRawTensorAddr(aclTensor* tensor, void* addr);

/**
 * Tells the address of a tensor.
 *
 * @param tensor the tensor.
 * @param[out] addr the address that it was created with or got later.
 * @retval 161001 an argument is null.
 * @retval 161002 tensor is not a live tensor.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclGetRawTensorAddr(const aclTensor* tensor, void** addr);

/* ---- Executors ---- */

/*
 * Phase 1 of an operator makes an executor, phase 2 runs it and ends it. An executor that is made
 * repeatable in between can run many times, with other addresses each time, until
 * aclDestroyAclOpExecutor ends it.
 *
 * Codes common to these functions:
 *
 * - 561103: executor is null, was destroyed, or has run and is not repeatable; tensor or tensors is
 *   null.
 * - 561000: executor is not an executor.
 */

/**
 * Makes an executor repeatable. Call it right after phase 1.
 *
 * @param executor the executor from phase 1.
 * @retval 561103 executor is null, was destroyed or has run.
 * @retval 561000 executor is not an executor.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor);

/**
 * Ends an executor. A repeatable one must be ended this way; its work that is still queued
 * runs.
 *
 * @param executor the executor from phase 1.
 * @retval 561103 executor is null, was destroyed, or has run and is not repeatable.
 * @retval 561000 executor is not an executor.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor);

/**
 * Sets the address of an operator's input for the next run of its executor.
 *
 * @param executor the executor from phase 1.
 * @param index place among the operator's input tensors in the order of its arguments, from 0; the
 *     members of a list count one by one.
 * @param tensor the tensor that phase 1 got there, or any other one: index decides.
 * @param addr address in device memory.
 * @retval 561103 executor or tensor is null, or executor was destroyed or has run and is not
 *     repeatable.
 * @retval 561000 executor is not an executor.
 * @retval 161002 there is no such input, it was NULL in phase 1, or tensor is not a live tensor.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclSetInputTensorAddr(aclOpExecutor* executor, const size_t index,
                                                      aclTensor* tensor, void* addr);

/**
 * As aclSetInputTensorAddr, for an output.
 *
 * @param executor the executor from phase 1.
 * @param index place among the operator's output tensors, from 0.
 * @param tensor the tensor that phase 1 got there, or any other one: index decides.
 * @param addr address in device memory.
 * @retval 561103 executor or tensor is null, or executor was destroyed or has run and is not
 *     repeatable.
 * @retval 561000 executor is not an executor.
 * @retval 161002 there is no such output, it was NULL in phase 1, or tensor is not a live tensor.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index,
                                                       aclTensor* tensor, void* addr);

/**
 * As aclSetInputTensorAddr, counting all tensors: first the inputs, then the outputs.
 *
 * @param executor the executor from phase 1.
 * @param index place among all tensors, from 0.
 * @param tensor the tensor that phase 1 got there, or any other one: index decides.
 * @param addr address in device memory.
 * @retval 561103 executor or tensor is null, or executor was destroyed or has run and is not
 *     repeatable.
 * @retval 561000 executor is not an executor.
 * @retval 161002 there is no such tensor, it was NULL in phase 1, or tensor is not a live tensor.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclSetTensorAddr(aclOpExecutor* executor, const size_t index,
                                                 aclTensor* tensor, void* addr);

/**
 * Sets the address of one member of an input list for the next run of its executor.
 *
 * @param executor the executor from phase 1.
 * @param irIndex place of the list among the operator's inputs in the order of its arguments, from
 *     0; a list counts as one.
 * @param relativeIndex place within the list, from 0.
 * @param tensors the list that phase 1 got there.
 * @param addr address in device memory.
 * @retval 561103 executor or tensors is null, or executor was destroyed or has run and is not
 *     repeatable.
 * @retval 561000 executor is not an executor.
 * @retval 161002 there is no such list or member, it was NULL in phase 1, or tensors is not a live
 *     list.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclSetDynamicInputTensorAddr(aclOpExecutor* executor,
                                                             size_t irIndex,
                                                             const size_t relativeIndex,
                                                             aclTensorList* tensors, void* addr);

/**
 * As aclSetDynamicInputTensorAddr, for a list of outputs.
 *
 * @param executor the executor from phase 1.
 * @param irIndex place of the list among the operator's outputs, from 0; a list counts as one.
 * @param relativeIndex place within the list, from 0.
 * @param tensors the list that phase 1 got there.
 * @param addr address in device memory.
 * @retval 561103 executor or tensors is null, or executor was destroyed or has run and is not
 *     repeatable.
 * @retval 561000 executor is not an executor.
 * @retval 161002 there is no such list or member, it was NULL in phase 1, or tensors is not a live
 *     list.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclSetDynamicOutputTensorAddr(aclOpExecutor* executor,
                                                              size_t irIndex,
                                                              const size_t relativeIndex,
                                                              aclTensorList* tensors, void* addr);

/**
 * As aclSetDynamicInputTensorAddr, counting all arguments: first the inputs, then the outputs.
 *
 * @param executor the executor from phase 1.
 * @param irIndex place of the list among all of them, from 0; a list counts as one.
 * @param relativeIndex place within the list, from 0.
 * @param tensors the list that phase 1 got there.
 * @param addr address in device memory.
 * @retval 561103 executor or tensors is null, or executor was destroyed or has run and is not
 *     repeatable.
 * @retval 561000 executor is not an executor.
 * @retval 161002 there is no such list or member, it was NULL in phase 1, or tensors is not a live
 *     list.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclSetDynamicTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                                        const size_t relativeIndex,
                                                        aclTensorList* tensors, void* addr);

/** Another spelling of aclSetInputTensorAddr. */
ACL_FUNC_VISIBILITY aclnnStatus AclSetInputTensorAddr(aclOpExecutor* executor, const size_t index,
                                                      aclTensor* tensor, void* addr);

/** Another spelling of aclSetOutputTensorAddr. */
ACL_FUNC_VISIBILITY aclnnStatus AclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index,
                                                       aclTensor* tensor, void* addr);

/** Another spelling of aclSetTensorAddr. */
ACL_FUNC_VISIBILITY aclnnStatus AclSetTensorAddr(aclOpExecutor* executor, const size_t index,
                                                 aclTensor* tensor, void* addr);

/** Another spelling of aclSetDynamicInputTensorAddr. */
ACL_FUNC_VISIBILITY aclnnStatus AclSetDynamicInputTensorAddr(aclOpExecutor* executor,
                                                             size_t irIndex,
                                                             const size_t relativeIndex,
                                                             aclTensorList* tensors, void* addr);

/** Another spelling of aclSetDynamicOutputTensorAddr. */
ACL_FUNC_VISIBILITY aclnnStatus AclSetDynamicOutputTensorAddr(aclOpExecutor* executor,
                                                              size_t irIndex,
                                                              const size_t relativeIndex,
                                                              aclTensorList* tensors, void* addr);

/** Another spelling of aclSetDynamicTensorAddr. */
ACL_FUNC_VISIBILITY aclnnStatus AclSetDynamicTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                                        const size_t relativeIndex,
                                                        aclTensorList* tensors, void* addr);

/* ---- Dump ---- */

/**
 * Refuses to write an operator's tensors to files, whatever its arguments are: openaclnn does not
 * do this. Copy the tensors that you need with aclrtMemcpy instead.
 *
 * @param opType type of the operator; the message repeats it. May be NULL.
 * @param opName name of the call; not looked at.
 * @param tensors the inputs, followed by the outputs; not looked at.
 * @param inputTensorNum number of inputs; not looked at.
 * @param outputTensorNum number of outputs; not looked at.
 * @param stream the stream that the operator runs on; not looked at.
 * @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000) always.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclDumpOpTensors(const char* opType, const char* opName,
                                                 aclTensor** tensors, size_t inputTensorNum,
                                                 size_t outputTensorNum, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // OPENACLNN_ACLNN_ACL_META_H_
