// SPDX-License-Identifier: Apache-2.0
// Phase 1 of every operator with shapes, steps and lists of any numbers: an executor, or a refusal
// in words.
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>

#include "declarations/headers.inc"
#include "generated/supporting_headers.inc"
#include "openaclnn/status.h"
#include "tests/support/address_space.h"
#include "tests/support/device.h"
#include "tests/torture/choices.h"

namespace openaclnn::test {
namespace {

using Numbers = std::vector<int64_t>;

/// Lengths whose products and multiples of bytes are about 2^31 and 2^63.
constexpr std::array<int64_t, 22> kLengths = {
    1,          2,         3,         4,         8,
    0,          5,         7,         16,        1LL << 15,
    46341,      1LL << 16, 1LL << 31, 1LL << 32, (1LL << 31) - 1,
    1LL << 40,  1LL << 60, 1LL << 61, 1LL << 62, INT64_MAX,
    3037000500, -1};

/// What a call's arguments have in common, so that some of them fit each other.
struct Theme {
  explicit Theme(Choices& choose) : choose(choose) {
    const int64_t rank = choose.Below(6);
    const bool plain = choose.One(4);
    for (int64_t i = 0; i < rank; ++i) {
      lengths.push_back(plain ? 1 + choose.Below(4) : choose.Of(kLengths));
    }
    type = choose.Of(kTypes);
  }

  aclDataType Type() { return choose.One(4) ? choose.Of(kTypes) : type; }

  Numbers Shape() {
    Numbers shape = lengths;
    if (choose.One(6)) shape.resize(static_cast<size_t>(choose.Below(6)), choose.Of(kLengths));
    if (shape.empty()) return shape;
    const auto at = shape.begin() + choose.Below(static_cast<int64_t>(shape.size()));
    switch (choose.Below(8)) {
      case 7:
        shape.erase(at);
        break;
      case 6:
        *at = choose.Of(kLengths);
        break;
      case 5:
        *at = 1;
        break;
      case 4:
        std::swap(*at, shape.front());
        break;
      case 3:
        shape.insert(at, choose.Of(kLengths));
        break;
      default:
        break;
    }
    return shape;
  }

  /// One of the lengths, a small number, or any.
  int64_t Number() {
    switch (choose.Below(8)) {
      case 7:
        return Extreme(choose);
      case 6:
        return choose.Of(kLengths);
      case 5:
      case 4:
        return lengths.empty() ? 1 : choose.Of(lengths);
      default:
        return choose.Below(5) - 1;
    }
  }

  static constexpr std::array<aclDataType, 8> kTypes = {
      ACL_FLOAT, ACL_FLOAT16, ACL_INT64, ACL_DOUBLE, ACL_BF16, ACL_INT32, ACL_UINT8, ACL_BOOL};

  Choices& choose;
  Numbers lengths;
  aclDataType type;
};

/// The objects of a call, until it is over.
class Objects {
 public:
  explicit Objects(Choices& choose) : theme_(choose), choose_(choose) {}
  Objects(const Objects&) = delete;
  ~Objects() {
    for (auto end = ends_.rbegin(); end != ends_.rend(); ++end) (*end)();
  }

  /// An argument of phase 1.
  template <class T>
  T Make() {
    using Bare = std::remove_cv_t<std::remove_pointer_t<T>>;
    if constexpr (std::is_same_v<T, uint64_t*>) {
      return &size;
    } else if constexpr (std::is_same_v<T, aclOpExecutor**>) {
      return &executor;
    } else if constexpr (std::is_same_v<Bare, aclTensor>) {
      return choose_.One(24) ? nullptr : Kept(Tensor(), aclDestroyTensor);
    } else if constexpr (std::is_same_v<Bare, aclTensorList>) {
      return List();
    } else if constexpr (std::is_same_v<Bare, aclScalar>) {
      return Kept(Scalar(), aclDestroyScalar);
    } else if constexpr (std::is_same_v<Bare, aclScalarList>) {
      std::vector<aclScalar*> members(static_cast<size_t>(choose_.Below(3)));
      for (aclScalar*& member : members) member = Scalar();
      return Kept(aclCreateScalarList(members.data(), members.size()), aclDestroyScalarList);
    } else if constexpr (std::is_same_v<Bare, aclIntArray>) {
      return Array();
    } else if constexpr (std::is_same_v<Bare, aclBoolArray>) {
      bool flags[4];
      for (bool& flag : flags) flag = !choose_.One(2);
      return Kept(aclCreateBoolArray(flags, choose_.One(6) ? 4 : 3), aclDestroyBoolArray);
    } else if constexpr (std::is_same_v<T, char*>) {
      return words_[static_cast<size_t>(choose_.Below(words_.size()))].data();
    } else if constexpr (std::is_same_v<T, aclDataType>) {
      return theme_.Type();
    } else if constexpr (std::is_floating_point_v<T>) {
      constexpr std::array<double, 7> kNumbers = {1, 0, 0.5, -1, 1e30, INFINITY, NAN};
      return static_cast<T>(choose_.Of(kNumbers));
    } else {
      return static_cast<T>(theme_.Number());
    }
  }

  uint64_t size = 77;
  aclOpExecutor* executor = nullptr;
  std::string text;

 private:
  template <class T, class End>
  T* Kept(T* object, End end) {
    ends_.push_back([=] { end(object); });
    return object;
  }

  aclTensor* Tensor() {
    const Numbers shape = theme_.Shape();
    // Without steps of its own a view is dense; with steps of 0 it has one element.
    Numbers strides(shape.size(), 0), storage = shape;
    const bool dense = !choose_.One(3);
    if (!dense && choose_.One(3)) {
      for (int64_t& stride : strides) stride = Extreme(choose_);
    }
    if (!dense && choose_.One(2)) storage = {choose_.Of(kLengths)};
    const int64_t offset = choose_.One(12) ? Extreme(choose_) : 0;
    Note("tensor", shape);
    return aclCreateTensor(shape.data(), shape.size(), theme_.Type(),
                           dense ? nullptr : strides.data(), offset, ACL_FORMAT_ND, storage.data(),
                           storage.size(), &memory_);
  }

  aclTensorList* List() {
    std::vector<aclTensor*> members(static_cast<size_t>(choose_.Below(4)));
    for (aclTensor*& member : members) member = Tensor();
    return Kept(aclCreateTensorList(members.data(), members.size()), aclDestroyTensorList);
  }

  aclScalar* Scalar() {
    double number = static_cast<double>(theme_.Number());
    int64_t integer = theme_.Number();
    return choose_.One(2) ? aclCreateScalar(&integer, ACL_INT64)
                          : aclCreateScalar(&number, ACL_DOUBLE);
  }

  aclIntArray* Array() {
    Numbers values(static_cast<size_t>(choose_.Below(6)));
    for (int64_t& value : values) value = theme_.Number();
    if (choose_.One(3)) values = theme_.Shape();
    Note("list", values);
    return Kept(aclCreateIntArray(values.data(), values.size()), aclDestroyIntArray);
  }

  void Note(const char* what, const Numbers& numbers) {
    text += std::string(" ") + what + "(";
    for (const int64_t number : numbers) text += " " + std::to_string(number);
    text += " )";
  }

  Theme theme_;
  Choices& choose_;
  std::vector<std::function<void()>> ends_;
  std::array<std::string, 9> words_ = {"BNSD", "BSND", "BSH", "SBH",    "none",
                                       "tanh", "",     "TND", "another"};
  double memory_ = 0;
};

/// What was said of an operator's calls.
struct Count {
  int taken = 0, refused = 0;
};

/// An operator's phase 1, whatever its type is.
struct Operator {
  const char* api;
  void (*plan)();
  aclnnStatus (*call)(void (*plan)(), Objects& objects);
};

template <class... Args>
Operator MakeOperator(const char* api, aclnnStatus (*plan)(Args...)) {
  return {api, reinterpret_cast<void (*)()>(plan), [](void (*given)(), Objects& objects) {
            // From left to right, as a call's arguments need not be.
            const std::tuple<Args...> arguments{objects.Make<Args>()...};
            return std::apply(reinterpret_cast<aclnnStatus (*)(Args...)>(given), arguments);
          }};
}

void Plan(const Operator& of, Choices& choose, Count* count) {
  Objects objects(choose);
  const Outcome outcome = TakeOutcome(of.call(of.plan, objects));
  RC_LOG(of.api + objects.text + "\n");
  if (outcome.ok()) {
    RC_ASSERT(aclDestroyAclOpExecutor(objects.executor) == 0);
    ++count->taken;
    return;
  }
  // Of other products, nulls, values, and memory that is not there.
  constexpr std::array<int, 4> kCodes = {ACLNN_ERR_PARAM_NULLPTR, ACLNN_ERR_PARAM_INVALID,
                                         ACLNN_ERR_RUNTIME_ERROR, ACL_ERROR_RT_MEMORY_ALLOCATION};
  RC_LOG(std::to_string(outcome.code) + ": " + outcome.message + "\n");
  RC_ASSERT(std::find(kCodes.begin(), kCodes.end(), outcome.code) != kCodes.end());
  RC_ASSERT((outcome.message.find(", expected ") != std::string::npos ||
             outcome.code == ACL_ERROR_RT_MEMORY_ALLOCATION));
  RC_ASSERT((objects.size == 77U && objects.executor == nullptr));
  ++count->refused;
}

std::vector<Operator> Operators() {
#define PHASE1(name, ...) MakeOperator(#name, name##GetWorkspaceSize),
  return {
#include "declarations/handles.inc"
#include "generated/tests/supporting_phase1.inc"
  };
#undef PHASE1
}

TEST(Plans, OfAnyShapes) {
  const Device device({{"ASCEND_GLOBAL_LOG_LEVEL", "4"}, {"OPENACLNN_SOC", "Ascend910B1"}});
  const auto operators = Operators();
  ASSERT_GT(operators.size(), 400U);
  // What is planned does not grow with the dimensions.
  const LittleAddressSpace little(rlim_t{1} << 30);
  std::map<std::string, Count> counts;
  EXPECT_TRUE(rc::check([&] {
    Choices choose(*Decisions(120));
    const Operator& chosen = choose.Of(operators);
    Plan(chosen, choose, &counts[chosen.api]);
  }));
  int taken = 0, refused = 0;
  size_t both = 0;
  for (const auto& [api, count] : counts) {
    taken += count.taken;
    refused += count.refused;
    both += count.taken > 0 && count.refused > 0;
  }
  std::printf("%d taken and %d refused, of %zu operators, %zu of them both\n", taken, refused,
              counts.size(), both);
}

}  // namespace
}  // namespace openaclnn::test
