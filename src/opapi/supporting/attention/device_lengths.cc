// SPDX-License-Identifier: Apache-2.0
// Lengths of sequences, or ends of packed sequences, that a tensor in device memory has.
#include "supporting/attention/device_lengths.h"

namespace openaclnn::supporting {

DeviceLengths::DeviceLengths(const Tensor& tensor, bool ends, int64_t batches, int64_t most)
    : name_(tensor.name()),
      place_(tensor.place),
      given_(tensor.present()),
      ends_(ends),
      step_(given_ ? tensor.tensor().strides[0] : 0),
      batches_(batches),
      most_(most) {}

void DeviceLengths::Check(const Tensor& tensor, bool ends, int64_t batches, Checker& checker) {
  checker.That(!ends || tensor.present(), [&] {
    return Concat(tensor.name(), " value is null, expected a tensor with the ends of sequences");
  });
  if (!tensor.present()) return;
  checker.Rank(tensor, 1);
  checker.That(tensor.dtype() == ACL_INT32, [&] { return DtypeIs(tensor, "INT32"); });
  CheckShape(tensor, {batches}, checker);
}

Status DeviceLengths::Read(const Buffers& buffers, std::vector<Span>* spans) const {
  spans->assign(static_cast<size_t>(batches_), {0, most_});
  if (!given_) return {};
  const auto* const values = reinterpret_cast<const int32_t*>(place_(buffers));
  int64_t last = 0;
  for (int64_t i = 0; i < batches_; ++i) {
    const int64_t value = values[i * step_];
    if (value < last || value > most_) {
      return Status(507035,
                    Concat(name_, " value ", i, " is ", value, ", expected ", last, " to ", most_));
    }
    (*spans)[static_cast<size_t>(i)] = {last, value - last};
    if (ends_) last = value;
  }
  return {};
}

}  // namespace openaclnn::supporting
