// SPDX-License-Identifier: Apache-2.0
// DeformableConv2d and its gradient: each tap of each place reads its input where an offset says,
// interpolated, times a mask; what is read is then multiplied with the weights. In double.
#include <cmath>
#include <vector>

#include "generated/vision.h"
#include "kernels/rows/rows.h"
#include "supporting/axis.h"
#include "supporting/elements.h"
#include "supporting/in_turn.h"

namespace openaclnn::supporting {
namespace {

using Doubles = std::vector<double>;

/// Sizes and numbers of a call.
struct Deformation {
  int64_t batch, channels, height, width, outer, high, wide;  // of the input, and of the result
  int64_t tap_rows, tap_columns, groups, parts;               // parts have offsets of their own
  int64_t stride_rows, stride_columns, top, left, dilation_rows, dilation_columns;
  bool masked;

  int64_t taps() const { return tap_rows * tap_columns; }
  int64_t places() const { return high * wide; }
  int64_t plane() const { return height * width; }
  int64_t terms() const { return channels / groups * taps(); }

  /// Where an element of the offsets of an image is: 0 along rows, 1 along columns as the layout
  /// has x first, 2 the mask.
  int64_t OffsetAt(int64_t which, int64_t part, int64_t tap, int64_t place) const {
    const int64_t order = which == 0 ? 1 : which == 1 ? 0 : 2;
    return ((order * parts + part) * taps() + tap) * places() + place;
  }
  int64_t offsets() const { return (masked ? 3 : 2) * parts * taps() * places(); }
};

template <class P>
Deformation DeformationOf(const P& p, const Tensor& out) {
  const auto stride = p.stride.values(), padding = p.padding.values(),
             dilation = p.dilation.values();
  return {p.input.dim(0),     p.input.dim(1), p.input.dim(2),  p.input.dim(3),  p.weight.dim(0),
          out.dim(2),         out.dim(3),     p.weight.dim(2), p.weight.dim(3), p.groups,
          p.deformableGroups, stride[2],      stride[3],       padding[0],      padding[2],
          dilation[2],        dilation[3],    p.modulated};
}

/// Reads of one tap of one place: four neighbours, those outside left out.
struct Reading {
  Reading(const Deformation& of, const Doubles& offsets, int64_t part, int64_t tap, int64_t place) {
    const auto at = [&](int64_t which) {
      return offsets[static_cast<size_t>(of.OffsetAt(which, part, tap, place))];
    };
    const double y = static_cast<double>(place / of.wide * of.stride_rows - of.top +
                                         tap / of.tap_columns * of.dilation_rows) +
                     at(0);
    const double x = static_cast<double>(place % of.wide * of.stride_columns - of.left +
                                         tap % of.tap_columns * of.dilation_columns) +
                     at(1);
    if (of.masked) mask = at(2);
    inside =
        -1 < y && y < static_cast<double>(of.height) && -1 < x && x < static_cast<double>(of.width);
    if (!inside) return;
    row = static_cast<int64_t>(std::floor(y));
    column = static_cast<int64_t>(std::floor(x));
    down = y - std::floor(y);
    right = x - std::floor(x);
    height = of.height;
    width = of.width;
  }

  /// Calls body(element, weight, slope by y, slope by x) for each neighbour.
  template <class Body>
  void ForNeighbours(const Body& body) const {
    for (int64_t i = 0; inside && i < 2; ++i) {
      for (int64_t k = 0; k < 2; ++k) {
        const int64_t h = row + i, w = column + k;
        if (h < 0 || h >= height || w < 0 || w >= width) continue;
        const double by_row = i == 0 ? 1 - down : down, by_column = k == 0 ? 1 - right : right;
        body(h * width + w, by_row * by_column, (i == 0 ? -1 : 1) * by_column,
             (k == 0 ? -1 : 1) * by_row);
      }
    }
  }

  bool inside = false;
  double mask = 1, down = 0, right = 0;
  int64_t row = 0, column = 0, height = 0, width = 0;
};

/// Elements [first, first + n) of a tensor.
Doubles Part(const Elements& from, const Buffers& buffers, int64_t first, int64_t n) {
  Doubles values(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) values[static_cast<size_t>(i)] = from.Get(buffers, first + i);
  return values;
}

void AddTimes(double factor, const double* from, int64_t n, double* to) {
  for (int64_t i = 0; i < n; ++i) to[i] += factor * from[i];
}

/// The place of a tap's value in (C, high * tap rows, wide * tap columns).
int64_t SpreadAt(const Deformation& of, int64_t channel, int64_t tap, int64_t place) {
  const int64_t row = place / of.wide * of.tap_rows + tap / of.tap_columns;
  const int64_t column = place % of.wide * of.tap_columns + tap % of.tap_columns;
  return (channel * of.high * of.tap_rows + row) * of.wide * of.tap_columns + column;
}

template <class P>
void CheckNumbers(const P& p, Checker& checker) {
  checker.Rank(p.input, 4).Rank(p.weight, 4).Rank(p.offset, 4).NotEmpty(p.input);
  CheckLengths(p.input, 2, checker);
  CheckAxes(p.kernelSize, 2, 1, checker);
  for (const IntList* list : {&p.stride, &p.dilation}) {
    const auto values = list->values();
    checker.That(values.size() == 4 && values[0] == 1 && values[1] == 1, [&] {
      return Concat(list->name(), " value is ",
                    ShapeText(values.data(), static_cast<uint32_t>(values.size())),
                    ", expected four numbers, of which the first two are 1");
    });
    CheckAxes(*list, 4, 1, checker);
  }
  checker.That(p.padding.values().size() == 4, [&] {
    return Concat("padding size is ", p.padding.values().size(), ", expected 4");
  });
  CheckAxes(p.padding, 4, 0, checker);
  const int64_t channels = p.input.dim(1);
  for (const auto& [name, value] :
       {std::pair("groups", p.groups), std::pair("deformableGroups", p.deformableGroups)}) {
    checker.That(value > 0 && channels % value == 0, [&, name = name, value = value] {
      return Concat(name, " value is ", value, ", expected a divisor of the channels, ", channels);
    });
  }
}

/// The length of the result along one dimension.
int64_t LengthOf(int64_t in, int64_t pads, int64_t taps, int64_t dilation, int64_t stride) {
  const int64_t room = in + pads - (dilation * (taps - 1) + 1);
  return room < 0 ? 0 : room / stride + 1;
}

/// Checks the shapes of all tensors that the forward and the gradient have.
template <class P>
void CheckTensors(const P& p, const Tensor& out, const Tensor& spread, Checker& checker) {
  CheckNumbers(p, checker);
  if (!checker.ok()) return;
  const auto taps = p.kernelSize.values();
  const int64_t rows = taps[0], columns = taps[taps.size() - 1];
  const Tensor& input = p.input;
  CheckShape(p.weight, {p.weight.dim(0), input.dim(1) / p.groups, rows, columns}, checker);
  checker.That(p.weight.dim(0) > 0 && p.weight.dim(0) % p.groups == 0, [&] {
    return Concat("groups value is ", p.groups, ", expected a divisor of weight's channels, ",
                  p.weight.dim(0));
  });
  const auto stride = p.stride.values(), padding = p.padding.values(),
             dilation = p.dilation.values();
  const int64_t high =
                    LengthOf(input.dim(2), padding[0] + padding[1], rows, dilation[2], stride[2]),
                wide = LengthOf(input.dim(3), padding[2] + padding[3], columns, dilation[3],
                                stride[3]);
  checker.That(high > 0 && wide > 0, [&] {
    return Concat("input shape is ", ShapeText(input), ", expected planes that have a window");
  });
  if (!checker.ok()) return;
  const int64_t each = (p.modulated ? 3 : 2) * p.deformableGroups * rows * columns;
  CheckShape(p.offset, {input.dim(0), each, high, wide}, checker);
  CheckShape(out, {input.dim(0), p.weight.dim(0), high, wide}, checker);
  CheckShape(spread, {input.dim(0), input.dim(1), high * rows, wide * columns}, checker);
}

}  // namespace

void CheckDeformable(const DeformableParams& p, Checker& checker) {
  CheckTensors(p, p.out, p.deformOut, checker);
  if (checker.ok() && p.bias.present()) CheckShape(p.bias, {p.weight.dim(0)}, checker);
}

Plan PlanDeformable(const DeformableParams& p, const Product&) {
  const Deformation of = DeformationOf(p, p.out);
  const Elements input(p.input, 0), weight(p.weight, 0), offset(p.offset, 0), bias(p.bias, 0),
      out(p.out, 0), spread(p.deformOut, 0);
  return {0, [=](const Buffers& buffers) -> Status {
            const int64_t places = of.places(), taps = of.taps(), terms = of.terms();
            const int64_t spread_size = of.channels * taps * places;
            const Doubles weights = weight.All(buffers);
            for (int64_t n = 0; n < of.batch; ++n) {
              const Doubles offsets = Part(offset, buffers, n * of.offsets(), of.offsets());
              Doubles read(static_cast<size_t>(spread_size));
              ParallelRows(of.channels, 8 * taps * places, [&](int64_t c) {
                const Doubles plane =
                    Part(input, buffers, (n * of.channels + c) * of.plane(), of.plane());
                const int64_t part = c / (of.channels / of.parts);
                for (int64_t i = 0; i < taps * places; ++i) {
                  const Reading reading(of, offsets, part, i / places, i % places);
                  double sum = 0;
                  reading.ForNeighbours([&](int64_t at, double share, double, double) {
                    sum += share * plane[static_cast<size_t>(at)];
                  });
                  sum *= reading.mask;
                  read[static_cast<size_t>(c * taps * places + i)] = sum;
                  spread.Set(buffers, n * spread_size + SpreadAt(of, c, i / places, i % places),
                             sum);
                }
              });
              ParallelRows(of.outer, terms * places, [&](int64_t o) {
                const int64_t group = o / (of.outer / of.groups);
                Doubles sums(static_cast<size_t>(places), bias.Get(buffers, o));
                for (int64_t k = 0; k < terms; ++k) {
                  AddTimes(weights[static_cast<size_t>(o * terms + k)],
                           read.data() + (group * terms + k) * places, places, sums.data());
                }
                out.SetRun(buffers, (n * of.outer + o) * places, sums.data(), places);
              });
            }
            return {};
          }};
}

void CheckDeformableGradient(const DeformableGradientParams& p, Checker& checker) {
  CheckTensors(p, p.gradOutput, p.offsetOut, checker);
  if (!checker.ok()) return;
  CheckShape(p.gradInput, ShapeOf(p.input), checker);
  CheckShape(p.gradWeight, ShapeOf(p.weight), checker);
  CheckShape(p.gradOffset, ShapeOf(p.offset), checker);
  CheckShape(p.gradBias, {p.weight.dim(0)}, checker);
}

namespace {

/// The gradients of one image after the other.
struct Gradients {
  Deformation of;
  Elements input, weight, offset, gradient, spread, by_input, by_weight, by_offset, by_bias;

  Status Run(const Buffers& buffers) const {
    const int64_t places = of.places(), taps = of.taps(), terms = of.terms();
    const Doubles weights = weight.All(buffers);
    Doubles weight_sums(weights.size()), bias_sums(static_cast<size_t>(of.outer));
    for (int64_t n = 0; n < of.batch; ++n) {
      const Doubles dy = Part(gradient, buffers, n * of.outer * places, of.outer * places);
      Doubles read(static_cast<size_t>(of.channels * taps * places));
      ParallelRows(of.channels * taps, places, [&](int64_t row) {
        for (int64_t place = 0; place < places; ++place) {
          read[static_cast<size_t>(row * places + place)] =
              spread.Get(buffers, n * of.channels * taps * places +
                                      SpreadAt(of, row / taps, row % taps, place));
        }
      });
      ParallelRows(of.outer, terms * places, [&](int64_t o) {
        const double* const own = dy.data() + o * places;
        const int64_t group = o / (of.outer / of.groups);
        for (int64_t k = 0; k < terms; ++k) {
          const double* const from = read.data() + (group * terms + k) * places;
          double sum = 0;
          for (int64_t place = 0; place < places; ++place) sum += own[place] * from[place];
          weight_sums[static_cast<size_t>(o * terms + k)] += sum;
        }
        for (int64_t place = 0; place < places; ++place) {
          bias_sums[static_cast<size_t>(o)] += own[place];
        }
      });
      BackToInput(buffers, n, ByRead(weights, dy));
    }
    by_weight.SetAll(buffers, weight_sums);
    by_bias.SetAll(buffers, bias_sums);
    return {};
  }

  /// The gradient by what taps have read: (C, taps, places).
  Doubles ByRead(const Doubles& weights, const Doubles& dy) const {
    const int64_t places = of.places(), terms = of.terms(), outer = of.outer / of.groups;
    Doubles result(static_cast<size_t>(of.groups * terms * places));
    ParallelRows(of.groups * terms, outer * places, [&](int64_t row) {
      const int64_t group = row / terms, k = row % terms;
      for (int64_t o = group * outer; o < (group + 1) * outer; ++o) {
        AddTimes(weights[static_cast<size_t>(o * terms + k)], dy.data() + o * places, places,
                 result.data() + row * places);
      }
    });
    return result;
  }

  void BackToInput(const Buffers& buffers, int64_t n, const Doubles& by_read) const {
    const int64_t places = of.places(), taps = of.taps(), each = of.channels / of.parts;
    const Doubles offsets = Part(offset, buffers, n * of.offsets(), of.offsets());
    const Doubles planes =
        Part(input, buffers, n * of.channels * of.plane(), of.channels * of.plane());
    ParallelRows(of.channels, 8 * taps * places, [&](int64_t c) {
      Doubles sums(static_cast<size_t>(of.plane()));
      for (int64_t i = 0; i < taps * places; ++i) {
        const Reading reading(of, offsets, c / each, i / places, i % places);
        const double slope = by_read[static_cast<size_t>(c * taps * places + i)] * reading.mask;
        reading.ForNeighbours([&](int64_t at, double share, double, double) {
          sums[static_cast<size_t>(at)] += share * slope;
        });
      }
      by_input.SetRun(buffers, (n * of.channels + c) * of.plane(), sums.data(), of.plane());
    });
    ParallelRows(of.parts * taps, 8 * each * places, [&](int64_t row) {
      const int64_t part = row / taps, tap = row % taps;
      for (int64_t place = 0; place < places; ++place) {
        const Reading reading(of, offsets, part, tap, place);
        double sums[3] = {};
        for (int64_t c = part * each; c < (part + 1) * each; ++c) {
          const double slope = by_read[static_cast<size_t>((c * taps + tap) * places + place)];
          reading.ForNeighbours([&](int64_t at, double share, double by_y, double by_x) {
            const double value = planes[static_cast<size_t>(c * of.plane() + at)] * slope;
            sums[0] += by_y * reading.mask * value;
            sums[1] += by_x * reading.mask * value;
            sums[2] += share * value;
          });
        }
        for (int64_t which = 0; which < (of.masked ? 3 : 2); ++which) {
          by_offset.Set(buffers, n * of.offsets() + of.OffsetAt(which, part, tap, place),
                        sums[which]);
        }
      }
    });
  }
};

}  // namespace

Plan PlanDeformableGradient(const DeformableGradientParams& p, const Product&) {
  const Gradients gradients = {DeformationOf(p, p.gradOutput), Elements(p.input, 0),
                               Elements(p.weight, 0),          Elements(p.offset, 0),
                               Elements(p.gradOutput, 0),      Elements(p.offsetOut, 0),
                               Elements(p.gradInput, 0),       Elements(p.gradWeight, 0),
                               Elements(p.gradOffset, 0),      Elements(p.gradBias, 0)};
  return {0, [gradients](const Buffers& buffers) -> Status { return gradients.Run(buffers); }};
}

}  // namespace openaclnn::supporting
