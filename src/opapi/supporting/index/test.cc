// SPDX-License-Identifier: Apache-2.0
// Elements that indices and masks name: taken, put, scattered.
#include <numeric>

#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

Doubles Counting(int64_t count) {
  Doubles values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0.0);
  return values;
}

// self[:, i, :, j] has the indices' shape first, self[:, i, j] in their place.
TEST(Index, IndicesApartAndTogether) {
  const Device device;
  Random random(34);
  const Doubles given = Counting(2 * 3 * 4 * 5);
  const DeviceTensor self = Make(ACL_INT32, {2, 3, 4, 5}, given, random);
  const DeviceTensor i = Make(ACL_INT64, {2, 1}, {2, 0}), j = Make(ACL_INT32, {3}, {-1, 1, 0}),
                     whole(ACL_INT32, DenseLayout({0}));
  const auto at = [&](size_t a, size_t b, size_t c, size_t d) {
    return given[((a * 3 + b) * 4 + c) * 5 + d];
  };
  const size_t rows[] = {2, 0};
  {
    const ListHandle indices({&whole, &i, &whole, &j});
    const DeviceTensor out(ACL_INT32, RandomLayout(random, {2, 3, 2, 4}, false));
    EXPECT_RUN(device, Index, self.handle(), indices.get(), Handle(out));
    const size_t columns[] = {4, 1, 0};
    const Doubles got = ValuesOf(out);
    for (size_t n = 0; n < got.size(); ++n) {
      ASSERT_EQ(got[n], at(n / 4 % 2, rows[n / 24], n % 4, columns[n / 8 % 3])) << n;
    }
  }
  const ListHandle indices({&whole, &i, &j});
  const DeviceTensor out(ACL_INT32, RandomLayout(random, {2, 2, 3, 5}, false));
  EXPECT_RUN(device, Index, self.handle(), indices.get(), Handle(out));
  const size_t columns[] = {3, 1, 0};
  const Doubles got = ValuesOf(out);
  for (size_t n = 0; n < got.size(); ++n) {
    ASSERT_EQ(got[n], at(n / 30, rows[n / 15 % 2], columns[n / 5 % 3], n % 5)) << n;
  }
  EXPECT_EQ(out.Damage(), "");
  EXPECT_REFUSED(161002, "out shape is (2, 3, 4, 5), expected (2, 2, 3, 5)", Index, self.handle(),
                 indices.get(), Handle(self));
}

// As ggml-cann passes the scales behind quantised rows: an offset into the block of the rows, with
// the number of scales as the storage.
TEST(Index, GatherOfATableBehindItsStorage) {
  const Device device;
  const DeviceTensor block = Make(ACL_FLOAT, {64}, Counting(64)),
                     index = Make(ACL_INT64, {2}, {2, 0}), out(ACL_FLOAT, DenseLayout({2, 4}));
  const auto table = [&](int64_t offset) {
    return TensorHandle(
        {.dims = {3, 4}, .offset = offset, .storage = Dims{12}, .data = block.data()});
  };
  const TensorHandle inside = table(52), outside = table(int64_t{1} << 20);
  EXPECT_RUN(device, GatherV2, inside.get(), 0, index.handle(), Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{60, 61, 62, 63, 52, 53, 54, 55}));
  EXPECT_REFUSED(161002, "expected one inside its storage of shape (12)", GatherV2, outside.get(),
                 0, index.handle(), Handle(out));
}

TEST(Index, IndicesOutOfRangeFailTheTask) {
  const Device device;
  const DeviceTensor self = Make(ACL_FLOAT, {3}, {1, 2, 3}), index = Make(ACL_INT64, {2}, {0, 3});
  DeviceTensor out(ACL_FLOAT, DenseLayout({2}));
  out.Scramble();
  const ListHandle indices({&index});
  const Outcome outcome = RUN(device, Index, self.handle(), indices.get(), Handle(out));
  EXPECT_EQ(outcome.code, 507035);
  EXPECT_NE(outcome.message.find("indices[0] value 1 is 3"), std::string::npos) << outcome.message;
  EXPECT_EQ(out.Change(), "");
  const DeviceTensor values = Make(ACL_FLOAT, {2}, {7, 8});
  EXPECT_EQ(
      RUN(device, IndexPutImpl, Handle(self), indices.get(), values.handle(), false, false).code,
      507035);
  EXPECT_EQ(ValuesOf(self), (Doubles{1, 2, 3}));
  const DeviceTensor plane = Make(ACL_FLOAT, {2, 3}, Counting(6)), row = Make(ACL_INT64, {1}, {1});
  const ListHandle both({&row, &index});
  const Outcome second = RUN(device, Index, plane.handle(), both.get(), Handle(out));
  EXPECT_EQ(second.code, 507035);
  EXPECT_NE(second.message.find("indices[1] value 1 is 3"), std::string::npos) << second.message;
}

TEST(Index, PutsAndAdds) {
  const Device device;
  Random random(35);
  const DeviceTensor self = Make(ACL_FLOAT, {3, 2}, {0, 0, 0, 0, 0, 0}, random);
  const DeviceTensor index = Make(ACL_INT64, {3}, {2, 0, 2}),
                     values = Make(ACL_FLOAT, {3, 2}, {1, 2, 3, 4, 5, 6}, random),
                     empty(ACL_INT64, DenseLayout({0})), one = Make(ACL_FLOAT, {}, {9});
  const ListHandle indices({&index}), nothing({&empty, &empty});
  EXPECT_RUN(device, IndexPutImpl, Handle(self), indices.get(), values.handle(), false, false);
  EXPECT_EQ(ValuesOf(self), (Doubles{3, 4, 0, 0, 5, 6})) << "the last one stays";
  EXPECT_RUN(device, IndexPutImpl, Handle(self), indices.get(), values.handle(), true, false);
  EXPECT_EQ(ValuesOf(self), (Doubles{6, 8, 0, 0, 11, 14}));
  EXPECT_RUN(device, IndexPutImpl, Handle(self), nothing.get(), one.handle(), false, false);
  EXPECT_EQ(ValuesOf(self), (Doubles{6, 8, 0, 0, 11, 14})) << "a mask that is false";
  EXPECT_EQ(self.Damage(), "");
}

// In FLOAT16 the running sum would stay at 2048.
TEST(Index, SumsAreRoundedOnce) {
  const Device device;
  const DeviceTensor self = Make(ACL_FLOAT16, {1}, {0}),
                     index = Make(ACL_INT64, {4096}, Doubles(4096, 0)),
                     ones = Make(ACL_FLOAT16, {4096}, Doubles(4096, 1));
  EXPECT_RUN(device, ScatterAdd, self.handle(), 0, index.handle(), ones.handle(), Handle(self));
  EXPECT_EQ(ValuesOf(self), (Doubles{4096}));
}

TEST(Index, ScattersAlongADimension) {
  const Device device;
  Random random(36);
  const DeviceTensor self = Make(ACL_FLOAT, {2, 3}, {1, 2, 3, 4, 5, 6}, random);
  const DeviceTensor index = Make(ACL_INT64, {2, 2}, {2, 0, 1, 1}, random),
                     src = Make(ACL_FLOAT, {2, 3}, {10, 20, 30, 40, 50, 60}, random);
  const DeviceTensor out(ACL_FLOAT, RandomLayout(random, {2, 3}, false));
  EXPECT_RUN(device, Scatter, self.handle(), 1, index.handle(), src.handle(), 0, Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{20, 2, 10, 4, 50, 6}));
  EXPECT_RUN(device, Scatter, self.handle(), 1, index.handle(), src.handle(), 1, Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{21, 2, 13, 4, 95, 6}));
  EXPECT_RUN(device, Scatter, self.handle(), 1, index.handle(), src.handle(), 2, Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{20, 2, 30, 4, 10000, 6}));
  const ScalarHandle value(7.0);
  EXPECT_RUN(device, ScatterValue, self.handle(), 1, index.handle(), value.get(), 0, Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{7, 2, 7, 4, 7, 6}));
}

TEST(Index, ScattersRefuseOtherRows) {
  const Device device;
  const DeviceTensor self = Make(ACL_FLOAT, {2, 3}, {1, 2, 3, 4, 5, 6}),
                     index = Make(ACL_INT64, {2, 2}, {2, 0, 1, 1}),
                     wide(ACL_INT64, DenseLayout({3, 2}));
  const ScalarHandle value(7.0);
  EXPECT_EQ(RUN(device, InplaceScatterValue, Handle(self), 0, index.handle(), value.get(), 0).code,
            507035);
  EXPECT_EQ(ValuesOf(self), (Doubles{1, 2, 3, 4, 5, 6}));
  EXPECT_REFUSED(161002, "index shape is (3, 2), expected at most self", ScatterValue,
                 self.handle(), 1, wide.handle(), value.get(), 0, Handle(self));
  EXPECT_REFUSED(161002, "reduce value is 3", ScatterValue, self.handle(), 1, index.handle(),
                 value.get(), 3, Handle(self));
}

TEST(Index, WholeSlices) {
  const Device device;
  Random random(37);
  const DeviceTensor self = Make(ACL_INT32, {3, 2}, {1, 2, 3, 4, 5, 6}, random),
                     index = Make(ACL_INT64, {2}, {2, 2}),
                     source = Make(ACL_INT32, {2, 2}, {10, 20, 30, 40}, random),
                     out(ACL_INT32, RandomLayout(random, {3, 2}, false));
  const ScalarHandle two(int64_t{2}), nine(int64_t{9});
  EXPECT_RUN(device, IndexAdd, self.handle(), 0, index.handle(), source.handle(), two.get(),
             Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{1, 2, 3, 4, 85, 126}));
  EXPECT_RUN(device, IndexCopy, self.handle(), -2, index.handle(), source.handle(), Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{1, 2, 3, 4, 30, 40}));
  EXPECT_RUN(device, IndexFill, self.handle(), 0, index.handle(), nine.get(), Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{1, 2, 3, 4, 9, 9}));
  const IntListHandle columns({{-1}}), bad({{2}});
  EXPECT_RUN(device, InplaceIndexFillTensor, Handle(self), 1, columns.get(), nine.get());
  EXPECT_EQ(ValuesOf(self), (Doubles{1, 9, 3, 9, 5, 9}));
  EXPECT_REFUSED(161002, "index value is 2", InplaceIndexFillTensor, Handle(self), 1, bad.get(),
                 nine.get());
}

TEST(Index, MasksAndTaking) {
  const Device device;
  const DeviceTensor self = Make(ACL_FLOAT, {2, 3}, Counting(6)),
                     mask = Make(ACL_BOOL, {3}, {1, 0, 1}),
                     source = Make(ACL_FLOAT, {5}, {10, 20, 30, 40, 50}),
                     few = Make(ACL_FLOAT, {3}, {1, 1, 1}),
                     index = Make(ACL_INT64, {2, 2}, {5, 0, -1, 3}),
                     taken(ACL_FLOAT, DenseLayout({2, 2}));
  EXPECT_RUN(device, Take, self.handle(), index.handle(), Handle(taken));
  EXPECT_EQ(ValuesOf(taken), (Doubles{5, 0, 5, 3}));
  EXPECT_EQ(RUN(device, InplaceMaskedScatter, Handle(self), mask.handle(), few.handle()).code,
            507035);
  EXPECT_EQ(ValuesOf(self), Counting(6));
  EXPECT_RUN(device, InplaceMaskedScatter, Handle(self), mask.handle(), source.handle());
  EXPECT_EQ(ValuesOf(self), (Doubles{10, 1, 20, 30, 4, 40}));
}

TEST(Index, MaskedSelectShapesItsResult) {
  const Device device;
  const DeviceTensor self = Make(ACL_INT64, {2, 3}, {1, 2, 3, 4, 5, 6});
  const DeviceTensor mask = Make(ACL_BOOL, {3}, {1, 0, 1});
  const DeviceTensor out(ACL_INT64, DenseLayout({6}));
  ASSERT_TRUE(Call(device, aclnnMaskedSelect, [&](auto... o) {
                return aclnnMaskedSelectGetWorkspaceSize(self.handle(), mask.handle(), Handle(out),
                                                         o...);
              }).ok());
  int64_t* dims = nullptr;
  uint64_t rank = 0;
  ASSERT_EQ(aclGetViewShape(out.handle(), &dims, &rank), 0);
  ASSERT_EQ(rank, 1u);
  EXPECT_EQ(dims[0], 4);
  delete[] dims;
  const Doubles got = ValuesOf(out);
  EXPECT_EQ(Doubles(got.begin(), got.begin() + 4), (Doubles{1, 3, 4, 6}));
}

TEST(Index, PutsByTheFlatPlace) {
  const Device device;
  Random random(62);
  const DeviceTensor self = Make(ACL_FLOAT, {2, 3}, {1, 2, 3, 4, 5, 6}, random),
                     index = Make(ACL_INT64, {3}, {5, -6, 5}, random),
                     source = Make(ACL_FLOAT, {3}, {10, 20, 30}, random);
  EXPECT_RUN(device, InplacePut, Handle(self), index.handle(), source.handle(), false);
  EXPECT_EQ(ValuesOf(self), (Doubles{20, 2, 3, 4, 5, 30}));
  EXPECT_RUN(device, InplacePut, Handle(self), index.handle(), source.handle(), true);
  EXPECT_EQ(ValuesOf(self), (Doubles{40, 2, 3, 4, 5, 70}));
}

// Without places nothing is written but what the output begins as, whatever the shapes.
TEST(Index, ScattersWithoutPlaces) {
  const Device device;
  const DeviceTensor self = Of({2, 3}, Counting(6)), src = Of({2, 3}, Counting(6)),
                     out = Empty({2, 3}), none(ACL_INT64, DenseLayout({0}));
  const ScalarHandle value(9.0);
  EXPECT_RUN(device, ScatterAdd, self.handle(), 1, none.handle(), src.handle(), Handle(out));
  EXPECT_EQ(ValuesOf(out), Counting(6));
  EXPECT_RUN(device, Scatter, self.handle(), 1, none.handle(), src.handle(), 0, Handle(out));
  EXPECT_EQ(ValuesOf(out), Counting(6));
  EXPECT_RUN(device, InplaceScatter, Handle(self), 1, none.handle(), src.handle(), 0);
  EXPECT_RUN(device, InplaceScatterValue, Handle(self), 1, none.handle(), value.get(), 0);
  EXPECT_EQ(ValuesOf(self), Counting(6));
}

// A scalar is a vector of one, as an index, as the values and as what is written to.
TEST(Index, RanksOfWhatIsScattered) {
  const Device device;
  const DeviceTensor self = Of({4}, {1, 2, 3, 4}), out = Empty({4}), other = Empty({4});
  const DeviceTensor at = Make(ACL_INT64, {1}, {2}), scalar_at = Make(ACL_INT64, {}, {1});
  const DeviceTensor three = Of({3}, {7, 8, 9}), no_rows = Of({2, 0}, {}), row = Of({1, 1}, {5}),
                     empty = Of({0}, {}), scalar = Of({}, {5}), scalar_out = Empty({});
  EXPECT_RUN(device, Scatter, self.handle(), 0, scalar_at.handle(), three.handle(), 0, Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{1, 7, 3, 4}));
  EXPECT_RUN(device, Scatter, self.handle(), 0, at.handle(), scalar.handle(), 0, Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{1, 2, 5, 4}));
  for (const DeviceTensor* index : {&at, &scalar_at}) {
    for (const DeviceTensor* src : {&no_rows, &row, &empty}) {
      EXPECT_REFUSED(161002, "that of the values", Scatter, self.handle(), 0, index->handle(),
                     src->handle(), 0, Handle(other));
    }
  }
  const DeviceTensor zeros = Make(ACL_INT64, {3}, {0, 0, -1});
  const ScalarHandle two(2.0);
  EXPECT_RUN(device, IndexAdd, scalar.handle(), 0, zeros.handle(), three.handle(), two.get(),
             Handle(scalar_out));
  EXPECT_EQ(ValuesOf(scalar_out), (Doubles{5 + 2 * 24}));
  EXPECT_RUN(device, IndexCopy, scalar.handle(), 0, zeros.handle(), three.handle(),
             Handle(scalar_out));
  EXPECT_EQ(ValuesOf(scalar_out), (Doubles{9}));
  EXPECT_RUN(device, InplaceIndexCopy, Handle(scalar), 0, zeros.handle(), three.handle());
  EXPECT_EQ(ValuesOf(scalar), (Doubles{9}));
  const DeviceTensor filled = Floats({}, {5}), fill_out = EmptyFloats({});
  EXPECT_RUN(device, IndexFill, filled.handle(), 0, zeros.handle(), two.get(), Handle(fill_out));
  EXPECT_EQ(ValuesOf(fill_out), (Doubles{2}));
  const DeviceTensor column = Of({3, 1}, {7, 8, 9});
  EXPECT_REFUSED(161002, "source shape is (3, 1), expected 3 elements", IndexCopy, scalar.handle(),
                 0, zeros.handle(), column.handle(), Handle(scalar_out));
  EXPECT_REFUSED(161002, "index shape is (0), expected 1 element", IndexSelect, scalar.handle(), 0,
                 Make(ACL_INT64, {0}, {}).handle(), Handle(scalar_out));
}

TEST(Index, ResultsOfTooManyDimensions) {
  const Device device;
  const DeviceTensor self = Empty({2, 2, 2, 2, 2, 2, 2, 2}), values = Empty({2, 1, 2, 1, 2, 1, 2});
  const DeviceTensor index(ACL_INT64, DenseLayout({2, 2}));
  const ListHandle indices({&index});
  EXPECT_REFUSED(161002, "makes 9 dimensions, expected at most 8", IndexPutImpl, Handle(self),
                 indices.get(), values.handle(), false, false);
}

// Only an index without elements makes a result without any.
TEST(Index, NothingForSomething) {
  const Device device;
  const DeviceTensor self = Of({3}, {1, 2, 3}), none = Empty({0});
  const DeviceTensor index = Make(ACL_INT64, {2}, {0, 1});
  const ListHandle indices({&index});
  EXPECT_REFUSED(161002, "out shape is (0), expected (2)", Index, self.handle(), indices.get(),
                 Handle(none));
  EXPECT_REFUSED(161002, "values shape is (0)", IndexPutImpl, Handle(self), indices.get(),
                 none.handle(), false, false);
}

// An element that is repeated so often that the limit and an index have no sum.
TEST(Index, OfMoreElementsThanAreCountedBothWays) {
  const Device device;
  const int64_t count = (int64_t{1} << 62) + 10;
  const DeviceTensor self(ACL_INT8, Layout{{count}, {0}, 0, 1}), out(ACL_INT8, DenseLayout({2}));
  DeviceTensor index(ACL_INT64, DenseLayout({2}));
  index.Write(ToBytes(ACL_INT64, {0x1p62, -1}));
  const ListHandle indices({&index});
  EXPECT_RUN(device, Index, self.handle(), indices.get(), Handle(out));
  index.Write(ToBytes(ACL_INT64, {0x1p62, -0x1p63}));
  EXPECT_EQ(RUN(device, Index, self.handle(), indices.get(), Handle(out)).code, 507035);
}

// As PyTorch has it: a scalar is a row of one element.
TEST(Index, GathersFromAndByScalars) {
  const Device device;
  const DeviceTensor one = Make(ACL_FLOAT, {}, {7}), row = Make(ACL_FLOAT, {3}, {1, 2, 3}),
                     places = Make(ACL_INT64, {2}, {0, 0}), place = Make(ACL_INT64, {}, {2}),
                     pair(ACL_FLOAT, DenseLayout({2})), out(ACL_FLOAT, DenseLayout({})),
                     square(ACL_INT64, DenseLayout({2, 2}));
  EXPECT_RUN(device, Gather, one.handle(), 0, places.handle(), Handle(pair));
  EXPECT_EQ(ValuesOf(pair), (Doubles{7, 7}));
  EXPECT_RUN(device, Gather, row.handle(), 0, place.handle(), Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{3}));
  EXPECT_REFUSED(161002, "index ", Gather, one.handle(), 0, square.handle(), Handle(out));
}

// Whatever its sign, type and place; then nothing is written.
TEST(Index, GathersNothingByAnIndexOutOfRange) {
  const Device device;
  const int64_t count = 40000, limit = 10;
  const DeviceTensor self = Make(ACL_FLOAT, {limit}, Doubles(limit, 3.0));
  for (const aclDataType dtype : {ACL_INT32, ACL_INT64}) {
    for (const int64_t step : {1, 2}) {
      DeviceTensor places(dtype, Layout{{count}, {step}, 0, (count - 1) * step + 1});
      DeviceTensor out(ACL_FLOAT, DenseLayout({count}));
      out.Scramble();
      for (const double bad : {-11.0, 10.0, -19.0, dtype == ACL_INT32 ? -0x1p31 : -0x1p63}) {
        Doubles values(count, 9.0);
        values[count - 3] = bad;
        places.Write(ToBytes(dtype, values));
        const Outcome outcome = RUN(device, Gather, self.handle(), 0, places.handle(), Handle(out));
        EXPECT_EQ(outcome.code, 507035);
        EXPECT_NE(outcome.message.find("index value 39997 is "), std::string::npos)
            << outcome.message;
        EXPECT_EQ(out.Change(), "");
      }
    }
  }
}

// Elements of 8 and of 16 bytes that have no arithmetic.
TEST(Index, MovesWhatIsNoNumber) {
  const Device device;
  Random random(88);
  const DeviceTensor index = Make(ACL_INT64, {3}, {2, 0, 2});
  for (const aclDataType dtype : {ACL_UINT64, ACL_COMPLEX64, ACL_COMPLEX128}) {
    const size_t bytes = dtype == ACL_COMPLEX128 ? 16 : 8;
    std::vector<std::byte> given(3 * bytes), want;
    for (size_t i = 0; i < given.size(); ++i) given[i] = static_cast<std::byte>(i);
    for (const size_t i : {2, 0, 2}) {
      want.insert(want.end(), given.begin() + i * bytes, given.begin() + (i + 1) * bytes);
    }
    DeviceTensor self(dtype, RandomLayout(random, {3}, false));
    self.Write(given);
    const auto written = [&](const auto& run) {
      DeviceTensor out(dtype, RandomLayout(random, {3}, false));
      out.Scramble();
      run(out);
      EXPECT_EQ(out.Read(), want) << dtype;
      EXPECT_EQ(out.Damage(), "");
    };
    written([&](const DeviceTensor& out) {
      EXPECT_RUN(device, IndexSelect, self.handle(), 0, index.handle(), Handle(out));
    });
    written([&](const DeviceTensor& out) {
      EXPECT_RUN(device, GatherV2, self.handle(), 0, index.handle(), Handle(out));
    });
    written([&](const DeviceTensor& out) {
      EXPECT_RUN(device, Take, self.handle(), index.handle(), Handle(out));
    });
  }
}

}  // namespace
}  // namespace openaclnn::test
