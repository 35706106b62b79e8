/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory is freed twice. */
#include "mistake.h"

int main(void) {
  const aclrtStream stream = OpenDevice();
  void* memory = NULL;
  CHECK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclrtFree(memory));
  TELL(aclrtFree(memory)); /* here */
  return CloseDevice(stream);
}
