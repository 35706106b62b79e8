// SPDX-License-Identifier: Apache-2.0
// The engine of the elementwise operators: load a run, compute, store.
#include "supporting/elementwise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/move/copy.h"
#include "kernels/move/tile.h"
#include "kernels/move/tiled_walk.h"
#include "kernels/work/scratch.h"
#include "supporting/complex.h"
#include "supporting/narrowing.h"
#include "supporting/promotion.h"
#include "supporting/unsigned.h"

namespace openaclnn::supporting {
namespace {

constexpr size_t kMaxInputs = TiledWalk::kMaxInputs;

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

/// The types in which an application computes. It is decided in one pass: a small call asks several
/// times.
struct Meeting {
  bool pairs;     // computes complex numbers: an input or a scalar is one
  Domain met;     // where the inputs and the scalars meet; of complex ones that of their parts
  Domain domain;  // where the expression computes
  bool truths;    // the inputs are BOOL, and so are the scalars that are no factors
};

/// The domain that elements of some types meet in.
Domain DomainOfAll(DtypeSet types) {
  if ((types & Dtypes(ACL_DOUBLE, ACL_COMPLEX128)) != 0) return Domain::kDouble;
  return (types & (kRealTypes | kComplexTypes)) != 0 ? Domain::kFloat : Domain::kInteger;
}

DtypeSet TypesOfInputs(const Params& p, const Application& one) {
  DtypeSet types = 0;
  for (const size_t i : one.inputs) types |= Dtypes(p.tensors[i].dtype());
  return types;
}

/// Where an expression computes what meets in a domain.
Domain ComputedIn(const Expression& expression, Domain met, DtypeSet inputs, int32_t out) {
  if (met != Domain::kInteger) return expression.float32 != nullptr ? met : Domain::kInteger;
  if (expression.integer == nullptr) return Domain::kFloat;
  // Integers that int64_t does not hold are read as doubles for an output that is not of integers.
  const bool is_number = expression.copies || !expression.any_out;
  const bool goes_to_floats = DomainOf(PartOf(out)) != Domain::kInteger;
  return Contains(inputs, ACL_UINT64) && is_number && goes_to_floats ? Domain::kDouble : met;
}

Meeting MeetingOf(const Params& p, const Application& one) {
  const Expression& expression = *one.expression;
  const int32_t out = p.tensors[one.out].dtype();
  const DtypeSet inputs = TypesOfInputs(p, one);
  bool pairs = (inputs & kComplexTypes) != 0, truths = inputs == Dtypes(ACL_BOOL);
  Domain met = DomainOfAll(one.inputs.empty() ? Dtypes(out) : inputs);
  for (const Value& value : one.values) {
    pairs |= value.complex();
    if (!value.given()) continue;
    truths &= value.factor || value.dtype == ACL_BOOL;
    const bool meets = expression.scalars_meet && value.real && !(value.factor && truths);
    if (meets && met == Domain::kInteger) met = Domain::kFloat;
  }
  if (one.element && expression.scalars_meet && met == Domain::kInteger &&
      Contains(kRealTypes, p.tensors[one.element->tensor].dtype())) {
    met = Domain::kFloat;
  }
  return {pairs, met, ComputedIn(expression, met, inputs, out), truths};
}

/// The type that the inputs and the scalars meet in; ACL_DT_UNDEFINED where the pages have none.
int32_t MetTypeOf(const Params& p, const Application& one, Domain domain) {
  int32_t type = p.tensors[one.inputs.empty() ? one.out : one.inputs[0]].dtype();
  for (const size_t i : one.inputs) type = MetType(type, p.tensors[i].dtype());
  for (const Value& value : one.values) {
    if (!value.given() || (value.factor && type == ACL_BOOL)) continue;
    const bool meets = one.expression->scalars_meet && (domain != Domain::kInteger || !value.real);
    if (meets && !one.inputs.empty()) type = MetType(type, value);
  }
  return type;
}

/// The type that scalars are converted to before anything is computed.
int32_t ScalarType(const Application& one, int32_t met, Domain domain) {
  const bool floats = Contains(one.met_by_floats, met) ||
                      (domain == Domain::kFloat && Contains(kIntegerTypes, met));
  return floats && !one.inputs.empty() ? ACL_FLOAT : met;
}

Shape ResultShape(const Params& p, const Application& one, Checker* checker) {
  Shape shape;
  if (p.in_place()) shape = ShapeOf(p.tensors[one.out]);
  for (const size_t i : one.inputs) {
    MeetShape(p.tensors[i], &shape, checker);
  }
  return shape;
}

/// Where the scalar of an application is, if it is an element of a tensor.
struct ScalarPlace {
  size_t tensor;
  int64_t offset;  // bytes
  int32_t dtype;
};

struct Work {
  TiledWalk walk;
  size_t count;  // of the inputs
  std::array<size_t, kMaxInputs> inputs;
  size_t out;
  std::array<int32_t, kMaxInputs + 1> dtypes;  // of the inputs, then of the output
  std::optional<ScalarPlace> scalar = {};
  bool apart = true;                      // the elements of the output
  bool fills = false;                     // one real number, to elements side by side
  int32_t met = ACL_DT_UNDEFINED;         // what inputs become before anything is computed
  int32_t rounded_to = ACL_DT_UNDEFINED;  // what a result becomes before the output's type

  template <class Body>
  void ForRuns(const Walk::Pointers& origins, int64_t longest, const Body& body) const {
    if (apart) return walk.ForRuns(origins, body, longest);
    walk.walk().ForRunsInOrder(origins, body, std::min(longest, Walk::kRun));
  }
};

/// The type that results become on their way to the output: the pages compute in the type that the
/// operands meet in, and convert from it. ACL_DT_UNDEFINED where results have that type anyway.
int32_t RoundedTo(const Work& work, const Expression& expression, int32_t met, Domain domain) {
  constexpr DtypeSet kNarrow = Dtypes(ACL_FLOAT16, ACL_BF16, ACL_INT8, ACL_UINT8, ACL_INT16,
                                      ACL_UINT16, ACL_INT32, ACL_UINT32, ACL_BOOL);
  const bool is_number = !expression.any_out || expression.float32 == nullptr;
  const bool of_kind = Contains(kIntegerTypes, met) == (domain == Domain::kInteger);
  const bool rounds =
      is_number && of_kind && work.count > 0 && met != PartOf(work.dtypes[work.count]);
  return rounds && Contains(kNarrow, met) ? met : ACL_DT_UNDEFINED;
}

std::optional<ScalarPlace> ScalarPlaceOf(const Params& p, const Application& one) {
  if (!one.element) return std::nullopt;
  const Operand& tensor = p.tensors[one.element->tensor];
  const int64_t element = Offsets(tensor, tensor.rank())(one.element->index);
  return ScalarPlace{one.element->tensor, element * BytesOf(tensor), tensor.dtype()};
}

/// The value of a scalar that is left out, as T; an infinity is the last integer.
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

/// The scalars of a call, the first one from a tensor where it is an element of one.
template <class T>
Scalars<T> ScalarsAt(const Work& work, const Buffers& buffers, Scalars<T> known) {
  if (!work.scalar) return known;
  const std::byte* const at = buffers.As<std::byte>(work.scalar->tensor) + work.scalar->offset;
  LoaderOf<T>(work.scalar->dtype)(at, 0, 1, known.data());
  return known;
}

constexpr int64_t kShorts = 65536;  // numbers of a type of 16 bits

/// Whether a table of the results of all numbers is made first. With it 4 Mi elements of BFLOAT16
/// take from a sixth (logarithm) to six tenths (GELU, sigmoid) of the time on one thread of a
/// Zen 5.
bool TakesTable(const Work& work, const Expression& expression) {
  const auto is_short = [&](size_t k) {
    return Contains(Dtypes(ACL_FLOAT16, ACL_BF16), work.dtypes[k]) && work.walk.step(k) == 2;
  };
  return expression.costly && !work.scalar && work.count == 1 && work.walk.count() >= 4 * kShorts &&
         is_short(0) && is_short(1) && work.rounded_to == ACL_DT_UNDEFINED;
}

/// Looks results up in a table that the expression's loop fills first.
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
    work.ForRuns(origins, work.walk.count(), [table](const Walk::Pointers& at, int64_t n) {
      const auto* const in = reinterpret_cast<const uint16_t*>(at[0]);
      auto* const out = reinterpret_cast<uint16_t*>(at[1]);
      for (int64_t i = 0; i < n; ++i) out[i] = table[in[i]];
    });
    return {};
  };
  return {ScratchBytes(kShorts * sizeof(uint16_t)), run};
}

/// Writes the number of an expression without inputs to elements side by side. It is converted
/// once: 4 Mi truth values take 0.3 ms, a conversion of each took 1.0.
template <class T>
Plan MakeFillPlan(const Work& work, Expression::Loop<T> loop, const Scalars<T>& known) {
  const StoreRow<T> store = WholeStorerOf<T>(work.dtypes[0]);
  const int64_t bytes = work.walk.step(0);
  return {0, [=](const Buffers& buffers) -> Status {
            const Scalars<T> scalars = ScalarsAt(work, buffers, known);
            T number;
            loop(nullptr, scalars.data(), 1, &number);
            std::array<std::byte, sizeof(int64_t)> element;
            store(&number, 1, element.data(), bytes);
            const Walk::Pointers origins{buffers.As<std::byte>(work.out)};
            work.ForRuns(origins, work.walk.count(), [&](const Walk::Pointers& at, int64_t n) {
              CopyRectangle({element.data(), 0, 0}, {at[0], 0, bytes}, 1, n, bytes);
            });
            return {};
          }};
}

template <class T>
Plan MakePlan(const Work& work, const Expression& expression, Expression::Loop<T> loop,
              const ShortVector<Value, 4>& values) {
  const auto known = ScalarsOf<T>(expression, values);
  const size_t count = work.count;
  if (work.fills) return MakeFillPlan<T>(work, loop, known);
  std::array<LoadRow<T>, kMaxInputs> load{};  // none where the loop reads the view itself
  const auto dense = [&](size_t k) {
    return work.dtypes[k] == kTypeOf<T> && work.walk.step(k) == sizeof(T);
  };
  // Parts of a complex output: results are real ones, and imaginary ones are 0.
  const int32_t part = PartOf(work.dtypes[count]);
  const int64_t imaginary = ImaginaryAt(work.dtypes[count]);
  for (size_t k = 0; k < count; ++k) {
    if (!dense(k)) load[k] = MetLoaderOf<T>(work.dtypes[k], work.met, part);
  }
  const Narrowing<T> round(work.rounded_to);
  const StoreRow<T> store = dense(count) && !round.does() ? nullptr : WholeStorerOf<T>(part);
  const bool direct =
      store == nullptr && std::ranges::all_of(load, [](auto* each) { return each == nullptr; });
  const int64_t longest = direct ? work.walk.count() : Walk::kRun;  // of what no row must hold
  const auto run = [=](const Buffers& buffers) -> Status {
    const Scalars<T> scalars = ScalarsAt(work, buffers, known);
    Walk::Pointers origins{};
    for (size_t k = 0; k < count; ++k) {
      origins[k] = buffers.As<std::byte>(work.inputs[k]);
    }
    origins[count] = buffers.As<std::byte>(work.out);
    work.ForRuns(origins, longest, [&](const Walk::Pointers& at, int64_t n) {
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
      round(rows[kMaxInputs], n);
      store(rows[kMaxInputs], n, at[count], work.walk.step(count));
      if (imaginary == 0) return;
      std::fill_n(rows[kMaxInputs], n, T{0});
      store(rows[kMaxInputs], n, at[count] + imaginary, work.walk.step(count));
    });
    return {};
  };
  return {0, run};
}

/// Computes in pairs of doubles; `parts` is where the parts of the operands meet. Where they meet
/// in COMPLEX64, operands and results are of that type first.
Plan MakePairPlan(const Params& p, const Application& one, const Work& work, Domain parts) {
  const int32_t met = parts == Domain::kDouble ? ACL_COMPLEX128 : ACL_COMPLEX64;
  std::vector<LoadPairs> load;
  std::array<LoadRow<double>, kMaxInputs> through{};  // of integers that FLOAT does not hold
  for (const size_t i : one.inputs) {
    if (met == ACL_COMPLEX64) {
      through[load.size()] = ThroughLoaderOf<double, ACL_FLOAT>(p.tensors[i].dtype());
    }
    load.emplace_back(p.tensors[i]);
  }
  // An output of FLOAT parts rounds results by itself.
  const bool rounds = !one.expression->any_out && !one.inputs.empty() && met == ACL_COMPLEX64 &&
                      PartOf(p.tensors[one.out].dtype()) != ACL_FLOAT;
  const Narrowing<double> round(rounds ? ACL_FLOAT : ACL_DT_UNDEFINED);
  std::array<Pair, std::tuple_size_v<Scalars<double>>> scalars{};
  for (size_t i = 0; i < one.values.size(); ++i) {
    const Value value = one.inputs.empty() ? one.values[i] : one.values[i].In(met);
    scalars[i] = value.given() ? Pair(value.number, value.imaginary) : one.expression->absent[i];
  }
  return {0,
          [=, loop = *one.expression->pairs,
           store = StorePairs(p.tensors[one.out])](const Buffers& buffers) -> Status {
            const size_t count = load.size();
            Walk::Pointers origins{};
            for (size_t k = 0; k < count; ++k) origins[k] = buffers.As<std::byte>(work.inputs[k]);
            origins[count] = buffers.As<std::byte>(work.out);
            work.ForRuns(origins, kPairRun, [&](const Walk::Pointers& at, int64_t n) {
              Pair rows[kMaxInputs][kPairRun];
              const Pair* const in[kMaxInputs] = {rows[0], rows[1], rows[2]};
              for (size_t k = 0; k < count; ++k) {
                if (through[k] == nullptr) {
                  load[k](at[k], work.walk.step(k), n, rows[k]);
                } else {
                  double parts[kPairRun];
                  through[k](at[k], work.walk.step(k), n, parts);
                  std::copy_n(parts, n, rows[k]);
                }
              }
              loop(in, scalars.data(), n, rows[0]);
              round(reinterpret_cast<double*>(rows[0]), 2 * n);
              store(rows[0], n, at[count], work.walk.step(count));
            });
            return {};
          }};
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

/// Checks that there is a loop over complex numbers, and that the output takes its results.
void CheckPairs(const Params& p, const Application& one, Checker& checker) {
  const Expression& expression = *one.expression;
  if (expression.pairs == nullptr) {
    for (const size_t i : one.inputs) {
      checker.That(!IsComplex(p.tensors[i]),
                   [&] { return DtypeIs(p.tensors[i], DtypesText(kNumericTypes)); });
    }
  }
  for (const Value& value : one.values) {
    // A number that is filled in becomes a real one as it is.
    const bool whole = expression.inputs == 0 && value.imaginary == 0;
    const bool takes = expression.pairs != nullptr &&
                       (expression.inputs > 0 || whole || IsComplex(p.tensors[one.out]));
    checker.That(!value.complex() || takes, [&] {
      return Concat(value.name, " dtype is ", DtypeText(value.dtype), ", expected a real type");
    });
  }
  const Operand& out = p.tensors[one.out];
  if (expression.real_of_pairs) {
    checker.That(Contains(kRealTypes, out.dtype()), [&] {
      const int32_t part = PartOf(p.tensors[one.inputs[0]].dtype());
      return DtypeIs(out, Concat(DtypeText(part), " or another float type"));
    });
    return;
  }
  checker.That(expression.any_out || IsComplex(out),
               [&] { return DtypeIs(out, DtypesText(kComplexTypes)); });
}

/// Checks the types of an expression over integers alone.
void CheckWhole(const Params& p, const Application& one, Checker& checker) {
  const DtypeSet whole = kWholeTypes & p.row.dtypes;
  for (const size_t i : one.inputs) {
    checker.That(Contains(whole, p.tensors[i].dtype()),
                 [&] { return DtypeIs(p.tensors[i], DtypesText(whole)); });
  }
  // Results beyond 2^63 are negative numbers of int64_t: only integers get the same bits.
  const Operand& out = p.tensors[one.out];
  const bool beyond = Contains(TypesOfInputs(p, one), ACL_UINT64);
  checker.That(!beyond || Contains(whole, out.dtype()),
               [&] { return DtypeIs(out, DtypesText(whole)); });
}

}  // namespace

void CheckApplication(const Params& p, const Application& one, Checker& checker) {
  const Operand& out = p.tensors[one.out];
  const Shape shape = ResultShape(p, one, &checker);
  if (!checker.ok()) return;
  CheckShape(out, shape, checker);
  for (const size_t i : one.inputs) {
    const Operand& in = p.tensors[i];
    if (!Contains(kMovableTypes, in.dtype()) || !Contains(kMovableTypes, out.dtype())) {
      checker.SameDtype(in, out);
    }
  }
  CheckMeeting(p, std::span(one.inputs.data(), one.inputs.size()), checker);
  const Meeting meeting = MeetingOf(p, one);
  for (const Value& value : one.values) {
    checker.That(!(meeting.truths && value.factor && value.real), [&] {
      return Concat(value.name, " dtype is ", DtypeText(value.dtype),
                    ", expected BOOL or a type of integers for numbers of BOOL");
    });
  }
  if (meeting.pairs) CheckPairs(p, one, checker);
  const bool floats = meeting.domain != Domain::kInteger;
  checker.That(
      one.expression->any_out || !floats || Contains(kRealTypes | kComplexTypes, out.dtype()),
      [&] { return DtypeIs(out, "a float type, which the result is of"); });
  if (one.expression->float32 == nullptr) CheckWhole(p, one, checker);
}

Plan PlanApplication(const Params& p, const Application& one) {
  const size_t count = one.inputs.size();
  std::array<const Operand*, kMaxInputs + 1> views{};
  for (size_t k = 0; k < count; ++k) views[k] = &p.tensors[one.inputs[k]];
  views[count] = &p.tensors[one.out];
  Work work = {TiledWalk(ShapeOf(*views[count]), std::span(views.data(), count + 1)),
               count,
               {},
               one.out,
               {}};
  work.scalar = ScalarPlaceOf(p, one);
  if (count == 0) {
    const Operand& out = *views[count];
    work.walk = TiledWalk(WalkOfOneValue(out, &work.apart));
    work.fills = work.walk.step(0) == BytesOf(out) && !IsComplex(out);
  }
  for (size_t k = 0; k < count; ++k) work.inputs[k] = one.inputs[k];
  for (size_t k = 0; k <= count; ++k) work.dtypes[k] = views[k]->dtype();
  const bool truths = work.dtypes.front() == ACL_BOOL;
  const Expression* expression = one.expression;
  if (truths && expression->of_truths != nullptr) expression = expression->of_truths;
  const bool unsigned64 = work.dtypes.front() == ACL_UINT64;
  if (unsigned64 && expression->of_unsigned != nullptr) expression = expression->of_unsigned;
  // A truth value may be stored as any byte but 0, and is copied as 1.
  if (expression->copies && !truths && work.dtypes[0] == work.dtypes[1]) {
    return PlanMove(p, one);
  }
  const Meeting meeting = MeetingOf(p, one);
  if (meeting.pairs) return MakePairPlan(p, one, work, meeting.met);
  const int32_t met = MetTypeOf(p, one, meeting.domain);
  const int32_t scalar_type = ScalarType(one, met, meeting.domain);
  ShortVector<Value, 4> values;
  for (const Value& value : one.values) values.push_back(value.In(scalar_type));
  work.met = met;
  work.rounded_to = RoundedTo(work, *expression, met, meeting.domain);
  switch (meeting.domain) {
    case Domain::kFloat:
      if (TakesTable(work, *expression)) return MakeTablePlan(work, *expression, values);
      return MakePlan<float>(work, *expression, expression->float32, values);
    case Domain::kDouble:
      return MakePlan<double>(work, *expression, expression->float64, values);
    case Domain::kInteger:
      break;
  }
  return MakePlan<int64_t>(work, *expression, expression->integer, values);
}

void CheckElementwise(const Params& p, Checker& checker) {
  CheckApplication(p, ApplicationOf(p), checker);
}

Plan PlanElementwise(const Params& p, const Product&) {
  return PlanApplication(p, ApplicationOf(p));
}

}  // namespace openaclnn::supporting
