// SPDX-License-Identifier: BSD-3-Clause
#include "tune/written/network.h"

#include <gtest/gtest.h>

#include <sstream>

#include "simulation/network/network_file.h"
#include "tools/unlike_parameters.h"

namespace hocket::command {
namespace {

using schedule::Collective;

MeasuredNetwork measured(const simulation::CostParameters& parameters) {
  MeasuredNetwork network;
  network.machine = {"a processor", "Linux", 2};
  network.mpi = "some MPI";
  network.fit.parameters = parameters;
  network.fit.measurements = 7;
  network.fit.off_by = 1.25;
  return network;
}

// What stands behind the number of that name; "": the name is missing.
std::string source(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(name + " ")) return line.substr(line.find("# ") + 2);
  return "";
}

TEST(TuneNetwork, HasEveryParameterThatWasFound) {
  MeasuredNetwork network = measured(all_unlike_the_defaults());
  network.has_nodes = true;
  const Result<simulation::Network> read = simulation::parse_network(network_text(network), "site.network");
  ASSERT_TRUE(read.is_ok()) << read.status().message();
  EXPECT_EQ(read.value().costs, network.fit.parameters);
  EXPECT_EQ(read.value().more, simulation::NetworkParameters());
}

TEST(TuneNetwork, SaysOfEachNumberWhereItIsFrom) {
  simulation::CostParameters parameters;
  parameters.memory_us_per_kib = 0.123456;
  parameters.memory_after_kib = 32768;
  MeasuredNetwork network = measured(parameters);
  Measurement barrier;
  barrier.ranks = 4;
  barrier.oversubscribed = true;
  network.measurements = {barrier};
  const std::string text = network_text(network);
  EXPECT_NE(text.find("memory_us_per_kib 0.123 "), std::string::npos) << text;
  EXPECT_EQ(source(text, "alpha_us"), "fitted to 7 times of collectives, off by a factor of 1.25 in the mean");
  EXPECT_EQ(source(text, "switch_us"), source(text, "alpha_us"));
  EXPECT_NE(source(text, "beta_us_per_kib").find("the default"), std::string::npos) << "barriers copy nothing";
  EXPECT_NE(source(text, "gamma_us_per_kib").find("the default"), std::string::npos);
  EXPECT_EQ(source(text, "memory_us_per_kib"), "measured between cores");
  EXPECT_EQ(source(text, "hot_line_us"), "") << "nobody knows it";
  EXPECT_EQ(source(text, "wire_alpha_us"), "") << "of one node";
  EXPECT_NE(text.find("Nothing between nodes was measured"), std::string::npos) << text;

  Measurement reduced;
  reduced.collective = Collective::kAllreduce;
  reduced.bytes = 8;
  network.measurements = {reduced};
  const std::string of_one = network_text(network);
  EXPECT_EQ(source(of_one, "gamma_us_per_kib"), source(of_one, "alpha_us"));
  EXPECT_EQ(source(of_one, "beta_us_per_kib"), source(of_one, "alpha_us"));
  EXPECT_NE(source(of_one, "switch_us").find("the default"), std::string::npos) << "nobody shared a core";
}

TEST(TuneNetwork, NumbersOfANodeThatComeFromATableSayFromWhich) {
  MeasuredNetwork network = measured({});
  network.fitted_elsewhere = "shipped";
  network.has_nodes = true;
  const std::string text = network_text(network);
  EXPECT_EQ(source(text, "alpha_us"), "of the table `shipped`, not fitted here");
  EXPECT_EQ(source(text, "wire_alpha_us"), "measured between nodes, as hocket probe does");
  EXPECT_NE(source(text, "one_machine"), "");
  EXPECT_EQ(source(text, "wire_dma"), "");
  EXPECT_NE(text.find("# Messages between nodes: some MPI\n"), std::string::npos) << text;
}

TEST(TuneNetwork, IsWrittenWhereSimulationsFindIt) {
  EXPECT_TRUE(check_network_path("").is_ok());
  for (const char* path : {"site.table", ".network", "network"})
    EXPECT_NE(std::string(check_network_path(path).message()).find("ends in .network"), std::string::npos) << path;
}

}  // namespace
}  // namespace hocket::command
