// SPDX-License-Identifier: Apache-2.0
// Rows of views in tiles: each row once, with the elements of the views, and written where they
// lie.
#include "kernels/rows/packed_rows.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "tests/support/device.h"
#include "tests/support/layout.h"
#include "tests/support/tensor.h"

namespace openaclnn::test {
namespace {

TensorSpec SpecOf(const Layout& layout, aclDataType dtype) {
  return {.dims = layout.dims,
          .dtype = dtype,
          .strides = layout.strides,
          .offset = layout.offset,
          .storage = Dims{layout.storage}};
}

/// Floats and bytes of an input each, and what is to become of them: floats of an output.
struct Problem {
  Problem(Random& random, const Dims& dims)
      : x(RandomLayout(random, dims, true)),
        mask(RandomLayout(random, Masked(random, dims), true)),
        y(RandomLayout(random, dims, false)),
        x_memory(static_cast<size_t>(x.storage)),
        y_memory(static_cast<size_t>(y.storage), -1),
        mask_memory(static_cast<size_t>(mask.storage)) {
    std::iota(x_memory.begin(), x_memory.end(), 0.0f);
    for (uint8_t& byte : mask_memory) byte = static_cast<uint8_t>(Uniform(random, 0, 255));
  }

  static Dims Masked(Random& random, Dims dims) {
    for (size_t d = 0; d + 1 < dims.size(); ++d) {
      if (Uniform(random, 0, 3) == 0) dims[d] = 1;
    }
    return dims;
  }

  std::vector<float> Wanted() const {
    Layout shared = mask;
    for (size_t d = 0; d < x.dims.size(); ++d) {
      if (mask.dims[d] == 1) shared.strides[d] = 0;
    }
    shared.dims = x.dims;
    std::vector<float> each(static_cast<size_t>(x.count())), wanted = y_memory;
    ForEachElement(x, [&](int64_t at, int64_t i) {
      each[static_cast<size_t>(i)] = x_memory[static_cast<size_t>(at)];
    });
    ForEachElement(shared, [&](int64_t at, int64_t i) {
      each[static_cast<size_t>(i)] += mask_memory[static_cast<size_t>(at)];
    });
    ForEachElement(y, [&](int64_t at, int64_t i) {
      wanted[static_cast<size_t>(at)] = each[static_cast<size_t>(i)];
    });
    return wanted;
  }

  /// y = x + mask in memory of exactly the size that is asked for, unless there is none to pack.
  bool Run() {
    const TensorHandle x_tensor(SpecOf(x, ACL_FLOAT)), y_tensor(SpecOf(y, ACL_FLOAT));
    const TensorHandle mask_tensor(SpecOf(mask, ACL_BOOL));
    const Input x_operand("x", x_tensor.get()), mask_operand("mask", mask_tensor.get());
    const Output y_operand("y", y_tensor.get());
    const std::array<const Operand*, 3> operands = {&x_operand, &mask_operand, &y_operand};
    const PackedRows rows(operands);
    if (!rows.any()) return false;
    const auto bytes = rows.workspace_bytes();
    const auto room = std::make_unique<std::byte[]>(bytes);  // AddressSanitizer knows its end
    void* const data[] = {x_memory.data() + x.offset, mask_memory.data() + mask.offset,
                          y_memory.data() + y.offset};
    rows.ForRows(
        data, room.get(),
        [&](const PackedRows::Row& row) {
          const auto* const from = reinterpret_cast<const float*>(row[0]);
          const auto* const added = reinterpret_cast<const uint8_t*>(row[1]);
          auto* const to = reinterpret_cast<float*>(row[2]);
          for (int64_t j = 0; j < x.dims.back(); ++j) to[j] = from[j] + added[j];
        },
        [] {});
    return true;
  }

  Layout x, mask, y;
  std::vector<float> x_memory, y_memory;
  std::vector<uint8_t> mask_memory;
};

TEST(PackedRows, WriteWhatIsMadeOfEachRow) {
  const Device device({{"OPENACLNN_NUM_THREADS", "3"}});
  EXPECT_TRUE(rc::check([&] {
    Random random(*rc::gen::arbitrary<uint32_t>());
    const int64_t lengths[] = {1, 2, 3, 5, 16, 17, 70, 130};
    Dims dims;
    for (int64_t d = Uniform(random, 0, 3); d >= 0; --d) {
      dims.push_back(lengths[Uniform(random, d == 0 ? 1 : 0, dims.size() < 2 ? 7 : 4)]);
    }
    for (bool packed = false; !packed;) {
      Problem problem(random, dims);
      const std::vector<float> wanted = problem.Wanted();
      packed = problem.Run();
      if (packed) RC_ASSERT(problem.y_memory == wanted);
    }
  }));
}

PackedRows Plan(const Dims& dims, const Dims& x, const Dims& y) {
  const TensorHandle x_tensor({.dims = dims, .strides = x}), y_tensor({.dims = dims, .strides = y});
  const Input from("x", x_tensor.get());
  const Output to("y", y_tensor.get());
  const std::array<const Operand*, 2> operands = {&from, &to};
  return PackedRows(operands);
}

TEST(PackedRows, AreThoseWhoseElementsLieApart) {
  const Device device;
  EXPECT_FALSE(Plan({8, 30}, {30, 1}, {30, 1}).any());
  EXPECT_FALSE(Plan({8, 30}, {35, 1}, {0, 1}).any());
  EXPECT_FALSE(Plan({8, 1}, {1, 8}, {3, 3}).any());
  EXPECT_FALSE(Plan({0, 30}, {1, 8}, {30, 1}).any());
  EXPECT_TRUE(Plan({8, 30}, {1, 8}, {30, 1}).any());
  EXPECT_TRUE(Plan({8, 30}, {30, 1}, {60, 2}).any());
  EXPECT_TRUE(Plan({8, 30}, {-30, -1}, {30, 1}).any());
}

// However many threads there are, no more than the views that are packed, and the gaps between
// cache lines.
TEST(PackedRows, TakeATileForEachThread) {
  for (const int threads : {1, 2, 64}) {
    const Device device({{"OPENACLNN_NUM_THREADS", std::to_string(threads)}});
    for (const int64_t width : {2, 30, 512, 4096}) {
      for (const int64_t rows : {1, 63, 64, 65, 127, 1000, 20000}) {
        const PackedRows plan = Plan({rows, width}, {1, rows}, {width, 1});
        const auto all = static_cast<uint64_t>(rows * width) * sizeof(float);
        EXPECT_LE(plan.workspace_bytes(), all + static_cast<uint64_t>(threads) * 64);
        EXPECT_LE(plan.workspace_bytes(),
                  static_cast<uint64_t>(threads) * (std::max<int64_t>(64 * width, 32768) * 4 + 64));
      }
    }
  }
}

}  // namespace
}  // namespace openaclnn::test
