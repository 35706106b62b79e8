// SPDX-License-Identifier: Apache-2.0
// Data, calls and reference of GroupedBiasAddGrad's tests.
#include "grouped_bias/backward/test_case.h"

#include <algorithm>
#include <cmath>
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

DeviceTensor Make(uint64_t seed, aclDataType dtype, const Dims& dims, bool strided,
                  bool may_repeat) {
  Random random(seed);
  if (!strided) return DeviceTensor(dtype, DenseLayout(dims));
  const Layout layout = RandomLayout(random, dims, may_repeat);
  // Half of them end some bytes before their memory does.
  return DeviceTensor(dtype, layout, static_cast<size_t>(16 * Uniform(random, 0, 1)));
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

const std::vector<Case>& Cases() {
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

Problem::Problem(const Case& shape, const Types& types, const Options& options)
    : grad_y(Make(options.seed, types.data, GradDims(shape), options.strided, true)),
      list(Make(options.seed + 1, types.list, {shape.groups}, options.strided, false)),
      out(Make(options.seed + 2, types.data, {shape.groups, shape.width}, options.strided, false)),
      case_(shape),
      version_(types.version) {
  Random random(options.seed);
  SetGrad(RandomValues(random, grad_y.layout().count(), options.values));
  SetEnds(MakeEnds(random, shape));
}

void Problem::SetGrad(const std::vector<double>& values) {
  grad_y.Write(ToBytes(grad_y.dtype(), values));
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

Planned Problem::Plan() const {
  return PlanWith(version_, grad_y.handle(), case_.listed() ? list.handle() : nullptr,
                  version_ == kSecondWithSizes ? 1 : 0, const_cast<aclTensor*>(out.handle()), false,
                  false);
}

Outcome Problem::Run(const Device& device) const {
  return Execute(device, Plan(), Phase2Of(version_));
}

ReferenceSums Problem::Reference() const {
  namespace room = openaclnn::grouped_bias::backward;
  const std::vector<double> dy = ToDoubles(grad_y.dtype(), grad_y.Read());
  std::vector<double> magnitude(dy.size());
  std::transform(dy.begin(), dy.end(), magnitude.begin(), [](double v) { return std::abs(v); });
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

testing::AssertionResult Problem::IsRight() const {
  if (const std::string change = grad_y.Change(); !change.empty()) {
    return testing::AssertionFailure() << "gradY was written: " << change;
  }
  if (const std::string change = list.Change(); !change.empty()) {
    return testing::AssertionFailure() << "groupIdxOptional was written: " << change;
  }
  if (const std::string damage = out.Damage(); !damage.empty()) {
    return testing::AssertionFailure() << "beside out: " << damage;
  }
  const ReferenceSums sums = Reference();
  const std::vector<double> got = ToDoubles(out.dtype(), out.Read());
  for (size_t i = 0; i < got.size(); ++i) {
    if (sums.terms[i] == 0 && (got[i] != 0 || std::signbit(got[i]))) {
      return testing::AssertionFailure() << "element " << i << " of an empty group is not +0";
    }
  }
  return AreWithin(out.dtype(), got, sums);
}

int64_t LeastBytes(const Case& shape, const Types& types) {
  const auto size = [](aclDataType dtype) { return static_cast<int64_t>(aclDataTypeSize(dtype)); };
  return (shape.all_rows() + shape.groups) * shape.width * size(types.data) +
         (shape.listed() ? shape.groups * size(types.list) : 0);
}

}  // namespace openaclnn::test::grouped_bias::backward
