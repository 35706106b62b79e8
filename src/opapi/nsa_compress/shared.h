// SPDX-License-Identifier: Apache-2.0
// The windows that NSA compression slides over segments of the token axis, for it and its gradient.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frame/checker.h"

namespace openaclnn::nsa {

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

/// What both operators are asked: how a list of ends and a pair of sizes cut T tokens.
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

// The checks that both operators share; each adds to the chain.
void CheckLayout(Checker& checker, const char* operand, const char* layout);
void CheckType(Checker& checker, int64_t type);
/// stride > 0 and block >= least_block.
void CheckStride(Checker& checker, const Geometry& geometry, int64_t least_block);
void CheckEnds(Checker& checker, const IntList& ends, int64_t tokens);
void CheckLimits(Checker& checker, const Operand& input, const Geometry& geometry);
void CheckGranules(Checker& checker, const Operand& input, const Geometry& geometry,
                   const Product& product);

}  // namespace openaclnn::nsa
