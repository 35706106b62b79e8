/* SPDX-License-Identifier: Apache-2.0 */
/* NSA compression: weighted sums of sliding windows of tokens, and their gradients. */
#include "aclnnop/aclnn_nsa_compress.h"
#include "aclnnop/aclnn_nsa_compress_grad.h"
#include "example.h"

enum { kTokens = 272, kHeads = 64, kWidth = 128, kBlock = 32, kStride = 16, kWindows = 15 };

/* FLOAT16 bits of a whole number up to 2048 as that number. */
static int WholeOfHalf(uint16_t bits) {
  const int exponent = (bits >> 10 & 31) - 25, fraction = 1024 + (bits & 1023);
  return bits == 0 ? 0 : exponent < 0 ? fraction >> -exponent : fraction << exponent;
}

/* Prints runs of rows whose elements are all the same. */
static void PrintRuns(const char* what, const Tensor* tensor, int rows, int columns) {
  uint16_t* host = (uint16_t*)malloc(tensor->bytes);
  ReadTensor(tensor, host);
  int first = 0;
  for (int row = 0; row < rows; ++row) {
    for (int i = 0; i < columns; ++i) {
      if (host[row * columns + i] != host[row * columns]) exit(1);
    }
    if (row + 1 < rows && host[(row + 1) * columns] == host[row * columns]) continue;
    printf("%s %d-%d: %d\n", what, first, row, WholeOfHalf(host[row * columns]));
    first = row + 1;
  }
  free(host);
}

int main(void) {
  const aclrtStream stream = OpenDevice();
  const uint16_t one = 0x3C00;
  const int64_t tokens[3] = {kTokens, kHeads, kWidth}, windows[3] = {kWindows, kHeads, kWidth};
  const int64_t weights[2] = {kBlock, kHeads};
  /* Segments end at 0, 128 and 272: an empty one, then 7 and 8 windows. */
  const int64_t ends[3] = {0, 128, 272};
  aclIntArray* list = aclCreateIntArray(ends, 3);
  char layout[] = "TND";
  Tensor x = MakeFilled(ACL_FLOAT16, 3, tokens, &one);
  Tensor w = MakeFilled(ACL_FLOAT16, 2, weights, &one);
  Tensor dy = MakeFilled(ACL_FLOAT16, 3, windows, &one);
  Tensor y = MakeTensor(ACL_FLOAT16, 3, windows, NULL);
  Tensor dx = MakeTensor(ACL_FLOAT16, 3, tokens, NULL);
  Tensor dw = MakeTensor(ACL_FLOAT16, 2, weights, NULL);
  uint64_t size = 0;
  aclOpExecutor* executor = NULL;

  CHECK(aclnnNsaCompressGetWorkspaceSize(x.handle, w.handle, list, layout, kBlock, kStride, 0,
                                         y.handle, &size, &executor));
  Run(aclnnNsaCompress, size, executor, stream);
  PrintRuns("windows", &y, kWindows, kHeads * kWidth);

  CHECK(aclnnNsaCompressGradGetWorkspaceSize(dy.handle, x.handle, w.handle, list, kBlock, kStride,
                                             0, layout, dx.handle, dw.handle, &size, &executor));
  Run(aclnnNsaCompressGrad, size, executor, stream);
  PrintRuns("gradient of tokens", &dx, kTokens, kHeads * kWidth);
  PrintRuns("gradient of weights", &dw, kBlock, kHeads);

  CHECK(aclDestroyIntArray(list));
  FreeTensor(&x);
  FreeTensor(&w);
  FreeTensor(&dy);
  FreeTensor(&y);
  FreeTensor(&dx);
  FreeTensor(&dw);
  return CloseDevice(stream);
}
