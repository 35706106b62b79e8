// SPDX-License-Identifier: Apache-2.0
// RopeWithSinCosCache: pairs of query and key turned by angles that tokens have by their positions,
// of which a cache has the cosines, then the sines.
#include <algorithm>

#include "generated/attention.h"
#include "kernels/rows/rows.h"
#include "supporting/attention/heads.h"
#include "supporting/attention/rope_rows.h"

namespace openaclnn::supporting {
namespace {

/// Which of the positions of a token an angle belongs to.
std::vector<int64_t> KindsOf(const SinCosRopeParams& p, int64_t half) {
  std::vector<int64_t> kinds(static_cast<size_t>(half));
  if (p.positions.rank() == 1) return kinds;
  const auto sections = p.mropeSection.values();
  if (p.cacheMode == 0) {
    size_t j = 0;
    for (size_t kind = 0; kind < sections.size(); ++kind) {
      for (int64_t i = 0; i < sections[kind]; ++i) kinds[j++] = static_cast<int64_t>(kind);
    }
    return kinds;
  }
  // Angles take turns as far as three times the second section goes.
  for (int64_t j = 0; j < half && j / 3 < sections[1]; ++j) kinds[static_cast<size_t>(j)] = j % 3;
  return kinds;
}

void CheckSections(const SinCosRopeParams& p, Checker& checker) {
  if (p.positions.rank() == 1) return;
  const auto sections = p.mropeSection.values();
  const int64_t kinds = p.positions.dim(0), half = p.cosSinCache.dim(1) / 2;
  const int64_t most = p.cacheMode == 1 ? 3 : 4;
  checker.That(kinds >= 3 && kinds <= most, [&] {
    return Concat("positions shape is ", ShapeText(p.positions), ", expected 3",
                  most == 4 ? " or 4" : "", " positions of each token");
  });
  bool fine = static_cast<int64_t>(sections.size()) == kinds;
  int64_t left = half;
  for (const int64_t each : sections) {
    fine = fine && each >= 0 && each <= left;
    left -= fine ? each : 0;
  }
  checker.That(fine && left == 0, [&] {
    return Concat(p.mropeSection.name(), " size is ", sections.size(), ", expected ", kinds,
                  " numbers whose sum is ", half, ", the angles of a token");
  });
}

/// The heads of query or key, and where their results go.
struct Turned {
  Turned(const Tensor& from, const Tensor& to, int64_t head_size)
      : x(from), out(to), heads(from.dim(1) / head_size) {}

  PartsOfRows x, out;
  int64_t heads;
};

}  // namespace

void CheckSinCosRope(const SinCosRopeParams& p, Checker& checker) {
  checker.RankBetween(p.positions, 1, 2).Rank(p.cosSinCache, 2);
  CheckType(p.cosSinCache, checker);
  CheckIndexType(p.positions, checker);
  checker.That(p.headSize > 0,
               [&] { return Concat("headSize value is ", p.headSize, ", expected more than 0"); });
  if (!checker.ok()) return;
  const int64_t tokens = p.positions.last_dim(), width = p.cosSinCache.dim(1);
  checker.That(width % 2 == 0 && width <= p.headSize, [&] {
    return Concat(p.cosSinCache.name(), " shape is ", ShapeText(p.cosSinCache),
                  ", expected an even number of angles, at most headSize, ", p.headSize);
  });
  for (const Tensor* each : {&p.queryIn, &p.keyIn}) {
    checker.Rank(*each, 2).SameDtype(*each, p.cosSinCache);
    if (!checker.ok()) return;
    checker.That(each->dim(0) == tokens && each->dim(1) % p.headSize == 0, [&] {
      return Concat(each->name(), " shape is ", ShapeText(*each), ", expected ", tokens,
                    " tokens with heads of ", p.headSize, " elements");
    });
  }
  checker.SameDtype(p.queryOut, p.queryIn).SameDtype(p.keyOut, p.keyIn);
  CheckShape(p.queryOut, ShapeOf(p.queryIn), checker);
  CheckShape(p.keyOut, ShapeOf(p.keyIn), checker);
  if (checker.ok()) CheckSections(p, checker);
}

Plan PlanSinCosRope(const SinCosRopeParams& p, const Product&) {
  const int64_t tokens = p.positions.last_dim(), width = p.cosSinCache.dim(1), half = width / 2,
                limit = p.cosSinCache.dim(0), size = p.headSize;
  const std::vector<int64_t> kinds = KindsOf(p, half);
  const RotaryPairs pairs{p.isNeoxStyle ? kHalves : kNeighbours, width};
  const std::vector<Turned> operands = {{p.queryIn, p.queryOut, size}, {p.keyIn, p.keyOut, size}};
  const PartsOfRows cache(p.cosSinCache);
  return {0,
          [=, name = p.positions.name(),
           positions = Elements(p.positions, 0)](const Buffers& buffers) -> Status {
            const std::vector<int64_t> places = positions.AllWhole(buffers);
            for (size_t i = 0; i < places.size(); ++i) {
              if (places[i] >= 0 && places[i] < limit) continue;
              return Status(507035,
                            Concat(name, " value ", i, " is ", places[i], ", expected 0 to ",
                                   limit - 1, ", a row of cosSinCache"));
            }
            const int64_t wide = operands[0].heads + operands[1].heads;
            ParallelRows(tokens, wide * size, [&](int64_t token) {
              std::vector<double> numbers(static_cast<size_t>(2 * width + 2 * size));
              double *const cos = numbers.data(), *const sin = cos + width, *const x = sin + width,
                            *const to = x + size;
              for (int64_t j = 0; j < half; ++j) {
                const int64_t kind = kinds[static_cast<size_t>(j)];
                const int64_t row = places[static_cast<size_t>(kind * tokens + token)];
                const auto [at, next] = pairs.To(j);
                cache.Load(buffers, row, j, 1, cos + at);
                cache.Load(buffers, row, half + j, 1, sin + at);
                cos[next] = cos[at];
                sin[next] = sin[at];
              }
              for (const Turned& of : operands) {
                for (int64_t head = 0; head < of.heads; ++head) {
                  of.x.Load(buffers, token, head * size, size, x);
                  std::copy_n(x, size, to);
                  TurnPairs(pairs, x, cos, sin, to);
                  of.out.Store(buffers, token, head * size, size, to);
                }
              }
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
