// SPDX-License-Identifier: Apache-2.0
// LSTM and GRU over sequences: what is refused, and the same bits with any number of threads.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

/// A GRU of one layer whose numbers are all 0, but for what a test changes.
struct Gru {
  Outcome Run(const Device& device) const {
    return RUN(device, GRU, input.handle(), ListHandle({&by_input, &by_state}).get(), hx.handle(),
               sizes, false, layers, dropout, false, false, batch_first, Handle(output), Handle(hy),
               none.get(), none.get(), none.get(), none.get(), none.get());
  }

  DeviceTensor input{ACL_FLOAT, DenseLayout({4, 2, 3})}, by_input{ACL_FLOAT, DenseLayout({6, 3})},
      by_state{ACL_FLOAT, DenseLayout({6, 2})}, hx{ACL_FLOAT, DenseLayout({1, 2, 2})},
      output{ACL_FLOAT, DenseLayout({4, 2, 2})}, hy{ACL_FLOAT, DenseLayout({1, 2, 2})};
  const ListHandle none{{}};
  const aclTensor* sizes = nullptr;
  int64_t layers = 1;
  double dropout = 0;
  bool batch_first = false;
};

void ExpectRefused(const Device& device, const Gru& gru, const std::string& says) {
  const Outcome outcome = gru.Run(device);
  EXPECT_EQ(outcome.code, 161002) << outcome.message;
  EXPECT_NE(outcome.message.find(says), std::string::npos) << outcome.message;
}

TEST(Recurrent, RefusesWhatDoesNotFit) {
  const Device device;
  Gru gru;
  gru.layers = 2;
  ExpectRefused(device, gru, "params length is 2, expected 2 for each of 2 layers and directions");
  gru.layers = (int64_t{1} << 62) + 1;  // times 2 and 4 it wraps
  ExpectRefused(device, gru, "params length is 2, expected 2 for each of ");
  gru.layers = 0;
  ExpectRefused(device, gru, "numLayers value is 0");
  gru.layers = 1;
  gru.batch_first = true;
  ExpectRefused(device, gru, "hx shape is (1, 2, 2), expected (1, 4, 2)");
}

TEST(Recurrent, CountsThatGrowFailTheTask) {
  const Device device;
  const DeviceTensor flat(ACL_FLOAT, DenseLayout({8, 3}));
  for (const Doubles& counts : {Doubles{1, 2, 2, 2}, Doubles{3, 2, 2, 2}, Doubles{2, 1, 0, -1}}) {
    const DeviceTensor sizes = Make(ACL_INT64, {4}, counts);
    const Gru gru;
    const Outcome outcome =
        RUN(device, GRU, flat.handle(), ListHandle({&gru.by_input, &gru.by_state}).get(),
            gru.hx.handle(), sizes.handle(), false, 1, 0.0, false, false, false, Handle(gru.output),
            Handle(gru.hy), gru.none.get(), gru.none.get(), gru.none.get(), gru.none.get(),
            gru.none.get());
    EXPECT_EQ(outcome.code, 507035) << outcome.message;
  }
}

}  // namespace
}  // namespace openaclnn::test
