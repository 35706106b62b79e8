// SPDX-License-Identifier: Apache-2.0
// Memory limits of control groups: which files count, in trees like those of the system.
#include "ascendcl/process/control_group.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace openaclnn {
namespace {

class ControlGroupTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(root_); }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << '\n';
  }
  uint64_t Limit(const std::string& groups) {
    std::istringstream text(groups);
    return ControlGroupLimit(text, root_);
  }
  const std::string root_ = testing::TempDir() + "control_group_test." + std::to_string(getpid());
};

TEST_F(ControlGroupTest, NoneIsNoLimit) {
  EXPECT_EQ(Limit(""), UINT64_MAX);
  EXPECT_EQ(Limit("0::/\n"), UINT64_MAX);
  EXPECT_EQ(Limit("nonsense\n1:\n::::\n"), UINT64_MAX);
  Write("/memory.max", "max");
  EXPECT_EQ(Limit("0::/a/b\n"), UINT64_MAX);
}

TEST_F(ControlGroupTest, SmallestOfTheGroupAndItsParents) {
  Write("/user.slice/job.service/memory.max", "3000");
  EXPECT_EQ(Limit("0::/user.slice/job.service\n"), 3000u);
  EXPECT_EQ(Limit("0::/user.slice\n"), UINT64_MAX) << "a group below does not count";
  Write("/user.slice/memory.max", "2000");
  EXPECT_EQ(Limit("0::/user.slice/job.service\n"), 2000u);
  Write("/user.slice/job.service/memory.max", "max");
  EXPECT_EQ(Limit("0::/user.slice/job.service\n"), 2000u);
  Write("/memory.max", "1000");
  EXPECT_EQ(Limit("0::/user.slice/job.service\n"), 1000u);
}

TEST_F(ControlGroupTest, RootCountsWithoutAGroupOfItsOwn) {
  Write("/memory.max", "1000");
  EXPECT_EQ(Limit(""), 1000u);
  EXPECT_EQ(Limit("0::/what/the/host/calls/it\n"), 1000u);
}

TEST_F(ControlGroupTest, VersionOne) {
  Write("/memory/docker/a/memory.limit_in_bytes", "3000");
  Write("/cpu/docker/a/memory.limit_in_bytes", "1");
  const std::string groups = "12:cpu,cpuacct:/docker/a\n5:memory:/docker/a\n0::/docker/a\n";
  EXPECT_EQ(Limit(groups), 3000u);
  EXPECT_EQ(Limit("4:hugetlb,memory:/docker/a/below\n"), 3000u);
  Write("/memory/memory.limit_in_bytes", "2000");
  EXPECT_EQ(Limit(groups), 2000u);
}

}  // namespace
}  // namespace openaclnn
