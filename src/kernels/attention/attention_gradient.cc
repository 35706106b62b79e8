// SPDX-License-Identifier: Apache-2.0
// The gradients of attention: runs heads in parallel, each in its part of the scratch.
#include <algorithm>

#include "kernels/attention/attention.h"
#include "kernels/attention/attention_head.h"
#include "kernels/work/parallel_items.h"
#include "kernels/work/scratch.h"

namespace openaclnn {
namespace attention {
namespace {

/// The parts of a shift's gradient. Heads of k that add to one part must not run in parallel.
/// Without a shift, each head is a part.
class ShiftParts {
 public:
  explicit ShiftParts(const AttentionGradient& g)
      : kv_heads_(g.attention.kv_heads),
        of_sequences_(!g.shift.given || g.shift.steps[0] != 0),
        of_heads_(!g.shift.given || g.shift.steps[1] != 0),
        count_((of_sequences_ ? HeadCount(g.attention) / std::max<int64_t>(kv_heads_, 1) : 1) *
               (of_heads_ ? kv_heads_ : 1)) {}

  int64_t count() const { return count_; }
  /// Calls visit(head) for each head of a part, of `heads` in all.
  template <class Visit>
  void ForHeads(int64_t part, int64_t heads, const Visit& visit) const {
    const int64_t of_sequence = of_heads_ ? 1 : kv_heads_;
    const int64_t first = of_sequences_ ? part * of_sequence : part;
    const int64_t end = of_sequences_ ? first + of_sequence : heads;
    for (int64_t head = first; head < end; head += of_heads_ ? kv_heads_ : 1) visit(head);
  }

 private:
  int64_t kv_heads_;
  bool of_sequences_, of_heads_;
  int64_t count_;
};

/// The floats that hold a double for each sequence and head of q: their shares of the sinks'
/// gradient.
int64_t SinkFloats(const AttentionGradient& g) {
  if (!g.attention.sink.given) return 0;
  constexpr int64_t kLine = 8;  // doubles in 64 bytes
  return DivideUp(HeadCount(g.attention) * g.attention.group(), kLine) * kLine * 2;
}

}  // namespace
}  // namespace attention

void PlanAttentionGradient(AttentionGradient* gradient) {
  const Attention& a = gradient->attention;
  int64_t blocks = 0;
  gradient->tiles = 0;
  for (const AttentionSequence& of : a.sequences) {
    gradient->tiles = std::max(gradient->tiles, attention::TilesOf(of));
    blocks = std::max(blocks, attention::BlocksOf(a, of));
  }
  gradient->levels = attention::LevelsOf(blocks);
  gradient->bodies = std::min<int64_t>(attention::HeadCount(a), Meta()->runtime->threads());
}

uint64_t AttentionGradient::scratch_bytes() const {
  return ScratchBytes(bodies * attention::GradientSizes(*this).body *
                          static_cast<int>(sizeof(float)) +
                      __int128{attention::SinkFloats(*this)} * static_cast<int>(sizeof(float)));
}

void RunAttentionGradient(const AttentionGradient& gradient,
                          const AttentionGradientTensors& tensors, void* scratch) {
  if (tensors.dsink != nullptr) std::fill_n(tensors.dsink, gradient.attention.heads, 0.0);
  if (gradient.shift.given) std::fill_n(tensors.dshift, gradient.shift.count, 0.0);
  if (gradient.bodies == 0) return;
  const Attention& a = gradient.attention;
  const auto body_floats = static_cast<int64_t>(attention::GradientSizes(gradient).body);
  auto* const sinks = static_cast<double*>(scratch);
  float* const bodies = static_cast<float*>(scratch) + attention::SinkFloats(gradient);
  const int64_t heads = attention::HeadCount(a);
  if (a.sink.given) std::fill_n(sinks, heads * a.group(), 0.0);
  // Heads that add to one part of the shift's gradient run one after another.
  const attention::ShiftParts parts(gradient);
  ParallelItems(parts.count(), gradient.bodies, true, [&](int64_t part, int64_t body) {
    parts.ForHeads(part, heads, [&](int64_t head) {
      attention::HeadRun(gradient, tensors, head, bodies + body * body_floats,
                         sinks + head * a.group())
          .Run();
    });
  });
  for (int64_t h = 0; h < a.heads && tensors.dsink != nullptr; ++h) {
    for (int64_t i = h; i < heads * a.group(); i += a.heads) tensors.dsink[h] += sinks[i];
  }
}

}  // namespace openaclnn
