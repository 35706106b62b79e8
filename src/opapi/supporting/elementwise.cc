// SPDX-License-Identifier: Apache-2.0
// The engine of the elementwise operators: load a run, compute, store.
#include "supporting/elementwise.h"

#include <array>
#include <limits>

#include "kernels/broadcast.h"

namespace openaclnn::supporting {
namespace {

constexpr size_t kMaxInputs = 3;

/// The inputs of the function: the input tensors, before them the output where it is also one.
std::vector<size_t> InputsOf(const Params& p) {
  std::vector<size_t> inputs;
  for (size_t i = 0; i < p.tensors.size(); ++i) {
    if (p.tensors[i].role() == OPENACLNN_INPUT) inputs.push_back(i);
  }
  if (inputs.size() < static_cast<size_t>(p.row.expression->inputs)) {
    inputs.insert(inputs.begin(), 0);
  }
  return inputs;
}

/// The type that inputs and scalars meet in.
Domain MeetingDomain(const Params& p) {
  const auto inputs = InputsOf(p);
  Domain domain = inputs.empty() ? DomainOf(p.out().dtype()) : Domain::kInteger;
  for (const size_t i : inputs) {
    const Domain own = DomainOf(p.tensors[i].dtype());
    if (domain == Domain::kInteger || own == Domain::kDouble) domain = own;
  }
  for (const Value& value : p.values) {
    if (domain == Domain::kInteger && value.given() && value.real) domain = Domain::kFloat;
  }
  return domain;
}

Domain ComputeDomain(const Params& p) {
  const Domain domain = MeetingDomain(p);
  const bool integers = p.row.expression->integer != nullptr;
  const bool floats = p.row.expression->float32 != nullptr;
  return domain == Domain::kInteger && !integers ? Domain::kFloat
         : domain != Domain::kInteger && !floats ? Domain::kInteger
                                                 : domain;
}

Shape ResultShape(const Params& p, Checker* checker) {
  Shape shape;
  if (p.in_place()) shape = ShapeOf(p.out());
  for (const Operand& tensor : p.tensors) {
    if (tensor.role() != OPENACLNN_INPUT) continue;
    Shape common = shape;
    const bool fits = BroadcastShape(tensor, &common);
    if (checker != nullptr) {
      checker->That(fits, [&] {
        return Concat(tensor.name(), " shape is ", ShapeText(tensor),
                      ", expected one that can be broadcast with ",
                      ShapeText(shape.data(), static_cast<uint32_t>(shape.size())));
      });
    }
    if (fits) shape = common;
  }
  return shape;
}

struct Work {
  Walk walk;
  std::vector<size_t> inputs;
  size_t out;
  std::vector<int32_t> dtypes;  // of the inputs, then of the output
};

template <class T>
Plan MakePlan(Work work, Expression::Loop<T> loop, const Params& p) {
  std::vector<T> scalars;
  for (const Value& value : p.values) {
    // A bound that is left out: the first is the lower one.
    using Limits = std::numeric_limits<T>;
    constexpr T kHighest = Limits::has_infinity ? Limits::infinity() : Limits::max();
    constexpr T kLowest = Limits::has_infinity ? -Limits::infinity() : Limits::min();
    scalars.push_back(value.given() ? value.As<T>() : scalars.empty() ? kLowest : kHighest);
  }
  scalars.push_back(T{});  // never an empty array
  std::array<LoadRow<T>, kMaxInputs> load{};
  for (size_t k = 0; k < work.inputs.size(); ++k) load[k] = LoaderOf<T>(work.dtypes[k]);
  const StoreRow<T> store = StorerOf<T>(work.dtypes.back());
  const auto run = [=](const Buffers& buffers) -> Status {
    const size_t count = work.inputs.size();
    Walk::Pointers origins{};
    for (size_t k = 0; k < count; ++k) {
      origins[k] = buffers.As<std::byte>(work.inputs[k]);
    }
    origins[count] = buffers.As<std::byte>(work.out);
    work.walk.ForRuns(origins, [&](const Walk::Pointers& at, int64_t n) {
      alignas(64) T rows[kMaxInputs + 1][Walk::kRun];
      const T* in[kMaxInputs] = {rows[0], rows[1], rows[2]};
      for (size_t k = 0; k < count; ++k) load[k](at[k], work.walk.step(k), n, rows[k]);
      loop(in, scalars.data(), n, rows[kMaxInputs]);
      store(rows[kMaxInputs], n, at[count], work.walk.step(count));
    });
    return {};
  };
  return {0, run};
}

}  // namespace

void CheckElementwise(const Params& p, Checker& checker) {
  const Shape shape = ResultShape(p, &checker);
  if (!checker.ok()) return;
  CheckShape(p.out(), shape, checker);
  const bool floats = ComputeDomain(p) != Domain::kInteger;
  checker.That(p.row.expression->any_out || !floats || Contains(kRealTypes, p.out().dtype()),
               [&] { return DtypeIs(p.out(), "a float type, which the result is of"); });
  for (const Operand& tensor : p.tensors) {
    const bool integral = p.row.expression->float32 == nullptr;
    checker.That(!integral || Contains(kIntegerTypes, tensor.dtype()),
                 [&] { return DtypeIs(tensor, DtypesText(kIntegerTypes)); });
  }
}

Plan PlanElementwise(const Params& p) {
  Work work;
  work.inputs = InputsOf(p);
  std::vector<const Operand*> views;
  for (const size_t i : work.inputs) views.push_back(&p.tensors[i]);
  views.push_back(&p.out());
  work.out = 0;
  while (&p.tensors[work.out] != &p.out()) ++work.out;
  for (const Operand* view : views) work.dtypes.push_back(view->dtype());
  work.walk = Walk(ResultShape(p, nullptr), views);
  // The complement of a truth value is a truth value.
  const Expression* expression = p.row.expression;
  if (expression == &expressions::kBitwiseNot && work.dtypes.front() == ACL_BOOL) {
    expression = &expressions::kLogicalNot;
  }
  switch (ComputeDomain(p)) {
    case Domain::kFloat:
      return MakePlan<float>(std::move(work), expression->float32, p);
    case Domain::kDouble:
      return MakePlan<double>(std::move(work), expression->float64, p);
    case Domain::kInteger:
      break;
  }
  return MakePlan<int64_t>(std::move(work), expression->integer, p);
}

}  // namespace openaclnn::supporting
