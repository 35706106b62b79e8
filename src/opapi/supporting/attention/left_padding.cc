// SPDX-License-Identifier: Apache-2.0
// Inference: batches whose rows and keys lie at the end of their tensors, before a padding.
#include "supporting/attention/left_padding.h"

#include <algorithm>

#include "supporting/attention/infer_keys.h"

namespace openaclnn::supporting {
namespace {

/// The first of `count` rows that end `padding` rows before the end; less than 0 if there are too
/// few.
int64_t FirstOf(int64_t rows, int64_t padding, int64_t count) {
  return padding > rows ? -1 : rows - padding - count;
}

Status TooFew(const char* name, int64_t padding, int64_t batch, int64_t rows, int64_t count) {
  return Status(507035,
                Concat(name, " value is ", padding, ", expected at most ", rows - count, ": batch ",
                       batch, " has ", rows, " rows, of which ", count, " count"));
}

}  // namespace

void CheckPadding(const InferCall& call, Checker& checker) {
  const InferArguments& of = call.of;
  for (const Tensor* padding : {&of.q_padding, &of.k_padding}) {
    if (!padding->present()) continue;
    CheckBeside(*padding, call.paged, of.table.name(), checker);
    CheckBeside(*padding, call.layout.packed(), "packed sequences", checker);
    CheckBeside(*padding, call.roped, of.q_rope.name(), checker);
    checker.That(padding->dtype() == ACL_INT64, [&] { return DtypeIs(*padding, "INT64"); });
    CheckShape(*padding, {1}, checker);
  }
}

LeftPadding::LeftPadding(const InferCall& call)
    : q_(call.of.q_padding, call.q_padded), k_(call.of.k_padding, call.k_padded) {
  rows_ = call.q.rows;
  for (int64_t batch = 0; given() && batch < call.batches(); ++batch) {
    key_rows_.push_back(call.RowsOfKey(batch));
  }
}

int64_t LeftPadding::Size::Read(const Buffers& buffers) const {
  // A size below 0 is none.
  return std::max<int64_t>(0, *reinterpret_cast<const int64_t*>(place(buffers)));
}

Status LeftPadding::Place(const Buffers& buffers, std::vector<AttentionSequence>* sequences) const {
  const int64_t of_rows = q_.given ? q_.Read(buffers) : 0,
                of_keys = k_.given ? k_.Read(buffers) : 0;
  const size_t batches = key_rows_.size();
  for (size_t i = 0; i < batches; ++i) {
    AttentionSequence& of = (*sequences)[i];
    if (k_.given) {
      of.first_key = FirstOf(key_rows_[i], of_keys, of.keys);
      if (of.first_key < 0 && rows_ > 1) {
        return TooFew(k_.name, of_keys, of.batch, key_rows_[i], of.keys);
      }
      if (of.first_key < 0) of.first_key = of.keys = 0;
    }
    if (!q_.given) continue;
    of.first_row = FirstOf(rows_, of_rows, of.rows);
    if (of.first_row < 0) return TooFew(q_.name, of_rows, of.batch, rows_, of.rows);
    AttentionSequence* const rest = sequences->data() + batches + 2 * i;
    rest[0].first_row = 0;
    rest[0].rows = of.first_row;
    rest[1].first_row = of.first_row + of.rows;
    rest[1].rows = rows_ - rest[1].first_row;
  }
  return {};
}

}  // namespace openaclnn::supporting
