// SPDX-License-Identifier: Apache-2.0
// TransMatmulWeight, which leaves a weight as it is, and the sizes that are asked for before it.
#include "aclnnop/aclnn_calculate_matmul_weight_size.h"
#include "ascendcl/report/error.h"
#include "generated/matmul.h"
#include "openaclnn/status.h"
#include "supporting/in_turn.h"

namespace openaclnn::supporting {
namespace {

constexpr DtypeSet kWeightTypes = Dtypes(ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT8);

Status Refusal(const std::string& text) { return Status(ACLNN_ERR_PARAM_INVALID, text); }

aclnnStatus Measure(const char* api, const aclIntArray* shape, int32_t dtype, uint64_t* size) {
  return Api(api, [&]() -> Status {
    const IntList dims("tensorShape", shape);
    if (dims.found() == OPENACLNN_NULL || size == nullptr) {
      return Status(ACLNN_ERR_PARAM_NULLPTR,
                    Concat(size == nullptr ? "weightTensorSize" : "tensorShape",
                           " value is null, expected an address"));
    }
    if (dims.found() != OPENACLNN_LIVE) {
      return Refusal("tensorShape value is not a live handle, expected a live array");
    }
    if (!Contains(kWeightTypes, dtype)) {
      return Refusal(
          Concat("dataType value is number ", dtype, ", expected ", DtypesText(kWeightTypes)));
    }
    const size_t rank = dims.values().size();
    if (rank < 2 || rank > 6) {
      return Refusal(Concat("tensorShape size is ", rank, ", expected 2 to 6"));
    }
    int64_t product = 1;
    for (size_t i = 0; i < rank; ++i) {
      const int64_t given = dims.values()[i];
      if (given <= 0) {
        return Refusal(Concat("tensorShape value is ", given, ", expected one above 0"));
      }
      const int64_t unit = i + 2 < rank ? 1 : i + 1 == rank && dtype == ACL_INT8 ? 32 : 16;
      int64_t rounded = 0;
      if (__builtin_add_overflow(given, unit - 1, &rounded) ||
          __builtin_mul_overflow(product, rounded / unit * unit, &product)) {
        return Refusal("tensorShape value is too large, expected fewer than 2^63 elements");
      }
    }
    *size = static_cast<uint64_t>(product);
    return {};
  });
}

}  // namespace

void CheckTransMatmulWeight(const TransMatmulWeightParams& p, Checker& checker) {
  checker.RankBetween(p.mmWeightRef, 2, 6);
  checker.That(p.mmWeightRef.count().value_or(1) > 0, [&] {
    return Concat(p.mmWeightRef.name(), " shape is ", ShapeText(p.mmWeightRef),
                  ", expected one with elements");
  });
}

Plan PlanTransMatmulWeight(const TransMatmulWeightParams&, const Product&) { return Nothing(); }

}  // namespace openaclnn::supporting

aclnnStatus aclnnCalculateMatmulWeightSize(const aclIntArray* tensorShape,
                                           uint64_t* weightTensorSize) {
  return openaclnn::supporting::Measure("aclnnCalculateMatmulWeightSize", tensorShape, ACL_FLOAT16,
                                        weightTensorSize);
}

aclnnStatus aclnnCalculateMatmulWeightSizeV2(const aclIntArray* tensorShape, aclDataType dataType,
                                             uint64_t* weightTensorSize) {
  return openaclnn::supporting::Measure("aclnnCalculateMatmulWeightSizeV2", tensorShape, dataType,
                                        weightTensorSize);
}
