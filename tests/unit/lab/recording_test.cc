// SPDX-License-Identifier: BSD-3-Clause
// What a lab's programs tell of packets, as lines.
#include "lab/packets/recording.h"

#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace hocket::lab {
namespace {

using nlohmann::json;

constexpr uint64_t kGroup = 0xab;
constexpr uint64_t kBeganNs = 1000;

MacAddress address_of(int node) { return {2, 0, 0, 0, 0, static_cast<uint8_t>(node)}; }

class Recorded {
 public:
  Recorded()
      : recording_({address_of(0), address_of(1), address_of(2)}, kBeganNs, [this](std::string_view line) {
          EXPECT_TRUE(line.ends_with("\n"));
          lines.push_back(json::parse(line));
        }) {}

  // Of member m, which lives in node m.
  static nic_message message(uint64_t epoch, uint16_t source, uint16_t target) {
    nic_message message = {};
    message.group = kGroup;
    message.epoch = epoch;
    message.source = source;
    message.target = target;
    message.kind = NIC_MESSAGE;
    return message;
  }
  void tell(uint64_t ns, uint32_t link, const nic_message& message, uint32_t hits = 0, bool is_again = false) {
    lab_event event = {};
    event.time_ns = kBeganNs + ns;
    nic_write(&message, message.epoch * 77 + message.source, event.words);
    const MacAddress address = address_of(static_cast<int>(message.source));
    std::memcpy(event.source, address.data(), address.size());
    event.link = static_cast<uint16_t>(link);
    event.hits = hits;
    event.is_again = is_again ? 1 : 0;
    recording_.take(event);
  }
  void sent(uint64_t ns, const nic_message& message, uint32_t hits = 0) {
    tell(ns, lab_link(message.source, LAB_FROM_NODE), message, hits);
  }
  void came(uint64_t ns, uint32_t node, const nic_message& message, uint32_t hits = 0, bool is_again = false) {
    tell(ns, lab_link(node, LAB_TO_NODE), message, hits, is_again);
  }
  // `group`: the number by which the node's engine knows it.
  void rang(uint64_t ns, uint16_t node, uint64_t epoch, uint64_t group = 4) {
    nic_message doorbell = message(epoch, node, 0);
    doorbell.group = group;
    doorbell.kind = 15;
    tell(ns, LAB_DOORBELL, doorbell);
  }
  void settle(uint64_t ns) { recording_.settle(kBeganNs + ns); }
  const std::vector<json>& end() {
    recording_.settle(UINT64_MAX);
    return lines;
  }
  const Recording& recording() const { return recording_; }

  std::vector<json> lines;

 private:
  Recording recording_;
};

constexpr uint32_t hit(lab_hit what) { return 1U << what; }

TEST(Recording, APacketHasItsWay) {
  Recorded recorded;
  const nic_message message = Recorded::message(1, 0, 2);
  recorded.sent(10, message);
  recorded.came(12, 2, message);
  const std::vector<json>& lines = recorded.end();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0]["record"], "packet");
  EXPECT_EQ(lines[0]["ns"], 10);
  EXPECT_EQ(lines[0]["from"], 0);
  EXPECT_EQ(lines[0]["kind"], "message");
  EXPECT_EQ(lines[0]["group"], "00000000000000ab");
  EXPECT_EQ(lines[0]["to"], json::parse(R"([{"node":2,"ns":12,"effects":[],"arrives_ns":[12]}])"));
  EXPECT_EQ(recorded.recording().packets(), 1u);
}

TEST(Recording, APacketThatIsLostArrivesNowhere) {
  Recorded recorded;
  const nic_message at_once = Recorded::message(1, 0, 2), late = Recorded::message(2, 0, 2);
  recorded.sent(10, at_once, hit(LAB_HIT_Loss));
  recorded.sent(20, late);
  recorded.came(22, 2, late, hit(LAB_HIT_Loss));
  const std::vector<json>& lines = recorded.end();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["effects"], json::parse(R"(["loss"])"));
  EXPECT_EQ(lines[0]["to"], json::array());
  EXPECT_EQ(lines[1]["to"][0]["effects"], json::parse(R"(["loss"])"));
  EXPECT_EQ(lines[1]["to"][0]["arrives_ns"], json::array());
}

TEST(Recording, APacketThatIsHeldOrDoubledArrivesWhenItDoes) {
  Recorded recorded;
  const nic_message held = Recorded::message(1, 0, 2), twice = Recorded::message(2, 0, 2);
  recorded.sent(10, held);
  recorded.came(12, 2, held, hit(LAB_HIT_Reorder));
  recorded.sent(20, twice);
  recorded.came(22, 2, twice, hit(LAB_HIT_Duplicate));
  recorded.came(23, 2, twice, 0, true);
  recorded.came(90, 2, held, 0, true);
  const std::vector<json>& lines = recorded.end();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["to"][0]["arrives_ns"], json::parse("[90]"));
  EXPECT_EQ(lines[1]["to"][0]["arrives_ns"], json::parse("[22,23]"));
}

TEST(Recording, TheSamePacketSentAgainHasAWayOfItsOwn) {
  Recorded recorded;
  const nic_message message = Recorded::message(1, 0, 2);
  recorded.sent(10, message);
  recorded.came(11, 2, message, hit(LAB_HIT_Loss));
  recorded.sent(30, message);
  recorded.came(31, 2, message);
  const std::vector<json>& lines = recorded.end();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["to"][0]["ns"], 11);
  EXPECT_EQ(lines[1]["to"][0]["ns"], 31);
}

TEST(Recording, APacketForAllHasAWayToEach) {
  Recorded recorded;
  const nic_message message = Recorded::message(1, 0, NIC_ALL);
  recorded.sent(10, message);
  recorded.came(11, 1, message);
  recorded.came(12, 2, message, hit(LAB_HIT_Loss));
  const std::vector<json>& lines = recorded.end();
  ASSERT_EQ(lines.size(), 1u);
  ASSERT_EQ(lines[0]["to"].size(), 2u);
  EXPECT_EQ(lines[0]["to"][0]["arrives_ns"], json::parse("[11]"));
  EXPECT_EQ(lines[0]["to"][1]["arrives_ns"], json::array());
}

TEST(Recording, APacketOfNobodyComesFromNowhere) {
  Recorded recorded;
  recorded.came(11, 1, Recorded::message(1, 0, 1));
  const std::vector<json>& lines = recorded.end();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(lines[0]["from"].is_null());
}

TEST(Recording, ADoorbellIsOfTheGroupWhoseOperationFollows) {
  Recorded recorded;
  recorded.rang(5, 1, 1);
  recorded.rang(6, 2, 1);
  recorded.sent(10, Recorded::message(1, 1, 2));
  recorded.came(11, 2, Recorded::message(1, 1, 2));
  recorded.rang(15, 1, 9, 5);  // of another group, of which nothing was seen
  const std::vector<json>& lines = recorded.end();
  ASSERT_EQ(lines.size(), 4u);
  for (const size_t line : {0u, 1u}) {
    EXPECT_EQ(lines[line]["record"], "doorbell");
    EXPECT_EQ(lines[line]["node"], line + 1);
    EXPECT_EQ(lines[line]["member"], line + 1);
    EXPECT_EQ(lines[line]["group"], "00000000000000ab");
  }
  EXPECT_TRUE(lines[3]["group"].is_null());
  EXPECT_TRUE(lines[3]["member"].is_null());
  EXPECT_EQ(recorded.recording().doorbells(), 3u);
}

TEST(Recording, IsWrittenAsFarAsItIsSettled) {
  Recorded recorded;
  for (uint64_t epoch = 1; epoch <= 10; ++epoch) recorded.sent(100 * epoch, Recorded::message(epoch, 0, 1));
  recorded.settle(500);
  EXPECT_EQ(recorded.lines.size(), 4u);
  EXPECT_EQ(recorded.end().size(), 10u);
}

}  // namespace
}  // namespace hocket::lab
