// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/attention.h"

#include <gtest/gtest.h>

namespace hocket::communicator {
namespace {

constexpr int64_t kUs = 1000;
constexpr int64_t kMs = 1000 * kUs;

TEST(Attention, IsCalledForWhileThereIsAReason) {
  std::atomic<uint64_t> reasons{0};
  EXPECT_FALSE(Attention({}).is_called_for());
  Attention attention({.reasons = &reasons});
  EXPECT_FALSE(attention.is_called_for());
  reasons = 1;
  EXPECT_TRUE(attention.is_called_for());
  reasons = 0;
  EXPECT_FALSE(attention.is_called_for());
}

// A wait of looks that take so long each, one after the other, for so long.
void look(Attention& attention, int64_t& now_ns, int64_t took_ns, int64_t until_ns) {
  while (now_ns < until_ns) {
    attention.note(now_ns, now_ns + took_ns);
    now_ns += took_ns;
  }
}

TEST(Attention, LetsWhoHasSeenNothingComeSleep) {
  Attention attention({});
  int64_t now_ns = 5 * kMs;
  attention.start(now_ns);
  EXPECT_FALSE(attention.may_sleep());
  look(attention, now_ns, kUs, now_ns + Attention::kAwakeNs + kMs);
  EXPECT_TRUE(attention.may_sleep());
}

void look_twice(Attention& attention, int64_t& now_ns, int64_t took_ns) {
  for (int i = 0; i < 2; ++i) {
    attention.note(now_ns, now_ns + took_ns);
    now_ns += took_ns;
  }
}

TEST(Attention, StaysAwakeAfterLooksThatTookLonger) {
  Attention attention({});
  int64_t now_ns = 5 * kMs;
  attention.start(now_ns);
  look(attention, now_ns, kUs, now_ns + Attention::kAwakeNs + kMs);
  look_twice(attention, now_ns, 10 * kUs);
  EXPECT_FALSE(attention.may_sleep());
  look(attention, now_ns, kUs, now_ns + Attention::kAwakeNs - kUs);
  EXPECT_FALSE(attention.may_sleep());
  look(attention, now_ns, kUs, now_ns + 2 * kUs);
  EXPECT_TRUE(attention.may_sleep());
}

// The kernel's tick comes every millisecond at most, and the first look after a sleep is slow.
TEST(Attention, IsNotKeptAwakeByInterruptionsAndSleeps) {
  Attention attention({});
  int64_t now_ns = 5 * kMs;
  attention.start(now_ns);
  const int64_t end_ns = now_ns + Attention::kAwakeNs + 10 * kMs;
  while (now_ns < end_ns) {
    look(attention, now_ns, kUs, now_ns + kMs);
    attention.note(now_ns, now_ns + 10 * kUs);
    now_ns += 10 * kUs;
  }
  EXPECT_TRUE(attention.may_sleep());
  for (int i = 0; i < 100; ++i) {
    now_ns += Attention::kPollPauseNs;
    attention.has_slept();
    attention.note(now_ns, now_ns + 10 * kUs);
    now_ns += 10 * kUs;
  }
  EXPECT_TRUE(attention.may_sleep());
}

TEST(Attention, KeepsTheCoreOnlyWhereTheLibrarySpins) {
  for (const bool spins : {false, true}) {
    Attention attention({.library_spins = spins});
    int64_t now_ns = 5 * kMs;
    attention.start(now_ns);
    look(attention, now_ns, kUs, now_ns + kMs);
    EXPECT_FALSE(attention.keeps_core()) << spins;
    look_twice(attention, now_ns, 10 * kUs);  // something has come
    EXPECT_EQ(attention.keeps_core(), spins);
  }
}

TEST(Attention, KeepsTheCoreAsLongAsItWasGivenAway) {
  Attention attention({.library_spins = true});
  int64_t now_ns = 5 * kMs;
  attention.start(now_ns);
  look(attention, now_ns, kUs, now_ns + kMs);
  now_ns += 3 * kMs;  // away
  const int64_t back_ns = now_ns;
  look(attention, now_ns, kUs, back_ns + 2 * kMs);
  EXPECT_TRUE(attention.keeps_core());
  look(attention, now_ns, kUs, back_ns + 4 * kMs);
  EXPECT_FALSE(attention.keeps_core());
}

}  // namespace
}  // namespace hocket::communicator
