// SPDX-License-Identifier: Apache-2.0
// GatherV3, ScatterList, CoalesceSparse and AdvanceStep: what is refused, before or in the task.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

TEST(GatherV3, RefusesOtherBatchesAndModes) {
  const Device device;
  const DeviceTensor self(ACL_FLOAT, DenseLayout({2, 3, 4})), index(ACL_INT64, DenseLayout({2, 5})),
      odd(ACL_INT64, DenseLayout({3, 5})), out(ACL_FLOAT, DenseLayout({2, 5, 4}));
  EXPECT_REFUSED(161002, "batchDims value is 2, expected at most dim, 1", GatherV3, self.handle(),
                 1, index.handle(), 2, 0, Handle(out));
  EXPECT_REFUSED(161002, "index shape is (3, 5)", GatherV3, self.handle(), 1, odd.handle(), 1, 0,
                 Handle(out));
  EXPECT_REFUSED(161002, "mode value is 2, expected 0 or 1", GatherV3, self.handle(), 1,
                 index.handle(), 1, 2, Handle(out));
  EXPECT_REFUSED(161002, "out shape is (2, 5, 4), expected (2, 3, 5)", GatherV3, self.handle(), 2,
                 index.handle(), 1, 0, Handle(out));
}

TEST(GatherV3, IndicesOutOfRangeFailTheTask) {
  const Device device;
  const DeviceTensor self(ACL_FLOAT, DenseLayout({2, 3})), index = Make(ACL_INT64, {2, 1}, {0, 3}),
                                                           out = Make(ACL_FLOAT, {2, 1}, {7, 7});
  const Outcome outcome =
      RUN(device, GatherV3, self.handle(), 1, index.handle(), 1, 0, Handle(out));
  EXPECT_EQ(outcome.code, 507035) << outcome.message;
  EXPECT_EQ(ValuesOf(out), (Doubles{7, 7}));
}

TEST(IndexAddV2, RefusesModesThatNoPageHas) {
  const Device device;
  const DeviceTensor self(ACL_FLOAT, DenseLayout({3})), index(ACL_INT64, DenseLayout({1})),
      source(ACL_FLOAT, DenseLayout({1})), out(ACL_FLOAT, DenseLayout({3}));
  const ScalarHandle alpha(1.0);
  EXPECT_REFUSED(161002, "mode value is 1, expected 0", IndexAddV2, self.handle(), 0,
                 index.handle(), source.handle(), alpha.get(), 1, Handle(out));
}

TEST(ScatterList, RefusesWhatDoesNotFit) {
  const Device device;
  const DeviceTensor one(ACL_FLOAT, DenseLayout({2, 4})), other(ACL_FLOAT, DenseLayout({2, 5})),
      places(ACL_INT64, DenseLayout({2})), pairs(ACL_INT64, DenseLayout({2, 2})),
      updates(ACL_FLOAT, DenseLayout({2, 2, 1})), wide(ACL_FLOAT, DenseLayout({2, 2, 5})),
      mask(ACL_BOOL, DenseLayout({2}));
  const ListHandle both({&one, &one}), unlike({&one, &other});
  char update[] = "update", add[] = "add";
  EXPECT_REFUSED(161002, "indice rank is 2 (shape (2, 2)), expected 1", ScatterList, both.get(),
                 pairs.handle(), updates.handle(), nullptr, update, -1);
  EXPECT_REFUSED(161002, "reduce value is 'add', expected update", ScatterList, both.get(),
                 places.handle(), updates.handle(), nullptr, add, -1);
  EXPECT_REFUSED(161002, "mask dtype is BOOL, expected UINT8", ScatterList, both.get(),
                 places.handle(), updates.handle(), mask.handle(), update, -1);
  EXPECT_REFUSED(161002, "updates shape is (2, 2, 5)", ScatterList, both.get(), places.handle(),
                 wide.handle(), nullptr, update, -1);
  EXPECT_REFUSED(161002, "varRef shape is (2, 5)", ScatterList, unlike.get(), places.handle(),
                 updates.handle(), nullptr, update, -1);
  EXPECT_REFUSED(161002, "axis value is 2", ScatterList, both.get(), places.handle(),
                 updates.handle(), nullptr, update, 2);
}

TEST(CoalesceSparse, RowsOutOfRangeFailTheTask) {
  const Device device;
  const DeviceTensor left(ACL_INT32, DenseLayout({1})),
      rows = Make(ACL_INT32, {2}, {0, 1}), indices = Make(ACL_INT32, {2, 1}, {4, 5}),
      values = Make(ACL_FLOAT, {2}, {1, 2}), new_indices(ACL_INT32, DenseLayout({1, 1})),
      new_values(ACL_FLOAT, DenseLayout({1}));
  const Outcome outcome =
      RUN(device, CoalesceSparse, left.handle(), rows.handle(), indices.handle(), values.handle(),
          Handle(new_indices), Handle(new_values));
  EXPECT_EQ(outcome.code, 507035) << outcome.message;
  EXPECT_REFUSED(161002, "newValues shape is (2), expected (1)", CoalesceSparse, left.handle(),
                 rows.handle(), indices.handle(), values.handle(), Handle(new_indices),
                 Handle(values));
}

TEST(AdvanceStep, RefusesNumbersThatDoNotFit) {
  const Device device;
  const DeviceTensor all(ACL_INT64, DenseLayout({3})), sampled(ACL_INT64, DenseLayout({2, 1})),
      tables(ACL_INT64, DenseLayout({3, 2})), guesses(ACL_INT64, DenseLayout({3, 1}));
  const auto says = [&](const char* text, int64_t seqs, int64_t queries, int64_t block) {
    EXPECT_REFUSED(161002, text, AdvanceStep, Handle(all), sampled.handle(), Handle(all),
                   Handle(all), Handle(all), tables.handle(), seqs, queries, block);
  };
  says("blockSize value is 0", 3, 2, 0);
  says("numQueries value is 4, expected at most numSeqs, 3", 3, 4, 1);
  says("inputTokens shape is (3), expected (2)", 2, 2, 1);
  EXPECT_REFUSED(161002, "acceptedNum is null", AdvanceStepV2, Handle(all), sampled.handle(),
                 Handle(all), Handle(all), Handle(all), tables.handle(), guesses.handle(), nullptr,
                 3, 3, 1);
}

TEST(AdvanceStep, AnySequenceLengthFailsTheTaskAtMost) {
  const Device device;
  for (const double length : {4.0, -1.0, 9e18}) {
    const DeviceTensor tokens = Make(ACL_INT64, {1}, {5}), positions = Make(ACL_INT64, {1}, {6}),
                       lengths = Make(ACL_INT64, {1}, {length}), slots = Make(ACL_INT64, {1}, {7}),
                       sampled = Make(ACL_INT64, {1, 1}, {8}),
                       tables = Make(ACL_INT64, {1, 2}, {0, 1});
    const Outcome outcome =
        RUN(device, AdvanceStep, Handle(tokens), sampled.handle(), Handle(positions),
            Handle(lengths), Handle(slots), tables.handle(), 1, 1, 2);
    EXPECT_EQ(outcome.code, 507035) << outcome.message;
    EXPECT_EQ(ValuesOf(tokens), (Doubles{5}));
  }
}

}  // namespace
}  // namespace openaclnn::test
