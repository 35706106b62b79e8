// SPDX-License-Identifier: Apache-2.0
// What is right of every operator's call: inputs as they were, nothing written beside the outputs.
#include "tests/support/problem.h"

#include <rapidcheck.h>

#include <cmath>

#include "tests/support/numbers.h"

namespace openaclnn::test {

size_t CallOperand::bytes() const {
  return static_cast<size_t>(tensor->layout().count()) * aclDataTypeSize(tensor->dtype());
}

testing::AssertionResult OperatorProblem::IsRight() const {
  for (const CallOperand& operand : operands()) {
    const std::string damage =
        operand.is_output() ? operand.tensor->Damage() : operand.tensor->Change();
    if (damage.empty()) continue;
    return testing::AssertionFailure() << (operand.is_output() ? "written beside " : "written: ")
                                       << operand.name << ", " << damage;
  }
  return OutputsAreRight();
}

std::vector<std::vector<std::byte>> OperatorProblem::Outputs() const {
  std::vector<std::vector<std::byte>> outputs;
  for (const CallOperand& operand : operands()) {
    if (operand.is_output()) outputs.push_back(operand.tensor->Read());
  }
  return outputs;
}

testing::AssertionResult OperatorProblem::OutputsAreUntouched() const {
  for (const CallOperand& operand : operands()) {
    if (!operand.is_output()) continue;
    if (const std::string change = operand.tensor->Change(); !change.empty()) {
      return testing::AssertionFailure() << operand.name << " was written: " << change;
    }
  }
  return testing::AssertionSuccess();
}

int64_t OperatorProblem::LeastBytes() const {
  size_t bytes = 0;
  for (const CallOperand& operand : operands()) {
    if (operand.role != CallOperand::kUnread) bytes += operand.bytes();
  }
  return static_cast<int64_t>(bytes);
}

void OperatorProblem::Set(DeviceTensor* tensor, const std::vector<double>& values) {
  tensor->Write(ToBytes(tensor->dtype(), values));
}

void ExpectRight(const Device& device, const OperatorProblem& problem) {
  ASSERT_EQ(problem.Run(device).message, "");
  EXPECT_TRUE(problem.IsRight());
}

void RequireRight(const Device& device, const OperatorProblem& problem) {
  const Outcome outcome = problem.Run(device);
  if (!outcome.ok()) RC_FAIL(outcome.message);
  const testing::AssertionResult right = problem.IsRight();
  if (!right) RC_FAIL(std::string(right.message()));
}

DeviceTensor PlaceTensor(uint64_t seed, aclDataType dtype, const Dims& dims, bool strided,
                         bool may_repeat) {
  if (!strided) return DeviceTensor(dtype, DenseLayout(dims));
  Random random(seed);
  const Layout layout = RandomLayout(random, dims, may_repeat);
  return DeviceTensor(dtype, layout, static_cast<size_t>(16 * Uniform(random, 0, 1)));
}

std::vector<double> ValuesOf(const DeviceTensor& tensor) {
  return ToDoubles(tensor.dtype(), tensor.Read());
}

std::vector<double> Magnitudes(std::vector<double> values) {
  for (double& value : values) value = std::abs(value);
  return values;
}

ReferenceSums ZeroSums(const DeviceTensor& output, int64_t terms) {
  const auto count = static_cast<size_t>(output.layout().count());
  return {std::vector<double>(count), std::vector<double>(count),
          std::vector<int64_t>(count, terms)};
}

testing::AssertionResult AreSums(const DeviceTensor& output, const ReferenceSums& sums) {
  const std::vector<double> got = ValuesOf(output);
  for (size_t i = 0; i < got.size(); ++i) {
    if (sums.terms[i] == 0 && (got[i] != 0 || std::signbit(got[i]))) {
      return testing::AssertionFailure() << "element " << i << " has no terms and is not +0";
    }
  }
  return AreWithin(output.dtype(), got, sums);
}

}  // namespace openaclnn::test
