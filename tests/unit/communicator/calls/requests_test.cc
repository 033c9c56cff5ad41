// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/calls/requests.h"

#include <string>
#include <utility>

#include "communicator/pair.h"

namespace hocket::communicator {
namespace {

class Requests : public Pair {
 protected:
  void SetUp() override {
    Pair::SetUp();
    for (uint32_t i = 0; i < 2; ++i)
      planners_[i] = std::make_unique<Planner>(Planner::Place{i, 2, nullptr, nullptr}, false,
                                               engines::shared_memory::kSlotStagingBytes, selection::Table::shipped());
  }
  // A barrier is started.
  Request* start(uint32_t of) {
    One& one = rank(of);
    Result<std::shared_ptr<const Prepared>> prepared = planners_[of]->prepare({});
    EXPECT_TRUE(prepared.is_ok());
    auto request = std::make_unique<Request>();
    request->track = one.requests->next_track();
    EXPECT_TRUE(one.tracks->open(request->track).is_ok());
    const Prepared& programs = *prepared.value();
    request->call.start(request->arguments, programs, prepared.take());
    return one.requests->push(std::move(request));
  }
  std::unique_ptr<Planner> planners_[2];
};

TEST_F(Requests, EndWhenTheOthersHaveCome) {
  Request* const first = start(0);
  Request* const second = start(0);
  EXPECT_NE(first->track, second->track) << "tracks take turns";
  rank(0).requests->advance();
  EXPECT_FALSE(first->done);
  EXPECT_EQ(rank(0).requests->running(), 2u);
  Request* const other = start(1);
  for (int look = 0; look < 10; ++look)
    for (uint32_t i = 0; i < 2; ++i) rank(i).requests->advance();
  EXPECT_TRUE(first->done);
  EXPECT_FALSE(second->done);
  EXPECT_EQ(rank(0).requests->running(), 1u);
  EXPECT_EQ(rank(0).requests->unretired(), 2u);
  EXPECT_TRUE(rank(0).requests->retire(first).is_ok());
  EXPECT_TRUE(rank(1).requests->retire(other).is_ok());
  EXPECT_EQ(rank(0).requests->unretired(), 1u);
  (void)rank(0).failure->fail(Status(Code::kSystem, "over"));
  EXPECT_TRUE(rank(0).requests->advance_beside().is_ok()) << "it was broken before";
  EXPECT_TRUE(second->done);
  const Status status = rank(0).requests->retire(second);
  EXPECT_EQ(status.code(), Code::kBroken);
  EXPECT_STREQ(status.message(), "over");
}

}  // namespace
}  // namespace hocket::communicator
