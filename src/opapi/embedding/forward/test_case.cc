// SPDX-License-Identifier: Apache-2.0
// Data, calls and reference of Embedding's tests.
#include "embedding/forward/test_case.h"

#include <algorithm>
#include <cmath>

#include "embedding/forward/reference.h"
#include "tests/support/numbers.h"

namespace openaclnn::test::embedding::forward {
namespace {

Dims With(Dims dims, int64_t last) {
  dims.push_back(last);
  return dims;
}

DeviceTensor Make(uint64_t seed, aclDataType dtype, const Dims& dims, bool strided,
                  bool may_repeat) {
  Random random(seed);
  return DeviceTensor(dtype, strided ? RandomLayout(random, dims, may_repeat) : DenseLayout(dims),
                      strided ? static_cast<size_t>(16 * Uniform(random, 0, 1)) : 0);
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

const std::vector<Case>& Cases() {
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

Problem::Problem(const Case& shape, const Types& types, uint64_t seed, bool strided)
    : weight(Make(seed, types.weight, {shape.num_rows, shape.width}, strided, true)),
      indices(Make(seed + 1, types.indices, shape.index_dims, strided, true)),
      out(Make(seed + 2, types.weight, With(shape.index_dims, shape.width), strided, false)),
      case_(shape) {
  Random random(seed);
  std::vector<std::byte> bytes(static_cast<size_t>(weight.layout().count()) *
                               aclDataTypeSize(types.weight));
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::byte>(random() >> 56); });
  weight.Write(bytes);
  const int64_t limit = types.indices == ACL_BOOL   ? 2
                        : types.indices == ACL_INT8 ? 128
                                                    : int64_t{1} << 24;
  const auto rows =
      RandomRows(random, indices.layout().count(), std::min(limit, shape.num_rows), shape.rows);
  SetIndices({rows.begin(), rows.end()});
}

void Problem::SetIndices(const std::vector<double>& values) {
  indices.Write(ToBytes(indices.dtype(), values));
}

Planned Problem::Plan() const {
  return Planned::Plan([&](uint64_t* workspace_size, aclOpExecutor** executor) {
    return aclnnEmbeddingGetWorkspaceSize(weight.handle(), indices.handle(), out.handle(),
                                          workspace_size, executor);
  });
}

Outcome Problem::Run(const Device& device) const { return Execute(device, Plan(), aclnnEmbedding); }

testing::AssertionResult Problem::IsRight() const {
  for (const DeviceTensor* input : {&weight, &indices}) {
    if (const std::string change = input->Change(); !change.empty()) {
      return testing::AssertionFailure() << "an input was written: " << change;
    }
  }
  if (const std::string damage = out.Damage(); !damage.empty()) {
    return testing::AssertionFailure() << "beside out: " << damage;
  }
  std::vector<int64_t> idx;
  for (const double value : ToDoubles(indices.dtype(), indices.Read())) {
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

int64_t LeastBytes(const Case& shape, const Types& types) {
  const int64_t tokens = CountOf(shape.index_dims);
  return tokens * static_cast<int64_t>(aclDataTypeSize(types.indices)) +
         2 * tokens * shape.width * static_cast<int64_t>(aclDataTypeSize(types.weight));
}

}  // namespace openaclnn::test::embedding::forward
