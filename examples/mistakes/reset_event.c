/* SPDX-License-Identifier: Apache-2.0 */
/* Two streams are to wait for one event, and the first one resets it behind its own wait. */
#include "mistake.h"

int main(void) {
  const aclrtStream stream = OpenDevice();
  aclrtStream first = NULL, second = NULL;
  aclrtEvent event = NULL;
  CHECK(aclrtCreateStream(&first));
  CHECK(aclrtCreateStream(&second));
  CHECK(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
  CHECK(aclrtRecordEvent(event, stream));
  CHECK(aclrtStreamWaitEvent(first, event));
  CHECK(aclrtResetEvent(event, first));
  CHECK(aclrtStreamWaitEvent(second, event)); /* here */
  CHECK(aclrtSynchronizeDevice());
  CHECK(aclrtDestroyEvent(event));
  CHECK(aclrtDestroyStream(first));
  CHECK(aclrtDestroyStream(second));
  return CloseDevice(stream);
}
