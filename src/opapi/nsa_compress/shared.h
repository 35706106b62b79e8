// SPDX-License-Identifier: Apache-2.0
// The windows that NSA compression slides over segments of the token axis, for it and its gradient.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frame/checker.h"

namespace openaclnn::nsa_compress {

// Limits of the operators' pages.
inline constexpr int64_t kMaxHeads = 128;
inline constexpr int64_t kMaxWidth = 256;
inline constexpr int64_t kMaxBlock = 128;
inline constexpr int64_t kGranule = 16;  // block, stride and D are multiples of it

/// A segment of tokens [begin, end) with its windows [first_window, first_window + windows): window
/// i of the segment covers tokens begin + i*stride + [0, block).
struct Segment {
  int64_t begin, end;
  int64_t first_window, windows;
};

/// The geometry that both operators share: how a list of ends and a pair of sizes cut T tokens.
struct Geometry {
  int64_t tokens;  // T
  int64_t block, stride;
};

/// Segments of a list of cumulative ends; an empty list is one segment of all tokens.
std::vector<Segment> CutSegments(std::span<const int64_t> ends, const Geometry& geometry);

/// Number of windows of all segments.
int64_t WindowCount(std::span<const int64_t> ends, const Geometry& geometry);

/// First token of a window.
int64_t WindowToken(const std::vector<Segment>& segments, int64_t stride, int64_t window);

//                                     910          A2                        A3     950    310P
inline constexpr DtypesByFamily kTypes = {kNone, Dtypes(ACL_FLOAT16, ACL_BF16), kNone, kNone, kNone,
                                          kNone};  // 310B

/// The arguments to check: the operands in the order of the API, those of block by heads among
/// them, and the one that has a row of heads for each window; the others are tokens by heads by
/// width.
struct Arguments {
  Operands operands, weights;
  const Operand& of_windows;
  const Operand& input;
  const IntList& ends;
  bool null_ends;  // no list is one segment of all tokens
  const char* layout_name;
  const char* layout;
  int64_t type;
  Geometry geometry;
  bool may_abut;  // windows, as far as stride is their block
};

/// All checks of both operators, in their order.
Status CheckArguments(const Operator& op, const Product& product, const Arguments& arguments);

}  // namespace openaclnn::nsa_compress
