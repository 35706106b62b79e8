// SPDX-License-Identifier: Apache-2.0
// CtcLoss and its gradient: how likely a sequence of targets is with blanks between and repetitions
// (Graves et al., 2006), by logarithms of sums forward and backward in time.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "generated/loss.h"
#include "kernels/move/broadcast.h"
#include "kernels/move/strided.h"
#include "kernels/rows/rows.h"
#include "supporting/family.h"
#include "supporting/in_turn.h"

namespace openaclnn::supporting {
namespace {

constexpr double kNever = -INFINITY;  // the logarithm of what is impossible

/// log(exp(a) + exp(b) + exp(c)).
double LogSum(double a, double b, double c = kNever) {
  double largest = std::max({a, b, c});
  if (largest == kNever) largest = 0;
  return std::log(std::exp(a - largest) + std::exp(b - largest) + std::exp(c - largest)) + largest;
}

/// A tensor of three dimensions, of which rows are along the last one.
struct Cube {
  explicit Cube(const Tensor& tensor)
      : place(tensor.place),
        bytes(BytesOf(tensor)),
        load(LoaderOf<double>(tensor.dtype())),
        store(StorerOf<double>(tensor.dtype())) {
    for (uint32_t d = 0; d < 3; ++d) steps[d] = tensor.tensor().strides[d] * bytes;
  }
  std::byte* Row(const Buffers& buffers, int64_t i, int64_t j) const {
    return place(buffers) + i * steps[0] + j * steps[1];
  }
  void Load(const Buffers& buffers, int64_t i, int64_t j, std::vector<double>* row) const {
    load(Row(buffers, i, j), steps[2], static_cast<int64_t>(row->size()), row->data());
  }
  void Store(const Buffers& buffers, int64_t i, int64_t j, const std::vector<double>& row) const {
    store(row.data(), static_cast<int64_t>(row.size()), Row(buffers, i, j), steps[2]);
  }

  Place place;
  int64_t bytes;
  LoadRow<double> load;
  StoreRow<double> store;
  std::array<int64_t, 3> steps{};  // in bytes
};

/// Vectors of a number for each sequence.
struct Numbers {
  explicit Numbers(const Tensor& tensor)
      : place(tensor.place),
        step(tensor.tensor().strides[0] * BytesOf(tensor)),
        load(LoaderOf<double>(tensor.dtype())),
        store(StorerOf<double>(tensor.dtype())) {}
  double Get(const Buffers& buffers, int64_t i) const {
    double value = 0;
    load(place(buffers) + i * step, 0, 1, &value);
    return value;
  }
  void Set(const Buffers& buffers, int64_t i, double value) const {
    store(&value, 1, place(buffers) + i * step, 0);
  }

  Place place;
  int64_t step;  // in bytes
  LoadRow<double> load;
  StoreRow<double> store;
};

/// Targets of all sequences, with a blank before, between and behind them.
class Labels {
 public:
  template <class Call>
  explicit Labels(const Call& p)
      : targets_(p.targets.place),
        load_(LoaderOf<int64_t>(p.targets.dtype())),
        blank_(p.blank),
        classes_(p.logProbs.dim(2)),
        times_(p.inputLengths.values().begin(), p.inputLengths.values().end()),
        lengths_(p.targetLengths.values().begin(), p.targetLengths.values().end()) {
    const uint32_t rank = p.targets.rank();
    step_ = p.targets.tensor().strides[rank - 1] * BytesOf(p.targets);
    const int64_t row = rank == 2 ? p.targets.tensor().strides[0] * BytesOf(p.targets) : 0;
    int64_t begin = 0;
    for (size_t n = 0; n < lengths_.size(); ++n) {
      // Behind the last target, where sequences without any begin, there need not be a place.
      begins_.push_back(rank == 2 ? static_cast<int64_t>(n) * row : WrappingProduct(begin, step_));
      if (rank == 1) begin += lengths_[n];
    }
  }

  int64_t count() const { return static_cast<int64_t>(lengths_.size()); }
  int64_t classes() const { return classes_; }
  int64_t Times(int64_t n) const { return times_[static_cast<size_t>(n)]; }

  std::vector<int64_t> Of(const Buffers& buffers, int64_t n) const {
    const int64_t length = lengths_[static_cast<size_t>(n)];
    std::vector<int64_t> own(static_cast<size_t>(length));
    load_(targets_(buffers) + begins_[static_cast<size_t>(n)], step_, length, own.data());
    std::vector<int64_t> labels(static_cast<size_t>(2 * length + 1), blank_);
    for (size_t i = 0; i < own.size(); ++i) labels[2 * i + 1] = own[i];
    return labels;
  }

  Status Check(const Buffers& buffers) const {
    for (int64_t n = 0; n < count(); ++n) {
      const std::vector<int64_t> labels = Of(buffers, n);
      for (size_t i = 1; i < labels.size(); i += 2) {
        if (labels[i] >= 0 && labels[i] < classes_) continue;
        return Status(507035, Concat("targets value ", i / 2, " of sequence ", n, " is ", labels[i],
                                     ", expected 0 <= value < ", classes_));
      }
    }
    return {};
  }

 private:
  Place targets_;
  LoadRow<int64_t> load_;
  int64_t blank_, classes_, step_ = 0;
  std::vector<int64_t> times_, lengths_, begins_;  // begins in bytes
};

/// Whether the label before the one before may be followed at once: none lies between that counts.
bool MaySkip(const std::vector<int64_t>& labels, size_t s) {
  return s > 1 && labels[s - 2] != labels[s];
}

size_t At(int64_t label) { return static_cast<size_t>(label); }

/// Computes a time from the one before.
void Forward(const std::vector<int64_t>& labels, const std::vector<double>& chances,
             const std::vector<double>& before, std::vector<double>* now) {
  for (size_t s = 0; s < labels.size(); ++s) {
    const double one = s > 0 ? before[s - 1] : kNever;
    const double two = MaySkip(labels, s) ? before[s - 2] : kNever;
    (*now)[s] = LogSum(before[s], one, two) + chances[At(labels[s])];
  }
}

/// Computes a time from the one after.
void Backward(const std::vector<int64_t>& labels, const std::vector<double>& chances,
              const std::vector<double>& after, std::vector<double>* now) {
  const size_t count = labels.size();
  for (size_t s = 0; s < count; ++s) {
    const double one = s + 1 < count ? after[s + 1] : kNever;
    const double two = s + 2 < count && MaySkip(labels, s + 2) ? after[s + 2] : kNever;
    (*now)[s] = LogSum(after[s], one, two) + chances[At(labels[s])];
  }
}

/// Only the first two labels may come first; only the last two last.
std::vector<double> AtTheEnd(const std::vector<int64_t>& labels, const std::vector<double>& chances,
                             bool first) {
  std::vector<double> now(labels.size(), kNever);
  const size_t end = first ? 0 : labels.size() - 1;
  now[end] = chances[At(labels[end])];
  if (labels.size() > 1) {
    const size_t next = first ? 1 : labels.size() - 2;
    now[next] = chances[At(labels[next])];
  }
  return now;
}

double Likelihood(const std::vector<double>& last) {
  return LogSum(last.back(), last.size() > 1 ? last[last.size() - 2] : kNever);
}

/// Adds what is there before and behind each label to its class.
void Gather(const std::vector<int64_t>& labels, const std::vector<double>& before,
            const std::vector<double>& behind, std::vector<double>* classes) {
  std::fill(classes->begin(), classes->end(), kNever);
  for (size_t s = 0; s < labels.size(); ++s) {
    double& sum = (*classes)[At(labels[s])];
    sum = LogSum(sum, before[s] + behind[s]);
  }
}

/// Checks that both directions share.
template <class Call>
void CheckSequences(const Call& p, Checker& checker) {
  checker.That(Contains(kRealTypes, p.logProbs.dtype()),
               [&] { return DtypeIs(p.logProbs, DtypesText(kRealTypes)); });
  CheckIndexType(p.targets, checker);
  checker.Rank(p.logProbs, 3).RankBetween(p.targets, 1, 2);
  if (!checker.ok()) return;
  const int64_t times = p.logProbs.dim(0), count = p.logProbs.dim(1), classes = p.logProbs.dim(2);
  checker.That(p.blank >= 0 && p.blank < classes, [&] {
    return Concat("blank value is ", p.blank, ", expected 0 <= value < ", classes);
  });
  const bool padded = p.targets.rank() == 2;
  int64_t all = 0;
  const auto check = [&](const IntList& list, int64_t most) {
    checker.That(static_cast<int64_t>(list.values().size()) == count, [&] {
      return Concat(list.name(), " size is ", list.values().size(), ", expected ", count);
    });
    for (const int64_t length : list.values()) {
      checker.That(length >= 0 && length <= most, [&] {
        return Concat(list.name(), " value is ", length, ", expected 0 to ", most);
      });
    }
  };
  check(p.inputLengths, times);
  // With blanks before, between and behind them a number has to count them.
  constexpr int64_t kMostTargets = (INT64_MAX - 1) / 2;
  check(p.targetLengths, std::min(p.targets.dim(padded ? 1 : 0), kMostTargets));
  if (!checker.ok()) return;
  for (const int64_t length : p.targetLengths.values()) {
    checker.That(padded || !__builtin_add_overflow(all, length, &all), [&] {
      return Concat("targetLengths sum is 2^63 or more, expected the length of targets, ",
                    p.targets.dim(0));
    });
  }
  const Shape wanted = padded ? Shape{count, p.targets.dim(1)} : Shape{all};
  CheckShape(p.targets, wanted, checker);
}

/// Room for the labels of all sequences at all of their times.
template <class Call>
void CheckAlpha(const Call& p, const Tensor& alpha, Checker& checker) {
  checker.SameDtype(alpha, p.logProbs).Rank(alpha, 3);
  if (!checker.ok()) return;
  int64_t times = 0, labels = 1;
  for (const int64_t each : p.inputLengths.values()) times = std::max(times, each);
  for (const int64_t each : p.targetLengths.values()) labels = std::max(labels, 2 * each + 1);
  const bool fits =
      alpha.dim(0) == p.logProbs.dim(1) && alpha.dim(1) >= times && alpha.dim(2) >= labels;
  checker.That(fits, [&] {
    return Concat(alpha.name(), " shape is ", ShapeText(alpha), ", expected (", p.logProbs.dim(1),
                  ", ", times, ", ", labels, "), or more of the last two");
  });
}

}  // namespace

void CheckCtcLoss(const CtcLossParams& p, Checker& checker) {
  CheckSequences(p, checker);
  checker.SameDtype(p.negLogLikelihoodOut, p.logProbs);
  if (!checker.ok()) return;
  CheckShape(p.negLogLikelihoodOut, {p.logProbs.dim(1)}, checker);
  CheckAlpha(p, p.logAlphaOut, checker);
}

// Elements beyond a sequence's times and labels have probability 0.
Plan PlanCtcLoss(const CtcLossParams& p, const Product&) {
  if (p.logProbs.dim(1) == 0) return Nothing();
  const Labels labels(p);
  const Cube from(p.logProbs), to(p.logAlphaOut);
  const Numbers losses(p.negLogLikelihoodOut);
  return {0,
          [=, zero = p.zeroInfinity, rows = p.logAlphaOut.dim(1),
           width = p.logAlphaOut.dim(2)](const Buffers& buffers) -> Status {
            Status status = labels.Check(buffers);
            if (!status.ok()) return status;
            ParallelRows(labels.count(), rows * width * 16, [&](int64_t n) {
              const std::vector<int64_t> own = labels.Of(buffers, n);
              std::vector<double> chances(At(labels.classes())), row(At(width), kNever);
              std::vector<double> before, now(own.size());
              // Nothing at no time is certain, anything else impossible.
              double likelihood = own.size() == 1 ? 0 : kNever;
              for (int64_t t = 0; t < rows; ++t) {
                std::fill(row.begin(), row.end(), kNever);
                if (t < labels.Times(n)) {
                  from.Load(buffers, t, n, &chances);
                  if (t == 0) now = AtTheEnd(own, chances, true);
                  if (t > 0) Forward(own, chances, before, &now);
                  likelihood = Likelihood(now);
                  std::copy(now.begin(), now.end(), row.begin());
                  before = now;
                }
                to.Store(buffers, n, t, row);
              }
              losses.Set(buffers, n, zero && likelihood == kNever ? 0 : -likelihood);
            });
            return {};
          }};
}

void CheckCtcLossGradient(const CtcLossGradientParams& p, Checker& checker) {
  CheckSequences(p, checker);
  checker.SameDtype(p.gradOut, p.logProbs).SameDtype(p.negLogLikelihood, p.logProbs);
  if (!checker.ok()) return;
  CheckShape(p.gradOut, {p.logProbs.dim(1)}, checker);
  CheckShape(p.negLogLikelihood, {p.logProbs.dim(1)}, checker);
  CheckAlpha(p, p.logAlpha, checker);
  checker.SameShapeAndDtype(p.out, p.logProbs);
}

Plan PlanCtcLossGradient(const CtcLossGradientParams& p, const Product&) {
  if (p.out.empty()) return Nothing();
  const Labels labels(p);
  const Cube from(p.logProbs), alpha(p.logAlpha), to(p.out);
  const Numbers gradients(p.gradOut), losses(p.negLogLikelihood);
  return {0, [=, zero = p.zeroInfinity, rows = p.out.dim(0)](const Buffers& buffers) -> Status {
            Status status = labels.Check(buffers);
            if (!status.ok()) return status;
            ParallelRows(labels.count(), rows * labels.classes() * 32, [&](int64_t n) {
              const std::vector<int64_t> own = labels.Of(buffers, n);
              const int64_t times = labels.Times(n);
              const double loss = losses.Get(buffers, n), gradient = gradients.Get(buffers, n);
              std::vector<double> chances(At(labels.classes())), row(chances.size());
              std::vector<double> before(own.size()), behind, now(own.size());
              bool impossible = std::isinf(loss);
              if (zero && times > 0) {  // whose loss is told as 0
                alpha.Load(buffers, n, times - 1, &before);
                impossible = impossible || Likelihood(before) == kNever;
              }
              for (int64_t t = rows; t-- > 0;) {
                std::fill(row.begin(), row.end(), 0);
                if (t < times && !(zero && impossible)) {
                  from.Load(buffers, t, n, &chances);
                  if (t == times - 1) now = AtTheEnd(own, chances, false);
                  if (t < times - 1) Backward(own, chances, behind, &now);
                  alpha.Load(buffers, n, t, &before);
                  Gather(own, before, now, &row);
                  for (size_t c = 0; c < row.size(); ++c) {
                    row[c] =
                        (std::exp(chances[c]) - std::exp(row[c] + loss - chances[c])) * gradient;
                  }
                  behind = now;
                }
                to.Store(buffers, t, n, row);
              }
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
