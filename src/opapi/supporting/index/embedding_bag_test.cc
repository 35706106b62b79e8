// SPDX-License-Identifier: Apache-2.0
// EmbeddingBag against plain loops, in every mode.
#include <numeric>

#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

// Sums are those in double, rounded once to float.
constexpr double kRounding = 0x1.001p-24;

/// Bags {1, 2, 4}, {}, {5, 4} and {3, 9}, or with a last offset {1, 2, 4}, {} and {5, 4, 3, 9}, of
/// a table (10, 3).
struct BagProblem {
  explicit BagProblem(int64_t of_mode, bool last, int64_t pad = -1)
      : mode(of_mode), with_last(last), padding(pad) {}

  Outcome Run(const Device& device) const {
    return RUN(device, EmbeddingBag, weight.handle(), indices.handle(), offsets.handle(), false,
               mode, false, nullptr, with_last, padding, Handle(output), Handle(offset2bag),
               Handle(sizes), Handle(maxima));
  }

  int64_t mode;
  bool with_last;
  int64_t padding;
  Random random{75};
  Doubles table = Held(ACL_FLOAT, RealValues(random, 30));
  std::vector<size_t> rows = {1, 2, 4, 5, 4, 3, 9};
  std::vector<size_t> begins =
      with_last ? std::vector<size_t>{0, 3, 3, 7} : std::vector<size_t>{0, 3, 3, 5, 7};
  int64_t bags = with_last ? 3 : 4;
  DeviceTensor weight = Make(ACL_FLOAT, {10, 3}, table, random);
  DeviceTensor indices = Make(ACL_INT32, {7}, {1, 2, 4, 5, 4, 3, 9}, random);
  DeviceTensor offsets = Make(ACL_INT64, {4}, {0, 3, 3, with_last ? 7.0 : 5.0}, random);
  DeviceTensor output = DeviceTensor(ACL_FLOAT, RandomLayout(random, {bags, 3}, false));
  DeviceTensor offset2bag{ACL_INT64, DenseLayout({7})}, sizes{ACL_INT64, DenseLayout({bags})},
      maxima{ACL_INT64, DenseLayout(mode == 2 ? Dims{bags, 3} : Dims{bags})};
};

TEST(Index, ReducesBagsOfRows) {
  const Device device;
  for (const int64_t mode : {0, 1, 2}) {
    for (const bool last : {false, true}) {
      for (const int64_t padding : {-1, 4}) {
        const BagProblem p(mode, last, padding);
        ASSERT_EQ(p.Run(device).message, "") << mode;
        Doubles want, sizes, maxima;
        for (size_t bag = 0; bag < static_cast<size_t>(p.bags); ++bag) {
          const size_t end = p.begins[bag + 1];
          std::vector<size_t> rows;
          for (size_t i = p.begins[bag]; i < end; ++i) {
            if (static_cast<int64_t>(p.rows[i]) != padding) rows.push_back(p.rows[i]);
          }
          sizes.push_back(static_cast<double>(rows.size()));
          for (size_t column = 0; column < 3; ++column) {
            double sum = 0, most = 0;
            size_t best = 0;
            for (const size_t row : rows) {
              const double value = p.table[row * 3 + column];
              sum += value;
              if (row == rows.front() || value > most) most = value, best = row;
            }
            const double count = std::max<double>(static_cast<double>(rows.size()), 1);
            want.push_back(mode == 0 ? sum : mode == 1 ? sum / count : most);
            maxima.push_back(static_cast<double>(best));
          }
        }
        ExpectNear(ValuesOf(p.output), want, ACL_FLOAT, kRounding);
        EXPECT_EQ(ValuesOf(p.sizes), sizes);
        EXPECT_EQ(ValuesOf(p.maxima), mode == 2 ? maxima : Doubles(sizes.size(), 0));
      }
    }
  }
}

/// The one tree: at most 64 in sequence, then pairwise.
double TreeOf(const Doubles& terms) {
  if (terms.size() <= 64) return std::accumulate(terms.begin(), terms.end(), 0.0);
  size_t half = 64;
  while (half * 2 < terms.size()) half *= 2;
  const auto middle = terms.begin() + static_cast<int64_t>(half);
  return TreeOf({terms.begin(), middle}) + TreeOf({middle, terms.end()});
}

// Bags of more rows than are added in sequence, of floats and of types that are converted.
TEST(Index, ReducesLongBagsOfRows) {
  const Device device;
  Random random(76);
  for (const aclDataType dtype : {ACL_FLOAT, ACL_BF16, ACL_FLOAT16}) {
    for (const int64_t mode : {0, 1}) {
      SCOPED_TRACE(testing::Message() << dtype << ", mode " << mode);
      const std::vector<int64_t> begins = {0, 64, 129, 129, 700};
      const int64_t count = 1000, columns = 19;
      Doubles table = RealValues(random, 50 * columns);
      // Small numbers are lost beside large ones, which meet their opposites: sums tell the order.
      for (double& each : table) {
        const int64_t chance = Uniform(random, 0, 3);
        if (dtype != ACL_FLOAT16 && chance < 2) each = chance == 0 ? 0x1p60 : -0x1p60;
      }
      table = Held(dtype, table);
      const Doubles rows = SmallValues(random, count, 0, 49);
      const DeviceTensor weight = Make(dtype, {50, columns}, table, random),
                         indices = Make(ACL_INT64, {count}, rows, random),
                         offsets = Make(ACL_INT64, {5}, {0, 64, 129, 129, 700}, random),
                         output(dtype, RandomLayout(random, {5, columns}, false)),
                         bag_of(ACL_INT64, RandomLayout(random, {count}, false)),
                         sizes(ACL_INT64, DenseLayout({5})), maxima(ACL_INT64, DenseLayout({5}));
      EXPECT_RUN(device, EmbeddingBag, weight.handle(), indices.handle(), offsets.handle(), false,
                 mode, false, nullptr, false, -1, Handle(output), Handle(bag_of), Handle(sizes),
                 Handle(maxima));
      Doubles want, bags;
      for (size_t bag = 0; bag < begins.size(); ++bag) {
        const auto begin = static_cast<size_t>(begins[bag]);
        const auto end = static_cast<size_t>(bag < 4 ? begins[bag + 1] : count);
        bags.insert(bags.end(), end - begin, static_cast<double>(bag));
        for (int64_t column = 0; column < columns; ++column) {
          Doubles terms;
          for (size_t i = begin; i < end; ++i) {
            const auto row = static_cast<int64_t>(rows[i]);
            terms.push_back(table[static_cast<size_t>(row * columns + column)]);
          }
          const double size = std::max<double>(static_cast<double>(terms.size()), 1);
          want.push_back(TreeOf(terms) / (mode == 1 ? size : 1));
        }
      }
      EXPECT_EQ(output.Read(), ToBytes(dtype, want));
      EXPECT_EQ(ValuesOf(bag_of), bags);
    }
  }
}

TEST(Index, WeighsRowsOfBags) {
  const Device device;
  BagProblem p(0, false);
  const DeviceTensor factors = Floats({7}, {1, 2, 3, 4, 5, 6, 7}),
                     none(ACL_INT64, DenseLayout({0}));
  EXPECT_RUN(device, EmbeddingBag, p.weight.handle(), p.indices.handle(), p.offsets.handle(), false,
             0, false, factors.handle(), false, -1, Handle(p.output), Handle(none), Handle(p.sizes),
             Handle(p.maxima));
  const Doubles got = ValuesOf(p.output);
  for (size_t column = 0; column < 3; ++column) {
    const double want = 4 * p.table[15 + column] + 5 * p.table[12 + column];
    EXPECT_NEAR(got[6 + column], want, kRounding * std::abs(want));
  }
  EXPECT_REFUSED(161002, "perSampleWeights value is a tensor", EmbeddingBag, p.weight.handle(),
                 p.indices.handle(), p.offsets.handle(), false, 1, false, factors.handle(), false,
                 -1, Handle(p.output), Handle(none), Handle(p.sizes), Handle(p.maxima));
}

TEST(Index, BagsThatAreNoneFailTheTask) {
  const Device device;
  BagProblem p(0, false);
  p.indices.Write(ToBytes(ACL_INT32, {1, 2, 4, 10, 4, 3, 9}));
  EXPECT_EQ(p.Run(device).code, 507035);
  BagProblem falling(0, false);
  falling.offsets.Write(ToBytes(ACL_INT64, {0, 3, 2, 5}));
  const Outcome outcome = falling.Run(device);
  EXPECT_EQ(outcome.code, 507035) << outcome.message;
  const BagProblem other(3, false);
  EXPECT_NE(other.Run(device).message.find("mode value is 3"), std::string::npos);
}

// Indices behind the last bag would belong to no bag.
TEST(Index, BagsHoldEveryIndex) {
  const Device device;
  BagProblem p(0, true);
  p.offsets.Write(ToBytes(ACL_INT64, {0, 3, 3, 5}));
  const Outcome outcome = p.Run(device);
  EXPECT_EQ(outcome.code, 507035);
  EXPECT_NE(outcome.message.find("offsets value 3 is 5, expected 7"), std::string::npos)
      << outcome.message;
  BagProblem q(0, false);
  const DeviceTensor none(ACL_INT64, DenseLayout({0})), output(ACL_FLOAT, DenseLayout({0, 3}));
  EXPECT_REFUSED(161002, "offsets shape is (0), expected a bag for 7 indices", EmbeddingBag,
                 q.weight.handle(), q.indices.handle(), none.handle(), false, 0, false, nullptr,
                 false, -1, Handle(output), Handle(q.offset2bag), Handle(q.sizes),
                 Handle(q.maxima));
}

}  // namespace
}  // namespace openaclnn::test
