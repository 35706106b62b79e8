// SPDX-License-Identifier: Apache-2.0
// A call of an operator by its graph name: its operands and attributes, and the handles that
// libopapi's first phases take.
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "acl/acl_rt.h"
#include "common/text.h"
#include "graph_tensor.h"

namespace openaclnn {

template <auto kDestroy>
struct Destroy {
  template <class Handle>
  void operator()(Handle* handle) const {
    kDestroy(handle);
  }
};

/// The way in which an operator takes an operand.
enum class OperandUse : uint8_t {
  kDevice,    // kernels read or write it
  kIntegers,  // the host knows its values: integers
  kNumber,    // the host knows its value: one number
  kAnywhere,  // no kernel reads it, or the calls look where it is
};

struct GraphOperand {
  const char* name;
  OperandUse use = OperandUse::kDevice;
  bool optional = false;
  bool many = false;  // as many as the program gives
};

struct GraphAttribute {
  enum Kind : uint8_t { kFlag, kInteger, kReal, kText, kIntegers, kReals, kType };

  const char* name;
  Kind kind;
  bool required;
};

/// An argument of libopapi that is left out.
struct NotGiven {
  operator GraphTensor() const { return {}; }  // NOLINT(google-explicit-constructor): as one
};
constexpr NotGiven none;  // NOLINT(readability-identifier-naming): records name it

class GraphCall {
 public:
  using Attribute =
      std::variant<std::monostate, bool, int64_t, double, std::string, Dims, std::vector<double>>;

  GraphCall(std::span<const GraphOperand> row_inputs, aclrtStream stream)
      : row_inputs_(row_inputs), stream_(stream) {}

  // Operands, by their places in the record. One that is left out is not given().
  const GraphTensor& input(size_t i) const { return OneOf(inputs, i); }
  const GraphTensor& output(size_t i) const { return OneOf(outputs, i); }
  const std::vector<GraphTensor>& inputs_of(size_t i) const { return inputs[i]; }
  const std::vector<GraphTensor>& outputs_of(size_t i) const { return outputs[i]; }
  const GraphTensor& scratch(size_t i) const { return scratches[i]; }

  /// The values of an input that the host knows.
  Dims integers(size_t input) const;
  double number(size_t input) const;
  /// The value of an input of one number that may be on the device: then this waits for the stream.
  double read(size_t input) const;

  /// An attribute, by its place in the record; `otherwise` if it is not set.
  template <class T>
  T attribute(size_t i, T otherwise = T()) const {
    const T* const set = std::get_if<T>(&attributes[i]);
    return set != nullptr ? *set : otherwise;
  }

  /// Memory that is there while the operator runs.
  const GraphTensor& AddScratch(aclDataType dtype, const Dims& dims);

  /// Ends the call.
  [[noreturn]] static void Refuse(int code, std::string text);

  // Handles, which live as long as the call.
  aclTensor* TensorOf(const GraphTensor& tensor);  // null for one that is not given
  static aclTensor* TensorOf(NotGiven) { return nullptr; }
  static aclIntArray* IntArrayOf(NotGiven) { return nullptr; }
  aclTensorList* TensorListOf(const std::vector<GraphTensor>& tensors);
  aclScalar* ScalarOf(double value);
  aclScalar* ScalarOf(int64_t value);
  aclScalar* ScalarOf(int value) { return ScalarOf(int64_t{value}); }
  aclScalar* ScalarOf(bool value);
  aclIntArray* IntArrayOf(const Dims& values);
  aclBoolArray* BoolArrayOf(const std::vector<bool>& values);
  char* TextOf(const std::string& text);

  std::vector<std::vector<GraphTensor>> inputs, outputs;
  std::deque<GraphTensor> scratches;
  int64_t turn = 0;  // of a step that is called several times
  std::vector<Attribute> attributes;

 private:
  template <class Handle, auto kDestroy>
  using Kept = std::vector<std::unique_ptr<Handle, Destroy<kDestroy>>>;

  static const GraphTensor& OneOf(const std::vector<std::vector<GraphTensor>>& of, size_t i);

  const std::span<const GraphOperand> row_inputs_;
  const aclrtStream stream_;
  Kept<aclTensor, aclDestroyTensor> tensors_;
  Kept<aclTensorList, aclDestroyTensorList> lists_;
  Kept<aclScalar, aclDestroyScalar> scalars_;
  Kept<aclIntArray, aclDestroyIntArray> integers_;
  Kept<aclBoolArray, aclDestroyBoolArray> flags_;
  std::deque<std::string> texts_;
};

}  // namespace openaclnn
