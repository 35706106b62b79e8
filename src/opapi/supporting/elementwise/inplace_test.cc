// SPDX-License-Identifier: Apache-2.0
// Operators in place leave the bits that their siblings write elsewhere.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

/// Runs both on values of `values`, of FLOAT and strided.
template <class Elsewhere, class InPlace>
void ExpectSame(const char* name, const Doubles& values, const Elsewhere& elsewhere,
                const InPlace& in_place) {
  Random random(61);
  const Dims dims{3, static_cast<int64_t>(values.size()) / 3};
  const DeviceTensor self = Make(ACL_FLOAT, dims, values, random);
  const DeviceTensor out(ACL_FLOAT, RandomLayout(random, dims, false));
  EXPECT_EQ(elsewhere(self, out).message, "") << name;
  EXPECT_EQ(in_place(self).message, "") << name;
  EXPECT_EQ(self.Read(), out.Read()) << name;
  EXPECT_NE(ValuesOf(self), values) << name << " changes something";
  EXPECT_EQ(self.Damage() + out.Damage(), "") << name;
}

#define EXPECT_SAME(name, values, ...)                                       \
  ExpectSame(                                                                \
      #name, values,                                                         \
      [&](const DeviceTensor& self, const DeviceTensor& out) {               \
        return RUN(device, name, self.handle(), ##__VA_ARGS__, Handle(out)); \
      },                                                                     \
      [&](const DeviceTensor& self) {                                        \
        return RUN(device, Inplace##name, Handle(self), ##__VA_ARGS__);      \
      })

class SupportingInPlace : public ::testing::Test {
 protected:
  const Device device;
  Random random{62};
  const Doubles any = RealValues(random, 600), small = RealValues(random, 600, -0.9, 0.9),
                large = RealValues(random, 600, 1.1, 4);
};

TEST_F(SupportingInPlace, FunctionsOfAnything) {
  EXPECT_SAME(Asinh, any);
  EXPECT_SAME(Atan, any);
  EXPECT_SAME(Ceil, any);
  EXPECT_SAME(Cos, any);
  EXPECT_SAME(Cosh, any);
  EXPECT_SAME(Erf, any);
  EXPECT_SAME(Erfc, any);
  EXPECT_SAME(Exp, any);
  EXPECT_SAME(Exp2, any);
  EXPECT_SAME(Expm1, any);
  EXPECT_SAME(Floor, any);
  EXPECT_SAME(Frac, any);
  EXPECT_SAME(Hardsigmoid, any);
  EXPECT_SAME(Hardswish, any);
  EXPECT_SAME(LogicalNot, any);
  EXPECT_SAME(Mish, any);
  EXPECT_SAME(Neg, any);
  EXPECT_SAME(Reciprocal, any);
  EXPECT_SAME(Relu, any);
  EXPECT_SAME(Round, any);
  EXPECT_SAME(RoundDecimals, any, 1);
  EXPECT_SAME(Sigmoid, any);
  EXPECT_SAME(Sin, any);
  EXPECT_SAME(Sinc, any);
  EXPECT_SAME(Sinh, any);
  EXPECT_SAME(Tan, any);
  EXPECT_SAME(Tanh, any);
  EXPECT_SAME(Tril, any, -1);
  EXPECT_SAME(Triu, any, 1);
  EXPECT_SAME(Trunc, any);
}

TEST_F(SupportingInPlace, FunctionsOfSomeNumbers) {
  EXPECT_SAME(Acos, small);
  EXPECT_SAME(Acosh, large);
  EXPECT_SAME(Asin, small);
  EXPECT_SAME(Atanh, small);
  EXPECT_SAME(Erfinv, small);
  EXPECT_SAME(Log, large);
  EXPECT_SAME(Log10, large);
  EXPECT_SAME(Log1p, large);
  EXPECT_SAME(Log2, large);
  EXPECT_SAME(Rsqrt, large);
  EXPECT_SAME(Sqrt, large);
}

TEST_F(SupportingInPlace, WithScalars) {
  const ScalarHandle half(0.5), third(1.0 / 3), one(1.0);
  const aclScalar *a = half.get(), *b = third.get(), *c = one.get();
  EXPECT_SAME(Adds, any, a, b);
  EXPECT_SAME(Celu, any, a);
  EXPECT_SAME(ClampMax, any, a);
  EXPECT_SAME(ClampMin, any, a);
  EXPECT_SAME(DivMods, any, b, 2);
  EXPECT_SAME(Divs, any, b);
  EXPECT_SAME(Elu, any, a, b, c);
  EXPECT_SAME(EqScalar, any, a);
  EXPECT_SAME(FloorDivides, any, b);
  EXPECT_SAME(FmodScalar, any, b);
  EXPECT_SAME(GeScalar, any, a);
  EXPECT_SAME(GtScalar, any, a);
  EXPECT_SAME(Hardtanh, any, b, a);
  EXPECT_SAME(LeScalar, any, a);
  EXPECT_SAME(LeakyRelu, any, b);
  EXPECT_SAME(LtScalar, any, a);
  EXPECT_SAME(Muls, any, b);
  EXPECT_SAME(NeScalar, any, a);
  EXPECT_SAME(PowTensorScalar, large, b);
  EXPECT_SAME(RemainderTensorScalar, any, b);
  EXPECT_SAME(Subs, any, a, b);
  EXPECT_SAME(Threshold, any, a, b);
  EXPECT_SAME(XLogYScalarOther, any, a);
}

TEST_F(SupportingInPlace, WithTensors) {
  const DeviceTensor row = Make(ACL_FLOAT, {200}, RealValues(random, 200, 0.1, 2), random),
                     column = Make(ACL_FLOAT16, {3, 1}, {0.5, 1.5, 2}, random);
  const ScalarHandle half(0.5);
  const aclTensor *x = row.handle(), *y = column.handle();
  EXPECT_SAME(Add, any, x, half.get());
  EXPECT_SAME(Addcdiv, any, x, y, half.get());
  EXPECT_SAME(Addcmul, any, x, y, half.get());
  EXPECT_SAME(Atan2, any, x);
  EXPECT_SAME(ClampMaxTensor, any, y);
  EXPECT_SAME(ClampMinTensor, any, y);
  EXPECT_SAME(Div, any, y);
  EXPECT_SAME(DivMod, any, x, 1);
  EXPECT_SAME(EqTensor, any, x);
  EXPECT_SAME(FloorDivide, any, x);
  EXPECT_SAME(FmodTensor, any, x);
  EXPECT_SAME(GeTensor, any, x);
  EXPECT_SAME(GtTensor, any, x);
  EXPECT_SAME(LeTensor, any, x);
  EXPECT_SAME(Lerp, any, x, y);
  EXPECT_SAME(Lerps, any, x, half.get());
  EXPECT_SAME(LogicalAnd, any, x);
  EXPECT_SAME(LogicalOr, any, x);
  EXPECT_SAME(LtTensor, any, x);
  EXPECT_SAME(Mul, any, y);
  EXPECT_SAME(NeTensor, any, x);
  EXPECT_SAME(PowTensorTensor, large, x);
  EXPECT_SAME(RemainderTensorTensor, any, x);
  EXPECT_SAME(Sub, any, x, half.get());
}

// PyTorch fills expanded tensors: whoever writes one number everywhere may meet a place again.
TEST(SupportingFills, ElementsMayBeOnePlace) {
  const Device device;
  const DeviceTensor storage = Make(ACL_FLOAT16, {6}, {1, 2, 3, 4, 5, 6});
  const auto view = [&](const Dims& dims, const Dims& strides) {
    return TensorHandle({.dims = dims,
                         .dtype = ACL_FLOAT16,
                         .strides = strides,
                         .storage = Dims{6},
                         .data = storage.data()});
  };
  const TensorHandle expanded = view({3, 1000}, {2, 0}), windows = view({4, 3}, {1, 1});
  const ScalarHandle value(0.1);
  EXPECT_RUN(device, InplaceFillScalar, expanded.get(), value.get());
  const double tenth = ValuesOf(Make(ACL_FLOAT16, {1}, {0.1}))[0];
  EXPECT_EQ(ValuesOf(storage), (Doubles{tenth, 2, tenth, 4, tenth, 6}));
  EXPECT_RUN(device, InplaceZero, expanded.get());
  EXPECT_EQ(ValuesOf(storage), (Doubles{0, 2, 0, 4, 0, 6}));
  EXPECT_RUN(device, InplaceOne, windows.get());
  EXPECT_EQ(ValuesOf(storage), Doubles(6, 1.0));
  // An operator that computes takes no elements that overlap.
  const ScalarHandle one(1.0);
  EXPECT_REFUSED(161002, "expected elements that do not overlap", InplaceAdds, windows.get(),
                 value.get(), one.get());
}

}  // namespace
}  // namespace openaclnn::test
