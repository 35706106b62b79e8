// SPDX-License-Identifier: Apache-2.0
// Data, calls and reference of ConvTbc's tests.
#include "conv_tbc/forward/test_case.h"

#include <cmath>

#include "conv_tbc/forward/reference.h"

namespace openaclnn::test::conv_tbc::forward {
namespace {

std::vector<double> Magnitudes(std::vector<double> values) {
  for (double& value : values) value = std::abs(value);
  return values;
}

Planned PlanWith(const aclTensor* self, const aclTensor* weight, const aclTensor* bias, int64_t pad,
                 aclTensor* out, int8_t math, bool null_workspace_size, bool null_executor) {
  return Planned::Plan([&](uint64_t* workspace_size, aclOpExecutor** executor) {
    return aclnnConvTbcGetWorkspaceSize(self, weight, bias, pad, out, math,
                                        null_workspace_size ? nullptr : workspace_size,
                                        null_executor ? nullptr : executor);
  });
}

}  // namespace

const std::vector<ConvCase>& Cases() {
  static const std::vector<ConvCase> cases = {
#include "conv_tbc/forward/cases.inc"
  };
  return cases;
}

Planned Plan(const Spec& spec) {
  const TensorHandle self(spec.self), weight(spec.weight), bias(spec.bias), out(spec.out);
  return PlanWith(self.get(), weight.get(), bias.get(), spec.pad, out.get(), spec.math,
                  spec.null_workspace_size, spec.null_executor);
}

Problem::Problem(const ConvCase& shape, aclDataType dtype, const Options& options)
    : x(PlaceTensor(options.seed, dtype, shape.input(), options.strided, true)),
      w(PlaceTensor(options.seed + 1, dtype, shape.weight(), options.strided, true)),
      bias(PlaceTensor(options.seed + 2, dtype, {shape.out_channels}, options.strided, true)),
      y(PlaceTensor(options.seed + 3, dtype, shape.output(), options.strided, false)),
      case_(shape),
      options_(options) {
  Random random(options.seed);
  for (DeviceTensor* tensor : {&x, &w, &bias}) {
    Set(tensor, RandomValues(random, tensor->layout().count(), options.values));
  }
}

void Problem::Set(DeviceTensor* tensor, const std::vector<double>& values) {
  tensor->Write(ToBytes(tensor->dtype(), values));
}

Planned Problem::Plan() const {
  return PlanWith(x.handle(), w.handle(), bias.handle(), case_.pad,
                  const_cast<aclTensor*>(y.handle()), options_.math, false, false);
}

Outcome Problem::Run(const Device& device) const { return Execute(device, Plan(), aclnnConvTbc); }

ReferenceSums Problem::Reference() const {
  namespace room = openaclnn::conv_tbc::forward;
  const room::ReferenceSizes sizes = {case_.in_length,    case_.batch, case_.in_channels,
                                      case_.out_channels, case_.taps,  case_.pad};
  const Computed how = HowComputed(options_.family, x.dtype(), options_.math);
  const std::vector<double> x_values = Rounded(ToDoubles(x.dtype(), x.Read()), how);
  const std::vector<double> w_values = Rounded(ToDoubles(w.dtype(), w.Read()), how);
  const std::vector<double> bias_values = ToDoubles(bias.dtype(), bias.Read());
  const auto count = static_cast<size_t>(y.layout().count());
  const int64_t terms = case_.taps * case_.in_channels + 1;
  ReferenceSums sums{std::vector<double>(count), std::vector<double>(count),
                     std::vector<int64_t>(count, terms)};
  room::Reference(sizes, x_values.data(), w_values.data(), bias_values.data(), sums.value.data());
  room::Reference(sizes, Magnitudes(x_values).data(), Magnitudes(w_values).data(),
                  Magnitudes(bias_values).data(), sums.magnitude.data());
  return sums;
}

testing::AssertionResult Problem::IsRight() const {
  for (const DeviceTensor* input : {&x, &w, &bias}) {
    if (const std::string change = input->Change(); !change.empty()) {
      return testing::AssertionFailure() << "an input was written: " << change;
    }
  }
  if (const std::string damage = y.Damage(); !damage.empty()) {
    return testing::AssertionFailure() << "beside out: " << damage;
  }
  return AreWithin(y.dtype(), ToDoubles(y.dtype(), y.Read()), Reference());
}

int64_t Problem::LeastBytes() const {
  int64_t elements = 0;
  for (const DeviceTensor* tensor : {&x, &w, &bias, &y}) elements += tensor->layout().count();
  return elements * static_cast<int64_t>(aclDataTypeSize(x.dtype()));
}

}  // namespace openaclnn::test::conv_tbc::forward
