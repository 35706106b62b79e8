// SPDX-License-Identifier: Apache-2.0
// The private C interface of libascendcl.so that the libraries above it stand on.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Changed with every change of the structs below; a library that asks for another version gets
/// null, so that mixed installations are refused instead of crashing.
#define OPENACLNN_RUNTIME_INTERFACE 12u

/// Families of products that share one table of supported types.
typedef enum OpenaclnnFamily {
  OPENACLNN_FAMILY_910,
  OPENACLNN_FAMILY_A2,
  OPENACLNN_FAMILY_A3,
  OPENACLNN_FAMILY_950,
  OPENACLNN_FAMILY_310P,
  OPENACLNN_FAMILY_310B,
  OPENACLNN_FAMILY_COUNT
} OpenaclnnFamily;

/// Rules of a product family that its products share, beside their types. A limit of 0 is none.
typedef struct OpenaclnnFamilyRules {
  const char* name;
  int64_t malloc_padding;     // bytes that aclrtMalloc adds to an allocation
  int32_t has_hf32;           // the cube multiplies HF32, and FLOAT and BFLOAT16 as they are
  int64_t max_softmax_width;  // elements of a row of the masked softmax
  int64_t max_conv_taps;      // of ConvTbc and its gradient
  int64_t max_conv_pad;
  int64_t max_conv_dim;       // any dimension of their tensors
  int64_t max_counter_bytes;  // on-chip memory for a row and the counts of scaleGradByFreq
} OpenaclnnFamilyRules;

/// One product, as aclrtGetSocName names it. `family` is for tables of supported types.
typedef struct OpenaclnnProduct {
  const char* name;
  OpenaclnnFamily family;
  int32_t core_count;
  const OpenaclnnFamilyRules* rules;
} OpenaclnnProduct;

/// Room for the text of a task's error; longer text is cut.
typedef struct OpenaclnnMessage {
  char text[512];
} OpenaclnnMessage;

/// Device memory that may not be given back before unpin: `host` is the address through which this
/// process reads and writes it.
typedef struct OpenaclnnPin {
  void* host;
  uint64_t bytes;
  void* allocation;
} OpenaclnnPin;

typedef enum OpenaclnnPinResult {
  OPENACLNN_PINNED,
  OPENACLNN_NOT_DEVICE_MEMORY,  // never was
  OPENACLNN_OUT_OF_ALLOCATION,  // device memory, but the range leaves its allocation
  OPENACLNN_NOT_ALLOCATED       // an address of device memory, but freed or never mapped
} OpenaclnnPinResult;

/// `run` of a task returns this when the task waits for something other than a thread. The stream
/// then stands still without a thread. Once somebody has woken the stream, the task is run again.
#define OPENACLNN_TASK_PARKED (-1)

/// Work for a stream. `run` returns 0, OPENACLNN_TASK_PARKED, or the code that the stream's next
/// synchronise returns, with its message; `release` is called once the task is done or dropped, and
/// after the memory that it pins has been unpinned.
typedef struct OpenaclnnTask {
  const char* name;  // a string that outlives the process's use of it
  int (*run)(void* state, OpenaclnnMessage* message);
  void (*release)(void* state);
  void* state;
  const char* arguments;  // for a trace: members of a JSON object, part of the state; or null
  /// Calls each(to, pin) with what the state has pinned. A task that has this function may be run
  /// again, by one thread at a time, until it is released; so it can be captured. Null: once.
  void (*each_pin)(const void* state, void (*each)(void* to, const OpenaclnnPin* pin), void* to);
} OpenaclnnTask;

/// An attribute of the single-operator interface, as far as operators have them.
typedef struct OpenaclnnAttribute {
  enum {
    OPENACLNN_BOOL,
    OPENACLNN_FLOAT,
    OPENACLNN_OTHER,
    OPENACLNN_INTEGER,
    OPENACLNN_CHARACTER
  } type;
  double value;  // 0 of another
} OpenaclnnAttribute;

/// Instruction sets that kernels are compiled for, each a superset of the one before.
typedef enum OpenaclnnSimd {
  OPENACLNN_SIMD_BASELINE,     // x86-64-v2, or NEON on AArch64
  OPENACLNN_SIMD_AVX2,         // x86-64-v3
  OPENACLNN_SIMD_AVX512,       // x86-64-v4
  OPENACLNN_SIMD_AVX512_BF16,  // and AVX512_BF16
  OPENACLNN_SIMD_AMX           // and AMX_TILE, AMX_BF16
} OpenaclnnSimd;

typedef struct OpenaclnnRuntime {
  /// Product of the devices; null, and why, when the environment cannot be used.
  const OpenaclnnProduct* (*product)(OpenaclnnMessage* message);
  /// The instruction set that kernels may use: the machine's fastest, or what OPENACLNN_SIMD says.
  OpenaclnnSimd (*simd)(void);
  /// Threads that compute at once, as far as is known when a call is planned; at least 1.
  uint32_t (*threads)(void);
  uint32_t (*product_count)(void);
  const OpenaclnnProduct* (*product_at)(uint32_t index);
  const char* (*family_name)(OpenaclnnFamily family);
  /// Nonzero in a child of fork, where nothing but destroying works.
  int (*forked)(void);
  /// Makes `text` ("<api>: …") the calling thread's recent error message, behind the code's prefix.
  void (*record_error)(int code, const char* text);
  /// Nonzero while calls and tasks are recorded; read without a lock.
  const uint32_t* tracing;
  /// Members of a JSON object that the calling thread's next trace_call says of the call.
  void (*note_arguments)(const char* members);
  /// A call that began at `start` and ends now, for the trace.
  void (*trace_call)(const char* api, const char* phase, int64_t start, int code);
  /// As trace_call, for a function that does nothing but refuse.
  void (*record_unsupported)(const char* api);
  OpenaclnnPinResult (*pin)(const void* address, uint64_t bytes, OpenaclnnPin* pin);
  void (*unpin)(const OpenaclnnPin* pin);
  /// Enqueues the task and takes it over if it returns 0; else writes why.
  int (*submit)(void* stream, const OpenaclnnTask* task, OpenaclnnMessage* message);
  /// Nonzero if the set (null: the empty one) has the attribute.
  int (*attribute)(const void* attributes, const char* name, OpenaclnnAttribute* attribute);
  /// From within a task: runs body(state, 0 … blocks - 1), each once, on the threads at hand.
  /// `is_long`, zero or not: one thread would take half a millisecond or more.
  void (*parallel_for)(uint64_t blocks, int is_long, void (*body)(void* state, uint64_t block),
                       void* state);
  /// The `held` of the functions that follow; null, and why, if there is no such stream. It keeps
  /// the stream's memory, not its work, until it is let go.
  void* (*hold)(void* stream, OpenaclnnMessage* message);
  void (*let_go)(void* held);
  /// A number that no other stream ever has; 0 once the stream is destroyed, or while captured.
  uint64_t (*stream_number)(void* held);
  /// As submit, whatever the calling thread's context is by now, but it never waits for the task,
  /// because tasks of several streams may wait for each other. Gives the task a number.
  int (*submit_held)(void* held, const OpenaclnnTask* task, uint64_t* number,
                     OpenaclnnMessage* message);
  /// Waits for that task if launches do (ASCEND_LAUNCH_BLOCKING).
  void (*await_launch)(void* held, uint64_t number);
  /// Lets a task that has parked go on.
  void (*wake)(void* held);
  /// Nonzero if streams may wait for the calling thread, which runs functions of the host or serves
  /// callbacks: it asks begin_wait before it waits for them without a deadline.
  int (*may_be_awaited)(void);
  /// Notes that the calling thread waits for the task, until end_wait is called with the result.
  /// Null, and why, where the wait could not end because the task waits for this thread.
  void* (*begin_wait)(void* held, uint64_t number, OpenaclnnMessage* message);
  void (*end_wait)(void* wait);
  /// OPENACLNN_CHECK: 0 off, 1 fast, 2 full.
  int32_t (*check_level)(void);
  /// OPENACLNN_PRODUCTS: nonzero where no product is refused.
  int32_t (*lenient_products)(void);
} OpenaclnnRuntime;

/// Null unless `version` is the one this library was built with.
__attribute__((visibility("default"))) const OpenaclnnRuntime* openaclnn_runtime(uint32_t version);

#ifdef __cplusplus
}
#endif
