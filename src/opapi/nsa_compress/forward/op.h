// SPDX-License-Identifier: Apache-2.0
// NsaCompress: y[i,n,:] = sum over r < block of w[r,n] * x[start_i + r,n,:].
//
// Letters: x the input, T tokens of N heads of D elements; w the weight, block by N; y the output,
// one row of N heads for each window i, which starts at token start_i.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "frame/operation.h"
#include "kernels/move/strided.h"
#include "kernels/simd/target.h"
#include "nsa_compress/shared.h"

namespace openaclnn::nsa_compress::forward {

extern const Operator kOperator;

/// Positions in Params::operands().
enum OperandIndex { kInput, kWeight, kOutput };

struct Params {
  Input input, weight;
  IntList actSeqLen;
  const char* layout;
  int64_t compressBlockSize, compressStride, actSeqLenType;
  Output output;

  std::array<const Operand*, 3> operands() const { return {&input, &weight, &output}; }
  Geometry geometry() const { return {input.dim(0), compressBlockSize, compressStride}; }
};

/// Terms added in sequence before the tree takes over; a block is at most two chunks.
inline constexpr int64_t kChunk = 64;
static_assert(kMaxBlock <= 2 * kChunk);

/// One head of one window, dense: y[:] = sum over r < block of w[r] * x[r][:].
struct Window {
  int64_t block, width;
  int64_t ahead;  // elements from rows to those that will be asked for next, within the tensor
  const float* w;
  std::array<const std::byte*, kMaxBlock> x;
  std::byte* y;
};

/// A stride of tokens of one head, dense, under the second half of a window and the first half of
/// the next one, which begins with it:
///   y[:] = sums[:] + sum over r < stride of w[stride + r] * x[r][:]
///   sums[:] = sum over r < stride of w[r] * x[r][:]
struct Step {
  int64_t stride, width;
  int64_t ahead;  // bytes from tokens to those that will be asked for next, within the tensor
  const float* w;
  const std::byte* x;  // the first token
  int64_t x_token;     // bytes from one to the next
  float* sums;
  std::byte* y;  // null: there is no window before
  bool more;     // there is a window that begins here
};

/// The loops that are compiled for each instruction set, for one 16-bit type.
struct Kernels {
  void (*window)(const Window& window);
  void (*step)(const Step& step);
  void (*widen)(const void* from, int64_t n, float* to);
};
OPENACLNN_TARGET_DECLARE(extern const Kernels kFloat16Kernels)
OPENACLNN_TARGET_DECLARE(extern const Kernels kBFloat16Kernels)

struct Plan {
  const Kernels* kernels;
  int64_t tokens, heads, width, windows, block, stride;
  bool halves;  // a block is two strides: windows that follow each other are worked on together
  std::vector<Segment> segments;
  RowView x, w, y;
  uint64_t workspace_size;  // w as floats, head by head
};

Status Check(const Params& params, const Product& product);
Plan MakePlan(const Params& params, const Product& product);
Status Run(const Plan& plan, const Buffers& buffers);

}  // namespace openaclnn::nsa_compress::forward
