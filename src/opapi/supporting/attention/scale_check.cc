// SPDX-License-Identifier: Apache-2.0
// Inference with INT8 operands and results: what factors and offsets have to be.
#include <algorithm>
#include <string_view>

#include "supporting/attention/infer_keys.h"
#include "supporting/attention/infer_scales.h"
#include "supporting/attention/scale_shape.h"

namespace openaclnn::supporting {
namespace {

bool IsInt8(const Tensor& tensor) { return tensor.dtype() == ACL_INT8; }

void CheckGiven(const Tensor& tensor, bool wanted, const char* why, Checker& checker) {
  checker.That(tensor.present() == wanted, [&] {
    return Concat(tensor.name(), " value is ", tensor.present() ? "a tensor" : "null",
                  ", expected ", wanted ? "one" : "null", ": ", why);
  });
}

/// Tensors that the operator does not have are absent, and cannot be asked for.
void CheckNone(std::initializer_list<const Tensor*> tensors, const char* why, Checker& checker) {
  for (const Tensor* tensor : tensors) CheckGiven(*tensor, false, why, checker);
}

/// If the query is INT8.
void CheckAllInt8(const InferArguments& of, Checker& checker) {
  const InferScales& s = of.scales;
  constexpr const char* kWhy = "query is INT8";
  CheckNone({&s.both, &s.both_offset, &s.k_offset, &s.v_offset}, kWhy, checker);
  if (of.q_rope.present()) {
    for (const Tensor* tensor : {&s.q, &s.k, &s.v}) {
      CheckGiven(*tensor, true, "query is INT8 and has a rope", checker);
    }
    CheckNone({&s.scores, &s.weights, &s.values, &s.out, &s.out_offset},
              "query is INT8 and has a rope", checker);
    checker.That(of.out.dtype() == ACL_BF16, [&] { return DtypeIs(of.out, "BFLOAT16"); });
    return;
  }
  CheckNone({&s.q, &s.k, &s.v}, "query is INT8 and has no rope", checker);
  for (const Tensor* tensor : {&s.scores, &s.weights, &s.values}) {
    CheckGiven(*tensor, true, kWhy, checker);
  }
  checker.That(IsInt8(of.out) || of.out.dtype() == ACL_FLOAT16,
               [&] { return DtypeIs(of.out, "INT8, FLOAT16"); });
}

/// If keys and values are INT8 and the query is not, or none is.
void CheckSomeInt8(const InferArguments& of, Checker& checker) {
  const InferScales& s = of.scales;
  CheckNone({&s.scores, &s.weights, &s.values, &s.q}, "query is not INT8", checker);
  checker.That(IsInt8(of.out) || of.out.dtype() == of.query.dtype(), [&] {
    return DtypeIs(of.out, Concat("INT8, or ", DtypeText(of.query.dtype()), " as of query"));
  });
  if (!IsInt8(of.key)) {
    CheckNone({&s.both, &s.both_offset, &s.k, &s.k_offset, &s.v, &s.v_offset}, "key is not INT8",
              checker);
    return;
  }
  const auto together = [&](const Tensor& a, const Tensor& b) {
    checker.That(a.present() == b.present(), [&] {
      return Concat(b.name(), " value is ", b.present() ? "a tensor" : "null", ", expected what ",
                    a.name(), " is: both or none");
    });
  };
  together(s.k, s.v);
  together(s.k_offset, s.v_offset);
  checker.That(s.k.present() || s.both.present(), [&] {
    return Concat(of.key.name(), " dtype is INT8, expected that of query, ",
                  DtypeText(of.query.dtype()), ", as there are no factors of keys and values");
  });
  // Those of key and value count if both kinds are given.
  if (!s.k.present()) CheckNone({&s.k_offset, &s.v_offset}, "there are no factors of key", checker);
  if (!s.both.present()) {
    CheckNone({&s.both_offset}, "there are no factors of key and value", checker);
  }
}

/// Factors of products are one number each.
void CheckOne(const Tensor& tensor, Checker& checker) {
  if (!tensor.present()) return;
  checker.That(tensor.dtype() == ACL_FLOAT, [&] { return DtypeIs(tensor, "FLOAT"); });
  checker.That(tensor.count() == 1, [&] {
    return Concat(tensor.name(), " shape is ", ShapeText(tensor), ", expected one element");
  });
}

void CheckMode(int64_t mode, const char* name, int64_t most, Checker& checker) {
  checker.That(mode >= 0 && mode <= most, [&] {
    return Concat(name, " value is ", mode, ", expected 0 to ", most, " as key is INT8");
  });
}

/// Checks factors or offsets of key or value; `half` as in InferScaling.
void CheckNumbers(const InferCall& call, const Tensor& tensor, bool halves, bool of_key,
                  ScaleMode mode, Checker& checker) {
  if (!tensor.present() || !checker.ok()) return;
  const bool by_row = mode != ScaleMode::kChannel && mode != ScaleMode::kHead;
  const int32_t wanted = by_row ? ACL_FLOAT : call.of.query.dtype();
  checker.That(tensor.dtype() == wanted, [&] { return DtypeIs(tensor, DtypeText(wanted)); });
  const ScaleSizes sizes = SizesOf(call, of_key);
  AttentionNumbers numbers;
  const bool led = !halves || (tensor.rank() > 0 && tensor.dim(0) == 2);
  checker.That(led && Belongs(AxesOf(tensor, halves ? 1 : 0), mode, sizes, &numbers), [&] {
    return Concat(tensor.name(), " shape is ", ShapeText(tensor), ", expected ",
                  halves ? "2, then " : "", ShapesOf(mode, sizes));
  });
  checker.That(numbers.element_step == 0 || sizes.width <= kAttentionScaled, [&] {
    return Concat(of_key ? "key" : "value", " width of heads is ", sizes.width,
                  ", expected at most ", kAttentionScaled, " beside ", tensor.name());
  });
  checker.That(!by_row || !call.fronted, [&] {
    return Concat(tensor.name(), " value is a number for each row, expected another mode beside ",
                  call.of.k_front.name());
  });
  checker.That(mode < ScaleMode::kPage || call.paged, [&] {
    return Concat(tensor.name(), " value is a number for each row of blocks, expected another ",
                  "mode without a block table");
  });
}

void CheckKeys(const InferCall& call, Checker& checker) {
  const InferArguments& of = call.of;
  const InferScales& s = of.scales;
  CheckBeside(s.k.present() ? s.k : s.both, call.layout.packed(), "packed sequences", checker);
  CheckBeside(s.k.present() ? s.k : s.both, call.roped, of.q_rope.name(), checker);
  if (!s.k.present()) {
    CheckMode(s.both_mode, "antiquantMode", 1, checker);
    const auto mode = static_cast<ScaleMode>(s.both_mode);
    for (const Tensor* tensor : {&s.both, &s.both_offset}) {
      for (const bool of_key : {true, false}) {
        CheckNumbers(call, *tensor, true, of_key, mode, checker);
      }
    }
    return;
  }
  CheckMode(s.k_mode, "keyAntiquantMode", 5, checker);
  CheckMode(s.v_mode, "valueAntiquantMode", 5, checker);
  checker.That(s.k_mode == s.v_mode || (s.k_mode == 0 && s.v_mode == 1), [&] {
    return Concat("valueAntiquantMode value is ", s.v_mode, ", expected keyAntiquantMode, ",
                  s.k_mode, s.k_mode == 0 ? ", or 1" : "");
  });
  for (const Tensor* tensor : {&s.k, &s.k_offset}) {
    CheckNumbers(call, *tensor, false, true, static_cast<ScaleMode>(s.k_mode), checker);
  }
  for (const Tensor* tensor : {&s.v, &s.v_offset}) {
    CheckNumbers(call, *tensor, false, false, static_cast<ScaleMode>(s.v_mode), checker);
  }
}

/// Checks INT8 operands with a rope: a factor for each row of query, and one for all keys and
/// values.
void CheckRoped(const InferCall& call, Checker& checker) {
  const InferScales& s = call.of.scales;
  checker.That(s.q.dtype() == ACL_FLOAT, [&] { return DtypeIs(s.q, "FLOAT"); });
  AttentionNumbers numbers;
  checker.That(BelongsToRows(s.q, call, &numbers), [&] {
    return Concat(s.q.name(), " shape is ", ShapeText(s.q), ", expected that of query, ",
                  ShapeText(call.of.query), ", with its heads and without their elements");
  });
  CheckOne(s.k, checker);
  CheckOne(s.v, checker);
  checker.That(s.q_mode == 3, [&] {
    return Concat("queryQuantMode value is ", s.q_mode, ", expected 3 as query is INT8");
  });
  checker.That(s.k_mode == 0 && s.v_mode == 0, [&] {
    return Concat(s.k_mode != 0 ? "key" : "value", "AntiquantMode value is ",
                  s.k_mode != 0 ? s.k_mode : s.v_mode, ", expected 0 as query is INT8");
  });
  CheckBeside(s.q, call.of.sums.present() && call.of.wants_sums, call.of.sums.name(), checker);
}

void CheckProducts(const InferCall& call, Checker& checker) {
  const InferArguments& of = call.of;
  const InferScales& s = of.scales;
  for (const Tensor* tensor : {&s.scores, &s.weights, &s.values}) CheckOne(*tensor, checker);
  CheckBeside(s.scores, call.layout.packed(), "packed sequences", checker);
  CheckBeside(s.scores, call.paged, of.table.name(), checker);
  CheckBeside(s.scores, call.fronted, of.k_front.name(), checker);
  checker.That(call.q.rows > 1, [&] {
    return Concat(of.query.name(), " dtype is INT8, expected another one for one row");
  });
}

void CheckResult(const InferCall& call, Checker& checker) {
  const InferArguments& of = call.of;
  const InferScales& s = of.scales;
  const bool wide = of.query.dtype() == ACL_BF16;
  checker.That(s.out.dtype() == ACL_FLOAT || (wide && s.out.dtype() == ACL_BF16),
               [&] { return DtypeIs(s.out, wide ? "FLOAT, BFLOAT16" : "FLOAT"); });
  CheckBeside(s.out, call.layout.packed(), "packed sequences", checker);
  CheckBeside(s.out, call.roped, of.q_rope.name(), checker);
  AttentionNumbers numbers;
  const ScaleSizes sizes = SizesOfResult(call);
  checker.That(Belongs(AxesOf(s.out, 0), ScaleMode::kChannel, sizes, &numbers), [&] {
    return Concat(s.out.name(), " shape is ", ShapeText(s.out), ", expected ",
                  ShapesOf(ScaleMode::kChannel, sizes));
  });
  if (!s.out_offset.present()) return;
  checker.SameShapeAndDtype(s.out_offset, s.out);
  // The page refuses rows that are not computed beside an offset.
  if (!checker.ok()) return;
  const std::vector<AttentionSequence> sequences = call.Sequences();
  const bool all = std::all_of(sequences.begin(), sequences.end(),
                               [](const auto& each) { return each.keys > 0 || each.rows == 0; });
  checker.That(all, [&] {
    return Concat(s.out_offset.name(), " value is a tensor, expected null where rows of query ",
                  "see no key");
  });
}

}  // namespace

void CheckScaledTypes(const InferArguments& of, Checker& checker) {
  if (IsInt8(of.query)) {
    checker.SameDtype(of.key, of.query);
  } else {
    CheckType(of.query, checker);
    checker.That(IsInt8(of.key) || of.key.dtype() == of.query.dtype(), [&] {
      return DtypeIs(of.key, Concat("INT8, or ", DtypeText(of.query.dtype()), " as of query"));
    });
  }
  checker.SameDtype(of.value, of.key);
  if (!checker.ok()) return;
  IsInt8(of.query) ? CheckAllInt8(of, checker) : CheckSomeInt8(of, checker);
  const InferScales& s = of.scales;
  checker.That(IsInt8(of.out) == s.out.present(), [&] {
    return Concat(s.out.present() ? of.out.name() : of.out.name(), " dtype is ",
                  DtypeText(of.out.dtype()), ", expected ",
                  s.out.present() ? "INT8 beside " : "another one without ",
                  s.out.present() ? s.out.name() : "a factor of the result");
  });
  if (!s.out.present()) CheckNone({&s.out_offset}, "there is no factor of the result", checker);
}

void CheckScales(const InferCall& call, Checker& checker) {
  const InferArguments& of = call.of;
  if (IsInt8(of.query)) {
    call.roped ? CheckRoped(call, checker) : CheckProducts(call, checker);
  } else if (IsInt8(of.key)) {
    CheckKeys(call, checker);
  }
  if (of.scales.out.present() && checker.ok()) CheckResult(call, checker);
}

}  // namespace openaclnn::supporting
