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
#include "kernels/move/strided.h"
#include "kernels/simd/target.h"
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

/// Windows over one token, at most.
inline constexpr int64_t kMaxOver = kMaxBlock / kGranule;

/// kGranule tokens under the same windows, and some heads of them:
///   dx[t,n,:] = sum over k of w[k][t,n] * dy[k][n,:]
///   sums[n][row[k] + t] += x[t,n,:] * dy[k][n,:], lane by lane, for each k from `own` on
struct Granule {
  int64_t heads, width;
  int64_t count;                              // windows in their order, at least one
  int64_t own;                                // the first that adds to sums
  std::array<const std::byte*, kMaxOver> dy;  // of each window: the first head
  std::array<const float*, kMaxOver> w;       // the first token, the first head
  std::array<int64_t, kMaxOver> row;          // the first token's row in the window
  int64_t dy_head;                            // bytes between heads
  int64_t w_token;                            // elements between tokens
  const std::byte* x;                         // the first token, the first head
  const std::byte* ahead;                     // what is asked for meanwhile, as x
  int64_t x_token, x_head;                    // bytes from one to the next
  std::byte* dx;                              // none where dx is not asked for
  int64_t dx_token, dx_head;
  bool streams;       // dx goes past the caches; its rows are whole cache lines
  float* sums;        // rows of kGranule lanes
  int64_t sums_head;  // elements between heads
};

/// Each lane of a row of sums adds at most so many products in sequence.
inline constexpr int64_t kChunkTerms = 64;

/// Windows of a chunk of dw: each adds D/16 terms to every lane.
constexpr int64_t ChunkWindows(int64_t width) { return kChunkTerms / (width / kGranule); }

/// Chunks that one unit of parallel work adds up pairwise; a power of two.
inline constexpr int64_t kUnitChunks = 8;

/// Rows of sums of all the heads that a unit takes at once: 16 KiB of lanes, which stay in the
/// first-level cache.
inline constexpr int64_t kGroupRows = 256;

/// The loops that are compiled for each instruction set, for one 16-bit type.
struct Kernels {
  void (*granule)(const Granule& granule);
  /// out[r] = the sum of the lanes of row r, for kGranule rows; the lanes are 0 again.
  void (*add_lanes)(float* sums, float* out);
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
  bool streams;   // dx goes past the caches, where it begins with a cache line
  int64_t group;  // heads that a unit takes at once
  // Parts of the workspace, by their first byte: w as floats, the sums of units of dw, copies.
  uint64_t weight_at, sums_at;
  uint64_t workspace_size;
};

Status Check(const Params& params, const Product& product);
Plan MakePlan(const Params& params, const Product& product);
Status Run(const Plan& plan, const Buffers& buffers);

}  // namespace openaclnn::nsa_compress::backward
