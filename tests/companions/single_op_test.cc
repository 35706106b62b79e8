// SPDX-License-Identifier: Apache-2.0
// Operators by their graph names: results, the options of the compiler, refusals.
#include <cmath>
#include <string>
#include <utility>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "tests/companions/single_op.h"

namespace openaclnn {
namespace {

/// The tensors of a softmax over rows of four.
struct Tensors {
  DeviceArray<float> x{{0, 1, 2, 3, 4, 5, 6, 7}};
  DeviceArray<uint8_t> mask{{0, 0, 0, 1, 0, 0, 0, 0}};
  DeviceArray<float> y{8};

  void Fill(SingleOp* op) const {
    op->Add(true, ACL_FLOAT, x.data(), x.bytes());
    op->Add(true, ACL_BOOL, mask.data(), mask.bytes());
    op->Add(false, ACL_FLOAT, y.data(), y.bytes());
  }
};

using SingleOpTest = RuntimeTest;

TEST_F(SingleOpTest, ScaledMaskedSoftmax) {
  const Tensors tensors;
  SingleOp op("ScaledMaskedSoftmax");
  tensors.Fill(&op);
  ASSERT_EQ(aclopSetAttrFloat(op.attr, "scale", 0.5f), 0);
  ASSERT_EQ(aclopSetAttrBool(op.attr, "fixed_triu_mask", 0), 0);
  ASSERT_EQ(op.Run(), 0) << TakeMessage();
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
  const std::vector<float> y = tensors.y.Read();
  const double sum = 1 + std::exp(0.5) + std::exp(1);
  EXPECT_NEAR(y[0], 1 / sum, 1e-6);
  EXPECT_NEAR(y[2], std::exp(1) / sum, 1e-6);
  EXPECT_EQ(y[3], 0);
}

#if defined(__SSE2__)
// A denormal float, which the thread's setting takes for 0.
TEST_F(SingleOpTest, AScaleIsWhatItIsWhateverTheThreadsSetting) {
  const Tensors tensors;
  const std::vector<float> x = {3e38F, 1e38F, 0, 0, -3e38F, 0, 1e38F, 1};
  ASSERT_EQ(aclrtMemcpy(tensors.x.data(), 32, x.data(), 32, ACL_MEMCPY_HOST_TO_DEVICE), 0);
  SingleOp op("ScaledMaskedSoftmax");
  tensors.Fill(&op);
  ASSERT_EQ(aclopSetAttrFloat(op.attr, "scale", 1e-40F), 0);
  ASSERT_EQ(op.Run(), 0) << TakeMessage();
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
  const std::vector<float> wanted = tensors.y.Read();
  const unsigned int before = _mm_getcsr();
  const unsigned int flush = before | 0x8040;
  _mm_setcsr(flush);
  const int code = op.Run();
  const unsigned int after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_EQ(code, 0);
  EXPECT_EQ(after, flush);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
  EXPECT_EQ(tensors.y.Read(), wanted);
}
#endif

// The sum of powers, then its root.
TEST_F(SingleOpTest, NormsOfAnyOrder) {
  const DeviceArray<float> x{{0, 1, 2, 3, 4, -5, 6, 7}}, sums{2}, roots{2};
  const int64_t last[] = {3};
  SingleOp reduce("LpNormReduceV2"), update("LpNormUpdateV2");
  reduce.Add(true, ACL_FLOAT, x.data(), x.bytes());
  reduce.Add(false, ACL_FLOAT, sums.data(), sums.bytes(), {1, 1, 2, 1});
  update.Add(true, ACL_FLOAT, sums.data(), sums.bytes(), {2});
  update.Add(false, ACL_FLOAT, roots.data(), roots.bytes(), {2});
  for (SingleOp* op : {&reduce, &update}) ASSERT_EQ(aclopSetAttrFloat(op->attr, "p", 3), 0);
  ASSERT_EQ(aclopSetAttrFloat(reduce.attr, "epsilon", 0), 0);
  ASSERT_EQ(aclopSetAttrBool(reduce.attr, "keepdim", 1), 0);
  ASSERT_EQ(aclopSetAttrListInt(reduce.attr, "axes", 1, last), 0);
  ASSERT_EQ(reduce.Run(), 0) << TakeMessage();
  ASSERT_EQ(update.Run(), 0) << TakeMessage();
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
  const std::vector<float> got = sums.Read(), root = roots.Read();
  EXPECT_NEAR(got[0], 36, 1e-4);
  EXPECT_NEAR(got[1], 748, 1e-3);
  EXPECT_NEAR(root[0], std::cbrt(36), 1e-5);
  EXPECT_NEAR(root[1], std::cbrt(748), 1e-5);
  const char* api = "aclopCompileAndExecute";
  ASSERT_EQ(aclopSetAttrFloat(reduce.attr, "epsilon", 1), 0);
  ExpectRefused({api, [&] { return reduce.Run(); }, ACL_ERROR_OP_ATTR_NOT_MATCH,
                 "epsilon value is 1, expected 0"});
  ASSERT_EQ(aclopSetAttrFloat(reduce.attr, "epsilon", 0), 0);
  ASSERT_EQ(aclopSetAttrInt(reduce.attr, "axes", 3), 0);
  ExpectRefused({api, [&] { return reduce.Run(); }, ACL_ERROR_OP_ATTR_NOT_MATCH,
                 "axes type is another, expected a list of integers"});
}

TEST_F(SingleOpTest, CastIsToTheTypeOfTheOutput) {
  const DeviceArray<float> x{{0, 1.5, -2.5, 3, 4, 5, 6, 7}};
  const DeviceArray<int32_t> y{8};
  SingleOp op("Cast");
  op.Add(true, ACL_FLOAT, x.data(), x.bytes());
  op.Add(false, ACL_INT32, y.data(), y.bytes());
  ASSERT_EQ(aclopSetAttrInt(op.attr, "dst_type", ACL_INT32), 0);
  ASSERT_EQ(op.Run(), 0) << TakeMessage();
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
  EXPECT_EQ(y.Read(), (std::vector<int32_t>{0, 1, -2, 3, 4, 5, 6, 7}));
}

// Of (3, -4) and two rows, the other one of which it is itself.
TEST_F(SingleOpTest, GradientOfDistances) {
  const DeviceArray<float> grad{{10, 10, 100, 100}}, x1{{3, -4, 3, -4}}, x2{{0, 0, 3, -4}},
      distances{{5, 5, 0, 0}}, out{2};
  SingleOp op("CdistGrad");
  for (const auto* each : {&grad, &x1, &x2, &distances}) {
    op.Add(true, ACL_FLOAT, each->data(), each->bytes(), {1, 2, 2});
  }
  op.Add(false, ACL_FLOAT, out.data(), out.bytes(), {1, 2});
  ASSERT_EQ(op.Run(), 0) << TakeMessage();
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
  EXPECT_EQ(out.Read(), (std::vector<float>{6, -8}));
  // -1 is infinity: of the largest difference, which is 4.
  const std::vector<float> largest = {4, 4, 0, 0};
  ASSERT_EQ(aclrtMemcpy(distances.data(), 16, largest.data(), 16, ACL_MEMCPY_HOST_TO_DEVICE), 0);
  ASSERT_EQ(aclopSetAttrFloat(op.attr, "p", -1), 0);
  ASSERT_EQ(op.Run(), 0) << TakeMessage();
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
  EXPECT_EQ(out.Read(), (std::vector<float>{0, -10}));
}

TEST_F(SingleOpTest, Refusals) {
  const Tensors tensors;
  const DeviceArray<float>&x = tensors.x, &y = tensors.y;
  SingleOp unknown("NoSuchOperator"), few("ScaledMaskedSoftmax"), small("ScaledMaskedSoftmax"),
      typed("ScaledMaskedSoftmax"), wrong("ScaledMaskedSoftmax");
  for (SingleOp* op : {&unknown, &typed}) tensors.Fill(op);
  few.Add(true, ACL_FLOAT, x.data(), x.bytes());
  small.Add(true, ACL_FLOAT, x.data(), x.bytes() - 1);
  small.Add(true, ACL_BOOL, tensors.mask.data(), tensors.mask.bytes());
  ASSERT_EQ(aclopSetAttrInt(typed.attr, "scale", 2), 0);
  const char* api = "aclopCompileAndExecute";
  ExpectRefused({api, [&] { return unknown.Run(); }, ACL_ERROR_OP_NOT_FOUND,
                 "opType value is 'NoSuchOperator', which is not here, expected one of Abs, "
                 "AbsGrad, AccumulateNV2"});
  // What the user of a framework has called.
  for (const auto& [name, caller] :
       {std::pair("GIoU", "torch_npu.npu_giou"), {"Unique", "mindspore.ops.unique"}}) {
    SingleOp absent(name);
    const std::string says = std::string("'") + name + "' (" + caller + "), which is not here";
    ExpectRefused({api, [&] { return absent.Run(); }, ACL_ERROR_OP_NOT_FOUND, says.c_str()});
  }
  ExpectRefused({api, [&] { return few.Run(); }, ACL_ERROR_OP_INPUT_NOT_MATCH,
                 "inputs count is 1, expected 2 (x, mask)"});
  ExpectRefused({api, [&] { return small.Run(); }, ACL_ERROR_OP_INPUT_NOT_MATCH,
                 "inputs[0] (x) buffer is 31 bytes"});
  ExpectRefused({api, [&] { return typed.Run(); }, ACL_ERROR_OP_ATTR_NOT_MATCH, "scale type is"});
  // What the operator itself refuses is said in its own words.
  wrong.Add(true, ACL_FLOAT, x.data(), x.bytes());
  wrong.Add(true, ACL_FLOAT, x.data(), x.bytes());
  wrong.Add(false, ACL_FLOAT, y.data(), y.bytes());
  ExpectRefused(
      {"aclnnScaledMaskedSoftmax", [&] { return wrong.Run(); }, 161002, "mask dtype is FLOAT"});
}

TEST_F(SingleOpTest, OptionsAreKept) {
  char value[32] = {};
  EXPECT_EQ(aclGetCompileoptSize(ACL_OP_JIT_COMPILE), 8u);
  EXPECT_EQ(aclGetCompileopt(ACL_OP_JIT_COMPILE, value, sizeof(value)), 0);
  EXPECT_STREQ(value, "disable");
  EXPECT_EQ(aclSetCompileopt(ACL_PRECISION_MODE, "allow_fp32_to_fp16"), 0);
  EXPECT_EQ(aclGetCompileoptSize(ACL_PRECISION_MODE), 19u);
  EXPECT_EQ(aclGetCompileopt(ACL_PRECISION_MODE, value, 19), 0);
  EXPECT_STREQ(value, "allow_fp32_to_fp16");
  const int invalid = ACL_ERROR_INVALID_PARAM;
  ExpectRefused({"aclGetCompileopt",
                 [&] { return aclGetCompileopt(ACL_PRECISION_MODE, value, 18); }, invalid,
                 "length value is 18, expected at least 19"});
  ExpectRefused({"aclSetCompileopt", [] { return aclSetCompileopt(ACL_PRECISION_MODE, nullptr); },
                 invalid, "value value is null"});
  ExpectRefused({"aclSetCompileopt",
                 [] { return aclSetCompileopt(static_cast<aclCompileOpt>(99), ""); }, invalid,
                 "opt value is 99"});
}

}  // namespace
}  // namespace openaclnn
