// SPDX-License-Identifier: Apache-2.0
// AttentionUpdate: results of attention over parts of the keys become that over all of them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "generated/attention.h"
#include "supporting/attention/heads.h"
#include "supporting/row_group.h"

namespace openaclnn::supporting {
namespace {

constexpr size_t kMostParts = 16;
constexpr int64_t kRowsTogether = 64;  // of one allocation

/// A part: its result's rows, and of each the log of its sum of exponentials.
struct Part {
  Place out, sums;
  int64_t row_bytes, element_bytes, sum_bytes;
};

}  // namespace

void CheckAttentionUpdate(const AttentionUpdateParams& p, Checker& checker) {
  checker.That(p.lse.size >= 1 && p.lse.size <= kMostParts,
               [&] { return Concat("lse size is ", p.lse.size, ", expected 1 to ", kMostParts); });
  checker.That(p.localOut.size == p.lse.size, [&] {
    return Concat("localOut size is ", p.localOut.size, ", expected ", p.lse.size, ", that of lse");
  });
  if (!checker.ok()) return;
  checker.Rank(p.out, 2);
  CheckType(p.out, checker);
  if (!checker.ok()) return;
  for (size_t i = 0; i < p.lse.size; ++i) {
    checker.SameShapeAndDtype(p.localOut[i], p.out);
    CheckShape(p.lse[i], {p.out.dim(0)}, checker);
    checker.That(p.lse[i].dtype() == ACL_FLOAT, [&] { return DtypeIs(p.lse[i], "FLOAT"); });
  }
  checker.That(p.out.dim(1) >= 8 && p.out.dim(1) <= 512 && p.out.dim(1) % 8 == 0, [&] {
    return Concat("out shape is ", ShapeText(p.out),
                  ", expected rows of a multiple of 8 elements, at most 512");
  });
  if (p.updateType == 0) return;
  checker.That(p.lseOut.present(), [&] {
    return Concat("lseOut value is null, expected a tensor, as updateType is 1");
  });
  if (!checker.ok()) return;
  CheckShape(p.lseOut, {p.out.dim(0)}, checker);
  checker.That(p.lseOut.dtype() == ACL_FLOAT, [&] { return DtypeIs(p.lseOut, "FLOAT"); });
}

// In double. A row of which every part has -infinity has seen no key: it becomes 0.
Plan PlanAttentionUpdate(const AttentionUpdateParams& p, const Product&) {
  const auto part_of = [](const Tensor& out, const Tensor& sums) -> Part {
    const auto& strides = out.tensor().strides;
    const int64_t bytes = BytesOf(out);
    return {out.place, sums.place, strides[0] * bytes, strides[1] * bytes,
            sums.tensor().strides[0] * static_cast<int64_t>(sizeof(float))};
  };
  std::vector<Part> parts;
  for (size_t i = 0; i < p.lse.size; ++i) parts.push_back(part_of(p.localOut[i], p.lse[i]));
  const bool asked = p.updateType == 1;
  const Part result = part_of(p.out, asked ? p.lseOut : p.lse[0]);
  return {0,
          [=, rows = p.out.dim(0), width = p.out.dim(1), load = LoaderOf<double>(p.out.dtype()),
           store = StorerOf<double>(p.out.dtype())](const Buffers& buffers) -> Status {
            constexpr double kNone = -std::numeric_limits<double>::infinity();
            ParallelRowGroups(rows, width, kRowsTogether, [&](int64_t first, int64_t count) {
              std::vector<double> sum(static_cast<size_t>(width)), one(sum.size());
              for (int64_t row = first; row < first + count; ++row) {
                std::fill(sum.begin(), sum.end(), 0.0);
                std::array<double, kMostParts> logs;
                double max = kNone, total = 0;
                for (size_t i = 0; i < parts.size(); ++i) {
                  const std::byte* const at = parts[i].sums(buffers) + row * parts[i].sum_bytes;
                  logs[i] = *reinterpret_cast<const float*>(at);
                  max = std::isnan(logs[i]) || logs[i] > max ? logs[i] : max;
                }
                for (size_t i = 0; i < parts.size() && max != kNone; ++i) {
                  const double weight = std::exp(logs[i] - max);
                  total += weight;
                  load(parts[i].out(buffers) + row * parts[i].row_bytes, parts[i].element_bytes,
                       width, one.data());
                  // A part that has seen no key adds nothing, whatever its result is.
                  for (size_t j = 0; j < sum.size() && weight != 0; ++j) sum[j] += weight * one[j];
                }
                for (double& each : sum) each = total == 0 ? 0 : each / total;
                store(sum.data(), width, result.out(buffers) + row * result.row_bytes,
                      result.element_bytes);
                if (!asked) continue;
                std::byte* const to = result.sums(buffers) + row * result.sum_bytes;
                *reinterpret_cast<float*>(to) =
                    static_cast<float>(total == 0 ? kNone : max + std::log(total));
              }
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
