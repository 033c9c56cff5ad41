// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/network/network_file.h"

#include <gtest/gtest.h>

#include <sstream>

namespace hocket::simulation {
namespace {

TEST(NetworkFile, ThoseThatAreBuiltInAreWholeAndSayWhereEachNumberIsFrom) {
  ASSERT_GE(kBuiltInNetworks.size(), 13u);
  for (const BuiltInNetwork& network : kBuiltInNetworks) {
    const Result<Network> parsed = find_network(std::string(network.name));
    ASSERT_TRUE(parsed.is_ok()) << parsed.status().message();
    EXPECT_EQ(parsed.value().name, network.name);
    std::istringstream lines{std::string(network.text)};
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
      if (number == 1 || line.empty() || line[0] == '#' || line.starts_with("like ")) continue;
      const size_t mark = line.find('#');
      ASSERT_NE(mark, std::string::npos) << network.name << ":" << number << ": " << line;
      EXPECT_GT(line.size(), mark + 5) << network.name << ":" << number;
    }
  }
}

TEST(NetworkFile, TakesNumbersOfBothKindsAndThoseOfAnother) {
  const Result<Network> own = parse_network(
      "hocket-network 1\n# ours\nlike ethernet-10g\n\nwire_alpha_us 14.5 # measured\nmulticast_loss 0.25\n"
      "leaf_nodes 2K\n",
      "some/where/ours.network");
  ASSERT_TRUE(own.is_ok()) << own.status().message();
  const Network other = find_network("ethernet-10g").take();
  EXPECT_EQ(own.value().name, "ours");
  EXPECT_EQ(own.value().costs.wire_alpha_us, 14.5);
  EXPECT_EQ(own.value().costs.wire_overhead_us, other.costs.wire_overhead_us);
  EXPECT_EQ(own.value().more.multicast_loss, 0.25);
  EXPECT_EQ(own.value().more.leaf_nodes, 2048u);
}

TEST(NetworkFile, WritesWhatItReadsAsTheSameNetwork) {
  for (const BuiltInNetwork& network : kBuiltInNetworks) {
    const Network first = find_network(std::string(network.name)).take();
    const std::string text = network_to_text(
        first, "two\nlines", [](std::string_view name) { return name == "cores" ? "counted" : std::string(); });
    EXPECT_NE(text.find("\n# two\n# lines\ncores "), std::string::npos) << text;
    EXPECT_NE(text.find(" # counted\n"), std::string::npos) << text;
    const Result<Network> again = parse_network(text, std::string(network.name) + ".network");
    ASSERT_TRUE(again.is_ok()) << again.status().message() << "\n" << text;
    EXPECT_EQ(again.value().costs, first.costs) << text;
    EXPECT_EQ(again.value().more, first.more) << text;
  }
}

TEST(NetworkFile, NumbersAreWrittenAsTheyAreRead) {
  Network network;
  network.name = "n";
  network.costs.wire_pio_bytes = 100000;
  network.more.multicast_bytes = 1000000;
  network.more.wire_receive_more_us = -0.25;
  const Result<Network> read =
      parse_network(network_to_text(network, "n", [](std::string_view) { return std::string(); }), "n");
  ASSERT_TRUE(read.is_ok()) << read.status().message();
  EXPECT_TRUE(read.value().costs == network.costs && read.value().more == network.more);
}

TEST(NetworkFile, RefusesWhatItCantUnderstandAndSaysWhere) {
  const auto refusal = [](const std::string& text) {
    const Result<Network> parsed = parse_network(text, "n.network");
    return parsed.is_ok() ? "taken" : std::string(parsed.status().message());
  };
  const std::string head = "hocket-network 1\n";
  EXPECT_NE(refusal("").find("begins with the line `hocket-network 1`"), std::string::npos);
  EXPECT_NE(refusal("hocket-table 1\n").find("n.network:1: "), std::string::npos);
  EXPECT_NE(refusal(head + "wire_alfa_us 3\n").find("did you mean `wire_alpha_us`"), std::string::npos);
  EXPECT_NE(refusal(head + "loss 7\n").find("loss is a number from 0 to 1, not `7`"), std::string::npos);
  EXPECT_NE(refusal(head + "wire_alpha_us 2e7\n").find("a number from 0 to 1e+07, not `2e7`"), std::string::npos);
  EXPECT_NE(refusal(head + "wire_crowding 2e4\n").find("a number from 0 to 10000"), std::string::npos);
  EXPECT_NE(refusal(head + "wire_alpha_us -3\n").find("not `-3`"), std::string::npos);
  EXPECT_NE(refusal(head + "wire_alpha_us nan\n").find("not `nan`"), std::string::npos);
  EXPECT_NE(refusal(head + "wire_alpha_us 3us\n").find("not `3us`"), std::string::npos);
  EXPECT_NE(refusal(head + "cores 0\n").find("n.network:2: cores"), std::string::npos);
  EXPECT_NE(refusal(head + "cores\n").find("here stands `cores`"), std::string::npos);
  EXPECT_NE(refusal(head + "loss 0\nloss 0\n").find("n.network:3: `loss` stands there twice"), std::string::npos);
  EXPECT_NE(refusal(head + "loss 0\nlike elan3\n").find("stands before all numbers"), std::string::npos);
  EXPECT_NE(refusal(head + "ranks_are_bound 1\n").find("goes with one_machine 1"), std::string::npos);
  EXPECT_NE(refusal(head + "nic_on_ringing_core 1\none_machine 1\n").find("goes with ranks_are_bound 1"),
            std::string::npos);
  EXPECT_NE(refusal(head + "like n\n").find("no other network"), std::string::npos);
  EXPECT_NE(std::string(find_network("lanai").status().message()).find("there are "), std::string::npos);
  EXPECT_NE(std::string(find_network("/no/where").status().message()).find("/no/where"), std::string::npos);
}

}  // namespace
}  // namespace hocket::simulation
