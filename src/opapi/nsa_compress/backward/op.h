// SPDX-License-Identifier: Apache-2.0
// NsaCompressGrad: the gradients of y[i,n,:] = sum over r < block of w[r,n] * x[start_i + r,n,:].
//
// Letters: x the input, T tokens of N heads of D elements; w the weight, block by N; dy the
// gradient of y, one row of N heads for each window i, which starts at token start_i; dx, dw the
// gradients.
//   dx[t,n,:] = sum over windows i with 0 <= t - start_i < block of w[t - start_i,n] * dy[i,n,:]
//   dw[r,n]   = sum over windows i and k < D of x[start_i + r,n,k] * dy[i,n,k]
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "frame/operation.h"
#include "kernels/strided.h"
#include "kernels/target.h"
#include "nsa_compress/shared.h"

namespace openaclnn::nsa_compress::backward {

extern const Operator kOperator;

/// Positions in Params::operands().
enum OperandIndex { kOutputGrad, kInput, kWeight, kInputGrad, kWeightGrad };

struct Params {
  Input outputGrad, input, weight;
  IntList actSeqLen;
  int64_t compressBlockSize, compressStride, actSeqLenType;
  const char* layout;
  Output inputGradOut, weightGradOut;

  std::array<const Operand*, 5> operands() const {
    return {&outputGrad, &input, &weight, &inputGradOut, &weightGradOut};
  }
  Geometry geometry() const { return {input.dim(0), compressBlockSize, compressStride}; }
};

/// One token of dx, all heads: dx[n,:] = sum over k of w[k][n] * dy[k][n,:].
struct TokenGrad {
  int64_t heads, width;
  int64_t count;                               // windows over the token, at least one
  std::array<const float*, kMaxBlock> w;       // rows of w, dense
  std::array<const std::byte*, kMaxBlock> dy;  // head 0 of each window
  int64_t dy_head;                             // bytes between heads
  std::byte* dx;
  int64_t dx_head;
};

/// One head of dw over some windows: sums[r] = sum over windows i, k < width of x[start_i + r,k] *
/// dy[i,k], at most kChunkTerms terms in sequence for each lane.
struct HeadGrad {
  int64_t block, width;
  const int64_t* starts;  // first token of each window, and of the one behind the last
  int64_t windows;
  const std::byte* x;   // token 0
  int64_t x_token;      // bytes between tokens
  const std::byte* dy;  // the first window
  int64_t dy_window;    // bytes between windows
};
inline constexpr int64_t kChunkTerms = 64;

/// Windows of a chunk of dw: each adds D/16 terms to every lane.
constexpr int64_t ChunkWindows(int64_t width) { return kChunkTerms / (width / kGranule); }

/// Chunks that one unit of parallel work adds up pairwise; a power of two.
inline constexpr int64_t kUnitChunks = 8;

/// The loops that are compiled for each instruction set, for one 16-bit type.
struct Kernels {
  void (*token)(const TokenGrad& token);
  void (*head)(const HeadGrad& head, float* sums);
  void (*widen)(const void* from, int64_t n, float* to);
  void (*narrow)(const float* from, int64_t n, void* to);
};
OPENACLNN_TARGET_DECLARE(extern const Kernels kFloat16Kernels)
OPENACLNN_TARGET_DECLARE(extern const Kernels kBFloat16Kernels)

/// A (tokens, heads, width) operand: offsets in bytes. Where elements do not follow each other it
/// is copied to the workspace first, or from there last.
struct Dense {
  RowView view;
  int64_t rows;  // tokens * heads
  int64_t width;
  int64_t token, head;  // bytes from one to the next, of the operand or of its copy
  bool copied;
  uint64_t copy_at;  // place of the copy in the workspace

  std::byte* Base(void* data, std::byte* workspace) const {
    return copied ? workspace + copy_at : static_cast<std::byte*>(data);
  }
};

struct Plan {
  const Kernels* kernels;
  int32_t dtype;
  int64_t tokens, heads, width, windows, block, stride;
  std::vector<Segment> segments;
  Dense dy, x, dx;
  RowView w, dw;
  int64_t units;
  // Parts of the workspace, by their first byte: w as floats, the sums of units of dw, copies.
  uint64_t weight_at, sums_at;
  uint64_t workspace_size;
};

Status Check(const Params& params, const Product& product);
Plan MakePlan(const Params& params, const Product& product);
Status Run(const Plan& plan, const Buffers& buffers);

}  // namespace openaclnn::nsa_compress::backward
