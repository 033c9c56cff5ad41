// SPDX-License-Identifier: BSD-3-Clause
#include "core/report/call_sites.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <thread>

#include "core/report/callers.h"
#include "core/report/site_table.h"

namespace hocket::interposer {
namespace {

const void* address(uint64_t number) { return reinterpret_cast<const void*>(number); }  // NOLINT

uint64_t calls_of(const std::vector<CallSite>& sites) {
  return std::accumulate(sites.begin(), sites.end(), uint64_t{0},
                         [](uint64_t sum, const CallSite& site) { return sum + site.calls; });
}

TEST(CallSites, AreKeptByPlaceAndCollective) {
  CallSites sites;
  sites.add({address(0x1000), Collective::kBarrier, 1, 10, 4});
  sites.add({address(0x1000), Collective::kBarrier, 1, 30, 0});
  sites.add({address(0x1000), Collective::kReduce, 1, 5, 0});
  sites.add({address(0x7fff12345678), Collective::kReduce, 1, 7, 7});
  const std::vector<CallSite> read = sites.read();
  ASSERT_EQ(read.size(), 3u);
  const auto barrier =
      std::find_if(read.begin(), read.end(), [](const CallSite& s) { return s.collective == Collective::kBarrier; });
  ASSERT_NE(barrier, read.end());
  EXPECT_EQ(barrier->address, address(0x1000));
  EXPECT_EQ(barrier->calls, 2u);
  EXPECT_EQ(barrier->ns, 40u);
  EXPECT_EQ(barrier->waited_ns, 4u);
  EXPECT_TRUE(std::any_of(read.begin(), read.end(),
                          [](const CallSite& s) { return s.address == address(0x7fff12345678) && s.waited_ns == 7; }));
}

TEST(CallSites, WithoutRoomAreCountedTogether) {
  CallSites sites;
  for (uint64_t i = 1; i <= 2 * CallSites::kMost; ++i) sites.add({address(i * 64), Collective::kBarrier, 1, 1, 0});
  sites.add({nullptr, Collective::kBarrier, 1, 1, 0});
  const std::vector<CallSite> read = sites.read();
  ASSERT_EQ(read.size(), CallSites::kMost + 1);
  EXPECT_EQ(read.back().address, nullptr);
  EXPECT_EQ(read.back().calls, CallSites::kMost + 1);
  EXPECT_EQ(calls_of(read), 2 * CallSites::kMost + 1);
}

TEST(CallSites, LoseNoCallOfSeveralThreads) {
  CallSites sites;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      for (uint64_t i = 0; i < 2000; ++i) sites.add({address((1 + i % 100) * 16), Collective::kBarrier, 1, 1, 1});
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sites.read().size(), 100u);
  EXPECT_EQ(calls_of(sites.read()), 8000u);
}

TEST(Callers, KnowTheFilesOfMpis) {
  for (const char* path : {"/x/lib/libmpi.so.40", "/x/y/lib/libmpifort.so.12", "libmpi_mpifh.so.40", "libmpich.so",
                           "/x/libhocket-mpi-mpich.so"})
    EXPECT_TRUE(is_mpis_file(path)) << path;
  for (const char* path : {"/x/libmpi/solver", "solver", "/x/lib/libm.so.6", "MPI.cpython-312.so", ""})
    EXPECT_FALSE(is_mpis_file(path)) << path;
}

TEST(Callers, AreThemselvesWhereTheyBelongToTheProgram) {
  const void* const own = __builtin_return_address(0);
  EXPECT_EQ(caller_in_program(own), own);
  EXPECT_EQ(caller_in_program(nullptr), nullptr);
}

PlacedSite site_at(const char* object, uint64_t offset, uint64_t us) {
  PlacedSite site;
  std::copy_n(object, std::char_traits<char>::length(object), site.object);
  site.offset = offset;
  site.calls = 1;
  site.us = us;
  return site;
}

SiteTable table_of(const std::vector<PlacedSite>& sites) {
  SiteTable table;
  for (const PlacedSite& site : sites) {
    SiteTable one;
    one.places[0] = site;
    one.used = 1;
    merge(table, one);
  }
  return table;
}

TEST(SiteTable, NamesTheFileOfTheProgramAndTheCallBeforeTheAddress) {
  Dl_info info;
  const auto* const here = reinterpret_cast<const char*>(&table_of);
  ASSERT_NE(dladdr(here, &info), 0);
  const CallSite sites[] = {{here + 5, Collective::kReduce, 3, 30000, 20999},
                            {nullptr, Collective::kReduce, 2, 7000, 0}};
  const SiteTable table = place_sites(sites);
  ASSERT_EQ(table.sites().size(), 1u);
  EXPECT_NE(std::string(table.places[0].object).find("interposer_tests"), std::string::npos);
  EXPECT_EQ(table.places[0].object[0], '/');
  EXPECT_EQ(table.places[0].calls, 3u);
  EXPECT_EQ(table.places[0].waited_us, 20u);
  EXPECT_EQ(table.others.calls, 2u);
  EXPECT_EQ(table.others.us, 7u);
}

TEST(SiteTable, AddsWhatIsAtOnePlaceLongestFirst) {
  const SiteTable table = table_of({site_at("a", 1, 5), site_at("b", 1, 6), site_at("a", 1, 4), site_at("a", 2, 1)});
  ASSERT_EQ(table.sites().size(), 3u);
  EXPECT_STREQ(table.places[0].object, "a");
  EXPECT_EQ(table.places[0].us, 9u);
  EXPECT_EQ(table.places[0].calls, 2u);
  EXPECT_STREQ(table.places[1].object, "b");
  EXPECT_EQ(table.places[2].offset, 2u);
}

TEST(SiteTable, KeepsTheLongestAndTheSumOfTheOthers) {
  std::vector<PlacedSite> sites;
  for (uint64_t i = 1; i <= 2 * SiteTable::kMost; ++i) sites.push_back(site_at("a", i, i));
  const SiteTable table = table_of(sites);
  ASSERT_EQ(table.sites().size(), SiteTable::kMost);
  EXPECT_EQ(table.places[0].us, 2 * SiteTable::kMost);
  EXPECT_EQ(table.places[SiteTable::kMost - 1].us, SiteTable::kMost + 1);
  EXPECT_EQ(table.others.us, SiteTable::kMost * (SiteTable::kMost + 1) / 2);
  EXPECT_EQ(table.others.calls, SiteTable::kMost);
}

}  // namespace
}  // namespace hocket::interposer
