/* SPDX-License-Identifier: Apache-2.0 */
/* The host reads an element of device memory, which ends it; the report comes before. */
#include "mistake.h"

int main(void) {
  OpenDevice();
  const Tensor tensor = MakeFloats(100, 1.0F);
  const volatile float* values = (const float*)tensor.memory;
  printf("%g\n", values[4]); /* here */
  return 0;
}
