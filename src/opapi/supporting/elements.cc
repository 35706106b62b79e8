// SPDX-License-Identifier: Apache-2.0
// Elements of tensors.
#include "supporting/elements.h"

namespace openaclnn::supporting {

Elements::Elements(const Tensor& operand, double missing)
    : place_(operand.place), missing_(missing) {
  if (!operand.present() || operand.empty()) return;
  count_ = *operand.count();
  offsets_ = Offsets(operand, operand.rank());
  bytes_ = BytesOf(operand);
  load_ = LoaderOf<double>(operand.dtype());
  load_whole_ = LoaderOf<int64_t>(operand.dtype());
  store_ = StorerOf<double>(operand.dtype());
}

double Elements::Get(const Buffers& buffers, int64_t i) const {
  double value = missing_;
  if (count_ > 0) load_(place_(buffers) + offsets_(i) * bytes_, 0, 1, &value);
  return value;
}

void Elements::Set(const Buffers& buffers, int64_t i, double value) const {
  if (count_ > 0) store_(&value, 1, place_(buffers) + offsets_(i) * bytes_, 0);
}

void Elements::SetRun(const Buffers& buffers, int64_t begin, const double* values,
                      int64_t n) const {
  if (count_ == 0) return;
  const int64_t step = offsets_.step();
  if (step != 0) {
    store_(values, n, place_(buffers) + begin * step * bytes_, step * bytes_);
    return;
  }
  for (int64_t i = 0; i < n; ++i) Set(buffers, begin + i, values[i]);
}

void Elements::SetAll(const Buffers& buffers, const std::vector<double>& values) const {
  SetRun(buffers, 0, values.data(), static_cast<int64_t>(values.size()));
}

std::vector<double> Elements::All(const Buffers& buffers) const {
  std::vector<double> values(static_cast<size_t>(count_));
  const int64_t step = offsets_.step() * bytes_;
  if (step != 0) {
    load_(place_(buffers), step, count_, values.data());
    return values;
  }
  for (int64_t i = 0; i < count_; ++i) {
    values[static_cast<size_t>(i)] = Get(buffers, i);
  }
  return values;
}

std::vector<int64_t> Elements::AllWhole(const Buffers& buffers) const {
  std::vector<int64_t> values(static_cast<size_t>(count_));
  const int64_t step = offsets_.step() * bytes_;
  if (step != 0) {
    load_whole_(place_(buffers), step, count_, values.data());
    return values;
  }
  for (int64_t i = 0; i < count_; ++i) {
    load_whole_(place_(buffers) + offsets_(i) * bytes_, 0, 1, &values[static_cast<size_t>(i)]);
  }
  return values;
}

}  // namespace openaclnn::supporting
