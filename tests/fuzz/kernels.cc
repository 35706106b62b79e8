// SPDX-License-Identifier: Apache-2.0
// Any shape, types, views and bytes in the operators that have rooms.
#include <iterator>
#include <map>

#include "tests/fuzz/room.h"

namespace openaclnn::fuzz {
namespace {

constexpr uint32_t kPatterns[] = {0x7FC00001, 0xFFA0FFFF, 0x7F800000, 0xFF800000, 0x00000001,
                                  0x807F007F, 0x00800080, 0x7F7FFFFF, 0x3F803F80, 0x80000000,
                                  0x7C000000, 0xFC00FC00, 0x7BFF7BFF, 0x04000400, 0x03FF03FF};

/// By name: an input means the same in every build.
std::map<std::string, void (*)(Decisions&)>& Rooms() {
  static std::map<std::string, void (*)(Decisions&)> rooms;
  return rooms;
}

}  // namespace

FuzzedRoom::FuzzedRoom(const char* api, void (*attempt)(Decisions&)) { Rooms()[api] = attempt; }

std::vector<Patch> Patches(Decisions& choose) {
  std::vector<Patch> patches;
  while (choose.More() && patches.size() < 16) {
    patches.push_back({choose.Below(8), choose.Below(256) << 8 | choose.Below(256),
                       kPatterns[choose.Below(std::size(kPatterns))]});
  }
  return patches;
}

void Apply(const std::vector<Patch>& patches, const test::OperatorProblem& problem) {
  const std::vector<test::CallOperand> operands = problem.operands();
  for (const Patch& patch : patches) {
    const test::CallOperand& operand = operands[patch.operand % operands.size()];
    if (operand.is_output()) continue;
    auto* const tensor = const_cast<test::DeviceTensor*>(operand.tensor);
    std::vector<std::byte> bytes = tensor->Read();
    const int64_t count = tensor->layout().count();
    if (count == 0) continue;
    const size_t size = bytes.size() / static_cast<size_t>(count);
    std::byte* const to = bytes.data() + patch.element % static_cast<size_t>(count) * size;
    for (size_t i = 0; i < size; ++i) {
      to[size - 1 - i] = static_cast<std::byte>(patch.pattern >> (24 - i % 4 * 8));
    }
    tensor->Write(bytes);
  }
}

std::unique_ptr<test::Device> Setting::Start() const try {
  return std::make_unique<test::Device>(
      std::vector<test::Variable>{{"OPENACLNN_SIMD", simd}, {"OPENACLNN_NUM_THREADS", threads}});
} catch (const std::runtime_error& error) {
  Must(std::string(error.what()).find("expected one that this machine has") != std::string::npos,
       error.what());
  return nullptr;
}

}  // namespace openaclnn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using openaclnn::fuzz::Rooms;
  openaclnn::fuzz::Decisions choose(data, size);
  std::next(Rooms().begin(), choose.Below(static_cast<uint32_t>(Rooms().size())))->second(choose);
  return 0;
}
