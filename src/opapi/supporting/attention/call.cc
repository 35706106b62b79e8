// SPDX-License-Identifier: Apache-2.0
// Checks of a call of attention that do not depend on its version.
#include "supporting/attention/call.h"

#include "kernels/work/divide_up.h"
#include "supporting/attention/packed_heads.h"

namespace openaclnn::supporting {
void CheckNull(const Params& p, std::span<const Tensor* const> tensors,
               std::span<const IntList* const> lists, Checker& checker) {
  for (const Tensor& tensor : p.tensors) {
    if (!tensor.optional || tensor.role() == OPENACLNN_OUTPUT || !IsGiven(tensor)) continue;
    const bool fine = std::find(tensors.begin(), tensors.end(), &tensor) != tensors.end();
    checker.That(fine, [&] {
      return Concat(tensor.name(), " value is a tensor, expected null: it is not supported");
    });
  }
  for (const IntList& list : p.arrays) {
    const bool fine = std::find(lists.begin(), lists.end(), &list) != lists.end();
    checker.That(fine || list.values().empty(), [&] {
      return Concat(list.name(), " size is ", list.values().size(),
                    ", expected 0: it is not supported");
    });
  }
}

void CheckScores(const AttentionCall& call, const Tensor& mask, const Tensor& drops,
                 std::span<const AttentionSequence> sequences, Checker& checker) {
  const Shape scores = {call.q.batches, call.q.heads, call.q.rows, call.k.rows};
  if (call.masked) CheckMaskType(mask, checker);
  if (call.masked && call.packed()) {
    int64_t rows = 0, keys = 0;
    for (const AttentionSequence& of : sequences) {
      rows = std::max(rows, of.rows);
      keys = std::max(keys, of.keys);
    }
    CheckPackedMask(mask, rows, keys, checker);
  }
  if (call.masked && !call.packed()) {
    Shape shape = scores;
    checker.That(mask.rank() <= 4 && BroadcastShape(mask, &shape) && shape == scores, [&] {
      return Concat("attenMask shape is ", ShapeText(mask), ", expected one that can be ",
                    "broadcast to ", ShapeText(scores.data(), 4));
    });
  }
  if (!call.dropout.given && !call.dropout.drawn) return;
  const auto bits = BitsBefore(sequences, call.q.heads);
  checker.That(call.dropout.given || bits.has_value(),
               [] { return "query shape has more scores than a number counts"; });
  if (!call.dropout.given) return;
  const bool enough = bits.has_value() && *drops.count() >= DivideUp(bits->back(), 8);
  checker.That(drops.dtype() == ACL_UINT8 && enough, [&] {
    const std::string each = call.packed()
                                 ? Concat("score of the sequences of ", call.q.heads, " heads")
                                 : Concat("of ", ShapeText(scores.data(), 4));
    return Concat("dropMask shape is ", ShapeText(drops), ", expected UINT8 with a bit for each ",
                  each);
  });
}

}  // namespace openaclnn::supporting
