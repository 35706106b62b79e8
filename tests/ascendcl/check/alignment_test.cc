// SPDX-License-Identifier: Apache-2.0
// Operands and workspaces at addresses at which a device finds no elements.
#include "common/text.h"
#include "tests/ascendcl/own_operator.h"
#include "tests/ascendcl/watched.h"

namespace openaclnn {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kWorkspace = 100;

class AlignmentTest : public WatchedTest {
 protected:
  explicit AlignmentTest(const char* level = "fast") : WatchedTest(level) {}

  /// What is said of 4 elements `byte` bytes from the beginning of an allocation, from `offset`
  /// elements on, and of a workspace that begins `workspace_byte` bytes from one.
  std::string Launch(aclDataType dtype, size_t byte, int64_t offset = 0,
                     size_t workspace_byte = 0) const {
    const DeviceArray<char> self(200), workspace(200);
    OwnOperator own([](void* const*, void*) { return 0; }, kWorkspace);
    own.Add("self", OPENACLNN_INPUT, {dtype, {4}, {1}, offset}, self.data() + byte);
    own.Add("other", OPENACLNN_INPUT, {dtype, {4}, {1}}, self.data());
    EXPECT_EQ(own.Launch(stream, workspace.data() + workspace_byte), 0) << TakeMessage();
    message_ = aclGetRecentErrMsg();
    return Reported();
  }
  mutable const char* message_ = nullptr;
};

TEST_F(AlignmentTest, AnOperand) {
  const std::string text = Launch(ACL_FLOAT, 6, 1);
  EXPECT_THAT(text, HasSubstr("openaclnn: memcheck: the address of self of aclnnOwn is misaligned\n"
                              "  what:  self is at 0x"));
  EXPECT_THAT(text,
              HasSubstr(", expected a multiple of 4 bytes\n  where: bytes 10 to 25 of the 200 "
                        "that were allocated at "));
  EXPECT_THAT(text, HasSubstr("fix:   what aclrtMalloc returns is a multiple of 64 bytes"));
  EXPECT_EQ(Count(text, "is misaligned"), 1U) << "of that operand alone";
  ASSERT_NE(message_, nullptr);
  EXPECT_THAT(message_, HasSubstr("misaligned"));
  EXPECT_EQ(Launch(ACL_FLOAT, 2), "") << "once";
}

TEST_F(AlignmentTest, ByTheSizeOfAnElement) {
  EXPECT_EQ(Launch(ACL_INT8, 1), "");
  EXPECT_EQ(Launch(ACL_FLOAT16, 2), "");
  EXPECT_EQ(Launch(ACL_FLOAT, 4), "");
  EXPECT_EQ(Launch(ACL_FLOAT, 0, 1), "") << "a view";
  EXPECT_EQ(Launch(ACL_COMPLEX128, 8), "") << "two numbers of 8 bytes";
  EXPECT_THAT(Launch(ACL_DOUBLE, 4), HasSubstr("a multiple of 8 bytes"));
}

TEST_F(AlignmentTest, AWorkspace) {
  EXPECT_EQ(Launch(ACL_FLOAT, 0, 0, 32), "");
  const std::string text = Launch(ACL_FLOAT, 0, 0, 16);
  EXPECT_THAT(text, HasSubstr("the address of workspace of aclnnOwn is misaligned\n"));
  EXPECT_THAT(text, HasSubstr("expected a multiple of 32 bytes\n  where: bytes 16 to 115 of the "));
}

class UncheckedAlignmentTest : public AlignmentTest {
 protected:
  UncheckedAlignmentTest() : AlignmentTest("off") {}
};

TEST_F(UncheckedAlignmentTest, IsNotLookedAt) { EXPECT_EQ(Launch(ACL_FLOAT, 2, 0, 1), ""); }

}  // namespace
}  // namespace openaclnn
