// SPDX-License-Identifier: Apache-2.0
// Many values for one place: all are in the sum, by the one tree; the last one stays.
#include <map>

#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

/// At most 64 terms in sequence, then pairwise: the left part is the largest power of two of
/// chunks.
double TreeSumOf(const double* terms, int64_t count) {
  if (count <= 64) {
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += terms[i];
    return sum;
  }
  int64_t half = 64;
  while (half * 2 < count) half *= 2;
  return TreeSumOf(terms, half) + TreeSumOf(terms + half, count - half);
}

/// Terms of each place: its old value and the values that are added, in order.
using Terms = std::map<size_t, Doubles>;

enum Placing { kSet, kAdd, kMultiply };

double Combined(Placing placing, const Doubles& terms) {
  if (placing == kSet) return terms.back();
  if (placing == kAdd) return TreeSumOf(terms.data(), static_cast<int64_t>(terms.size()));
  double product = 1;
  for (const double term : terms) product *= term;
  return product;
}

Doubles Expected(Placing placing, const Doubles& begin, const Terms& terms, aclDataType dtype) {
  Doubles expected = begin;
  for (const auto& [place, given] : terms) expected[place] = Combined(placing, given);
  return ToDoubles(dtype, ToBytes(dtype, expected));
}

int64_t CountOf(const Dims& dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  return count;
}

/// A tensor of (outer, length, inner) along the middle dimension.
struct Along {
  int64_t outer, length, inner;

  Dims dims() const { return {outer, length, inner}; }
  size_t At(int64_t o, int64_t i, int64_t k) const {
    return static_cast<size_t>((o * length + i) * inner + k);
  }
};

constexpr aclDataType kTypesOfSums[] = {ACL_FLOAT, ACL_DOUBLE, ACL_BF16,
                                        ACL_INT32, ACL_INT64,  ACL_BOOL};

/// Values of a type of the test: small, that products stay in the range.
Doubles Values(Random& random, const Dims& dims, aclDataType dtype) {
  return IsFloat(dtype) ? RealValues(random, CountOf(dims), -1.2, 1.2)
                        : SmallValues(random, CountOf(dims), 0, 1);
}

void Scatters(Random& random, const Device& device, const Along& to, const Along& from,
              Placing placing, aclDataType dtype) {
  const DeviceTensor self = Make(dtype, to.dims(), Values(random, to.dims(), dtype), random);
  const DeviceTensor src = Make(dtype, from.dims(), Values(random, from.dims(), dtype), random);
  const Doubles places = SmallValues(random, CountOf(from.dims()), 0, to.length - 1);
  const DeviceTensor index = Make(ACL_INT64, from.dims(), places, random);
  const DeviceTensor out(dtype, RandomLayout(random, to.dims(), false));
  const Doubles begin = ValuesOf(self), values = ValuesOf(src);
  Terms terms;
  for (size_t i = 0; i < places.size(); ++i) {
    const auto at = static_cast<int64_t>(i), row = at / from.inner / from.length;
    const size_t place = to.At(row, static_cast<int64_t>(places[i]), at % from.inner);
    terms.try_emplace(place, Doubles{begin[place]}).first->second.push_back(values[i]);
  }
  EXPECT_RUN(device, Scatter, self.handle(), 1, index.handle(), src.handle(), placing, Handle(out));
  ASSERT_EQ(ValuesOf(out), Expected(placing, begin, terms, dtype))
      << to.length << " " << from.length << " " << placing << " " << dtype;
  EXPECT_EQ(out.Damage(), "");
}

// Few hits of many places, many hits of few, more than a sum takes in sequence.
TEST(Places, OfRowsThatAreScattered) {
  const Device device;
  Random random(61);
  for (const aclDataType dtype : kTypesOfSums) {
    for (const Placing placing : {kSet, kAdd, kMultiply}) {
      Scatters(random, device, {3, 40, 5}, {3, 130, 5}, placing, dtype);
      Scatters(random, device, {3, 2, 5}, {2, 300, 4}, placing, dtype);
      Scatters(random, device, {3, 3, 5}, {3, 270, 5}, placing, dtype);
      Scatters(random, device, {3, 900, 1}, {3, 7, 1}, placing, dtype);
      Scatters(random, device, {90, 700, 1}, {90, 1100, 1}, placing, dtype);
    }
  }
}

// Few for each place, more than a sum takes in sequence, and 2^16 + 30 for one.
TEST(Places, OfLongRows) {
  const Device device;
  Random random(65);
  for (const aclDataType dtype : {ACL_FLOAT, ACL_DOUBLE, ACL_INT64}) {
    Scatters(random, device, {1, 40000, 1}, {1, 70000, 1}, kAdd, dtype);
    Scatters(random, device, {1, 900, 1}, {1, 70000, 1}, kAdd, dtype);
    Scatters(random, device, {1, 1, 1}, {1, 65566, 1}, kAdd, dtype);
  }
}

// Tasks of two streams may add to places of their own in one tensor: what an index does not name is
// not even stored as it was.
TEST(Places, OfOneTensorOnTwoStreams) {
  const Device device({{"OPENACLNN_NUM_THREADS", "4"}});
  constexpr int64_t kCount = 1 << 18;
  constexpr int kRounds = 100;
  const DeviceTensor out = Make(ACL_FLOAT, {kCount}, Doubles(kCount, 0));
  const DeviceTensor src = Make(ACL_FLOAT, {kCount / 2}, Doubles(kCount / 2, 1));
  Doubles even(kCount / 2), odd(kCount / 2);
  for (size_t i = 0; i < even.size(); ++i) {
    even[i] = static_cast<double>(2 * i);
    odd[i] = even[i] + 1;
  }
  const DeviceTensor index[] = {Make(ACL_INT64, {kCount / 2}, even),
                                Make(ACL_INT64, {kCount / 2}, odd)};
  aclrtStream streams[2];
  for (aclrtStream& stream : streams) ASSERT_EQ(aclrtCreateStream(&stream), 0);
  const DeviceTensor workspaces[] = {DeviceTensor(ACL_UINT8, DenseLayout({64 * kCount})),
                                     DeviceTensor(ACL_UINT8, DenseLayout({64 * kCount}))};
  for (int round = 0; round < kRounds; ++round) {
    uint64_t bytes = 0;
    aclOpExecutor* executors[2] = {};
    for (int i = 0; i < 2; ++i) {
      ASSERT_EQ(aclnnScatterAddGetWorkspaceSize(Handle(out), 0, index[i].handle(), src.handle(),
                                                Handle(out), &bytes, &executors[i]),
                0);
      ASSERT_LE(bytes, uint64_t{64 * kCount});
    }
    for (int i = 0; i < 2; ++i) {
      ASSERT_EQ(aclnnScatterAdd(workspaces[i].data(), bytes, executors[i], streams[i]), 0);
    }
    for (aclrtStream stream : streams) ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
  }
  for (aclrtStream stream : streams) ASSERT_EQ(aclrtDestroyStream(stream), 0);
  EXPECT_EQ(ValuesOf(out), Doubles(kCount, kRounds));
}

void AddsSlices(Random& random, const Device& device, const Along& to, int64_t count,
                Placing placing, aclDataType dtype) {
  const Along from = {to.outer, count, to.inner};
  const DeviceTensor self = Make(dtype, to.dims(), Values(random, to.dims(), dtype), random);
  const DeviceTensor src = Make(dtype, from.dims(), Values(random, from.dims(), dtype), random);
  const Doubles places = SmallValues(random, count, 0, to.length - 1);
  const DeviceTensor index = Make(ACL_INT64, {count}, places, random);
  const Doubles begin = ValuesOf(self), values = ValuesOf(src);
  Terms terms;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto at = static_cast<int64_t>(i), j = at / to.inner % count;
    const auto row = static_cast<int64_t>(places[static_cast<size_t>(j)]);
    const size_t place = to.At(at / to.inner / count, row, at % to.inner);
    terms.try_emplace(place, Doubles{begin[place]}).first->second.push_back(values[i]);
  }
  const DeviceTensor whole(ACL_INT64, DenseLayout({0}));
  const ListHandle indices({&whole, &index});
  EXPECT_RUN(device, IndexPutImpl, Handle(self), indices.get(), src.handle(), placing == kAdd,
             false);
  ASSERT_EQ(ValuesOf(self), Expected(placing, begin, terms, dtype))
      << to.length << " " << count << " " << placing << " " << dtype;
  EXPECT_EQ(self.Damage(), "");
}

TEST(Places, OfSlices) {
  const Device device;
  Random random(62);
  for (const aclDataType dtype : kTypesOfSums) {
    for (const Placing placing : {kSet, kAdd}) {
      AddsSlices(random, device, {2, 7, 133}, 400, placing, dtype);
      AddsSlices(random, device, {1, 900, 64}, 70, placing, dtype);
      AddsSlices(random, device, {3, 11, 1}, 200, placing, dtype);
      AddsSlices(random, device, {1, 11, 1}, 900, placing, dtype);
      AddsSlices(random, device, {1, 3, 700}, 400, placing, dtype);
    }
  }
}

// Dense rows of FLOAT are summed as they are, others are converted first, and so is what has a
// factor: the same tree.
TEST(Places, OfDenseSlicesOfManyTerms) {
  const Device device;
  Random random(64);
  const int64_t rows = 3, count = 700, width = 1100;
  for (const double factor : {1.0, -0.75}) {
    const DeviceTensor self = Make(ACL_FLOAT, {rows, width}, RealValues(random, rows * width)),
                       src = Make(ACL_FLOAT, {count, width}, RealValues(random, count * width)),
                       out(ACL_FLOAT, DenseLayout({rows, width}));
    const Doubles places = SmallValues(random, count, 0, rows - 1), begin = ValuesOf(self),
                  values = ValuesOf(src);
    const DeviceTensor index = Make(ACL_INT32, {count}, places);
    Terms terms;
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t place = static_cast<size_t>(places[i / width]) * width + i % width;
      terms.try_emplace(place, Doubles{begin[place]}).first->second.push_back(factor * values[i]);
    }
    const ScalarHandle alpha(factor);
    EXPECT_RUN(device, IndexAdd, self.handle(), 0, index.handle(), src.handle(), alpha.get(),
               Handle(out));
    ASSERT_EQ(ValuesOf(out), Expected(kAdd, begin, terms, ACL_FLOAT)) << factor;
  }
}

// (1 + i)^2 = 2i, twice the same place.
TEST(Places, OfComplexNumbers) {
  const Device device;
  for (const aclDataType dtype : {ACL_COMPLEX64, ACL_COMPLEX128}) {
    const auto of = [&](const Doubles& parts) {
      DeviceTensor tensor(dtype, DenseLayout({static_cast<int64_t>(parts.size()) / 2}));
      tensor.Write(ToBytes(dtype == ACL_COMPLEX64 ? ACL_FLOAT : ACL_DOUBLE, parts));
      return tensor;
    };
    const DeviceTensor self = of({1, 1, 5, -5, 0, 1}), src = of({1, 1, 0, 2, 1, 0}),
                       out = of({0, 0, 0, 0, 0, 0}), index = Make(ACL_INT64, {3}, {0, 2, 0});
    EXPECT_RUN(device, ScatterAdd, self.handle(), 0, index.handle(), src.handle(), Handle(out));
    EXPECT_EQ(out.Read(), of({3, 2, 5, -5, 0, 3}).Read());
    EXPECT_RUN(device, Scatter, self.handle(), 0, index.handle(), src.handle(), 2, Handle(out));
    EXPECT_EQ(out.Read(), of({0, 2, 5, -5, -2, 0}).Read());
    EXPECT_RUN(device, InplaceScatter, Handle(self), 0, index.handle(), src.handle(), 0);
    EXPECT_EQ(self.Read(), of({1, 0, 5, -5, 0, 2}).Read());
  }
}

TEST(Places, SumsOfNegativeZerosArePositive) {
  const Device device;
  for (const int64_t length : {int64_t{2}, int64_t{100}}) {
    const DeviceTensor self = Make(ACL_FLOAT, {length}, Doubles(static_cast<size_t>(length), -0.0)),
                       index = Make(ACL_INT64, {1}, {1}), src = Make(ACL_FLOAT, {1}, {-0.0}),
                       out(ACL_FLOAT, DenseLayout({length}));
    EXPECT_RUN(device, ScatterAdd, self.handle(), 0, index.handle(), src.handle(), Handle(out));
    EXPECT_TRUE(std::signbit(ValuesOf(out)[0])) << "what no index names stays";
    EXPECT_FALSE(std::signbit(ValuesOf(out)[1]));
  }
}

// Chooses from several blocks, in each of which the place of an element depends on those before it.
TEST(Places, OfManyElementsThatAreChosen) {
  const Device device;
  Random random(63);
  const Dims dims = {9, 71, 113};
  const int64_t count = CountOf(dims);
  const DeviceTensor self = Make(ACL_INT32, dims, SmallValues(random, count, 0, 2), random),
                     mask = Make(ACL_BOOL, dims, SmallValues(random, count, 0, 1), random),
                     selected(ACL_INT32, DenseLayout({count})),
                     rows(ACL_INT64, RandomLayout(random, {count, 3}, false)),
                     columns(ACL_INT64, DenseLayout({3, count}));
  Doubles expected;
  std::vector<Doubles> places(3);
  const Doubles values = ValuesOf(self), truths = ValuesOf(mask);
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(i);
    if (truths[at] != 0) expected.push_back(values[at]);
    if (values[at] == 0) continue;
    places[0].push_back(static_cast<double>(i / 113 / 71));
    places[1].push_back(static_cast<double>(i / 113 % 71));
    places[2].push_back(static_cast<double>(i % 113));
  }
  EXPECT_RUN(device, MaskedSelect, self.handle(), mask.handle(), Handle(selected));
  const Doubles got = ValuesOf(selected);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), got.begin()));
  EXPECT_RUN(device, NonzeroV2, self.handle(), Handle(columns));
  EXPECT_RUN(device, Nonzero, self.handle(), Handle(rows));
  const Doubles by_columns = ValuesOf(columns), by_rows = ValuesOf(rows);
  const size_t found = places[0].size();
  for (size_t d = 0; d < 3; ++d) {
    for (size_t i = 0; i < found; ++i) {
      ASSERT_EQ(by_columns[d * found + i], places[d][i]) << d << " " << i;
      ASSERT_EQ(by_rows[i * 3 + d], places[d][i]) << d << " " << i;
    }
  }
}

}  // namespace
}  // namespace openaclnn::test
