// SPDX-License-Identifier: Apache-2.0
// Data, calls and reference of SampleScale's tests.
#include "sample_scale/forward/test_case.h"

#include <rapidcheck.h>

#include "sample_scale/forward/reference.h"

namespace openaclnn::test::sample_scale::forward {

const std::vector<Case>& Room::Cases() {
  static const std::vector<Case> cases = {
#include "sample_scale/forward/cases.inc"
  };
  return cases;
}

Case Room::Random() {
  Case shape{"", kSmoke, {}, *rc::gen::inRange(-100, 100) / 16.0};
  for (int axis = *rc::gen::inRange(1, 8); axis > 0; --axis) {
    shape.dims.push_back(*rc::gen::inRange<int64_t>(0, axis == 1 ? 70 : 4));
  }
  return shape;
}

Planned Plan(const Spec& spec) {
  const TensorHandle self(spec.self), out(spec.out);
  return Planned::Plan([&](uint64_t* workspace_size, aclOpExecutor** executor) {
    return aclnnSampleScaleGetWorkspaceSize(self.get(), 0.5, out.get(),
                                            spec.null_workspace_size ? nullptr : workspace_size,
                                            spec.null_executor ? nullptr : executor);
  });
}

Problem::Problem(const Case& shape, aclDataType dtype, const Fill& fill)
    : OperatorProblem(kApi, aclnnSampleScale),
      self(PlaceTensor(fill.seed, dtype, shape.dims, fill.strided, fill.repeats)),
      out(PlaceTensor(fill.seed + 1, dtype, shape.dims, fill.strided, false)),
      case_(shape) {
  test::Random random(fill.seed);
  Set(&self, RandomValues(random, self.layout().count(), fill.values));
}

std::vector<CallOperand> Problem::operands() const {
  return {{"self", 0, &self}, {"out", 1, &out, CallOperand::kOutput}};
}

Planned Problem::Plan() const {
  return Planned::Plan([&](uint64_t* workspace_size, aclOpExecutor** executor) {
    return aclnnSampleScaleGetWorkspaceSize(
        self.handle(), case_.scale, const_cast<aclTensor*>(out.handle()), workspace_size, executor);
  });
}

testing::AssertionResult Problem::OutputsAreRight() const {
  const std::vector<double> x = ValuesOf(self);
  ReferenceSums sums = ZeroSums(out, 1);
  openaclnn::sample_scale::forward::Reference(static_cast<int64_t>(x.size()), x.data(),
                                              static_cast<float>(case_.scale), sums.value.data());
  sums.magnitude = Magnitudes(sums.value);
  return AreWithin(out.dtype(), ValuesOf(out), sums);
}

}  // namespace openaclnn::test::sample_scale::forward
