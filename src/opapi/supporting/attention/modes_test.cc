// SPDX-License-Identifier: Apache-2.0
// Sparse modes of batches against plain loops in double, and version 4 with packed sequences.
#include "supporting/attention/packed_test.h"

namespace openaclnn::test {
namespace {

/// The operands and results of a call. Batches of one length lie as packed sequences do.
struct Tensors {
  Tensors(Random& random, const PackedProblem& problem, bool is_packed)
      : p(problem),
        packed(is_packed),
        x{Draw(random, p.QueryDims()), Draw(random, p.KeyDims()), Draw(random, p.ValueDims()),
          Draw(random, p.ResultDims())},
        q(Make(ACL_FLOAT, Of(p.QueryDims()), x[0])),
        k(Make(ACL_FLOAT, Of(p.KeyDims()), x[1])),
        v(Make(ACL_FLOAT, Of(p.ValueDims()), x[2])),
        dy(Make(ACL_FLOAT, Of(p.ResultDims()), x[3])),
        out(EmptyFloats(Of(p.ResultDims()))),
        max(EmptyFloats(Sums())),
        sum(EmptyFloats(Sums())),
        dq(EmptyFloats(Of(p.QueryDims()))),
        dk(EmptyFloats(Of(p.KeyDims()))),
        dv(EmptyFloats(Of(p.ValueDims()))) {}

  static Doubles Draw(Random& random, const Dims& dims) {
    return Held(ACL_FLOAT, RealValues(random, dims[0] * dims[1] * dims[2]));
  }
  Dims Of(const Dims& dims) const {
    const auto batches = static_cast<int64_t>(p.rows.size());
    return packed ? dims : Dims{batches, dims[0] / batches, dims[1], dims[2]};
  }
  Dims Sums() const {
    const auto batches = static_cast<int64_t>(p.rows.size());
    return packed ? p.SumDims() : Dims{batches, p.heads, p.rows[0], 8};
  }

  PackedProblem p;
  bool packed;
  std::array<Doubles, 4> x;
  DeviceTensor q, k, v, dy, out, max, sum, dq, dk, dv;
};

TEST(AttentionModes, Batches) {
  const Device device;
  Random random(98);
  char layout[] = "BSND";
  for (const auto& [rows, keys] : std::vector<std::pair<int64_t, int64_t>>{{3, 6}, {6, 3}}) {
    for (const int64_t mode : {0, 1, 2, 3, 4, 5, 6}) {
      SCOPED_TRACE(testing::Message() << rows << " rows in mode " << mode);
      const PackedProblem p = {.heads = 4,
                               .kv_heads = 2,
                               .width = 3,
                               .value_width = 2,
                               .rows = {rows, rows},
                               .keys = {keys, keys},
                               .mode = mode == 5 ? 6 : mode,
                               .before = 2,
                               .after = 1,
                               .prefix = {3, 1},
                               .masked = true};
      Doubles hides;
      for (int64_t i = 0; i < rows * keys; ++i) hides.push_back(p.mask(i / keys, i % keys) ? 1 : 0);
      const DeviceTensor given = Make(ACL_BOOL, {rows, keys}, hides),
                         triangle(ACL_BOOL, DenseLayout({2048, 2048}));
      const aclTensor* const mask = mode < 2 ? given.handle() : triangle.handle();
      const IntListHandle of_all({mode > 4 ? Dims{3, 1} : Dims{}});
      const Tensors t(random, p, false);
      EXPECT_RUN(device, FlashAttentionScore, t.q.handle(), t.k.handle(), t.v.handle(), nullptr,
                 nullptr, nullptr, mask, of_all.get(), p.scale, 1.0, p.before, p.after, p.heads,
                 layout, 0, mode, Handle(t.max), Handle(t.sum), nullptr, Handle(t.out));
      EXPECT_RUN(device, FlashAttentionScoreGrad, t.q.handle(), t.k.handle(), t.v.handle(),
                 t.dy.handle(), nullptr, nullptr, nullptr, mask, t.max.handle(), t.sum.handle(),
                 nullptr, t.out.handle(), of_all.get(), p.scale, 1.0, p.before, p.after, p.heads,
                 layout, 0, mode, Handle(t.dq), Handle(t.dk), Handle(t.dv), nullptr);
      ExpectRight(t.p, t);
    }
  }
}

/// Arguments of version 4 that differ between these tests.
struct VersionFour {
  const Device& device;
  const Tensors& t;
  const aclIntArray *rows, *keys;
  char *layout, *sums;

  aclnnStatus Forward(const aclTensor* mask, int64_t mode, uint64_t* size,
                      aclOpExecutor** executor) const {
    return aclnnFlashAttentionScoreV4GetWorkspaceSize(
        t.q.handle(), t.k.handle(), t.v.handle(), nullptr, nullptr, nullptr, mask, nullptr, nullptr,
        nullptr, nullptr, nullptr, nullptr, nullptr, rows, keys, nullptr, nullptr, t.p.scale, 1.0,
        9, 9, t.p.heads, layout, 0, mode, 0, 1, sums, 0, 0, Handle(t.max), Handle(t.sum), nullptr,
        Handle(t.out), size, executor);
  }
  aclnnStatus Gradient(const aclTensor* mask, int64_t mode, uint64_t* size,
                       aclOpExecutor** executor) const {
    return aclnnFlashAttentionScoreGradV4GetWorkspaceSize(
        t.q.handle(), t.k.handle(), t.v.handle(), t.dy.handle(), nullptr, nullptr, nullptr, mask,
        t.max.handle(), t.sum.handle(), nullptr, t.out.handle(), nullptr, nullptr, nullptr, nullptr,
        nullptr, nullptr, nullptr, nullptr, nullptr, rows, keys, nullptr, nullptr, t.p.scale, 1.0,
        9, 9, t.p.heads, layout, sums, 0, mode, 1, 0, 0, 0, Handle(t.dq), Handle(t.dk),
        Handle(t.dv), nullptr, nullptr, nullptr, nullptr, size, executor);
  }
};

TEST(AttentionModes, VersionFourOfPackedSequences) {
  const Device device;
  Random random(99);
  char tnd[] = "TND", bsnd[] = "BSND", by_heads[] = "";
  const PackedProblem p = {.heads = 2,
                           .kv_heads = 1,
                           .width = 4,
                           .value_width = 3,
                           .rows = {2, 0, 5},
                           .keys = {3, 1, 4},
                           .mode = 3,
                           .masked = true};
  const Tensors t(random, p, true);
  const DeviceTensor mask(ACL_BOOL, DenseLayout({2048, 2048}));
  const IntListHandle rows({p.Ends(p.rows)}), keys({p.Ends(p.keys)});
  const VersionFour call = {device, t, rows.get(), keys.get(), tnd, by_heads};
  const auto forward = [&](auto... o) { return call.Forward(mask.handle(), p.mode, o...); };
  const auto gradient = [&](auto... o) { return call.Gradient(mask.handle(), p.mode, o...); };
  EXPECT_EQ(Call(device, aclnnFlashAttentionScoreV4, forward).message, "");
  EXPECT_EQ(Call(device, aclnnFlashAttentionScoreGradV4, gradient).message, "");
  ExpectRight(t.p, t);
  Refused(161002, "sparseMode value is 5, expected another one with packed sequences",
          [&](auto... o) { return call.Forward(mask.handle(), 5, o...); });
  const PackedProblem even = {.heads = 2, .kv_heads = 1, .rows = {2, 2}, .keys = {3, 3}};
  const Tensors batches(random, even, false);
  const VersionFour dense = {device, batches, nullptr, nullptr, bsnd, by_heads};
  Refused(161002, "sparseMode value is 7, expected 0 to 6 without packed sequences",
          [&](auto... o) { return dense.Forward(mask.handle(), 7, o...); });
  const VersionFour with_ends = {device, batches, rows.get(), nullptr, bsnd, by_heads};
  Refused(161002, "actualSeqQLenOptional size is 3, expected 0: it is not supported",
          [&](auto... o) { return with_ends.Forward(mask.handle(), 3, o...); });
}

}  // namespace
}  // namespace openaclnn::test
