// SPDX-License-Identifier: Apache-2.0
// What users of PyTorch have reported of embeddings, their gradients and other look-ups by index:
// crashes, wrong numbers, indices out of range. Each test names the public thread that it stands
// for; the code is written anew.
#include "aclnnop/aclnn_embedding.h"
#include "aclnnop/aclnn_embedding_dense_backward.h"
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

constexpr int kTaskFailed = 507035;
constexpr uint64_t kNoPadding = UINT64_MAX;

/// A gradient of a table (rows, width), of dense tensors.
struct GradientCase {
  Dims grad_dims;
  Doubles grad;
  Dims index_dims;
  Doubles indices;
  int64_t rows;
  uint64_t padding = kNoPadding;
  bool scale = false;
  aclDataType dtype = ACL_FLOAT;
  aclDataType index_type = ACL_INT64;
};

struct GradientResult {
  Outcome outcome;
  Doubles out;
  std::string change;  // of out
};

GradientResult RunGradient(const GradientCase& c) {
  const Device device;
  const DeviceTensor grad = Make(c.dtype, c.grad_dims, c.grad);
  const DeviceTensor indices = Make(c.index_type, c.index_dims, c.indices);
  DeviceTensor out(c.dtype, DenseLayout({c.rows, c.grad_dims.back()}));
  out.Scramble();
  GradientResult result;
  result.outcome = RUN(device, EmbeddingDenseBackward, grad.handle(), indices.handle(),
                       static_cast<uint64_t>(c.rows), c.padding, c.scale, Handle(out));
  result.change = out.Change();
  result.out = ValuesOf(out);
  return result;
}

Doubles Ones(int64_t count) { return Doubles(static_cast<size_t>(count), 1); }

/// The task fails, names the index, and leaves the output as it was.
void ExpectOutOfRange(const GradientCase& c, const std::string& index) {
  const GradientResult result = RunGradient(c);
  EXPECT_EQ(result.outcome.code, kTaskFailed) << result.outcome.message;
  EXPECT_NE(result.outcome.message.find(index), std::string::npos) << result.outcome.message;
  EXPECT_EQ(result.change, "");
}

// pytorch/pytorch#145267: a segmentation fault. The table has no rows, the index is 10^17.
TEST(EmbeddingReports, TableWithoutRows) {
  ExpectOutOfRange({{1, 1}, {1}, {1}, {1e17}, 0, static_cast<uint64_t>(-4611686018427387905), true},
                   "100000000000000000");
}

// pytorch/pytorch#142837: a segmentation fault. A negative index, and a gradient without elements.
TEST(EmbeddingReports, NegativeIndexOfNoElements) {
  const GradientCase c = {{1, 0}, {}, {1, 1, 1, 1, 1, 1, 1, 1}, {-536871000}, 0, 0, true};
  const GradientResult result = RunGradient(c);
  EXPECT_EQ(result.outcome.message, "") << "without elements nothing is looked up";
  const Device device;
  const DeviceTensor grad(ACL_FLOAT, DenseLayout({0, 0, 11, 0, 0}));
  const DeviceTensor ten = Make(ACL_INT64, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {-536871000});
  const DeviceTensor out(ACL_FLOAT, DenseLayout({0, 0}));
  EXPECT_REFUSED(161002, "indices rank is 10", EmbeddingDenseBackward, grad.handle(), ten.handle(),
                 0, 0, true, Handle(out));
}

// pytorch/pytorch#143482: a segmentation fault. 2^29 rows without columns.
TEST(EmbeddingReports, ManyRowsWithoutColumns) {
  const Device device;
  const DeviceTensor grad(ACL_FLOAT, DenseLayout({8, 0, 3, 7, 6, 1, 0}));
  const DeviceTensor indices = Make(ACL_INT64, {2}, {1250999896764, 1250999896764});
  const DeviceTensor out(ACL_FLOAT, DenseLayout({int64_t{1} << 29, 0}));
  const Outcome outcome = RUN(device, EmbeddingDenseBackward, grad.handle(), indices.handle(),
                              uint64_t{1} << 29, 4194304, true, Handle(out));
  EXPECT_EQ(outcome.message, "");
}

// pytorch/pytorch#151918: an index of -1 is not the last row.
TEST(EmbeddingReports, NegativeIndicesDoNotWrap) {
  for (const aclDataType type : {ACL_INT64, ACL_INT32, ACL_INT16, ACL_INT8}) {
    ExpectOutOfRange({{3, 2}, Ones(6), {3}, {0, -1, 1}, 4, kNoPadding, false, ACL_FLOAT, type},
                     "-1");
  }
}

// pytorch/pytorch#571: an index right behind the table, and one that 32 bits would make a right
// one.
TEST(EmbeddingReports, IndicesBehindTheTable) {
  ExpectOutOfRange({{3, 2}, Ones(6), {3}, {0, 4, 1}, 4}, "4");
  ExpectOutOfRange({{3, 2}, Ones(6), {3}, {0, 4294967297, 1}, 4}, "4294967297");
}

// pytorch/pytorch#26302 and #28716: the row of padding had a gradient where inputs were long.
TEST(EmbeddingReports, PaddingOfLongInputs) {
  for (const int64_t tokens : {768, 769, 5376, 20000}) {
    Random random(26302);
    for (const bool all : {true, false}) {
      const Doubles indices = SmallValues(random, tokens, 0, all ? 0 : 9);
      const GradientResult result =
          RunGradient({{tokens, 5}, Ones(tokens * 5), {tokens}, indices, 10, 0, false});
      ASSERT_TRUE(result.outcome.ok()) << result.outcome.message;
      double total = 0;
      for (size_t i = 0; i < result.out.size(); ++i) {
        if (i < 5) {
          EXPECT_EQ(result.out[i], 0) << tokens;
        }
        total += result.out[i];
      }
      const auto others =
          std::count_if(indices.begin(), indices.end(), [](double v) { return v != 0; });
      EXPECT_EQ(total, 5.0 * static_cast<double>(others));
    }
  }
}

// pytorch/pytorch#190063: an index that occurs once was divided by the count of the one before it.
TEST(EmbeddingReports, EachIndexHasItsOwnCount) {
  const GradientResult result = RunGradient({{3, 3}, Ones(9), {3}, {1, 1, 3}, 4, kNoPadding, true});
  ASSERT_TRUE(result.outcome.ok()) << result.outcome.message;
  EXPECT_EQ(result.out, (Doubles{0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1}));
}

// pytorch/pytorch#185119: scale_grad_by_freq was not looked at. Padding is not scaled either.
TEST(EmbeddingReports, CountsAreDividedBy) {
  const GradientResult result = RunGradient({{4, 1}, {1, 2, 3, 4}, {4}, {1, 1, 0, 0}, 2, 0, true});
  ASSERT_TRUE(result.outcome.ok()) << result.outcome.message;
  EXPECT_EQ(result.out, (Doubles{0, 1.5}));
}

// pytorch/pytorch#22377 and apache/mxnet#17703: sums were kept in 16
// bits. 4,096 ones, and numbers whose partial sums leave the range of FLOAT16.
TEST(EmbeddingReports, SumsOfSixteenBitsAreKeptInMore) {
  for (const aclDataType dtype : {ACL_FLOAT16, ACL_BF16}) {
    const GradientResult result =
        RunGradient({{4096, 1}, Ones(4096), {4096}, Doubles(4096, 1), 2, kNoPadding, false, dtype});
    ASSERT_TRUE(result.outcome.ok()) << result.outcome.message;
    EXPECT_EQ(result.out, (Doubles{0, 4096}));
  }
  const GradientResult result = RunGradient({{4, 1},
                                             {60000, 60000, -60000, -59936},
                                             {4},
                                             Doubles(4, 0),
                                             1,
                                             kNoPadding,
                                             false,
                                             ACL_FLOAT16});
  ASSERT_TRUE(result.outcome.ok()) << result.outcome.message;
  EXPECT_EQ(result.out, Doubles{64});
}

// pytorch/pytorch#9114: gradients that are not contiguous, as that of a sum, which is one number
// for all, and those of transposed results.
TEST(EmbeddingReports, GradientsThatAreNotContiguous) {
  const Device device;
  const DeviceTensor indices = Make(ACL_INT64, {2, 3}, {0, 1, 0, 3, 0, 1});
  DeviceTensor one(ACL_FLOAT, {.dims = {2, 3, 2}, .strides = {0, 0, 0}, .storage = 1});
  one.Write(ToBytes(ACL_FLOAT, Ones(12)));
  DeviceTensor out(ACL_FLOAT, DenseLayout({4, 2}));
  EXPECT_RUN(device, EmbeddingDenseBackward, one.handle(), indices.handle(), 4, kNoPadding, false,
             Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{3, 3, 2, 2, 0, 0, 1, 1}));
  DeviceTensor turned(ACL_FLOAT, {.dims = {2, 3, 2}, .strides = {1, 2, 6}, .storage = 12});
  turned.Write(ToBytes(ACL_FLOAT, {1, 10, 2, 20, 3, 30, 4, 40, 5, 50, 6, 60}));
  EXPECT_RUN(device, EmbeddingDenseBackward, turned.handle(), indices.handle(), 4, kNoPadding,
             false, Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{9, 90, 8, 80, 0, 0, 4, 40}));
}

// A NaN or an infinity stays in its row.
TEST(EmbeddingReports, NaNsStayInTheirRow) {
  const double nan = std::nan("");
  for (const aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
    const GradientResult result =
        RunGradient({{4, 1}, {nan, 1, 2, INFINITY}, {4}, {0, 1, 1, 3}, 4, 0, false, dtype});
    ASSERT_TRUE(result.outcome.ok()) << result.outcome.message;
    EXPECT_EQ(result.out, (Doubles{0, 3, 0, INFINITY})) << "of padding nothing is seen";
  }
}

// pytorch/pytorch#115239: a segmentation fault. Rows without columns, and indices behind them.
// pytorch/pytorch#97088: another, of shapes with a 0 and a number near 2^61.
TEST(EmbeddingReports, LookUpsOfNothing) {
  const Device device;
  const DeviceTensor table(ACL_FLOAT16, DenseLayout({4, 0}));
  const DeviceTensor indices = Make(ACL_INT64, {1, 3}, {0, 51, 81});
  const DeviceTensor out(ACL_FLOAT16, DenseLayout({1, 3, 0}));
  const Outcome outcome = RUN(device, Embedding, table.handle(), indices.handle(), Handle(out));
  EXPECT_EQ(outcome.message, "");

  const Dims huge = {2, 0, 11, 3, 4, 2322065022462387218};
  const DeviceTensor weight = Make(ACL_FLOAT, {13, 7}, Ones(91));
  Dims result = huge;
  result.push_back(7);
  const TensorHandle none({.dims = huge, .dtype = ACL_INT64, .storage = Dims{0}});
  const TensorHandle nothing({.dims = result, .storage = Dims{0}});
  const Outcome empty = RUN(device, Embedding, weight.handle(), none.get(), nothing.get());
  EXPECT_EQ(empty.message, "");
}

// pytorch/pytorch#70675: rows of an empty table were random numbers. #169779: of -1 and of a
// number behind the table there is no row. #90998: many times the one element of a scalar.
TEST(EmbeddingReports, SelectedRows) {
  const Device device;
  const DeviceTensor none(ACL_FLOAT, DenseLayout({0, 4}));
  const DeviceTensor two = Make(ACL_INT64, {2}, {0, 1});
  const DeviceTensor out(ACL_FLOAT, DenseLayout({2, 4}));
  const Outcome empty = RUN(device, IndexSelect, none.handle(), 0, two.handle(), Handle(out));
  EXPECT_EQ(empty.code, kTaskFailed) << empty.message;

  const DeviceTensor table = Make(ACL_FLOAT, {5, 4}, Ones(20));
  for (const double bad : {-6.0, 5.0, 4294967296.0}) {
    const DeviceTensor index = Make(ACL_INT64, {2}, {0, bad});
    EXPECT_EQ(RUN(device, IndexSelect, table.handle(), 0, index.handle(), Handle(out)).code,
              kTaskFailed)
        << bad;
  }
  const DeviceTensor scalar = Make(ACL_INT64, {}, {10});
  const DeviceTensor zeros = Make(ACL_INT64, {8}, Doubles(8, 0));
  DeviceTensor eight(ACL_INT64, DenseLayout({8}));
  const Outcome many = RUN(device, IndexSelect, scalar.handle(), 0, zeros.handle(), Handle(eight));
  EXPECT_EQ(many.code, 161002) << many.message;
  EXPECT_EQ(eight.Damage(), "");
}

// pytorch/pytorch#1368 and #107540: gather, and what scatters, did not look at their indices.
TEST(EmbeddingReports, GatheredAndScatteredElements) {
  const Device device;
  const DeviceTensor self = Make(ACL_INT64, {2, 2}, {1, 2, 3, 4});
  for (const double bad : {-4096.0, -3.0, 2.0, 4095.0}) {
    const DeviceTensor index = Make(ACL_INT64, {2, 2}, {0, 1, bad, 0});
    const DeviceTensor out(ACL_INT64, DenseLayout({2, 2}));
    EXPECT_EQ(RUN(device, Gather, self.handle(), 1, index.handle(), Handle(out)).code, kTaskFailed)
        << bad;
    EXPECT_EQ(
        RUN(device, ScatterAdd, self.handle(), 1, index.handle(), self.handle(), Handle(out)).code,
        kTaskFailed)
        << bad;
  }
}

// pytorch/pytorch#114864: a negative size. A source of three dimensions for a scalar.
TEST(EmbeddingReports, SourcesOfOtherRanks) {
  const Device device;
  const DeviceTensor self = Make(ACL_FLOAT, {}, {1}), source = Make(ACL_FLOAT, {1, 1, 1}, {2});
  const DeviceTensor index = Make(ACL_INT64, {1}, {0}), out(ACL_FLOAT, DenseLayout({}));
  const ScalarHandle alpha(int64_t{1});
  EXPECT_REFUSED(161002, ", expected 1 elements", IndexAdd, self.handle(), 0, index.handle(),
                 source.handle(), alpha.get(), Handle(out));
}

}  // namespace
}  // namespace openaclnn::test
