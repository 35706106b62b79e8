// SPDX-License-Identifier: Apache-2.0
// What a trace says of a collective: each member once, though the call looks its stream up twice.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "hccl/fixture.h"
#include "tests/ascendcl/traced.h"

namespace openaclnn {
namespace {

using nlohmann::json;

/// Reads JSON of which no object has two members of one name.
json ParseOnce(std::istream& text) {
  std::vector<std::set<json>> names;
  return json::parse(text, [&](int, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start) names.emplace_back();
    if (event == json::parse_event_t::object_end) names.pop_back();
    if (event == json::parse_event_t::key) {
      EXPECT_TRUE(names.back().insert(parsed).second) << parsed << " is there twice";
    }
    return true;
  });
}

class RanksTraceTest : public TracedTest {
 protected:
  /// A barrier of one rank in a communicator of that name.
  static void CallAlone(const char* name) {
    HcclRootInfo info;
    HcclCommConfig config;
    HcclCommConfigInit(&config);
    std::strcpy(config.hcclCommName, name);
    HcclComm comm = nullptr;
    aclrtStream stream = nullptr;
    ASSERT_EQ(aclrtCreateStream(&stream), 0) << TakeMessage();
    ASSERT_EQ(HcclGetRootInfo(&info), HCCL_SUCCESS) << TakeMessage();
    ASSERT_EQ(HcclCommInitRootInfoConfig(1, &info, 0, &config, &comm), HCCL_SUCCESS);
    EXPECT_EQ(HcclBarrier(comm, stream), HCCL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream), 0);
    EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS);
    EXPECT_EQ(aclrtDestroyStream(stream), 0);
  }

 private:
  Variable devices_{"OPENACLNN_DEVICE_COUNT", "2"};
};

TEST_F(RanksTraceTest, EachMemberIsThereOnce) {
  Start();
  {
    const Ranks ranks(1);
    void* data = nullptr;
    ASSERT_EQ(aclrtMalloc(&data, 64, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    EXPECT_EQ(HcclAllReduce(data, data, 4, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, ranks.comm(0),
                            ranks.stream(0)),
              HCCL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(ranks.stream(0)), 0);
    EXPECT_EQ(aclrtFree(data), 0);
  }
  Stop();
  std::ifstream file(file_);
  int calls = 0;
  for (const json& event : ParseOnce(file)) {
    if (event.at("name") != "HcclAllReduce" || event.value("cat", "") != "call") continue;
    EXPECT_EQ(event.at("args").at("stream").get<std::string>().substr(0, 7), "stream ");
    ++calls;
  }
  EXPECT_EQ(calls, 1);
}

// By which traces of several programs are merged, whose communicators may have one name.
TEST_F(RanksTraceTest, ACommunicatorHasAnIdentifierOfItsOwn) {
  Start();
  for (const char* const name : {"same", "same"}) CallAlone(name);
  for (int i = 0; i < 2; ++i) {
    const Ranks ranks(2);
    for (const uint32_t rank : {0u, 1u}) {
      EXPECT_EQ(HcclBarrier(ranks.comm(rank), ranks.stream(rank)), HCCL_SUCCESS);
    }
    ranks.AwaitAll();
  }
  Stop();
  std::ifstream file(file_);
  std::map<std::string, int> tasks;  // by identifier
  std::set<std::string> names;
  for (const json& event : ParseOnce(file)) {
    if (event.at("name") != "HcclBarrier" || event.value("cat", "") != "task") continue;
    ++tasks[event.at("args").at("identifier").get<std::string>()];
    names.insert(event.at("args").at("communicator").get<std::string>());
  }
  std::vector<int> counts;
  for (const auto& [identifier, count] : tasks) {
    EXPECT_EQ(identifier.size(), 16u);
    counts.push_back(count);
  }
  std::ranges::sort(counts);
  EXPECT_EQ(counts, (std::vector<int>{1, 1, 2, 2}));
  EXPECT_EQ(names.size(), 3u);
}

TEST_F(RanksTraceTest, ANameIsAnyBytes) {
  Start();
  CallAlone("\u540d\xff\"\\\x01");
  Stop();
  std::ifstream file(file_);
  std::set<std::string> names;
  for (const json& event : ParseOnce(file)) {
    if (event.at("name") != "HcclBarrier" || event.value("cat", "") != "task") continue;
    names.insert(event.at("args").at("communicator").get<std::string>());
  }
  EXPECT_EQ(names, (std::set<std::string>{"\u540d\ufffd\"\\\x01"}));
}

}  // namespace
}  // namespace openaclnn
