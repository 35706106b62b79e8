// SPDX-License-Identifier: Apache-2.0
// The gradients of Convolution: by the input another convolution, by the weight one product for
// each group, by the bias sums.
#include <algorithm>
#include <array>

#include "kernels/move/copy.h"
#include "kernels/rows/rows.h"
#include "kernels/window/depthwise_gradient.h"
#include "supporting/elements.h"
#include "supporting/in_turn.h"
#include "supporting/tree_sum.h"
#include "supporting/window/convolution.h"

namespace openaclnn::supporting {
namespace {

using Gradients = ConvolutionBackwardParams;

bool IsAsked(const Gradients& p, size_t which, const Tensor& gradient) {
  return p.outputMask[which] && !gradient.empty();
}

Convolved OfInput(const Gradients& p) {
  return {p.gradOutput, p.weight, NoTensor(), p.gradInput, !p.transposed, p.cubeMathType};
}

/// The gradient by the weight: (channels, channels of a group, taps …) of two tensors that meet.
/// One has an element for each place, the other is seen through the windows. Transposed, the places
/// are those of the input.
struct Meeting {
  Meeting(const Gradients& p, const Geometry& forward)
      : geometry(p.transposed ? forward.Adjoint() : forward),
        at_places(p.transposed ? p.input : p.gradOutput),
        through_windows(p.transposed ? p.gradOutput : p.input) {}

  int64_t rows() const { return geometry.out_channels; }
  int64_t columns() const { return geometry.terms(); }
  int64_t terms() const { return geometry.batches * geometry.windows.places(); }

  Geometry geometry;
  const Tensor &at_places, &through_windows;
};

/// One product for each group: rows are channels of what is at the places, columns channels and
/// taps of what is seen through the windows, terms images and places.
class WeightGradient {
 public:
  WeightGradient(const Gradients& p, const Meeting& of, const Product& product)
      : groups_(of.geometry.groups), rows_(of.rows()) {
    by_lanes_ = PlanLanes(p, of, product);
    if (!by_lanes_) PlanProduct(p, of, product);
    ScratchParts room;
    if (copies_) {
      room.Take(
          BytesOfRows(of.geometry.batches * groups_ * rows_, of.geometry.windows.places(), bytes_));
    }
    scratch_ = room.Take(by_lanes_ ? lanes_.scratch_bytes() : gemm_.scratch_bytes());
    workspace_ = room.bytes();
  }

  uint64_t workspace() const { return workspace_; }

  void Run(const std::byte* at_places, const std::byte* through_windows, std::byte* out,
           std::byte* room) const {
    if (by_lanes_) {
      return RunDepthwiseGradient(lanes_, through_windows, at_places, out, room + scratch_);
    }
    if (copies_) {
      copy_places_(at_places, room);
      at_places = room;
    }
    RunGemm(gemm_, at_places, through_windows, nullptr, out, room + scratch_);
  }

 private:
  /// The step between the taps of a channel, where they are steps of one length.
  static int64_t TapStep(const Tensor& out, uint32_t first) {
    return Offsets(out.tensor().dims + first, out.tensor().strides + first, out.rank() - first)
        .step();
  }

  /// Whether single channels are summed beside each other.
  bool PlanLanes(const Gradients& p, const Meeting& of, const Product& product) {
    const Geometry& g = of.geometry;
    const Tensor &image = of.through_windows, &at = of.at_places, &out = p.gradWeight;
    if (g.in_channels != 1 || rows_ > kMostMultiplier || of.terms() == 0) return false;
    lanes_.out_tap_step = of.columns() == 1 ? 1 : TapStep(out, 1);
    if (lanes_.out_tap_step == 0) return false;
    const size_t axes = g.windows.axes.size();
    for (size_t i = 0; i < axes; ++i) {
      const size_t axis = i + 3 - axes;
      lanes_.axes[axis] = AlongAxis(g.windows.axes[i]);
      lanes_.axes[axis].step = image.tensor().strides[i + 2];
      lanes_.grad_steps[axis] = at.tensor().strides[i + 2];
    }
    lanes_.taps = of.columns();
    lanes_.images = g.batches;
    lanes_.channels = groups_;
    lanes_.multiplier = rows_;
    lanes_.image_step = image.tensor().strides[0];
    lanes_.channel_step = image.tensor().strides[1];
    lanes_.grad_image_step = at.tensor().strides[0];
    lanes_.grad_channel_step = at.tensor().strides[1];
    lanes_.out_channel_step = out.tensor().strides[0];
    lanes_.dtype = image.dtype();
    lanes_.out_dtype = out.dtype();
    lanes_.rounding = RoundingOf(image.dtype(), p.cubeMathType, product).value_or(Rounding::kNone);
    lanes_.most_bytes = MostScratch({&image, &at, &out});
    return PlanDepthwiseGradient(&lanes_);
  }

  void PlanProduct(const Gradients& p, const Meeting& of, const Product& product) {
    const Tensor &at = of.at_places, &out = p.gradWeight;
    const int64_t places = of.geometry.windows.places(), channels = groups_ * rows_;
    bytes_ = BytesOf(at);
    PlaceRows(at, places, channels);
    gemm_.a = DenseMatrix(at, p.cubeMathType, product, rows_, of.terms());
    const int64_t dims[] = {of.geometry.batches, channels};
    const int64_t steps[] = {image_step_, channel_step_};
    gemm_.a.view.rows = Offsets(dims, steps, 2);
    gemm_.a.view.step = place_step_;
    gemm_.a.width = std::max<int64_t>(places, 1);
    gemm_.a.step = channels;
    gemm_.b = DenseMatrix(of.through_windows, p.cubeMathType, product, of.terms(), of.columns());
    gemm_.b.transposed = true;
    gemm_.through_windows = true;
    std::vector<GemmAxis> axes;
    for (const WindowAxis& axis : of.geometry.windows.axes) axes.push_back(AlongAxis(axis));
    gemm_.windows = WindowsOf(std::move(axes), of.through_windows);
    gemm_.terms = of.terms();
    gemm_.rows = RowsOfAll(rows_, gemm_.terms);
    // (channels, channels of a group, taps ...).
    const int64_t *lengths = out.tensor().dims, *strides = out.tensor().strides;
    gemm_.c = DenseRows(rows_, strides[0], BytesOf(out));
    SetColumns(Shape(lengths + 1, lengths + out.rank()), Shape(strides + 1, strides + out.rank()),
               &gemm_);
    gemm_.c_dtype = out.dtype();
    const int64_t channel_step = of.through_windows.tensor().strides[1];
    gemm_.batches = {.count = groups_,
                     .a = GroupOffsets(WrappingProduct(rows_, channel_step_)),
                     .b = GroupOffsets(WrappingProduct(of.geometry.in_channels, channel_step)),
                     .c = GroupOffsets(WrappingProduct(rows_, strides[0])),
                     .added = {}};
    gemm_.most_bytes = MostScratch({&of.through_windows, &at, &out});
    PlanGemm(&gemm_);
  }

  Offsets GroupOffsets(int64_t step) const { return Offsets(&groups_, &step, 1); }

  /// How the tensor's places are read as rows; where they are not steps of one length, a copy's.
  void PlaceRows(const Tensor& at, int64_t places, int64_t channels) {
    const int64_t* strides = at.tensor().strides;
    const Offsets along(at.tensor().dims + 2, strides + 2, at.rank() - 2);
    copies_ = places > 1 && along.step() == 0;
    place_step_ = copies_ || places <= 1 ? 1 : along.step();
    channel_step_ = copies_ ? places : strides[1];
    image_step_ = copies_ ? WrappingProduct(channels, places) : strides[0];
    if (!copies_) return;
    Shape shape = ShapeOf(at), from(shape.size()), to(shape.size());
    int64_t step = bytes_;
    for (size_t i = shape.size(); i-- > 0; step = WrappingProduct(step, shape[i])) {
      to[i] = step;
      from[i] = WrappingProduct(strides[i], bytes_);
    }
    copy_places_ = Copy(shape, Steps(from), Steps(to), bytes_);
  }

  int64_t groups_, rows_, bytes_ = 0;
  int64_t image_step_ = 0, channel_step_ = 0, place_step_ = 1;  // of what is at the places
  bool by_lanes_ = false, copies_ = false;
  DepthwiseGradient lanes_ = {};
  Gemm gemm_ = {};
  Copy copy_places_;
  uint64_t scratch_ = 0, workspace_ = 0;
};

uint64_t LeastWeightBytes(const Meeting& of) {
  ScratchParts room;
  const int64_t channels = of.geometry.groups * of.rows();
  room.Take(BytesOfRows(channels, of.terms(), BytesOf(of.at_places)));
  return room.bytes();
}

Plan PlanWeight(const Gradients& p, const Geometry& forward, const Product& product) {
  const Meeting of(p, forward);
  const WeightGradient gradient(p, of, product);
  const Place at_places = of.at_places.place, through_windows = of.through_windows.place,
              out = p.gradWeight.place;
  return {gradient.workspace(), [=](const Buffers& buffers) -> Status {
            gradient.Run(at_places(buffers), through_windows(buffers), out(buffers),
                         static_cast<std::byte*>(buffers.workspace));
            return {};
          }};
}

/// Strides in bytes: of a batch and of a channel; those of the places are elements.
struct ByteSteps {
  explicit ByteSteps(const Tensor& tensor)
      : bytes(BytesOf(tensor)),
        batch(tensor.tensor().strides[0] * bytes),
        channel(tensor.tensor().strides[1] * bytes),
        places(tensor.tensor().strides + 2, tensor.tensor().strides + tensor.rank()) {}

  int64_t bytes, batch, channel;
  std::vector<int64_t> places;
};

/// Sums in double over batches and places, in their order.
Plan PlanBias(const Gradients& p) {
  const Tensor& gradient = p.gradOutput;
  const Elements out(p.gradBias, 0);
  const ByteSteps steps(gradient);
  const uint32_t last = gradient.rank() - 1;
  const Offsets lines(gradient.tensor().dims + 2, steps.places.data(), last - 2);
  const int64_t channels = gradient.dim(1), width = gradient.last_dim();
  const int64_t all = gradient.empty() ? 0 : *gradient.count() / channels / width;
  const int64_t each = all == 0 ? 1 : all / gradient.dim(0);  // lines of a batch
  const LoadRow<double> load = LoaderOf<double>(gradient.dtype());
  const Place from = gradient.place;
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(channels, all * width, [&](int64_t channel) {
              TreeSum<double> sum;
              std::array<double, 256> values;
              for (int64_t line = 0; line < all; ++line) {
                const std::byte* const begin = from(buffers) + channel * steps.channel +
                                               line / each * steps.batch +
                                               lines(line % each) * steps.bytes;
                const int64_t step = steps.places.back() * steps.bytes;
                for (int64_t i = 0; i < width; i += std::ssize(values)) {
                  const int64_t n = std::min<int64_t>(std::ssize(values), width - i);
                  load(begin + i * step, step, n, values.data());
                  for (int64_t k = 0; k < n; ++k) sum.Add(values[static_cast<size_t>(k)]);
                }
              }
              out.Set(buffers, channel, sum.Total());
            });
            return {};
          }};
}

void CheckGradients(const Gradients& p, const Geometry& g, Checker& checker) {
  const Shape channels = {g.groups * g.out_channels};
  CheckShape(p.gradOutput, OutShape(g), checker);
  const auto sizes = p.biasSizes.values();
  checker.That(!p.outputMask[2] || sizes.empty() || std::ranges::equal(sizes, channels), [&] {
    return Concat("biasSizes value is ",
                  ShapeText(sizes.data(), static_cast<uint32_t>(sizes.size())), ", expected (",
                  channels[0], "), the channels of gradOutput");
  });
  if (p.outputMask[0]) {
    checker.SameDtype(p.gradInput, p.input);
    CheckShape(p.gradInput, ShapeOf(p.input), checker);
  }
  if (p.outputMask[1]) CheckShape(p.gradWeight, ShapeOf(p.weight), checker);
  if (p.outputMask[2]) CheckShape(p.gradBias, channels, checker);
}

}  // namespace

void CheckConvolutionBackward(const ConvolutionBackwardParams& p, Checker& checker) {
  CheckAsked(p.outputMask, {&p.gradInput, &p.gradWeight, &p.gradBias}, checker);
  const Filter filter = FilterOf(p);
  CheckFilter(filter, checker);
  checker.SameDtype(p.gradOutput, p.input);
  if (!checker.ok()) return;
  const Geometry geometry(filter);
  CheckGradients(p, geometry, checker);
  if (!checker.ok()) return;
  uint64_t bytes = 0;
  if (IsAsked(p, 0, p.gradInput)) bytes = LeastBytes(OfInput(p), geometry.Adjoint());
  if (IsAsked(p, 1, p.gradWeight)) {
    const Meeting of(p, geometry);
    bytes = std::max(bytes, LeastWeightBytes(of));
  }
  CheckBytes(p.weight, bytes, checker);
}

Plan PlanConvolutionBackward(const ConvolutionBackwardParams& p, const Product& product) {
  const Geometry forward(FilterOf(p));
  std::vector<Plan> plans;
  if (IsAsked(p, 0, p.gradInput)) {
    plans.push_back(PlanConvolved(OfInput(p), forward.Adjoint(), product));
  }
  if (IsAsked(p, 1, p.gradWeight)) plans.push_back(PlanWeight(p, forward, product));
  if (IsAsked(p, 2, p.gradBias)) plans.push_back(PlanBias(p));
  return InTurn(std::move(plans));
}

}  // namespace openaclnn::supporting
