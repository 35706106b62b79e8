// SPDX-License-Identifier: Apache-2.0
// QuantMatmul: products of INT8 or INT4, whose exact sums become numbers by scales.
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "ascendcl/packed.h"
#include "generated/matmul.h"
#include "supporting/elements.h"
#include "supporting/in_turn.h"
#include "supporting/matmul/whole_product.h"
#include "supporting/whole_rows.h"

namespace openaclnn::supporting {
namespace {

constexpr int64_t kMostTerms = 65535;
constexpr DtypeSet kBits = Dtypes(ACL_UINT64, ACL_INT64);

/// The parameters of all versions. torch-npu passes tensors without elements for absent ones.
struct Quantised {
  const Tensor &x1, &x2, &rows, &columns, &offset, &bias, &out;
  bool turns1, turns2;
};

bool Given(const Tensor& tensor) { return tensor.present() && !tensor.empty(); }

/// Whether INT32 of x2 hold numbers along its last dimension but one.
bool PackedRows(const Quantised& of) {
  const uint32_t rank = of.x2.rank();
  const int64_t terms = of.x1.dim(of.x1.rank() - (of.turns1 ? 2 : 1)) * kEight;
  const uint32_t own = rank - (of.turns2 ? 1 : 2);
  const bool along_terms = of.x2.dim(own) * kEight == terms;
  return of.x2.dtype() == ACL_INT32 && (of.turns2 ? !along_terms : along_terms);
}

WholeMatrix LeftOf(const Quantised& of) { return {of.x1, of.turns1, false}; }
WholeMatrix RightOf(const Quantised& of) { return {of.x2, of.turns2, PackedRows(of)}; }

/// The batches of both; nothing if they do not fit.
std::optional<Shape> BatchOf(const WholeMatrix& a, const WholeMatrix& b) {
  Shape batch = a.batch;
  if (b.batch.size() > batch.size()) batch.insert(batch.begin(), b.batch.size() - batch.size(), 1);
  const size_t before = batch.size() - b.batch.size();
  for (size_t i = 0; i < b.batch.size(); ++i) {
    int64_t& dim = batch[before + i];
    if (dim != b.batch[i] && dim != 1 && b.batch[i] != 1) return std::nullopt;
    dim = dim == 1 ? b.batch[i] : dim;
  }
  return batch;
}

/// A vector, or one whose other dimensions are 1; of `count` numbers, or one.
void CheckVector(const Tensor& tensor, int64_t count, Checker& checker) {
  if (!Given(tensor)) return;
  checker.That(tensor.count() == count || tensor.count() == 1, [&] {
    return Concat(tensor.name(), " shape is ", ShapeText(tensor), ", expected 1 or ", count,
                  " elements");
  });
}

void CheckProduct(const Quantised& of, Checker& checker) {
  checker.RankBetween(of.x1, 2, 6).RankBetween(of.x2, 2, 6).SameDtype(of.x2, of.x1);
  checker.That(!of.turns1 || of.x1.dtype() == ACL_INT8, [&] {
    return Concat("transposeX1 value is true, expected false for x1 of ", DtypeText(of.x1.dtype()));
  });
  if (!checker.ok()) return;
  for (const Tensor* x : {&of.x1, &of.x2}) {
    checker.That(x->dtype() != ACL_INT4 || x->empty() || PairedDim(x->tensor()), [&] {
      return Concat(x->name(), " strides are ", ShapeText(x->given_strides(), x->rank()),
                    " for shape ", ShapeText(*x), ", expected two neighbours in each byte of INT4");
    });
  }
  const WholeMatrix a = LeftOf(of), b = RightOf(of);
  checker.That(a.columns == b.rows, [&] {
    return Concat("x2 shape is ", ShapeText(of.x2), ", expected one that x1, ", ShapeText(of.x1),
                  ", can be multiplied with");
  });
  checker.That(a.columns <= kMostTerms, [&] {
    return Concat("x1 shape is ", ShapeText(of.x1), ", expected at most ", kMostTerms,
                  " terms of a sum");
  });
  const auto batch = BatchOf(a, b);
  checker.That(batch.has_value(), [&] {
    return Concat("x2 shape is ", ShapeText(of.x2), ", expected batches as those of x1, ",
                  ShapeText(of.x1));
  });
  if (!checker.ok()) return;
  Shape shape = *batch;
  shape.push_back(a.rows);
  shape.push_back(b.columns);
  CheckShape(of.out, shape, checker);
}

void CheckBias(const Quantised& of, Checker& checker) {
  if (!Given(of.bias) || !checker.ok()) return;
  const int64_t columns = of.out.last_dim();
  const bool batched = of.bias.rank() == 3 && of.out.rank() == 3;
  CheckShape(of.bias, batched ? Shape{of.out.dim(0), 1, columns} : Shape{columns}, checker);
}

/// Which types of scales and results stand beside each other.
void CheckTypes(const Quantised& of, Checker& checker) {
  const bool bits = Contains(kBits, of.columns.dtype());
  const int32_t out = of.out.dtype();
  checker.That(!bits || !Given(of.rows), [&] {
    return DtypeIs(of.columns, Concat("FLOAT or BFLOAT16 beside ", of.rows.name()));
  });
  checker.That(!Given(of.rows) || out != ACL_INT8, [&] {
    return DtypeIs(of.out, Concat("FLOAT16, BFLOAT16 or INT32 beside ", of.rows.name()));
  });
  checker.That(!Given(of.offset) || out == ACL_INT8, [&] {
    return Concat(of.offset.name(), " value is a tensor, expected null unless out is INT8");
  });
  checker.That(
      !Given(of.bias) || of.bias.dtype() == ACL_INT32 || out == ACL_FLOAT16 || out == ACL_BF16,
      [&] { return DtypeIs(of.bias, Concat("INT32 for out of ", DtypeText(out))); });
}

void CheckQuantised(const Quantised& of, Checker& checker) {
  CheckProduct(of, checker);
  if (!checker.ok()) return;
  CheckTypes(of, checker);
  const int64_t columns = of.out.last_dim(), rows = of.out.dim(of.out.rank() - 2);
  checker.NotEmpty(of.columns);
  CheckVector(of.columns, columns, checker);
  CheckVector(of.offset, columns, checker);
  CheckVector(of.rows, rows, checker);
  CheckBias(of, checker);
}

/// Scales of columns, and offsets: as floats, or in the bits that TransQuantParam makes.
class ColumnScales {
 public:
  explicit ColumnScales(const Quantised& of)
      : scale_(Contains(kBits, of.columns.dtype()) ? NoTensor() : of.columns, 1),
        offset_(Given(of.offset) ? of.offset : NoTensor(), 0),
        place_(of.columns.place),
        at_(of.columns, of.columns.rank()),
        bits_(Contains(kBits, of.columns.dtype())),
        one_(of.columns.count() == 1),
        one_offset_(of.offset.count() == 1),
        columns_(of.out.last_dim()) {}

  void Read(const Buffers& buffers, std::vector<double>* scales,
            std::vector<double>* offsets) const {
    for (int64_t j = 0; j < columns_; ++j) {
      double scale = 0, offset = offset_.Get(buffers, one_offset_ ? 0 : j);
      if (bits_) {
        const uint64_t bits = reinterpret_cast<const uint64_t*>(place_(buffers))[at_(one_ ? 0 : j)];
        const auto low = static_cast<uint32_t>(bits);
        float value = 0;
        std::memcpy(&value, &low, sizeof(value));
        scale = value;
        const auto nine = static_cast<int>(bits >> 37 & 0x1ff);
        if (nine != 0) offset = (nine ^ 0x100) - 0x100;  // of two's complement
      } else {
        scale = scale_.Get(buffers, one_ ? 0 : j);
      }
      scales->push_back(scale);
      offsets->push_back(offset);
    }
  }

 private:
  Elements scale_, offset_;
  Place place_;
  Offsets at_;
  bool bits_, one_, one_offset_;
  int64_t columns_;
};

/// The numbers that a call's sums meet.
struct Numbers {
  std::vector<double> scales, offsets, rows, bias;
};

/// Sums as results: (sum + a whole bias) * scale * the row's scale + offset + another bias.
class Finisher {
 public:
  explicit Finisher(const Quantised& of)
      : scales_(of),
        rows_(Given(of.rows) ? of.rows : NoTensor(), 1),
        bias_(Given(of.bias) ? of.bias : NoTensor(), 0),
        whole_bias_(of.bias.present() && of.bias.dtype() == ACL_INT32),
        out_(of.out.place),
        sums_(of.out.dtype() == ACL_INT32),
        snaps_(of.out.dtype() == ACL_INT8),
        at_(of.out, of.out.rank() - 1),
        step_(of.out.tensor().strides[of.out.rank() - 1]),
        bytes_(BytesOf(of.out)),
        count_(of.out.dim(of.out.rank() - 2)),
        columns_(of.out.last_dim()),
        store_(StorerOf<double>(of.out.dtype())),
        store_whole_(StorerOf<int64_t>(of.out.dtype())) {}

  Numbers Read(const Buffers& buffers) const {
    Numbers numbers;
    scales_.Read(buffers, &numbers.scales, &numbers.offsets);
    numbers.rows = rows_.All(buffers);
    numbers.bias = bias_.All(buffers);
    return numbers;
  }

  void operator()(const Buffers& buffers, const Numbers& of, int64_t batch, int64_t row,
                  int64_t column, const int32_t* sums, int64_t n) const {
    std::byte* const to = out_(buffers) + (at_(batch * count_ + row) + column * step_) * bytes_;
    const auto begin = static_cast<size_t>(column);
    const bool batched = of.bias.size() > static_cast<size_t>(columns_);
    const double* const bias =
        of.bias.empty() ? nullptr : &of.bias[batched ? static_cast<size_t>(batch * columns_) : 0];
    if (sums_) {
      std::array<int64_t, kWholeColumns> whole;
      for (int64_t j = 0; j < n; ++j) {
        const int64_t more = bias == nullptr ? 0 : static_cast<int64_t>(bias[column + j]);
        whole[static_cast<size_t>(j)] = sums[j] + more;
      }
      return store_whole_(whole.data(), n, to, step_ * bytes_);
    }
    const double of_row =
        of.rows.empty() ? 1 : of.rows[of.rows.size() == 1 ? 0 : static_cast<size_t>(row)];
    std::array<double, kWholeColumns> values;
    for (int64_t j = 0; j < n; ++j) {
      const auto at = begin + static_cast<size_t>(j);
      double value = sums[j];
      if (bias != nullptr && whole_bias_) value += bias[at];
      value = value * of.scales[at] * of_row + of.offsets[at];
      if (bias != nullptr && !whole_bias_) value += bias[at];
      values[static_cast<size_t>(j)] = value;
    }
    if (snaps_) Snaps().snap[static_cast<size_t>(Snap::kEven)](values.data(), n, -128, 127);
    store_(values.data(), n, to, step_ * bytes_);
  }

 private:
  ColumnScales scales_;
  Elements rows_, bias_;
  bool whole_bias_;
  Place out_;
  bool sums_, snaps_;
  Offsets at_;
  int64_t step_, bytes_, count_, columns_;
  StoreRow<double> store_;
  StoreRow<int64_t> store_whole_;
};

Plan PlanQuantised(const Quantised& of) {
  if (of.out.empty()) return Nothing();
  const WholeMatrix a = LeftOf(of), b = RightOf(of);
  const WholeProduct product(a, b, *BatchOf(a, b));
  const Finisher finisher(of);
  return {product.scratch_bytes(), [=](const Buffers& buffers) -> Status {
            const Numbers numbers = finisher.Read(buffers);
            product.Run(buffers, static_cast<std::byte*>(buffers.workspace),
                        [&](const Buffers& own, int64_t batch, int64_t row, int64_t column,
                            const int32_t* sums,
                            int64_t n) { finisher(own, numbers, batch, row, column, sums, n); });
            return {};
          }};
}

Quantised QuantisedOf(const QuantMatmulV3Params& p) {
  return {p.x1, p.x2, NoTensor(), p.scale, p.offset, p.bias, p.out, p.transposeX1, p.transposeX2};
}

Quantised QuantisedOf(const QuantMatmulV4Params& p) {
  return {p.x1,   p.x2,  p.pertokenScaleOptional, p.scale,      p.offset,
          p.bias, p.out, p.transposeX1,           p.transposeX2};
}

Quantised QuantisedOf(const QuantMatmulV5Params& p) {
  return {p.x1,   p.x2,  p.x1Scale,     p.x2Scale,    p.x2Offset,
          p.bias, p.out, p.transposeX1, p.transposeX2};
}

}  // namespace

void CheckQuantMatmulV3(const QuantMatmulV3Params& p, Checker& checker) {
  CheckQuantised(QuantisedOf(p), checker);
}
Plan PlanQuantMatmulV3(const QuantMatmulV3Params& p, const Product&) {
  return PlanQuantised(QuantisedOf(p));
}

void CheckQuantMatmulV4(const QuantMatmulV4Params& p, Checker& checker) {
  CheckQuantised(QuantisedOf(p), checker);
}
Plan PlanQuantMatmulV4(const QuantMatmulV4Params& p, const Product&) {
  return PlanQuantised(QuantisedOf(p));
}

void CheckQuantMatmulV5(const QuantMatmulV5Params& p, Checker& checker) {
  for (const Tensor* unused : {&p.yScale, &p.x1Offset, &p.yOffset}) {
    checker.That(!Given(*unused), [&] {
      return Concat(unused->name(),
                    " value is a tensor, expected null: no scales of groups are taken");
    });
  }
  checker.That(p.groupSize == 0, [&] {
    return Concat("groupSize value is ", p.groupSize,
                  ", expected 0: no scales of groups are taken");
  });
  CheckQuantised(QuantisedOf(p), checker);
}
Plan PlanQuantMatmulV5(const QuantMatmulV5Params& p, const Product&) {
  return PlanQuantised(QuantisedOf(p));
}

}  // namespace openaclnn::supporting
