// SPDX-License-Identifier: BSD-3-Clause
#include "platform/waiting/parking.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <thread>
#include <vector>

#include "platform/child_process.h"
#include "platform/waiting/waiting.h"

namespace hocket::platform {
namespace {

// Far longer than the test takes: a sleep that ends by it has missed its wake-up.
constexpr int64_t kForeverNs = 100'000'000'000;

struct Shared {
  ParkingPlace places[8];
  alignas(64) std::atomic<uint32_t> words[8];
  alignas(64) std::atomic<uint32_t> arrived;
};

class SharedMemory {
 public:
  SharedMemory() {
    void* at = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared_ = new (at) Shared;
  }
  ~SharedMemory() { munmap(shared_, sizeof(Shared)); }
  Shared* operator->() { return shared_; }

 private:
  Shared* shared_;
};

// Sleeps at every wait, so that every hand-over risks a lost wake-up. False if one was lost.
bool sleep_until(ParkingPlace& place, const std::atomic<uint32_t>& word, uint32_t value, bool asymmetric) {
  bool woken = true;
  while (woken && word.load(std::memory_order_acquire) < value) {
    place.parked.store(1, std::memory_order_relaxed);
    sleeper_barrier(asymmetric);
    if (word.load(std::memory_order_acquire) < value) woken = park(place, kForeverNs);
    place.parked.store(0, std::memory_order_relaxed);
  }
  return woken;
}

void report(ParkingPlace& place, std::atomic<uint32_t>& word, uint32_t value, bool asymmetric) {
  word.store(value, std::memory_order_release);
  waker_barrier(asymmetric);
  unpark(place);
}

class SleepingRanks : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam() && !register_asymmetric_barrier()) GTEST_SKIP() << "no membarrier here";
  }
};

TEST_P(SleepingRanks, NoWakeUpIsLostBetweenProcesses) {
  constexpr uint32_t kRounds = 20'000;
  const bool asymmetric = GetParam();
  SharedMemory shared;
  const pid_t child = start_child([&] {
    if (asymmetric && !register_asymmetric_barrier()) return 1;
    for (uint32_t round = 1; round <= kRounds; ++round) {
      if (!sleep_until(shared->places[1], shared->words[1], round, asymmetric)) return 2;
      report(shared->places[0], shared->words[0], round, asymmetric);
    }
    return 0;
  });
  for (uint32_t round = 1; round <= kRounds; ++round) {
    report(shared->places[1], shared->words[1], round, asymmetric);
    ASSERT_TRUE(sleep_until(shared->places[0], shared->words[0], round, asymmetric)) << "round " << round;
  }
  EXPECT_EQ(end_of_child(child), 0);
}

TEST_P(SleepingRanks, SeveralWakersOfOneSleeper) {
  constexpr uint32_t kRounds = 3000;
  constexpr uint32_t kWakers = 4;
  const bool asymmetric = GetParam();
  SharedMemory shared;
  std::vector<std::thread> wakers;
  std::atomic<bool> lost{false};
  for (uint32_t waker = 1; waker <= kWakers; ++waker) {
    wakers.emplace_back([&, waker] {
      for (uint32_t round = 1; round <= kRounds; ++round) {
        if (!sleep_until(shared->places[waker], shared->words[waker], round, asymmetric)) lost = true;
        report(shared->places[0], shared->words[0], 0, asymmetric);  // a wake-up for nothing
        shared->arrived.fetch_add(1, std::memory_order_release);
        waker_barrier(asymmetric);
        unpark(shared->places[0]);
      }
    });
  }
  for (uint32_t round = 1; round <= kRounds && !lost; ++round) {
    for (uint32_t waker = 1; waker <= kWakers; ++waker) {
      report(shared->places[waker], shared->words[waker], round, asymmetric);
    }
    ASSERT_TRUE(sleep_until(shared->places[0], shared->arrived, round * kWakers, asymmetric)) << "round " << round;
  }
  for (auto& waker : wakers) waker.join();
  EXPECT_FALSE(lost);
}

INSTANTIATE_TEST_SUITE_P(, SleepingRanks, testing::Bool(),
                         [](const auto& info) { return info.param ? "WithMembarrier" : "WithFences"; });

TEST(Parking, TimesOutWhenNobodyComes) {
  ParkingPlace place;
  place.parked = 1;
  EXPECT_FALSE(park(place, 1'000'000));
  EXPECT_FALSE(park(place, -5));
}

TEST(Parking, DoesNotSleepUnlessAnnounced) {
  ParkingPlace place;
  EXPECT_TRUE(park(place, kForeverNs));
  unpark(place);
  EXPECT_EQ(place.parked.load(), 0U);
}

TEST(Parking, UnparkEndsTheAnnouncement) {
  ParkingPlace place;
  place.parked = 1;
  unpark(place);
  EXPECT_TRUE(park(place, kForeverNs));
}

}  // namespace
}  // namespace hocket::platform
