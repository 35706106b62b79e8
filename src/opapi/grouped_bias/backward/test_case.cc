// SPDX-License-Identifier: Apache-2.0
// Data, calls and reference of GroupedBiasAddGrad's tests.
#include "grouped_bias/backward/test_case.h"

#include <rapidcheck.h>

#include <algorithm>
#include <numeric>

#include "grouped_bias/backward/reference.h"
#include "tests/support/numbers.h"

namespace openaclnn::test::grouped_bias::backward {
namespace {

std::vector<int64_t> MakeEnds(Random& random, const Case& shape) {
  std::vector<int64_t> ends(static_cast<size_t>(shape.groups));
  for (size_t j = 0; j < ends.size(); ++j) {
    const auto before = static_cast<int64_t>(j);
    ends[j] = shape.how == kNoList        ? (before + 1) * shape.rows
              : shape.how == kEvenGroups  ? (before + 1) * shape.rows / shape.groups
              : shape.how == kFirstHasAll ? shape.rows
              : shape.how == kLastHasAll  ? 0
                                          : Uniform(random, 0, shape.rows);
  }
  std::sort(ends.begin(), ends.end());
  if (!ends.empty()) ends.back() = shape.all_rows();
  return ends;
}

std::vector<int64_t> SizesOf(std::vector<int64_t> ends) {
  std::adjacent_difference(ends.begin(), ends.end(), ends.begin());
  return ends;
}

Dims GradDims(const Case& shape) {
  return shape.listed() ? Dims{shape.rows, shape.width}
                        : Dims{shape.groups, shape.rows, shape.width};
}

Planned PlanWith(Version version, const aclTensor* grad_y, const aclTensor* list, int64_t list_type,
                 aclTensor* out, bool null_workspace_size, bool null_executor) {
  return Planned::Plan([&](uint64_t* workspace_size, aclOpExecutor** executor) {
    if (null_workspace_size) workspace_size = nullptr;
    if (null_executor) executor = nullptr;
    if (version == kFirst) {
      return aclnnGroupedBiasAddGradGetWorkspaceSize(grad_y, list, out, workspace_size, executor);
    }
    return aclnnGroupedBiasAddGradV2GetWorkspaceSize(grad_y, list, list_type, out, workspace_size,
                                                     executor);
  });
}

}  // namespace

const std::vector<Case>& Room::Cases() {
  static const std::vector<Case> cases = {
#include "grouped_bias/backward/cases.inc"
  };
  return cases;
}

Planned Plan(const Spec& spec) {
  const TensorHandle grad_y(spec.grad_y), list(spec.list), out(spec.out);
  return PlanWith(spec.version, grad_y.get(), list.get(), spec.list_type, out.get(),
                  spec.null_workspace_size, spec.null_executor);
}

Case Room::Random() {
  Case shape{"", kSmoke, 0, 0, 0, kNoList};
  shape.how = *rc::gen::element(kNoList, kEvenGroups, kRandomGroups, kRandomGroups, kFirstHasAll,
                                kLastHasAll);
  shape.groups = shape.listed() ? *rc::gen::element(1, 2, 3, 17, 100, 2048)
                                : *rc::gen::element(0, 1, 2, 3, 17);
  shape.rows = *rc::gen::element(0, 1, 5, 64, 65, 300, 1025, 2500);
  shape.width = shape.rows > 64 ? *rc::gen::element(0, 1, 3, 15, 16, 17, 33)
                                : *rc::gen::element(0, 1, 2, 15, 16, 17, 48, 1024, 1050);
  return shape;
}

Problem Room::Make(const Case& shape, uint64_t variant, const Fill& fill) {
  const Types types = {TypeOf(variant), variant / 3 % 2 == 0 ? ACL_INT64 : ACL_INT32,
                       kVersions[variant / 6]};
  return Problem(shape, types, fill);
}

Problem::Problem(const Case& shape, const Types& types, const Fill& fill)
    : OperatorProblem(ApiOf(types.version), Phase2Of(types.version)),
      grad_y(PlaceTensor(fill.seed, types.data, GradDims(shape), fill.strided, fill.repeats)),
      list(PlaceTensor(fill.seed + 1, types.list, {shape.groups}, fill.strided, false)),
      out(PlaceTensor(fill.seed + 2, types.data, {shape.groups, shape.width}, fill.strided, false)),
      case_(shape),
      version_(types.version) {
  Random random(fill.seed);
  SetGrad(RandomValues(random, grad_y.layout().count(), fill.values));
  SetEnds(MakeEnds(random, shape));
}

void Problem::SetList(const std::vector<int64_t>& values) {
  const size_t size = aclDataTypeSize(list.dtype());
  std::vector<std::byte> bytes(values.size() * size);
  for (size_t j = 0; j < values.size(); ++j) {
    // Little-endian: the low half is the INT32.
    std::copy_n(reinterpret_cast<const std::byte*>(&values[j]), size, &bytes[j * size]);
  }
  list.Write(bytes);
}

void Problem::SetEnds(const std::vector<int64_t>& ends) {
  ends_ = ends;
  SetList(version_ == kSecondWithSizes ? SizesOf(ends) : ends);
}

std::vector<CallOperand> Problem::operands() const {
  const CallOperand output = {"out", 2, &out, CallOperand::kOutput};
  if (!case_.listed()) return {{"gradY", 0, &grad_y}, output};
  return {{"gradY", 0, &grad_y}, {"groupIdxOptional", 1, &list}, output};
}

Planned Problem::Plan() const {
  return PlanWith(version_, grad_y.handle(), case_.listed() ? list.handle() : nullptr,
                  version_ == kSecondWithSizes ? 1 : 0, const_cast<aclTensor*>(out.handle()), false,
                  false);
}

ReferenceSums Problem::Reference() const {
  namespace room = openaclnn::grouped_bias::backward;
  const std::vector<double> dy = ValuesOf(grad_y);
  const std::vector<double> magnitude = Magnitudes(dy);
  const auto outputs = static_cast<size_t>(out.layout().count());
  ReferenceSums sums{std::vector<double>(outputs), std::vector<double>(outputs), {}};
  room::Reference(case_.groups, case_.width, ends_.data(), dy.data(), sums.value.data());
  room::Reference(case_.groups, case_.width, ends_.data(), magnitude.data(), sums.magnitude.data());
  const std::vector<int64_t> sizes = SizesOf(ends_);
  for (size_t i = 0; i < outputs; ++i) {
    sums.terms.push_back(sizes[i / static_cast<size_t>(case_.width)]);
  }
  return sums;
}

testing::AssertionResult Problem::OutputsAreRight() const { return AreSums(out, Reference()); }

}  // namespace openaclnn::test::grouped_bias::backward
