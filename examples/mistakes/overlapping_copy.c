/* SPDX-License-Identifier: Apache-2.0 */
/* A copy moves values by a few places within their own memory: a device may read what it has
 * written already.
 */
#include "mistake.h"

int main(void) {
  const aclrtStream stream = OpenDevice();
  Tensor x = MakeFloats(1000, 0.0F);
  char* first = x.memory;
  const size_t bytes = 999 * sizeof(float);
  CHECK(aclrtMemcpyAsync(first + 4, bytes, first, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE,
                         stream)); /* here */
  CHECK(aclrtSynchronizeStream(stream));
  FreeTensor(&x);
  return CloseDevice(stream);
}
