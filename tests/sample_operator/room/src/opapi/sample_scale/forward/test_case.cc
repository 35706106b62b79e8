// SPDX-License-Identifier: Apache-2.0
// Data, calls and reference of SampleScale's tests.
#include "sample_scale/forward/test_case.h"

#include "sample_scale/forward/reference.h"
#include "tests/support/accuracy.h"
#include "tests/support/numbers.h"

namespace openaclnn::test::sample_scale::forward {
namespace {

Layout MakeLayout(uint64_t seed, const Dims& dims, bool strided, bool may_repeat) {
  Random random(seed);
  return strided ? RandomLayout(random, dims, may_repeat) : DenseLayout(dims);
}

}  // namespace

const std::vector<Case>& Cases() {
  static const std::vector<Case> cases = {
#include "sample_scale/forward/cases.inc"
  };
  return cases;
}

Planned Plan(const Spec& spec) {
  const TensorHandle self(spec.self), out(spec.out);
  return Planned::Plan([&](uint64_t* workspace_size, aclOpExecutor** executor) {
    return aclnnSampleScaleGetWorkspaceSize(self.get(), 0.5, out.get(),
                                            spec.null_workspace_size ? nullptr : workspace_size,
                                            spec.null_executor ? nullptr : executor);
  });
}

Problem::Problem(const Case& shape, aclDataType dtype, uint64_t seed, bool strided)
    : self(dtype, MakeLayout(seed, shape.dims, strided, true)),
      out(dtype, MakeLayout(seed + 1, shape.dims, strided, false)),
      case_(shape) {
  Random random(seed);
  self.Write(ToBytes(dtype, RandomValues(random, self.layout().count(), kWide)));
}

Planned Problem::Plan() const {
  return Planned::Plan([&](uint64_t* workspace_size, aclOpExecutor** executor) {
    return aclnnSampleScaleGetWorkspaceSize(
        self.handle(), case_.scale, const_cast<aclTensor*>(out.handle()), workspace_size, executor);
  });
}

Outcome Problem::Run(const Device& device) const {
  return Execute(device, Plan(), aclnnSampleScale);
}

testing::AssertionResult Problem::IsRight() const {
  if (const std::string change = self.Change() + out.Damage(); !change.empty()) {
    return testing::AssertionFailure() << "written beside out: " << change;
  }
  const std::vector<double> x = ToDoubles(self.dtype(), self.Read());
  ReferenceSums sums = {std::vector<double>(x.size()), {}, std::vector<int64_t>(x.size(), 1)};
  openaclnn::sample_scale::forward::Reference(static_cast<int64_t>(x.size()), x.data(),
                                              static_cast<float>(case_.scale), sums.value.data());
  for (const double value : sums.value) sums.magnitude.push_back(std::abs(value));
  return AreWithin(out.dtype(), ToDoubles(out.dtype(), out.Read()), sums);
}

}  // namespace openaclnn::test::sample_scale::forward
