// SPDX-License-Identifier: Apache-2.0
// NaNs of supporting operators: computed ones are canonical, what only moves elements leaves bits.
#include "tests/support/canonical_nan.h"

#include "aclnnop/aclnn_batch_matmul.h"
#include "aclnnop/aclnn_cast.h"
#include "aclnnop/aclnn_cat.h"
#include "aclnnop/aclnn_copy.h"
#include "aclnnop/aclnn_embedding.h"
#include "aclnnop/aclnn_mm.h"
#include "aclnnop/aclnn_mul.h"
#include "aclnnop/aclnn_reduce_sum.h"
#include "aclnnop/aclnn_scatter.h"
#include "aclnnop/aclnn_softmax.h"
#include "aclnnop/aclnn_sqrt.h"
#include "tests/support/int_list.h"

namespace openaclnn::test {
namespace {

Outputs Sqrt(const Device& device, Operands& o) {
  const DeviceTensor x = o.In({7, 33}), y = o.Out({7, 33});
  Launch(device, aclnnSqrt, [&](auto... outputs) {
    return aclnnSqrtGetWorkspaceSize(x.handle(), Handle(y), outputs...);
  });
  return {y.Read()};
}

Outputs Mul(const Device& device, Operands& o) {
  const DeviceTensor a = o.In({7, 33}), b = o.In({7, 33}), y = o.Out({7, 33});
  Launch(device, aclnnMul, [&](auto... outputs) {
    return aclnnMulGetWorkspaceSize(a.handle(), b.handle(), Handle(y), outputs...);
  });
  return {y.Read()};
}

Outputs Sum(const Device& device, Operands& o) {
  const DeviceTensor x = o.In({20, 33}), y = o.Out({20});
  const IntListHandle dims({.values = {1}});
  Launch(device, aclnnReduceSum, [&](auto... outputs) {
    return aclnnReduceSumGetWorkspaceSize(x.handle(), dims.get(), false, o.dtype(), Handle(y),
                                          outputs...);
  });
  return {y.Read()};
}

Outputs Product(const Device& device, Operands& o) {
  const DeviceTensor a = o.In({20, 5}), b = o.In({5, 33}), y = o.Out({20, 33});
  Launch(device, aclnnMm, [&](auto... outputs) {
    return aclnnMmGetWorkspaceSize(a.handle(), b.handle(), Handle(y), 0, outputs...);
  });
  return {y.Read()};
}

Outputs BatchProduct(const Device& device, Operands& o) {
  const DeviceTensor a = o.In({1, 20, 5}), b = o.In({1, 5, 33}), y = o.Out({1, 20, 33});
  Launch(device, aclnnBatchMatMul, [&](auto... outputs) {
    return aclnnBatchMatMulGetWorkspaceSize(a.handle(), b.handle(), Handle(y), 0, outputs...);
  });
  return {y.Read()};
}

Outputs Softmax(const Device& device, Operands& o) {
  const DeviceTensor x = o.In({20, 33}), y = o.Out({20, 33});
  Launch(device, aclnnSoftmax, [&](auto... outputs) {
    return aclnnSoftmaxGetWorkspaceSize(x.handle(), 1, Handle(y), outputs...);
  });
  return {y.Read()};
}

TEST(CanonicalNan, IsWhatOperatorsCompute) {
  ExpectCanonicalNans(kAllTypes, Sqrt);
  ExpectCanonicalNans(kAllTypes, Mul);
  ExpectCanonicalNans(kAllTypes, Sum);
  ExpectCanonicalNans(kRoomTypes, Product);
  ExpectCanonicalNans(kAllTypes, BatchProduct);
  ExpectCanonicalNans(kAllTypes, Softmax);
}

/// The rows of a matrix at some places.
Bytes RowsAt(const Bytes& matrix, const std::vector<double>& places, size_t row_bytes) {
  Bytes rows;
  for (const double place : places) {
    const auto begin =
        matrix.begin() + static_cast<int64_t>(static_cast<size_t>(place) * row_bytes);
    rows.insert(rows.end(), begin, begin + static_cast<int64_t>(row_bytes));
  }
  return rows;
}

TEST(CanonicalNan, IsNotWhatMovesBring) {
  const Device device;
  for (const FloatType& type : kAllTypes) {
    for (const bool strided : {false, true}) {
      SCOPED_TRACE(testing::Message() << "type " << type.dtype << (strided ? " strided" : ""));
      Operands o(type, strided);
      const DeviceTensor x = o.In({20, 33}), y = o.Out({20, 33}), twice = o.Out({40, 33});
      const DeviceTensor places = o.Whole(ACL_INT64, {20}, 19);
      const std::vector<double> at = ToDoubles(ACL_INT64, places.Read());
      Launch(device, aclnnCast, [&](auto... outputs) {
        return aclnnCastGetWorkspaceSize(x.handle(), type.dtype, Handle(y), outputs...);
      });
      EXPECT_EQ(y.Read(), x.Read());
      const DeviceTensor copy = o.In({20, 33});
      Launch(device, aclnnInplaceCopy, [&](auto... outputs) {
        return aclnnInplaceCopyGetWorkspaceSize(Handle(copy), x.handle(), outputs...);
      });
      EXPECT_EQ(copy.Read(), x.Read());
      if (type.dtype != ACL_DOUBLE) {
        Launch(device, aclnnEmbedding, [&](auto... outputs) {
          return aclnnEmbeddingGetWorkspaceSize(x.handle(), places.handle(), Handle(y), outputs...);
        });
        EXPECT_EQ(y.Read(), RowsAt(x.Read(), at, static_cast<size_t>(33 * type.bits / 8)));
      }
    }
  }
}

TEST(CanonicalNan, IsNotWhatPartsBring) {
  const Device device;
  for (const FloatType& type : kAllTypes) {
    SCOPED_TRACE(type.dtype);
    Operands o(type, false);
    const Dims dims = {300, 3};
    const DeviceTensor x = o.In(dims), self = o.In(dims), y = o.Out(dims);
    // A list destroys its members.
    aclTensor* members[] = {aclCreateTensor(dims.data(), dims.size(), type.dtype,
                                            x.layout().strides.data(), 0, ACL_FORMAT_ND,
                                            dims.data(), dims.size(), x.data())};
    aclTensorList* const list = aclCreateTensorList(members, 1);
    Launch(device, aclnnCat, [&](auto... outputs) {
      return aclnnCatGetWorkspaceSize(list, 0, Handle(y), outputs...);
    });
    aclDestroyTensorList(list);
    EXPECT_EQ(y.Read(), x.Read());
    DeviceTensor rows(ACL_INT64, DenseLayout(dims));
    std::vector<double> numbers;
    for (int i = 0; i < 900; ++i) numbers.push_back(i / 3);
    rows.Write(ToBytes(ACL_INT64, numbers));
    const DeviceTensor out = o.Out(dims);
    Launch(device, aclnnScatter, [&](auto... outputs) {
      return aclnnScatterGetWorkspaceSize(self.handle(), 0, rows.handle(), x.handle(), 0,
                                          Handle(out), outputs...);
    });
    EXPECT_EQ(out.Read(), x.Read());
  }
}

}  // namespace
}  // namespace openaclnn::test
