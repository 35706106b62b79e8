// SPDX-License-Identifier: Apache-2.0
// Data, calls and reference of Embedding's tests.
#include "embedding/forward/test_case.h"

#include <rapidcheck.h>

#include <algorithm>

#include "embedding/forward/reference.h"
#include "tests/support/numbers.h"

namespace openaclnn::test::embedding::forward {
namespace {

Dims With(Dims dims, int64_t last) {
  dims.push_back(last);
  return dims;
}

/// Elements as numbers that tell any two bit patterns apart.
template <class T>
std::vector<uint64_t> Widen(const std::vector<std::byte>& bytes) {
  std::vector<uint64_t> numbers(bytes.size() / sizeof(T));
  for (size_t i = 0; i < numbers.size(); ++i) {
    T value;
    std::copy_n(&bytes[i * sizeof(T)], sizeof(T), reinterpret_cast<std::byte*>(&value));
    numbers[i] = value;
  }
  return numbers;
}

std::vector<uint64_t> Numbers(const DeviceTensor& tensor) {
  switch (aclDataTypeSize(tensor.dtype())) {
    case 1:
      return Widen<uint8_t>(tensor.Read());
    case 2:
      return Widen<uint16_t>(tensor.Read());
    case 4:
      return Widen<uint32_t>(tensor.Read());
    default:
      return Widen<uint64_t>(tensor.Read());
  }
}

}  // namespace

const std::vector<Case>& Room::Cases() {
  static const std::vector<Case> cases = {
#include "embedding/forward/cases.inc"
  };
  return cases;
}

Planned Plan(const Spec& spec) {
  const TensorHandle weight(spec.weight), indices(spec.indices), out(spec.out);
  return Planned::Plan([&](uint64_t* workspace_size, aclOpExecutor** executor) {
    return aclnnEmbeddingGetWorkspaceSize(weight.get(), indices.get(), out.get(),
                                          spec.null_workspace_size ? nullptr : workspace_size,
                                          spec.null_executor ? nullptr : executor);
  });
}

Case Room::Random() {
  Case shape{"", kSmoke, {}, 0, 0, kUniformRows};
  const int rank = *rc::gen::inRange(0, 8);
  for (int axis = 0; axis < rank; ++axis) {
    shape.index_dims.push_back(*rc::gen::inRange<int64_t>(0, rank < 3 ? 40 : 4));
  }
  shape.width = *rc::gen::element(0, 1, 2, 7, 16, 33, 200);
  shape.num_rows = *rc::gen::element(1, 2, 100, 3000);
  return shape;
}

Problem Room::Make(const Case& shape, uint64_t variant, const Fill& fill) {
  // INT64 first.
  const size_t index = (variant / kMovedDtypes.size() + 4) % kIndexDtypes.size();
  return Problem(shape, {TypeOf(variant), kIndexDtypes[index]}, fill);
}

Problem::Problem(const Case& shape, const Types& types, const Fill& fill)
    : OperatorProblem(kApi, aclnnEmbedding),
      weight(PlaceTensor(fill.seed, types.weight, {shape.num_rows, shape.width}, fill.strided,
                         fill.repeats)),
      indices(
          PlaceTensor(fill.seed + 1, types.indices, shape.index_dims, fill.strided, fill.repeats)),
      out(PlaceTensor(fill.seed + 2, types.weight, With(shape.index_dims, shape.width),
                      fill.strided, false)),
      case_(shape) {
  Random random(fill.seed);
  std::vector<std::byte> bytes(static_cast<size_t>(weight.layout().count()) *
                               aclDataTypeSize(types.weight));
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::byte>(random() >> 56); });
  weight.Write(bytes);
  const int64_t limit = std::min(shape.num_rows, LargestRow(types.indices) + 1);
  const auto rows = RandomRows(random, indices.layout().count(), limit, shape.rows);
  SetIndices({rows.begin(), rows.end()});
}

std::vector<CallOperand> Problem::operands() const {
  return {{"weight", 0, &weight}, {"indices", 1, &indices}, {"out", 2, &out, CallOperand::kOutput}};
}

Planned Problem::Plan() const {
  return Planned::Plan([&](uint64_t* workspace_size, aclOpExecutor** executor) {
    return aclnnEmbeddingGetWorkspaceSize(weight.handle(), indices.handle(), out.handle(),
                                          workspace_size, executor);
  });
}

testing::AssertionResult Problem::OutputsAreRight() const {
  std::vector<int64_t> idx;
  for (const double value : ValuesOf(indices)) {
    idx.push_back(static_cast<int64_t>(value));
  }
  const std::vector<uint64_t> w = Numbers(weight), got = Numbers(out);
  std::vector<uint64_t> y(got.size());
  if (!y.empty()) {
    openaclnn::embedding::forward::Reference(static_cast<int64_t>(idx.size()), case_.width,
                                             w.data(), idx.data(), y.data());
  }
  const auto miss = std::mismatch(got.begin(), got.end(), y.begin());
  if (miss.first == got.end()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "element " << miss.first - got.begin() << " is "
                                     << *miss.first << ", not " << *miss.second;
}

int64_t Problem::LeastBytes() const {
  const int64_t tokens = indices.layout().count();
  return tokens * static_cast<int64_t>(aclDataTypeSize(indices.dtype())) +
         2 * tokens * case_.width * static_cast<int64_t>(aclDataTypeSize(weight.dtype()));
}

}  // namespace openaclnn::test::embedding::forward
