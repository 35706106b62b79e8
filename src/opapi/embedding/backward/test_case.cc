// SPDX-License-Identifier: Apache-2.0
// Data, calls and reference of EmbeddingDenseBackward's tests.
#include "embedding/backward/test_case.h"

#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

#include "embedding/backward/reference.h"
#include "tests/support/numbers.h"
#include "tests/support/tables.h"

namespace openaclnn::test::embedding::backward {
namespace {

Dims With(Dims dims, int64_t last) {
  dims.push_back(last);
  return dims;
}

bool IsFloating(aclDataType dtype) {
  return dtype == ACL_FLOAT || dtype == ACL_FLOAT16 || dtype == ACL_DOUBLE;
}

/// Adds fractions to row numbers, or makes -0.5 of row 0; truncation removes these again. A number
/// that would round to the next row in its type keeps no fraction.
void AddFractions(Random& random, aclDataType dtype, std::vector<double>* rows) {
  std::vector<double> with(*rows);
  for (double& row : with) {
    const double fraction = static_cast<double>(Uniform(random, 0, 3)) / 4;
    row = row == 0 && fraction > 0.5 ? -0.5 : row + fraction;
  }
  const std::vector<double> stored = ToDoubles(dtype, ToBytes(dtype, with));
  for (size_t i = 0; i < stored.size(); ++i) {
    if (std::trunc(stored[i]) == (*rows)[i]) (*rows)[i] = with[i];
  }
}

}  // namespace

const std::vector<Case>& Room::Cases() {
  static const std::vector<Case> cases = {
#include "embedding/backward/cases.inc"
  };
  return cases;
}

Planned Plan(const Spec& spec) {
  const TensorHandle grad(spec.grad), indices(spec.indices), out(spec.out);
  return Planned::Plan([&](uint64_t* workspace_size, aclOpExecutor** executor) {
    return aclnnEmbeddingDenseBackwardGetWorkspaceSize(
        grad.get(), indices.get(), spec.num_weights, spec.padding_idx, spec.scale, out.get(),
        spec.null_workspace_size ? nullptr : workspace_size,
        spec.null_executor ? nullptr : executor);
  });
}

Case Room::Random() {
  Case shape{"", kSmoke, {}, 0, 0, 0, *rc::gen::arbitrary<bool>(), kUniformRows};
  const int rank = *rc::gen::inRange(0, 8);
  const int64_t tokens = *rc::gen::element(0, 1, 5, 64, 65, 300, 1100, 2500);
  int64_t left = tokens;
  for (int axis = 0; axis < rank; ++axis) {
    const int64_t dim = axis + 1 == rank ? left : *rc::gen::inRange<int64_t>(1, 4);
    shape.index_dims.push_back(dim);
    left = std::max<int64_t>(left / std::max<int64_t>(dim, 1), tokens > 0 ? 1 : 0);
  }
  shape.width = tokens > 1000 ? *rc::gen::inRange(0, 40)
                              : *rc::gen::element(0, 1, 2, 15, 16, 17, 31, 48, 100, 1024, 1050);
  shape.num_weights = *rc::gen::element<uint64_t>(1, 2, 3, 5, 100, 700);
  shape.padding_idx = *rc::gen::element<uint64_t>(0, 1, shape.num_weights - 1, shape.num_weights,
                                                  UINT32_MAX, kNoPadding, uint64_t{1} << 63);
  shape.rows = *rc::gen::element(kUniformRows, kZipfRows, kAscendingRows);
  return shape;
}

Problem Room::Make(const Case& shape, uint64_t variant, const Fill& fill) {
  const aclDataType out = kFloatDtypes[(variant + variant / 3) % 3];
  // INT64 first.
  const size_t index = (variant / 9 + 4) % kIndexDtypes.size();
  return Problem(shape, {TypeOf(variant), kIndexDtypes[index], out}, fill);
}

Problem::Problem(const Case& shape, const Types& types, const Fill& fill)
    : OperatorProblem(kApi, aclnnEmbeddingDenseBackward),
      grad(PlaceTensor(fill.seed, types.grad, With(shape.index_dims, shape.width), fill.strided,
                       fill.repeats)),
      indices(
          PlaceTensor(fill.seed + 1, types.indices, shape.index_dims, fill.strided, fill.repeats)),
      out(PlaceTensor(fill.seed + 2, types.out,
                      {static_cast<int64_t>(shape.num_weights), shape.width}, fill.strided, false)),
      case_(shape) {
  Random random(fill.seed);
  SetGrad(RandomValues(random, grad.layout().count(), fill.values));
  const int64_t limit =
      std::min(static_cast<int64_t>(shape.num_weights), LargestRow(types.indices) + 1);
  const auto rows = RandomRows(random, indices.layout().count(), limit, shape.rows);
  std::vector<double> values(rows.begin(), rows.end());
  if (IsFloating(types.indices)) AddFractions(random, types.indices, &values);
  SetIndices(values);
}

std::vector<CallOperand> Problem::operands() const {
  return {{"grad", 0, &grad}, {"indices", 1, &indices}, {"out", 2, &out, CallOperand::kOutput}};
}

Planned Problem::Plan() const {
  return Planned::Plan([&](uint64_t* workspace_size, aclOpExecutor** executor) {
    return aclnnEmbeddingDenseBackwardGetWorkspaceSize(
        grad.handle(), indices.handle(), case_.num_weights, case_.padding_idx, case_.scale,
        out.handle(), workspace_size, executor);
  });
}

ReferenceSums Problem::Reference() const {
  namespace room = openaclnn::embedding::backward;
  const std::vector<double> dy = ValuesOf(grad);
  std::vector<int64_t> idx;
  for (const double value : ValuesOf(indices)) {
    idx.push_back(static_cast<int64_t>(value));
  }
  const std::vector<double> magnitude = Magnitudes(dy);
  const room::ReferenceSizes sizes = {dy.empty() ? 0 : static_cast<int64_t>(idx.size()),
                                      case_.width, case_.num_weights, case_.padding_idx,
                                      case_.scale};
  const auto outputs = static_cast<size_t>(out.layout().count());
  ReferenceSums sums{std::vector<double>(outputs), std::vector<double>(outputs), {}};
  std::vector<int64_t> hits(case_.num_weights);
  room::Reference(sizes, magnitude.data(), idx.data(), sums.magnitude.data(), hits.data());
  room::Reference(sizes, dy.data(), idx.data(), sums.value.data(), hits.data());
  for (size_t i = 0; i < outputs; ++i) {
    sums.terms.push_back(hits[i / static_cast<size_t>(case_.width)]);
  }
  return sums;
}

testing::AssertionResult Problem::OutputsAreRight() const { return AreSums(out, Reference()); }

}  // namespace openaclnn::test::embedding::backward
