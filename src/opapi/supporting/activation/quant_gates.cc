// SPDX-License-Identifier: Apache-2.0
// Activations whose results are made whole: SwiGluQuant, DequantSwigluQuant and GeluQuant.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "generated/activation.h"
#include "kernels/rows/rows.h"
#include "supporting/activation/clipped_gate.h"
#include "supporting/activation/gates.h"
#include "supporting/axis_numbers.h"
#include "supporting/dynamic_scale.h"
#include "supporting/group_ends.h"
#include "supporting/in_turn.h"
#include "supporting/whole_rows.h"

namespace openaclnn::supporting {
namespace {

using Doubles = std::vector<double>;

const GateKernels* Gates() { return OPENACLNN_TARGET_SELECT(kGateKernels); }

/// Numbers of groups of rows: for each group one, or one for each element of its rows. Numbers of a
/// single row belong to all groups.
class GroupNumbers {
 public:
  GroupNumbers(const Tensor& numbers, int64_t groups, int64_t width)
      : elements_(numbers, 0), present_(numbers.present() && !numbers.empty()), width_(width) {
    if (!present_) return;
    count_ = *numbers.count();
    each_ = numbers.last_dim() == width && (numbers.rank() > 1 || groups != count_);
    groups_ = each_ ? count_ / std::max<int64_t>(width, 1) : count_;
  }

  bool present() const { return present_; }
  bool each() const { return each_; }
  Doubles All(const Buffers& buffers) const { return elements_.All(buffers); }

  /// The numbers of a group's row: `room` holds a single one as often as there are elements.
  const double* Of(const Doubles& all, size_t group, Doubles* room) const {
    const size_t own = groups_ == 1 ? 0 : group;
    if (each_) return all.data() + own * static_cast<size_t>(width_);
    room->assign(static_cast<size_t>(width_), all[own]);
    return room->data();
  }

  static void Check(const Tensor& numbers, int64_t groups, int64_t width, Checker& checker) {
    if (!numbers.present() || !checker.ok()) return;
    const uint32_t rank = numbers.rank();
    const int64_t rows = rank == 2 ? numbers.dim(0) : 1, last = rank > 0 ? numbers.last_dim() : 0;
    const bool fits =
        rank == 1 ? last == width || last == groups || last == 1
                  : rank == 2 && (rows == 1 || rows == groups) && (last == width || last == 1);
    checker.That(fits, [&] {
      return Concat(numbers.name(), " shape is ", ShapeText(numbers), ", expected ", groups,
                    " or 1 rows of ", width, " elements or of one");
    });
  }

 private:
  Elements elements_;
  bool present_, each_ = false;
  int64_t width_, count_ = 0, groups_ = 1;
};

/// How two halves become one.
struct Gate {
  int64_t mode;  // 0: swish; 1: of even and odd elements, clamped; 2: of halves, clamped
  bool left;
  ClippedGate clipped = {};

  void Run(const double* x, int64_t half, double* out) const {
    const double* const gate = left ? x : x + half;
    const double* const passed = left ? x + half : x;
    if (mode == 0) {
      Gates()->silu({passed, gate, nullptr}, half, out, nullptr);
    } else if (mode == 1) {
      clipped.Run(x, x + 1, 2, half, out);
    } else {
      clipped.Run(gate, passed, 1, half, out);
    }
  }
};

/// How results are made whole.
struct Ending {
  bool dynamic;
  bool divides;  // by a given scale, else it multiplies
  bool inverts;  // the scale that is written is its inverse
  Snap how = Snap::kEven;
};

/// The arguments that a gate's operators have in common.
struct Gated {
  const Tensor &x, &smooth, &offset, &index, &y, &scale;
  Gate gate;
  Ending ending;
  bool lengths;
  Holding holding = Holding::kUsual;
  const Tensor &columns = NoTensor(), &rows = NoTensor(), &bias = NoTensor();
};

int64_t GroupsOf(const Gated& of) { return of.index.present() ? of.index.dim(0) : 1; }

void CheckGated(const Gated& of, Checker& checker) {
  checker.RankBetween(of.x, 2, kMaxRank);
  if (of.index.present()) checker.Rank(of.index, 1).NotEmpty(of.index);
  if (!checker.ok()) return;
  Shape shape = ShapeOf(of.x);
  checker.That(shape.back() % 2 == 0, [&] {
    return Concat(of.x.name(), " shape is ", ShapeText(of.x),
                  ", expected an even length of the last dimension");
  });
  if (!checker.ok()) return;
  const int64_t width = shape.back(), half = width / 2, groups = GroupsOf(of);
  shape.back() = half;
  if (of.holding == Holding::kTwo) {
    checker.That(half % 2 == 0, [&] {
      return Concat(of.x.name(), " shape is ", ShapeText(of.x),
                    ", expected a multiple of 4 in the last dimension for pairs of INT4");
    });
    Shape pairs = shape;
    pairs.back() /= 2;
    CheckShape(of.y, pairs, checker);
  } else {
    CheckWhole(of.y, shape, checker);
  }
  GroupNumbers::Check(of.smooth, groups, half, checker);
  GroupNumbers::Check(of.offset, groups, half, checker);
  GroupNumbers::Check(of.columns, groups, width, checker);
  GroupNumbers::Check(of.bias, groups, width, checker);
  shape.pop_back();
  if (of.rows.present()) {
    checker.That(of.rows.count() == CountOf(shape), [&] {
      return Concat(of.rows.name(), " shape is ", ShapeText(of.rows), ", expected ", CountOf(shape),
                    " elements");
    });
  }
  if (of.ending.dynamic) CheckShape(of.scale, shape, checker);
}

/// Rows through dequantisation, a gate, and quantisation.
class GatedRows {
 public:
  explicit GatedRows(const Gated& of)
      : x_(of.x),
        y_(of.y, of.holding),
        half_(x_.width() / 2),
        gate_(of.gate),
        ending_(of.ending),
        groups_(of.index, x_.count(), of.lengths),
        smooth_(of.smooth, GroupsOf(of), half_),
        offset_(of.offset, GroupsOf(of), half_),
        columns_(of.columns, GroupsOf(of), x_.width()),
        bias_(of.bias, GroupsOf(of), x_.width()),
        rows_(of.rows, 1),
        scale_(of.ending.dynamic ? of.scale : NoTensor(), 0),
        whole_bias_(of.bias.present() && of.bias.dtype() == ACL_INT32) {}

  Status Run(const Buffers& buffers) const {
    std::vector<int64_t> ends;
    Status status = groups_.Read(buffers, false, &ends);
    if (!status.ok()) return status;
    const All all = {smooth_.All(buffers), offset_.All(buffers), columns_.All(buffers),
                     bias_.All(buffers), rows_.All(buffers)};
    // Rows behind the last group are left as they are.
    ParallelRowsIn<Room>(ends.back(), x_.width(), [&](int64_t row, Room* room) {
      const size_t group = GroupEnds::Of(ends, row);
      room->x.resize(static_cast<size_t>(x_.width()));
      room->out.resize(static_cast<size_t>(half_));
      x_.Load(buffers, row, room->x.data());
      Dequantise(all, group, row, room);
      gate_.Run(room->x.data(), half_, room->out.data());
      Finish(buffers, all, group, row, room);
    });
    return {};
  }

 private:
  struct All {
    Doubles smooth, offset, columns, bias, rows;
  };
  struct Room {
    Doubles x, out, spread;
  };

  void Dequantise(const All& all, size_t group, int64_t row, Room* room) const {
    double* const x = room->x.data();
    const int64_t n = x_.width();
    const auto add = [&] { DoubleRows().sum.join(bias_.Of(all.bias, group, &room->spread), n, x); };
    if (bias_.present() && whole_bias_) add();
    if (columns_.present()) {
      DoubleRows().multiply(x, columns_.Of(all.columns, group, &room->spread), n);
    }
    if (!all.rows.empty()) DoubleRows().scale(x, 0, all.rows[static_cast<size_t>(row)], n);
    if (bias_.present() && !whole_bias_) add();
  }

  void Finish(const Buffers& buffers, const All& all, size_t group, int64_t row, Room* room) const {
    double* const out = room->out.data();
    if (smooth_.present()) {
      const double* const numbers = smooth_.Of(all.smooth, group, &room->spread);
      if (ending_.divides && !ending_.dynamic) {
        for (int64_t i = 0; i < half_; ++i) out[i] /= numbers[i];
      } else {
        DoubleRows().multiply(out, numbers, half_);
      }
    }
    if (ending_.dynamic) {
      const Extremes own = Extremes::Of(out, half_);
      const DynamicScale scale = DynamicScale::Symmetric(own, y_.high());
      if (ending_.inverts) {
        const double factor = DynamicScale::Inverse(own, y_.high());
        scale_.Set(buffers, row, factor);
        DoubleRows().scale(out, 0, factor, half_);
      } else {
        scale_.Set(buffers, row, scale.scale);
        scale.Apply(out, half_);
      }
    } else if (offset_.present()) {
      DoubleRows().sum.join(offset_.Of(all.offset, group, &room->spread), half_, out);
    }
    y_.Store(buffers, row, ending_.how, out);
  }

  LastRows x_;
  WholeRows y_;
  int64_t half_;
  Gate gate_;
  Ending ending_;
  GroupEnds groups_;
  GroupNumbers smooth_, offset_, columns_, bias_;
  Elements rows_, scale_;
  bool whole_bias_;
};

Plan PlanGated(const Gated& of) {
  if (of.x.empty()) return Nothing();
  return {0, [rows = GatedRows(of)](const Buffers& buffers) { return rows.Run(buffers); }};
}

bool IsDynamic(std::string_view mode) { return mode == "dynamic"; }

template <class P>
Gated Quantised(const P& p, bool lengths, Holding holding) {
  return {.x = p.x,
          .smooth = p.smoothScalesOptional,
          .offset = p.offsetsOptional,
          .index = p.groupIndexOptional,
          .y = p.yOut,
          .scale = p.scaleOut,
          .gate = {.mode = 0, .left = p.activateLeft},
          .ending = {IsDynamic(p.quantModeOptional), false, true},
          .lengths = lengths,
          .holding = holding};
}

Gated GatedOf(const SwiGluQuantParams& p) { return Quantised(p, false, Holding::kUsual); }

Gated GatedOf(const SwiGluQuantV2Params& p) {
  const bool pairs = static_cast<int32_t>(p.dstType) == ACL_INT4 && p.yOut.dtype() == ACL_INT8;
  return Quantised(p, p.groupListType == 1, pairs ? Holding::kTwo : Holding::kUsual);
}

template <class P>
Gated Dequantised(const P& p, const Gate& gate, Snap how) {
  return {.x = p.x,
          .smooth = p.quantScaleOptional,
          .offset = p.quantOffsetOptional,
          .index = p.groupIndexOptional,
          .y = p.yOut,
          .scale = p.scaleOut,
          .gate = gate,
          .ending = {IsDynamic(p.quantModeOptional), true, false, how},
          .lengths = true,
          .columns = p.weightScaleOptional,
          .rows = p.activationScaleOptional,
          .bias = p.biasOptional};
}

Gated GatedOf(const DequantSwigluQuantParams& p) {
  return Dequantised(p, {.mode = 0, .left = p.activateLeft}, Snap::kEven);
}

Gated GatedOf(const DequantSwigluQuantV2Params& p) {
  const Gate gate = {p.swigluMode, p.activateLeft, {p.clampLimit, p.gluAlpha, p.gluBias}};
  return Dequantised(p, gate, SnapOf(p.roundModeOptional).value_or(Snap::kEven));
}

/// Scales and biases belong to whole numbers.
template <class P>
void CheckDequantised(const P& p, Checker& checker) {
  const Gated gated = GatedOf(p);
  for (const Tensor* each : {&p.activationScaleOptional, &p.biasOptional}) {
    checker.That(!each->present() || p.x.dtype() == ACL_INT32, [&] {
      return Concat(each->name(), " value is a tensor, expected null unless x is INT32");
    });
  }
  checker.That(p.x.dtype() != ACL_INT32 || p.weightScaleOptional.present(), [&] {
    return Concat("weightScaleOptional value is null, expected a tensor where x is INT32");
  });
  for (const Tensor* each : {&p.biasOptional, &p.quantOffsetOptional}) {
    checker.That(!p.groupIndexOptional.present() || !each->present(), [&] {
      return Concat(each->name(), " value is a tensor, expected null beside groupIndexOptional");
    });
  }
  CheckGated(gated, checker);
}

}  // namespace

void CheckSwiGluQuant(const SwiGluQuantParams& p, Checker& checker) {
  CheckGated(GatedOf(p), checker);
}
Plan PlanSwiGluQuant(const SwiGluQuantParams& p, const Product&) { return PlanGated(GatedOf(p)); }

void CheckSwiGluQuantV2(const SwiGluQuantV2Params& p, Checker& checker) {
  if (GatedOf(p).holding != Holding::kTwo) CheckType("dstType", p.dstType, p.yOut, checker);
  CheckGated(GatedOf(p), checker);
}
Plan PlanSwiGluQuantV2(const SwiGluQuantV2Params& p, const Product&) {
  return PlanGated(GatedOf(p));
}

void CheckDequantSwigluQuant(const DequantSwigluQuantParams& p, Checker& checker) {
  CheckDequantised(p, checker);
}
Plan PlanDequantSwigluQuant(const DequantSwigluQuantParams& p, const Product&) {
  return PlanGated(GatedOf(p));
}

void CheckDequantSwigluQuantV2(const DequantSwigluQuantV2Params& p, Checker& checker) {
  CheckType("dstType", p.dstType, p.yOut, checker);
  checker.That(p.activateDim == -1 || p.activateDim + 1 == p.x.rank(), [&] {
    return Concat("activateDim value is ", p.activateDim, ", expected the last dimension of x");
  });
  checker.That(p.swigluMode >= 0 && p.swigluMode <= 2, [&] {
    return Concat("swigluMode value is ", p.swigluMode, ", expected 0, 1 or 2");
  });
  checker.That(p.swigluMode == 0 || (std::isfinite(p.clampLimit) && p.clampLimit > 0), [&] {
    return Concat("clampLimit value is ", p.clampLimit, ", expected one above 0");
  });
  CheckDequantised(p, checker);
}
Plan PlanDequantSwigluQuantV2(const DequantSwigluQuantV2Params& p, const Product&) {
  return PlanGated(GatedOf(p));
}

}  // namespace openaclnn::supporting
