// SPDX-License-Identifier: Apache-2.0
// Calls that NsaCompress refuses in phase 1: every check, their order, every product and type.
#include <gtest/gtest.h>

#include "nsa_compress/forward/test_case.h"
#include "tests/support/room_checks.h"
#include "tests/support/window_checks.h"

namespace openaclnn::test::nsa_compress::forward {
namespace {

void Resize(Spec* spec, const WindowCase& shape) {
  const auto windows = static_cast<int64_t>(WindowStarts(shape).size());
  spec->input.dims = {shape.tokens, shape.heads, shape.width};
  spec->weight.dims = {shape.block, shape.heads};
  spec->list = {shape.ends, IntListSpec::kList};
  spec->block = shape.block;
  spec->stride = shape.stride;
  spec->output.dims = {windows, shape.heads, shape.width};
}

const WindowChecks<Spec> kChecks = {
    .api = kApi,
    .list_name = "actSeqLenOptional",
    .layout_name = "layoutOptional",
    .operands = {WindowOperand("input", &Spec::input, false, false),
                 WindowOperand("weight", &Spec::weight, false, true),
                 WindowOperand("output", &Spec::output, true, false)},
    .of_windows = &Spec::output,
    .resize = Resize};

WindowRows<Spec> AllRows() {
  WindowRows<Spec> values = {
      {"compressStride value is 0", "more than 0", 161002, [](Spec* s) { s->stride = 0; }},
      {"compressBlockSize value is 7", "at least 8 with compressStride 8", 161002,
       [](Spec* s) {
         s->stride = 8;
         s->block = 7;
       }},
      {"weight shape is (48, 2)", "(32, 2)", 161002,
       [](Spec* s) {
         s->weight.dims = {48, 2};
       }},
      {"actSeqLenOptional value is null", "the ends of the segments", 161002,
       [](Spec* s) { s->list.given = IntListSpec::kNull; }}};
  for (auto& row : WindowListRows(kChecks)) values.push_back(row);
  values.push_back({"output shape is (9, 2, 16)", "(3, 2, 16)", 161002, [](Spec* s) {
                      s->output.dims = {9, 2, 16};
                    }});
  return AllWindowRows(kChecks, values);
}

TEST(NsaCompressChecks, OperandsOfOneType) {
  const Device device;
  ExpectEachRow(kApi, kChecks.GoodSpec(), WindowTiedRows(kChecks));
}

TEST(NsaCompressChecks, RanksLayoutsAndLists) {
  const Device device;
  ExpectWindowArgumentsAreChecked(kChecks);
  ExpectListsAreChecked(kChecks);
  ExpectOneSegment(kChecks, {});
}

TEST(NsaCompressChecks, BlocksAndStrides) {
  const Device device;
  ExpectBlocksAreChecked(kChecks, {{32, 32, 0},
                                   {16, 16, 0},
                                   {128, 128, 0},
                                   {16, 32, 161002},
                                   {33, 16, 561002},
                                   {17, 16, 561002},
                                   {32, 31, 561002},
                                   {32, 1, 561002},
                                   {2, 1, 561002},
                                   {1, 1, 561002}});
  ExpectLimitsAtTheirBoundary(kChecks);
}

TEST(NsaCompressChecks, OutputThatOverlapsItself) {
  const Device device;
  ExpectSelfOverlapIsRefused(kChecks, &Spec::output, "output",
                             {{0, 16, 1}, {32, 0, 1}, {32, 16, 0}, {32, 8, 1}});
}

TEST(NsaCompressChecks, WorkspaceSize) {
  const Device device;
  const WindowCase shape = {"", kEdge, {}, 300, 7, 32, 48, 16};
  EXPECT_EQ(Plan(kChecks.SpecOf(shape)).workspace_size(), 4u * 48 * 7);
}

TEST(NsaCompressChecks, ManyTokensArePlannedAtOnce) {
  const Device device;
  ExpectManyTokensArePlannedAtOnce(kChecks);
}

INSTANTIATE_TYPED_TEST_SUITE_P(NsaCompress, RoomChecks, Room);

}  // namespace

std::vector<test::Refusals<Spec>> Room::Refusals() {
  return {{kApi, kChecks.GoodSpec(), kChecks.operands, AllRows(), {Family::kA2}}};
}

}  // namespace openaclnn::test::nsa_compress::forward
