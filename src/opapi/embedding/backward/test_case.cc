// SPDX-License-Identifier: Apache-2.0
// Data, calls and reference of EmbeddingDenseBackward's tests.
#include "embedding/backward/test_case.h"

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

/// Rows that the index type can name, up to this.
int64_t LargestRow(aclDataType dtype) {
  switch (dtype) {
    case ACL_BOOL:
      return 1;
    case ACL_INT8:
      return INT8_MAX;
    case ACL_UINT8:
      return UINT8_MAX;
    case ACL_INT16:
      return INT16_MAX;
    case ACL_FLOAT16:
      return 2048;
    default:
      return int64_t{1} << 24;
  }
}

bool IsFloating(aclDataType dtype) {
  return dtype == ACL_FLOAT || dtype == ACL_FLOAT16 || dtype == ACL_DOUBLE;
}

/// Fractions, and -0.5 for row 0, that truncation takes away again; where rounding to the type
/// would carry into the next row there is none.
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

Layout Place(Random& random, const Dims& dims, bool strided, bool may_repeat) {
  return strided ? RandomLayout(random, dims, may_repeat) : DenseLayout(dims);
}

/// Half of the strided tensors end some bytes before their memory does.
size_t After(Random& random, bool strided) {
  return strided ? static_cast<size_t>(16 * Uniform(random, 0, 1)) : 0;
}

DeviceTensor Make(uint64_t seed, aclDataType dtype, const Dims& dims, bool strided,
                  bool may_repeat) {
  Random random(seed);
  const Layout layout = Place(random, dims, strided, may_repeat);
  return DeviceTensor(dtype, layout, After(random, strided));
}

}  // namespace

const std::vector<Case>& Cases() {
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

Problem::Problem(const Case& shape, const Types& types, const Options& options)
    : grad(Make(options.seed, types.grad, With(shape.index_dims, shape.width), options.strided,
                true)),
      indices(Make(options.seed + 1, types.indices, shape.index_dims, options.strided, true)),
      out(Make(options.seed + 2, types.out, {static_cast<int64_t>(shape.num_weights), shape.width},
               options.strided, false)),
      case_(shape) {
  Random random(options.seed);
  SetGrad(RandomValues(random, grad.layout().count(), options.values));
  const int64_t limit =
      std::min(static_cast<int64_t>(shape.num_weights), LargestRow(types.indices) + 1);
  const auto rows = RandomRows(random, indices.layout().count(), limit, shape.rows);
  std::vector<double> values(rows.begin(), rows.end());
  if (IsFloating(types.indices)) AddFractions(random, types.indices, &values);
  SetIndices(values);
}

void Problem::SetGrad(const std::vector<double>& values) {
  grad.Write(ToBytes(grad.dtype(), values));
}

void Problem::SetIndices(const std::vector<double>& values) {
  indices.Write(ToBytes(indices.dtype(), values));
}

Planned Problem::Plan() const {
  return Planned::Plan([&](uint64_t* workspace_size, aclOpExecutor** executor) {
    return aclnnEmbeddingDenseBackwardGetWorkspaceSize(
        grad.handle(), indices.handle(), case_.num_weights, case_.padding_idx, case_.scale,
        out.handle(), workspace_size, executor);
  });
}

Outcome Problem::Run(const Device& device) const {
  return Execute(device, Plan(), aclnnEmbeddingDenseBackward);
}

ReferenceSums Problem::Reference() const {
  namespace room = openaclnn::embedding::backward;
  const std::vector<double> dy = ToDoubles(grad.dtype(), grad.Read());
  std::vector<int64_t> idx;
  for (const double value : ToDoubles(indices.dtype(), indices.Read())) {
    idx.push_back(static_cast<int64_t>(value));
  }
  std::vector<double> magnitude(dy.size());
  std::transform(dy.begin(), dy.end(), magnitude.begin(), [](double v) { return std::abs(v); });
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

testing::AssertionResult Problem::IsRight() const {
  if (const std::string change = grad.Change(); !change.empty()) {
    return testing::AssertionFailure() << "grad was written: " << change;
  }
  if (const std::string change = indices.Change(); !change.empty()) {
    return testing::AssertionFailure() << "indices was written: " << change;
  }
  if (const std::string damage = out.Damage(); !damage.empty()) {
    return testing::AssertionFailure() << "beside out: " << damage;
  }
  const ReferenceSums sums = Reference();
  const std::vector<double> got = ToDoubles(out.dtype(), out.Read());
  for (size_t i = 0; i < got.size(); ++i) {
    if (sums.terms[i] == 0 && (got[i] != 0 || std::signbit(got[i]))) {
      return testing::AssertionFailure() << "element " << i << " of a row without hits is not +0";
    }
  }
  return AreWithin(out.dtype(), got, sums);
}

int64_t LeastBytes(const Case& shape, const Types& types) {
  const auto size = [](aclDataType dtype) { return static_cast<int64_t>(aclDataTypeSize(dtype)); };
  const int64_t tokens = CountOf(shape.index_dims);
  return tokens * (size(types.indices) + shape.width * size(types.grad)) +
         static_cast<int64_t>(shape.num_weights) * shape.width * size(types.out);
}

}  // namespace openaclnn::test::embedding::backward
