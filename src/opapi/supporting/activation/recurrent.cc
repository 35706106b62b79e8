// SPDX-License-Identifier: Apache-2.0
// Recurrences: their checks, and their operands as rows and as factors of products.
#include "supporting/activation/recurrent.h"

#include <algorithm>

namespace openaclnn::supporting {
namespace {

void CheckParams(const Recurrent& of, const RecurrentSizes& sizes, Checker& checker) {
  const int64_t each = sizes.biases ? 4 : 2;
  const int64_t parts = WrappingProduct(sizes.layers, sizes.directions);
  const auto given = static_cast<int64_t>(of.params.size);
  checker.That(sizes.layers <= given && given == WrappingProduct(parts, each), [&] {
    return Concat(of.params.name, " length is ", of.params.size, ", expected ", each,
                  " for each of ", parts, " layers and directions");
  });
  const int64_t rows = WrappingProduct(sizes.gates, sizes.width);
  for (int64_t part = 0; checker.ok() && part < parts; ++part) {
    const auto first = static_cast<size_t>(part * each);
    CheckShape(of.params[first], {rows, sizes.input_of(part / sizes.directions)}, checker);
    CheckShape(of.params[first + 1], {rows, sizes.width}, checker);
    for (size_t i = 2; i < static_cast<size_t>(each); ++i) {
      CheckShape(of.params[first + i], {rows}, checker);
    }
  }
}

void CheckPacked(const Recurrent& of, Checker& checker) {
  checker.Rank(of.batchSizes, 1).Rank(of.input, 2);
  const int32_t dtype = of.batchSizes.dtype();
  checker.That(dtype == ACL_INT64 || dtype == ACL_INT32,
               [&] { return DtypeIs(of.batchSizes, "INT64, INT32"); });
  if (!checker.ok()) return;
  const int64_t steps = of.batchSizes.dim(0);
  checker.That(steps > 0 && of.input.dim(0) % steps == 0, [&] {
    return Concat("input shape is ", ShapeText(of.input), ", expected as many rows for each of ",
                  steps, " steps");
  });
}

}  // namespace

RecurrentSizes::RecurrentSizes(const Recurrent& of)
    : size(of.input.last_dim()),
      layers(of.layers),
      directions(of.bidirectional ? 2 : 1),
      gates(of.gates),
      biases(of.has_biases) {
  if (of.batchSizes.present()) {
    steps = of.batchSizes.dim(0);
    batch = steps > 0 ? of.input.dim(0) / steps : 0;
  } else {
    steps = of.input.dim(of.batch_first ? 1 : 0);
    batch = of.input.dim(of.batch_first ? 0 : 1);
  }
  if (of.params.size > 0) width = of.params[0].dim(0) / gates;
}

void CheckRecurrent(const Recurrent& of, Checker& checker) {
  if (of.batchSizes.present()) {
    CheckPacked(of, checker);
  } else {
    checker.Rank(of.input, 3);
  }
  checker.That(of.layers > 0,
               [&] { return Concat("numLayers value is ", of.layers, ", expected 1 or more"); });
  checker.That(of.params.size > 0,
               [&] { return Concat(of.params.name, " length is 0, expected weights"); });
  if (!checker.ok()) return;
  const RecurrentSizes sizes(of);
  checker.NotEmpty(of.input).NotEmpty(of.params[0]);
  CheckParams(of, sizes, checker);
  const int64_t parts = WrappingProduct(sizes.layers, sizes.directions);
  for (const Tensor* each : of.states) {
    if (checker.ok()) CheckShape(*each, {parts, sizes.batch, sizes.width}, checker);
  }
}

void CheckSteps(const GivenList& list, const RecurrentSizes& sizes, Checker& checker) {
  const int64_t parts = sizes.layers * sizes.directions;
  checker.That(static_cast<int64_t>(list.size) == parts, [&] {
    return Concat(list.name, " length is ", list.size, ", expected ", parts,
                  ", a tensor for each layer and direction");
  });
  for (size_t i = 0; checker.ok() && i < list.size; ++i) {
    const Tensor& each = list[i];
    // A list of one step may lack that dimension.
    if (sizes.steps == 1 && each.rank() == 2) {
      CheckShape(each, {sizes.batch, sizes.width}, checker);
    } else {
      CheckShape(each, {sizes.steps, sizes.batch, sizes.width}, checker);
    }
  }
}

void CheckSequence(const Tensor& tensor, const Recurrent& of, int64_t width, Checker& checker) {
  const RecurrentSizes sizes(of);
  if (of.batch_first && !of.batchSizes.present()) {
    return CheckShape(tensor, {sizes.batch, sizes.steps, width}, checker);
  }
  CheckShape(tensor, {sizes.steps, sizes.batch, width}, checker);
}

void CheckGradients(const Recurrent& of, const Tensor& input, const GivenList& params,
                    Checker& checker) {
  CheckShape(input, ShapeOf(of.input), checker);
  checker.That(params.size == of.params.size, [&] {
    return Concat(params.name, " length is ", params.size, ", expected that of ", of.params.name,
                  ", ", of.params.size);
  });
  for (size_t k = 0; checker.ok() && k < params.size; ++k) {
    CheckShape(params[k], ShapeOf(of.params[k]), checker);
  }
}

void CheckDropout(double dropout, bool train, int64_t layers, Checker& checker) {
  checker.That(dropout == 0 || !train || layers == 1, [&] {
    return Concat("dropout value is ", dropout,
                  ", expected 0 between layers: no argument gives a seed");
  });
}

StepRows::StepRows(const Tensor& tensor, int64_t steps, int64_t batch, bool batch_first)
    : place_(tensor.place),
      step_(tensor.rank() > 0 ? tensor.tensor().strides[tensor.rank() - 1] : 0),
      bytes_(tensor.present() ? BytesOf(tensor) : 0),
      dtype_(tensor.dtype()) {
  if (!tensor.present()) return;
  const auto* const strides = tensor.tensor().strides;
  const int64_t dims[] = {steps, batch};
  int64_t along[] = {WrappingProduct(batch, strides[0]), strides[0]};
  if (tensor.rank() == 3) {
    along[0] = strides[batch_first ? 1 : 0];
    along[1] = strides[batch_first ? 0 : 1];
  }
  rows_ = Offsets(dims, along, 2);
  load_ = LoaderOf<float>(dtype_);
  store_ = StorerOf<float>(dtype_);
}

void StepRows::Load(const Buffers& buffers, int64_t row, int64_t n, float* to) const {
  load_(place_(buffers) + rows_(row) * bytes_, step_ * bytes_, n, to);
}

void StepRows::Store(const Buffers& buffers, int64_t row, const float* from, int64_t n,
                     int64_t first) const {
  store_(from, n, place_(buffers) + (rows_(row) + first * step_) * bytes_, step_ * bytes_);
}

TapMatrix StepRows::Matrix(int64_t columns) const {
  TapMatrix matrix = {};
  matrix.view.rows = rows_;
  matrix.view.step = step_;
  matrix.view.element_bytes = bytes_;
  matrix.dtype = dtype_;
  matrix.width = columns;
  return matrix;
}

TapMatrix DenseFloats(int64_t rows, int64_t columns) {
  TapMatrix matrix = {};
  matrix.view.rows = Offsets(&rows, &columns, 1);
  matrix.view.step = 1;
  matrix.view.element_bytes = sizeof(float);
  matrix.dtype = ACL_FLOAT;
  matrix.width = columns;
  return matrix;
}

TapMatrix MatrixOf(const Tensor& weight) {
  TapMatrix matrix = {};
  matrix.view.rows = Offsets(weight, 1);
  matrix.view.step = weight.tensor().strides[1];
  matrix.view.element_bytes = BytesOf(weight);
  matrix.dtype = weight.dtype();
  matrix.width = weight.dim(1);
  return matrix;
}

TapMatrix Turned(TapMatrix matrix) {
  matrix.transposed = true;
  return matrix;
}

Gemm PlanFloats(const TapMatrix& a, const TapMatrix& b, int64_t rows, int64_t terms,
                int64_t columns, bool adds) {
  Gemm gemm = {};
  gemm.a = a;
  gemm.b = b;
  gemm.c = DenseFloats(rows, columns).view;
  gemm.c_dtype = ACL_FLOAT;
  gemm.adds = adds;
  gemm.added = {gemm.c, ACL_FLOAT};
  gemm.alpha = 1;
  gemm.beta = adds ? 1.0f : 0.0f;
  gemm.terms = terms;
  gemm.columns = columns;
  gemm.rows = RowsOfAll(rows, terms);
  PlanGemm(&gemm);
  return gemm;
}

Status ActiveRows::Read(const Buffers& buffers, std::vector<int64_t>* counts) const {
  counts->assign(static_cast<size_t>(sizes_.steps), sizes_.batch);
  if (!present_) return {};
  *counts = given_.AllWhole(buffers);
  int64_t most = sizes_.batch;
  for (size_t t = 0; t < counts->size(); ++t) {
    const int64_t count = (*counts)[t];
    if (count < 0 || count > most) {
      return Status(507035, Concat("batchSizes value is ", count, " at step ", t,
                                   ", expected 0 to ", most, ", that of the step before"));
    }
    most = count;
  }
  return {};
}

}  // namespace openaclnn::supporting
