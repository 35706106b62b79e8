// SPDX-License-Identifier: Apache-2.0
// Data, calls and reference of ScaledMaskedSoftmaxBackward's tests.
#include "masked_softmax/backward/test_case.h"

#include <cmath>

#include "masked_softmax/backward/reference.h"
#include "tests/support/numbers.h"

namespace openaclnn::test::masked_softmax::backward {
namespace {

DeviceTensor Make(uint64_t seed, aclDataType dtype, const Dims& dims, bool strided,
                  bool may_repeat) {
  Random random(seed);
  if (!strided) return DeviceTensor(dtype, DenseLayout(dims));
  const Layout layout = RandomLayout(random, dims, may_repeat);
  // Half of them end some bytes before their memory does.
  return DeviceTensor(dtype, layout, static_cast<size_t>(16 * Uniform(random, 0, 1)));
}

/// mask ? 0 : |scale| * (|g*y| + |y| * sum |g*y|).
void RowMagnitudes(int64_t n, const double* g, const double* y, const uint8_t* mask, double scale,
                   double* magnitude) {
  double sum = 0;
  for (int64_t j = 0; j < n; ++j) sum += std::abs(g[j] * y[j]);
  for (int64_t j = 0; j < n; ++j) {
    if (mask[j] != 0) continue;
    magnitude[j] = std::abs(scale) * (std::abs(g[j] * y[j]) + std::abs(y[j]) * sum);
  }
}

}  // namespace

const std::vector<Case>& Cases() {
  static const std::vector<Case> cases = {
#include "masked_softmax/backward/cases.inc"
  };
  return cases;
}

Planned Plan(const Spec& spec) {
  const TensorHandle grad_output(spec.grad_output), y(spec.y), mask(spec.mask), out(spec.out);
  return Planned::Plan([&](uint64_t* workspace_size, aclOpExecutor** executor) {
    return aclnnScaledMaskedSoftmaxBackwardGetWorkspaceSize(
        grad_output.get(), y.get(), mask.get(), spec.scale, spec.fix_triu_mask, out.get(),
        spec.null_workspace_size ? nullptr : workspace_size,
        spec.null_executor ? nullptr : executor);
  });
}

Problem::Problem(const Case& shape, aclDataType dtype, const Options& options)
    : grad_output(Make(options.seed, dtype, shape.dims, options.strided, options.repeats)),
      y(Make(options.seed + 1, dtype, shape.dims, options.strided, options.repeats)),
      mask(Make(options.seed + 2, ACL_BOOL, MaskDims(shape.dims, shape.mask), options.strided,
                options.repeats)),
      out(Make(options.seed + 3, dtype, shape.dims, options.strided, false)),
      case_(shape) {
  Random random(options.seed);
  SetGradOutput(RandomValues(random, out.layout().count(), options.values));
  SetY(RandomValues(random, out.layout().count(), options.values));
  SetMask(RandomMask(random, mask.layout().count(), shape.percent));
}

void Problem::SetGradOutput(const std::vector<double>& values) {
  grad_output.Write(ToBytes(grad_output.dtype(), values));
}

void Problem::SetY(const std::vector<double>& values) { y.Write(ToBytes(y.dtype(), values)); }

Planned Problem::Plan() const {
  return Planned::Plan([&](uint64_t* workspace_size, aclOpExecutor** executor) {
    return aclnnScaledMaskedSoftmaxBackwardGetWorkspaceSize(
        grad_output.handle(), y.handle(), mask.handle(), case_.scale, false,
        const_cast<aclTensor*>(out.handle()), workspace_size, executor);
  });
}

Outcome Problem::Run(const Device& device) const {
  return Execute(device, Plan(), aclnnScaledMaskedSoftmaxBackward);
}

Outcome Problem::RunInto(const Device& device, const DeviceTensor& input) const {
  const Planned planned = Planned::Plan([&](uint64_t* workspace_size, aclOpExecutor** executor) {
    return aclnnScaledMaskedSoftmaxBackwardGetWorkspaceSize(
        grad_output.handle(), y.handle(), mask.handle(), case_.scale, false,
        const_cast<aclTensor*>(input.handle()), workspace_size, executor);
  });
  return Execute(device, planned, aclnnScaledMaskedSoftmaxBackward);
}

ReferenceSums Problem::Reference() const {
  const std::vector<double> g = ToDoubles(grad_output.dtype(), grad_output.Read());
  const std::vector<double> v = ToDoubles(y.dtype(), y.Read());
  const std::vector<uint8_t> masked = BroadcastMask(case_.dims, mask.layout().dims, mask.Read());
  const int64_t n = case_.dims[3];
  const auto scale = static_cast<double>(static_cast<float>(case_.scale));
  ReferenceSums sums{std::vector<double>(g.size()), std::vector<double>(g.size()),
                     std::vector<int64_t>(g.size(), n)};
  for (size_t row = 0; row < g.size(); row += static_cast<size_t>(n)) {
    openaclnn::masked_softmax::backward::Reference(n, &g[row], &v[row], &masked[row], scale,
                                                   &sums.value[row]);
    RowMagnitudes(n, &g[row], &v[row], &masked[row], scale, &sums.magnitude[row]);
  }
  return sums;
}

testing::AssertionResult Problem::IsRight() const {
  const std::pair<const char*, const DeviceTensor*> inputs[] = {
      {"gradOutput", &grad_output}, {"y", &y}, {"mask", &mask}};
  for (const auto& [name, tensor] : inputs) {
    if (const std::string change = tensor->Change(); !change.empty()) {
      return testing::AssertionFailure() << name << " was written: " << change;
    }
  }
  if (const std::string damage = out.Damage(); !damage.empty()) {
    return testing::AssertionFailure() << "beside out: " << damage;
  }
  const std::vector<double> got = ToDoubles(out.dtype(), out.Read());
  const std::vector<uint8_t> masked = BroadcastMask(case_.dims, mask.layout().dims, mask.Read());
  for (size_t i = 0; i < got.size(); ++i) {
    if (masked[i] != 0 && (got[i] != 0 || std::signbit(got[i]))) {
      return testing::AssertionFailure() << "element " << i << " is masked and not +0";
    }
  }
  return AreWithin(out.dtype(), got, Reference());
}

int64_t LeastBytes(const Case& shape, aclDataType dtype) {
  return 3 * CountOf(shape.dims) * static_cast<int64_t>(aclDataTypeSize(dtype)) +
         CountOf(MaskDims(shape.dims, shape.mask));
}

}  // namespace openaclnn::test::masked_softmax::backward
