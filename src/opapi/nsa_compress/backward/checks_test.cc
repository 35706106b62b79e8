// SPDX-License-Identifier: Apache-2.0
// Calls that NsaCompressGrad refuses in phase 1: every check, their order, every product and type.
#include <gtest/gtest.h>

#include "nsa_compress/backward/test_case.h"
#include "tests/support/room_checks.h"
#include "tests/support/window_checks.h"

namespace openaclnn::test::nsa_compress::backward {
namespace {

void Resize(Spec* spec, const WindowCase& shape) {
  const auto windows = static_cast<int64_t>(WindowStarts(shape).size());
  spec->output_grad.dims = {windows, shape.heads, shape.width};
  spec->input.dims = spec->input_grad.dims = {shape.tokens, shape.heads, shape.width};
  spec->weight.dims = spec->weight_grad.dims = {shape.block, shape.heads};
  spec->list = ListOf(shape);
  spec->block = shape.block;
  spec->stride = shape.stride;
}

const WindowChecks<Spec> kChecks = {
    .api = kApi,
    .list_name = "actSeqLenOptionalOptional",
    .layout_name = "layoutOptionalOptional",
    .operands = {WindowOperand("outputGrad", &Spec::output_grad, false, false),
                 WindowOperand("input", &Spec::input, false, false),
                 WindowOperand("weight", &Spec::weight, false, true),
                 WindowOperand("inputGradOut", &Spec::input_grad, true, false),
                 WindowOperand("weightGradOut", &Spec::weight_grad, true, true)},
    .of_windows = &Spec::output_grad,
    .resize = Resize};

WindowRows<Spec> AllRows() {
  WindowRows<Spec> values = {
      {"compressStride value is 0", "more than 0", 161002, [](Spec* s) { s->stride = 0; }},
      {"compressBlockSize value is 16", "at least 17 with compressStride 16", 161002,
       [](Spec* s) { s->block = s->stride; }},
      {"weight shape is (48, 2)", "(32, 2)", 161002, [](Spec* s) {
         s->weight.dims = {48, 2};
       }}};
  for (auto& row : WindowListRows(kChecks)) values.push_back(row);
  values.push_back({"outputGrad shape is (9, 2, 16)", "(3, 2, 16)", 161002, [](Spec* s) {
                      s->output_grad.dims = {9, 2, 16};
                    }});
  values.push_back({"inputGradOut shape is (81, 2, 16)", "(80, 2, 16)", 161002, [](Spec* s) {
                      s->input_grad.dims = {81, 2, 16};
                    }});
  values.push_back({"weightGradOut shape is (32, 3)", "(32, 2)", 161002, [](Spec* s) {
                      s->weight_grad.dims = {32, 3};
                    }});
  return AllWindowRows(kChecks, values);
}

TEST(NsaCompressGradChecks, OperandsOfOneType) {
  const Device device;
  ExpectEachRow(kApi, kChecks.GoodSpec(), WindowTiedRows(kChecks));
}

TEST(NsaCompressGradChecks, RanksLayoutsAndLists) {
  const Device device;
  ExpectWindowArgumentsAreChecked(kChecks);
  ExpectListsAreChecked(kChecks);
  ExpectOneSegment(kChecks, {});
  ExpectOneSegment(kChecks, {{}, IntListSpec::kNull});
}

TEST(NsaCompressGradChecks, BlocksAndStrides) {
  const Device device;
  // block = stride is the forward's only.
  ExpectBlocksAreChecked(kChecks, {{32, 32, 161002},
                                   {16, 32, 161002},
                                   {33, 16, 561002},
                                   {17, 16, 561002},
                                   {32, 31, 561002},
                                   {32, 1, 561002},
                                   {2, 1, 561002}});
  ExpectLimitsAtTheirBoundary(kChecks);
}

TEST(NsaCompressGradChecks, OutputsThatOverlapThemselves) {
  const Device device;
  ExpectSelfOverlapIsRefused(kChecks, &Spec::input_grad, "inputGradOut",
                             {{0, 16, 1}, {32, 0, 1}, {32, 16, 0}, {32, 8, 1}});
  ExpectSelfOverlapIsRefused(kChecks, &Spec::weight_grad, "weightGradOut",
                             {{0, 1}, {2, 0}, {1, 1}});
}

// The sums of each unit of windows, the weight, and a copy of what is not dense along its rows.
TEST(NsaCompressGradChecks, WorkspaceSize) {
  const Device device;
  const auto size = [](const Spec& spec) { return Plan(spec).workspace_size(); };
  constexpr uint64_t kTable = 4 * 32 * 3;
  const auto of_windows = [&](int64_t windows, int64_t width) {
    return size(kChecks.SpecOf({"", kEdge, {}, 16 * windows + 16, 3, width, 32, 16})) / kTable;
  };
  EXPECT_EQ(of_windows(1, 16), 1u + 1u);
  EXPECT_EQ(of_windows(512, 16), 1u + 1u);
  EXPECT_EQ(of_windows(513, 16), 1u + 2u);
  EXPECT_EQ(of_windows(168, 48), 1u + 1u);
  EXPECT_EQ(of_windows(169, 48), 1u + 2u);
  EXPECT_EQ(of_windows(64, 256), 1u + 2u);
  EXPECT_EQ(of_windows(65, 256), 1u + 3u);
  Spec spec = kChecks.SpecOf({"", kEdge, {}, 33, 3, 16, 32, 16});
  spec.input.strides = Dims{48, 1, 3};
  EXPECT_EQ(size(spec), 2 * kTable + (33 * 48 * 2 + 63) / 64 * 64);
  spec.input_grad.strides = spec.input.strides;
  spec.output_grad.strides = Dims{0, 0, 0};
  EXPECT_EQ(size(spec), 2 * kTable + 2 * ((33 * 48 * 2 + 63) / 64 * 64) + 128);
  spec.weight.strides = spec.weight_grad.strides = Dims{1, 32};
  EXPECT_EQ(size(spec), 2 * kTable + 2 * ((33 * 48 * 2 + 63) / 64 * 64) + 128);
}

// A copy of an input that repeats its elements may take more than a number holds.
TEST(NsaCompressGradChecks, WorkspaceEndsWhereNumbersDo) {
  const Device device;
  constexpr int64_t kTokens = (int64_t{1} << 58) - 1;  // INT64_MAX / 2 elements of inputGradOut
  Spec spec = kChecks.GoodSpec();
  spec.output_grad.dims = {(kTokens - 32) / 16 + 1, 1, 16};
  spec.input.dims = spec.input_grad.dims = {kTokens, 1, 16};
  spec.input.strides = Dims{0, 0, 0};
  spec.input.storage = Dims{1};
  spec.weight.dims = spec.weight_grad.dims = {32, 1};
  spec.list = {{kTokens}, IntListSpec::kList};
  const Planned planned = Plan(spec);
  EXPECT_EQ(planned.outcome().message, "");
  EXPECT_EQ(planned.workspace_size(), uint64_t{INT64_MAX});
}

// The work is described by segments, not by windows or tokens.
TEST(NsaCompressGradChecks, ManyTokensArePlannedAtOnce) {
  const Device device;
  ExpectManyTokensArePlannedAtOnce(kChecks);
}

INSTANTIATE_TYPED_TEST_SUITE_P(NsaCompressGrad, RoomChecks, Room);

}  // namespace

std::vector<test::Refusals<Spec>> Room::Refusals() {
  return {{kApi, kChecks.GoodSpec(), kChecks.operands, AllRows(), {Family::kA2}}};
}

}  // namespace openaclnn::test::nsa_compress::backward
