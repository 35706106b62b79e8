// SPDX-License-Identifier: Apache-2.0
// The private C interface by which libnnopbase.so tells libascendcl.so what a task touches.
//
// Apart from ascendcl/interface.h, since operators have nothing to do with it.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Changed with every change of the structs below.
#define OPENACLNN_CHECK_INTERFACE 2u

/// Whether what an operand holds before the task matters to it.
typedef enum OpenaclnnReading {
  OPENACLNN_READS_PERHAPS,
  OPENACLNN_READS,
  OPENACLNN_MOVES  // only as far as what the task writes is to hold the same
} OpenaclnnReading;

/// What a task does with one operand.
typedef struct OpenaclnnAccess {
  const char* operand;  // a string that outlives the process's use of it; null: nothing is known
  int32_t writes;
  OpenaclnnReading reading;
  uint32_t rank;
  uint64_t origin;         // address of element [0, …, 0], as clients know it
  uint64_t element_bytes;  // with rank 0: of the whole
  const int64_t* dims;
  const int64_t* strides;  // in elements
} OpenaclnnAccess;

typedef struct OpenaclnnCheck {
  /// Nonzero while races are looked for; read without a lock.
  const uint32_t* watching_races;
  /// What the calling thread's next submit touches; the array is to live until that returns.
  void (*declare)(const OpenaclnnAccess* accesses, uint32_t count);
} OpenaclnnCheck;

/// Null unless `version` is the one this library was built with.
__attribute__((visibility("default"))) const OpenaclnnCheck* openaclnn_check(uint32_t version);

#ifdef __cplusplus
}
#endif
