// SPDX-License-Identifier: BSD-3-Clause
#include "platform/machine/memory_domain.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>

namespace hocket::platform {
namespace {

cpu_set_t set_of(std::initializer_list<int> processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int processor : processors) CPU_SET(processor, &set);
  return set;
}

bool reads_as(const char* list, std::initializer_list<int> processors) {
  const std::optional<cpu_set_t> read = parse_processors(list);
  const cpu_set_t expected = set_of(processors);
  return read && CPU_EQUAL(&*read, &expected);
}

TEST(Processors, AreReadAsTheKernelListsThem) {
  EXPECT_TRUE(reads_as("", {}));
  EXPECT_TRUE(reads_as("7", {7}));
  EXPECT_TRUE(reads_as("0-2,5,8-9", {0, 1, 2, 5, 8, 9}));
  EXPECT_TRUE(reads_as("1023-4000000000", {1023})) << "more than a mask holds";
  for (const char* bad : {"x", "1,", "-3", "3-1", "1-", "1 2"}) EXPECT_FALSE(parse_processors(bad).has_value()) << bad;
}

class MemoryDomain : public testing::Test {
 protected:
  MemoryDomain() {
    char name[] = "/tmp/hocket-domains-XXXXXX";
    folder_ = mkdtemp(name);
    add("node0", "0-1,4-5");
    add("node2", "2-3");
    add("node7", "");  // memory without processors
    add("power", "0-5");
  }
  ~MemoryDomain() override { std::filesystem::remove_all(folder_); }
  void add(const char* name, const char* list) const {
    std::filesystem::create_directory(folder_ + "/" + name);
    std::ofstream(folder_ + "/" + name + "/cpulist") << list << '\n';
  }
  std::string folder_;
};

TEST_F(MemoryDomain, IsTheOneThatHoldsAllProcessorsOfTheMask) {
  EXPECT_EQ(memory_domain_of(set_of({1, 4}), folder_), 0u);
  EXPECT_EQ(memory_domain_of(set_of({3}), folder_), 2u);
  EXPECT_FALSE(memory_domain_of(set_of({1, 2}), folder_)) << "in two";
  EXPECT_FALSE(memory_domain_of(set_of({9}), folder_)) << "in none";
  EXPECT_FALSE(memory_domain_of(set_of({}), folder_));
  EXPECT_FALSE(memory_domain_of(set_of({1}), folder_ + "/nowhere"));
}

}  // namespace
}  // namespace hocket::platform
