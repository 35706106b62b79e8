// SPDX-License-Identifier: Apache-2.0
// Tools of the tests of the supporting operators: tensors of numbers, scalars, calls.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "generated/supporting_headers.inc"
#include "tests/support/call.h"
#include "tests/support/int_list.h"
#include "tests/support/numbers.h"
#include "tests/support/tensor.h"

namespace openaclnn::test {

using Doubles = std::vector<double>;

inline const aclDataType kTypes[] = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16,  ACL_DOUBLE,
                                     ACL_INT8,  ACL_UINT8,   ACL_INT16, ACL_UINT16,
                                     ACL_INT32, ACL_UINT32,  ACL_INT64, ACL_BOOL};

inline bool IsFloat(aclDataType dtype) {
  return dtype == ACL_FLOAT || dtype == ACL_FLOAT16 || dtype == ACL_BF16 || dtype == ACL_DOUBLE;
}

/// A view that holds values; some of the views of a test are dense, most are not.
inline DeviceTensor Make(aclDataType dtype, const Dims& dims, const Doubles& values,
                         Random& random) {
  DeviceTensor tensor(dtype, RandomLayout(random, dims, false));
  tensor.Write(ToBytes(dtype, values));
  return tensor;
}

inline DeviceTensor Make(aclDataType dtype, const Dims& dims, const Doubles& values) {
  DeviceTensor tensor(dtype, DenseLayout(dims));
  tensor.Write(ToBytes(dtype, values));
  return tensor;
}

inline Doubles ValuesOf(const DeviceTensor& tensor) {
  return ToDoubles(tensor.dtype(), tensor.Read());
}

/// Small integers, which every type holds.
inline Doubles SmallValues(Random& random, int64_t count, int64_t low = 0, int64_t high = 9) {
  Doubles values(static_cast<size_t>(count));
  for (double& value : values) value = static_cast<double>(Uniform(random, low, high));
  return values;
}

template <class Plan>
Outcome Call(const Device& device, Phase2 run, Plan&& plan) {
  const Planned planned = Planned::Plan(plan);
  return planned.outcome().ok() ? Execute(device, planned, run) : planned.outcome();
}

template <class Plan>
void Refused(int code, const std::string& says, Plan&& plan) {
  const Planned planned = Planned::Plan(plan);
  EXPECT_EQ(planned.outcome().code, code) << planned.outcome().message;
  EXPECT_NE(planned.outcome().message.find(says), std::string::npos) << planned.outcome().message;
  EXPECT_TRUE(planned.untouched());
}

inline aclTensor* Handle(const DeviceTensor& tensor) {
  return const_cast<aclTensor*>(tensor.handle());
}

class ScalarHandle {
 public:
  explicit ScalarHandle(double value) : handle_(aclCreateScalar(&value, ACL_DOUBLE)) {}
  explicit ScalarHandle(int64_t value) : handle_(aclCreateScalar(&value, ACL_INT64)) {}
  ScalarHandle(const ScalarHandle&) = delete;
  ~ScalarHandle() { aclDestroyScalar(handle_); }
  aclScalar* get() const { return handle_; }

 private:
  aclScalar* handle_;
};

/// Numbers between two others.
inline Doubles RealValues(Random& random, int64_t count, double low = -2, double high = 2) {
  Doubles values(static_cast<size_t>(count));
  std::uniform_real_distribution<double> uniform(low, high);
  for (double& value : values) value = uniform(random);
  return values;
}

/// A list of tensors that are views of the memory of others.
class ListHandle {
 public:
  explicit ListHandle(const std::vector<const DeviceTensor*>& members) {
    std::vector<aclTensor*> tensors;
    for (const DeviceTensor* member : members) {
      const Layout& layout = member->layout();
      tensors.push_back(aclCreateTensor(layout.dims.data(), layout.dims.size(), member->dtype(),
                                        layout.strides.data(), layout.offset, ACL_FORMAT_ND,
                                        &layout.storage, 1, member->data()));
    }
    handle_ = aclCreateTensorList(tensors.data(), tensors.size());
  }
  ListHandle(const ListHandle&) = delete;
  ~ListHandle() { aclDestroyTensorList(handle_); }
  aclTensorList* get() const { return handle_; }

 private:
  aclTensorList* handle_ = nullptr;
};

/// An array of numbers; null if there are none.
class IntsHandle {
 public:
  explicit IntsHandle(const std::vector<int64_t>& values)
      : handle_(values.empty() ? nullptr : aclCreateIntArray(values.data(), values.size())) {}
  IntsHandle(const IntsHandle&) = delete;
  ~IntsHandle() {
    if (handle_ != nullptr) aclDestroyIntArray(handle_);
  }
  aclIntArray* get() const { return handle_; }

 private:
  aclIntArray* handle_;
};

class FlagsHandle {
 public:
  FlagsHandle(std::initializer_list<bool> flags)
      : handle_(aclCreateBoolArray(flags.begin(), flags.size())) {}
  FlagsHandle(const FlagsHandle&) = delete;
  ~FlagsHandle() { aclDestroyBoolArray(handle_); }
  aclBoolArray* get() const { return handle_; }

 private:
  aclBoolArray* handle_;
};

/// As far from `want` as two roundings to the type and a float function may be.
inline void ExpectNear(const Doubles& got, const Doubles& want, aclDataType dtype,
                       double relative = 0, double absolute = 0) {
  if (relative == 0) {
    relative = dtype == ACL_DOUBLE    ? 1e-12
               : dtype == ACL_FLOAT   ? 2e-6
               : dtype == ACL_FLOAT16 ? 2e-3
                                      : 1.6e-2;
  }
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(want[i]) || std::isinf(want[i])) {
      ASSERT_EQ(std::isnan(got[i]), std::isnan(want[i])) << i << ": " << got[i];
      if (std::isinf(want[i])) {
        ASSERT_EQ(got[i], want[i]) << i;
      }
      continue;
    }
    const double bound = absolute + relative * std::max(std::abs(want[i]), 1e-2);
    ASSERT_NEAR(got[i], want[i], bound) << i;
  }
}

/// d(sum of weights * function)/dx of each element by differences.
template <class Function>
Doubles Slopes(const Doubles& x, const Doubles& weights, const Function& function) {
  const auto weighted = [&](const Doubles& at) {
    const Doubles y = function(at);
    double sum = 0;
    for (size_t i = 0; i < y.size(); ++i) sum += weights[i % weights.size()] * y[i];
    return sum;
  };
  Doubles slopes;
  for (size_t i = 0; i < x.size(); ++i) {
    Doubles above = x, below = x;
    above[i] += 1e-6;
    below[i] -= 1e-6;
    slopes.push_back((weighted(above) - weighted(below)) / 2e-6);
  }
  return slopes;
}

// Tensors of double.
inline DeviceTensor Of(const Dims& dims, const Doubles& values) {
  return Make(ACL_DOUBLE, dims, values);
}
inline DeviceTensor Empty(const Dims& dims) { return DeviceTensor(ACL_DOUBLE, DenseLayout(dims)); }
// Tensors of float.
inline DeviceTensor Floats(const Dims& dims, const Doubles& values) {
  return Make(ACL_FLOAT, dims, values);
}
inline DeviceTensor EmptyFloats(const Dims& dims) {
  return DeviceTensor(ACL_FLOAT, DenseLayout(dims));
}

/// The values that numbers have in a type.
inline Doubles Held(aclDataType dtype, const Doubles& values) {
  return ToDoubles(dtype, ToBytes(dtype, values));
}

}  // namespace openaclnn::test

/// Runs aclnn<name>; what follows are the arguments of its first phase.
#define RUN(device, name, ...)                                  \
  ::openaclnn::test::Call(device, aclnn##name, [&](auto... o) { \
    return aclnn##name##GetWorkspaceSize(__VA_ARGS__, o...);    \
  })
/// Runs an operator, which must succeed.
#define EXPECT_RUN(device, name, ...) EXPECT_EQ(RUN(device, name, __VA_ARGS__).message, "")
/// The first phase must refuse.
#define EXPECT_REFUSED(code, says, name, ...) \
  ::openaclnn::test::Refused(                 \
      code, says, [&](auto... o) { return aclnn##name##GetWorkspaceSize(__VA_ARGS__, o...); })
