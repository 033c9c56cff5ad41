// SPDX-License-Identifier: BSD-3-Clause
// What the parts of a communicator assert, where that is on.
#include <memory>
#include <utility>

#include "c_api/foreign_wire.h"
#include "communicator/pair.h"
#include "communicator/setup/tags.h"
#include "support/wire.h"

namespace hocket::communicator {
namespace {

#ifdef HOCKET_ASSERTIONS

using CommunicatorDeathTest = Pair;

TEST_F(CommunicatorDeathTest, HasSoManyTracksAndEachOnce) {
  Tracks& tracks = *rank(0).tracks;
  EXPECT_DEATH((void)tracks.find(Tracks::kMost), "a communicator has at most kMost tracks");
  EXPECT_DEATH((void)tracks.make(0, nullptr, nullptr), "each track is made once");
}

TEST_F(CommunicatorDeathTest, RetiresRequestsThatAreDone) {
  RequestQueue& requests = *rank(0).requests;
  Request running;
  EXPECT_DEATH((void)requests.retire(&running).is_ok(), "a request is retired when it is done");
  running.done = true;
  EXPECT_DEATH((void)requests.retire(&running).is_ok(), "a request is retired once");
  EXPECT_DEATH((void)requests.push(std::make_unique<Request>()), "requests have tracks of their own");
}

TEST_F(CommunicatorDeathTest, ChannelsHaveAPowerOfTwoOfTags) {
  test::Network network(2, 1);
  const auto wire = c_api::foreign_wire(network.wire_of(0)).take();
  EXPECT_DEATH(engines::wire::Channel(*wire, engines::wire::TagRange{0, 3}, 0, {0, 1}),
               "a channel has a power of two of tags");
}

TEST_F(CommunicatorDeathTest, TagsAreGivenBackOnce) {
  test::Network network(2, 1);
  const auto wire = c_api::foreign_wire(network.wire_of(0)).take();
  Tags tags(*wire);
  const auto tag = tags.take();
  ASSERT_TRUE(tag.has_value());
  tags.give_back(*tag);
  EXPECT_DEATH(tags.give_back(*tag), "a tag is given back once");
}

#endif

}  // namespace
}  // namespace hocket::communicator
