// SPDX-License-Identifier: Apache-2.0
// The gradients of Convolution: by the input another convolution, by the weight one product for
// each group, by the bias sums.
#include <algorithm>
#include <array>
#include <bit>

#include "kernels/divide_up.h"
#include "kernels/rows.h"
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

/// Terms whose windows are in the workspace at a time: units, as many as a power of two, so that
/// adding the pieces pairwise is the one tree.
struct Pieces {
  explicit Pieces(const Meeting& of)
      : terms(of.terms()), matrix(of.rows() * of.columns()), length(kGemmUnit) {
    constexpr __int128 kMostBytes = 8 << 20;
    const __int128 bytes = BytesOfRows(1, of.columns(), BytesOf(of.through_windows));
    while (length < terms && 2 * length * bytes <= kMostBytes) length *= 2;
    count = DivideUp(terms, length);
  }

  int64_t LengthOf(int64_t piece) const { return std::min(length, terms - piece * length); }
  /// Sums that wait for the piece behind them, and its own.
  int64_t levels() const {
    return count == 0 ? 0 : std::bit_width(static_cast<uint64_t>(count - 1)) + 1;
  }

  int64_t terms, matrix, length, count = 0;
};

struct Parts {
  Parts(const Meeting& of, const Pieces& pieces, uint64_t scratch_bytes) {
    const int64_t most = std::min(pieces.terms, pieces.length);
    ScratchParts parts;
    parts.Take(BytesOfRows(most, of.columns(), BytesOf(of.through_windows)));
    at_places = parts.Take(BytesOfRows(of.rows(), most, BytesOf(of.at_places)));
    sums = parts.Take(BytesOfRows(of.rows(), of.columns(), sizeof(float)) * pieces.levels());
    scratch = parts.Take(scratch_bytes);
    end = parts.bytes();
  }

  uint64_t at_places, sums, scratch, end;  // INT64_MAX: more than a number holds
};

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

/// What both tensors have of some terms.
class Terms {
 public:
  explicit Terms(const Meeting& of)
      : geometry_(of.geometry),
        at_(of.at_places),
        through_(of.through_windows),
        places_(geometry_.windows.places()),
        offsets_(of.at_places.tensor().dims + 2, at_.places.data(),
                 static_cast<uint32_t>(at_.places.size())) {}

  /// A row for each channel of a group.
  void FillPlaces(const std::byte* from, int64_t group, int64_t first, int64_t count,
                  std::byte* to) const {
    const int64_t rows = geometry_.out_channels;
    ParallelRows(rows, count, [&](int64_t row) {
      const std::byte* const channel = from + (group * rows + row) * at_.channel;
      std::byte* next = to + row * count * at_.bytes;
      for (int64_t term = first; term < first + count; ++term, next += at_.bytes) {
        const int64_t place = offsets_(term % places_) * at_.bytes;
        MoveElement(channel + term / places_ * at_.batch + place, at_.bytes, next);
      }
    });
  }

  /// A row for each term, of channels and taps.
  void FillWindows(const std::byte* from, int64_t group, int64_t first, int64_t count,
                   std::byte* to) const {
    const int64_t channels = geometry_.in_channels, taps = geometry_.windows.tap_count();
    ParallelRows(count, channels * taps, [&](int64_t row) {
      const int64_t term = first + row;
      const std::byte* const batch =
          from + term / places_ * through_.batch + group * channels * through_.channel;
      for (int64_t tap = 0; tap < taps; ++tap) {
        const int64_t offset = geometry_.windows.From(term % places_, tap, through_.places.data());
        const bool nowhere = offset == Windows::kNowhere;
        std::byte* next = to + (row * channels * taps + tap) * through_.bytes;
        for (int64_t c = 0; c < channels; ++c, next += taps * through_.bytes) {
          MoveElement(nowhere ? nullptr : batch + c * through_.channel + offset * through_.bytes,
                      through_.bytes, next);
        }
      }
    });
  }

 private:
  Geometry geometry_;
  ByteSteps at_, through_;
  int64_t places_;
  Offsets offsets_;
};

Gemm GemmOf(const Gradients& p, const Meeting& of, int64_t terms, const Product& product) {
  Gemm gemm = {};
  gemm.a = DenseMatrix(of.at_places, p.cubeMathType, product, of.rows(), terms);
  gemm.b = DenseMatrix(of.through_windows, p.cubeMathType, product, terms, of.columns());
  gemm.c = DenseRows(of.rows(), of.columns(), sizeof(float));
  gemm.c_dtype = ACL_FLOAT;
  gemm.terms = terms;
  gemm.columns = of.columns();
  gemm.rows = RowsOfAll(of.rows(), terms);
  PlanGemm(&gemm);
  return gemm;
}

/// to += more, of so many rows.
void Add(float* to, const float* more, int64_t rows, int64_t columns) {
  ParallelRows(rows, columns, [&](int64_t row) {
    for (int64_t i = row * columns; i < (row + 1) * columns; ++i) to[i] += more[i];
  });
}

/// The sums of a group: multiply(piece, sums) in turn, added as a counter carries. Nothing for no
/// pieces.
template <class Multiply>
const float* SumOfPieces(const Pieces& pieces, int64_t rows, float* levels,
                         const Multiply& multiply) {
  const int64_t columns = pieces.matrix / rows;
  const auto add_to_level = [&](int64_t level) {
    Add(levels + level * pieces.matrix, levels + (level + 1) * pieces.matrix, rows, columns);
  };
  int64_t depth = 0;
  for (int64_t piece = 0; piece < pieces.count; ++piece) {
    multiply(piece, levels + depth++ * pieces.matrix);
    for (int64_t done = piece; (done & 1) != 0; done >>= 1) add_to_level(--depth - 1);
  }
  for (; depth > 1; --depth) add_to_level(depth - 2);
  return depth == 0 ? nullptr : levels;
}

Plan PlanWeight(const Gradients& p, const Geometry& forward, const Product& product) {
  const Meeting of(p, forward);
  const Pieces pieces(of);
  const Terms terms(of);
  Gemm whole = {}, last = {};
  if (pieces.count > 0) {
    whole = GemmOf(p, of, pieces.LengthOf(0), product);
    last = GemmOf(p, of, pieces.LengthOf(pieces.count - 1), product);
  }
  const Parts parts(of, pieces, std::max(whole.scratch_bytes(), last.scratch_bytes()));
  const Elements out(p.gradWeight, 0);
  const Place at_places = of.at_places.place, through_windows = of.through_windows.place;
  const int64_t groups = forward.groups, rows = of.rows(), columns = of.columns();
  return {parts.end, [=](const Buffers& buffers) -> Status {
            auto* const room = static_cast<std::byte*>(buffers.workspace);
            auto* const sums = reinterpret_cast<float*>(room + parts.sums);
            for (int64_t group = 0; group < groups; ++group) {
              const auto multiply = [&](int64_t piece, float* to) {
                const int64_t first = piece * pieces.length, count = pieces.LengthOf(piece);
                terms.FillWindows(through_windows(buffers), group, first, count, room);
                terms.FillPlaces(at_places(buffers), group, first, count, room + parts.at_places);
                RunGemm(count == pieces.length ? whole : last, room + parts.at_places, room,
                        nullptr, to, room + parts.scratch);
              };
              const float* const total = SumOfPieces(pieces, rows, sums, multiply);
              ParallelRows(rows, columns, [&](int64_t row) {
                for (int64_t i = row * columns; i < (row + 1) * columns; ++i) {
                  out.Set(buffers, group * pieces.matrix + i, total == nullptr ? 0 : total[i]);
                }
              });
            }
            return {};
          }};
}

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
    bytes = std::max(bytes, Parts(of, Pieces(of), 0).end);
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
