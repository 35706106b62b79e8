// SPDX-License-Identifier: Apache-2.0
// Every NaN that an operator computes is its type's canonical one, on every instruction set and
// layout; what only moves elements leaves their bits.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <span>

#include "aclnnop/aclnn_cast.h"
#include "aclnnop/aclnn_cat.h"
#include "aclnnop/aclnn_convolution.h"
#include "aclnnop/aclnn_convolution_backward.h"
#include "aclnnop/aclnn_copy.h"
#include "aclnnop/aclnn_embedding.h"
#include "aclnnop/aclnn_embedding_dense_backward.h"
#include "aclnnop/aclnn_grouped_bias_add_grad.h"
#include "aclnnop/aclnn_mm.h"
#include "aclnnop/aclnn_mul.h"
#include "aclnnop/aclnn_nsa_compress.h"
#include "aclnnop/aclnn_nsa_compress_grad.h"
#include "aclnnop/aclnn_reduce_sum.h"
#include "aclnnop/aclnn_scaled_masked_softmax.h"
#include "aclnnop/aclnn_scaled_masked_softmax_backward.h"
#include "aclnnop/aclnn_scatter.h"
#include "aclnnop/aclnn_softmax.h"
#include "aclnnop/aclnn_sqrt.h"
#include "tests/support/bits.h"
#include "tests/support/call.h"
#include "tests/support/int_list.h"
#include "tests/support/numbers.h"
#include "tests/support/tensor.h"

namespace openaclnn::test {
namespace {

using Bytes = std::vector<std::byte>;

/// A float type: its infinity, whose exponent a NaN has, and its canonical NaN.
struct FloatType {
  aclDataType dtype;
  int bits, fraction_bits;
  uint64_t infinity, nan;
};

constexpr FloatType kFloat = {ACL_FLOAT, 32, 23, 0x7F800000, 0x7FC00000};
constexpr FloatType kFloat16 = {ACL_FLOAT16, 16, 10, 0x7C00, 0x7E00};
constexpr FloatType kBFloat = {ACL_BF16, 16, 7, 0x7F80, 0x7FC0};
constexpr FloatType kDouble = {ACL_DOUBLE, 64, 52, 0x7FF0000000000000, 0x7FF8000000000000};

/// NaNs of both signs and any payload, signalling ones too, and infinities among numbers.
Bytes SpecialBytes(Random& random, const FloatType& type, int64_t count) {
  std::vector<double> values(static_cast<size_t>(count));
  for (double& value : values) value = std::normal_distribution<double>()(random);
  Bytes bytes = ToBytes(type.dtype, values);
  const auto size = static_cast<size_t>(type.bits / 8);
  for (int64_t i = 0; i < count; ++i) {
    if (Uniform(random, 0, 39) > 0) continue;
    uint64_t bits = type.infinity | static_cast<uint64_t>(Uniform(random, 0, 1)) << (type.bits - 1);
    if (Uniform(random, 0, 2) > 0) {
      bits |= static_cast<uint64_t>(Uniform(random, 1, (int64_t{1} << type.fraction_bits) - 1));
    }
    std::memcpy(&bytes[static_cast<size_t>(i) * size], &bits, size);
  }
  return bytes;
}

/// The operands of a call: the same elements whether dense or strided.
class Operands {
 public:
  Operands(const FloatType& type, bool strided) : type_(type), strided_(strided) {}

  DeviceTensor In(const Dims& dims) {
    DeviceTensor tensor(type_.dtype, Place(dims));
    tensor.Write(SpecialBytes(values_, type_, CountOf(dims)));
    return tensor;
  }
  DeviceTensor Out(const Dims& dims) { return DeviceTensor(type_.dtype, Place(dims)); }
  DeviceTensor Whole(aclDataType dtype, const Dims& dims, int64_t high) {
    DeviceTensor tensor(dtype, Place(dims));
    std::vector<double> values(static_cast<size_t>(CountOf(dims)));
    for (double& value : values) value = static_cast<double>(Uniform(values_, 0, high));
    tensor.Write(ToBytes(dtype, values));
    return tensor;
  }
  aclDataType dtype() const { return type_.dtype; }

 private:
  Layout Place(const Dims& dims) {
    return strided_ ? RandomLayout(layouts_, dims, false) : DenseLayout(dims);
  }

  FloatType type_;
  bool strided_;
  Random values_{1}, layouts_{2};
};

aclTensor* Handle(const DeviceTensor& tensor) { return const_cast<aclTensor*>(tensor.handle()); }

template <class Plan>
void Launch(const Device& device, Phase2 phase2, const Plan& plan) {
  const Planned planned = Planned::Plan(plan);
  EXPECT_EQ(planned.outcome().message, "");
  EXPECT_EQ(Execute(device, planned, phase2).message, "");
}

// Calls whose outputs are computed.
using Outputs = std::vector<Bytes>;
using Call = Outputs (*)(const Device&, Operands&);

Outputs MaskedSoftmax(const Device& device, Operands& o) {
  const DeviceTensor x = o.In({2, 3, 7, 67}), y = o.Out({2, 3, 7, 67});
  const DeviceTensor mask = o.Whole(ACL_BOOL, {2, 1, 7, 67}, 1);
  Launch(device, aclnnScaledMaskedSoftmax, [&](auto... outputs) {
    return aclnnScaledMaskedSoftmaxGetWorkspaceSize(x.handle(), mask.handle(), 0.5, false,
                                                    Handle(y), outputs...);
  });
  return {y.Read()};
}

Outputs MaskedSoftmaxBackward(const Device& device, Operands& o) {
  const DeviceTensor dy = o.In({2, 3, 7, 67}), y = o.In({2, 3, 7, 67}), dx = o.Out({2, 3, 7, 67});
  const DeviceTensor mask = o.Whole(ACL_BOOL, {2, 1, 7, 67}, 1);
  Launch(device, aclnnScaledMaskedSoftmaxBackward, [&](auto... outputs) {
    return aclnnScaledMaskedSoftmaxBackwardGetWorkspaceSize(dy.handle(), y.handle(), mask.handle(),
                                                            0.5, false, Handle(dx), outputs...);
  });
  return {dx.Read()};
}

Outputs ConvTbc(const Device& device, Operands& o) {
  const DeviceTensor x = o.In({9, 2, 5}), w = o.In({3, 5, 37}), bias = o.In({37});
  const DeviceTensor y = o.Out({9, 2, 37});
  Launch(device, aclnnConvTbc, [&](auto... outputs) {
    return aclnnConvTbcGetWorkspaceSize(x.handle(), w.handle(), bias.handle(), 1, Handle(y), 0,
                                        outputs...);
  });
  return {y.Read()};
}

Outputs ConvTbcBackward(const Device& device, Operands& o) {
  const DeviceTensor dy = o.In({4, 2, 37}), x = o.In({4, 2, 5}), w = o.In({3, 5, 37});
  const DeviceTensor bias = o.In({37}), dx = o.Out({4, 2, 5}), dw = o.Out({3, 5, 37});
  const DeviceTensor db = o.Out({37});
  Launch(device, aclnnConvTbcBackward, [&](auto... outputs) {
    return aclnnConvTbcBackwardGetWorkspaceSize(dy.handle(), x.handle(), w.handle(), bias.handle(),
                                                1, 0, Handle(dx), Handle(dw), Handle(db),
                                                outputs...);
  });
  return {dx.Read(), dw.Read(), db.Read()};
}

template <bool kMean>
Outputs EmbeddingGradient(const Device& device, Operands& o) {
  const DeviceTensor grad = o.In({1500, 37}), indices = o.Whole(ACL_INT64, {1500}, 900);
  const DeviceTensor out = o.Out({901, 37});
  Launch(device, aclnnEmbeddingDenseBackward, [&](auto... outputs) {
    return aclnnEmbeddingDenseBackwardGetWorkspaceSize(grad.handle(), indices.handle(), 901, 901,
                                                       kMean, Handle(out), outputs...);
  });
  return {out.Read()};
}

// Long and short segments.
template <int64_t kRows>
Outputs GroupedBias(const Device& device, Operands& o) {
  const DeviceTensor grad = o.In({2, kRows, 133}), out = o.Out({2, 133});
  Launch(device, aclnnGroupedBiasAddGrad, [&](auto... outputs) {
    return aclnnGroupedBiasAddGradGetWorkspaceSize(grad.handle(), nullptr, Handle(out), outputs...);
  });
  return {out.Read()};
}

Outputs Compress(const Device& device, Operands& o) {
  const DeviceTensor x = o.In({64, 2, 32}), w = o.In({16, 2}), y = o.Out({4, 2, 32});
  const IntListHandle ends({.values = {64}});
  Launch(device, aclnnNsaCompress, [&](auto... outputs) {
    return aclnnNsaCompressGetWorkspaceSize(x.handle(), w.handle(), ends.get(), nullptr, 16, 16, 0,
                                            Handle(y), outputs...);
  });
  return {y.Read()};
}

Outputs CompressGradient(const Device& device, Operands& o) {
  const DeviceTensor dy = o.In({3, 2, 32}), x = o.In({64, 2, 32}), w = o.In({32, 2});
  const DeviceTensor dx = o.Out({64, 2, 32}), dw = o.Out({32, 2});
  const IntListHandle ends({.values = {64}});
  Launch(device, aclnnNsaCompressGrad, [&](auto... outputs) {
    return aclnnNsaCompressGradGetWorkspaceSize(dy.handle(), x.handle(), w.handle(), ends.get(), 32,
                                                16, 0, nullptr, Handle(dx), Handle(dw), outputs...);
  });
  return {dx.Read(), dw.Read()};
}

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

Outputs Softmax(const Device& device, Operands& o) {
  const DeviceTensor x = o.In({20, 33}), y = o.Out({20, 33});
  Launch(device, aclnnSoftmax, [&](auto... outputs) {
    return aclnnSoftmaxGetWorkspaceSize(x.handle(), 1, Handle(y), outputs...);
  });
  return {y.Read()};
}

constexpr FloatType kRoomTypes[] = {kFloat, kFloat16, kBFloat};
constexpr FloatType kAllTypes[] = {kFloat, kFloat16, kBFloat, kDouble};

struct Row {
  const char* name;
  Call call;
  std::span<const FloatType> types;
};

const Row kRows[] = {
    {"ScaledMaskedSoftmax", MaskedSoftmax, kRoomTypes},
    {"ScaledMaskedSoftmaxBackward", MaskedSoftmaxBackward, kRoomTypes},
    {"ConvTbc", ConvTbc, kRoomTypes},
    {"ConvTbcBackward", ConvTbcBackward, kRoomTypes},
    {"EmbeddingDenseBackward", EmbeddingGradient<false>, kRoomTypes},
    {"EmbeddingDenseBackward, means", EmbeddingGradient<true>, kRoomTypes},
    {"GroupedBiasAddGrad, one row", GroupedBias<1>, kRoomTypes},
    {"GroupedBiasAddGrad", GroupedBias<130>, kRoomTypes},
    {"GroupedBiasAddGrad, long", GroupedBias<2100>, kRoomTypes},
    {"NsaCompress", Compress, std::span(kRoomTypes).subspan(1)},
    {"NsaCompressGrad", CompressGradient, std::span(kRoomTypes).subspan(1)},
    {"Sqrt", Sqrt, kAllTypes},
    {"Mul", Mul, kAllTypes},
    {"ReduceSum", Sum, kAllTypes},
    {"Mm", Product, kAllTypes},
    {"Softmax", Softmax, kAllTypes},
};

/// How many NaNs there are; each other one than the canonical is a failure.
int64_t CountNans(const FloatType& type, const Bytes& bytes) {
  const auto size = static_cast<size_t>(type.bits / 8);
  int64_t count = 0, others = 0;
  for (size_t at = 0; at < bytes.size(); at += size) {
    if (!std::isnan(LoadElement(type.dtype, &bytes[at]))) continue;
    uint64_t bits = 0;
    std::memcpy(&bits, &bytes[at], size);
    ++count;
    if (bits != type.nan && others++ == 0) {
      ADD_FAILURE() << "element " << at / size << " is 0x" << std::hex << bits;
    }
  }
  EXPECT_EQ(others, 0);
  return count;
}

TEST(CanonicalNan, IsWhatOperatorsCompute) {
  std::map<std::string, Outputs> first;
  UnderEachSetting([&](const std::string& setting, const Device& device) {
    for (const Row& row : kRows) {
      for (const FloatType& type : row.types) {
        for (const bool strided : {false, true}) {
          SCOPED_TRACE(testing::Message() << row.name << ", type " << type.dtype << ", "
                                          << (strided ? "strided, " : "dense, ") << setting);
          Operands operands(type, strided);
          const Outputs outputs = row.call(device, operands);
          for (const Bytes& output : outputs) EXPECT_GT(CountNans(type, output), 0);
          // Without fused products sums may differ; with them no bit does.
          const bool baseline = setting.ends_with("baseline");
          const std::string key = std::string(row.name) + std::to_string(type.dtype) +
                                  (baseline ? " without fused products" : "");
          const auto [entry, added] = first.emplace(key, outputs);
          EXPECT_TRUE(added || entry->second == outputs);
        }
      }
    }
  });
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
