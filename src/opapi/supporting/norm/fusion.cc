// SPDX-License-Identifier: Apache-2.0
// Sums of groups before a normalisation.
#include "supporting/norm/fusion.h"

#include "kernels/rows/double_rows.h"

namespace openaclnn::supporting {

void Term::AddTo(const Buffers& buffers, int64_t row, std::vector<double>* values) const {
  const std::vector<double> own = view_.Load(buffers, has_groups_ ? row : 0);
  DoubleRows().sum.join(own.data(), static_cast<int64_t>(own.size()), values->data());
}

void Fusion::Sum(const Buffers& buffers, int64_t row, std::vector<double>* x) const {
  if (factor != 1) DoubleRows().scale(x->data(), 0, factor, static_cast<int64_t>(x->size()));
  for (const Term& term : terms) term.AddTo(buffers, row, x);
}

}  // namespace openaclnn::supporting
