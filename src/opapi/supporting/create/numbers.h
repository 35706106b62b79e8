// SPDX-License-Identifier: Apache-2.0
// Tensors whose elements are made from their numbers in row-major order.
#pragma once

#include <algorithm>

#include "kernels/work/parallel.h"
#include "supporting/complex.h"

namespace openaclnn::supporting {

/// Writes what make(begin, n, numbers) makes of elements begin … begin + n - 1, a few at a time.
template <class T, class Make>
Plan MakeNumbers(const Tensor& out, const Make& make) {
  constexpr int64_t kRun = 512, kBlock = 8192, kMostBlocks = 1024;
  const int64_t count = *out.count(), bytes = BytesOf(out);
  return {0,
          [=, to = Offsets(out, out.rank()), store = StoreOf<T>(out),
           out_at = out.place](const Buffers& buffers) -> Status {
            const int64_t blocks = BlockCount(count, kBlock, kMostBlocks), step = to.step() * bytes;
            ParallelFor(blocks, [&](int64_t block) {
              const int64_t end = BlockBegin(count, blocks, block + 1);
              for (int64_t i = BlockBegin(count, blocks, block); i < end; i += kRun) {
                const int64_t n = std::min(kRun, end - i);
                T numbers[kRun];
                make(i, n, numbers);
                if (step != 0) {
                  store(numbers, n, out_at(buffers) + i * step, step);
                  continue;
                }
                for (int64_t k = 0; k < n; ++k) {
                  store(numbers + k, 1, out_at(buffers) + to(i + k) * bytes, 0);
                }
              }
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
