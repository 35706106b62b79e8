// SPDX-License-Identifier: Apache-2.0
// The engine of the elementwise operators: load a run, compute, store.
#include "supporting/elementwise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/broadcast.h"
#include "kernels/copy.h"
#include "kernels/scratch.h"

namespace openaclnn::supporting {
namespace {

constexpr size_t kMaxInputs = 3;

/// The inputs are the input tensors, before them the output where it is also one. Tensors that may
/// be null take no part.
Application ApplicationOf(const Params& p) {
  Application one = {p.row.expression(), {}, 0, {}};
  for (const Value& value : p.values) one.values.push_back(value);
  for (size_t i = 0; i < p.tensors.size(); ++i) {
    if (p.tensors[i].optional) continue;
    if (p.tensors[i].role() == OPENACLNN_INPUT) {
      one.inputs.push_back(i);
    } else {
      one.out = i;
    }
  }
  if (one.inputs.size() < static_cast<size_t>(one.expression->inputs)) {
    one.inputs.insert(one.inputs.begin(), one.out);
  }
  return one;
}

/// The type that inputs and scalars meet in.
Domain MeetingDomain(const Params& p, const Application& one) {
  Domain domain = one.inputs.empty() ? DomainOf(p.tensors[one.out].dtype()) : Domain::kInteger;
  for (const size_t i : one.inputs) {
    const Domain own = DomainOf(p.tensors[i].dtype());
    if (domain == Domain::kInteger || own == Domain::kDouble) domain = own;
  }
  for (const Value& value : one.values) {
    if (!one.expression->scalars_meet) break;
    if (domain == Domain::kInteger && value.given() && value.real) domain = Domain::kFloat;
  }
  return domain;
}

Domain ComputeDomain(const Params& p, const Application& one) {
  const Domain domain = MeetingDomain(p, one);
  const bool integers = one.expression->integer != nullptr;
  const bool floats = one.expression->float32 != nullptr;
  return domain == Domain::kInteger && !integers ? Domain::kFloat
         : domain != Domain::kInteger && !floats ? Domain::kInteger
                                                 : domain;
}

Shape ResultShape(const Params& p, const Application& one, Checker* checker) {
  Shape shape;
  if (p.in_place()) shape = ShapeOf(p.tensors[one.out]);
  for (const size_t i : one.inputs) {
    MeetShape(p.tensors[i], &shape, checker);
  }
  return shape;
}

struct Work {
  Walk walk;
  size_t count;  // of the inputs
  std::array<size_t, kMaxInputs> inputs;
  size_t out;
  std::array<int32_t, kMaxInputs + 1> dtypes;  // of the inputs, then of the output
};

/// Of what stands for a scalar that is left out; an infinity is the last integer.
template <class T>
T Converted(double absent) {
  if constexpr (std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    if (std::isinf(absent)) return absent > 0 ? Limits::max() : Limits::min();
  }
  return static_cast<T>(absent);
}

template <class T>
constexpr int32_t kTypeOf = std::is_same_v<T, float>    ? ACL_FLOAT
                            : std::is_same_v<T, double> ? ACL_DOUBLE
                                                        : ACL_INT64;

template <class T>
Scalars<T> ScalarsOf(const Expression& expression, const ShortVector<Value, 4>& values) {
  Scalars<T> scalars{};
  for (size_t i = 0; i < values.size(); ++i) {
    scalars[i] = values[i].given() ? values[i].As<T>() : Converted<T>(expression.absent[i]);
  }
  return scalars;
}

constexpr int64_t kShorts = 65536;  // numbers of a type of 16 bits

/// Whether a table of the results of all numbers is made first. With it 4 Mi elements of BFLOAT16
/// take from a sixth (logarithm) to six tenths (GELU, sigmoid) of the time on one thread of a
/// Zen 5.
bool TakesTable(const Work& work, const Expression& expression) {
  const auto is_short = [&](size_t k) {
    return Contains(Dtypes(ACL_FLOAT16, ACL_BF16), work.dtypes[k]) && work.walk.step(k) == 2;
  };
  return expression.costly && work.count == 1 && work.walk.count() >= 4 * kShorts && is_short(0) &&
         is_short(1);
}

/// The same results as the loop's, from a table of them.
Plan MakeTablePlan(const Work& work, const Expression& expression,
                   const ShortVector<Value, 4>& values) {
  const auto scalars = ScalarsOf<float>(expression, values);
  const auto loop = expression.float32;
  const auto load = LoaderOf<float>(work.dtypes[0]);
  const auto store = StorerOf<float>(work.dtypes[1]);
  const auto run = [=](const Buffers& buffers) -> Status {
    auto* const table = static_cast<uint16_t*>(buffers.workspace);
    ParallelFor(kShorts / Walk::kRun, [&](int64_t block) {
      std::array<uint16_t, Walk::kRun> numbers;
      alignas(64) float in[Walk::kRun], out[Walk::kRun];
      std::iota(numbers.begin(), numbers.end(), static_cast<uint16_t>(block * Walk::kRun));
      load(reinterpret_cast<std::byte*>(numbers.data()), 2, Walk::kRun, in);
      const float* const inputs[] = {in};
      loop(inputs, scalars.data(), Walk::kRun, out);
      store(out, Walk::kRun, reinterpret_cast<std::byte*>(table + block * Walk::kRun), 2);
    });
    Walk::Pointers origins{buffers.As<std::byte>(work.inputs[0]), buffers.As<std::byte>(work.out)};
    work.walk.ForRuns(
        origins,
        [table](const Walk::Pointers& at, int64_t n) {
          const auto* const in = reinterpret_cast<const uint16_t*>(at[0]);
          auto* const out = reinterpret_cast<uint16_t*>(at[1]);
          for (int64_t i = 0; i < n; ++i) out[i] = table[in[i]];
        },
        work.walk.count());
    return {};
  };
  return {ScratchBytes(kShorts * sizeof(uint16_t)), run};
}

template <class T>
Plan MakePlan(const Work& work, const Expression& expression, Expression::Loop<T> loop,
              const ShortVector<Value, 4>& values) {
  const auto scalars = ScalarsOf<T>(expression, values);
  const size_t count = work.count;
  std::array<LoadRow<T>, kMaxInputs> load{};  // none where the loop reads the view itself
  const auto dense = [&](size_t k) {
    return work.dtypes[k] == kTypeOf<T> && work.walk.step(k) == sizeof(T);
  };
  for (size_t k = 0; k < count; ++k) {
    if (!dense(k)) load[k] = LoaderOf<T>(work.dtypes[k]);
  }
  const StoreRow<T> store = dense(count) ? nullptr : StorerOf<T>(work.dtypes[count]);
  const bool direct =
      store == nullptr && std::ranges::all_of(load, [](auto* each) { return each == nullptr; });
  const int64_t longest = direct ? work.walk.count() : Walk::kRun;  // of what no row must hold
  const auto run = [=](const Buffers& buffers) -> Status {
    Walk::Pointers origins{};
    for (size_t k = 0; k < count; ++k) {
      origins[k] = buffers.As<std::byte>(work.inputs[k]);
    }
    origins[count] = buffers.As<std::byte>(work.out);
    work.walk.ForRuns(
        origins,
        [&](const Walk::Pointers& at, int64_t n) {
          alignas(64) T rows[kMaxInputs + 1][Walk::kRun];
          const T* in[kMaxInputs] = {rows[0], rows[1], rows[2]};
          for (size_t k = 0; k < count; ++k) {
            if (load[k] == nullptr) {
              in[k] = reinterpret_cast<const T*>(at[k]);
            } else {
              load[k](at[k], work.walk.step(k), n, rows[k]);
            }
          }
          if (store == nullptr) return loop(in, scalars.data(), n, reinterpret_cast<T*>(at[count]));
          loop(in, scalars.data(), n, rows[kMaxInputs]);
          store(rows[kMaxInputs], n, at[count], work.walk.step(count));
        },
        longest);
    return {};
  };
  return {0, run};
}

/// A copy from a type to the same moves bits, those of a NaN with the others.
Plan PlanMove(const Params& p, const Application& one) {
  const Copy copy(p.tensors[one.inputs[0]], p.tensors[one.out]);
  const size_t from = one.inputs[0], to = one.out;
  return {0, [=](const Buffers& buffers) -> Status {
            copy(buffers.As<std::byte>(from), buffers.As<std::byte>(to));
            return {};
          }};
}

}  // namespace

void CheckApplication(const Params& p, const Application& one, Checker& checker) {
  const Operand& out = p.tensors[one.out];
  const Shape shape = ResultShape(p, one, &checker);
  if (!checker.ok()) return;
  CheckShape(out, shape, checker);
  for (const size_t i : one.inputs) {
    const Operand& in = p.tensors[i];
    const bool numbers =
        Contains(kNumericTypes, in.dtype()) && Contains(kNumericTypes, out.dtype());
    if (!numbers) checker.SameDtype(in, out);
  }
  const bool floats = ComputeDomain(p, one) != Domain::kInteger;
  checker.That(one.expression->any_out || !floats || Contains(kRealTypes, out.dtype()),
               [&] { return DtypeIs(out, "a float type, which the result is of"); });
  for (const size_t i : one.inputs) {
    const bool integral = one.expression->float32 == nullptr;
    checker.That(!integral || Contains(kIntegerTypes, p.tensors[i].dtype()),
                 [&] { return DtypeIs(p.tensors[i], DtypesText(kIntegerTypes)); });
  }
}

Plan PlanApplication(const Params& p, const Application& one) {
  const size_t count = one.inputs.size();
  std::array<const Operand*, kMaxInputs + 1> views{};
  for (size_t k = 0; k < count; ++k) views[k] = &p.tensors[one.inputs[k]];
  views[count] = &p.tensors[one.out];
  Work work = {
      Walk(ShapeOf(*views[count]), std::span(views.data(), count + 1)), count, {}, one.out, {}};
  for (size_t k = 0; k < count; ++k) work.inputs[k] = one.inputs[k];
  for (size_t k = 0; k <= count; ++k) work.dtypes[k] = views[k]->dtype();
  const bool truths = work.dtypes.front() == ACL_BOOL;
  const Expression* expression = one.expression;
  if (truths && expression->of_truths != nullptr) expression = expression->of_truths;
  // A truth value may be stored as any byte but 0, and is copied as 1.
  if (expression->copies && !truths && work.dtypes[0] == work.dtypes[1]) {
    return PlanMove(p, one);
  }
  switch (ComputeDomain(p, one)) {
    case Domain::kFloat:
      if (TakesTable(work, *expression)) return MakeTablePlan(work, *expression, one.values);
      return MakePlan<float>(work, *expression, expression->float32, one.values);
    case Domain::kDouble:
      return MakePlan<double>(work, *expression, expression->float64, one.values);
    case Domain::kInteger:
      break;
  }
  return MakePlan<int64_t>(work, *expression, expression->integer, one.values);
}

void MeetShape(const Operand& tensor, Shape* shape, Checker* checker) {
  if (std::ranges::equal(*shape, std::span(tensor.tensor().dims, tensor.rank()))) return;
  Shape common = *shape;
  const bool fits = BroadcastShape(tensor, &common);
  if (checker != nullptr) {
    checker->That(fits, [&] {
      return Concat(tensor.name(), " shape is ", ShapeText(tensor),
                    ", expected one that can be broadcast with ",
                    ShapeText(shape->data(), static_cast<uint32_t>(shape->size())));
    });
  }
  if (fits) *shape = std::move(common);
}

void CheckElementwise(const Params& p, Checker& checker) {
  CheckApplication(p, ApplicationOf(p), checker);
}

Plan PlanElementwise(const Params& p, const Product&) {
  return PlanApplication(p, ApplicationOf(p));
}

}  // namespace openaclnn::supporting
