// SPDX-License-Identifier: Apache-2.0
// Data, calls and reference of ConvTbcBackward's tests.
#include "conv_tbc/backward/test_case.h"

#include <cmath>

#include "conv_tbc/backward/reference.h"

namespace openaclnn::test::conv_tbc::backward {
namespace {

namespace room = openaclnn::conv_tbc::backward;

std::vector<double> Magnitudes(std::vector<double> values) {
  for (double& value : values) value = std::abs(value);
  return values;
}

ReferenceSums MakeSums(const DeviceTensor& output, int64_t terms) {
  const auto count = static_cast<size_t>(output.layout().count());
  return {std::vector<double>(count), std::vector<double>(count),
          std::vector<int64_t>(count, terms)};
}

std::vector<double> ValuesOf(const DeviceTensor& tensor) {
  return ToDoubles(tensor.dtype(), tensor.Read());
}

}  // namespace

const std::vector<ConvCase>& Cases() {
  static const std::vector<ConvCase> cases = {
#include "conv_tbc/backward/cases.inc"
  };
  return cases;
}

Planned Plan(const Spec& spec) {
  const TensorHandle self(spec.self), input(spec.input), weight(spec.weight), bias(spec.bias);
  const TensorHandle grad_input(spec.grad_input), grad_weight(spec.grad_weight);
  const TensorHandle grad_bias(spec.grad_bias);
  return Planned::Plan([&](uint64_t* workspace_size, aclOpExecutor** executor) {
    return aclnnConvTbcBackwardGetWorkspaceSize(
        self.get(), input.get(), weight.get(), bias.get(), spec.pad, spec.math, grad_input.get(),
        grad_weight.get(), grad_bias.get(), spec.null_workspace_size ? nullptr : workspace_size,
        spec.null_executor ? nullptr : executor);
  });
}

Problem::Problem(const ConvCase& shape, aclDataType dtype, const Options& options)
    : dy(PlaceTensor(options.seed, dtype, shape.output(), options.strided, true)),
      x(PlaceTensor(options.seed + 1, dtype, shape.input(), options.strided, true)),
      w(PlaceTensor(options.seed + 2, dtype, shape.weight(), options.strided, true)),
      bias(PlaceTensor(options.seed + 3, dtype, {shape.out_channels}, options.strided, true)),
      dx(PlaceTensor(options.seed + 4, dtype, shape.input(), options.strided, false)),
      dw(PlaceTensor(options.seed + 5, dtype, shape.weight(), options.strided, false)),
      db(PlaceTensor(options.seed + 6, dtype, {shape.out_channels}, options.strided, false)),
      case_(shape),
      options_(options) {
  Random random(options.seed);
  for (DeviceTensor* tensor : {&dy, &x, &w}) {
    Set(tensor, RandomValues(random, tensor->layout().count(), options.values));
  }
}

void Problem::Set(DeviceTensor* tensor, const std::vector<double>& values) {
  tensor->Write(ToBytes(tensor->dtype(), values));
}

Planned Problem::Plan() const {
  const auto out = [](const DeviceTensor& tensor) {
    return const_cast<aclTensor*>(tensor.handle());
  };
  return Planned::Plan([&](uint64_t* workspace_size, aclOpExecutor** executor) {
    return aclnnConvTbcBackwardGetWorkspaceSize(dy.handle(), x.handle(), w.handle(), bias.handle(),
                                                case_.pad, options_.math, out(dx), out(dw), out(db),
                                                workspace_size, executor);
  });
}

Outcome Problem::Run(const Device& device) const {
  return Execute(device, Plan(), aclnnConvTbcBackward);
}

Problem::Sums Problem::Reference() const {
  const room::ReferenceSizes sizes = {case_.in_length,    case_.batch, case_.in_channels,
                                      case_.out_channels, case_.taps,  case_.pad};
  const Computed how = HowComputed(options_.family, x.dtype(), options_.math);
  const std::vector<double> stored = ValuesOf(dy), dy_values = Rounded(stored, how);
  const std::vector<double> x_values = Rounded(ValuesOf(x), how);
  const std::vector<double> w_values = Rounded(ValuesOf(w), how);
  const int64_t rows = case_.out_length() * case_.batch;
  Sums sums = {MakeSums(dx, case_.taps * case_.out_channels), MakeSums(dw, rows),
               MakeSums(db, rows)};
  room::ReferenceInput(sizes, dy_values.data(), w_values.data(), sums.dx.value.data());
  room::ReferenceWeight(sizes, dy_values.data(), x_values.data(), sums.dw.value.data());
  room::ReferenceBias(sizes, stored.data(), sums.db.value.data());
  const std::vector<double> dy_sizes = Magnitudes(dy_values);
  room::ReferenceInput(sizes, dy_sizes.data(), Magnitudes(w_values).data(),
                       sums.dx.magnitude.data());
  room::ReferenceWeight(sizes, dy_sizes.data(), Magnitudes(x_values).data(),
                        sums.dw.magnitude.data());
  room::ReferenceBias(sizes, Magnitudes(stored).data(), sums.db.magnitude.data());
  return sums;
}

testing::AssertionResult Problem::IsRight() const {
  for (const DeviceTensor* input : {&dy, &x, &w, &bias}) {
    if (const std::string change = input->Change(); !change.empty()) {
      return testing::AssertionFailure() << "an input was written: " << change;
    }
  }
  const Sums sums = Reference();
  const struct {
    const char* name;
    const DeviceTensor* tensor;
    const ReferenceSums* sums;
  } outputs[] = {
      {"gradInput", &dx, &sums.dx}, {"gradWeight", &dw, &sums.dw}, {"gradBias", &db, &sums.db}};
  for (const auto& output : outputs) {
    if (const std::string damage = output.tensor->Damage(); !damage.empty()) {
      return testing::AssertionFailure() << "beside " << output.name << ": " << damage;
    }
    const testing::AssertionResult right =
        AreWithin(output.tensor->dtype(), ValuesOf(*output.tensor), *output.sums);
    if (!right) return testing::AssertionFailure() << output.name << ": " << right.message();
  }
  return testing::AssertionSuccess();
}

int64_t Problem::LeastBytes() const {
  int64_t elements = 0;
  for (const DeviceTensor* tensor : {&dy, &x, &w, &dx, &dw, &db}) {
    elements += tensor->layout().count();
  }
  return elements * static_cast<int64_t>(aclDataTypeSize(x.dtype()));
}

}  // namespace openaclnn::test::conv_tbc::backward
