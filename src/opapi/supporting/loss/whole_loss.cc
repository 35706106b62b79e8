// SPDX-License-Identifier: Apache-2.0
// Losses of integers, in 64 bits, and of complex numbers, in pairs of doubles.
#include "supporting/loss/whole_loss.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/rows/double_rows.h"
#include "kernels/rows/rows.h"
#include "kernels/work/divide_up.h"
#include "kernels/work/scratch.h"
#include "supporting/complex.h"
#include "supporting/elementwise.h"
#include "supporting/loss/reduction.h"
#include "supporting/tree_sum.h"

namespace openaclnn::supporting {
namespace {

constexpr size_t kMaxInputs = 2;

/// The losses of elements, of T: int64_t or Pair.
template <class T>
struct Losses {
  explicit Losses(const LossParams& p) {
    Shape shape;
    std::vector<const Operand*> views;
    for (const Tensor& tensor : p.tensors) {
      if (tensor.role() == OPENACLNN_OUTPUT) continue;
      MeetShape(tensor, &shape, nullptr);
      views.push_back(&tensor);
      inputs.push_back(tensor.place);
      load.push_back(LoadOf<T>(tensor));
    }
    if (p.reduction == kNone) views.push_back(&p.first_output());
    walk = Walk(shape, views);
    if constexpr (std::is_same_v<T, Pair>) {
      loop = *p.row.expression()->pairs;
    } else {
      loop = p.row.expression()->integer;
    }
  }

  Walk::Pointers Origins(const Buffers& buffers) const {
    Walk::Pointers origins{};
    for (size_t k = 0; k < inputs.size(); ++k) origins[k] = inputs[k](buffers);
    return origins;
  }

  /// Computes at most kPairRun losses.
  void operator()(const Walk::Pointers& at, int64_t n, T* losses) const {
    constexpr T kNoScalars[4] = {};
    T rows[kMaxInputs][kPairRun];
    const T* const in[kMaxInputs] = {rows[0], rows[1]};
    for (size_t k = 0; k < inputs.size(); ++k) load[k](at[k], walk.step(k), n, rows[k]);
    loop(in, kNoScalars, n, losses);
  }

  Walk walk;
  std::vector<Place> inputs;
  std::vector<decltype(LoadOf<T>(std::declval<const Operand&>()))> load;
  void (*loop)(const T* const* in, const T* scalars, int64_t n, T* out);
};

/// The sum of at most kRowBlock losses, by the tree of a row.
int64_t SumOf(const int64_t* losses, int64_t n) { return DoubleRows().integer_sum.row(losses, n); }

Pair SumOf(const Pair* losses, int64_t n) {
  double real[kRowBlock], imaginary[kRowBlock];
  for (int64_t i = 0; i < n; ++i) {
    real[i] = losses[i].real();
    imaginary[i] = losses[i].imag();
  }
  return {DoubleRows().sum.row(real, n), DoubleRows().sum.row(imaginary, n)};
}

template <class T>
Plan MakeLosses(const LossParams& p) {
  const Tensor& out = p.first_output();
  return {0,
          [losses = Losses<T>(p), store = StoreOf<T>(out),
           out_at = out.place](const Buffers& buffers) -> Status {
            Walk::Pointers origins = losses.Origins(buffers);
            const size_t last = losses.inputs.size();
            origins[last] = out_at(buffers);
            losses.walk.ForRuns(
                origins,
                [&](const Walk::Pointers& at, int64_t n) {
                  T values[kPairRun];
                  losses(at, n, values);
                  store(values, n, at[last], losses.walk.step(last));
                },
                kPairRun);
            return {};
          }};
}

/// Writes a sum, or a mean of integers as the double that it is.
template <class T>
auto WriterOf(const Tensor& out, bool is_mean) {
  return [store = StoreOf<T>(out), store_mean = StoreOf<double>(out), is_mean](
             T total, double count, std::byte* to) {
    if constexpr (std::is_same_v<T, Pair>) {
      if (is_mean) total = {total.real() / count, total.imag() / count};
    } else if (is_mean) {
      const double mean = static_cast<double>(total) / count;
      return store_mean(&mean, 1, to, 0);
    }
    store(&total, 1, to, 0);
  };
}

template <class T>
Plan MakeTotal(const LossParams& p) {
  const Losses<T> losses(p);
  const Tensor& out = p.first_output();
  const int64_t count = losses.walk.count(), blocks = DivideUp(count, kRowBlock);
  return {ScratchBytes(__int128{blocks} * sizeof(T)),
          [=, write = WriterOf<T>(out, p.reduction == kMean),
           out_at = out.place](const Buffers& buffers) -> Status {
            auto* const totals = static_cast<T*>(buffers.workspace);
            const Walk::Pointers origins = losses.Origins(buffers);
            ParallelRows(blocks, kRowBlock, [&](int64_t block) {
              const int64_t begin = block * kRowBlock, end = std::min(begin + kRowBlock, count);
              T values[kRowBlock];
              int64_t done = 0;
              losses.walk.ForRunsOf(begin, end, kPairRun, origins,
                                    [&](const Walk::Pointers& at, int64_t n) {
                                      losses(at, n, values + done);
                                      done += n;
                                    });
              totals[block] = SumOf(values, end - begin);
            });
            const auto total_of = [totals](int64_t block) { return totals[block]; };
            const T total = blocks > 0 ? SumParts(0, blocks, total_of) : T{};
            write(total, static_cast<double>(count), out_at(buffers));
            return {};
          }};
}

template <class T>
Plan MakeWholeLoss(const LossParams& p) {
  return p.reduction == kNone ? MakeLosses<T>(p) : MakeTotal<T>(p);
}

}  // namespace

Plan PlanWholeLoss(const LossParams& p) {
  bool pairs = false, integers = true;
  for (const Tensor& tensor : p.tensors) {
    pairs |= IsComplex(tensor);
    if (tensor.role() != OPENACLNN_OUTPUT) integers &= Contains(kIntegerTypes, tensor.dtype());
  }
  if (pairs) return MakeWholeLoss<Pair>(p);
  return integers ? MakeWholeLoss<int64_t>(p) : Plan();
}

}  // namespace openaclnn::supporting
