// SPDX-License-Identifier: BSD-3-Clause
// Two ranks of one node in one thread: their memory is one region, and each has parts of a communicator of its own.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "communicator/calls/requests.h"
#include "communicator/closing.h"

namespace hocket::communicator {

class Pair : public testing::Test {
 protected:
  struct One {
    Participants participants;
    carriers::Engines engines;
    std::unique_ptr<Tracks> tracks;
    std::unique_ptr<FailureDetector> failure;
    std::unique_ptr<RequestQueue> requests;
    std::unique_ptr<Closing> closing;

    // A call of this collective begins here.
    void announce(schedule::Collective collective, uint32_t track = 0) {
      const CallSignature shape{what_of(collective, false, 0), 8, 0};
      tracks->find(track)->announce(shape, engines::shared_memory::hash_of_shape(shape), 0);
    }
  };

  void SetUp() override {
    using engines::shared_memory::RankBlock;
    auto region = platform::SharedRegion::create(size_t{64} << 20);
    ASSERT_TRUE(region.is_ok()) << region.status().message();
    region_ = region.take();
    for (RankBlock*& block : blocks_) {
      block = static_cast<RankBlock*>(region_->allocate(RankBlock::bytes(2)));
      ASSERT_NE(block, nullptr);
    }
    for (uint32_t rank = 0; rank < 2; ++rank) make(rank);
  }

  One& rank(uint32_t rank) { return *ranks_[rank]; }

 private:
  void make(uint32_t rank) {
    using engines::shared_memory::Member;
    using engines::shared_memory::NodeGroup;
    const platform::Window window{region_->base(), region_->limit()};
    std::vector<Member> members;
    for (uint32_t other = 0; other < 2; ++other)
      members.push_back({.block = blocks_[other], .window = window, .name = other});
    auto one = std::make_unique<One>();
    one->participants.rank = rank;
    one->participants.size = 2;
    one->participants.peers.resize(2);
    one->participants.group = std::make_unique<NodeGroup>(rank, std::move(members), region_, false);
    one->tracks = std::make_unique<Tracks>(one->participants, one->engines);
    ASSERT_TRUE(one->tracks->open(0).is_ok());
    one->failure = std::make_unique<FailureDetector>(one->participants, *one->tracks, one->engines, Vocabulary::kHocket,
                                                     LatePolicy());
    one->requests = std::make_unique<RequestQueue>(*one->tracks, *one->failure);
    one->closing = std::make_unique<Closing>(one->participants, *one->tracks, *one->failure);
    ranks_[rank] = std::move(one);
  }

  std::shared_ptr<platform::SharedRegion> region_;
  engines::shared_memory::RankBlock* blocks_[2] = {};
  std::unique_ptr<One> ranks_[2];
};

}  // namespace hocket::communicator
