// SPDX-License-Identifier: BSD-3-Clause
#include "platform/machine/core_place.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <initializer_list>
#include <string>

#include "platform/machine/processors_folder.h"

namespace hocket::platform {
namespace {

cpu_set_t processors_of(std::initializer_list<int> processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int processor : processors) CPU_SET(processor, &set);
  return set;
}

// Two sockets of two caches each, of two cores of two threads: the threads of core c are processors c and c + 8.
class CorePlaces : public testing::Test {
 protected:
  CorePlaces() {
    for (int processor = 0; processor < 16; ++processor) {
      const int core = processor % 8;
      const int cache = core / 2 * 2, socket = core / 4 * 4;
      write(processor, "topology/package_cpus_list", processor_range(socket, 4) + "," + processor_range(socket + 8, 4));
      write(processor, "cache/index3/shared_cpu_list", processor_range(cache, 2) + "," + processor_range(cache + 8, 2));
      write(processor, "cache/index3/size", "16384K");
    }
  }

  void write(int processor, const std::string& name, const std::string& line) const {
    processors_.write(processor, name, line);
  }
  ProcessorsFolder processors_;
  const std::string& folder_ = processors_.path();
};

TEST_F(CorePlaces, AreOfTheSocketAndTheCacheThatHoldAllProcessors) {
  const CorePlace one = core_place_of(processors_of({7}), folder_);
  EXPECT_EQ(one.cache, 6u);
  EXPECT_EQ(one.socket, 4u);
  const CorePlace both_threads = core_place_of(processors_of({3, 11}), folder_);
  EXPECT_EQ(both_threads.cache, 2u);
  EXPECT_EQ(both_threads.socket, 0u);
  const CorePlace whole_socket = core_place_of(processors_of({4, 5, 6, 7}), folder_);
  EXPECT_FALSE(whole_socket.cache.has_value());
  EXPECT_EQ(whole_socket.socket, 4u);
  const CorePlace unbound = core_place_of(processors_of({0, 1, 2, 3, 4, 5, 6, 7}), folder_);
  EXPECT_FALSE(unbound.cache.has_value());
  EXPECT_FALSE(unbound.socket.has_value());
}

TEST_F(CorePlaces, AreUnknownWhereTheKernelIsSilent) {
  std::filesystem::remove_all(folder_ + "/cpu1/cache");
  write(1, "topology/package_cpus_list", "");
  EXPECT_FALSE(core_place_of(processors_of({1}), folder_).cache.has_value());
  EXPECT_FALSE(core_place_of(processors_of({1}), folder_).socket.has_value());
  EXPECT_FALSE(core_place_of(processors_of({}), folder_).socket.has_value());
  EXPECT_FALSE(core_place_of(processors_of({40}), folder_).socket.has_value());
}

TEST_F(CorePlaces, HaveCoresOfSeveralThreads) {
  write(3, "topology/thread_siblings_list", "3,11");
  write(11, "topology/thread_siblings_list", "3,11");
  EXPECT_EQ(core_of(3, folder_), 3);
  EXPECT_EQ(core_of(11, folder_), 3);
  EXPECT_EQ(core_of(40, folder_), 40) << "the kernel says nothing";
}

TEST_F(CorePlaces, AreCountedAmongTheProcessorsOfAMask) {
  const CacheGroups all = cache_groups_of(processors_of({0, 1, 2, 3, 4, 5, 6, 7}), folder_);
  EXPECT_EQ(all.caches, 4u);
  EXPECT_EQ(all.sockets, 2u);
  EXPECT_EQ(all.cache_kib, 4u * 16384);
  const CacheGroups some = cache_groups_of(processors_of({0, 2, 8}), folder_);
  EXPECT_EQ(some.caches, 2u);
  EXPECT_EQ(some.sockets, 1u);
  const CacheGroups silent = cache_groups_of(processors_of({40}), folder_);
  EXPECT_EQ(silent.caches, 1u);
  EXPECT_EQ(silent.sockets, 1u);
  EXPECT_EQ(silent.cache_kib, 0u);
}

}  // namespace
}  // namespace hocket::platform
