// SPDX-License-Identifier: Apache-2.0
// Operators by their graph names that frameworks train with: results by hand, and refusals.
#include <functional>

#include "tests/companions/single_op.h"

namespace openaclnn {
namespace {

using Dims = std::vector<int64_t>;
using Floats = std::vector<float>;
constexpr const char* kApi = "aclopCompileAndExecute";

class GraphOperatorsTest : public RuntimeTest {
 protected:
  static void In(SingleOp* op, const DeviceArray<float>& x, const Dims& dims) {
    op->Add(true, ACL_FLOAT, x.data(), x.bytes(), dims);
  }
  static void Out(SingleOp* op, const DeviceArray<float>& x, const Dims& dims) {
    op->Add(false, ACL_FLOAT, x.data(), x.bytes(), dims);
  }
  static void Run(const SingleOp& op) {
    ASSERT_EQ(op.Run(), 0) << TakeMessage();
    ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0) << TakeMessage();
  }
  static void Refuses(const SingleOp& op, int code, const char* says) {
    ExpectRefused({kApi, [&] { return op.Run(); }, code, says});
  }
};

TEST_F(GraphOperatorsTest, BiasIsAlongTheLastDimensionOrTheSecond) {
  const DeviceArray<float> x{{1, 2, 3, 4, 5, 6, 7, 8}}, bias{{10, 20}}, y{8}, grad{2};
  for (const char* format : {"NHWC", "NCHW"}) {
    SingleOp add("BiasAdd"), sum("BiasAddGrad");
    for (SingleOp* op : {&add, &sum}) {
      ASSERT_EQ(aclopSetAttrString(op->attr, "data_format", format), 0);
      In(op, x, {2, 2, 2});
    }
    In(&add, bias, {2});
    Out(&add, y, {2, 2, 2});
    Out(&sum, grad, {2});
    Run(add);
    Run(sum);
    const bool last = format[1] == 'H';
    EXPECT_EQ(y.Read(), last ? (Floats{11, 22, 13, 24, 15, 26, 17, 28})
                             : (Floats{11, 12, 23, 24, 15, 16, 27, 28}));
    EXPECT_EQ(grad.Read(), last ? (Floats{16, 20}) : (Floats{14, 22}));
  }
}

// Two channels of 2 x 3 images, one filter that adds a column's neighbours, a step of 1, a border
// of one column to either side.
TEST_F(GraphOperatorsTest, ConvolutionsAndTheirGradients) {
  const DeviceArray<float> x{{1, 2, 3, 4, 5, 6, 1, 0, 0, 0, 0, 1}}, w{{1, 0, 1, 2, 0, 0}};
  const DeviceArray<float> y{6}, dy{{1, 0, 0, 0, 0, 1}}, dx{12}, dw{6};
  const int64_t steps[] = {1, 1, 1, 1}, pads[] = {0, 0, 1, 1};
  const DeviceArray<int32_t> size{4};
  const auto set = [&](const SingleOp& op) {
    ASSERT_EQ(aclopSetAttrListInt(op.attr, "strides", 4, steps), 0);
    ASSERT_EQ(aclopSetAttrListInt(op.attr, "dilations", 4, steps), 0);
    ASSERT_EQ(aclopSetAttrListInt(op.attr, "pads", 4, pads), 0);
    ASSERT_EQ(aclopSetAttrInt(op.attr, "groups", 1), 0);
    ASSERT_EQ(aclopSetAttrString(op.attr, "data_format", "NCHW"), 0);
  };
  const Dims images = {1, 2, 2, 3}, filters = {1, 2, 1, 3}, results = {1, 1, 2, 3};
  SingleOp conv("Conv2D"), input("Conv2DBackpropInput"), filter("Conv2DBackpropFilter");
  for (const SingleOp* op : {&conv, &input, &filter}) set(*op);
  In(&conv, x, images);
  In(&conv, w, filters);
  Out(&conv, y, results);
  Run(conv);
  EXPECT_EQ(y.Read(), (Floats{2, 6, 2, 5, 10, 5}));
  input.Add(true, ACL_INT32, size.data(), size.bytes(), {4});
  In(&input, w, filters);
  In(&input, dy, results);
  Out(&input, dx, images);
  Run(input);
  EXPECT_EQ(dx.Read(), (Floats{0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 2, 0}));
  In(&filter, x, images);
  filter.Add(true, ACL_INT32, size.data(), size.bytes(), {4});
  In(&filter, dy, results);
  Out(&filter, dw, filters);
  Run(filter);
  EXPECT_EQ(dw.Read(), (Floats{5, 1 + 6, 2, 0, 1 + 1, 0}));
  ASSERT_EQ(aclopSetAttrString(conv.attr, "data_format", "NHWC"), 0);
  Refuses(conv, ACL_ERROR_OP_ATTR_NOT_MATCH, "data_format value is 'NHWC', expected NCHW");
  set(conv);
  const int64_t of_batches[] = {2, 1, 1, 1};
  ASSERT_EQ(aclopSetAttrListInt(conv.attr, "pads", 2, pads), 0);
  Refuses(conv, ACL_ERROR_OP_ATTR_NOT_MATCH, "strides, pads or dilations value is another");
  set(conv);
  ASSERT_EQ(aclopSetAttrListInt(conv.attr, "strides", 2, steps), 0);
  Refuses(conv, ACL_ERROR_OP_ATTR_NOT_MATCH, "strides, pads or dilations value is another");
  ASSERT_EQ(aclopSetAttrListInt(conv.attr, "strides", 4, of_batches), 0);
  Refuses(conv, ACL_ERROR_OP_ATTR_NOT_MATCH, "strides, pads or dilations value is another");
}

// The values of axes are the host's: given with the description, or in its own memory.
TEST_F(GraphOperatorsTest, AxesAreKnownToTheHost) {
  const DeviceArray<float> x{{1, 2, 3, 4, 5, 6}}, mean{2}, rows{6};
  const DeviceArray<int64_t> unknown{1};
  int64_t last = -1;
  int32_t first = 0;
  SingleOp reduce("ReduceMean"), hidden("ReduceMean"), gather("GatherV2");
  In(&reduce, x, {2, 3});
  reduce.Add(true, ACL_INT64, &last, sizeof(last), {1});
  Out(&reduce, mean, {2, 1});
  ASSERT_EQ(aclopSetAttrBool(reduce.attr, "keep_dims", 1), 0);
  Run(reduce);
  EXPECT_EQ(mean.Read(), (Floats{2, 5}));
  In(&hidden, x, {2, 3});
  hidden.Add(true, ACL_INT64, unknown.data(), unknown.bytes(), {1});
  Out(&hidden, mean, {2});
  Refuses(hidden, ACL_ERROR_OP_INPUT_NOT_MATCH, "axes values are not known to the host");
  auto* desc = const_cast<aclTensorDesc*>(hidden.input_descs[1]);
  EXPECT_EQ(aclGetTensorDescAddress(desc), nullptr);
  ExpectRefused({"aclSetTensorConst", [=] { return aclSetTensorConst(desc, nullptr, 8); },
                 ACL_ERROR_INVALID_PARAM, "dataBuffer value is null"});
  ExpectRefused({"aclSetTensorConst", [&] { return aclSetTensorConst(desc, &last, 4); },
                 ACL_ERROR_INVALID_PARAM, "length value is 4, expected at least the 8 bytes"});
  ASSERT_EQ(aclSetTensorConst(desc, &last, sizeof(last)), 0);
  ASSERT_NE(aclGetTensorDescAddress(desc), nullptr);
  Run(hidden);
  EXPECT_EQ(mean.Read(), (Floats{2, 5}));
  const DeviceArray<int32_t> indices{{1, 0}};
  In(&gather, x, {2, 3});
  gather.Add(true, ACL_INT32, indices.data(), indices.bytes(), {2});
  gather.Add(true, ACL_INT32, &first, sizeof(first), {1});
  Out(&gather, rows, {2, 3});
  Run(gather);
  EXPECT_EQ(rows.Read(), (Floats{4, 5, 6, 1, 2, 3}));
}

TEST_F(GraphOperatorsTest, NoAxesAreAllOrRefused) {
  const DeviceArray<float> x{{1, 2, 3, 6}}, mean{1};
  SingleOp op("ReduceMean");
  In(&op, x, {2, 2});
  op.Add(true, ACL_INT64, nullptr, 0, {0});
  Out(&op, mean, {});
  Run(op);
  EXPECT_EQ(mean.Read(), Floats{3});
  ASSERT_EQ(aclopSetAttrBool(op.attr, "noop_with_empty_axes", 1), 0);
  Refuses(op, ACL_ERROR_OP_ATTR_NOT_MATCH, "noop_with_empty_axes value is true");
}

// As an embedding's gradient: rows by the segment that they belong to.
TEST_F(GraphOperatorsTest, SumsOfSegments) {
  const DeviceArray<float> x{{1, 2, 3, 4, 5, 6, 7, 8}}, sums{6};
  const DeviceArray<int32_t> segments{{2, 0, 2, 2}}, few{{2, 0, 2}};
  const DeviceArray<int64_t> count{{3}};
  SingleOp op("UnsortedSegmentSum"), other("UnsortedSegmentSum");
  const auto fill = [&](SingleOp* each, const DeviceArray<int32_t>& of, const Dims& dims) {
    In(each, x, {2, 2, 2});
    each->Add(true, ACL_INT32, of.data(), of.bytes(), dims);
    each->Add(true, ACL_INT64, count.data(), count.bytes(), {});
    Out(each, sums, {3, 2});
  };
  fill(&op, segments, {2, 2});
  Run(op);
  EXPECT_EQ(sums.Read(), (Floats{3, 4, 0, 0, 13, 16}));
  fill(&other, few, {3});
  Refuses(other, ACL_ERROR_OP_INPUT_NOT_MATCH, "segment_ids shape is another");
  SingleOp wide("UnsortedSegmentSum");
  In(&wide, x, {2, 2, 2});
  wide.Add(true, ACL_INT32, segments.data(), segments.bytes(), {2, 2});
  wide.Add(true, ACL_INT64, count.data(), count.bytes(), {});
  Out(&wide, sums, {2, 3});
  Refuses(wide, ACL_ERROR_OP_OUTPUT_NOT_MATCH, "y shape is another");
}

TEST_F(GraphOperatorsTest, CopiesAndQuotients) {
  const DeviceArray<float> x{{1, 2}}, y{{4, 8}}, out{2};
  const auto run = [&](const char* name, std::vector<const DeviceArray<float>*> inputs,
                       const DeviceArray<float>& result) {
    SingleOp op(name);
    for (const auto* each : inputs) In(&op, *each, {2});
    Out(&op, result, {2});
    Run(op);
  };
  run("RealDiv", {&y, &x}, out);
  EXPECT_EQ(out.Read(), (Floats{4, 4}));
  run("Identity", {&x}, out);
  EXPECT_EQ(out.Read(), (Floats{1, 2}));
  run("OnesLike", {&x}, out);
  EXPECT_EQ(out.Read(), (Floats{1, 1}));
  run("ZerosLike", {&x}, out);
  EXPECT_EQ(out.Read(), (Floats{0, 0}));
  run("SqrtGrad", {&x, &y}, out);
  EXPECT_EQ(out.Read(), (Floats{2, 2}));
  run("RsqrtGrad", {&x, &y}, out);
  EXPECT_EQ(out.Read(), (Floats{-2, -32}));
  run("TensorMove", {&y}, out);
  EXPECT_EQ(out.Read(), (Floats{4, 8}));
  run("Assign", {&out, &x}, out);
  EXPECT_EQ(out.Read(), (Floats{1, 2}));
  run("AssignAdd", {&out, &y}, out);
  EXPECT_EQ(out.Read(), (Floats{5, 10}));
  // The output may be other memory than the input that it is: both have the result.
  run("Assign", {&out, &y}, x);
  EXPECT_EQ(x.Read(), (Floats{4, 8}));
  EXPECT_EQ(out.Read(), (Floats{4, 8}));
}

TEST_F(GraphOperatorsTest, StepsWithMomentum) {
  const DeviceArray<float> rate{Floats{0.5}}, momentum{Floats{0.25}}, grad{{2, 4}}, stat{{1, 1}};
  const auto expect = [&](SingleOp* op, const DeviceArray<float>& weights,
                          const DeviceArray<float>& accum) {
    Out(op, weights, {2});
    Run(*op);
    EXPECT_EQ(accum.Read(), (Floats{4, 5}));
    EXPECT_EQ(weights.Read(), (Floats{8, 7.5}));
  };
  const DeviceArray<float> w1{{10, 10}}, w2{{10, 10}}, a1{{8, 4}}, a2{{8, 4}};
  SingleOp apply("ApplyMomentum"), sgd("SGD");
  In(&apply, w1, {2});
  In(&apply, a1, {2});
  In(&apply, rate, {});
  In(&apply, grad, {2});
  In(&apply, momentum, {});
  expect(&apply, w1, a1);
  In(&sgd, w2, {2});
  In(&sgd, grad, {2});
  In(&sgd, rate, {});
  In(&sgd, a2, {2});
  In(&sgd, momentum, {});
  In(&sgd, stat, {2});
  expect(&sgd, w2, a2);
  ASSERT_EQ(aclopSetAttrInt(apply.attr, "use_nesterov", 1), 0);
  Refuses(apply, ACL_ERROR_OP_ATTR_NOT_MATCH, "use_nesterov type is another, expected a bool");
  ASSERT_EQ(aclopSetAttrInt(sgd.attr, "weight_decay", 1), 0);
  Refuses(sgd, ACL_ERROR_OP_ATTR_NOT_MATCH, "weight_decay type is another, expected a float");
  EXPECT_EQ(w1.Read(), (Floats{8, 7.5})) << "refused before anything is written";
  float host = 0.5, host_grad[] = {2, 4};
  SingleOp other("ApplyMomentum");
  In(&other, w1, {2});
  In(&other, a1, {2});
  other.Add(true, ACL_FLOAT, &host, sizeof(host), {});
  other.Add(true, ACL_FLOAT, host_grad, sizeof(host_grad), {2});
  In(&other, momentum, {});
  Out(&other, w1, {2});
  Refuses(other, ACL_ERROR_OP_INPUT_NOT_MATCH, "inputs[3] (grad) memory is the host's");
  EXPECT_EQ(a1.Read(), (Floats{4, 5}));
}

}  // namespace
}  // namespace openaclnn
