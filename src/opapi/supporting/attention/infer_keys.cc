// SPDX-License-Identifier: Apache-2.0
// Inference: keys and values in a tensor for each batch, or behind those of a shared prefix; sinks.
#include "supporting/attention/infer_keys.h"

#include <algorithm>

namespace openaclnn::supporting {

int64_t MostKeys(const InferCall& call) {
  int64_t most = call.listed ? 0 : call.k.rows;
  for (const Heads& each : call.each_k) most = std::max(most, each.rows);
  return most;
}

void CheckBeside(const Tensor& tensor, bool beside, const char* what, Checker& checker) {
  checker.That(!beside, [&] {
    return Concat(tensor.name(), " value is a tensor, expected null beside ", what);
  });
}

void CheckKeyList(const InferCall& call, Checker& checker) {
  const InferArguments& of = call.of;
  const auto count = static_cast<int64_t>(of.keys->size);
  checker.That(!call.paged && !call.layout.packed() && !call.roped, [&] {
    return Concat(of.keys->name, " size is ", count, ", expected 1 beside ",
                  call.paged   ? of.table.name()
                  : call.roped ? of.q_rope.name()
                               : "packed sequences");
  });
  checker.That(count == call.q.batches, [&] {
    return Concat(of.keys->name, " size is ", count, ", expected 1 or ", call.q.batches,
                  ", the batches of query");
  });
  for (size_t i = 0; i < call.each_k.size() && checker.ok(); ++i) {
    const Heads &k = call.each_k[i], &v = call.each_v[i];
    checker.That(k.batches == 1 && k.heads == call.served && k.elements == call.k.elements, [&] {
      return Concat(of.keys->name, " member ", i, " shape is ", ShapeText((*of.keys)[i]),
                    ", expected one batch of ", call.served, " heads with ", call.k.elements,
                    " elements");
    });
    checker.That(v.batches == 1 && v.heads == call.served && v.rows == k.rows &&
                     v.elements == call.v.elements,
                 [&] {
                   return Concat(of.values->name, " member ", i, " shape is ",
                                 ShapeText((*of.values)[i]), ", expected one batch of ",
                                 call.served, " heads with ", k.rows, " rows of ", call.v.elements,
                                 " elements");
                 });
  }
}

void CheckKeyLengths(const InferCall& call, Checker& checker) {
  const IntList& keys = call.of.key_counts;
  CheckLengths(keys, call.batches(), MostKeys(call), checker);
  for (int64_t batch = 0; call.listed && batch < call.batches() && checker.ok(); ++batch) {
    const int64_t rows = call.RowsOfKey(batch), count = LengthOf(keys.values(), batch, rows).count;
    checker.That(count <= rows, [&] {
      return Concat(keys.name(), " value of batch ", batch, " is ", count, ", expected 0 to ", rows,
                    ", the rows of member ", batch, " of ", call.of.keys->name);
    });
  }
}

void CheckFront(const InferCall& call, Checker& checker) {
  const InferArguments& of = call.of;
  CheckBeside(of.k_front, call.paged, of.table.name(), checker);
  CheckBeside(of.k_front, call.layout.packed(), "packed sequences", checker);
  CheckBeside(of.k_front, call.roped, of.q_rope.name(), checker);
  CheckBeside(of.k_front, call.listed, "lists of several tensors", checker);
  for (const Tensor* padding : {&of.q_padding, &of.k_padding}) {
    CheckBeside(of.k_front, padding->present(), padding->name(), checker);
  }
  const Heads &k = call.front_k, &v = call.front_v;
  checker.That(k.batches == 1 && k.heads == call.served && k.elements == call.k.elements, [&] {
    return Concat(of.k_front.name(), " shape is ", ShapeText(of.k_front),
                  ", expected one batch of ", call.served, " heads with ", call.k.elements,
                  " elements");
  });
  checker.That(
      v.batches == 1 && v.heads == call.served && v.rows == k.rows && v.elements == call.v.elements,
      [&] {
        return Concat(of.v_front.name(), " shape is ", ShapeText(of.v_front),
                      ", expected one batch of ", call.served, " heads with ", k.rows, " rows of ",
                      call.v.elements, " elements");
      });
  const auto counts = of.front_counts.values();
  checker.That(counts.size() <= 1, [&] {
    return Concat(of.front_counts.name(), " size is ", counts.size(), ", expected 1");
  });
  checker.That(call.front >= 0 && call.front <= k.rows, [&] {
    return Concat(of.front_counts.name(), " value is ", call.front, ", expected 0 to ", k.rows,
                  ", the rows of ", of.k_front.name());
  });
  checker.That(call.front <= INT64_MAX - MostKeys(call), [&] {
    return Concat(of.k_front.name(), " shape is ", ShapeText(of.k_front),
                  ", more keys than a number counts beside those of key");
  });
}

void CheckSink(const InferCall& call, Checker& checker) {
  const InferArguments& of = call.of;
  const std::string_view layout = call.layout.name;
  checker.That(layout == "TND" || layout == "NTD_TND", [&] {
    return Concat(of.sink.name(), " value is a tensor, expected null in inputLayout ", layout);
  });
  CheckBeside(of.sink, of.shift.present(), of.shift.name(), checker);
  CheckShape(of.sink, {call.q.heads}, checker);
}

}  // namespace openaclnn::supporting
