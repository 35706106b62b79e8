// SPDX-License-Identifier: Apache-2.0
// The types, error codes and enumerations that all other ACL headers use.
#ifndef OPENACLNN_ACL_ACL_BASE_H_
#define OPENACLNN_ACL_ACL_BASE_H_

#include <stddef.h>
#include <stdint.h>

#include "acl/error_codes/rt_error_codes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Marks an exported function. Only the build of the libraries defines FUNC_VISIBILITY. */
#ifdef FUNC_VISIBILITY
#define ACL_FUNC_VISIBILITY __attribute__((visibility("default")))
#else
#define ACL_FUNC_VISIBILITY
#endif

/**
 * Makes int the type of an enumeration in C++, so that every int is a legal argument. A wrong
 * number from C or Python then gives an error code, not undefined behaviour. In C the type is int
 * anyway.
 */
#ifdef __cplusplus
#define OPENACLNN_ENUM_INT : int
#else
#define OPENACLNN_ENUM_INT
#endif

/** Number of dimensions of a tensor description whose rank is not known. */
#define ACL_UNKNOWN_RANK 0xFFFFFFFFFFFFFFFEULL

/** The result of a function: 0, or a code from below or from acl/error_codes/rt_error_codes.h. */
typedef int aclError;

/** The 16 bits of an IEEE binary16 number. */
typedef uint16_t aclFloat16;

/** A queue of work on a device. Opaque: never read through it. NULL names the default stream. */
typedef void* aclrtStream;

/** A mark in a stream, to wait for or to read a time from. Opaque. */
typedef void* aclrtEvent;

/** A device together with its streams, as one thread sees it. Opaque. */
typedef void* aclrtContext;

/** An address and a size, as the legacy single-operator interface passes them. Opaque. */
typedef struct aclDataBuffer aclDataBuffer;

/** A shape, a data type and a format without data, for the same interface. Opaque. */
typedef struct aclTensorDesc aclTensorDesc;

static const int ACL_ERROR_NONE = 0;
static const int ACL_SUCCESS = 0;

/* Wrong use of the interface. */
static const int ACL_ERROR_INVALID_PARAM = 100000;
static const int ACL_ERROR_UNINITIALIZE = 100001;
static const int ACL_ERROR_REPEAT_INITIALIZE = 100002;
static const int ACL_ERROR_INVALID_FILE = 100003;
static const int ACL_ERROR_WRITE_FILE = 100004;
static const int ACL_ERROR_INVALID_FILE_SIZE = 100005;
static const int ACL_ERROR_PARSE_FILE = 100006;
static const int ACL_ERROR_FILE_MISSING_ATTR = 100007;
static const int ACL_ERROR_FILE_ATTR_INVALID = 100008;
static const int ACL_ERROR_INVALID_DUMP_CONFIG = 100009;
static const int ACL_ERROR_INVALID_PROFILING_CONFIG = 100010;
static const int ACL_ERROR_INVALID_MODEL_ID = 100011;
static const int ACL_ERROR_DESERIALIZE_MODEL = 100012;
static const int ACL_ERROR_PARSE_MODEL = 100013;
static const int ACL_ERROR_READ_MODEL_FAILURE = 100014;
static const int ACL_ERROR_MODEL_SIZE_INVALID = 100015;
static const int ACL_ERROR_MODEL_MISSING_ATTR = 100016;
static const int ACL_ERROR_MODEL_INPUT_NOT_MATCH = 100017;
static const int ACL_ERROR_MODEL_OUTPUT_NOT_MATCH = 100018;
static const int ACL_ERROR_MODEL_NOT_DYNAMIC = 100019;
static const int ACL_ERROR_OP_TYPE_NOT_MATCH = 100020;
static const int ACL_ERROR_OP_INPUT_NOT_MATCH = 100021;
static const int ACL_ERROR_OP_OUTPUT_NOT_MATCH = 100022;
static const int ACL_ERROR_OP_ATTR_NOT_MATCH = 100023;
static const int ACL_ERROR_OP_NOT_FOUND = 100024;
static const int ACL_ERROR_OP_LOAD_FAILED = 100025;
static const int ACL_ERROR_UNSUPPORTED_DATA_TYPE = 100026;
static const int ACL_ERROR_FORMAT_NOT_MATCH = 100027;
static const int ACL_ERROR_BIN_SELECTOR_NOT_REGISTERED = 100028;
static const int ACL_ERROR_KERNEL_NOT_FOUND = 100029;
static const int ACL_ERROR_BIN_SELECTOR_ALREADY_REGISTERED = 100030;
static const int ACL_ERROR_KERNEL_ALREADY_REGISTERED = 100031;
static const int ACL_ERROR_INVALID_QUEUE_ID = 100032;
static const int ACL_ERROR_REPEAT_SUBSCRIBE = 100033;
static const int ACL_ERROR_STREAM_NOT_SUBSCRIBE = 100034;
static const int ACL_ERROR_THREAD_NOT_SUBSCRIBE = 100035;
static const int ACL_ERROR_WAIT_CALLBACK_TIMEOUT = 100036;
static const int ACL_ERROR_REPEAT_FINALIZE = 100037;
static const int ACL_ERROR_NOT_STATIC_AIPP = 100038;
static const int ACL_ERROR_COMPILING_STUB_MODE = 100039;
static const int ACL_ERROR_GROUP_NOT_SET = 100040;
static const int ACL_ERROR_GROUP_NOT_CREATE = 100041;
static const int ACL_ERROR_PROF_ALREADY_RUN = 100042;
static const int ACL_ERROR_PROF_NOT_RUN = 100043;
static const int ACL_ERROR_DUMP_ALREADY_RUN = 100044;
static const int ACL_ERROR_DUMP_NOT_RUN = 100045;

/* Wrong use of the interface, later additions. */
static const int ACL_ERROR_PROF_REPEAT_SUBSCRIBE = 148046;
static const int ACL_ERROR_PROF_API_CONFLICT = 148047;
static const int ACL_ERROR_INVALID_MAX_OPQUEUE_NUM_CONFIG = 148048;
static const int ACL_ERROR_INVALID_OPP_PATH = 148049;
static const int ACL_ERROR_OP_UNSUPPORTED_DYNAMIC = 148050;
static const int ACL_ERROR_RELATIVE_RESOURCE_NOT_CLEARED = 148051;
static const int ACL_ERROR_UNSUPPORTED_JPEG = 148052;
static const int ACL_ERROR_INVALID_BUNDLE_MODEL_ID = 148053;

/* A resource is missing or a feature is not there. */
static const int ACL_ERROR_BAD_ALLOC = 200000;
static const int ACL_ERROR_API_NOT_SUPPORT = 200001;
static const int ACL_ERROR_INVALID_DEVICE = 200002;
static const int ACL_ERROR_MEMORY_ADDRESS_UNALIGNED = 200003;
static const int ACL_ERROR_RESOURCE_NOT_MATCH = 200004;
static const int ACL_ERROR_INVALID_RESOURCE_HANDLE = 200005;
static const int ACL_ERROR_FEATURE_UNSUPPORTED = 200006;
static const int ACL_ERROR_PROF_MODULES_UNSUPPORTED = 200007;

/* Storage. */
static const int ACL_ERROR_STORAGE_OVER_LIMIT = 300000;

/* Failures inside a component. */
static const int ACL_ERROR_INTERNAL_ERROR = 500000;
static const int ACL_ERROR_FAILURE = 500001;
static const int ACL_ERROR_GE_FAILURE = 500002;
static const int ACL_ERROR_RT_FAILURE = 500003;
static const int ACL_ERROR_DRV_FAILURE = 500004;
static const int ACL_ERROR_PROFILING_FAILURE = 500005;

/** Element types. The gaps in the numbers belong to types that no operator takes. */
typedef enum aclDataType OPENACLNN_ENUM_INT {
  ACL_DT_UNDEFINED = -1,
  ACL_FLOAT = 0,
  ACL_FLOAT16 = 1,
  ACL_INT8 = 2,
  ACL_INT32 = 3,
  ACL_UINT8 = 4,
  ACL_INT16 = 6,
  ACL_UINT16 = 7,
  ACL_UINT32 = 8,
  ACL_INT64 = 9,
  ACL_UINT64 = 10,
  ACL_DOUBLE = 11,
  ACL_BOOL = 12,
  ACL_STRING = 13,
  ACL_COMPLEX64 = 16,
  ACL_COMPLEX128 = 17,
  ACL_BF16 = 27,
  ACL_INT4 = 29,
  ACL_UINT1 = 30,
  ACL_COMPLEX32 = 33,
  ACL_HIFLOAT8 = 34,
  ACL_FLOAT8_E5M2 = 35,
  ACL_FLOAT8_E4M3FN = 36,
  ACL_FLOAT8_E8M0 = 37,
  ACL_FLOAT6_E3M2 = 38,
  ACL_FLOAT6_E2M3 = 39,
  ACL_FLOAT4_E2M1 = 40,
  ACL_FLOAT4_E1M2 = 41,
} aclDataType;

/**
 * Memory layouts. ND is a plain strided array; NCHW, NHWC, HWCN, NDHWC, NCDHW and NCL are plain
 * too, with named axes; the NC1HWC0 and FRACTAL families are private layouts of a device.
 */
typedef enum aclFormat OPENACLNN_ENUM_INT {
  ACL_FORMAT_UNDEFINED = -1,
  ACL_FORMAT_NCHW = 0,
  ACL_FORMAT_NHWC = 1,
  ACL_FORMAT_ND = 2,
  ACL_FORMAT_NC1HWC0 = 3,
  ACL_FORMAT_FRACTAL_Z = 4,
  ACL_FORMAT_NC1HWC0_C04 = 12,
  ACL_FORMAT_HWCN = 16,
  ACL_FORMAT_NDHWC = 27,
  ACL_FORMAT_FRACTAL_NZ = 29,
  ACL_FORMAT_NCDHW = 30,
  ACL_FORMAT_NDC1HWC0 = 32,
  ACL_FRACTAL_Z_3D = 33,
  ACL_FORMAT_NC = 35,
  ACL_FORMAT_NCL = 47,
  ACL_FORMAT_FRACTAL_NZ_C0_16 = 50,
  ACL_FORMAT_FRACTAL_NZ_C0_32 = 51,
  ACL_FORMAT_FRACTAL_NZ_C0_2 = 52,
  ACL_FORMAT_FRACTAL_NZ_C0_4 = 53,
  ACL_FORMAT_FRACTAL_NZ_C0_8 = 54,
} aclFormat;

/** Where the data of a described tensor lies. */
typedef enum aclMemType OPENACLNN_ENUM_INT {
  ACL_MEMTYPE_DEVICE = 0,
  ACL_MEMTYPE_HOST = 1,
  ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT = 2,
} aclMemType;

/** Severity of a log line. */
typedef enum aclLogLevel OPENACLNN_ENUM_INT {
  ACL_DEBUG = 0,
  ACL_INFO = 1,
  ACL_WARNING = 2,
  ACL_ERROR = 3,
} aclLogLevel;

/**
 * Size of one element of a type.
 *
 * May be called from any thread, before initialisation too.
 *
 * @return bytes; 0 for ACL_DT_UNDEFINED, for ACL_STRING, for types narrower than a byte (ACL_INT4,
 *     ACL_UINT1, the 6-bit and 4-bit floats) and for a number that is not a type.
 */
ACL_FUNC_VISIBILITY size_t aclDataTypeSize(aclDataType dataType);

/**
 * Writes a line to the log, at the place that the ASCEND_ variables name.
 *
 * @param logLevel its severity; lines below the level in force are dropped.
 * @param func the function that writes, or NULL.
 * @param file its file, or NULL.
 * @param line the line there.
 * @param fmt a format of printf for the further arguments; NULL writes nothing.
 */
ACL_FUNC_VISIBILITY void aclAppLog(aclLogLevel logLevel, const char* func, const char* file,
                                   uint32_t line, const char* fmt, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 5, 6)))
#endif
    ;

/**
 * Describes a tensor to the single-operator interface: type, shape and format, no data.
 *
 * @param dataType type of the elements.
 * @param numDims number of dimensions; 0 is a scalar.
 * @param dims their sizes; may be NULL when numDims is 0.
 * @param format the layout.
 * @return the description, to be ended with aclDestroyTensorDesc; NULL when numDims is negative or
 *     dims is missing, which aclGetRecentErrMsg explains.
 */
ACL_FUNC_VISIBILITY aclTensorDesc* aclCreateTensorDesc(aclDataType dataType, int numDims,
                                                       const int64_t* dims, aclFormat format);

/** Ends a description. An argument that is not a live description is recorded as an error. */
ACL_FUNC_VISIBILITY void aclDestroyTensorDesc(const aclTensorDesc* desc);

/** Type of the elements; ACL_DT_UNDEFINED if desc is not a live description. */
ACL_FUNC_VISIBILITY aclDataType aclGetTensorDescType(const aclTensorDesc* desc);

/** Layout; ACL_FORMAT_UNDEFINED if desc is not a live description. */
ACL_FUNC_VISIBILITY aclFormat aclGetTensorDescFormat(const aclTensorDesc* desc);

/** Number of dimensions; 0 if desc is not a live description. */
ACL_FUNC_VISIBILITY size_t aclGetTensorDescNumDims(const aclTensorDesc* desc);

/**
 * Size of one dimension.
 *
 * @retval ACL_ERROR_INVALID_PARAM desc or dimSize is NULL, or index is not below the number of
 *     dimensions.
 * @retval ACL_ERROR_RT_INVALID_HANDLE desc is not a live description.
 */
ACL_FUNC_VISIBILITY aclError aclGetTensorDescDimV2(const aclTensorDesc* desc, size_t index,
                                                   int64_t* dimSize);

/**
 * Sets values of a described tensor that are known before the operator runs, such as axes. They are
 * copied.
 *
 * @param dataBuffer the values in host memory; NULL with a length of 0 for none.
 * @param length their bytes.
 * @retval ACL_ERROR_INVALID_PARAM desc is NULL, or dataBuffer is NULL and length is not 0.
 * @retval ACL_ERROR_RT_INVALID_HANDLE desc is not a live description.
 */
ACL_FUNC_VISIBILITY aclError aclSetTensorConst(aclTensorDesc* desc, void* dataBuffer,
                                               size_t length);

/**
 * Tells where the values of aclSetTensorConst are kept; NULL if there are none.
 *
 * @return the address, valid until the description is ended or given other values.
 */
ACL_FUNC_VISIBILITY void* aclGetTensorDescAddress(const aclTensorDesc* desc);

/** Gives the described tensor a name. Operators here go by position and ignore it. */
ACL_FUNC_VISIBILITY void aclSetTensorDescName(aclTensorDesc* desc, const char* name);

/**
 * Sets the layout and the shape of the memory if they differ from those of the tensor.
 *
 * @retval ACL_ERROR_INVALID_PARAM desc is NULL, numDims is negative, or dims is missing.
 * @retval ACL_ERROR_RT_INVALID_HANDLE desc is not a live description.
 * @{
 */
ACL_FUNC_VISIBILITY aclError aclSetTensorFormat(aclTensorDesc* desc, aclFormat format);
ACL_FUNC_VISIBILITY aclError aclSetTensorShape(aclTensorDesc* desc, int numDims,
                                               const int64_t* dims);
/** @} */

/**
 * Sets where the data will lie.
 *
 * @retval ACL_ERROR_INVALID_PARAM desc is NULL, or memType is not in the enumeration.
 * @retval ACL_ERROR_RT_INVALID_HANDLE desc is not a live description.
 */
ACL_FUNC_VISIBILITY aclError aclSetTensorPlaceMent(aclTensorDesc* desc, aclMemType memType);

/**
 * Makes a pair of an address and a size; nothing is copied.
 *
 * @param data the address; may be NULL for a tensor without elements.
 * @param size bytes there.
 * @return the pair, to be ended with aclDestroyDataBuffer; NULL when memory is short.
 */
ACL_FUNC_VISIBILITY aclDataBuffer* aclCreateDataBuffer(void* data, size_t size);

/**
 * Ends a pair; the memory stays.
 *
 * @retval ACL_ERROR_INVALID_PARAM dataBuffer is NULL.
 * @retval ACL_ERROR_RT_INVALID_HANDLE dataBuffer is not a live pair.
 */
ACL_FUNC_VISIBILITY aclError aclDestroyDataBuffer(const aclDataBuffer* dataBuffer);

/** The address and the size of a pair; NULL and 0 if it is not a live pair. @{ */
ACL_FUNC_VISIBILITY void* aclGetDataBufferAddr(const aclDataBuffer* dataBuffer);
ACL_FUNC_VISIBILITY size_t aclGetDataBufferSizeV2(const aclDataBuffer* dataBuffer);
/** @} */

#ifdef __cplusplus
}
#endif

#endif  // OPENACLNN_ACL_ACL_BASE_H_
