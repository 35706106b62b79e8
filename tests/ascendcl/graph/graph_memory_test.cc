// SPDX-License-Identifier: Apache-2.0
// Graphs and memory that the program maps: what they keep of it, and what is said of that.
#include <cstdlib>
#include <memory>
#include <string>

#include "common/text.h"
#include "tests/ascendcl/fixture.h"
#include "tests/ascendcl/own_operator.h"

namespace openaclnn {
namespace {

constexpr size_t kPiece = size_t{2} << 20;

class GraphMemoryTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    stream_ = NewStream();
  }
  void TearDown() override {
    EXPECT_EQ(aclrtDestroyStream(stream_), 0);
    RuntimeTest::TearDown();
  }

  static aclrtDrvMemHandle Physical() {
    aclrtPhysicalMemProp prop = {};
    prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    aclrtDrvMemHandle memory = nullptr;
    EXPECT_EQ(aclrtMallocPhysical(&memory, kPiece, &prop, 0), 0) << TakeMessage();
    return memory;
  }
  void Begin() const {
    ASSERT_EQ(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), 0) << TakeMessage();
  }
  aclmdlRI End() const {
    aclmdlRI model = nullptr;
    EXPECT_EQ(aclmdlRICaptureEnd(stream_, &model), 0) << TakeMessage();
    return model;
  }
  /// A graph of what `launch` launches.
  template <class Launch>
  aclmdlRI Capture(const Launch& launch) const {
    Begin();
    EXPECT_EQ(launch(), 0) << TakeMessage();
    return End();
  }

  aclrtStream stream_ = nullptr;
};

// Each kind of task in the last bytes of the second of two pieces.
TEST_F(GraphMemoryTest, WhoKeepsWhatWasUnmappedIsNamed) {
  void* range = nullptr;
  ASSERT_EQ(aclrtReserveMemAddress(&range, 2 * kPiece, 0, nullptr, 0), 0) << TakeMessage();
  std::byte* const first = static_cast<std::byte*>(range);
  std::byte *const second = first + kPiece, *const last = second + kPiece - 64;
  const aclrtDrvMemHandle memory = Physical(), other = Physical();
  for (std::byte* const piece : {first, second}) {
    ASSERT_EQ(aclrtMapMem(piece, kPiece, 0, piece == first ? other : memory, 0), 0);
  }
  DeviceArray<float> elsewhere(16, 1.0F);
  OwnOperator own([](void* const*, void*) { return 0; });
  own.Add("self", OPENACLNN_INPUT, {ACL_FLOAT, {16}, {1}}, last);
  const aclmdlRI models[] = {
      Capture([&] { return aclrtMemsetAsync(last, 64, 1, 64, stream_); }),
      Capture([&] {
        return aclrtMemcpyAsync(elsewhere.data(), 64, last, 64, ACL_MEMCPY_DEVICE_TO_DEVICE,
                                stream_);
      }),
      Capture([&] {
        return aclrtMemcpyAsync(last, 64, elsewhere.data(), 64, ACL_MEMCPY_DEVICE_TO_DEVICE,
                                stream_);
      }),
      Capture([&] { return own.Launch(stream_); }),
  };
  for (std::byte* const piece : {first, second}) EXPECT_EQ(aclrtUnmapMem(piece), 0);
  EXPECT_EQ(aclrtMapMem(first, kPiece, 0, other, 0), 0) << "of nobody: " << TakeMessage();
  const auto map = [&] { return aclrtMapMem(second, kPiece, 0, other, 0); };
  // The handles' order may be any: each is named until it is destroyed.
  for (size_t left = std::size(models); left > 0; --left) {
    EXPECT_EQ(map(), ACL_ERROR_RT_PARAM_INVALID);
    const std::string words = TakeMessage();
    aclmdlRI named = nullptr;
    for (const aclmdlRI model : models) {
      const std::string says = Concat("virPtr range of 2097152 bytes is used by modelRI ", model,
                                      ", expected its aclmdlRIDestroy before");
      if (words.find(says) != std::string::npos) named = model;
    }
    ASSERT_NE(named, nullptr) << words;
    EXPECT_EQ(aclmdlRIDestroy(named), 0) << TakeMessage();
  }
  EXPECT_EQ(map(), 0) << TakeMessage();
  for (std::byte* const piece : {first, second}) EXPECT_EQ(aclrtUnmapMem(piece), 0);
  EXPECT_EQ(aclrtReleaseMemAddress(range), 0) << TakeMessage();
  for (const aclrtDrvMemHandle each : {memory, other}) EXPECT_EQ(aclrtFreePhysical(each), 0);
}

// The graph cannot keep it: whoever has unregistered the memory may have freed it.
TEST_F(GraphMemoryTest, NothingRunsOnMemoryThatWasUnregistered) {
  constexpr size_t kBytes = 8192;
  void* const host = std::aligned_alloc(4096, kBytes);
  void* device = nullptr;
  ASSERT_EQ(aclrtHostRegister(host, kBytes, ACL_HOST_REGISTER_MAPPED, &device), 0) << TakeMessage();
  const aclmdlRI model =
      Capture([&] { return aclrtMemsetAsync(device, kBytes, 5, kBytes, stream_); });
  EXPECT_EQ(aclmdlRIExecuteAsync(model, stream_), 0) << TakeMessage();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), 0);
  EXPECT_EQ(static_cast<const char*>(host)[kBytes - 1], 5);
  ASSERT_EQ(aclrtHostUnregister(host), 0) << TakeMessage();
  const std::string says = Concat("modelRI memory is in part what was registered at ", host);
  const auto refused = [&] {
    const int invalid = ACL_ERROR_RT_PARAM_INVALID;
    ExpectRefused({"aclmdlRIExecuteAsync", [&] { return aclmdlRIExecuteAsync(model, stream_); },
                   invalid, says.c_str()});
    ExpectRefused(
        {"aclmdlRIExecute", [&] { return aclmdlRIExecute(model, -1); }, invalid, says.c_str()});
  };
  refused();
  ASSERT_EQ(aclrtHostRegister(host, kBytes, ACL_HOST_REGISTER_MAPPED, &device), 0);
  refused();  // registered anew it has another address
  EXPECT_EQ(aclrtHostUnregister(host), 0);
  std::free(host);
  refused();
  EXPECT_EQ(aclmdlRIDestroy(model), 0);
}

}  // namespace
}  // namespace openaclnn
