// SPDX-License-Identifier: Apache-2.0
// Convolution: of each batch and group one product of the weights with the inputs of all places.
#include "supporting/window/convolution.h"

#include <algorithm>

#include "kernels/copy.h"
#include "kernels/gemm.h"
#include "kernels/rows.h"
#include "kernels/scratch.h"
#include "supporting/in_turn.h"

namespace openaclnn::supporting {
namespace {

std::vector<WindowAxis> AxesOf(const Filter& p) {
  std::vector<WindowAxis> axes;
  for (uint32_t d = 2; d < p.input.rank(); ++d) {
    const size_t i = d - 2;
    WindowAxis axis;
    axis.in = p.input.dim(d);
    axis.taps = p.weight.dim(d);
    axis.stride = AtAxis(p.stride, i);
    axis.pad = AtAxis(p.padding, i);
    axis.dilation = AtAxis(p.dilation, i);
    axis.transposed = p.transposed;
    const int64_t reach = axis.reach();
    if (axis.transposed) {
      const int64_t more = p.outputPadding.values().empty() ? 0 : AtAxis(p.outputPadding, i);
      axis.out = (axis.in - 1) * axis.stride - 2 * axis.pad + reach + more;
    } else {
      const int64_t room = axis.in + 2 * axis.pad - reach;
      axis.out = room < 0 ? 0 : room / axis.stride + 1;
    }
    axes.push_back(axis);
  }
  return axes;
}

/// The weights as a matrix for each group: a row for each output channel, of input channels and
/// taps.
Copy WeightsOf(const Convolved& p, const Geometry& g) {
  const int64_t bytes = BytesOf(p.weight);
  const int64_t* strides = p.weight.tensor().strides;
  Shape shape = {g.groups, g.out_channels, g.in_channels};
  // (out, in / group, taps), transposed (in, out / group, taps).
  // Of one group the step to the next is any.
  Shape from = p.transposed
                   ? Shape{WrappingProduct(g.in_channels, strides[0]), strides[1], strides[0]}
                   : Shape{WrappingProduct(g.out_channels, strides[0]), strides[0], strides[1]};
  for (uint32_t d = 2; d < p.weight.rank(); ++d) {
    shape.push_back(p.weight.dim(d));
    from.push_back(strides[d]);
  }
  Shape to(shape.size());
  int64_t step = bytes;
  for (size_t i = shape.size(); i-- > 0; step *= shape[i]) {
    to[i] = step;
    from[i] = WrappingProduct(from[i], bytes);
  }
  return Copy(shape, Steps(from), Steps(to), bytes);
}

Gemm GemmOf(const Convolved& p, const Geometry& g, const Product& product) {
  const int64_t terms = g.terms(), places = g.windows.places();
  Gemm gemm = {};
  gemm.a = DenseMatrix(p.weight, p.cubeMathType, product, g.out_channels, terms);
  gemm.b = DenseMatrix(p.input, p.cubeMathType, product, terms, places);
  gemm.c = DenseRows(g.out_channels, places, BytesOf(p.output));
  gemm.c_dtype = p.output.dtype();
  gemm.adds = p.bias.present();
  if (gemm.adds) {
    const int64_t step = p.bias.tensor().strides[0];
    gemm.added.view.rows = Offsets(&g.out_channels, &step, 1);
    gemm.added.view.step = 0;
    gemm.added.view.element_bytes = BytesOf(p.bias);
    gemm.added.dtype = p.bias.dtype();
  }
  gemm.terms = terms;
  gemm.columns = places;
  gemm.rows = RowsOfAll(g.out_channels, terms);
  PlanGemm(&gemm);
  return gemm;
}

/// The inputs of all places: a row for each input channel and tap.
struct Columns {
  Columns(const Convolved& p, const Geometry& g)
      : windows(g.windows),
        bytes(BytesOf(p.input)),
        rows(g.terms()),
        channel_step(p.input.tensor().strides[1]),
        strides(p.input.tensor().strides + 2, p.input.tensor().strides + p.input.rank()) {}

  void Fill(const std::byte* from, std::byte* to) const {
    const int64_t taps = windows.tap_count(), places = windows.places();
    ParallelRows(rows, places, [&](int64_t row) {
      const std::byte* const channel = from + row / taps * channel_step * bytes;
      std::byte* at = to + row * places * bytes;
      for (int64_t place = 0; place < places; ++place, at += bytes) {
        const int64_t offset = windows.From(place, row % taps, strides.data());
        MoveElement(offset == Windows::kNowhere ? nullptr : channel + offset * bytes, bytes, at);
      }
    });
  }

  Windows windows;
  int64_t bytes, rows, channel_step;
  std::vector<int64_t> strides;
};

/// Where a task keeps what, in the workspace.
struct Parts {
  Parts(const Convolved& p, const Geometry& g, uint64_t scratch_bytes) {
    const int64_t terms = g.terms(), places = g.windows.places();
    ScratchParts parts;
    parts.Take(BytesOfRows(g.groups * g.out_channels, terms, BytesOf(p.weight)));
    columns = parts.Take(BytesOfRows(terms, places, BytesOf(p.input)));
    results = parts.Take(BytesOfRows(g.out_channels, places, BytesOf(p.output)));
    scratch = parts.Take(scratch_bytes);
    end = parts.bytes();
  }

  uint64_t columns, results, scratch, end;  // INT64_MAX: more than a number holds
};

/// As PyTorch has it: more would be places behind all windows.
void CheckOutputPadding(const Filter& p, Checker& checker) {
  for (uint32_t i = 0; i < p.input.rank() - 2; ++i) {
    const int64_t most = std::max(AtAxis(p.stride, i), AtAxis(p.dilation, i)) - 1;
    checker.That(AtAxis(p.outputPadding, i) <= most, [&] {
      return Concat("outputPadding value is ", AtAxis(p.outputPadding, i),
                    ", expected less than stride or dilation, at most ", most);
    });
  }
}

void CheckLists(const Filter& p, Checker& checker) {
  const uint32_t axes = p.input.rank() - 2;
  CheckLengths(p.input, axes, checker);
  CheckAxes(p.stride, axes, 1, checker);
  CheckAxes(p.padding, axes, 0, checker);
  CheckAxes(p.dilation, axes, 1, checker);
  if (p.transposed && !p.outputPadding.values().empty()) {
    CheckAxes(p.outputPadding, axes, 0, checker);
    if (checker.ok()) CheckOutputPadding(p, checker);
  }
}

Convolved ConvolvedOf(const ConvolutionParams& p) {
  return {p.input, p.weight, p.bias, p.output, p.transposed, p.cubeMathType};
}

}  // namespace

Geometry::Geometry(const Filter& p)
    : batches(p.input.dim(0)),
      groups(p.groups),
      in_channels(p.input.dim(1) / p.groups),
      out_channels(p.transposed ? p.weight.dim(1) : p.weight.dim(0) / p.groups),
      windows(AxesOf(p)) {}

Geometry Geometry::Adjoint() const {
  Geometry other = *this;
  std::swap(other.in_channels, other.out_channels);
  std::vector<WindowAxis> axes = windows.axes;
  for (WindowAxis& axis : axes) {
    std::swap(axis.in, axis.out);
    axis.transposed = !axis.transposed;
  }
  other.windows = Windows(std::move(axes));
  return other;
}

Shape OutShape(const Geometry& g) {
  Shape shape = {g.batches, g.groups * g.out_channels};
  for (const int64_t length : g.windows.out) shape.push_back(length);
  return shape;
}

void CheckFilter(const Filter& p, Checker& checker) {
  const Tensor &input = p.input, &weight = p.weight;
  checker.RankBetween(input, 3, 5).Rank(weight, input.rank()).SameDtype(weight, input);
  if (!checker.ok()) return;
  CheckLists(p, checker);
  const int64_t channels = input.dim(1), outer = weight.dim(0);
  const int64_t groups = p.groups;
  checker.That(groups > 0 && channels % groups == 0 && (p.transposed || outer % groups == 0), [&] {
    return Concat("groups value is ", groups, ", expected a divisor of input's channels, ",
                  channels, p.transposed ? "" : Concat(", and of weight's, ", outer));
  });
  if (!checker.ok()) return;
  checker.That(p.transposed ? outer == channels : weight.dim(1) == channels / groups, [&] {
    return Concat("weight shape is ", ShapeText(weight), ", expected one for ", channels,
                  " channels of input in ", groups, " groups");
  });
  // Of input without channels there may be any number of groups.
  int64_t all = 0;
  checker.That(!p.transposed || !__builtin_mul_overflow(groups, weight.dim(1), &all), [&] {
    return Concat("groups value is ", groups, ", expected less than 2^63 channels of output, ",
                  weight.dim(1), " in each");
  });
  bool taps = true;
  for (uint32_t d = 2; d < weight.rank(); ++d) {
    taps = taps && weight.dim(d) > 0 && weight.dim(d) <= kMostWindow;
  }
  checker.That(taps, [&] {
    return Concat("weight shape is ", ShapeText(weight), ", expected taps in each dimension");
  });
}

void CheckConvolution(const ConvolutionParams& p, Checker& checker) {
  const Filter filter = FilterOf(p);
  CheckFilter(filter, checker);
  checker.SameDtype(p.output, p.input);
  if (!checker.ok()) return;
  const Geometry geometry(filter);
  CheckShape(p.output, OutShape(geometry), checker);
  if (!checker.ok()) return;
  CheckBytes(p.weight, LeastBytes(ConvolvedOf(p), geometry), checker);
  if (p.bias.present()) CheckShape(p.bias, {geometry.groups * geometry.out_channels}, checker);
}

Plan PlanConvolution(const ConvolutionParams& p, const Product& product) {
  return PlanConvolved(ConvolvedOf(p), Geometry(FilterOf(p)), product);
}

void CheckBytes(const Operand& weight, uint64_t bytes, Checker& checker) {
  checker.That(bytes < uint64_t{INT64_MAX}, [&] {
    return Concat("weight shape is ", ShapeText(weight),
                  ", expected one whose workspace has less than 2^63 bytes");
  });
}

uint64_t LeastBytes(const Convolved& p, const Geometry& g) {
  return p.output.empty() ? 0 : Parts(p, g, 0).end;
}

Plan PlanConvolved(const Convolved& p, const Geometry& g, const Product& product) {
  if (p.output.empty()) return Nothing();
  const Gemm gemm = GemmOf(p, g, product);
  const Copy weights = WeightsOf(p, g);
  const Columns columns(p, g);
  const int64_t weight_bytes = g.out_channels * g.terms() * BytesOf(p.weight);
  const int64_t out_bytes = BytesOf(p.output);
  const Parts parts(p, g, gemm.scratch_bytes());
  // The results of a batch's group go where the output has them.
  Shape shape = {g.out_channels};
  for (const int64_t length : g.windows.out) shape.push_back(length);
  Shape from(shape.size()), to;
  int64_t step = out_bytes;
  for (size_t i = shape.size(); i-- > 0; step *= shape[i]) from[i] = step;
  for (uint32_t d = 1; d < p.output.rank(); ++d) {
    to.push_back(p.output.tensor().strides[d] * out_bytes);
  }
  const Copy results(shape, Steps(from), Steps(to), out_bytes);
  const int64_t in_batch = p.input.tensor().strides[0], out_batch = p.output.tensor().strides[0];
  const int64_t in_group = g.in_channels * columns.channel_step;
  const int64_t out_group = g.out_channels * p.output.tensor().strides[1];
  const int64_t bias_step = p.bias.present() ? p.bias.tensor().strides[0] * BytesOf(p.bias) : 0;
  const int64_t bias_group = WrappingProduct(g.out_channels, bias_step);  // any of one group
  const Place input = p.input.place, weight = p.weight.place, bias = p.bias.place,
              output = p.output.place;
  const int64_t batches = g.batches, groups = g.groups;
  return {parts.end, [=](const Buffers& buffers) -> Status {
            auto* const room = static_cast<std::byte*>(buffers.workspace);
            weights(weight(buffers), room);
            for (int64_t each = 0; each < batches * groups; ++each) {
              const int64_t n = each / groups, group = each % groups;
              columns.Fill(input(buffers) + (n * in_batch + group * in_group) * columns.bytes,
                           room + parts.columns);
              RunGemm(gemm, room + group * weight_bytes, room + parts.columns,
                      gemm.adds ? bias(buffers) + group * bias_group : nullptr,
                      room + parts.results, room + parts.scratch);
              results(room + parts.results,
                      output(buffers) + (n * out_batch + group * out_group) * out_bytes);
            }
            return {};
          }};
}

}  // namespace openaclnn::supporting
