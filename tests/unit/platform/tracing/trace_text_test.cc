// SPDX-License-Identifier: BSD-3-Clause
#include "platform/tracing/trace_text.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace hocket::platform {
namespace {

nlohmann::json parsed(std::string lines) {
  lines.erase(lines.rfind(','));
  return nlohmann::json::parse("[" + lines + "]");
}

TraceEvent wait_event(uint32_t late, uint32_t waits) {
  TraceEvent event;
  event.kind = TraceKind::kWaitForRank;
  event.began_ns = 1'000'000;
  event.ended_ns = 3'000'007;
  event.track = waits;
  event.other = late;
  event.bytes = 1;
  return event;
}

TEST(TraceText, TellsWhatACallWas) {
  TraceEvent event;
  event.name = "MPI_Bcast";
  event.algorithm = "tree";
  event.began_ns = 2'000'001;
  event.ended_ns = 2'003'004;
  event.bytes = uint64_t{1} << 40;
  event.number = 17;
  event.communicator = uint64_t{3} << 32 | 5;
  event.root = 2;
  event.track = 4;
  std::string lines;
  append_event(lines, event, 0, {77, 1'000});
  const nlohmann::json slice = parsed(lines)[0];
  EXPECT_EQ(slice["name"], "MPI_Bcast");
  EXPECT_EQ(slice["ph"], "X");
  EXPECT_DOUBLE_EQ(slice["ts"], 2001.001);
  EXPECT_DOUBLE_EQ(slice["dur"], 3.003);
  EXPECT_EQ(slice["pid"], 77);
  EXPECT_EQ(slice["tid"], 5) << "none is 0, which viewers take for the idle one";
  EXPECT_EQ(slice["args"]["algorithm"], "tree");
  EXPECT_EQ(slice["args"]["engine"], "shared memory");
  EXPECT_EQ(slice["args"]["bytes"], uint64_t{1} << 40);
  EXPECT_EQ(slice["args"]["call"], 17);
  EXPECT_EQ(slice["args"]["communicator"], "3.5");
  EXPECT_EQ(slice["args"]["root"], 2);
  EXPECT_FALSE(slice["args"].contains("communicator name"));
}

TEST(TraceText, TellsWhatACommunicatorIsCalled) {
  const std::vector<std::string> names{"rows", "\"columns\" \xc3\xa4 \xff\xe2\x82"};
  for (const TraceKind kind : {TraceKind::kCall, TraceKind::kStarted}) {
    TraceEvent event;
    event.kind = kind;
    event.communicator_name = 2;
    std::string lines;
    append_event(lines, event, 0, {1, 0, names});
    EXPECT_EQ(parsed(lines)[0]["args"]["communicator name"], "\"columns\" \xc3\xa4 ???");
    event.communicator_name = 3;
    lines.clear();
    append_event(lines, event, 0, {1, 0, names});
    EXPECT_FALSE(parsed(lines)[0]["args"].contains("communicator name"));
  }
}

TEST(TraceText, ArrowsGoFromTheLateRankToTheOneThatWaits) {
  std::string lines;
  append_event(lines, wait_event(3, 1), 0, {9, 0});
  const nlohmann::json all = parsed(lines);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0]["name"], "wait for rank 3");
  EXPECT_EQ(all[1]["ph"], "s");
  EXPECT_EQ(all[1]["tid"], 4);
  EXPECT_EQ(all[2]["ph"], "f");
  EXPECT_EQ(all[2]["tid"], 2);
  EXPECT_EQ(all[2]["bp"], "e");
  EXPECT_EQ(all[1]["id"], all[2]["id"]);
  EXPECT_EQ(all[1]["ts"], all[2]["ts"]);
  EXPECT_DOUBLE_EQ(all[1]["ts"], 3000.007) << "where the late rank's call begins";
}

TEST(TraceText, EachArrowHasAnIdOfItsOwn) {
  std::string lines;
  for (uint32_t node = 1; node < 4; ++node)
    for (uint32_t waits = 0; waits < 8; ++waits)
      for (uint64_t number = 0; number < 40; ++number) append_event(lines, wait_event(9, waits), number, {node, 0});
  std::map<std::string, int> ends;
  for (const auto& event : parsed(lines))
    if (event.contains("id")) ++ends[event["id"].get<std::string>()];
  EXPECT_EQ(ends.size(), 3u * 8u * 40u);
  for (const auto& [id, count] : ends) EXPECT_EQ(count, 2) << id;
}

// Times are floating-point numbers to viewers.
TEST(TraceText, PartsEndBeforeTheNextBegins) {
  TraceEvent first, next;
  first.kind = next.kind = TraceKind::kMove;
  first.began_ns = 1'234'567'891;
  first.ended_ns = next.began_ns = 1'234'567'999;
  next.ended_ns = next.began_ns + 1;
  std::string lines;
  append_event(lines, first, 0, {1, -1'234'567'900});
  append_event(lines, next, 1, {1, -1'234'567'900});
  const nlohmann::json all = parsed(lines);
  EXPECT_DOUBLE_EQ(all[0]["ts"], -0.009);
  EXPECT_DOUBLE_EQ(all[1]["ts"], 0.099);
  EXPECT_LT(all[0]["ts"].get<double>() + all[0]["dur"].get<double>(), all[1]["ts"].get<double>());
  EXPECT_GE(all[1]["dur"].get<double>(), 0);
}

TEST(TraceText, NamesWhatAnyHostIsCalled) {
  std::string lines;
  append_node_name(lines, "a \"host\"\\\n", {1, 0});
  append_track_name(lines, 3 + 2 * kTracksApart, {1, 0});
  append_dropped(lines, 12, 5'000, 3, {1, 0});
  const nlohmann::json all = parsed(lines);
  EXPECT_EQ(all[0]["args"]["name"], "a \"host\"\\ ");
  EXPECT_EQ(all[1]["args"]["name"], "rank 3, thread 3");
  EXPECT_EQ(all[3]["args"]["dropped"], 12);
}

}  // namespace
}  // namespace hocket::platform
