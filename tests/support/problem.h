// SPDX-License-Identifier: Apache-2.0
// A call of an operator with tensors and data of its own: what the Problems of all rooms are.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/support/accuracy.h"
#include "tests/support/call.h"
#include "tests/support/cases.h"
#include "tests/support/tensor.h"

namespace openaclnn::test {

/// How a Problem is filled.
struct Fill {
  uint64_t seed = 1;
  Values values = kNormal;
  bool strided = false;  // random views, else dense
  bool repeats = true;   // elements of strided inputs may coincide
};

/// A tensor of a call, as the API knows it.
struct CallOperand {
  /// kInputOrOutput: the output may be the very same view. kUnread: its values do not matter.
  enum Role { kInput, kInputOrOutput, kUnread, kOutput };

  const char* name;
  size_t index;  // among the operands of the API
  const DeviceTensor* tensor;
  Role role = kInput;

  bool is_output() const { return role == kOutput; }
  size_t bytes() const;
};

class OperatorProblem {
 public:
  OperatorProblem(const OperatorProblem&) = delete;
  virtual ~OperatorProblem() = default;

  const char* api() const { return api_; }
  Phase2 phase2() const { return phase2_; }
  /// In the order of the API, without those that are null.
  virtual std::vector<CallOperand> operands() const = 0;

  /// Phase 1; what it is given beside tensors is destroyed at once.
  virtual Planned Plan() const = 0;
  /// Both phases and synchronise.
  Outcome Run(const Device& device) const { return Execute(device, Plan(), phase2_); }

  /// The outputs within their bounds of the reference on the inputs as stored; inputs, and
  /// everything beside the outputs, as it was.
  testing::AssertionResult IsRight() const;
  std::vector<std::vector<std::byte>> Outputs() const;
  /// The outputs' bytes have not changed since they were written or scrambled.
  testing::AssertionResult OutputsAreUntouched() const;

  /// The work's least traffic: every input read once, the outputs written once.
  virtual int64_t LeastBytes() const;

  /// Replaces the data of a tensor: row-major, rounded to its type.
  static void Set(DeviceTensor* tensor, const std::vector<double>& values);

 protected:
  OperatorProblem(const char* api, Phase2 phase2) : api_(api), phase2_(phase2) {}

  virtual testing::AssertionResult OutputsAreRight() const = 0;

 private:
  const char* api_;
  Phase2 phase2_;
};

/// Runs it and checks the result.
void ExpectRight(const Device& device, const OperatorProblem& problem);
/// Within a property of rapidcheck.
void RequireRight(const Device& device, const OperatorProblem& problem);

/// A dense tensor, or a random view of which half end some bytes before their memory does; elements
/// may coincide if `may_repeat`.
DeviceTensor PlaceTensor(uint64_t seed, aclDataType dtype, const Dims& dims, bool strided,
                         bool may_repeat);

std::vector<double> ValuesOf(const DeviceTensor& tensor);
std::vector<double> Magnitudes(std::vector<double> values);
/// Zeros for each element of an output, of `terms` terms each.
ReferenceSums ZeroSums(const DeviceTensor& output, int64_t terms);
/// Elements without terms are +0, the others within their bounds.
testing::AssertionResult AreSums(const DeviceTensor& output, const ReferenceSums& sums);

}  // namespace openaclnn::test
