// SPDX-License-Identifier: Apache-2.0
// Random numbers: Philox 4x32-10 with the seed as its key, so that each element depends on seed,
// offset and its own place alone.
#include <cmath>

#include "kernels/rows.h"
#include "kernels/strided.h"
#include "supporting/operators.h"

namespace openaclnn::supporting {
namespace {

struct Bits {
  uint32_t word[4];
  uint64_t Long() const { return static_cast<uint64_t>(word[1]) << 32 | word[0]; }
  /// In (0, 1].
  double Open(int pair) const {
    const uint64_t bits = static_cast<uint64_t>(word[2 * pair + 1]) << 32 | word[2 * pair];
    return (static_cast<double>(bits >> 11) + 1) * 0x1p-53;
  }
};

/// Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011.
Bits Philox(uint64_t seed, uint64_t offset, uint64_t index) {
  uint32_t c[4] = {static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32),
                   static_cast<uint32_t>(offset), static_cast<uint32_t>(offset >> 32)};
  auto low = static_cast<uint32_t>(seed), high = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t x = uint64_t{0xD2511F53} * c[0], y = uint64_t{0xCD9E8D57} * c[2];
    const uint32_t next[4] = {static_cast<uint32_t>(y >> 32) ^ c[1] ^ low, static_cast<uint32_t>(y),
                              static_cast<uint32_t>(x >> 32) ^ c[3] ^ high,
                              static_cast<uint32_t>(x)};
    std::copy_n(next, 4, c);
    low += 0x9E3779B9;
    high += 0xBB67AE85;
  }
  return {{c[0], c[1], c[2], c[3]}};
}

/// Every element from the bits at its place. The last two integers are seed and offset.
template <class T, class Function>
Plan MakeRandom(const Params& p, const Function& function) {
  const auto seed = static_cast<uint64_t>(p.integers.end()[-2]);
  const auto offset = static_cast<uint64_t>(p.integers.end()[-1]);
  const Offsets offsets(p.out(), p.out().rank());
  const auto bytes = static_cast<int64_t>(FindDataType(p.out().dtype())->bytes);
  const int64_t count = *p.out().count();
  const auto store = StorerOf<T>(p.out().dtype());
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(count, 8, [&](int64_t i) {
              const T value = function(Philox(seed, offset, static_cast<uint64_t>(i)));
              store(&value, 1, buffers.As<std::byte>(0) + offsets(i) * bytes, 0);
            });
            return {};
          }};
}

}  // namespace

void CheckRandom(const Params& p, Checker& checker) {
  if (p.row.plan != PlanIntegers) {
    checker.That(Contains(kRealTypes, p.out().dtype()),
                 [&] { return DtypeIs(p.out(), DtypesText(kRealTypes)); });
    checker.That(p.row.plan != PlanUniform || p.reals[0] <= p.reals[1], [&] {
      return Concat("from value is ", p.reals[0], ", expected at most to, ", p.reals[1]);
    });
    return;
  }
  checker.That(p.integers[0] < p.integers[1], [&] {
    return Concat("from value is ", p.integers[0], ", expected less than to, ", p.integers[1]);
  });
}

Plan PlanNormal(const Params& p) {
  const double mean = p.reals[0], deviation = p.reals[1];
  return MakeRandom<double>(p, [=](const Bits& bits) {
    const double radius = std::sqrt(-2 * std::log(bits.Open(0)));
    return mean + deviation * radius * std::cos(2 * M_PI * bits.Open(1));
  });
}

Plan PlanUniform(const Params& p) {
  const double from = p.reals[0], to = p.reals[1];
  // In steps that the type has, so that nothing is rounded up to `to`.
  const double steps = p.out().dtype() == ACL_DOUBLE    ? 0x1p53
                       : p.out().dtype() == ACL_FLOAT   ? 0x1p24
                       : p.out().dtype() == ACL_FLOAT16 ? 0x1p11
                                                        : 0x1p8;
  return MakeRandom<double>(p, [=](const Bits& bits) {
    const double unit = std::floor((1 - bits.Open(0)) * steps) / steps;
    return from + (to - from) * unit;
  });
}

Plan PlanIntegers(const Params& p) {
  const auto from = static_cast<uint64_t>(p.integers[0]);
  const uint64_t span = static_cast<uint64_t>(p.integers[1]) - from;
  return MakeRandom<int64_t>(
      p, [=](const Bits& bits) { return static_cast<int64_t>(from + bits.Long() % span); });
}

}  // namespace openaclnn::supporting
