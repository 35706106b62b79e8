// SPDX-License-Identifier: Apache-2.0
// Operands of packed sequences: how they lie, and their checks.
#include "supporting/attention/packed_heads.h"

namespace openaclnn::supporting {

Heads PackedHeads(const Tensor& tensor) { return {tensor, "TND", tensor.last_dim()}; }

void CheckPackedHeads(const Tensor& query, const Tensor& key, const Tensor& value, int64_t heads,
                      Checker& checker) {
  for (const Tensor* tensor : {&query, &key, &value}) {
    checker.Rank(*tensor, 3).SameDtype(*tensor, query);
  }
  CheckType(query, checker);
  checker.That(heads > 0 && query.rank() == 3 && query.dim(1) == heads, [&] {
    return Concat("headNum value is ", heads, ", expected the heads of query, which is ",
                  ShapeText(query));
  });
  if (!checker.ok()) return;
  const Heads q = PackedHeads(query), k = PackedHeads(key), v = PackedHeads(value);
  CheckWidth(q, checker);
  checker.That(k.heads > 0 && q.heads % k.heads == 0 && k.elements == q.elements, [&] {
    return Concat("key shape is ", ShapeText(key), ", expected the width of query, ", q.elements,
                  ", and a number of heads that divides ", q.heads);
  });
  checker.That(v.rows == k.rows && v.heads == k.heads && v.elements <= k.elements, [&] {
    return Concat("value shape is ", ShapeText(value), ", expected that of key, ", ShapeText(key),
                  ", but for a width of heads that may be less");
  });
}

void CheckPackedSums(std::initializer_list<const Tensor*> numbers, const Heads& query,
                     Checker& checker) {
  for (const Tensor* each : numbers) {
    checker.That(each->dtype() == ACL_FLOAT, [&] { return DtypeIs(*each, "FLOAT"); });
    CheckShape(*each, {query.rows, query.heads, kAttentionCopies}, checker);
  }
}

void CheckMaskType(const Tensor& mask, Checker& checker) {
  checker.That(mask.dtype() == ACL_BOOL || mask.dtype() == ACL_UINT8,
               [&] { return DtypeIs(mask, "BOOL, UINT8"); });
}

void CheckPackedMask(const Tensor& mask, int64_t rows, int64_t keys, Checker& checker) {
  checker.That(mask.rank() == 2 && mask.dim(0) >= rows && mask.dim(1) >= keys, [&] {
    return Concat(mask.name(), " shape is ", ShapeText(mask), ", expected at least (", rows, ", ",
                  keys, "), as far as the longest sequences");
  });
}

}  // namespace openaclnn::supporting
