// SPDX-License-Identifier: Apache-2.0
// Calls of supporting operators that models spend their time in: what tests/instructions.py counts
// of their kernels.
#include <cstdio>
#include <stdexcept>
#include <string_view>

#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

struct Bench {
  const Device& device;
  int64_t calls;
  Random random{1};

  DeviceTensor Floats(const Dims& dims) {
    const Layout layout = DenseLayout(dims);
    DeviceTensor tensor(ACL_FLOAT, layout);
    tensor.Write(ToBytes(ACL_FLOAT, RealValues(random, layout.count())));
    return tensor;
  }

  template <class Run>
  void Repeat(Run&& run) const {
    for (int64_t i = 0; i < calls; ++i) {
      const Outcome outcome = run();
      if (!outcome.ok()) throw std::runtime_error(outcome.message);
    }
  }
};

constexpr int64_t kHeads = 2, kRows = 192, kWidth = 64, kFar = INT32_MAX;
constexpr double kScale = 0.125, kKeepAll = 1;

/// Causal, FLOAT, of (1, 2, 192, 64).
struct AttentionOperands {
  explicit AttentionOperands(Bench& bench)
      : q(bench.Floats(dims)),
        k(bench.Floats(dims)),
        v(bench.Floats(dims)),
        out(bench.Floats(dims)),
        max(bench.Floats(sums)),
        sum(bench.Floats(sums)) {}

  Outcome Forward(const Device& device) {
    return RUN(device, FlashAttentionScore, q.handle(), k.handle(), v.handle(), nullptr, nullptr,
               nullptr, nullptr, nullptr, kScale, kKeepAll, kFar, 0, kHeads, layout, 0, 2,
               max.handle(), sum.handle(), nullptr, out.handle());
  }

  const Dims dims = {1, kHeads, kRows, kWidth}, sums = {1, kHeads, kRows, 8};
  char layout[5] = "BNSD";
  DeviceTensor q, k, v, out, max, sum;
};

void Attention(Bench& bench) {
  AttentionOperands x(bench);
  bench.Repeat([&] { return x.Forward(bench.device); });
}

void AttentionGradient(Bench& bench) {
  AttentionOperands x(bench);
  const DeviceTensor dy = bench.Floats(x.dims), dq = bench.Floats(x.dims),
                     dk = bench.Floats(x.dims), dv = bench.Floats(x.dims);
  if (!x.Forward(bench.device).ok()) throw std::runtime_error("the forward failed");
  bench.Repeat([&] {
    return RUN(bench.device, FlashAttentionScoreGrad, x.q.handle(), x.k.handle(), x.v.handle(),
               dy.handle(), nullptr, nullptr, nullptr, nullptr, x.max.handle(), x.sum.handle(),
               nullptr, x.out.handle(), nullptr, kScale, kKeepAll, kFar, 0, kHeads, x.layout, 0, 2,
               dq.handle(), dk.handle(), dv.handle(), nullptr);
  });
}

/// 3 by 3 taps of (1, 32, 28, 28) for as many channels, in so many groups.
struct ConvolutionOperands {
  ConvolutionOperands(Bench& bench, int64_t of_groups)
      : groups(of_groups),
        input(bench.Floats(dims)),
        weight(bench.Floats(weight_dims)),
        output(bench.Floats(dims)),
        input_gradient(bench.Floats(dims)),
        weight_gradient(bench.Floats(weight_dims)) {}

  const int64_t groups;
  const Dims dims = {1, 32, 28, 28}, weight_dims = {32, 32 / groups, 3, 3};
  const IntsHandle one{{1, 1}}, zero{{0, 0}};
  DeviceTensor input, weight, output, input_gradient, weight_gradient;
};

template <int64_t kGroups>
void Convolution(Bench& bench) {
  const ConvolutionOperands x(bench, kGroups);
  bench.Repeat([&] {
    return RUN(bench.device, Convolution, x.input.handle(), x.weight.handle(), nullptr, x.one.get(),
               x.one.get(), x.one.get(), false, x.zero.get(), kGroups, Handle(x.output), 0);
  });
}

template <int64_t kGroups>
void ConvolutionGradient(Bench& bench) {
  const ConvolutionOperands x(bench, kGroups);
  const FlagsHandle both({true, true, false});
  bench.Repeat([&] {
    return RUN(bench.device, ConvolutionBackward, x.output.handle(), x.input.handle(),
               x.weight.handle(), nullptr, x.one.get(), x.one.get(), x.one.get(), false,
               x.zero.get(), static_cast<int>(kGroups), both.get(), 0, Handle(x.input_gradient),
               Handle(x.weight_gradient), nullptr);
  });
}

void AveragePooling(Bench& bench) {
  const DeviceTensor x = bench.Floats({1, 32, 56, 56}), out = bench.Floats({1, 32, 28, 28});
  const IntsHandle window({3, 3}), step({2, 2}), pad({1, 1});
  bench.Repeat([&] {
    return RUN(bench.device, AvgPool2d, x.handle(), window.get(), step.get(), pad.get(), false,
               true, 0, 0, Handle(out));
  });
}

void Resizing(Bench& bench) {
  const DeviceTensor x = bench.Floats({1, 32, 28, 28}), out = bench.Floats({1, 32, 56, 56});
  const IntsHandle size({56, 56});
  bench.Repeat([&] {
    return RUN(bench.device, UpsampleBilinear2d, x.handle(), size.get(), false, 2.0, 2.0,
               Handle(out));
  });
}

void Distances(Bench& bench) {
  const DeviceTensor a = bench.Floats({128, 64}), b = bench.Floats({128, 64}),
                     out = bench.Floats({128, 128});
  bench.Repeat(
      [&] { return RUN(bench.device, Cdist, a.handle(), b.handle(), 2.0f, 0, Handle(out)); });
}

const std::pair<std::string_view, void (*)(Bench&)> kBenches[] = {
    {"attention", Attention},
    {"attention_gradient", AttentionGradient},
    {"convolution", Convolution<1>},
    {"convolution_gradient", ConvolutionGradient<1>},
    {"depthwise", Convolution<32>},
    {"depthwise_gradient", ConvolutionGradient<32>},
    {"average_pooling", AveragePooling},
    {"resizing", Resizing},
    {"distances", Distances},
};

}  // namespace
}  // namespace openaclnn::test

int main(int argc, char** argv) {
  using namespace openaclnn::test;
  if (argc == 1) {
    for (const auto& [name, run] : kBenches) std::printf("%s\n", std::string(name).c_str());
    return 0;
  }
  constexpr std::string_view kCalls = "--calls=";
  for (const auto& [name, run] : kBenches) {
    if (argc != 3 || name != argv[1] || !std::string_view(argv[2]).starts_with(kCalls)) continue;
    const Device device;
    Bench bench{device, std::stoll(argv[2] + kCalls.size())};
    run(bench);
    return 0;
  }
  std::fprintf(stderr, "supporting_calls [NAME --calls=N]: without a name the names\n");
  return 1;
}
