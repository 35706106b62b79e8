// SPDX-License-Identifier: Apache-2.0
// What a trace says of a collective: each member once, though the call looks its stream up twice.
#include <fstream>
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

class RanksTraceTest : public TracedTest {};

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

}  // namespace
}  // namespace openaclnn
