// SPDX-License-Identifier: BSD-3-Clause
#include "support/wire.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <random>
#include <tuple>
#include <vector>

namespace hocket::test {

namespace {

constexpr size_t kLongestEager = 1024;
constexpr uint32_t kMostLooks = 4;
constexpr uint32_t kTags = 1 << 29;
constexpr uint32_t kProcesses = 1 << 6;

struct Operation {
  std::vector<std::byte> content;  // of an eager message
  const void* data = nullptr;      // of a long one
  void* into = nullptr;            // of a receive
  size_t bytes = 0;                // sent; or room, and what came
  uint64_t partner_request = 0;    // of a long message: its sender's request
  uint64_t request = 0;
};

struct Pending {
  bool is_done = false;
  bool is_too_long = false;
  size_t bytes = 0;
  uint32_t looks = 0;  // that it takes for the end to be seen
};

}  // namespace

struct Network::State {
  using Key = std::tuple<uint32_t, uint32_t, uint32_t>;  // to, from, tag
  mutable std::mutex mutex;
  std::mt19937 random;
  std::map<Key, std::deque<Operation>> messages;
  std::map<Key, std::deque<Operation>> receives;
  std::map<uint64_t, Pending> pending;
  std::map<std::pair<uint32_t, uint32_t>, std::deque<uint32_t>> notices;  // to, tag
  uint64_t next_request = 1;
  uint64_t sent = 0;

  uint64_t begin() {
    pending[next_request].looks = random() % kMostLooks;
    return next_request++;
  }
  void finish(uint64_t request, size_t bytes, bool too_long) {
    const auto found = pending.find(request);
    if (found == pending.end()) return;
    found->second.is_done = true;
    found->second.bytes = bytes;
    found->second.is_too_long = too_long;
  }
  void deliver(const Operation& message, const Operation& receive) {
    const bool too_long = message.bytes > receive.bytes;
    const void* data = message.data != nullptr ? message.data : message.content.data();
    if (!too_long && message.bytes != 0) std::memcpy(receive.into, data, message.bytes);
    finish(receive.request, message.bytes, too_long);
    if (message.request != 0) finish(message.request, 0, false);
  }
};

struct NetworkEndpoint {
  Network::State* state;
  uint32_t rank;
};

namespace {

using Endpoint = NetworkEndpoint;
Endpoint endpoint(void* user) { return *static_cast<const Endpoint*>(user); }

}  // namespace

Network::Network(uint32_t ranks, uint32_t seed)
    : state_(std::make_unique<State>()), endpoints_(std::make_unique<NetworkEndpoint[]>(ranks)) {
  state_->random.seed(seed);
  for (uint32_t rank = 0; rank < ranks; ++rank) endpoints_[rank] = {state_.get(), rank};
}

Network::~Network() = default;

uint64_t Network::messages() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->sent;
}

bool Network::is_empty() const {
  const std::scoped_lock lock(state_->mutex);
  const auto none = [](const auto& queues) {
    return std::all_of(queues.begin(), queues.end(), [](const auto& entry) { return entry.second.empty(); });
  };
  return none(state_->messages) && none(state_->receives) && state_->pending.empty();
}

namespace {

int send(uint32_t to, uint32_t tag, const void* data, size_t bytes, uint64_t* request, void* user) {
  const Endpoint at = endpoint(user);
  const std::scoped_lock lock(at.state->mutex);
  ++at.state->sent;
  Operation message;
  message.bytes = bytes;
  *request = 0;
  if (bytes <= kLongestEager) {
    message.content.resize(bytes);
    if (bytes != 0) std::memcpy(message.content.data(), data, bytes);
  } else {
    message.data = data;
    message.request = *request = at.state->begin();
  }
  const Network::State::Key key{to, at.rank, tag};
  auto& waiting = at.state->receives[key];
  if (waiting.empty()) {
    at.state->messages[key].push_back(std::move(message));
    return 0;
  }
  at.state->deliver(message, waiting.front());
  waiting.pop_front();
  return 0;
}

int receive(uint32_t from, uint32_t tag, void* data, size_t bytes, uint64_t* request, void* user) {
  const Endpoint at = endpoint(user);
  const std::scoped_lock lock(at.state->mutex);
  Operation receive;
  receive.into = data;
  receive.bytes = bytes;
  receive.request = *request = at.state->begin();
  const Network::State::Key key{at.rank, from, tag};
  auto& come = at.state->messages[key];
  if (come.empty()) {
    at.state->receives[key].push_back(receive);
    return 0;
  }
  at.state->deliver(come.front(), receive);
  come.pop_front();
  return 0;
}

int test(size_t count, uint64_t* requests, size_t* received, void* user) {
  const Endpoint at = endpoint(user);
  const std::scoped_lock lock(at.state->mutex);
  for (size_t i = 0; i < count; ++i) {
    const auto found = at.state->pending.find(requests[i]);
    if (found == at.state->pending.end()) return HOCKET_ERR_SYSTEM;
    Pending& pending = found->second;
    if (!pending.is_done || pending.looks-- != 0) continue;
    if (pending.is_too_long) return HOCKET_ERR_MISMATCH;
    received[i] = pending.bytes;
    requests[i] = 0;
    at.state->pending.erase(found);
  }
  return 0;
}

void cancel(uint64_t request, void* user) {
  const Endpoint at = endpoint(user);
  const std::scoped_lock lock(at.state->mutex);
  at.state->pending.erase(request);
  for (auto* queues : {&at.state->messages, &at.state->receives}) {
    for (auto& [key, queue] : *queues) {
      std::erase_if(queue, [&](const Operation& operation) { return operation.request == request; });
    }
  }
}

int notify(uint32_t to, uint32_t tag, void* user) {
  const Endpoint at = endpoint(user);
  const std::scoped_lock lock(at.state->mutex);
  at.state->notices[{to, tag}].push_back(at.rank);
  return 0;
}

int take_notice(uint32_t tag, uint32_t* from, void* user) {
  const Endpoint at = endpoint(user);
  const std::scoped_lock lock(at.state->mutex);
  auto& come = at.state->notices[{at.rank, tag}];
  if (come.empty()) return 0;
  *from = come.front();
  come.pop_front();
  return 1;
}

int probe(uint32_t from, uint32_t tag, void* user) {
  const Endpoint at = endpoint(user);
  const std::scoped_lock lock(at.state->mutex);
  const auto found = at.state->messages.find({at.rank, from, tag});
  return found != at.state->messages.end() && !found->second.empty();
}

}  // namespace

hocket_wire_t Network::wire_of(uint32_t rank) {
  hocket_wire_t wire{};
  wire.struct_size = sizeof wire;
  wire.rank = rank;
  wire.size = kProcesses;
  wire.tags = kTags;
  wire.send = send;
  wire.receive = receive;
  wire.test = test;
  wire.cancel = cancel;
  wire.notify = notify;
  wire.take_notice = take_notice;
  wire.probe = probe;
  wire.user = &endpoints_[rank];
  return wire;
}

}  // namespace hocket::test
