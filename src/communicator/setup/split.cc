// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/setup/split.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "communicator/setup/setup.h"

namespace hocket::communicator {
namespace {

// What a rank shows the others in each round.
struct Frame {
  enum State : uint32_t { kFinished, kData };
  static constexpr size_t kDataBytes = Setup::kLongestMessage;  // a round of the set-up is one of the parent's
  State state = kFinished;
  uint32_t bytes = 0;
  std::byte data[kDataBytes] = {};
};
static_assert(sizeof(Frame) == 2048);

struct Wish {
  int32_t color;
  int32_t key;
};

template <typename T>
Status gather(Communicator& parent, const T& mine, std::vector<T>& all) {
  Arguments arguments;
  arguments.collective = schedule::Collective::kAllgather;
  arguments.input = reinterpret_cast<const std::byte*>(&mine);
  arguments.output = reinterpret_cast<std::byte*>(all.data());
  arguments.count = sizeof(T);
  return parent.run(arguments);
}

// The ranks of `parent` that the new communicator has, in its order.
std::vector<uint32_t> members_of(const std::vector<Wish>& wishes, int32_t color) {
  std::vector<uint32_t> members;
  for (uint32_t rank = 0; rank < wishes.size(); ++rank) {
    if (wishes[rank].color == color) members.push_back(rank);
  }
  std::sort(members.begin(), members.end(),
            [&](uint32_t a, uint32_t b) { return std::pair(wishes[a].key, a) < std::pair(wishes[b].key, b); });
  return members;
}

class Rounds {
 public:
  Rounds(Communicator& parent, std::vector<uint32_t> members)
      : parent_(parent), members_(std::move(members)), frames_(parent.size()) {}

  const Status& failure() const { return failure_; }

  // The bootstrap of the new communicator.
  static int allgather(const void* send, void* receive, size_t bytes, void* user) {
    auto& rounds = *static_cast<Rounds*>(user);
    if (rounds.failure_.is_ok()) {
      rounds.failure_ =
          rounds.gather_bytes(static_cast<const std::byte*>(send), static_cast<std::byte*>(receive), bytes);
    }
    return rounds.failure_.is_ok() ? 0 : 1;
  }

  // This rank has nothing more to give: it takes part in the rounds until none has.
  void finish() {
    mine_.state = Frame::kFinished;
    mine_.bytes = 0;
    const auto is_finished = [](const Frame& frame) { return frame.state == Frame::kFinished; };
    do {
      // Only a dead rank breaks a round, and then there are no more.
      if (parent_is_broken_ || !round().is_ok()) return;
    } while (!std::all_of(frames_.begin(), frames_.end(), is_finished));
  }

 private:
  Status round() {
    Status status = gather(parent_, mine_, frames_);
    parent_is_broken_ = !status.is_ok();
    return status;
  }

  Status gather_bytes(const std::byte* send, std::byte* receive, size_t bytes) {
    for (size_t begin = 0; begin < bytes; begin += Frame::kDataBytes) {
      const size_t length = std::min(Frame::kDataBytes, bytes - begin);
      mine_.state = Frame::kData;
      mine_.bytes = static_cast<uint32_t>(length);
      std::memcpy(mine_.data, send + begin, length);
      HOCKET_TRY(round());
      for (size_t place = 0; place < members_.size(); ++place) {
        const Frame& frame = frames_[members_[place]];
        if (frame.state != Frame::kData || frame.bytes != length) {
          return {Code::kSystem, "rank " + std::to_string(place) + " gave up while the communicator was set up"};
        }
        std::memcpy(receive + place * bytes + begin, frame.data, length);
      }
    }
    return Status::ok();
  }

  Communicator& parent_;
  std::vector<uint32_t> members_;
  Frame mine_;
  std::vector<Frame> frames_;
  Status failure_;
  bool parent_is_broken_ = false;
};

// Whatever happens here, the rank must take part in the rounds to come.
Result<std::unique_ptr<Communicator>> create(Context& context, const Bootstrap& bootstrap, int color) {
  if (color < 0) return std::unique_ptr<Communicator>();
  try {
    return Communicator::create(context, bootstrap);
  } catch (const std::bad_alloc&) {
    return Status(Code::kNoMemory, "out of memory");
  }
}

}  // namespace

Result<std::unique_ptr<Communicator>> split(Communicator& parent, int color, int key) {
  const Wish mine{color, key};
  std::vector<Wish> wishes(parent.size());
  HOCKET_TRY(gather(parent, mine, wishes));
  std::vector<uint32_t> members = members_of(wishes, color);

  Bootstrap bootstrap;
  bootstrap.size = static_cast<uint32_t>(members.size());
  bootstrap.rank = static_cast<uint32_t>(std::find(members.begin(), members.end(), parent.rank()) - members.begin());
  Rounds rounds(parent, std::move(members));
  bootstrap.allgather = Rounds::allgather;
  bootstrap.user = &rounds;
  Result<std::unique_ptr<Communicator>> made = create(parent.context(), bootstrap, color);
  rounds.finish();
  // The set-up knows only that its all-gather failed. What has been made is good, on all its ranks, even if a rank of
  // another color has ended since.
  if (!made.is_ok() && !rounds.failure().is_ok()) {
    return Status(rounds.failure().code(), rounds.failure().message());
  }
  return made;
}

}  // namespace hocket::communicator
