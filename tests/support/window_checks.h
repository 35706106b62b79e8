// SPDX-License-Identifier: Apache-2.0
// What NSA compression and its gradient refuse alike; for a Spec with input, weight, list, block,
// stride, type and layout.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/walks.h"
#include "tests/support/windows.h"

namespace openaclnn::test {

template <class Spec>
struct WindowChecks {
  const char* api;
  const char* list_name;    // as the API names actSeqLen
  const char* layout_name;  // and the layout
  SpecOperands<Spec> operands;
  TensorSpec Spec::*of_windows;  // has a row for each window
  /// Makes tensors, list and sizes agree with a case.
  void (*resize)(Spec* spec, const WindowCase& shape);

  Spec SpecOf(const WindowCase& shape) const {
    Spec spec;
    for (const auto& operand : operands) (spec.*operand.member).dtype = ACL_FLOAT16;
    resize(&spec, shape);
    return spec;
  }
  /// 1 + 2 windows.
  Spec GoodSpec() const { return SpecOf({"", kEdge, {32, 80}, 80, 2, 16, 32, 16}); }
};

/// One operand: a half type, that of all; in format NCL too, but for the weight and its gradient.
template <class Spec>
SpecOperand<Spec> WindowOperand(const char* name, TensorSpec Spec::*member, bool is_output,
                                bool is_weight) {
  SpecOperand<Spec> operand = {.name = name,
                               .member = member,
                               .dtypes = {ACL_FLOAT16, ACL_BF16},
                               .tied = true,
                               .is_output = is_output,
                               .formats = {ACL_FORMAT_ND}};
  if (!is_weight) operand.formats.push_back(ACL_FORMAT_NCL);
  return operand;
}

template <class Spec>
using WindowRows = std::vector<CheckRow<Spec>>;

template <class Spec>
WindowRows<Spec> WindowTypeRows(const WindowChecks<Spec>& checks) {
  WindowRows<Spec> rows;
  for (const auto& operand : checks.operands) {
    rows.push_back({std::string(operand.name) + " dtype is FLOAT",
                    "one of FLOAT16, BFLOAT16 on Ascend910B1", 161002,
                    [=](Spec* s) { (s->*operand.member).dtype = ACL_FLOAT; }});
  }
  for (const auto& operand : checks.operands) {
    rows.push_back({std::string(operand.name) + " format is number 0",
                    operand.formats.size() > 1 ? "one of ND, NCL" : "ND", 161002,
                    [=](Spec* s) { (s->*operand.member).format = ACL_FORMAT_NCHW; }});
  }
  rows.push_back({std::string(checks.layout_name) + " value is 'BSND'", "null or 'TND'", 161002,
                  [](Spec* s) { s->layout = "BSND"; }});
  rows.push_back({"actSeqLenType value is 1", "0", 161002, [](Spec* s) { s->type = 1; }});
  return rows;
}

template <class Spec>
WindowRows<Spec> WindowRankRows(const WindowChecks<Spec>& checks) {
  WindowRows<Spec> rows;
  const Spec good = checks.GoodSpec();
  for (const auto& operand : checks.operands) {
    rows.push_back({std::string(operand.name) + " rank is 4 (shape (2, 2, 2, 2))",
                    std::to_string((good.*operand.member).dims.size()), 161002, [=](Spec* s) {
                      (s->*operand.member).dims = {2, 2, 2, 2};
                    }});
  }
  for (const auto& operand : checks.operands) {
    const bool matrix = (good.*operand.member).dims.size() == 2;
    rows.push_back(
        {std::string(operand.name) + (matrix ? " shape is (32, 0)" : " shape is (80, 2, 0)"),
         "elements", 161002, [=](Spec* s) {
           (s->*operand.member).dims = matrix ? Dims{32, 0} : Dims{80, 2, 0};
         }});
  }
  return rows;
}

template <class Spec>
WindowRows<Spec> WindowListRows(const WindowChecks<Spec>& checks) {
  const std::string list = std::string(checks.list_name) + " value ";
  return {{list + "0 is -1", "at least 0", 161002,
           [](Spec* s) {
             s->list.values = {-1, 80};
           }},
          {list + "1 is 31", "at least 32, the one before", 161002,
           [](Spec* s) {
             s->list.values = {32, 31, 80};
           }},
          {list + "1 is 79", "80, the tokens of input", 161002, [](Spec* s) {
             s->list.values = {32, 79};
           }}};
}

/// What the product limits; tensors agree with each other after the change.
template <class Spec>
WindowRows<Spec> WindowLimitRows(const WindowChecks<Spec>& checks) {
  const auto row = [&](std::string got, std::string expected, int code,
                       void (*change)(WindowCase*)) {
    return CheckRow<Spec>{
        std::move(got), std::move(expected), code, [change, resize = checks.resize](Spec* s) {
          const Dims& x = s->input.dims;
          WindowCase shape = {"", kEdge, s->list.values, x[0], x[1], x[2], s->block, s->stride};
          change(&shape);
          resize(s, shape);
        }};
  };
  const std::string whole = "a multiple of 16 on Ascend910B1";
  return {
      row("input dimension 1 is 129", "at most 128", 161002, [](WindowCase* c) { c->heads = 129; }),
      row("input dimension 2 is 272", "at most 256", 161002, [](WindowCase* c) { c->width = 272; }),
      row("compressBlockSize value is 144", "at most 128", 161002,
          [](WindowCase* c) {
            c->block = 144;
            c->tokens = 200;
            c->ends = {0, 200};
          }),
      row("compressBlockSize value is 40", whole, 561002, [](WindowCase* c) { c->block = 40; }),
      row("compressStride value is 8", whole, 561002, [](WindowCase* c) { c->stride = 8; }),
      row("input dimension 2 is 24", whole, 561002, [](WindowCase* c) { c->width = 24; })};
}

/// All rows in the documented order; `values` are those of the block, the shapes and the list.
template <class Spec>
WindowRows<Spec> AllWindowRows(const WindowChecks<Spec>& checks, const WindowRows<Spec>& values) {
  WindowRows<Spec> all = NullRows(checks.operands);
  for (const auto& rows : {WindowTypeRows(checks), WindowRankRows(checks), values,
                           WindowLimitRows(checks), ViewRows(checks.operands)}) {
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

/// Operands of another type than the first, whichever is changed.
template <class Spec>
WindowRows<Spec> WindowTiedRows(const WindowChecks<Spec>& checks) {
  WindowRows<Spec> rows;
  const auto& first = checks.operands.front();
  for (const auto& operand : checks.operands) {
    if (operand.member == first.member) continue;
    rows.push_back({std::string(operand.name) + " dtype is BFLOAT16",
                    std::string("that of ") + first.name + ", FLOAT16", 161002,
                    [=](Spec* s) { (s->*operand.member).dtype = ACL_BF16; }});
  }
  rows.push_back({std::string(checks.operands[1].name) + " dtype is FLOAT16",
                  std::string("that of ") + first.name + ", BFLOAT16", 161002,
                  [=](Spec* s) { (s->*first.member).dtype = ACL_BF16; }});
  return rows;
}

/// The checks that depend on one argument: every rank, layout and type of the list, and handles of
/// lists that are none.
template <class Spec>
void ExpectWindowArgumentsAreChecked(const WindowChecks<Spec>& checks) {
  const Spec good = checks.GoodSpec();
  const auto code = [&](auto&& change) {
    Spec spec = good;
    change(&spec);
    return Plan(spec).outcome().code;
  };
  for (const auto& operand : checks.operands) {
    const size_t wanted = (good.*operand.member).dims.size();
    for (size_t rank = 0; rank <= 9; ++rank) {
      EXPECT_EQ(code([&](Spec* s) { (s->*operand.member).dims.resize(rank, 1); }),
                rank == wanted ? 0 : 161002)
          << operand.name << rank;
    }
  }
  EXPECT_EQ(code([](Spec* s) { s->layout = "TND"; }), 0);
  const std::string endless(5000, 'T');
  for (const char* layout : {"", "T", "TN", "tnd", "TNDT", " TND", "BSH", "NTD", endless.c_str()}) {
    EXPECT_EQ(code([&](Spec* s) { s->layout = layout; }), 161002) << layout;
  }
  for (const int64_t type :
       {int64_t{-1}, int64_t{1}, int64_t{2}, INT64_MAX, INT64_MIN, int64_t{1} << 32}) {
    Spec spec = good;
    spec.type = type;
    ExpectRefused(Plan(spec), checks.api, 161002, "actSeqLenType value is " + std::to_string(type),
                  "0");
  }
  const std::string name = std::string(checks.list_name) + " value is ";
  Spec spec = good;
  spec.list.given = IntListSpec::kForeign;
  ExpectRefused(Plan(spec), checks.api, 161002, name + "not the handle of an array",
                "a live array");
  spec.list.given = IntListSpec::kDestroyed;
  ExpectRefused(Plan(spec), checks.api, 161002, name + "a handle that was destroyed",
                "a live array");
}

/// A list that says nothing: one segment, of 4 windows.
template <class Spec>
void ExpectOneSegment(const WindowChecks<Spec>& checks, const IntListSpec& none) {
  Spec spec = checks.GoodSpec();
  spec.list = none;
  const char* name = nullptr;
  for (const auto& operand : checks.operands) {
    if (operand.member == checks.of_windows) name = operand.name;
  }
  ExpectRefused(Plan(spec), checks.api, 161002, std::string(name) + " shape is (3, 2, 16)",
                "(4, 2, 16)");
  (spec.*checks.of_windows).dims[0] = 4;
  EXPECT_EQ(Plan(spec).outcome().message, "");
}

/// Ends of segments, good and bad.
template <class Spec>
void ExpectListsAreChecked(const WindowChecks<Spec>& checks) {
  const auto code = [&](const Dims& ends, int64_t windows) {
    Spec spec = checks.GoodSpec();
    spec.list.values = ends;
    (spec.*checks.of_windows).dims[0] = windows;
    return Plan(spec).outcome().code;
  };
  for (const auto& [ends, windows] :
       std::vector<std::pair<Dims, int64_t>>{{{80}, 4},
                                             {{0, 80}, 4},
                                             {{0, 0, 0, 32, 32, 80, 80}, 3},
                                             {{80, 80}, 4},
                                             {{31, 80}, 2},
                                             {{}, 4}}) {
    EXPECT_EQ(code(ends, windows), 0) << testing::PrintToString(ends);
  }
  EXPECT_EQ(code({31, 62, 80}, 1), 161002) << "no window is an empty tensor";
  for (const auto& [ends, windows] : std::vector<std::pair<Dims, int64_t>>{{{79}, 3},
                                                                           {{81}, 4},
                                                                           {{0}, 4},
                                                                           {{-1, 80}, 4},
                                                                           {{INT64_MIN, 80}, 4},
                                                                           {{INT64_MAX, 80}, 4},
                                                                           {{INT64_MAX}, 4},
                                                                           {{32, 31, 80}, 3},
                                                                           {{32, -80, 80}, 3},
                                                                           {{32, 80, 79}, 3},
                                                                           {{80, 0}, 4}}) {
    EXPECT_EQ(code(ends, windows), 161002) << testing::PrintToString(ends);
  }
}

/// Blocks and strides whatever the other is; `agreeing` has the codes where tensors fit them.
template <class Spec>
void ExpectBlocksAreChecked(const WindowChecks<Spec>& checks,
                            const std::vector<std::array<int64_t, 3>>& agreeing) {
  const auto code = [&](int64_t block, int64_t stride) {
    Spec spec = checks.GoodSpec();
    spec.block = block;
    spec.stride = stride;
    return Plan(spec).outcome().code;
  };
  for (const int64_t value : {INT64_MIN, int64_t{-16}, int64_t{0}, INT64_MAX}) {
    EXPECT_EQ(code(32, value), 161002) << value;
    EXPECT_EQ(code(value, 16), 161002) << value;
    EXPECT_EQ(code(value, value), 161002) << value;
  }
  for (const auto& [block, stride, expected] : agreeing) {
    const Spec spec = checks.SpecOf({"", kEdge, {}, 200, 1, 16, block, stride});
    EXPECT_EQ(Plan(spec).outcome().code, expected) << block << " " << stride;
  }
}

template <class Spec>
void ExpectLimitsAtTheirBoundary(const WindowChecks<Spec>& checks) {
  const auto code = [&](int64_t heads, int64_t width, int64_t block, int64_t stride) {
    const WindowCase shape = {"", kEdge, {}, 300, heads, width, block, stride};
    return Plan(checks.SpecOf(shape)).outcome().code;
  };
  EXPECT_EQ(code(128, 256, 128, 112), 0);
  EXPECT_EQ(code(129, 256, 128, 112), 161002);
  EXPECT_EQ(code(128, 257, 128, 112), 161002);
  EXPECT_EQ(code(128, 272, 128, 112), 161002);
  EXPECT_EQ(code(128, 255, 128, 112), 561002);
  EXPECT_EQ(code(128, 256, 129, 112), 161002);
  EXPECT_EQ(code(128, 256, 144, 112), 161002);
  EXPECT_EQ(code(1, 16, 32, 16), 0);
  EXPECT_EQ(code(1, 8, 32, 16), 561002);
}

/// Strides with which elements of an output coincide.
template <class Spec>
void ExpectSelfOverlapIsRefused(const WindowChecks<Spec>& checks, TensorSpec Spec::*output,
                                const std::string& name, const std::vector<Dims>& all_strides) {
  for (const Dims& strides : all_strides) {
    Spec spec = checks.GoodSpec();
    (spec.*output).strides = strides;
    ExpectRefused(Plan(spec), checks.api, 161002, name + " strides are (",
                  "elements that do not overlap");
  }
}

/// The work is described by segments, not by windows or tokens.
template <class Spec>
void ExpectManyTokensArePlannedAtOnce(const WindowChecks<Spec>& checks) {
  constexpr int64_t kTokens = int64_t{1} << 40;
  Spec spec = checks.GoodSpec();
  const auto windows = (kTokens - 32) / 16 + 1;
  for (const auto& operand : checks.operands) {
    Dims& dims = (spec.*operand.member).dims;
    const bool by_window = operand.member == checks.of_windows;
    dims = dims.size() == 2 ? Dims{32, 1} : Dims{by_window ? windows : kTokens, 1, 16};
  }
  spec.list = {{kTokens}, IntListSpec::kList};
  EXPECT_EQ(Plan(spec).outcome().message, "");
}

}  // namespace openaclnn::test
