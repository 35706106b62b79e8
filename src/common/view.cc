// SPDX-License-Identifier: Apache-2.0
// Geometry of strided views, exact: overlap is a bounded linear Diophantine problem.
#include "common/view.h"

#include <algorithm>
#include <vector>

namespace openaclnn {
namespace {

/// coefficient * x with 0 <= x <= limit; both positive.
struct Term {
  int64_t coefficient;
  int64_t limit;
};

/// Counts solutions of sum(coefficient * x) = target, up to `wanted`. Terms are tried from the
/// largest coefficient down; what the rest can still reach bounds each x, so that strides of an
/// ordinary tensor leave one or two values to try.
class Solver {
 public:
  Solver(std::vector<Term> terms, int wanted) : terms_(std::move(terms)), wanted_(wanted) {
    std::sort(terms_.begin(), terms_.end(),
              [](const Term& a, const Term& b) { return a.coefficient > b.coefficient; });
    reach_.resize(terms_.size() + 1);
    for (size_t i = terms_.size(); i-- > 0;) {
      reach_[i] = reach_[i + 1] + static_cast<__int128>(terms_[i].coefficient) * terms_[i].limit;
    }
  }

  /// For the question whether there is a solution at all: joins terms whose sums are all multiples
  /// of the smaller coefficient, as those of one dimension that two views share are.
  static std::vector<Term> Join(std::vector<Term> terms) {
    std::sort(terms.begin(), terms.end(),
              [](const Term& a, const Term& b) { return a.coefficient < b.coefficient; });
    std::vector<Term> joined;
    for (const Term& term : terms) {
      Term* below = joined.empty() ? nullptr : &joined.back();
      int64_t limit = 0;
      if (below == nullptr || term.coefficient % below->coefficient != 0 ||
          term.coefficient / below->coefficient - 1 > below->limit ||
          __builtin_mul_overflow(term.coefficient / below->coefficient, term.limit, &limit) ||
          __builtin_add_overflow(limit, below->limit, &limit)) {
        joined.push_back(term);
      } else {
        below->limit = limit;
      }
    }
    return joined;
  }

  /// True when there are that many solutions, and when the search gives up: what is not shown to be
  /// apart counts as overlapping.
  bool Solve(__int128 target) {
    Search(0, target);
    return Done();
  }

 private:
  // Views of real tensors need a few steps; this many take about a millisecond.
  static constexpr int64_t kMaxSteps = 200'000;

  bool Done() const { return found_ >= wanted_ || steps_ > kMaxSteps; }

  void Search(size_t index, __int128 target) {
    ++steps_;
    if (Done() || target < 0 || target > reach_[index]) return;
    if (index == terms_.size()) {
      ++found_;
      return;
    }
    const auto [coefficient, limit] = terms_[index];
    const __int128 rest = target - reach_[index + 1];
    const __int128 low = rest > 0 ? (rest + coefficient - 1) / coefficient : 0;
    const __int128 high = std::min<__int128>(target / coefficient, limit);
    // Once it is known there may be 2^31 values of x left.
    for (__int128 x = low; x <= high && !Done(); ++x) Search(index + 1, target - x * coefficient);
  }

  std::vector<Term> terms_;
  std::vector<__int128> reach_;  // largest sum of the terms from here on
  int wanted_;
  int found_ = 0;
  int64_t steps_ = 0;
};

int64_t Magnitude(int64_t stride) { return stride < 0 ? -stride : stride; }

/// Whether each dimension, from the last to the first, steps over all that those behind it reach,
/// as in rows, however padded: no two elements are the same.
bool Nested(const OpenaclnnTensor& tensor) {
  int64_t reach = 0;
  for (uint32_t i = tensor.rank; i-- > 0;) {
    if (tensor.dims[i] <= 1) continue;
    const int64_t step = Magnitude(tensor.strides[i]);
    int64_t own = 0;
    if (step <= reach || __builtin_mul_overflow(step, tensor.dims[i] - 1, &own) ||
        __builtin_add_overflow(reach, own, &reach)) {
      return false;
    }
  }
  return true;
}

/// The strides of a view in bytes, as terms; dimensions that do not move are left out.
void AddTerms(const Placement& view, std::vector<Term>* terms) {
  const OpenaclnnTensor& tensor = *view.tensor;
  for (uint32_t i = 0; i < tensor.rank; ++i) {
    if (tensor.dims[i] > 1 && tensor.strides[i] != 0) {
      terms->push_back({Magnitude(tensor.strides[i]) * view.element_bytes, tensor.dims[i] - 1});
    }
  }
}

}  // namespace

std::optional<int64_t> ElementCount(const int64_t* dims, uint32_t rank) {
  int64_t count = 1;
  bool overflow = false;
  for (uint32_t i = 0; i < rank; ++i) {
    if (dims[i] < 0) return std::nullopt;
    if (dims[i] == 0)
      return std::all_of(dims, dims + rank, [](int64_t d) { return d >= 0; })
                 ? std::optional<int64_t>(0)
                 : std::nullopt;
    overflow |= __builtin_mul_overflow(count, dims[i], &count);
  }
  return overflow ? std::nullopt : std::optional<int64_t>(count);
}

std::optional<Span> ElementSpan(const OpenaclnnTensor& tensor) {
  Span span = {tensor.offset, tensor.offset};
  for (uint32_t i = 0; i < tensor.rank; ++i) {
    int64_t reach = 0;
    if (__builtin_mul_overflow(tensor.dims[i] - 1, tensor.strides[i], &reach)) return std::nullopt;
    int64_t& end = reach < 0 ? span.first : span.last;
    if (__builtin_add_overflow(end, reach, &end)) return std::nullopt;
  }
  return span;
}

bool OverlapsItself(const OpenaclnnTensor& tensor) {
  if (Nested(tensor)) return false;
  std::vector<Term> terms;
  __int128 target = 0;
  for (uint32_t i = 0; i < tensor.rank; ++i) {
    if (tensor.dims[i] <= 1) continue;
    if (tensor.strides[i] == 0) return true;
    // The difference of two indices, shifted to start at 0; equal tuples are one solution.
    const int64_t last = tensor.dims[i] - 1;
    terms.push_back({Magnitude(tensor.strides[i]), 2 * last});
    target += static_cast<__int128>(Magnitude(tensor.strides[i])) * last;
  }
  return Solver(std::move(terms), 2).Solve(target);
}

bool Overlap(const Placement& a, const Placement& b) {
  if (a.last_byte < b.first_byte || b.last_byte < a.first_byte) return false;
  // a.first + sum(a) + r = b.first + sum(b) + s with r, s bytes inside an element; the terms of b
  // are counted from their upper end, which makes all coefficients positive.
  std::vector<Term> terms;
  AddTerms(a, &terms);
  const size_t own = terms.size();
  AddTerms(b, &terms);
  __int128 target = static_cast<__int128>(b.first_byte) - a.first_byte + b.element_bytes - 1;
  for (size_t i = own; i < terms.size(); ++i) {
    target += static_cast<__int128>(terms[i].coefficient) * terms[i].limit;
  }
  terms.push_back({1, a.element_bytes + b.element_bytes - 2});
  return Solver(Solver::Join(std::move(terms)), 1).Solve(target);
}

namespace {

/// Whether they step alike where there is a step; a's strides count `a_unit` times.
bool StepAlike(const OpenaclnnTensor& a, int64_t a_unit, const OpenaclnnTensor& b) {
  if (a.rank != b.rank) return false;
  for (uint32_t i = 0; i < a.rank; ++i) {
    if (a.dims[i] != b.dims[i]) return false;
    if (a.dims[i] > 1 && a_unit * a.strides[i] != b.strides[i]) return false;
  }
  return true;
}

}  // namespace

bool SameView(const Placement& a, const Placement& b) {
  return a.element_bytes == b.element_bytes && a.first_byte == b.first_byte &&
         StepAlike(*a.tensor, 1, *b.tensor);
}

bool IsHalfOf(const Placement& halves, const Placement& whole) {
  const int64_t ahead = halves.first_byte - whole.first_byte;
  return 2 * halves.element_bytes == whole.element_bytes &&
         (ahead == 0 || ahead == halves.element_bytes) &&
         StepAlike(*whole.tensor, 2, *halves.tensor);
}

}  // namespace openaclnn
