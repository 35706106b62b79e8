// SPDX-License-Identifier: Apache-2.0
// Convolution: for each image and group one product of the weights with the windows of all places.
#include "supporting/window/convolution.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "kernels/gemm/gemm.h"
#include "kernels/move/copy.h"
#include "kernels/window/depthwise.h"
#include "kernels/work/divide_up.h"
#include "kernels/work/scratch.h"
#include "supporting/in_turn.h"

namespace openaclnn::supporting {
namespace {

/// The padding of planes may have four numbers: above, below, left and right.
bool HasFourPads(const Filter& p) { return p.input.rank() == 4 && p.padding.values().size() == 4; }

/// Zeros before and behind an axis.
std::pair<int64_t, int64_t> PadsOf(const Filter& p, size_t axis) {
  const auto values = p.padding.values();
  if (HasFourPads(p)) return {values[2 * axis], values[2 * axis + 1]};
  return {AtAxis(p.padding, axis), AtAxis(p.padding, axis)};
}

std::vector<WindowAxis> AxesOf(const Filter& p) {
  std::vector<WindowAxis> axes;
  for (uint32_t d = 2; d < p.input.rank(); ++d) {
    const size_t i = d - 2;
    WindowAxis axis;
    axis.in = p.input.dim(d);
    axis.taps = p.weight.dim(d);
    axis.stride = AtAxis(p.stride, i);
    const auto [before, behind] = PadsOf(p, i);
    axis.pad = before;
    axis.dilation = AtAxis(p.dilation, i);
    axis.transposed = p.transposed;
    const int64_t reach = axis.reach();
    if (axis.transposed) {
      const int64_t more = p.outputPadding.values().empty() ? 0 : AtAxis(p.outputPadding, i);
      axis.out = (axis.in - 1) * axis.stride - before - behind + reach + more;
    } else {
      const int64_t room = axis.in + before + behind - reach;
      axis.out = room < 0 ? 0 : room / axis.stride + 1;
    }
    axes.push_back(axis);
  }
  return axes;
}

/// Where a part of an output lies, and which taps it has: every `step`-th place and tap.
struct AxisPart {
  GemmAxis axis;
  int64_t first_place = 0, place_step = 1, first_tap = 0, tap_step = 1;
};

/// All places of an axis at once.
AxisPart WholeAxis(const WindowAxis& axis) { return {.axis = AlongAxis(axis)}; }

/// A transposed axis by the remainder of its places: between those of one remainder lie whole
/// steps of the input, so that each tap has all of them or none.
std::vector<AxisPart> PartsOf(const WindowAxis& axis) {
  std::vector<AxisPart> parts;
  const int64_t stride = axis.stride, common = std::gcd(stride, axis.dilation);
  for (int64_t first = 0; first < std::min(stride, axis.out); ++first) {
    AxisPart part;
    part.first_place = first;
    part.place_step = stride;
    part.tap_step = stride / common;
    const auto from = [&](int64_t tap) { return first + axis.pad - tap * axis.dilation; };
    int64_t tap = 0;
    while (tap < std::min(part.tap_step, axis.taps) && from(tap) % stride != 0) ++tap;
    const bool some = tap < std::min(part.tap_step, axis.taps);
    part.first_tap = some ? tap : 0;
    part.axis = {.in = axis.in,
                 .out = DivideUp(axis.out - first, stride),
                 .taps = some ? (axis.taps - 1 - tap) / part.tap_step + 1 : 0,
                 .pad = some ? -(from(tap) / stride) : 0,
                 .dilation = -(axis.dilation / common)};
    parts.push_back(part);
  }
  return parts;
}

// Parts have no terms that are always zero: with a stride of 2 a quarter of a plane's. Each part
// has a plan of its own, so that there may not be any number of them.
constexpr int64_t kMostParts = 64;

/// One plan each: every axis whole, or each choice of a part of every axis.
std::vector<std::vector<AxisPart>> PartsOf(const std::vector<WindowAxis>& axes) {
  __int128 count = 1;
  for (const WindowAxis& axis : axes) count *= axis.transposed ? axis.stride : 1;
  std::vector<std::vector<AxisPart>> all = {{}};
  for (const WindowAxis& axis : axes) {
    const bool cut = axis.transposed && axis.stride > 1 && count <= kMostParts;
    const std::vector<AxisPart> of = cut ? PartsOf(axis) : std::vector{WholeAxis(axis)};
    std::vector<std::vector<AxisPart>> longer;
    for (const auto& before : all) {
      for (const AxisPart& part : of) {
        longer.push_back(before);
        longer.back().push_back(part);
      }
    }
    all = std::move(longer);
  }
  return all;
}

std::vector<GemmAxis> AxesOf(const std::vector<AxisPart>& parts) {
  std::vector<GemmAxis> axes;
  axes.reserve(parts.size());
  for (const AxisPart& part : parts) axes.push_back(part.axis);
  return axes;
}

/// The weights of a part's taps as a matrix for each group: a row for each output channel, of input
/// channels and taps.
struct Weights {
  Weights(const Convolved& p, const Geometry& g, const std::vector<AxisPart>& parts)
      : bytes(BytesOf(p.weight)) {
    const int64_t* strides = p.weight.tensor().strides;
    shape = {g.groups, g.out_channels, g.in_channels};
    // (out, in / group, taps), transposed (in, out / group, taps).
    // Of one group the step to the next is any.
    from = p.transposed
               ? Shape{WrappingProduct(g.in_channels, strides[0]), strides[1], strides[0]}
               : Shape{WrappingProduct(g.out_channels, strides[0]), strides[0], strides[1]};
    for (size_t i = 0; i < parts.size(); ++i) {
      const int64_t stride = strides[i + 2];
      first += WrappingProduct(parts[i].first_tap, stride);
      shape.push_back(parts[i].axis.taps);
      from.push_back(WrappingProduct(parts[i].tap_step, stride));
    }
    int64_t step = 1;
    dense = true;
    to.resize(shape.size());
    for (size_t i = shape.size(); i-- > 0; step *= shape[i]) {
      to[i] = step;
      dense = dense && (shape[i] == 1 || from[i] == step);
    }
    terms = to[1];
    elements = step;
  }

  Copy AsCopy() const {
    Shape source = from, target = to;
    for (size_t i = 0; i < shape.size(); ++i) {
      source[i] = WrappingProduct(source[i], bytes);
      target[i] *= bytes;
    }
    return Copy(shape, Steps(source), Steps(target), bytes);
  }

  int64_t bytes;
  Shape shape, from, to;  // steps in elements
  int64_t first = 0;      // element of the first tap
  bool dense;             // the tensor holds the matrices as they are
  int64_t terms = 0, elements = 0;
};

/// Places of a part of the output, in elements.
struct Target {
  Target(const Convolved& p, const Geometry& g, const std::vector<AxisPart>& parts)
      : channel_step(p.output.tensor().strides[1]) {
    const int64_t* strides = p.output.tensor().strides;
    shape = {g.batches};
    steps = {strides[0]};
    for (size_t i = 0; i < parts.size(); ++i) {
      first += WrappingProduct(parts[i].first_place, strides[i + 2]);
      shape.push_back(parts[i].axis.out);
      steps.push_back(WrappingProduct(parts[i].place_step, strides[i + 2]));
      places = WrappingProduct(places, parts[i].axis.out);
    }
  }

  Shape shape, steps;  // of images and axes
  int64_t channel_step;
  int64_t first = 0;   // element of the first place
  int64_t places = 1;  // of an image
};

/// One part of a convolution: a product for each image and group, of the weights with the windows.
class Part {
 public:
  Part(const Convolved& p, const Geometry& g, const std::vector<AxisPart>& parts,
       const Product& product)
      : weights_(p, g, parts), target_(p, g, parts), out_bytes_(BytesOf(p.output)) {
    if (target_.places > 0) by_lines_ = PlanLines(p, g, parts, product);
    if (!by_lines_) PlanProduct(p, g, parts, product);
    if (!weights_.dense) copy_weights_ = weights_.AsCopy();
    ScratchParts room;
    if (!weights_.dense) room.Take(__int128{weights_.elements} * weights_.bytes);
    scratch_ = room.Take(by_lines_ ? lines_.scratch_bytes() : gemm_.scratch_bytes());
    workspace_ = room.bytes();
  }

  uint64_t workspace() const { return workspace_; }

  void Run(const std::byte* input, const std::byte* weight, const std::byte* bias,
           std::byte* output, std::byte* room) const {
    if (target_.places == 0) return;
    weight += weights_.first * weights_.bytes;
    output += target_.first * out_bytes_;
    if (!weights_.dense) {
      copy_weights_(weight, room);
      weight = room;
    }
    if (by_lines_) return RunDepthwise(lines_, input, weight, bias, output, room + scratch_);
    RunGemm(gemm_, weight, input, bias, output, room + scratch_);
  }

 private:
  /// Whether single channels are convolved line by line.
  bool PlanLines(const Convolved& p, const Geometry& g, const std::vector<AxisPart>& parts,
                 const Product& product) {
    if (g.in_channels != 1 || g.out_channels > kMostMultiplier || weights_.terms == 0) return false;
    const int64_t *image = p.input.tensor().strides, *out = p.output.tensor().strides;
    for (size_t i = 0; i < parts.size(); ++i) {
      const size_t axis = i + 3 - parts.size();
      lines_.axes[axis] = parts[i].axis;
      lines_.axes[axis].step = image[i + 2];
      lines_.out_steps[axis] = target_.steps[i + 1];
    }
    lines_.taps = weights_.terms;
    lines_.images = g.batches;
    lines_.channels = g.groups;
    lines_.multiplier = g.out_channels;
    lines_.image_step = image[0];
    lines_.channel_step = image[1];
    lines_.out_image_step = out[0];
    lines_.out_channel_step = out[1];
    lines_.weight_step = weights_.terms;
    lines_.dtype = p.input.dtype();
    lines_.bias_step = p.bias.present() ? p.bias.tensor().strides[0] : 0;
    lines_.bias_dtype = p.bias.present() ? p.bias.dtype() : p.input.dtype();
    lines_.rounding =
        RoundingOf(p.input.dtype(), p.cubeMathType, product).value_or(Rounding::kNone);
    return PlanDepthwise(&lines_);
  }

  void PlanProduct(const Convolved& p, const Geometry& g, const std::vector<AxisPart>& parts,
                   const Product& product) {
    gemm_.a = DenseMatrix(p.weight, p.cubeMathType, product, g.out_channels, weights_.terms);
    gemm_.b = DenseMatrix(p.input, p.cubeMathType, product, weights_.terms, target_.places);
    gemm_.through_windows = true;
    gemm_.windows = WindowsOf(AxesOf(parts), p.input);
    gemm_.c_dtype = p.output.dtype();
    gemm_.c = DenseRows(g.out_channels, target_.channel_step, BytesOf(p.output));
    SetColumns(target_.shape, target_.steps, &gemm_);
    gemm_.adds = p.bias.present();
    const int64_t bias_step = gemm_.adds ? p.bias.tensor().strides[0] : 0;
    if (gemm_.adds) {
      gemm_.added.view.rows = Offsets(&g.out_channels, &bias_step, 1);
      gemm_.added.view.step = 0;
      gemm_.added.view.element_bytes = BytesOf(p.bias);
      gemm_.added.dtype = p.bias.dtype();
    }
    gemm_.terms = weights_.terms;
    gemm_.rows = RowsOfAll(g.out_channels, weights_.terms);
    const auto groups = [&](int64_t of_channel, int64_t channels) {
      const int64_t step = WrappingProduct(channels, of_channel);
      return Offsets(&g.groups, &step, 1);
    };
    gemm_.batches = {
        .count = g.groups,
        .a = groups(weights_.terms, g.out_channels),
        .b = groups(p.input.tensor().strides[1], g.in_channels),
        .c = groups(target_.channel_step, g.out_channels),
        .added = groups(bias_step, g.out_channels),
    };
    gemm_.most_bytes = MostScratch({&p.input, &p.weight, &p.output});
    if (target_.places > 0) PlanGemm(&gemm_);
  }

  Weights weights_;
  Target target_;
  bool by_lines_ = false;
  int64_t out_bytes_;
  Depthwise lines_ = {};
  Gemm gemm_ = {};
  Copy copy_weights_;
  uint64_t scratch_ = 0, workspace_ = 0;
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
  CheckAxes(p.padding, HasFourPads(p) ? 4 : axes, 0, checker);
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
  // An input without channels may have any number of groups.
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
  if (p.output.empty()) return 0;
  ScratchParts room;
  room.Take(BytesOfRows(g.groups * g.out_channels, g.terms(), BytesOf(p.weight)));
  return room.bytes();
}

Plan PlanConvolved(const Convolved& p, const Geometry& g, const Product& product) {
  if (p.output.empty()) return Nothing();
  std::vector<Plan> plans;
  const Place input = p.input.place, weight = p.weight.place, bias = p.bias.place,
              output = p.output.place;
  const bool adds = p.bias.present();
  for (const auto& parts : PartsOf(g.windows.axes)) {
    const Part part(p, g, parts, product);
    plans.push_back({part.workspace(), [=](const Buffers& buffers) -> Status {
                       part.Run(input(buffers), weight(buffers), adds ? bias(buffers) : nullptr,
                                output(buffers), static_cast<std::byte*>(buffers.workspace));
                       return {};
                     }});
  }
  return InTurn(std::move(plans));
}

void SetColumns(const Shape& shape, const Shape& steps, Gemm* gemm) {
  size_t rest = shape.size() - 1;
  gemm->c.step = steps[rest];
  gemm->c_run = shape[rest];
  for (; rest > 0 && steps[rest - 1] == WrappingProduct(gemm->c_run, gemm->c.step); --rest) {
    gemm->c_run *= shape[rest - 1];
  }
  gemm->c_runs = Offsets(shape.data(), steps.data(), static_cast<uint32_t>(rest));
  gemm->columns = 1;
  for (const int64_t length : shape) gemm->columns = WrappingProduct(gemm->columns, length);
}

GemmAxis AlongAxis(const WindowAxis& axis) {
  GemmAxis along = {.in = axis.in, .out = axis.out, .taps = axis.taps};
  along.stride = axis.transposed ? 1 : axis.stride;
  along.divisor = axis.transposed ? axis.stride : 1;
  along.pad = axis.transposed ? -axis.pad : axis.pad;
  along.dilation = axis.transposed ? -axis.dilation : axis.dilation;
  return along;
}

GemmWindows WindowsOf(std::vector<GemmAxis> axes, const Tensor& image) {
  GemmWindows windows = {};
  windows.channel_step = image.tensor().strides[1];
  windows.image_step = image.tensor().strides[0];
  windows.taps = windows.places = 1;
  for (size_t i = 0; i < axes.size(); ++i) axes[i].step = image.tensor().strides[i + 2];
  for (size_t i = axes.size() - 1; i > 0; --i) {
    GemmAxis& outer = axes[i - 1];
    const GemmAxis& inner = axes[i];
    const auto plain = [](const GemmAxis& axis) {
      return axis.taps == 1 && axis.stride == 1 && axis.pad == 0 && axis.divisor == 1 &&
             axis.in == axis.out;
    };
    if (!plain(outer) || !plain(inner) || outer.step != WrappingProduct(inner.in, inner.step))
      break;
    outer.in *= inner.in;
    outer.out = outer.in;
    outer.step = inner.step;
    axes.pop_back();
  }
  std::ranges::copy(axes, windows.axes.end() - std::ssize(axes));
  for (const GemmAxis& axis : axes) {
    windows.taps = WrappingProduct(windows.taps, axis.taps);
    windows.places = WrappingProduct(windows.places, axis.out);
  }
  return windows;
}

uint64_t MostScratch(std::initializer_list<const Operand*> operands) {
  constexpr __int128 kLeast = 1 << 20;
  __int128 bytes = 0;
  for (const Operand* operand : operands) {
    bytes += __int128{operand->count().value_or(INT64_MAX)} * BytesOf(*operand);
  }
  return ScratchBytes(std::max(bytes / 10, kLeast));
}

}  // namespace openaclnn::supporting
