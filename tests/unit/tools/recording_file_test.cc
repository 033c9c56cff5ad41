// SPDX-License-Identifier: BSD-3-Clause
// Recordings of labs that are read back, whatever somebody has made of the file.
#include "replay/recording_file.h"

#include <gtest/gtest.h>

#include <string>

#include "replay/engine_tables.h"

namespace hocket::replay {
namespace {

const std::string kHeader =
    R"({"record":"header","format":"hocket-recording 1","has_doorbells":true,"collective":"barrier",)"
    R"("schedule":"dissemination","engines":"nic"})"
    "\n";
const std::string kDoorbell =
    R"({"record":"doorbell","ns":7,"node":3,"group":"00000000000000ab","member":0,"epoch":1,"program":0,"root":0,)"
    R"("words":0,"operation":0,"type":0,"carried":0})"
    "\n";
const std::string kPacket =
    R"({"record":"packet","ns":9,"from":3,"kind":"message","group":"00000000000000ab","epoch":1,"program":0,)"
    R"("source":0,"target":1,"send":2,"bit":3,"root":0,"words":0,"operation":0,"type":0,"carried":0,"effects":[],)"
    R"("to":[{"node":1,"ns":10,"effects":["duplicate"],"arrives_ns":[10,11]}]})"
    "\n";
const std::string kEnd = R"({"record":"end","ns":20,"packets":1,"doorbells":1,"missed":0,"is_complete":true})"
                         "\n";

// With the first place where it stands replaced.
std::string changed(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::string refusal_of(const std::string& text) {
  const Result<RecordingFile> file = parse_recording(text, "run.jsonl");
  return file.is_ok() ? "" : file.status().message();
}

RecordingFile parsed(const std::string& text) {
  Result<RecordingFile> file = parse_recording(text, "run.jsonl");
  EXPECT_TRUE(file.is_ok()) << file.status().message();
  return file.is_ok() ? file.take() : RecordingFile{};
}

TEST(RecordingFile, HasWhatWasWritten) {
  const RecordingFile file = parsed(kHeader + kDoorbell + kPacket + kEnd);
  EXPECT_EQ(file.collective, "barrier");
  EXPECT_EQ(file.schedule, "dissemination");
  EXPECT_EQ(file.engines, "nic");
  EXPECT_TRUE(file.has_doorbells);
  EXPECT_TRUE(file.is_complete);
  ASSERT_EQ(file.groups.size(), 1u);
  const auto& [name, group] = *file.groups.begin();
  EXPECT_EQ(name, "00000000000000ab");
  EXPECT_EQ(group.members, 2u);
  EXPECT_EQ(group.twice, 1u);
  ASSERT_EQ(group.recording.doorbells.size(), 1u);
  EXPECT_EQ(group.recording.doorbells[0].ns, 7u);
  ASSERT_EQ(group.recording.packets.size(), 1u);
  const simulation::RecordedPacket& packet = group.recording.packets[0];
  EXPECT_EQ(packet.message.group, 0xabu);
  EXPECT_EQ(packet.message.kind, NIC_MESSAGE);
  EXPECT_EQ(packet.message.send, 2);
  EXPECT_EQ(packet.message.bit, 3);
  ASSERT_EQ(packet.arrivals.size(), 1u);
  EXPECT_EQ(packet.arrivals[0].member, 1);
  EXPECT_EQ(packet.arrivals[0].ns, 10u);
}

TEST(RecordingFile, APacketThatWasLostOrSpoiltReachesNobody) {
  for (const auto& [from, to] : {std::pair("[10,11]", "[]"), std::pair(R"(["duplicate"])", R"(["corrupt"])"),
                                 std::pair(R"("effects":[])", R"("effects":["corrupt"])")}) {
    const RecordingFile file = parsed(kHeader + changed(kPacket, from, to));
    EXPECT_TRUE(file.groups.begin()->second.recording.packets[0].arrivals.empty()) << to;
  }
}

TEST(RecordingFile, APacketForAllReachesMembersByTheirNodes) {
  std::string all = changed(kPacket, R"("target":1)", R"("target":65535)");
  all = changed(all, R"("to":[)", R"("to":[{"node":8,"ns":10,"effects":[],"arrives_ns":[12]},)");
  const std::string later = changed(changed(kPacket, R"("from":3)", R"("from":1)"), R"("source":0)", R"("source":4)");
  const RecordingFile file = parsed(kHeader + all + later);
  const auto& arrivals = file.groups.begin()->second.recording.packets[0].arrivals;
  // Nobody knows who lives in node 8.
  ASSERT_EQ(arrivals.size(), 1u);
  EXPECT_EQ(arrivals[0].member, 4);
}

TEST(RecordingFile, CountsWhatBelongsToNobody) {
  const RecordingFile file = parsed(
      kHeader + changed(changed(kDoorbell, R"("00000000000000ab")", "null"), R"("member":0)", R"("member":null)") +
      changed(kPacket, R"("from":3)", R"("from":null)") + changed(kPacket, R"("message")", "null"));
  EXPECT_TRUE(file.groups.empty());
  EXPECT_EQ(file.unowned, 1u);
  EXPECT_EQ(file.strangers, 2u);
}

TEST(RecordingFile, OfARecorderThatWasEndedIsNotComplete) {
  EXPECT_FALSE(parsed(kHeader + kDoorbell).is_complete);
  EXPECT_EQ(parsed(kHeader + kDoorbell + kPacket.substr(0, 40)).groups.begin()->second.recording.packets.size(), 0u);
  const RecordingFile lossy = parsed(kHeader + changed(changed(kEnd, "\"missed\":0", "\"missed\":4"), "true", "false"));
  EXPECT_FALSE(lossy.is_complete);
  EXPECT_EQ(lossy.missed, 4u);
}

TEST(RecordingFile, RefusesWhatIsNoneByItsLine) {
  const struct {
    std::string text, says;
  } kBad[] = {
      {"", "run.jsonl is no recording: it has no header"},
      {"\n\n", "it has no header"},
      {"nonsense\n", "run.jsonl:1 is no line of a recording: it is no JSON"},
      {"nonsense", "it is no JSON"},
      {"[1]\n", "it is no JSON object"},
      {"{}\n", "`record` must be a text"},
      {"{\"record\":7}\n", "`record` must be a text"},
      {kDoorbell, "the header must come first"},
      {kHeader + kHeader, "run.jsonl:2 is no line of a recording: there is a header already"},
      {kHeader + kEnd + kPacket, "something behind the end"},
      {kHeader + "{\"record\":\"tail\"}\n", "none of header, doorbell, packet and end: tail"},
      {changed(kHeader, "recording 1", "recording 2"), "another build of hocket has written it"},
      {changed(kHeader, "true", "1"), "`has_doorbells` must be true or false"},
      {changed(kHeader, "\"nic\"", "7"), "`engines` must be a text"},
      {kHeader + "half a line\n", "run.jsonl:2 is no line of a recording: it is no JSON"},
  };
  for (const auto& [text, says] : kBad)
    EXPECT_NE(refusal_of(text).find(says), std::string::npos) << text << refusal_of(text);
}

TEST(RecordingFile, RefusesValuesThatNoFieldHas) {
  const struct {
    std::string from, to, says;
  } kBad[] = {
      {"\"ns\":9", "\"ns\":-1", "`ns` must be a whole number"},
      {"\"ns\":9", "\"ns\":1.5", "`ns` must be a whole number"},
      {"\"ns\":9", "\"ns\":1e400", "it is no JSON"},
      {"\"ns\":9,", "", "`ns` must be a whole number"},
      {"\"source\":0", "\"source\":65536", "`source` must be a whole number up to 65535"},
      {"\"source\":0", "\"source\":\"0\"", "`source` must be a whole number up to 65535"},
      {"\"program\":0", "\"program\":256", "`program` must be a whole number up to 255"},
      {"\"operation\":0", "\"operation\":16", "`operation` must be a whole number up to 15"},
      {"\"message\"", "\"gossip\"", "`kind` is none of a packet's: gossip"},
      {"\"message\"", "\"\"", "`kind` is none of a packet's"},
      {"\"00000000000000ab\"", "\"ab\"", "`group` must have 16 digits"},
      {"\"00000000000000ab\"", "\"00000000000000AB\"", "`group` must have 16 digits"},
      {"\"effects\":[]", "\"effects\":{}", "`effects` must be a list"},
      {"\"to\":[", "\"to\":[7,", "`node` must be a whole number"},
      {"[10,11]", "[10,\"x\"]", "`arrives_ns` must have whole numbers"},
      {"[10,11]", "10", "`arrives_ns` must be a list"},
  };
  for (const auto& [from, to, says] : kBad) {
    const std::string refusal = refusal_of(kHeader + changed(kPacket, from, to));
    EXPECT_NE(refusal.find(says), std::string::npos) << to << ": " << refusal;
  }
  EXPECT_NE(refusal_of(kHeader + changed(kDoorbell, "\"member\":0", "\"member\":null")), "");
  EXPECT_NE(refusal_of(kHeader + changed(kEnd, "\"missed\":0", "\"missed\":null")), "");
}

TEST(RecordingFile, CannotBeReadWhereThereIsNone) {
  const Result<RecordingFile> file = read_recording("/nowhere/run.jsonl");
  ASSERT_FALSE(file.is_ok());
  EXPECT_NE(std::string(file.status().message()).find("can't read /nowhere/run.jsonl"), std::string::npos);
}

TEST(EngineTables, AreOfEachProgramAllMembersParts) {
  const Result<EngineTables> barrier = make_tables(schedule::Collective::kBarrier, "dissemination", "nic-direct", 5);
  ASSERT_TRUE(barrier.is_ok()) << barrier.status().message();
  ASSERT_EQ(barrier.value().collectives.size(), 1u);
  EXPECT_EQ(barrier.value().collectives[0].size(), 5u);
  EXPECT_TRUE(barrier.value().synchronizing.empty());
  const Result<EngineTables> reduce = make_tables(schedule::Collective::kReduce, "tree_mm/2", "nic", 4);
  ASSERT_TRUE(reduce.is_ok()) << reduce.status().message();
  EXPECT_EQ(reduce.value().collectives.size(), 2u);
  EXPECT_EQ(reduce.value().synchronizing, (std::vector<uint8_t>{1, 1}));
}

TEST(EngineTables, AreRefusedOfWhatEnginesCannotDo) {
  const auto refusal = [](schedule::Collective collective, const char* schedule, const char* engines) {
    const Result<EngineTables> tables = make_tables(collective, schedule, engines, 4);
    return std::string(tables.is_ok() ? "" : tables.status().message());
  };
  using enum schedule::Collective;
  EXPECT_NE(refusal(kBarrier, "dissemination", "agent").find("engines `agent`"), std::string::npos);
  EXPECT_NE(refusal(kBarrier, "dissemination", "").find("engines ``"), std::string::npos);
  EXPECT_NE(refusal(kBarrier, "nonsense", "nic").find("nonsense"), std::string::npos);
  EXPECT_NE(refusal(kBarrier, "", "nic"), "");
  EXPECT_NE(refusal(kReduce, "parents/0.0.1", "nic").find("is of 3 ranks, and the recording of 4"), std::string::npos);
}

}  // namespace
}  // namespace hocket::replay
