// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/calls/requests.h"

#include <atomic>
#include <string>
#include <thread>
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
  // One that stays, on a track of its own; not started yet.
  std::unique_ptr<Request> keep(uint32_t of, uint32_t track) {
    auto request = std::make_unique<Request>();
    request->is_kept = true;
    request->own_track = request->track = track;
    EXPECT_TRUE(rank(of).tracks->open(track).is_ok());
    Result<std::shared_ptr<const Prepared>> prepared = planners_[of]->prepare({});
    EXPECT_TRUE(prepared.is_ok());
    request->plan = prepared.take();
    return request;
  }
  void start_again(uint32_t of, Request& request) {
    request.done = false;
    request.call.start(request.arguments, *request.plan, request.plan);
    rank(of).requests->push(std::unique_ptr<Request>(&request));
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

TEST_F(Requests, ThatAreKeptMayBeStartedInAnyOrderAgainAndAgain) {
  const std::unique_ptr<Request> first[2] = {keep(0, 1), keep(1, 1)}, second[2] = {keep(0, 2), keep(1, 2)};
  for (int round = 0; round < 3; ++round) {
    start_again(0, *first[0]);
    start_again(1, *second[1]);
    for (int look = 0; look < 10; ++look)
      for (uint32_t i = 0; i < 2; ++i) rank(i).requests->advance();
    EXPECT_FALSE(first[0]->done) << "the other rank has only started the second";
    start_again(0, *second[0]);
    for (int look = 0; look < 10; ++look)
      for (uint32_t i = 0; i < 2; ++i) rank(i).requests->advance();
    EXPECT_TRUE(second[0]->done && second[1]->done);
    EXPECT_FALSE(first[0]->done);
    start_again(1, *first[1]);
    for (int look = 0; look < 10; ++look)
      for (uint32_t i = 0; i < 2; ++i) rank(i).requests->advance();
    for (uint32_t i = 0; i < 2; ++i) {
      EXPECT_TRUE(first[i]->done);
      EXPECT_EQ(rank(i).requests->unretired(), 2u);
      EXPECT_TRUE(rank(i).requests->retire(first[i].get()).is_ok());
      EXPECT_TRUE(rank(i).requests->retire(second[i].get()).is_ok());
      EXPECT_EQ(rank(i).requests->unretired(), 0u) << "those that are not under way are not counted";
    }
  }
}

TEST_F(Requests, GiveTheirResultsInOneThreadWhileAnotherMovesTheRest) {
  constexpr int kCalls = 200;
  std::atomic<Request*> handed{nullptr};
  std::thread taker([&] {
    for (int taken = 0; taken < kCalls;) {
      Request* const request = handed.load(std::memory_order_acquire);
      if (request == nullptr || !request->done.load(std::memory_order_acquire)) {
        std::this_thread::yield();
        continue;
      }
      handed.store(nullptr, std::memory_order_relaxed);
      EXPECT_TRUE(rank(0).requests->take_result(request).is_ok());
      ++taken;
    }
  });
  for (int i = 0; i < kCalls; ++i) {
    while (handed.load(std::memory_order_relaxed) != nullptr) std::this_thread::yield();
    handed.store(start(0), std::memory_order_release);
    Request* const other = start(1);
    while (!other->done)
      for (uint32_t of = 0; of < 2; ++of) rank(of).requests->advance();
    EXPECT_TRUE(rank(1).requests->retire(other).is_ok());
    rank(0).requests->advance();
  }
  taker.join();
  EXPECT_EQ(rank(0).requests->unretired(), 0u);
}

}  // namespace
}  // namespace hocket::communicator
