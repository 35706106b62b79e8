// SPDX-License-Identifier: Apache-2.0
// The cross-entropy of a linear layer whose classes are split over devices: what a device knows of
// its scores, the loss from what all devices know, and the gradient.
//
// scores = input weight', one row for each target. Scores are FLOAT, in the workspace.
#include <cmath>
#include <vector>

#include "generated/matmul.h"
#include "kernels/rows/rows.h"
#include "kernels/work/divide_up.h"
#include "supporting/along.h"
#include "supporting/elements.h"
#include "supporting/matmul/matmul.h"
#include "supporting/softmax_row.h"

namespace openaclnn::supporting {
namespace {

constexpr int64_t kBits = 8;  // of an element of a mask

Matrix MatrixOf(const Tensor& tensor) {
  Matrix matrix;
  matrix.place = tensor.place;
  matrix.dtype = tensor.dtype();
  matrix.element_bytes = BytesOf(tensor);
  matrix.row_step = tensor.tensor().strides[0];
  matrix.column_step = tensor.tensor().strides[1];
  return matrix;
}

Matrix Transposed(Matrix matrix) {
  std::swap(matrix.row_step, matrix.column_step);
  return matrix;
}

/// Dense rows of floats.
Matrix FloatRows(int64_t columns) {
  Matrix matrix;
  matrix.element_bytes = sizeof(float);
  matrix.row_step = columns;
  matrix.column_step = 1;
  return matrix;
}

Gemm ProductOf(const Matrix& a, const Matrix& b, const Matrix& c, int64_t rows, int64_t columns,
               int64_t terms) {
  MatrixProduct product;
  product.rows = rows;
  product.columns = columns;
  product.terms = terms;
  product.a = a;
  product.b = b;
  product.c = c;
  return GemmOf(product, Rounding::kNone, Rounding::kNone);
}

/// The sizes of a layer: rows of input, classes, and elements of each.
struct Layer {
  Layer(const Tensor& input, const Tensor& weight)
      : rows(input.dim(0)), classes(weight.dim(0)), width(input.dim(1)) {}

  int64_t Masks() const { return DivideUp(rows, kBits); }
  uint64_t ScoreBytes() const {
    constexpr uint64_t kAlignment = 64;
    return (static_cast<uint64_t>(rows) * static_cast<uint64_t>(classes) * sizeof(float) +
            kAlignment - 1) /
           kAlignment * kAlignment;
  }

  int64_t rows, classes, width;
};

constexpr DtypeSet kHalves = Dtypes(ACL_FLOAT16) | Dtypes(ACL_BF16);

void CheckType(const Tensor& tensor, DtypeSet types, Checker& checker) {
  checker.That(!tensor.present() || Contains(types, tensor.dtype()),
               [&] { return DtypeIs(tensor, DtypesText(types)); });
}

void CheckLayer(const Tensor& input, const Tensor& weight, Checker& checker) {
  for (const Tensor* each : {&input, &weight}) CheckType(*each, kHalves, checker);
  checker.SameDtype(weight, input).Rank(input, 2).Rank(weight, 2);
  checker.That(weight.dim(1) == input.dim(1), [&] {
    return Concat(weight.name(), " shape is ", ShapeText(weight), ", expected ", input.dim(1),
                  " elements for each class");
  });
  if (!checker.ok()) return;
  const int64_t shape[] = {input.dim(0), weight.dim(0), static_cast<int64_t>(sizeof(float))};
  checker.That(ElementCount(shape, 3).has_value(), [&] {
    return Concat(weight.name(), " shape is ", ShapeText(weight), ", expected fewer classes");
  });
}

/// FLOAT, one for each row.
void CheckOfRows(const Tensor& tensor, const Layer& layer, Checker& checker) {
  if (!checker.ok() || !tensor.present()) return;
  CheckType(tensor, Dtypes(ACL_FLOAT), checker);
  CheckShape(tensor, {layer.rows}, checker);
}

void CheckTargets(const Tensor& target, const Tensor& mask, const Layer& layer, Checker& checker) {
  if (!checker.ok()) return;
  CheckIndexType(target, checker);
  CheckShape(target, {layer.rows}, checker);
  CheckType(mask, Dtypes(ACL_UINT8), checker);
  CheckShape(mask, {layer.Masks()}, checker);
}

void CheckSmoothing(double smoothing, Checker& checker) {
  checker.That(smoothing == 0,
               [&] { return Concat("labelSmoothing value is ", smoothing, ", expected 0"); });
}

/// Rows of a tensor, or of dense floats, in double.
struct TensorRows {
  explicit TensorRows(const Tensor& tensor)
      : rows(tensor, 1),
        place(tensor.place),
        load(LoaderOf<double>(tensor.dtype())),
        store(StorerOf<double>(tensor.dtype())) {}

  void Load(const Buffers& buffers, int64_t row, std::vector<double>* values) const {
    load(rows.At(place(buffers), row), rows.step, std::ssize(*values), values->data());
  }
  void Store(const Buffers& buffers, int64_t row, const std::vector<double>& values) const {
    store(values.data(), std::ssize(values), rows.At(place(buffers), row), rows.step);
  }

  Rows rows;
  Place place;
  LoadRow<double> load;
  StoreRow<double> store;
};

/// The scores of a layer, in the workspace.
struct Scores {
  Scores(const Tensor& input_of, const Tensor& weight_of)
      : layer(input_of, weight_of),
        input(input_of.place),
        weight(weight_of.place),
        gemm(ProductOf(MatrixOf(input_of), Transposed(MatrixOf(weight_of)),
                       FloatRows(layer.classes), layer.rows, layer.classes, layer.width)) {}

  uint64_t bytes() const { return layer.ScoreBytes() + gemm.scratch_bytes(); }

  float* Compute(const Buffers& buffers) const {
    auto* const room = static_cast<std::byte*>(buffers.workspace);
    RunGemm(gemm, input(buffers), weight(buffers), nullptr, room, room + layer.ScoreBytes());
    return reinterpret_cast<float*>(room);
  }

  void Load(const float* scores, int64_t row, std::vector<double>* values) const {
    const float* const from = scores + row * layer.classes;
    values->assign(from, from + layer.classes);
  }

  Layer layer;
  Place input, weight;
  Gemm gemm;
};

/// Bits of rows, the first of each element its highest; those behind the last row are 1.
std::vector<double> Packed(const std::vector<bool>& bits) {
  const auto count = std::ssize(bits);
  std::vector<double> packed(static_cast<size_t>(DivideUp(count, kBits)));
  for (int64_t i = 0; i < std::ssize(packed) * kBits; ++i) {
    const bool bit = i >= count || bits[static_cast<size_t>(i)];
    packed[static_cast<size_t>(i / kBits)] += bit ? 1 << (kBits - 1 - i % kBits) : 0;
  }
  return packed;
}

bool BitOf(const std::vector<int64_t>& packed, int64_t i) {
  return (packed[static_cast<size_t>(i / kBits)] >> (kBits - 1 - i % kBits) & 1) != 0;
}

}  // namespace

void CheckLinearMaxSum(const LinearMaxSumParams& p, Checker& checker) {
  CheckLayer(p.input, p.weight, checker);
  if (!checker.ok()) return;
  const Layer layer(p.input, p.weight);
  CheckTargets(p.target, p.targetMaskOut, layer, checker);
  checker.SameDtype(p.maskedTargetOut, p.target);
  CheckShape(p.maskedTargetOut, {layer.rows}, checker);
  for (const Tensor* each :
       {&p.logitsMaxLocalOut, &p.sumExpLogitsLocalOut, &p.predictedLogitsLocalOut}) {
    CheckOfRows(*each, layer, checker);
  }
  const Tensor& logits = p.vocabParallelLogitsOutOptional;
  if (logits.present()) {
    checker.SameDtype(logits, p.input);
    CheckShape(logits, {layer.rows, layer.classes}, checker);
  }
  checker.That(p.vocabStartIndex >= 0, [&] {
    return Concat("vocabStartIndex value is ", p.vocabStartIndex, ", expected 0 or more");
  });
  const __int128 most = static_cast<__int128>(p.vocabStartIndex) + layer.classes - 1;
  checker.That(
      p.vocabEndIndex >= p.vocabStartIndex && (p.vocabEndIndex <= most || layer.classes == 0), [&] {
        return Concat("vocabEndIndex value is ", p.vocabEndIndex, ", expected ", p.vocabStartIndex,
                      " <= value < vocabStartIndex + ", layer.classes);
      });
}

Plan PlanLinearMaxSum(const LinearMaxSumParams& p, const Product&) {
  const Scores scores(p.input, p.weight);
  const Elements target(p.target, 0), top(p.logitsMaxLocalOut, 0), sum(p.sumExpLogitsLocalOut, 0),
      predicted(p.predictedLogitsLocalOut, 0), masks(p.targetMaskOut, 0),
      local(p.maskedTargetOut, 0);
  const Tensor& logits_of = p.vocabParallelLogitsOutOptional;
  const std::optional<TensorRows> logits =
      logits_of.present() ? std::optional(TensorRows(logits_of)) : std::nullopt;
  const int64_t first = p.vocabStartIndex, last = p.vocabEndIndex;
  return {scores.bytes(), [=](const Buffers& buffers) -> Status {
            const Layer& layer = scores.layer;
            const std::vector<int64_t> targets = target.AllWhole(buffers);
            std::vector<bool> masked;
            masked.reserve(targets.size());
            for (const int64_t each : targets) masked.push_back(each < first || each > last);
            const float* const found = scores.Compute(buffers);
            ParallelRows(layer.rows, layer.classes, [&](int64_t i) {
              SoftmaxRow row(layer.classes);
              scores.Load(found, i, &row.x);
              const bool is_here = layer.classes > 0 && !masked[static_cast<size_t>(i)];
              const int64_t at = is_here ? targets[static_cast<size_t>(i)] - first : 0;
              const double max = row.Largest();
              top.Set(buffers, i, max);
              predicted.Set(buffers, i, is_here ? row.x[static_cast<size_t>(at)] - max : 0);
              local.Set(buffers, i, static_cast<double>(at));
              sum.Set(buffers, i, layer.classes > 0 ? row.TakePowers(max) : 0);
              if (logits) logits->Store(buffers, i, row.x);
            });
            masks.SetAll(buffers, Packed(masked));
            return {};
          }};
}

void CheckMaxSumLoss(const MaxSumLossParams& p, Checker& checker) {
  CheckSmoothing(p.labelSmoothing, checker);
  for (const Tensor* each : {&p.inputOptional, &p.weightOptional}) {
    checker.That(!each->present(),
                 [&] { return Concat(each->name(), " value is a tensor, expected null"); });
  }
  checker.Rank(p.logitsMax, 1);
  if (!checker.ok()) return;
  for (const Tensor* each : {&p.logitsMax, &p.sumExpLogits, &p.predictedLogits, &p.lossOut}) {
    CheckType(*each, Dtypes(ACL_FLOAT), checker);
    CheckShape(*each, ShapeOf(p.logitsMax), checker);
  }
  const Tensor &logits = p.vocabParallelLogitsOptional, &softmax = p.softMaxOutOptional;
  if (!checker.ok() || !logits.present()) return;
  CheckType(logits, kHalves | Dtypes(ACL_FLOAT), checker);
  checker.Rank(logits, 2);
  if (!checker.ok()) return;
  CheckShape(logits, {p.logitsMax.dim(0), logits.dim(1)}, checker);
  checker.That(softmax.present(), ACLNN_ERR_PARAM_NULLPTR, [&] {
    return Concat(softmax.name(), " value is null, expected a tensor for ", logits.name());
  });
  if (!checker.ok()) return;
  CheckType(softmax, Dtypes(ACL_FLOAT), checker);
  CheckShape(softmax, ShapeOf(logits), checker);
}

Plan PlanMaxSumLoss(const MaxSumLossParams& p, const Product&) {
  const Elements top(p.logitsMax, 0), sum(p.sumExpLogits, 1), predicted(p.predictedLogits, 0),
      loss(p.lossOut, 0);
  const int64_t rows = p.logitsMax.dim(0);
  const Plan losses = {0, [=](const Buffers& buffers) -> Status {
                         for (int64_t i = 0; i < rows; ++i) {
                           const double all = std::log(sum.Get(buffers, i));
                           loss.Set(buffers, i, all - predicted.Get(buffers, i));
                         }
                         return {};
                       }};
  if (!p.vocabParallelLogitsOptional.present()) return losses;
  const TensorRows logits(p.vocabParallelLogitsOptional), softmax(p.softMaxOutOptional);
  const int64_t classes = p.vocabParallelLogitsOptional.dim(1);
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(rows, classes, [&](int64_t i) {
              std::vector<double> row(static_cast<size_t>(classes));
              logits.Load(buffers, i, &row);
              const double max = top.Get(buffers, i), factor = 1 / sum.Get(buffers, i);
              for (double& value : row) value = std::exp(value - max) * factor;
              softmax.Store(buffers, i, row);
            });
            return losses.work(buffers);
          }};
}

void CheckLinearLossGradient(const LinearLossGradientParams& p, Checker& checker) {
  CheckSmoothing(p.labelSmoothing, checker);
  CheckLayer(p.input, p.weight, checker);
  if (!checker.ok()) return;
  const Layer layer(p.input, p.weight);
  CheckOfRows(p.grad, layer, checker);
  CheckTargets(p.maskedTarget, p.targetMask, layer, checker);
  checker.SameShapeAndDtype(p.inputGradOut, p.input).SameShapeAndDtype(p.weightGradOut, p.weight);
  if (p.softmaxOptional.present()) {
    CheckType(p.softmaxOptional, Dtypes(ACL_FLOAT), checker);
    return CheckShape(p.softmaxOptional, {layer.rows, layer.classes}, checker);
  }
  for (const Tensor* each : {&p.logitsMaxOptional, &p.sumExpLogitsOptional}) {
    checker.That(each->present(), ACLNN_ERR_PARAM_NULLPTR, [&] {
      return Concat(each->name(), " value is null, expected a tensor without softmaxOptional");
    });
    CheckOfRows(*each, layer, checker);
  }
}

namespace {

/// The gradient by the scores, row by row over them.
struct ScoreGradient {
  explicit ScoreGradient(const LinearLossGradientParams& p)
      : scores(p.input, p.weight),
        grad(p.grad, 0),
        masks(p.targetMask, 0),
        target(p.maskedTarget, 0),
        top(p.logitsMaxOptional, 0),
        sum(p.sumExpLogitsOptional, 1) {
    if (p.softmaxOptional.present()) softmax = TensorRows(p.softmaxOptional);
  }

  Status Run(const Buffers& buffers, float** result) const {
    const Layer& layer = scores.layer;
    const std::vector<int64_t> at = target.AllWhole(buffers), bits = masks.AllWhole(buffers);
    for (int64_t i = 0; i < layer.rows; ++i) {
      const int64_t value = at[static_cast<size_t>(i)];
      if (BitOf(bits, i) || (value >= 0 && value < layer.classes)) continue;
      return Status(507035, Concat("maskedTarget value ", i, " is ", value,
                                   ", expected 0 <= value < ", layer.classes));
    }
    float* const found = softmax ? static_cast<float*>(buffers.workspace) : scores.Compute(buffers);
    ParallelRows(layer.rows, layer.classes, [&](int64_t i) {
      std::vector<double> row(static_cast<size_t>(layer.classes));
      if (softmax) {
        softmax->Load(buffers, i, &row);
      } else {
        scores.Load(found, i, &row);
        const double max = top.Get(buffers, i), factor = 1 / sum.Get(buffers, i);
        for (double& value : row) value = std::exp(value - max) * factor;
      }
      if (!BitOf(bits, i)) row[static_cast<size_t>(at[static_cast<size_t>(i)])] -= 1;
      const double g = grad.Get(buffers, i);
      float* const to = found + i * layer.classes;
      for (int64_t k = 0; k < layer.classes; ++k) {
        to[k] = static_cast<float>(g * row[static_cast<size_t>(k)]);
      }
    });
    *result = found;
    return {};
  }

  Scores scores;
  std::optional<TensorRows> softmax;
  Elements grad, masks, target, top, sum;
};

}  // namespace

Plan PlanLinearLossGradient(const LinearLossGradientParams& p, const Product&) {
  const ScoreGradient gradient(p);
  const Layer& layer = gradient.scores.layer;
  const Matrix slopes = FloatRows(layer.classes);
  const Gemm by_input = ProductOf(slopes, MatrixOf(p.weight), MatrixOf(p.inputGradOut), layer.rows,
                                  layer.width, layer.classes);
  const Gemm by_weight = ProductOf(Transposed(slopes), MatrixOf(p.input), MatrixOf(p.weightGradOut),
                                   layer.classes, layer.width, layer.rows);
  const uint64_t before = layer.ScoreBytes();
  const uint64_t most = std::max(
      {gradient.scores.gemm.scratch_bytes(), by_input.scratch_bytes(), by_weight.scratch_bytes()});
  const Place input = p.input.place, weight = p.weight.place, to_input = p.inputGradOut.place,
              to_weight = p.weightGradOut.place;
  return {before + most, [=](const Buffers& buffers) -> Status {
            float* found = nullptr;
            Status status = gradient.Run(buffers, &found);
            if (!status.ok()) return status;
            auto* const scratch = static_cast<std::byte*>(buffers.workspace) + before;
            RunGemm(by_input, found, weight(buffers), nullptr, to_input(buffers), scratch);
            RunGemm(by_weight, found, input(buffers), nullptr, to_weight(buffers), scratch);
            return {};
          }};
}

}  // namespace openaclnn::supporting
