// SPDX-License-Identifier: Apache-2.0
// Gates: the experts with the largest scores of each token.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "generated/experts.h"
#include "kernels/index/order.h"
#include "kernels/rows/rows.h"
#include "supporting/experts/values.h"

namespace openaclnn::supporting {
namespace {

constexpr int64_t kSoftmax = 0, kSigmoid = 1;  // normType

void TakeSoftmax(std::vector<double>* row) {
  double largest = -HUGE_VAL, sum = 0;
  for (const double x : *row) largest = x > largest || std::isnan(x) ? x : largest;
  for (double& x : *row) sum += x = std::exp(x - largest);
  for (double& x : *row) x /= sum;
}

void TakeSigmoid(std::vector<double>* row) {
  for (double& x : *row) x = 1 / (1 + std::exp(-x));
}

/// The places of the k largest, the largest first; of equal ones the first, NaN before all.
void LargestOf(const std::vector<double>& row, int64_t k, std::vector<int64_t>* places) {
  places->resize(row.size());
  std::iota(places->begin(), places->end(), 0);
  const auto before = [&](int64_t a, int64_t b) {
    const uint64_t left = KeyOf(row[static_cast<size_t>(a)]),
                   right = KeyOf(row[static_cast<size_t>(b)]);
    return left != right ? left > right : a < b;
  };
  std::partial_sort(places->begin(), places->begin() + k, places->end(), before);
  places->resize(static_cast<size_t>(k));
}

Shape ChosenShape(const Tensor& x, int64_t k) {
  Shape shape = ShapeOf(x);
  shape.back() = k;
  return shape;
}

int64_t RowsOf(const Tensor& x) {
  int64_t rows = 1;
  for (uint32_t i = 0; i + 1 < x.rank(); ++i) rows *= x.dim(i);
  return rows;
}

void CheckChosen(const Tensor& x, int64_t k, const Tensor& y, const Tensor& experts,
                 Checker& checker) {
  CheckValue(k >= 1 && k <= x.last_dim(), "k", k, checker, "1 to ", x.last_dim(),
             ", the last dimension of x");
  checker.SameDtype(y, x);
  if (!checker.ok()) return;
  CheckShape(y, ChosenShape(x, k), checker);
  CheckShape(experts, ChosenShape(x, k), checker);
}

/// A flag for each row of x.
void CheckFinished(const Tensor& finished, const Tensor& x, Checker& checker) {
  if (!finished.present()) return;
  Shape shape = ShapeOf(x);
  shape.pop_back();
  CheckShape(finished, shape, checker);
}

/// The softmax gates.
struct SoftmaxGate {
  SoftmaxGate(const Tensor& scores, const Tensor& finished, int64_t count, bool of_chosen,
              const Tensor& y_out, const Tensor& experts_out, const Tensor& whole_out)
      : x(scores),
        y(y_out),
        experts(experts_out),
        done(finished),
        rows(RowsOf(scores)),
        k(count),
        renormalises(of_chosen) {
    if (whole_out.present()) whole = TokenRows(whole_out);
  }

  struct Room {
    std::vector<double> scores, chosen;
    std::vector<int64_t> places;
  };

  void operator()(const Buffers& buffers) const {
    const std::vector<int64_t> finished = done.Read(buffers);
    ParallelRowsIn<Room>(rows, x.width(), [&](int64_t row, Room* room) {
      std::vector<double>& scores = room->scores;
      scores.resize(static_cast<size_t>(x.width()));
      x.Load(buffers, row, scores.data());
      LargestOf(scores, k, &room->places);
      if (!renormalises) TakeSoftmax(&scores);
      room->chosen.clear();
      for (const int64_t place : room->places) {
        room->chosen.push_back(scores[static_cast<size_t>(place)]);
      }
      if (renormalises) TakeSoftmax(&room->chosen);
      y.Store(buffers, row, room->chosen.data());
      if (whole.present()) whole.Store(buffers, row, scores.data());
      const bool ended = !finished.empty() && finished[static_cast<size_t>(row)] != 0;
      for (size_t i = 0; i < room->places.size(); ++i) {
        room->chosen[i] = static_cast<double>(ended ? x.width() : room->places[i]);
      }
      experts.Store(buffers, row, room->chosen.data());
    });
  }

  TokenRows x, y, experts, whole;
  IntegerValues done;
  int64_t rows, k;
  bool renormalises;
};

/// The gates with groups of experts.
struct GroupGate {
  explicit GroupGate(const MoeGatingTopKParams& p)
      : x(p.x),
        y(p.yOut),
        experts(p.expertIdxOut),
        bias(p.biasOptional),
        tokens(p.inputIdsOptional),
        table(p.tid2eidOptional),
        rows(p.x.dim(0)),
        k(p.k),
        chosen_groups(p.kGroup),
        groups(p.groupCount),
        pairs(p.groupSelectMode == 1),
        kind(p.normType),
        factor(p.routedScalingFactor),
        eps(p.eps) {
    if (p.outFlag) whole = TokenRows(p.normOut);
    if (p.tid2eidOptional.present()) table_rows = p.tid2eidOptional.dim(0);
  }

  struct Room {
    std::vector<double> scores, biased, chosen;
    std::vector<int64_t> places;
  };

  Status operator()(const Buffers& buffers) const {
    const std::vector<double> shift = bias.Read(buffers);
    const std::vector<int64_t> ids = tokens.Read(buffers), known = table.Read(buffers);
    if (table_rows > 0 || !ids.empty()) {
      Status status = CheckRange("inputIdsOptional", ids, 0, table_rows);
      if (status.ok()) status = CheckRange("tid2eidOptional", known, 0, x.width());
      if (!status.ok()) return status;
    }
    ParallelRowsIn<Room>(rows, x.width(), [&](int64_t row, Room* room) {
      room->scores.resize(static_cast<size_t>(x.width()));
      x.Load(buffers, row, room->scores.data());
      kind == kSoftmax ? TakeSoftmax(&room->scores) : TakeSigmoid(&room->scores);
      if (ids.empty()) {
        Choose(shift, room);
      } else {
        const auto first = known.begin() + ids[static_cast<size_t>(row)] * k;
        room->places.assign(first, first + k);
      }
      Give(buffers, row, room);
    });
    return {};
  }

  void Choose(const std::vector<double>& shift, Room* room) const {
    std::vector<double>& biased = room->biased;
    biased = room->scores;
    for (size_t i = 0; i < shift.size(); ++i) biased[i] += shift[i];
    if (groups > 1) LeaveGroups(room);
    LargestOf(biased, k, &room->places);
  }

  /// Leaves the scores of the best groups; others become -infinity.
  void LeaveGroups(Room* room) const {
    std::vector<double>& biased = room->biased;
    const int64_t size = x.width() / groups;
    room->chosen.clear();
    for (int64_t group = 0; group < groups; ++group) {
      const auto first = biased.begin() + group * size;
      std::vector<double> members(first, first + size);
      LargestOf(members, pairs ? 2 : 1, &room->places);
      double score = 0;
      for (const int64_t place : room->places) score += members[static_cast<size_t>(place)];
      room->chosen.push_back(score);
    }
    LargestOf(room->chosen, chosen_groups, &room->places);
    std::vector<bool> stays(static_cast<size_t>(groups));
    for (const int64_t group : room->places) stays[static_cast<size_t>(group)] = true;
    for (int64_t i = 0; i < x.width(); ++i) {
      if (!stays[static_cast<size_t>(i / size)]) biased[static_cast<size_t>(i)] = -HUGE_VAL;
    }
  }

  /// Writes the scores of the chosen experts, weighed, and who they are.
  void Give(const Buffers& buffers, int64_t row, Room* room) const {
    std::vector<double>& chosen = room->chosen;
    chosen.clear();
    double sum = eps;
    for (const int64_t place : room->places) {
      chosen.push_back(room->scores[static_cast<size_t>(place)]);
      sum += chosen.back();
    }
    for (double& each : chosen) each = (kind == kSigmoid ? each / sum : each) * factor;
    y.Store(buffers, row, chosen.data());
    for (size_t i = 0; i < chosen.size(); ++i) chosen[i] = static_cast<double>(room->places[i]);
    experts.Store(buffers, row, chosen.data());
    if (whole.present()) whole.Store(buffers, row, room->scores.data());
  }

  TokenRows x, y, experts, whole;
  NumberValues bias;
  IntegerValues tokens, table;
  int64_t rows, k, chosen_groups, groups;
  bool pairs;
  int64_t kind;
  double factor, eps;
  int64_t table_rows = 0;
};

void CheckGroups(const MoeGatingTopKParams& p, Checker& checker) {
  const int64_t experts = p.x.dim(1), groups = p.groupCount;
  const bool divides = groups > 0 && experts % groups == 0 && (groups == 1 || experts > groups * 2);
  CheckValue(divides, "groupCount", groups, checker, "1, or a divisor of ", experts,
             ", the experts of x, with groups of more than 2");
  CheckValue(p.kGroup >= 1 && p.kGroup <= groups, "kGroup", p.kGroup, checker, "1 to groupCount, ",
             groups);
  if (!checker.ok()) return;
  const int64_t most = experts / groups * p.kGroup;
  CheckValue(p.k <= most, "k", p.k, checker, "at most ", most, ", the experts of kGroup groups");
  CheckValue(p.groupSelectMode == 0 || p.groupSelectMode == 1, "groupSelectMode", p.groupSelectMode,
             checker, "0 or 1");
  CheckValue(p.renorm == 0, "renorm", p.renorm, checker, "0");
  CheckValue(p.normType == kSoftmax || p.normType == kSigmoid, "normType", p.normType, checker,
             "0 or 1");
}

}  // namespace

void CheckMoeGatingTopKSoftmax(const MoeGatingTopKSoftmaxParams& p, Checker& checker) {
  checker.RankBetween(p.x, 2, 3);
  if (!checker.ok()) return;
  CheckChosen(p.x, p.k, p.yOut, p.expertIdxOut, checker);
  CheckFinished(p.finishedOptional, p.x, checker);
  if (p.rowIdxOut.present()) CheckShape(p.rowIdxOut, ChosenShape(p.x, p.k), checker);
  CheckValue(p.renorm == 0 || p.renorm == 1, "renorm", p.renorm, checker, "0 or 1");
  if (p.renorm == 0 && p.softmaxResultFlag) {
    const Tensor& whole = p.softmaxResultOptional;
    checker.That(whole.present(), ACLNN_ERR_PARAM_NULLPTR,
                 [&] { return Concat(whole.name(), " value is null, expected a tensor"); });
    if (checker.ok()) CheckShape(whole, ShapeOf(p.x), checker);
  }
}

Plan PlanMoeGatingTopKSoftmax(const MoeGatingTopKSoftmaxParams& p, const Product&) {
  const bool gives_all = p.renorm == 0 && p.softmaxResultFlag;
  const SoftmaxGate gate(p.x, p.finishedOptional, p.k, p.renorm == 1, p.yOut, p.expertIdxOut,
                         gives_all ? p.softmaxResultOptional : NoTensor());
  const IntegerValues places(p.rowIdxOut);
  return {0, [=](const Buffers& buffers) -> Status {
            gate(buffers);
            std::vector<int64_t> numbers;
            for (int64_t i = 0; places.present() && i < gate.rows * gate.k; ++i) {
              numbers.push_back(i % gate.k * gate.rows + i / gate.k);
            }
            places.Write(buffers, numbers);
            return {};
          }};
}

void CheckMoeGatingTopK(const MoeGatingTopKParams& p, Checker& checker) {
  checker.Rank(p.x, 2);
  if (!checker.ok()) return;
  CheckChosen(p.x, p.k, p.yOut, p.expertIdxOut, checker);
  if (p.biasOptional.present()) {
    checker.SameDtype(p.biasOptional, p.x);
    CheckShape(p.biasOptional, {p.x.dim(1)}, checker);
  }
  const Tensor &ids = p.inputIdsOptional, &table = p.tid2eidOptional;
  checker.That(ids.present() == table.present(), [&] {
    return Concat(table.name(), " value is ", table.present() ? "a tensor" : "null",
                  ", expected one if inputIdsOptional is one");
  });
  if (ids.present() && checker.ok()) {
    checker.Rank(table, 2);
    CheckShape(ids, {p.x.dim(0)}, checker);
    if (checker.ok()) CheckShape(table, {table.dim(0), p.k}, checker);
  }
  if (checker.ok()) CheckGroups(p, checker);
  if (!p.outFlag) return;
  checker.That(p.normOut.present(), ACLNN_ERR_PARAM_NULLPTR,
               [&] { return Concat("normOut value is null, expected a tensor"); });
  if (checker.ok()) CheckShape(p.normOut, ShapeOf(p.x), checker);
}

Plan PlanMoeGatingTopK(const MoeGatingTopKParams& p, const Product&) { return {0, GroupGate(p)}; }

void CheckMoeGatingTopKBackward(const MoeGatingTopKBackwardParams& p, Checker& checker) {
  checker.Rank(p.xNorm, 2).Rank(p.gradY, 2);
  if (!checker.ok()) return;
  CheckShape(p.gradY, {p.xNorm.dim(0), p.gradY.dim(1)}, checker);
  CheckShape(p.expertIdx, ShapeOf(p.gradY), checker);
  CheckShape(p.out, ShapeOf(p.xNorm), checker);
  CheckValue(p.renorm == 0, "renorm", p.renorm, checker, "0");
  CheckValue(p.normType == kSoftmax || p.normType == kSigmoid, "normType", p.normType, checker,
             "0 or 1");
}

Plan PlanMoeGatingTopKBackward(const MoeGatingTopKBackwardParams& p, const Product&) {
  const TokenRows norm(p.xNorm), grad(p.gradY), out(p.out);
  const IntegerValues experts(p.expertIdx);
  const int64_t rows = p.xNorm.dim(0), k = p.gradY.dim(1), kind = p.normType;
  const double factor = p.routedScalingFactor, eps = p.eps;
  return {0, [=](const Buffers& buffers) -> Status {
            const std::vector<int64_t> chosen = experts.Read(buffers);
            Status status = CheckRange("expertIdx", chosen, 0, norm.width());
            if (!status.ok()) return status;
            ParallelRows(rows, norm.width(), [&](int64_t row) {
              std::vector<double> s(static_cast<size_t>(norm.width())), dy(static_cast<size_t>(k)),
                  ds(s.size());
              norm.Load(buffers, row, s.data());
              grad.Load(buffers, row, dy.data());
              const int64_t* const at = chosen.data() + row * k;
              double sum = eps, weighted = 0;
              for (int64_t j = 0; j < k; ++j) {
                const double score = s[static_cast<size_t>(at[j])];
                sum += score;
                weighted += dy[static_cast<size_t>(j)] * score;
              }
              for (int64_t j = 0; j < k; ++j) {
                const double dj = dy[static_cast<size_t>(j)];
                ds[static_cast<size_t>(at[j])] +=
                    factor * (kind == kSigmoid ? (dj - weighted / sum) / sum : dj);
              }
              double total = 0;
              for (size_t i = 0; i < s.size(); ++i) total += ds[i] * s[i];
              for (size_t i = 0; i < s.size(); ++i) {
                ds[i] = kind == kSigmoid ? ds[i] * s[i] * (1 - s[i]) : s[i] * (ds[i] - total);
              }
              out.Store(buffers, row, ds.data());
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
