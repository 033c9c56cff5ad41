// SPDX-License-Identifier: BSD-3-Clause
#include "pages/trace.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <nlohmann/json.hpp>

namespace hocket::pages {
namespace {

std::string small_trace(const std::string& name) {
  std::string text;
  TraceWriter writer(&text);
  writer.name_node(0, name);
  writer.name_track(rank_track(0, 0), "rank 0");
  writer.name_track(nic_track(0), "NIC engine");
  const Argument arguments[] = {{"bytes", uint64_t{8}},
                                {"left", int64_t{-1}},
                                {"part", std::numeric_limits<double>::infinity()},
                                {name, std::string_view(name)}};
  writer.add(Activity{rank_track(0, 0), name, "step", 1'234'567, 10, arguments});
  writer.add(Activity{nic_track(1), "trigger", "nic", 3'000'000, 1'500'000, {}});
  writer.add(Message{name, "message", rank_track(0, 0), 1'234'570, nic_track(1), 3'000'000});
  writer.add(Message{name, "message", nic_track(1), 3'100'000, rank_track(0, 0), 4'000'000});
  EXPECT_TRUE(writer.finish().is_ok());
  return text;
}

TEST(PagesTrace, ParsesAndKeepsPicoseconds) {
  const std::string text = small_trace("send");
  EXPECT_NE(text.find("\"ts\":1.234567,\"dur\":0.00001,"), std::string::npos) << text;
  EXPECT_NE(text.find("\"ts\":3,\"dur\":1.5}"), std::string::npos);
  EXPECT_EQ(text, small_trace("send"));
  const nlohmann::json events = nlohmann::json::parse(text).at("traceEvents");
  ASSERT_EQ(events.size(), 6U + 2 + 4);
  EXPECT_EQ(events[6].at("args").at("bytes"), 8);
  EXPECT_TRUE(events[6].at("args").at("part").is_null());
}

TEST(PagesTrace, ArrowsPairUp) {
  std::map<uint64_t, std::pair<int, int>> ends;
  const nlohmann::json trace = nlohmann::json::parse(small_trace("send"));
  for (const nlohmann::json& event : trace.at("traceEvents")) {
    if (event.at("ph") == "s") ++ends[event.at("id")].first;
    if (event.at("ph") != "f") continue;
    ++ends[event.at("id")].second;
    EXPECT_EQ(event.at("bp"), "e");
  }
  ASSERT_EQ(ends.size(), 2U);
  for (const auto& [id, count] : ends) EXPECT_EQ(count, (std::pair<int, int>(1, 1))) << id;
}

TEST(PagesTrace, HostileNamesStayNames) {
  for (const char* name : {"\"}]", "\\", "\x01\x1b\n", "\xff\xfe", "</script>", ""})
    EXPECT_TRUE(nlohmann::json::accept(small_trace(name))) << name;
}

TEST(PagesTrace, IsValidWhereverItStops) {
  std::string text;
  {
    const TraceWriter writer(&text);
  }
  EXPECT_TRUE(nlohmann::json::parse(text).at("traceEvents").empty());
  text.clear();
  {
    TraceWriter writer(&text);
    EXPECT_TRUE(writer.finish().is_ok());
    writer.add(Activity{rank_track(0, 0), "late", "step", 1, 1, {}});
  }
  EXPECT_TRUE(nlohmann::json::parse(text).at("traceEvents").empty());
}

TEST(PagesTrace, TracksOfRanksAndEnginesDiffer) {
  std::map<uint32_t, int> seen;
  for (uint32_t node = 0; node < 3; ++node) {
    ++seen[rank_track(node, node).thread];
    for (uint32_t engine = 0; engine < 2; ++engine) ++seen[nic_track(node, engine).thread];
  }
  EXPECT_EQ(seen.size(), 9U);
  EXPECT_EQ(seen.count(0), 0U);
}

TEST(PagesTrace, SaysWhyAFileIsNotWhole) {
  std::FILE* full = std::fopen("/dev/full", "w");
  if (full == nullptr) GTEST_SKIP() << "no /dev/full";
  TraceWriter writer(full);
  const Status status = writer.finish();
  EXPECT_FALSE(status.is_ok());
  EXPECT_NE(std::string(status.message()).find("can't write the timeline"), std::string::npos);
  std::fclose(full);
}

}  // namespace
}  // namespace hocket::pages
