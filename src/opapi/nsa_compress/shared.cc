// SPDX-License-Identifier: Apache-2.0
// Windows of NSA compression: counting, placing, and the checks of what describes them.
#include "nsa_compress/shared.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "openaclnn/status.h"

namespace openaclnn::nsa_compress {
namespace {

// PyTorch and MindSpore name every tensor of three dimensions NCL.
constexpr int kFormats[] = {ACL_FORMAT_ND, ACL_FORMAT_NCL};
constexpr int kWeightFormats[] = {ACL_FORMAT_ND};

void CheckLayout(Checker& checker, const char* operand, const char* layout) {
  checker.That(layout == nullptr || std::strcmp(layout, "TND") == 0, [&] {
    return Concat(operand, " value is ", Quoted{layout}, ", expected null or 'TND'");
  });
}

void CheckType(Checker& checker, int64_t type) {
  checker.That(type == 0, [&] {
    return Concat("actSeqLenType value is ", type, ", expected 0 (cumulative ends)");
  });
}

void CheckStride(Checker& checker, const Geometry& geometry, bool may_abut) {
  const int64_t least_block =
      may_abut || geometry.stride == INT64_MAX ? geometry.stride : geometry.stride + 1;
  checker
      .That(geometry.stride > 0,
            [&] {
              return Concat("compressStride value is ", geometry.stride, ", expected more than 0");
            })
      .That(geometry.block >= least_block, [&] {
        return Concat("compressBlockSize value is ", geometry.block, ", expected at least ",
                      least_block, " with compressStride ", geometry.stride);
      });
}

void CheckEnds(Checker& checker, const IntList& ends, int64_t tokens) {
  int64_t last = 0;
  for (size_t i = 0; i < ends.values().size(); ++i) {
    const int64_t value = ends.values()[i];
    checker.That(value >= last, [&] {
      return Concat(ends.name(), " value ", i, " is ", value, ", expected at least ",
                    i == 0 ? "0" : Concat(last, ", the one before"));
    });
    last = value;
  }
  checker.That(ends.values().empty() || last == tokens, [&] {
    return Concat(ends.name(), " value ", ends.values().size() - 1, " is ", last, ", expected ",
                  tokens, ", the tokens of input");
  });
}

void CheckLimits(Checker& checker, const Operand& input, const Geometry& geometry) {
  checker
      .That(input.dim(1) <= kMaxHeads,
            [&] {
              return Concat("input dimension 1 is ", input.dim(1), ", expected at most ",
                            kMaxHeads);
            })
      .That(input.dim(2) <= kMaxWidth,
            [&] {
              return Concat("input dimension 2 is ", input.dim(2), ", expected at most ",
                            kMaxWidth);
            })
      .That(geometry.block <= kMaxBlock, [&] {
        return Concat("compressBlockSize value is ", geometry.block, ", expected at most ",
                      kMaxBlock);
      });
}

void CheckGranules(Checker& checker, const Operand& input, const Geometry& geometry,
                   const Product& product) {
  const auto whole = [&](const char* what, int64_t value) {
    checker.That(value % kGranule == 0, ACLNN_ERR_INNER_TILING_ERROR, [&] {
      return Concat(what, " is ", value, ", expected a multiple of ", kGranule, " on ",
                    product.name);
    });
  };
  whole("compressBlockSize value", geometry.block);
  whole("compressStride value", geometry.stride);
  whole("input dimension 2", input.dim(2));
}

}  // namespace

std::vector<Segment> CutSegments(std::span<const int64_t> ends, const Geometry& geometry) {
  std::vector<Segment> segments;
  int64_t begin = 0, window = 0;
  const auto add = [&](int64_t end) {
    const int64_t length = end - begin;
    const int64_t windows =
        length < geometry.block ? 0 : (length - geometry.block) / geometry.stride + 1;
    segments.push_back({begin, end, window, windows});
    begin = end;
    window += windows;
  };
  for (const int64_t end : ends) add(end);
  if (ends.empty()) add(geometry.tokens);
  return segments;
}

int64_t WindowCount(std::span<const int64_t> ends, const Geometry& geometry) {
  const Segment last = CutSegments(ends, geometry).back();
  return last.first_window + last.windows;
}

int64_t WindowToken(const std::vector<Segment>& segments, int64_t stride, int64_t window) {
  const auto after = std::upper_bound(
      segments.begin(), segments.end(), window,
      [](int64_t value, const Segment& segment) { return value < segment.first_window; });
  // Segments without windows begin with the same number as the one after them.
  const Segment& segment = *std::prev(after);
  return segment.begin + (window - segment.first_window) * stride;
}

Status CheckArguments(const Operator& op, const Product& product, const Arguments& a) {
  const auto is_weight = [&](const Operand* operand) {
    return std::find(a.weights.begin(), a.weights.end(), operand) != a.weights.end();
  };
  const int64_t heads = a.input.dim(1), width = a.input.dim(2);
  Checker checker(op, product);
  checker.Required(a.operands).List(a.ends, false).Supported();
  for (const Operand* operand : a.operands) {
    checker.Dtype(*operand).SameDtype(*operand, *a.operands.front());
  }
  for (const Operand* operand : a.operands) {
    is_weight(operand) ? checker.Format(*operand, kWeightFormats)
                       : checker.Format(*operand, kFormats);
  }
  CheckLayout(checker, a.layout_name, a.layout);
  CheckType(checker, a.type);
  for (const Operand* operand : a.operands) checker.Rank(*operand, is_weight(operand) ? 2 : 3);
  for (const Operand* operand : a.operands) checker.NotEmpty(*operand);
  CheckStride(checker, a.geometry, a.may_abut);
  checker.Shape(*a.weights.front(), {a.geometry.block, heads});
  checker.That(a.null_ends || a.ends.found() != OPENACLNN_NULL, [&] {
    return Concat(a.ends.name(), " value is null, expected the ends of the segments");
  });
  CheckEnds(checker, a.ends, a.geometry.tokens);
  const int64_t windows = checker.ok() ? WindowCount(a.ends.values(), a.geometry) : 0;
  checker.Shape(a.of_windows, {windows, heads, width});
  for (const Operand* operand : a.operands) {
    if (is_weight(operand)) {
      checker.Shape(*operand, {a.geometry.block, heads});
    } else if (operand != &a.of_windows) {
      checker.Shape(*operand, {a.geometry.tokens, heads, width});
    }
  }
  CheckLimits(checker, a.input, a.geometry);
  CheckGranules(checker, a.input, a.geometry, product);
  return checker.status();
}

}  // namespace openaclnn::nsa_compress
