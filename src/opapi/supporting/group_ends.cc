// SPDX-License-Identifier: Apache-2.0
// Groups of neighbouring rows.
#include "supporting/group_ends.h"

namespace openaclnn::supporting {

Status GroupEnds::Read(const Buffers& buffers, bool whole, std::vector<int64_t>* ends) const {
  if (!present_) {
    *ends = {rows_};
    return {};
  }
  *ends = elements_.AllWhole(buffers);
  int64_t last = 0;
  for (size_t i = 0; i < ends->size(); ++i) {
    int64_t& value = (*ends)[i];
    const int64_t low = lengths_ ? 0 : last, most = lengths_ ? rows_ - last : rows_;
    if (value < low || value > most) {
      return Status(507035,
                    Concat(name_, " value ", i, " is ", value, ", expected ", low, " to ", most));
    }
    last = value = lengths_ ? last + value : value;
  }
  if (whole && last != rows_) {
    return Status(507035, Concat(name_, " value ", ends->size() - 1, " is ", last, ", expected ",
                                 rows_, ", the number of rows"));
  }
  return {};
}

}  // namespace openaclnn::supporting
