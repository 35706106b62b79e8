// SPDX-License-Identifier: Apache-2.0
// How every operator runs: right on named and random cases, with the same bits whatever the
// setting or the view, again with new addresses, queued, and misused.
//
// A Room has Case, Problem and
//   Cases(): what cases.inc lists; Random(): one more, within a property of rapidcheck
//   Shapes(): some for calls that are repeated or misused; no tensor's bytes are a multiple of 64
//   kVariants: combinations of types and other options that Make(shape, variant, fill) knows
//   kFused: products are fused with sums, so that the baseline has bits of its own
//   kBitsUpTo: the last group of cases that run under each setting
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/support/bits.h"
#include "tests/support/misuse.h"
#include "tests/support/problem.h"

namespace openaclnn::test {

template <class Room>
class RoomRuns : public testing::Test {
 protected:
  static constexpr uint64_t kFew = std::min<uint64_t>(Room::kVariants, 3);

  static auto Make(const auto& shape, uint64_t variant, const Fill& fill) {
    return Room::Make(shape, variant % Room::kVariants, fill);
  }

  /// The vendor's standard, as parts of its thresholds.
  static void Record(const std::string& name, const auto& problem) {
    const DeviceTensor& output = *problem.operands().back().tensor;
    const RelativeErrors errors = Errors(ValuesOf(output), problem.Reference().value);
    const double threshold = Threshold(output.dtype());
    const std::string key = name + "_" + std::to_string(output.dtype());
    testing::Test::RecordProperty(key + "_mean", std::to_string(errors.mean / threshold));
    testing::Test::RecordProperty(key + "_max", std::to_string(errors.max / threshold));
  }

  /// Calls body(tensor) for the inputs or the outputs.
  static void ForEach(const OperatorProblem& problem, bool outputs, auto&& body) {
    for (const CallOperand& operand : problem.operands()) {
      if (operand.is_output() == outputs) body(const_cast<DeviceTensor*>(operand.tensor));
    }
  }
};
TYPED_TEST_SUITE_P(RoomRuns);

// Every named case but those of the bench.
TYPED_TEST_P(RoomRuns, NamedCases) {
  const Device device;
  uint64_t number = 0;
  for (const auto& shape : TypeParam::Cases()) {
    if (shape.group == kPerf) continue;
    SCOPED_TRACE(shape.name);
    for (uint64_t variant = 0; variant < this->kFew; ++variant, ++number) {
      const Values values = variant == number % 3 ? kEqual : kNormal;
      const auto problem = this->Make(shape, variant, {number, values, false, false});
      ExpectRight(device, problem);
      if constexpr (requires { problem.Reference().value; }) {
        if (shape.group == kReal) this->Record(shape.name, problem);
      }
    }
    ExpectRight(device, this->Make(shape, number, {number, kWide, true}));
  }
}

TYPED_TEST_P(RoomRuns, RandomShapesTypesAndViews) {
  const Device device;
  EXPECT_TRUE(rc::check([&] {
    const auto shape = TypeParam::Random();
    const auto variant = *rc::gen::inRange<uint64_t>(0, TypeParam::kVariants);
    const auto seed = *rc::gen::arbitrary<uint32_t>();
    const Values values = *rc::gen::element(kNormal, kWide, kEqual, kOpposite);
    const bool strided = *rc::gen::arbitrary<bool>();
    RequireRight(device, this->Make(shape, variant, {seed, values, strided}));
  }));
}

TYPED_TEST_P(RoomRuns, BitsAreThoseOfOneThreadAndEveryInstructionSet) {
  std::map<std::string, std::vector<std::vector<std::byte>>> first;
  UnderEachSetting([&](const std::string& setting, const Device& device) {
    uint64_t number = 0;
    for (const auto& shape : TypeParam::Cases()) {
      if (shape.group > TypeParam::kBitsUpTo) continue;
      const auto problem = this->Make(shape, number, {number, kWide, number % 2 == 0});
      ++number;
      ASSERT_EQ(problem.Run(device).message, "");
      if (TypeParam::kFused && !IsFused(setting)) {
        EXPECT_TRUE(problem.IsRight()) << shape.name;
        continue;
      }
      const auto [entry, added] = first.emplace(shape.name, problem.Outputs());
      EXPECT_TRUE(added || entry->second == problem.Outputs()) << shape.name << " " << setting;
    }
  });
}

// A view gives the bits that its dense copy gives.
TYPED_TEST_P(RoomRuns, BitsAreThoseOfDenseViews) {
  const Device device;
  for (const auto& shape : TypeParam::Shapes()) {
    for (uint64_t seed = 0; seed < 40; ++seed) {
      const auto strided = this->Make(shape, seed, {seed, kNormal, true});
      const auto dense = this->Make(shape, seed, {seed, kNormal, false});
      std::vector<std::vector<std::byte>> inputs;
      this->ForEach(strided, false, [&](DeviceTensor* from) { inputs.push_back(from->Read()); });
      size_t next = 0;
      this->ForEach(dense, false, [&](DeviceTensor* to) { to->Write(inputs[next++]); });
      ASSERT_EQ(strided.Run(device).message, "");
      ASSERT_EQ(dense.Run(device).message, "");
      EXPECT_EQ(strided.Outputs(), dense.Outputs()) << seed;
    }
  }
}

TYPED_TEST_P(RoomRuns, ExecutorRunsAgainWithNewAddresses) {
  const Device device;
  for (const auto& shape : TypeParam::Shapes()) {
    const auto first = this->Make(shape, 0, {1, kNormal, false});
    const auto second = this->Make(shape, 0, {2, kNormal, false});
    const Planned planned = first.Plan();
    ASSERT_EQ(aclSetAclOpExecutorRepeatable(planned.executor()), 0);
    for (int run = 0; run < 3; ++run) {
      ASSERT_EQ(Execute(device, planned, first.phase2()).message, "");
      EXPECT_TRUE(first.IsRight());
      this->ForEach(first, true, [](DeviceTensor* output) { output->Scramble(); });
    }
    for (const CallOperand& operand : second.operands()) {
      auto* const any = const_cast<aclTensor*>(operand.tensor->handle());
      void* const data = operand.tensor->data();
      ASSERT_EQ(aclSetTensorAddr(planned.executor(), operand.index, any, data), 0);
    }
    ASSERT_EQ(Execute(device, planned, first.phase2()).message, "");
    EXPECT_TRUE(second.IsRight());
    EXPECT_TRUE(first.OutputsAreUntouched());
  }
}

// Several runs are in the queue when tensors and executor go; what else phase 1 was given is gone.
TYPED_TEST_P(RoomRuns, ArgumentsMayGoBeforeTheWorkRuns) {
  const Device device;
  for (const auto& shape : TypeParam::Shapes()) {
    const auto problem = this->Make(shape, 1, {3, kNormal, true});
    const Planned planned = problem.Plan();
    ASSERT_EQ(planned.outcome().message, "");
    const DeviceBuffer workspace(planned.workspace_size());
    ASSERT_EQ(aclSetAclOpExecutorRepeatable(planned.executor()), 0);
    {
      const Gate gate(device.stream());
      for (int run = 0; run < 3; ++run) {
        ASSERT_EQ(problem.phase2()(workspace.address(), planned.workspace_size(),
                                   planned.executor(), device.stream()),
                  0);
      }
      for (const bool outputs : {false, true}) {
        this->ForEach(problem, outputs, [](DeviceTensor* tensor) { tensor->DestroyHandle(); });
      }
      ASSERT_EQ(aclDestroyAclOpExecutor(planned.executor()), 0);
      EXPECT_TRUE(problem.OutputsAreUntouched()) << "the work ran behind a closed gate";
    }
    ASSERT_EQ(device.Synchronize().message, "");
    EXPECT_TRUE(problem.IsRight());
  }
}

// Each output in its turn is the one that overlaps.
TYPED_TEST_P(RoomRuns, MisuseIsRefused) {
  const Device device;
  for (const auto& shape : TypeParam::Shapes()) {
    for (uint64_t variant = 0; variant < std::min<uint64_t>(TypeParam::kVariants, 18); ++variant) {
      for (const CallOperand& output : this->Make(shape, variant, {}).operands()) {
        if (!output.is_output()) continue;
        SCOPED_TRACE(testing::Message() << output.name << " " << variant);
        const auto problem = this->Make(shape, variant, {});
        ExpectMisuseIsRefused(device, problem, output.index);
        EXPECT_TRUE(problem.IsRight());
      }
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(RoomRuns, NamedCases, RandomShapesTypesAndViews,
                            BitsAreThoseOfOneThreadAndEveryInstructionSet, BitsAreThoseOfDenseViews,
                            ExecutorRunsAgainWithNewAddresses, ArgumentsMayGoBeforeTheWorkRuns,
                            MisuseIsRefused);

}  // namespace openaclnn::test
