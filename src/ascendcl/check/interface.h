// SPDX-License-Identifier: Apache-2.0
// The private C interface by which the libraries above libascendcl.so tell it what a task touches,
// and what it may not.
//
// Apart from ascendcl/interface.h, since operators have nothing to do with it.
#pragma once

#include <stdint.h>

#include "ascendcl/interface.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Changed with every change of the structs below.
#define OPENACLNN_CHECK_INTERFACE 7u

/// Whether what an operand holds before the task matters to it.
typedef enum OpenaclnnReading {
  OPENACLNN_READS_PERHAPS,
  OPENACLNN_READS,
  OPENACLNN_MOVES  // only as far as what the task writes is to hold the same
} OpenaclnnReading;

/// A task's access to one operand.
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

/// Elements of an output that its task did not write.
typedef struct OpenaclnnLeft {
  const char* api;
  const char* operand;
  uint64_t elements;  // of the operand
  uint64_t left;
  uint64_t address;  // of the first, as clients know it
  uint64_t bytes;    // to the end of the last
} OpenaclnnLeft;

/// Bytes that a task uses, where this process reads and writes them.
typedef struct OpenaclnnUsed {
  uint64_t begin, end;
  int32_t writes;
} OpenaclnnUsed;

/// The turn of a task that computes (check/turn.h). The links are the runtime's.
typedef struct OpenaclnnTurn {
  const char* api;
  const OpenaclnnUsed* used;
  uint32_t count;
  struct OpenaclnnTurn* next;
  struct OpenaclnnTurn* previous;
} OpenaclnnTurn;

typedef struct OpenaclnnCheck {
  /// Nonzero while races are looked for; read without a lock.
  const uint32_t* watching_races;
  /// Nonzero while tasks that use one workspace at the same time are looked for.
  const uint32_t* watching_workspaces;
  /// Declares the accesses of the calling thread's next submit; the array is to live until that
  /// returns.
  void (*declare)(const OpenaclnnAccess* accesses, uint32_t count);
  /// Nonzero if some of the pinned memory has other addresses: it is mapped twice.
  int (*has_other_addresses)(const OpenaclnnPin* pin);
  // Mistakes that are found above: each is told where the configuration asks for it.
  void (*tell_left)(const OpenaclnnLeft* left);
  /// `address`, of `bytes` that an operator was given, is no multiple of `alignment`.
  void (*tell_misaligned)(const char* api, const char* operand, const void* address, uint64_t bytes,
                          uint64_t alignment);
  /// The tasks of two operators compute in this workspace at once.
  void (*tell_shared_workspace)(const char* api, const char* other, const void* address,
                                uint64_t bytes);
  /// `api` is refused, with `code` and in these words, for bytes that are not a task's to use.
  void (*refused)(const char* api, int code, const char* words, const void* address,
                  uint64_t bytes);
  /// A task of `api` fails, with `code` and in these words, for a value in memory; null: not known
  /// in which.
  void (*bad_value)(const char* api, int code, const char* words, const OpenaclnnPin* pin);
  /// Waits until no other turn collides with this one. Returns the api of one that did, or null.
  const char* (*begin_turn)(OpenaclnnTurn* turn);
  void (*end_turn)(OpenaclnnTurn* turn);
  /// The memory is given back while tasks are queued that use it, by a library that had it for
  /// them: whoever frees it, or has it next, makes no mistake.
  void (*forget_touches)(const void* device, uint64_t bytes);
  /// At aclFinalize `show` is to call `see` with each executor that the program has left, and the
  /// function that has made it. One library asks for that.
  void (*show_executors)(void (*show)(void (*see)(const void* executor, const char* maker)));
} OpenaclnnCheck;

/// Null unless `version` is the one this library was built with.
__attribute__((visibility("default"))) const OpenaclnnCheck* openaclnn_check(uint32_t version);

#ifdef __cplusplus
}
#endif
