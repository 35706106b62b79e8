// SPDX-License-Identifier: Apache-2.0
// The addends of scores (pse), by pseType, against plain loops in double and complex steps.
#include "supporting/attention/packed_test.h"

namespace openaclnn::test {
namespace {

constexpr int64_t kFar = 2147483647;

/// The operands of a problem, as FLOAT has them, and room for what is written.
struct Tensors {
  Tensors(Random& random, const PackedProblem& p, bool packed)
      : x{Draw(random, p.QueryDims()), Draw(random, p.KeyDims()), Draw(random, p.ValueDims()),
          Draw(random, p.ResultDims())},
        q(Make(ACL_FLOAT, Of(p.QueryDims(), packed), x[0])),
        k(Make(ACL_FLOAT, Of(p.KeyDims(), packed), x[1])),
        v(Make(ACL_FLOAT, Of(p.ValueDims(), packed), x[2])),
        dy(Make(ACL_FLOAT, Of(p.ResultDims(), packed), x[3])),
        out(ACL_FLOAT, DenseLayout(Of(p.ResultDims(), packed))),
        max(ACL_FLOAT, DenseLayout(packed ? p.SumDims() : Dims{1, p.heads, p.all_rows(), 8})),
        sum(ACL_FLOAT, DenseLayout(packed ? p.SumDims() : Dims{1, p.heads, p.all_rows(), 8})),
        dq(ACL_FLOAT, DenseLayout(Of(p.QueryDims(), packed))),
        dk(ACL_FLOAT, DenseLayout(Of(p.KeyDims(), packed))),
        dv(ACL_FLOAT, DenseLayout(Of(p.ValueDims(), packed))) {}

  static Doubles Draw(Random& random, const Dims& dims) {
    return Held(ACL_FLOAT, RealValues(random, dims[0] * dims[1] * dims[2]));
  }
  /// With a batch of one, unless sequences are packed.
  static Dims Of(Dims dims, bool packed) {
    if (!packed) dims.insert(dims.begin(), 1);
    return dims;
  }

  std::array<Doubles, 4> x;
  DeviceTensor q, k, v, dy, out, max, sum, dq, dk, dv;
};

// Type 1 is broadcast to rows here, which its gradient is summed over.
TEST(AttentionShift, Batches) {
  const Device device;
  Random random(91);
  char layout[] = "BSND";
  for (const int64_t type : {0, 1, 2, 3}) {
    SCOPED_TRACE(type);
    PackedProblem p = {
        .heads = 2, .kv_heads = 1, .width = 3, .value_width = 2, .rows = {5}, .keys = {140}};
    p.type = type;
    const int64_t rows = type == 1 ? 1 : 5;  // of the shift
    const Doubles given =
        Held(ACL_FLOAT, RealValues(random, type < 2 ? 2 * rows * 140 : 2, 0, 0.1));
    const Doubles* at = &given;
    if (type < 2) {
      p.numbers = [&](int64_t h, int64_t i, int64_t j) {
        return (*at)[static_cast<size_t>((h * rows + i % rows) * 140 + j)];
      };
    } else {
      p.slopes = given;
      p.ahead = 7 - 4;
    }
    const Dims dims = type < 2 ? Dims{2, rows, 140} : Dims{2};
    const DeviceTensor shift = Make(ACL_FLOAT, dims, given, random),
                       dshift(ACL_FLOAT, RandomLayout(random, dims, false));
    const IntListHandle row({{7}}), key({{4}});
    const Tensors t(random, p, false);
    EXPECT_RUN(device, FlashAttentionScoreV2, t.q.handle(), t.k.handle(), t.v.handle(),
               shift.handle(), nullptr, nullptr, nullptr, nullptr, row.get(), key.get(), p.scale,
               1.0, kFar, kFar, p.heads, layout, 0, 0, type, Handle(t.max), Handle(t.sum), nullptr,
               Handle(t.out));
    EXPECT_RUN(device, FlashAttentionScoreGradV2, t.q.handle(), t.k.handle(), t.v.handle(),
               t.dy.handle(), shift.handle(), nullptr, nullptr, nullptr, t.max.handle(),
               t.sum.handle(), nullptr, t.out.handle(), nullptr, row.get(), key.get(), p.scale, 1.0,
               kFar, kFar, p.heads, layout, 0, 0, type, Handle(t.dq), Handle(t.dk), Handle(t.dv),
               type < 2 ? Handle(dshift) : nullptr);
    ExpectRight(p, t);
    if (type > 1) continue;
    const Doubles want = Slopes(given, t.x[3], [&](const Doubles& numbers) {
      at = &numbers;
      return p.Forward(t.x[0], t.x[1], t.x[2]);
    });
    ExpectNear(ValuesOf(dshift), want, ACL_FLOAT, 1e-5, 1e-6);
  }
}

// Places are those in each sequence.
TEST(AttentionShift, PackedSequences) {
  const Device device;
  Random random(92);
  char layout[] = "TND";
  const DeviceTensor mask(ACL_BOOL, DenseLayout({2048, 2048}));
  for (const int64_t type : {2, 3}) {
    for (const bool each : {false, true}) {
      SCOPED_TRACE(testing::Message() << type << (each ? " of each sequence" : ""));
      PackedProblem p = {.heads = 2,
                         .kv_heads = 2,
                         .width = 2,
                         .value_width = 2,
                         .rows = {3, 1, 4},
                         .keys = {2, 5, 4},
                         .mode = 3,
                         .masked = true};
      p.type = type;
      p.slopes = Held(ACL_FLOAT, RealValues(random, each ? 6 : 2));
      p.ahead = -2;
      const DeviceTensor slopes = Make(ACL_FLOAT, each ? Dims{3, 2} : Dims{2}, p.slopes, random);
      const IntListHandle rows({p.Ends(p.rows)}), keys({p.Ends(p.keys)}), start({{2}});
      const Tensors t(random, p, true);
      EXPECT_RUN(device, FlashAttentionVarLenScoreV2, t.q.handle(), t.k.handle(), t.v.handle(),
                 slopes.handle(), nullptr, nullptr, mask.handle(), nullptr, rows.get(), keys.get(),
                 nullptr, start.get(), p.scale, 1.0, kFar, kFar, p.heads, layout, 0, p.mode, type,
                 Handle(t.max), Handle(t.sum), nullptr, Handle(t.out));
      EXPECT_RUN(device, FlashAttentionUnpaddingScoreGradV2, t.q.handle(), t.k.handle(),
                 t.v.handle(), t.dy.handle(), slopes.handle(), nullptr, nullptr, mask.handle(),
                 t.max.handle(), t.sum.handle(), nullptr, t.out.handle(), nullptr, rows.get(),
                 keys.get(), nullptr, start.get(), p.scale, 1.0, kFar, kFar, p.heads, layout, 0,
                 p.mode, type, Handle(t.dq), Handle(t.dk), Handle(t.dv), nullptr);
      ExpectRight(p, t);
    }
  }
}

TEST(AttentionShift, Refusals) {
  const Device device;
  char bnsd[] = "BNSD", tnd[] = "TND";
  const DeviceTensor q = EmptyFloats({2, 3, 4, 8}), max = EmptyFloats({2, 3, 4, 8}),
                     packed = EmptyFloats({4, 3, 8}), sums = EmptyFloats({4, 3, 8}),
                     two = EmptyFloats({2}), half(ACL_FLOAT16, DenseLayout({3})),
                     scores = EmptyFloats({4, 4});
  const IntListHandle ends({{4}}), pair({{1, 2}});
  const auto refused = [&](const std::string& says, const aclTensor* shift, int64_t type,
                           const aclIntArray* start) {
    EXPECT_REFUSED(161002, says, FlashAttentionScoreV2, q.handle(), q.handle(), q.handle(), shift,
                   nullptr, nullptr, nullptr, nullptr, start, nullptr, 1.0, 1.0, 9, 9, 3, bnsd, 0,
                   0, type, max.handle(), max.handle(), nullptr, q.handle());
  };
  refused("realShiftOptional shape is (2), expected (3) or (2, 3) in pseType 2 and 3", two.handle(),
          2, nullptr);
  refused("realShiftOptional dtype is FLOAT16, expected FLOAT", half.handle(), 3, nullptr);
  refused("realShiftOptional shape is (2), expected one that can be broadcast to (2, 3, 4, 4)",
          two.handle(), 0, nullptr);
  refused("qStartIdxOptional value is [1, 2], expected one number", nullptr, 2, pair.get());
  refused("pseType value is 4, expected", nullptr, 4, nullptr);
  EXPECT_REFUSED(
      161002, "realShiftOptional value is a tensor, expected null: with packed sequences",
      FlashAttentionVarLenScoreV2, packed.handle(), packed.handle(), packed.handle(),
      scores.handle(), nullptr, nullptr, nullptr, nullptr, ends.get(), ends.get(), nullptr, nullptr,
      1.0, 1.0, 9, 9, 3, tnd, 0, 0, 0, sums.handle(), sums.handle(), nullptr, packed.handle());
  EXPECT_REFUSED(161002, "dpseOut value is a tensor, expected null without pseShiftOptional",
                 FlashAttentionScoreGradV2, q.handle(), q.handle(), q.handle(), q.handle(), nullptr,
                 nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                 nullptr, 1.0, 1.0, 9, 9, 3, bnsd, 0, 0, 0, q.handle(), q.handle(), q.handle(),
                 scores.handle());
}

}  // namespace
}  // namespace openaclnn::test
