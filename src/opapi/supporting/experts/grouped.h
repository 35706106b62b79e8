// SPDX-License-Identifier: Apache-2.0
// Products of matrices of many shapes in one task: the groups of a grouped product.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/gemm/gemm.h"
#include "supporting/family.h"

namespace openaclnn::supporting {

/// A matrix as its strides lie, in elements; without an address where a plan has it.
struct GroupMatrix {
  std::byte* at = nullptr;
  int32_t dtype = ACL_FLOAT;
  int64_t row_step = 0, column_step = 0;

  /// Begins at another row or column.
  GroupMatrix From(int64_t row, int64_t column) const;
};

/// The last two dimensions of a tensor, or the one of a vector that is every row; `at` null.
GroupMatrix MatrixOfTensor(const Tensor& tensor);

/// c = a b + added of a group; `adds` says that added takes part.
struct Group {
  int64_t rows = 0, columns = 0, terms = 0;
  GroupMatrix a = {}, b = {}, c = {}, added = {};
  bool adds = false;
};

/// Plans and runs one product after the other, or several at once, each by one thread.
class ProductGroups {
 public:
  ProductGroups() = default;
  /// Takes groups of the kinds of `largest`: with its matrices, or fewer rows or terms of them.
  /// `count` groups at most run at once.
  ProductGroups(const std::vector<Group>& largest, int64_t count);

  uint64_t scratch_bytes() const { return bytes_; }
  /// Threads that may work on groups of their own; each has a number below this one.
  int64_t slots() const { return slots_; }

  /// The threads that work on a group: one with a number, alone, or all of them together.
  struct Worker {
    bool alone;
    int64_t slot;
    std::byte* scratch;
  };

  /// Calls work(group, worker) for all groups that cost something. Groups that are a large part of
  /// all are worked on one after the other, by all threads; the others side by side.
  void Run(const std::vector<double>& costs, std::byte* scratch,
           const std::function<void(size_t, const Worker&)>& work) const;

  /// The product of one group.
  void Multiply(const Group& group, const Worker& worker) const;
  /// The products of all groups.
  void Multiply(const std::vector<Group>& groups, std::byte* scratch) const;

  /// About how long a product takes, in multiplications.
  static double CostOf(int64_t rows, int64_t columns, int64_t terms);

 private:
  int64_t slots_ = 1;
  uint64_t together_ = 0, alone_ = 0, bytes_ = 0;  // of one product
};

/// The numbers of rows or terms of groups, from what a tensor or an array of them holds.
struct GroupSizes {
  enum Kind { kTotals = 0, kCounts = 1, kPairs = 2 };

  /// Sizes of `count` groups of at most `limit` in all; pairs name their groups. Checks the
  /// numbers.
  static Status Of(const char* name, const std::vector<int64_t>& numbers, Kind kind, int64_t count,
                   int64_t limit, GroupSizes* sizes);

  struct Part {
    int64_t group, begin, size;
  };
  std::vector<Part> parts;
};

}  // namespace openaclnn::supporting
