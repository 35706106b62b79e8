// SPDX-License-Identifier: Apache-2.0
// What the convolution over time and its gradient refuse alike; for a Spec with weight, bias, pad
// and math.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/bits.h"
#include "tests/support/conv.h"
#include "tests/support/walks.h"

namespace openaclnn::test {

inline const std::vector<aclFormat> kConvFormats = {ACL_FORMAT_ND, ACL_FORMAT_NCL};
inline const std::vector<aclFormat> kConvBiasFormats = {ACL_FORMAT_ND};
inline const std::vector<Family> kConvFamilies = {Family::k910, Family::kA2, Family::kA3,
                                                  Family::k950};

/// One operand: any float type, all of one type; no BFLOAT16 on 910.
template <class Spec>
SpecOperand<Spec> ConvOperand(const char* name, TensorSpec Spec::*member, bool is_output,
                              bool is_bias) {
  return {.name = name,
          .member = member,
          .dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16},
          .tied = true,
          .is_output = is_output,
          .no_bf16_on_910 = true,
          .formats = is_bias ? kConvBiasFormats : kConvFormats};
}

template <class Spec>
using ConvRows = std::vector<CheckRow<Spec>>;

/// A type that no operand has, operand by operand.
template <class Spec>
ConvRows<Spec> ConvDtypeRows(const SpecOperands<Spec>& operands) {
  ConvRows<Spec> rows;
  for (const auto& operand : operands) {
    rows.push_back({std::string(operand.name) + " dtype is INT8",
                    "one of FLOAT, FLOAT16, BFLOAT16 on Ascend910B1", 161002,
                    [=](Spec* s) { (s->*operand.member).dtype = ACL_INT8; }});
  }
  return rows;
}

template <class Spec>
ConvRows<Spec> ConvFormatRows(const SpecOperands<Spec>& operands) {
  ConvRows<Spec> rows;
  for (const auto& operand : operands) {
    const bool plain = operand.formats.size() > 1;
    rows.push_back({std::string(operand.name) + " format is number 0",
                    plain ? "one of ND, NCL" : "ND", 161002,
                    [=](Spec* s) { (s->*operand.member).format = ACL_FORMAT_NCHW; }});
  }
  return rows;
}

/// One dimension too many; it has one element, so that sizes stay what they are.
template <class Spec>
ConvRows<Spec> ConvRankRows(const SpecOperands<Spec>& operands, const Spec& good) {
  ConvRows<Spec> rows;
  for (const auto& operand : operands) {
    const size_t rank = (good.*operand.member).dims.size();
    rows.push_back({std::string(operand.name) + " rank is " + std::to_string(rank + 1),
                    std::to_string(rank), 161002,
                    [=](Spec* s) { (s->*operand.member).dims.push_back(1); }});
  }
  return rows;
}

/// Sizes and pad on Ascend910B1, for x (7, 2, 3), weight (3, 3, 4), bias (4), pad 1.
template <class Spec>
ConvRows<Spec> ConvGeometryRows(TensorSpec Spec::*x, const std::string& name) {
  constexpr int64_t kMost = 2147483646;
  return {
      {name + " dimension 2 is 5", "3, dimension 1 of weight", 161002,
       [=](Spec* s) { (s->*x).dims[2] = 5; }},
      {"bias shape is (5)", "(4)", 161002, [](Spec* s) { s->bias.dims = {5}; }},
      {"pad value is -1", "0 or more", 161002, [](Spec* s) { s->pad = -1; }},
      {"weight dimension 0 is 256", "at most 255 on Ascend910B1", 161002,
       [](Spec* s) { s->weight.dims[0] = 256; }},
      {"pad value is 256", "at most 255 on Ascend910B1", 161002, [](Spec* s) { s->pad = 256; }},
      {name + " dimension 0 is 2147483647", "at most 2147483646 on Ascend910B1", 161002,
       [=](Spec* s) { (s->*x).dims[0] = kMost + 1; }},
      {name + " dimension 0 is 0", "at least 6 for 9 taps and pad 1", 161002,
       [=](Spec* s) {
         (s->*x).dims[0] = 0;
         s->weight.dims[0] = 9;
         s->pad = 1;
       }},
  };
}

template <class Spec>
ConvRows<Spec> ConvMathRows() {
  return {{"cubeMathType value is 4", "one of 0, 1, 2, 3", 161002, [](Spec* s) { s->math = 4; }}};
}

/// Every cubeMathType, type and product; `types` sets the type of all operands.
template <class Spec>
void ExpectMathTypesAreChecked(std::string_view api, const Spec& good,
                               const SpecOperands<Spec>& operands) {
  for (const ProductEntry& product : kProducts) {
    if (!IsOneOf(product.family, kConvFamilies)) continue;
    const Device device{{"OPENACLNN_SOC", product.name}};
    for (const aclDataType dtype : kFloatDtypes) {
      if (!operands.front().Takes(dtype, product.family)) continue;
      for (int math = std::numeric_limits<int8_t>::min(); math <= INT8_MAX; ++math) {
        SCOPED_TRACE(testing::Message() << product.name << " " << dtype << " " << math);
        Spec spec = good;
        spec.math = static_cast<int8_t>(math);
        for (const auto& operand : operands) (spec.*operand.member).dtype = dtype;
        const std::string got = "cubeMathType value is " + std::to_string(math);
        if (math < 0 || math > 3) {
          ExpectRefused(Plan(spec), api, 161002, got, "one of 0, 1, 2, 3");
        } else if (HowComputed(product.family, dtype, math) == Computed::kRefused) {
          ExpectRefused(Plan(spec), api, 161002, got,
                        std::string("one of 1, 2 for FLOAT on ") + product.name);
        } else {
          EXPECT_EQ(Plan(spec).outcome().message, "");
        }
      }
    }
  }
}

/// Where A2 and A3 have limits, 910 and 950 have none. `sized(taps, pad)` is a call whose shapes
/// fit.
template <class Sized>
void ExpectLimitsAreThoseOfTheProduct(std::string_view api, Sized&& sized) {
  for (const char* product : {"Ascend910A", "Ascend910B1", "Ascend910_9391", "Ascend950PR_9579"}) {
    SCOPED_TRACE(product);
    const Device device{{"OPENACLNN_SOC", product}};
    const bool limited = std::string_view(product).find("910B1") != std::string_view::npos ||
                         std::string_view(product).find("910_") != std::string_view::npos;
    EXPECT_EQ(Plan(sized(255, 255)).outcome().message, "");
    const Planned taps = Plan(sized(256, 200)), pad = Plan(sized(255, 256));
    EXPECT_EQ(taps.outcome().code, limited ? 161002 : 0);
    EXPECT_EQ(pad.outcome().code, limited ? 161002 : 0);
    if (!limited) continue;
    ExpectRefused(taps, api, 161002, "weight dimension 0 is 256", "at most 255");
    ExpectRefused(pad, api, 161002, "pad value is 256", "at most 255");
  }
}

/// Types and shapes whose workspace is a tenth of what a call reads and writes, or 256 KiB; 16 MiB
/// where tile registers may multiply BFLOAT16. `spec_of` makes the arguments, all of FLOAT.
template <class Spec, class SpecOf>
void ExpectWorkspaceIsATenth(const SpecOperands<Spec>& operands, const SpecOf& spec_of) {
  const ConvCase shapes[] = {{"wide", kPerf, 256, 16, 512, 1024, 3, 1},
                             {"long", kPerf, 40000, 1, 64, 64, 3, 1},
                             {"taps", kPerf, 200, 16, 512, 768, 5, 2},
                             {"few_channels", kPerf, 2048, 16, 30, 30, 3, 1},
                             {"larger", kPerf, 4096, 32, 1024, 1024, 3, 1},
                             {"one_output", kPerf, 20000, 16, 20, 1, 3, 1}};
  UnderEachSetting([&](const std::string& setting, const Device&) {
    const bool has_tiles =
        setting.starts_with("OPENACLNN_NUM_THREADS") || setting == "OPENACLNN_SIMD=amx";
    for (const ConvCase& shape : shapes) {
      for (const aclDataType dtype : kFloatDtypes) {
        SCOPED_TRACE(testing::Message() << shape.name << " " << dtype << " " << setting);
        Spec spec = spec_of(shape);
        uint64_t bytes = 0;
        for (const auto& operand : operands) {
          TensorSpec& tensor = spec.*operand.member;
          tensor.dtype = dtype;
          uint64_t count = 1;
          for (const int64_t dim : tensor.dims) count *= static_cast<uint64_t>(dim);
          bytes += count * aclDataTypeSize(dtype);
        }
        const Planned planned = Plan(spec);
        ASSERT_EQ(planned.outcome().message, "");
        const uint64_t least = has_tiles && dtype == ACL_BF16 ? 16 << 20 : 256 << 10;
        EXPECT_LE(planned.workspace_size(), std::max<uint64_t>(bytes / 10, least));
      }
    }
  });
}

/// Each of the inputs whose elements are apart costs a copy of itself more, an output nothing.
template <class Spec, class SpecOf>
void ExpectWorkspaceHasCopies(const SpecOperands<Spec>& operands, const SpecOf& spec_of) {
  const Device device;
  const Spec dense = spec_of(ConvCase{"", kEdge, 64, 16, 64, 128, 3, 1});
  const uint64_t least = Plan(dense).workspace_size();
  for (const auto& operand : operands) {
    SCOPED_TRACE(operand.name);
    Spec spec = dense;
    TensorSpec& tensor = spec.*operand.member;
    if (tensor.dims.size() != 3) continue;
    tensor.strides = Dims{tensor.dims[1] * tensor.dims[2], 1, tensor.dims[1]};
    const auto bytes = static_cast<uint64_t>(CountOf(tensor.dims)) * sizeof(float);
    const Planned planned = Plan(spec);
    ASSERT_EQ(planned.outcome().message, "");
    EXPECT_EQ(planned.workspace_size(), operand.is_output ? least : least + bytes);
  }
}

}  // namespace openaclnn::test
