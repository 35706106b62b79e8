// SPDX-License-Identifier: Apache-2.0
// The formulas of complex numbers. a, b, c are the inputs in the API's order, s the scalars.
//
// At infinities, zeros and numbers that are none they are NumPy's: functions are those of C99, a
// product is that of its parts, and a quotient is Smith's, but for one by 0: the vendor's pages
// take no other formula there, so that both parts are NaN. A scalar that is real scales both parts.
#include "supporting/pair_loops.h"

#include <cmath>
#include <type_traits>
#include <utility>

#include "supporting/complex.h"

namespace openaclnn::supporting {
namespace {

Pair StoredAs(Pair value) { return value; }
Pair StoredAs(bool value) { return {value ? 1.0 : 0.0, 0}; }
Pair StoredAs(double value) { return {value, 0}; }

template <int kInputs, auto kFunction>
void Loop(const Pair* const* in, const Pair* s, int64_t n, Pair* out) {
  [&]<size_t... kInput>(std::index_sequence<kInput...>) {
    for (int64_t i = 0; i < n; ++i) out[i] = StoredAs(kFunction(in[kInput][i]..., s));
  }
  (std::make_index_sequence<kInputs>());
}

bool IsZero(Pair a) { return a.real() == 0 && a.imag() == 0; }
bool Same(Pair a, Pair b) { return a.real() == b.real() && a.imag() == b.imag(); }

/// s a, of a scalar.
Pair Scaled(Pair s, Pair a) {
  return s.imag() == 0 ? Pair(s.real() * a.real(), s.real() * a.imag()) : ProductOf(s, a);
}

/// a / s, of a scalar.
Pair Divided(Pair a, Pair s) {
  return s.imag() == 0 && s.real() != 0 ? Pair(a.real() / s.real(), a.imag() / s.real())
                                        : QuotientOf(a, s);
}

Pair Sum(Pair a, Pair b) { return {a.real() + b.real(), a.imag() + b.imag()}; }
Pair Difference(Pair a, Pair b) { return {a.real() - b.real(), a.imag() - b.imag()}; }
Pair Log(Pair a) { return std::log(a); }

/// log a times a number.
Pair LogTimes(Pair a, double factor) {
  const Pair log = Log(a);
  return {log.real() * factor, log.imag() * factor};
}

// cabs, since hypot itself is of a younger glibc.
double Size(Pair a) { return std::abs(a); }

/// If one part is infinite and the other finite, the result has the infinite part's sign alone.
Pair Sign(Pair a) {
  const double size = Size(a);
  if (std::isnan(size)) return {size, size};
  if (size == 0) return {};
  if (!std::isinf(size)) return {a.real() / size, a.imag() / size};
  const double real = std::isinf(a.real()), imaginary = std::isinf(a.imag());
  if (real + imaginary == 0) return Sign({a.real() / 2, a.imag() / 2});  // the size alone overflows
  if (real == imaginary) return {std::nan(""), std::nan("")};
  return {std::copysign(real, a.real()), std::copysign(imaginary, a.imag())};
}

/// By squaring, rounded at every step.
Pair WholePower(Pair a, int64_t n) {
  const bool below = n < 0;
  Pair result = 1, base = a;
  bool first = true;
  for (int64_t left = below ? -n : n; left > 0; left >>= 1) {
    if ((left & 1) != 0) {
      result = first ? base : ProductOf(result, base);
      first = false;
    }
    if (left > 1) base = ProductOf(base, base);
  }
  return below ? QuotientOf(1, result) : result;
}

Pair Power(Pair a, Pair b) {
  if (IsZero(b)) return 1;
  if (IsZero(a)) {
    return b.real() > 0 ? Pair() : Pair(std::nan(""), std::nan(""));
  }
  const double whole = std::trunc(b.real());
  if (b.imag() == 0 && whole == b.real() && std::abs(whole) < 100) {
    return WholePower(a, static_cast<int64_t>(whole));
  }
  return std::pow(a, b);
}

Pair Sigmoid(Pair a) { return QuotientOf(1, Sum(1, std::exp(-a))); }

/// A loop over one input, whatever the scalars.
template <auto kFunction>
constexpr PairLoop kOf = Loop<1, [](Pair a, const Pair*) { return kFunction(a); }>;
template <auto kFunction>
constexpr PairLoop kOfTwo = Loop<2, [](Pair a, Pair b, const Pair*) { return kFunction(a, b); }>;
/// A loop over one input and a scalar.
template <auto kFunction>
constexpr PairLoop kWithScalar = Loop<1, [](Pair a, const Pair* s) { return kFunction(a, s[0]); }>;

}  // namespace

namespace pairs {

const PairLoop kFirst = kOf<[](Pair a) { return a; }>;
const PairLoop kScalar = Loop<0, [](const Pair* s) { return s[0]; }>;

const PairLoop kNeg = kOf<[](Pair a) { return -a; }>;
const PairLoop kReciprocal = kOf<[](Pair a) { return QuotientOf(1, a); }>;
const PairLoop kSqrt = kOf<[](Pair a) { return std::sqrt(a); }>;
const PairLoop kRsqrt = kOf<[](Pair a) { return QuotientOf(1, std::sqrt(a)); }>;
const PairLoop kSign = kOf<Sign>;
const PairLoop kAbs = kOf<Size>;
const PairLoop kAngle = kOf<[](Pair a) { return std::atan2(a.imag(), a.real()); }>;
const PairLoop kSigmoid = kOf<Sigmoid>;

const PairLoop kExp = kOf<[](Pair a) { return std::exp(a); }>;
const PairLoop kLog = kOf<Log>;
const PairLoop kLog2 = kOf<[](Pair a) { return LogTimes(a, M_LOG2E); }>;
const PairLoop kLog10 = kOf<[](Pair a) { return LogTimes(a, M_LOG10E); }>;
const PairLoop kSin = kOf<[](Pair a) { return std::sin(a); }>;
const PairLoop kCos = kOf<[](Pair a) { return std::cos(a); }>;
const PairLoop kTan = kOf<[](Pair a) { return std::tan(a); }>;
const PairLoop kSinh = kOf<[](Pair a) { return std::sinh(a); }>;
const PairLoop kCosh = kOf<[](Pair a) { return std::cosh(a); }>;
const PairLoop kAsinh = kOf<[](Pair a) { return std::asinh(a); }>;
const PairLoop kAcosh = kOf<[](Pair a) { return std::acosh(a); }>;
const PairLoop kAtanh = kOf<[](Pair a) { return std::atanh(a); }>;

const PairLoop kAdd =
    Loop<2, [](Pair a, Pair b, const Pair* s) { return Sum(a, Scaled(s[0], b)); }>;
const PairLoop kAddScalar =
    Loop<1, [](Pair a, const Pair* s) { return Sum(a, Scaled(s[1], s[0])); }>;
const PairLoop kSub =
    Loop<2, [](Pair a, Pair b, const Pair* s) { return Difference(a, Scaled(s[0], b)); }>;
const PairLoop kSubScalar =
    Loop<1, [](Pair a, const Pair* s) { return Difference(a, Scaled(s[1], s[0])); }>;
const PairLoop kRsub =
    Loop<2, [](Pair a, Pair b, const Pair* s) { return Difference(b, Scaled(s[0], a)); }>;
const PairLoop kRsubScalar =
    Loop<1, [](Pair a, const Pair* s) { return Difference(s[0], Scaled(s[1], a)); }>;
const PairLoop kSumOfScalar =
    Loop<1, [](Pair a, const Pair* s) { return Sum(s[0], Scaled(s[1], a)); }>;
const PairLoop kMul = kOfTwo<ProductOf>;
const PairLoop kMulScalar = kWithScalar<[](Pair a, Pair s) { return Scaled(s, a); }>;
const PairLoop kDiv = kOfTwo<QuotientOf>;
const PairLoop kDivScalar = kWithScalar<Divided>;
const PairLoop kPow = kOfTwo<Power>;
const PairLoop kPowScalar = kWithScalar<Power>;
const PairLoop kPowOfScalar = kWithScalar<[](Pair a, Pair s) { return Power(s, a); }>;
const PairLoop kAddcmul = Loop<3, [](Pair a, Pair b, Pair c, const Pair* s) {
  return Sum(a, ProductOf(Scaled(s[0], b), c));
}>;
const PairLoop kAddcdiv = Loop<3, [](Pair a, Pair b, Pair c, const Pair* s) {
  return Sum(a, QuotientOf(Scaled(s[0], b), c));
}>;
const PairLoop kSigmoidGradient = Loop<2, [](Pair gradient, Pair b, const Pair*) {
  return ProductOf(ProductOf(gradient, Difference(1, b)), b);
}>;

const PairLoop kSquaredDifference = kOfTwo<[](Pair a, Pair b) {
  const Pair difference = Difference(a, b);
  return ProductOf(difference, difference);
}>;

const PairLoop kAnd = kOfTwo<[](Pair a, Pair b) { return !IsZero(a) && !IsZero(b); }>;
const PairLoop kOr = kOfTwo<[](Pair a, Pair b) { return !IsZero(a) || !IsZero(b); }>;
const PairLoop kXor = kOfTwo<[](Pair a, Pair b) { return IsZero(a) != IsZero(b); }>;
const PairLoop kEq = kOfTwo<Same>;
const PairLoop kEqScalar = kWithScalar<Same>;
const PairLoop kNe = kOfTwo<[](Pair a, Pair b) { return !Same(a, b); }>;
const PairLoop kNeScalar = kWithScalar<[](Pair a, Pair s) { return !Same(a, s); }>;
const PairLoop kIsInf = kOf<[](Pair a) { return std::isinf(a.real()) || std::isinf(a.imag()); }>;

const PairLoop kWhere =
    Loop<3, [](Pair c, Pair a, Pair b, const Pair*) { return IsZero(c) ? b : a; }>;
const PairLoop kMaskedFill =
    Loop<2, [](Pair a, Pair m, const Pair* s) { return IsZero(m) ? a : s[0]; }>;

}  // namespace pairs
}  // namespace openaclnn::supporting
