// SPDX-License-Identifier: Apache-2.0
// Ropes, sinks and the layouts of sums, against plain loops in double and complex steps.
#include "supporting/attention/packed_test.h"

namespace openaclnn::test {
namespace {

constexpr int64_t kFar = 2147483647;

Doubles Draw(Random& random, const Dims& dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  return Held(ACL_FLOAT, RealValues(random, count));
}

/// Elements [first, first + n) of rows of so many.
Doubles Columns(const Doubles& x, int64_t width, int64_t first, int64_t n) {
  Doubles part;
  for (auto row = x.begin(); row != x.end(); row += width) {
    part.insert(part.end(), row + first, row + first + n);
  }
  return part;
}

Dims Narrow(Dims dims, int64_t width) {
  dims.back() = width;
  return dims;
}

/// A problem whose rows have `rope` elements of their width in tensors of their own, with what it
/// writes. Views are of any strides.
struct RopeTensors {
  RopeTensors(Random& random, const PackedProblem& problem, int64_t rope_width)
      : p(problem),
        own(p.width - rope_width),
        rope(rope_width),
        q(Draw(random, p.QueryDims())),
        k(Draw(random, p.KeyDims())),
        v(Draw(random, p.ValueDims())),
        g(Draw(random, p.ResultDims())),
        tq(Part(random, p.QueryDims(), q, 0, own)),
        tk(Part(random, p.KeyDims(), k, 0, own)),
        tq_rope(Part(random, p.QueryDims(), q, own, rope)),
        tk_rope(Part(random, p.KeyDims(), k, own, rope)),
        tv(Make(ACL_FLOAT, p.ValueDims(), v, random)),
        tg(Make(ACL_FLOAT, p.ResultDims(), g, random)),
        out(Room(random, p.ResultDims())),
        max(Room(random, p.SumDims())),
        sum(Room(random, p.SumDims())),
        dq(Room(random, Narrow(p.QueryDims(), own))),
        dk(Room(random, Narrow(p.KeyDims(), own))),
        dq_rope(Room(random, Narrow(p.QueryDims(), rope))),
        dk_rope(Room(random, Narrow(p.KeyDims(), rope))),
        dv(Room(random, p.ValueDims())),
        dsink(Room(random, {p.heads})) {}

  DeviceTensor Part(Random& random, const Dims& dims, const Doubles& x, int64_t first,
                    int64_t n) const {
    return Make(ACL_FLOAT, Narrow(dims, n), Columns(x, p.width, first, n), random);
  }
  static DeviceTensor Room(Random& random, const Dims& dims) {
    return DeviceTensor(ACL_FLOAT, RandomLayout(random, dims, false));
  }

  void ExpectRight(bool as_input) const {
    Doubles want_max, want_sum;
    ExpectNear(ValuesOf(out), p.Forward(q, k, v, &want_max, &want_sum), ACL_FLOAT, 0, 3e-6);
    ExpectNear(ValuesOf(max), as_input ? ByRows(want_max) : want_max, ACL_FLOAT, 0, 3e-6);
    ExpectNear(ValuesOf(sum), as_input ? ByRows(want_sum) : want_sum, ACL_FLOAT, 0, 3e-6);
    const Doubles want_q = p.Gradient(0, q, k, v, g), want_k = p.Gradient(1, q, k, v, g);
    const auto expect = [&](const DeviceTensor& got, const Doubles& want) {
      ExpectNear(ValuesOf(got), want, ACL_FLOAT, 0, 2e-5);
    };
    expect(dq, Columns(want_q, p.width, 0, own));
    expect(dk, Columns(want_k, p.width, 0, own));
    expect(dv, p.Gradient(2, q, k, v, g));
    if (rope > 0) expect(dq_rope, Columns(want_q, p.width, own, rope));
    if (rope > 0) expect(dk_rope, Columns(want_k, p.width, own, rope));
    if (!p.sinks.empty()) expect(dsink, p.Gradient(3, q, k, v, g));
  }

  /// Numbers of rows of heads of sequences as those of heads of rows.
  Doubles ByRows(const Doubles& numbers) const {
    Doubles moved(numbers.size());
    int64_t from = 0, row = 0;
    for (const int64_t rows : p.rows) {
      for (int64_t h = 0; h < p.heads; ++h) {
        for (int64_t i = 0; i < rows; ++i, ++from) {
          const auto begin = numbers.begin() + from * 8;
          std::copy_n(begin, 8, moved.begin() + ((row + i) * p.heads + h) * 8);
        }
      }
      row += rows;
    }
    return moved;
  }

  PackedProblem p;
  int64_t own, rope;
  Doubles q, k, v, g;
  DeviceTensor tq, tk, tq_rope, tk_rope, tv, tg, out, max, sum, dq, dk, dq_rope, dk_rope, dv, dsink;
};

PackedProblem ProblemOf(int64_t width, int64_t value_width) {
  return {.heads = 4,
          .kv_heads = 2,
          .width = width,
          .value_width = value_width,
          .rows = {3, 0, 1, 5},
          .keys = {4, 2, 131, 3},
          .mode = 3,
          .masked = true};
}

// Widths that fill lanes and chunks, and some that do not.
TEST(AttentionRope, VersionThree) {
  const Device device;
  Random random(95);
  char tnd[] = "TND";
  const DeviceTensor mask(ACL_BOOL, DenseLayout({2048, 2048}));
  for (const auto& [own, rope] :
       std::vector<std::pair<int64_t, int64_t>>{{3, 2}, {16, 16}, {70, 5}}) {
    SCOPED_TRACE(testing::Message() << own << " and " << rope);
    PackedProblem p = ProblemOf(own + rope, 2);
    if (own > 16) p.keys[2] = 6;  // a step for each element takes long
    p.slopes = Held(ACL_FLOAT, RealValues(random, 4, 0, 0.1));
    p.type = 2;
    const DeviceTensor slopes = Floats({4}, p.slopes);
    const IntListHandle rows({p.Ends(p.rows)}), keys({p.Ends(p.keys)});
    const RopeTensors t(random, p, rope);
    EXPECT_RUN(device, FlashAttentionVarLenScoreV3, t.tq.handle(), t.tq_rope.handle(),
               t.tk.handle(), t.tk_rope.handle(), t.tv.handle(), slopes.handle(), nullptr, nullptr,
               mask.handle(), nullptr, rows.get(), keys.get(), nullptr, nullptr, 0.5, 1.0, kFar,
               kFar, 4, tnd, 0, p.mode, 2, Handle(t.max), Handle(t.sum), nullptr, Handle(t.out));
    EXPECT_RUN(device, FlashAttentionUnpaddingScoreGradV3, t.tq.handle(), t.tq_rope.handle(),
               t.tk.handle(), t.tk_rope.handle(), t.tv.handle(), t.tg.handle(), slopes.handle(),
               nullptr, nullptr, mask.handle(), t.max.handle(), t.sum.handle(), nullptr,
               t.out.handle(), nullptr, rows.get(), keys.get(), nullptr, nullptr, 0.5, 1.0, kFar,
               kFar, 4, tnd, 0, p.mode, 2, Handle(t.dq), Handle(t.dq_rope), Handle(t.dk),
               Handle(t.dk_rope), Handle(t.dv), nullptr);
    t.ExpectRight(false);
  }
}

// Sums lie as the dimensions say, if that is asked for.
TEST(AttentionRope, VersionFour) {
  const Device device;
  Random random(96);
  char tnd[] = "TND", as_input[] = "same_as_input", by_heads[] = "";
  const DeviceTensor mask(ACL_BOOL, DenseLayout({2048, 2048}));
  for (char* layout : {as_input, by_heads}) {
    SCOPED_TRACE(layout);
    const PackedProblem p = ProblemOf(6, 6);
    const IntListHandle rows({p.Ends(p.rows)}), keys({p.Ends(p.keys)});
    const RopeTensors t(random, p, 0);
    EXPECT_RUN(device, FlashAttentionVarLenScoreV4, t.tq.handle(), t.tk.handle(), t.tv.handle(),
               nullptr, nullptr, nullptr, mask.handle(), nullptr, rows.get(), keys.get(), 0.5, 1.0,
               kFar, kFar, 4, tnd, 0, p.mode, layout, Handle(t.max), Handle(t.sum), nullptr,
               Handle(t.out));
    EXPECT_RUN(device, FlashAttentionUnpaddingScoreGradV4, t.tq.handle(), t.tk.handle(),
               t.tv.handle(), t.tg.handle(), nullptr, nullptr, nullptr, mask.handle(),
               t.max.handle(), t.sum.handle(), nullptr, t.out.handle(), nullptr, rows.get(),
               keys.get(), 0.5, 1.0, kFar, kFar, 4, tnd, 0, p.mode, Handle(t.dq), Handle(t.dk),
               Handle(t.dv), nullptr, layout);
    t.ExpectRight(layout == as_input);
  }
}

// Rows that see no key have the sink alone.
TEST(AttentionRope, VersionFive) {
  const Device device;
  Random random(97);
  char tnd[] = "TND", as_input[] = "same_as_input";
  const DeviceTensor mask(ACL_BOOL, DenseLayout({2048, 2048}));
  for (const int64_t rope : {0, 4}) {
    for (const bool again : {false, true}) {
      SCOPED_TRACE(testing::Message() << rope << (again ? " again" : ""));
      PackedProblem p = ProblemOf(9 + rope, 5);
      p.sinks = Held(ACL_FLOAT, RealValues(random, 4));
      const DeviceTensor sinks = Floats({4}, p.sinks);
      const IntListHandle rows({p.Ends(p.rows)}), keys({p.Ends(p.keys)});
      const RopeTensors t(random, p, rope);
      const auto of = [&](const DeviceTensor& x) { return rope == 0 ? nullptr : Handle(x); };
      EXPECT_RUN(device, FlashAttentionVarLenScoreV5, t.tq.handle(), of(t.tq_rope), t.tk.handle(),
                 of(t.tk_rope), t.tv.handle(), nullptr, nullptr, nullptr, mask.handle(),
                 sinks.handle(), nullptr, rows.get(), keys.get(), nullptr, nullptr, 0.5, 1.0, kFar,
                 kFar, 4, tnd, 0, p.mode, 1, as_input, Handle(t.max), Handle(t.sum), nullptr,
                 Handle(t.out));
      EXPECT_RUN(device, FlashAttentionUnpaddingScoreGradV5, t.tq.handle(), of(t.tq_rope),
                 t.tk.handle(), of(t.tk_rope), t.tv.handle(), t.tg.handle(), nullptr, nullptr,
                 nullptr, mask.handle(), again ? nullptr : t.max.handle(), t.sum.handle(), nullptr,
                 t.out.handle(), sinks.handle(), nullptr, rows.get(), keys.get(), nullptr, nullptr,
                 0.5, 1.0, kFar, kFar, 4, tnd, 0, p.mode, 1, as_input, Handle(t.dq), of(t.dq_rope),
                 Handle(t.dk), of(t.dk_rope), Handle(t.dv), nullptr, Handle(t.dsink));
      t.ExpectRight(true);
    }
  }
}

TEST(AttentionRope, Refusals) {
  const Device device;
  char tnd[] = "TND";
  const DeviceTensor q = EmptyFloats({6, 2, 4}), sums = EmptyFloats({6, 2, 8}),
                     rope = EmptyFloats({6, 2, 3}), other = EmptyFloats({6, 1, 3}),
                     half(ACL_FLOAT16, DenseLayout({2})), three = EmptyFloats({3});
  const IntListHandle ends({{6}});
  const auto refused = [&](const std::string& says, const aclTensor* q_rope,
                           const aclTensor* k_rope, const aclTensor* sink) {
    EXPECT_REFUSED(161002, says, FlashAttentionVarLenScoreV5, q.handle(), q_rope, q.handle(),
                   k_rope, q.handle(), nullptr, nullptr, nullptr, nullptr, sink, nullptr,
                   ends.get(), ends.get(), nullptr, nullptr, 1.0, 1.0, 9, 9, 2, tnd, 0, 0, 1, tnd,
                   sums.handle(), sums.handle(), nullptr, q.handle());
  };
  refused("softmaxOutLayout value is 'TND', expected", nullptr, nullptr, nullptr);
  const auto run = [&](const std::string& says, const aclTensor* q_rope, const aclTensor* k_rope,
                       const aclTensor* sink) {
    char layout[] = "";
    EXPECT_REFUSED(161002, says, FlashAttentionVarLenScoreV5, q.handle(), q_rope, q.handle(),
                   k_rope, q.handle(), nullptr, nullptr, nullptr, nullptr, sink, nullptr,
                   ends.get(), ends.get(), nullptr, nullptr, 1.0, 1.0, 9, 9, 2, tnd, 0, 0, 1,
                   layout, sums.handle(), sums.handle(), nullptr, q.handle());
  };
  run("keyRopeOptional value is none, expected a tensor as of queryRopeOptional", rope.handle(),
      nullptr, nullptr);
  run("keyRopeOptional shape is (6, 1, 3), expected that of key, (6, 2, 4)", rope.handle(),
      other.handle(), nullptr);
  run("queryRopeOptional shape is (6, 1, 3), expected that of query", other.handle(), rope.handle(),
      nullptr);
  char layout[] = "";
  const auto unasked = [&](const std::string& says, const aclTensor* dq_rope,
                           const aclTensor* dsink) {
    EXPECT_REFUSED(161002, says, FlashAttentionUnpaddingScoreGradV5, q.handle(), nullptr,
                   q.handle(), nullptr, q.handle(), q.handle(), nullptr, nullptr, nullptr, nullptr,
                   nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, ends.get(), ends.get(),
                   nullptr, nullptr, 1.0, 1.0, 9, 9, 2, tnd, 0, 0, 1, layout, q.handle(), dq_rope,
                   q.handle(), nullptr, q.handle(), nullptr, dsink);
  };
  unasked("dqRopeOut value is a tensor, expected null without queryRopeOptional", rope.handle(),
          nullptr);
  unasked("dsinkOut value is a tensor, expected null without sinkOptional", nullptr,
          three.handle());
  run("sinkOptional dtype is FLOAT16, expected FLOAT", nullptr, nullptr, half.handle());
  run("sinkOptional shape is (3), expected (2)", nullptr, nullptr, three.handle());
}

}  // namespace
}  // namespace openaclnn::test
