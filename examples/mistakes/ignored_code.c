/* SPDX-License-Identifier: Apache-2.0 */
/* The code of a call that was refused is not looked at: nothing was copied, and the program goes on
 * with what was there.
 */
#include "mistake.h"

int main(void) {
  const aclrtStream stream = OpenDevice();
  Tensor x = MakeFloats(1000, 0.0F);
  static float host[1000];
  (void)aclrtMemcpy(host, 1000, x.memory, x.bytes, ACL_MEMCPY_DEVICE_TO_HOST); /* here */
  FreeTensor(&x);
  return CloseDevice(stream);
}
