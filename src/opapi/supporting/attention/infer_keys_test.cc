// SPDX-License-Identifier: Apache-2.0
// FusedInferAttentionScoreV4: lists of keys, shared prefixes, left padding and sinks give the bits
// of the same rows and keys without them.
#include <cmath>
#include <limits>
#include <numeric>

#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

using Lengths = std::vector<int64_t>;
using Members = std::vector<const DeviceTensor*>;

struct Serve {
  const DeviceTensor& query;
  Members keys, values;
  const DeviceTensor& out;
  int64_t heads = 4, kv_heads = 2, mode = 0, block_size = 0;
  std::string layout = "BNSD";
  Lengths rows = {}, key_counts = {}, front_count = {};
  const aclTensor *mask = nullptr, *shift = nullptr, *table = nullptr, *q_padding = nullptr,
                  *k_padding = nullptr, *front_k = nullptr, *front_v = nullptr, *q_rope = nullptr,
                  *k_rope = nullptr, *sink = nullptr, *sums = nullptr;

  aclnnStatus operator()(uint64_t* size, aclOpExecutor** executor) const {
    const ListHandle key_list(keys), value_list(values);
    const IntsHandle row_counts(rows), counts(key_counts), front(front_count);
    const aclTensor* no = nullptr;
    return aclnnFusedInferAttentionScoreV4GetWorkspaceSize(
        query.handle(), key_list.get(), value_list.get(), shift, mask, row_counts.get(),
        counts.get(), no, no, no, no, no, no, no, table, q_padding, k_padding, no, no, no, no,
        front_k, front_v, front.get(), q_rope, k_rope, no, no, sink, heads, 0.125, 0, 0,
        const_cast<char*>(layout.c_str()), kv_heads, mode, 0, block_size, 0, sums != nullptr, 0, 0,
        0, out.handle(), sums, size, executor);
  }
  Outcome Run(const Device& device) const {
    return Call(device, aclnnFusedInferAttentionScoreV4, *this);
  }
};

constexpr int64_t kWidth = 64;

Doubles Reals(Random& random, const Dims& dims) {
  const int64_t count = std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
  return Held(ACL_FLOAT, RealValues(random, count));
}

/// Rows [first, first + count) of (heads, rows, width) of one batch of many.
Doubles Rows(const Doubles& from, const Dims& dims, int64_t batch, int64_t first, int64_t count) {
  Doubles rows;
  for (int64_t h = 0; h < dims[1]; ++h) {
    const auto begin = from.begin() + ((batch * dims[1] + h) * dims[2] + first) * dims[3];
    rows.insert(rows.end(), begin, begin + count * dims[3]);
  }
  return rows;
}

/// The result of one batch of 4 heads of the query and 2 of the keys.
Doubles Alone(const Device& device, int64_t rows, int64_t keys, const Doubles& q, const Doubles& k,
              const Doubles& v, int64_t mode = 0, const aclTensor* mask = nullptr,
              const aclTensor* shift = nullptr) {
  const DeviceTensor query = Floats({1, 4, rows, kWidth}, q), key = Floats({1, 2, keys, kWidth}, k),
                     value = Floats({1, 2, keys, kWidth}, v),
                     out = EmptyFloats({1, 4, rows, kWidth});
  Serve call{query, {&key}, {&value}, out};
  call.mode = mode, call.mask = mask, call.shift = shift;
  EXPECT_EQ(call.Run(device).message, "");
  return ValuesOf(out);
}

TEST(FusedInferKeys, ListsHaveTheBitsOfEachBatchAlone) {
  const Device device;
  Random random(1);
  const Lengths rows_of = {300, 1, 140}, counts = {300, 0, 129};
  for (const int64_t rows : {1, 3}) {
    const Dims q_dims = {3, 4, rows, kWidth};
    const Doubles q = Reals(random, q_dims);
    std::vector<std::unique_ptr<DeviceTensor>> tensors;
    Members keys, values;
    Doubles want;
    for (size_t i = 0; i < 3; ++i) {
      const Dims dims = {1, 2, rows_of[i], kWidth};
      const Doubles k = Reals(random, dims), v = Reals(random, dims);
      // Members are views of different strides.
      tensors.push_back(std::make_unique<DeviceTensor>(Make(ACL_FLOAT, dims, k, random)));
      keys.push_back(tensors.back().get());
      tensors.push_back(std::make_unique<DeviceTensor>(Make(ACL_FLOAT, dims, v, random)));
      values.push_back(tensors.back().get());
      const Doubles each =
          Alone(device, rows, counts[i], Rows(q, q_dims, static_cast<int64_t>(i), 0, rows),
                Rows(k, dims, 0, 0, counts[i]), Rows(v, dims, 0, 0, counts[i]));
      want.insert(want.end(), each.begin(), each.end());
    }
    const DeviceTensor query = Floats(q_dims, q), out = EmptyFloats(q_dims);
    Serve call{query, keys, values, out};
    call.key_counts = counts;
    EXPECT_EQ(call.Run(device).message, "");
    EXPECT_EQ(ValuesOf(out), want) << rows;
  }
}

// A prefix of less than a tile, of one, of more; views whose elements lie apart.
TEST(FusedInferKeys, PrefixesHaveTheBitsOfKeysInARow) {
  const Device device;
  Random random(2);
  const int64_t rows = 3, own = 150;
  const Dims q_dims = {2, 4, rows, kWidth}, k_dims = {2, 2, own, kWidth};
  const Doubles q = Reals(random, q_dims), k = Reals(random, k_dims), v = Reals(random, k_dims);
  const DeviceTensor query = Floats(q_dims, q),
                     causal = Make(ACL_BOOL, {2048, 2048}, Doubles(2048 * 2048, 0.0));
  for (const int64_t front : {0, 1, 100, 128, 200, 256}) {
    const Dims front_dims = {1, 2, front + 5, kWidth};
    const Doubles front_k = Reals(random, front_dims), front_v = Reals(random, front_dims);
    for (const int64_t mode : {0, 3}) {
      SCOPED_TRACE(testing::Message() << front << " keys, mode " << mode);
      const aclTensor* const mask = mode == 3 ? causal.handle() : nullptr;
      Doubles want;
      const Lengths counts = {own, 120};
      for (int64_t b = 0; b < 2; ++b) {
        const int64_t count = counts[static_cast<size_t>(b)];
        const auto joined = [&](const Doubles& before, const Doubles& behind) {
          Doubles all;
          for (int64_t h = 0; h < 2; ++h) {
            const Doubles first = Rows(before, {1, 1, 2 * (front + 5), kWidth}, 0, h * (front + 5),
                                       front),
                          rest = Rows(behind, {1, 1, 4 * own, kWidth}, 0, (b * 2 + h) * own, count);
            all.insert(all.end(), first.begin(), first.end());
            all.insert(all.end(), rest.begin(), rest.end());
          }
          return all;
        };
        const Doubles each = Alone(device, rows, front + count, Rows(q, q_dims, b, 0, rows),
                                   joined(front_k, k), joined(front_v, v), mode, mask);
        want.insert(want.end(), each.begin(), each.end());
      }
      for (int turn = 0; turn < 4; ++turn) {
        const DeviceTensor key = Make(ACL_FLOAT, k_dims, k, random),
                           value = Make(ACL_FLOAT, k_dims, v, random),
                           first_k = Make(ACL_FLOAT, front_dims, front_k, random),
                           first_v = Make(ACL_FLOAT, front_dims, front_v, random),
                           out = EmptyFloats(q_dims);
        Serve call{query, {&key}, {&value}, out};
        call.mode = mode, call.mask = mask, call.key_counts = counts;
        call.front_k = first_k.handle(), call.front_v = first_v.handle();
        call.front_count = {front};
        EXPECT_EQ(call.Run(device).message, "");
        EXPECT_EQ(ValuesOf(out), want);
      }
    }
  }
}

// Rows and keys before the padding count, whatever lies before and behind them. Masks and shifts
// have the places of the padded tensors.
TEST(FusedInferPadding, RowsBeforeThePaddingHaveTheBitsOfTheseRowsAlone) {
  const Device device;
  Random random(3);
  const int64_t rows = 150, keys = 300, q_pad = 3, k_pad = 20;
  const Lengths row_counts = {147, 70}, key_counts = {280, 129};
  const Dims q_dims = {2, 4, rows, kWidth}, k_dims = {2, 2, keys, kWidth};
  const Doubles q = Reals(random, q_dims), k = Reals(random, k_dims), v = Reals(random, k_dims),
                shifts = Reals(random, {2, 4, rows, keys});
  Doubles hides(static_cast<size_t>(2 * rows * keys));
  for (double& hide : hides) hide = Uniform(random, 0, 3) == 0 ? 1 : 0;
  const DeviceTensor query = Floats(q_dims, q), key = Floats(k_dims, k), value = Floats(k_dims, v),
                     mask = Make(ACL_BOOL, {2, 1, rows, keys}, hides),
                     shift = Floats({2, 4, rows, keys}, shifts), out = EmptyFloats(q_dims),
                     sums = EmptyFloats({2, 4, rows, 1}), of_q = Make(ACL_INT64, {1}, {q_pad}),
                     of_k = Make(ACL_INT64, {1}, {k_pad});
  Serve call{query, {&key}, {&value}, out};
  call.rows = row_counts, call.key_counts = key_counts;
  call.q_padding = of_q.handle(), call.k_padding = of_k.handle();
  call.mask = mask.handle(), call.shift = shift.handle(), call.sums = sums.handle();
  EXPECT_EQ(call.Run(device).message, "");
  const Doubles got = ValuesOf(out), logs = ValuesOf(sums);
  for (int64_t b = 0; b < 2; ++b) {
    const int64_t n = row_counts[static_cast<size_t>(b)], m = key_counts[static_cast<size_t>(b)],
                  row = rows - q_pad - n, first = keys - k_pad - m;
    const auto part = [&](const Doubles& from, int64_t heads) {
      Doubles found;
      for (int64_t h = 0; h < heads; ++h) {
        for (int64_t i = 0; i < n; ++i) {
          const auto begin = from.begin() + ((b * heads + h) * rows + row + i) * keys + first;
          found.insert(found.end(), begin, begin + m);
        }
      }
      return found;
    };
    const DeviceTensor own_mask = Make(ACL_BOOL, {1, 1, n, m}, part(hides, 1)),
                       own_shift = Floats({1, 4, n, m}, part(shifts, 4));
    const Doubles want =
        Alone(device, n, m, Rows(q, q_dims, b, row, n), Rows(k, k_dims, b, first, m),
              Rows(v, k_dims, b, first, m), 1, own_mask.handle(), own_shift.handle());
    EXPECT_EQ(Rows(got, q_dims, b, row, n), want) << b;
    // Padding rows become 0 on both sides, and see no key.
    for (const auto& [begin, count] : {std::pair(int64_t{0}, row), {row + n, q_pad}}) {
      for (const double each : Rows(got, q_dims, b, begin, count)) EXPECT_EQ(each, 0);
      for (const double each : Rows(logs, {2, 4, rows, 1}, b, begin, count)) {
        EXPECT_EQ(each, -std::numeric_limits<double>::infinity());
      }
    }
  }
}

TEST(FusedInferPadding, SizesThatLeaveNoRoom) {
  const Device device;
  Random random(4);
  const auto run = [&](int64_t rows, double q_pad, double k_pad, Doubles* got) {
    const Dims q_dims = {1, 4, rows, kWidth}, k_dims = {1, 2, 8, kWidth};
    const DeviceTensor query = Floats(q_dims, Reals(random, q_dims)),
                       key = Floats(k_dims, Doubles(2 * 8 * kWidth, 1.0)),
                       out = EmptyFloats(q_dims), of_q = Make(ACL_INT64, {1}, {q_pad}),
                       of_k = Make(ACL_INT64, {1}, {k_pad});
    Serve call{query, {&key}, {&key}, out};
    call.rows = {2}, call.key_counts = {5};
    call.q_padding = of_q.handle(), call.k_padding = of_k.handle();
    const Outcome outcome = call.Run(device);
    *got = ValuesOf(out);
    return outcome;
  };
  Doubles got;
  EXPECT_EQ(run(3, 1, 3, &got).message, "");
  EXPECT_EQ(run(3, -7, -7, &got).message, "");  // 0
  Outcome outcome = run(3, 2, 0, &got);
  EXPECT_EQ(outcome.code, 507035);
  EXPECT_NE(outcome.message.find("queryPaddingSizeOptional value is 2, expected at most 1: batch 0 "
                                 "has 3 rows, of which 2 count"),
            std::string::npos)
      << outcome.message;
  outcome = run(3, 0, 4, &got);
  EXPECT_EQ(outcome.code, 507035);
  EXPECT_NE(outcome.message.find("kvPaddingSizeOptional value is 4, expected at most 3"),
            std::string::npos)
      << outcome.message;
  EXPECT_EQ(run(3, 0, 9e18, &got).code, 507035);
  // One row of the query is not padded. Without room for its keys it becomes 0.
  EXPECT_EQ(run(1, 9, 3, &got).message, "");
  EXPECT_EQ(got, Doubles(4 * kWidth, 1.0));
  EXPECT_EQ(run(1, 9, 4, &got).message, "");
  EXPECT_EQ(got, Doubles(4 * kWidth, 0.0));
}

// A sink takes a part of each row's weight. One of -infinity takes nothing.
TEST(FusedInferSink, SinksShareTheSumOfARow) {
  const Device device;
  Random random(5);
  const Dims q_dims = {5, 4, kWidth}, k_dims = {140, 2, kWidth};
  const DeviceTensor query = Floats(q_dims, Reals(random, q_dims)),
                     key = Floats(k_dims, Reals(random, k_dims)),
                     value = Floats(k_dims, Reals(random, k_dims));
  const auto run = [&](const DeviceTensor* sink, Doubles* logs) {
    const DeviceTensor out = EmptyFloats(q_dims), sums = EmptyFloats({5, 4, 1});
    Serve call{query, {&key}, {&value}, out};
    call.layout = "TND", call.rows = {3, 4}, call.key_counts = {140, 140};
    call.sums = sums.handle();
    if (sink != nullptr) call.sink = sink->handle();
    EXPECT_EQ(call.Run(device).message, "");
    *logs = ValuesOf(sums);
    return ValuesOf(out);
  };
  const double none = -std::numeric_limits<double>::infinity();
  const DeviceTensor infinite = Make(ACL_BF16, {4}, Doubles(4, none)),
                     sinks = Make(ACL_BF16, {4}, {-2, 0, 1, 4});
  Doubles plain_logs, same_logs, logs;
  const Doubles plain = run(nullptr, &plain_logs), same = run(&infinite, &same_logs),
                shared = run(&sinks, &logs), scores = ValuesOf(sinks);
  EXPECT_EQ(same, plain);
  EXPECT_EQ(same_logs, plain_logs);
  for (size_t row = 0; row < 5; ++row) {
    for (size_t h = 0; h < 4; ++h) {
      const size_t at = row * 4 + h;
      if (row >= 3) {  // a row without keys has its sink alone
        EXPECT_EQ(plain_logs[at], none);
        EXPECT_EQ(logs[at], scores[h]);
        continue;
      }
      const double log = std::log(std::exp(plain_logs[at]) + std::exp(scores[h]));
      EXPECT_NEAR(logs[at], log, 1e-5);
      for (size_t d = 0; d < kWidth; ++d) {
        const double want = plain[at * kWidth + d] * std::exp(plain_logs[at] - log);
        EXPECT_NEAR(shared[at * kWidth + d], want, 1e-5);
      }
    }
  }
}

/// Expects a message about a call of two batches that is changed.
struct Refusals {
  template <class Change>
  void operator()(const char* says, Change&& change) const {
    Serve call{q, {&k}, {&k}, out};
    call.key_counts = {8};
    change(call);
    Refused(161002, says, call);
  }

  Device device;
  DeviceTensor q = EmptyFloats({2, 4, 3, kWidth}), k = EmptyFloats({2, 2, 8, kWidth}),
               one = EmptyFloats({1, 2, 8, kWidth}), short_one = EmptyFloats({1, 2, 7, kWidth}),
               cache = EmptyFloats({4, 2, 8, kWidth}), out = EmptyFloats({2, 4, 3, kWidth}),
               table = Make(ACL_INT32, {2, 2}, {0, 1, 2, 3}), size = Make(ACL_INT64, {1}, {0}),
               small = Make(ACL_INT32, {1}, {0}), sink = Make(ACL_BF16, {4}, Doubles(4, 0.0));
};

TEST(FusedInferKeys, RefusesListsAndPaddingThatThePagesDoNotHave) {
  const Refusals refused;
  const auto& [device, q, k, one, short_one, cache, out, table, size, small, sink] = refused;
  refused("key size is 3, expected 1 or 2, the batches of query", [&](Serve& c) {
    c.keys = c.values = {&one, &one, &one};
  });
  refused("value size is 1, expected 2, that of key", [&](Serve& c) { c.keys = {&one, &one}; });
  refused("key member 1 shape is (2, 2, 8, 64), expected one batch of 2 heads with 64 elements",
          [&](Serve& c) {
            c.keys = c.values = {&one, &k};
          });
  refused("value member 1 shape is (1, 2, 7, 64), expected one batch of 2 heads with 8 rows",
          [&](Serve& c) {
            c.keys = {&one, &one}, c.values = {&one, &short_one};
          });
  refused("actualSeqLengthsKvOptional value of batch 1 is 8, expected 0 to 7", [&](Serve& c) {
    c.keys = c.values = {&one, &short_one};
  });
  refused("key size is 2, expected 1 beside blockTableOptional", [&](Serve& c) {
    c.keys = c.values = {&one, &one}, c.table = table.handle(), c.block_size = 8;
  });
  refused("kvPaddingSizeOptional value is a tensor, expected null beside blockTableOptional",
          [&](Serve& c) {
            c.keys = c.values = {&cache}, c.table = table.handle(), c.block_size = 8;
            c.k_padding = size.handle();
          });
  refused("queryPaddingSizeOptional dtype is INT32, expected INT64",
          [&](Serve& c) { c.q_padding = small.handle(); });
}

TEST(FusedInferKeys, RefusesPrefixesAndSinksThatThePagesDoNotHave) {
  const Refusals refused;
  const auto& [device, q, k, one, short_one, cache, out, table, size, small, sink] = refused;
  refused("valueSharedPrefixOptional value is null, expected what keySharedPrefixOptional is",
          [&](Serve& c) { c.front_k = one.handle(); });
  const auto fronted = [&](Serve& c) { c.front_k = c.front_v = one.handle(); };
  refused("keySharedPrefixOptional shape is (2, 2, 8, 64), expected one batch",
          [&](Serve& c) { c.front_k = c.front_v = k.handle(); });
  refused("valueSharedPrefixOptional shape is (1, 2, 7, 64), expected one batch of 2 heads with 8",
          [&](Serve& c) { c.front_k = one.handle(), c.front_v = short_one.handle(); });
  refused("actualSharedPrefixLenOptional value is 9, expected 0 to 8",
          [&](Serve& c) { fronted(c), c.front_count = {9}; });
  refused("actualSharedPrefixLenOptional size is 2, expected 1", [&](Serve& c) {
    fronted(c), c.front_count = {1, 1};
  });
  refused("keySharedPrefixOptional value is a tensor, expected null beside kvPaddingSizeOptional",
          [&](Serve& c) { fronted(c), c.k_padding = size.handle(); });
  refused(
      "keySharedPrefixOptional value is a tensor, expected null beside lists of several tensors",
      [&](Serve& c) {
        fronted(c), c.keys = c.values = {&one, &one};
      });
  refused("learnableSinkOptional value is a tensor, expected null in inputLayout BNSD",
          [&](Serve& c) { c.sink = sink.handle(); });
}

}  // namespace
}  // namespace openaclnn::test
