// SPDX-License-Identifier: BSD-3-Clause
#include "core/progress/under_way.h"

#include <gtest/gtest.h>

namespace hocket::interposer {
namespace {

// A program that goes on with messages looks all the time, and so keeps the thread from it.
TEST(UnderWay, IsOverSoonAfterTheLastCall) {
  begin_progress({.by = ProgressBy::kChoice, .is_hooked = true});
  Communicator communicator;
  communicator.pending = 1;
  watch(communicator, false);
  for (int look = 0; look < 1000; ++look) advance_in_mpi();
  EXPECT_TRUE(has_under_way());
  communicator.pending = 0;
  int looks = 0;
  while (has_under_way() && looks < 1000) {
    advance_in_mpi();
    ++looks;
  }
  EXPECT_FALSE(has_under_way());
  EXPECT_GT(looks, 8) << "the next call may come soon";
  communicator.pending = 1;
  watch(communicator, false);
  EXPECT_TRUE(has_under_way());
  stop_watching(communicator);
  EXPECT_FALSE(has_under_way());
  end_progress();
}

}  // namespace
}  // namespace hocket::interposer
