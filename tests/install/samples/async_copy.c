// SPDX-License-Identifier: Apache-2.0
// Overlaps copies in pinned host memory on two streams, ordered and timed by events (C99).
#include "sample.h"

enum { kCount = 1 << 16, kBytes = kCount * sizeof(uint32_t) };

int main(void) {
  uint32_t *source = NULL, *result = NULL;
  aclrtStream upload = NULL, download = NULL;
  aclrtEvent started = NULL, uploaded = NULL, finished = NULL;
  float ms = -1;

  CALL(aclInit(NULL));
  CALL(aclrtSetDevice(0));
  CALL(aclrtCreateStream(&upload));
  CALL(aclrtCreateStream(&download));
  CALL(aclrtCreateEvent(&started));
  CALL(aclrtCreateEvent(&uploaded));
  CALL(aclrtCreateEvent(&finished));
  CALL(aclrtMallocHost((void**)&source, kBytes));
  CALL(aclrtMallocHost((void**)&result, kBytes));
  void* first = ToDevice(NULL, kBytes);
  void* second = ToDevice(NULL, kBytes);
  for (uint32_t i = 0; i < kCount; ++i) source[i] = i * 2654435761u;

  CALL(aclrtRecordEvent(started, upload));
  CALL(aclrtMemcpyAsync(first, kBytes, source, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, upload));
  CALL(aclrtRecordEvent(uploaded, upload));
  CALL(aclrtStreamWaitEvent(download, uploaded));
  CALL(aclrtMemcpyAsync(second, kBytes, first, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE, download));
  CALL(aclrtMemcpyAsync(result, kBytes, second, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, download));
  CALL(aclrtRecordEvent(finished, download));
  CALL(aclrtSynchronizeEvent(finished));

  for (uint32_t i = 0; i < kCount; ++i) HOLDS(result[i] == i * 2654435761u);
  CALL(aclrtEventElapsedTime(&ms, started, finished));
  HOLDS(ms >= 0 && ms < 60000);

  CALL(aclrtFree(first));
  CALL(aclrtFree(second));
  CALL(aclrtFreeHost(source));
  CALL(aclrtFreeHost(result));
  CALL(aclrtDestroyEvent(started));
  CALL(aclrtDestroyEvent(uploaded));
  CALL(aclrtDestroyEvent(finished));
  CALL(aclrtDestroyStream(upload));
  CALL(aclrtDestroyStream(download));
  CALL(aclrtResetDevice(0));
  CALL(aclFinalize());
  return 0;
}
