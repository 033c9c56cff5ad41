// SPDX-License-Identifier: BSD-3-Clause
// Many connections at once, both ways, without a deadlock: no call here blocks but the one poll, and a context that
// waits for an answer goes on answering all others.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "platform/bootstrap/connector_state.h"

namespace hocket::platform {
namespace {

constexpr int64_t kRetryMs = 2;     // a peer's queue was full
constexpr int64_t kLookMs = 200;    // when to look whether those we wait for still exist; then ever more rarely
constexpr size_t kArrivals = 1024;  // connections kept that have not greeted; beyond, the oldest goes

std::span<const std::byte> bytes_of(const Hello& hello) { return std::as_bytes(std::span(&hello, 1)); }

void log_dropped(const PeerCredentials& credentials, const char* why) {
  HOCKET_LOG_WARN("dropped a connection from process %d of user %u: %s", credentials.process, credentials.user, why);
}

Status ended(const Address& address) {
  return {Code::kPeerFailed, "Process " + std::to_string(address.process) + " has ended"};
}

Status broken_off(const Address& address) {
  return {Code::kPeerFailed, "Process " + std::to_string(address.process) + " has ended or broken off"};
}

Status of_other_user(const Address& address, const PeerCredentials& credentials) {
  return {Code::kMismatch, "The socket of process " + std::to_string(address.process) + " belongs to user " +
                               std::to_string(credentials.user) +
                               "; ranks of different users share no memory: give them different HOCKET_NODE"};
}

constexpr int kOfGreeting = 0, kOfAnswer = 1;  // halves of the listener's nonce

bool is_from(const Hello& hello, const Address& address) {
  return hello.identity[0] == address.identity[0] && hello.identity[1] == address.identity[1];
}

}  // namespace

void Connector::Meeting::expect(const Address& other) {
  const bool listed = std::any_of(guests_.begin(), guests_.end(),
                                  [&](const Guest& guest) { return identity_of(guest.address) == identity_of(other); });
  if (listed) return;
  const bool we_connect = identity_of(own_) < identity_of(other);
  guests_.push_back({other, we_connect ? Step::kConnect : Step::kAwaitGreeting, Descriptor(), {}});
}

Hello Connector::Meeting::hello_with(uint64_t proof) const {
  Hello hello;
  std::copy(std::begin(own_.identity), std::end(own_.identity), hello.identity);
  hello.proof = proof;
  hello.limit = state_.region->limit();
  return hello;
}

Status Connector::Meeting::run(int64_t timeout_ms) {
  const int64_t deadline_ms = static_cast<int64_t>(now_ns() / 1'000'000) + std::max<int64_t>(timeout_ms, 0);
  int64_t look_after_ms = kLookMs;
  int64_t look_at_ms = deadline_ms - std::max<int64_t>(timeout_ms, 0) + look_after_ms;
  while (true) {
    HOCKET_TRY(take_arrivals());
    HOCKET_TRY(answer_arrivals());
    bool all_done = true;
    for (Guest& guest : guests_) {
      HOCKET_TRY(advance(guest));
      all_done = all_done && guest.step == Step::kDone;
    }
    if (all_done) return Status::ok();
    const auto now_ms = static_cast<int64_t>(now_ns() / 1'000'000);
    if (now_ms >= deadline_ms) return timed_out(timeout_ms);
    if (now_ms >= look_at_ms) {
      look_after_ms = std::min<int64_t>(2 * look_after_ms, 2000);
      look_at_ms = now_ms + look_after_ms;
      HOCKET_TRY(check_awaited());
    }
    wait(std::min(look_at_ms, deadline_ms) - now_ms);
  }
}

Status Connector::Meeting::advance(Guest& guest) {
  if (guest.step == Step::kConnect) HOCKET_TRY(connect(guest));
  if (guest.step == Step::kGreet) HOCKET_TRY(greet(guest));
  if (guest.step == Step::kReceiveAnswer) HOCKET_TRY(receive_answer(guest));
  return Status::ok();
}

Status Connector::Meeting::connect(Guest& guest) {
  int socket = -1;
  Result<Progress> connected = connect_abstract(socket_name(identity_of(guest.address)), &socket);
  if (!connected.is_ok()) return connected.take_status();
  if (connected.value() == Progress::kEnded) return ended(guest.address);
  if (connected.value() == Progress::kTryLater) return Status::ok();
  guest.socket = Descriptor(socket);
  Result<PeerCredentials> credentials = peer_credentials(socket);
  if (!credentials.is_ok()) return credentials.take_status();
  guest.credentials = credentials.value();
  // A stranger that has taken a dead peer's name must not learn the nonce.
  if (guest.credentials.user != state_.user) return of_other_user(guest.address, guest.credentials);
  guest.step = Step::kGreet;
  return Status::ok();
}

Status Connector::Meeting::greet(Guest& guest) {
  const Hello hello = hello_with(guest.address.nonce[kOfGreeting]);
  Result<Progress> sent = send_with_descriptor(guest.socket.get(), bytes_of(hello), state_.region->descriptor());
  if (!sent.is_ok()) return sent.take_status();
  if (sent.value() == Progress::kEnded) return broken_off(guest.address);
  if (sent.value() == Progress::kDone) guest.step = Step::kReceiveAnswer;
  return Status::ok();
}

Status Connector::Meeting::receive_answer(Guest& guest) {
  std::array<std::byte, sizeof(Hello)> buffer;
  size_t length = 0;
  int passed = -1;
  Result<Progress> received = receive_with_descriptor(guest.socket.get(), buffer, &length, &passed);
  if (!received.is_ok()) return received.take_status();
  Descriptor region(passed);
  if (received.value() == Progress::kEnded) return broken_off(guest.address);
  if (received.value() == Progress::kTryLater) return Status::ok();
  const std::string who = "Process " + std::to_string(guest.address.process);
  if (length > buffer.size()) return {Code::kMismatch, who + " answered with too many bytes"};
  Result<Hello> hello = parse_hello(std::span(buffer).first(length));
  if (!hello.is_ok()) return {Code::kMismatch, who + " answered with " + hello.status().message()};
  if (!is_from(hello.value(), guest.address) || hello.value().proof != guest.address.nonce[kOfAnswer]) {
    return {Code::kMismatch, who + " answered as somebody else"};
  }
  if (region.get() < 0) return {Code::kMismatch, who + " passed no memory"};
  Result<std::shared_ptr<Peer>> peer =
      make_peer(std::move(guest.socket), guest.credentials, std::move(region), hello.value().limit);
  if (!peer.is_ok()) return peer.take_status();
  admit(guest, peer.take());
  return Status::ok();
}

Status Connector::Meeting::take_arrivals() {
  while (true) {
    int socket = -1;
    Result<Progress> accepted = accept_connection(state_.listener.get(), &socket);
    if (!accepted.is_ok()) return accepted.take_status();
    if (accepted.value() != Progress::kDone) break;
    Arrival arrival;
    arrival.socket = Descriptor(socket);
    Result<PeerCredentials> credentials = peer_credentials(socket);
    if (!credentials.is_ok()) return credentials.take_status();
    arrival.credentials = credentials.value();
    if (arrival.credentials.user != state_.user) {
      log_dropped(arrival.credentials, "it is another user's");
      continue;
    }
    if (state_.arrivals.size() >= kArrivals) {
      log_dropped(state_.arrivals.front().credentials, "too many that say nothing");
      state_.arrivals.erase(state_.arrivals.begin());
    }
    state_.arrivals.push_back(std::move(arrival));
  }
  for (size_t i = 0; i < state_.arrivals.size();) {
    Result<bool> stays = state_.arrivals[i].greeted ? true : receive_greeting(state_.arrivals[i]);
    if (!stays.is_ok()) return stays.take_status();
    if (stays.value()) {
      ++i;
    } else {
      state_.arrivals.erase(state_.arrivals.begin() + static_cast<ptrdiff_t>(i));
    }
  }
  return Status::ok();
}

// False: drop it. A failure is this process's own, and the next one's greeting would fail just so.
Result<bool> Connector::Meeting::receive_greeting(Arrival& arrival) {
  std::array<std::byte, sizeof(Hello)> buffer;
  size_t length = 0;
  int passed = -1;
  Result<Progress> received = receive_with_descriptor(arrival.socket.get(), buffer, &length, &passed);
  if (!received.is_ok()) return received.take_status();
  arrival.region = Descriptor(passed);
  if (received.value() == Progress::kEnded) return false;  // only looked whether we exist
  if (received.value() == Progress::kTryLater) return true;
  Result<Hello> hello = length > buffer.size() ? Result<Hello>(Status(Code::kMismatch, "too long a greeting"))
                                               : parse_hello(std::span(buffer).first(length));
  if (!hello.is_ok()) {
    log_dropped(arrival.credentials, hello.status().message());
    return false;
  }
  if (hello.value().proof != own_.nonce[kOfGreeting]) {
    log_dropped(arrival.credentials, "it doesn't know the nonce");
    return false;
  }
  if (arrival.region.get() < 0) {
    log_dropped(arrival.credentials, "it passed no memory");
    return false;
  }
  arrival.hello = hello.value();
  arrival.greeted = true;
  return true;
}

// Answers all that have greeted, including those that this meeting does not wait for: they may wait in another meeting,
// whose other guests wait for those of this one.
Status Connector::Meeting::answer_arrivals() {
  for (size_t i = 0; i < state_.arrivals.size();) {
    Arrival& arrival = state_.arrivals[i];
    bool answered = false;
    Status status = arrival.greeted ? answer(arrival, answered) : Status::ok();
    if (answered) {
      state_.arrivals.erase(state_.arrivals.begin() + static_cast<ptrdiff_t>(i));
    } else {
      ++i;
    }
    if (!status.is_ok()) return status;  // what is left of the arrival must not meet the next meeting
  }
  return Status::ok();
}

// What goes wrong is this meeting's affair only if it waits for the arrival.
Status Connector::Meeting::answer(Arrival& arrival, bool& answered) {
  const Identity identity{arrival.hello.identity[0], arrival.hello.identity[1]};
  Guest* guest = awaited(identity);
  answered = true;
  const auto known = guest == nullptr ? state_.peers.find(identity) : state_.peers.end();
  const bool is_known = known != state_.peers.end();
  if (is_known && known->second->is_alive()) {
    log_dropped(arrival.credentials, "it is connected already");
    return Status::ok();
  }
  Result<Progress> sent = send_with_descriptor(arrival.socket.get(), bytes_of(hello_with(own_.nonce[kOfAnswer])),
                                               state_.region->descriptor());
  if (sent.is_ok() && sent.value() == Progress::kTryLater) {
    answered = false;
    return Status::ok();
  }
  // It gave up an earlier meeting. If it has died, check_awaited finds out.
  if (sent.is_ok() && sent.value() == Progress::kEnded) return Status::ok();
  Status failure = sent.is_ok() ? Status::ok() : sent.take_status();
  if (failure.is_ok()) {
    Result<std::shared_ptr<Peer>> peer =
        make_peer(std::move(arrival.socket), arrival.credentials, std::move(arrival.region), arrival.hello.limit);
    if (peer.is_ok()) {
      if (guest != nullptr) {
        admit(*guest, peer.take());
      } else if (is_known) {  // it has forgotten the old connection
        peer.value()->address_ = known->second->address_;
        known->second = peer.take();
      } else {
        state_.early[identity] = peer.take();
      }
      return Status::ok();
    }
    failure = peer.take_status();
  }
  if (guest != nullptr) return failure;
  log_dropped(arrival.credentials, failure.message());
  return Status::ok();
}

Connector::Meeting::Guest* Connector::Meeting::awaited(const Identity& identity) {
  const auto found = std::find_if(guests_.begin(), guests_.end(), [&](const Guest& guest) {
    return guest.step == Step::kAwaitGreeting && identity_of(guest.address) == identity;
  });
  return found != guests_.end() ? &*found : nullptr;
}

// Whether a peer says by a name of its own that it won't come. A stranger's word doesn't count.
Result<bool> Connector::Meeting::has_given_up(const Guest& guest) const {
  int socket = -1;
  Result<Progress> received = connect_abstract(farewell_name(identity_of(guest.address), number_), &socket);
  if (!received.is_ok()) return received.take_status();
  const Descriptor closes_at_once(socket);
  if (received.value() == Progress::kTryLater)
    return true;  // the queue is full of connections that the peer will never accept
  if (received.value() != Progress::kDone) return false;
  Result<PeerCredentials> credentials = peer_credentials(socket);
  if (!credentials.is_ok()) return credentials.take_status();
  return credentials.value().user == state_.user;
}

// A peer that should connect with us but has died never sends anything, but its name is gone. One that has given up is
// silent too, whichever side connects.
Status Connector::Meeting::check_awaited() {
  for (const Guest& guest : guests_) {
    if (guest.step == Step::kDone) continue;
    Result<bool> gave_up = has_given_up(guest);
    if (!gave_up.is_ok()) return gave_up.take_status();
    if (gave_up.value())
      return {Code::kPeerFailed, "Process " + std::to_string(guest.address.process) + " could not connect with all"};
    if (guest.step != Step::kAwaitGreeting) continue;
    int socket = -1;
    Result<Progress> connected = connect_abstract(socket_name(identity_of(guest.address)), &socket);
    const Descriptor closes_at_once(socket);
    if (!connected.is_ok()) return connected.take_status();
    if (connected.value() == Progress::kEnded) return ended(guest.address);
    if (connected.value() != Progress::kDone) continue;
    // It would connect in vain: connections of other users are dropped.
    Result<PeerCredentials> credentials = peer_credentials(socket);
    if (!credentials.is_ok()) return credentials.take_status();
    if (credentials.value().user != state_.user) return of_other_user(guest.address, credentials.value());
  }
  return Status::ok();
}

void Connector::Meeting::wait(int64_t most_ms) {
  std::vector<pollfd> watched;
  bool retry = false;
  for (const Guest& guest : guests_) {
    if (guest.step == Step::kReceiveAnswer) watched.push_back({guest.socket.get(), POLLIN, 0});
    if (guest.step == Step::kConnect || guest.step == Step::kGreet) retry = true;
  }
  watched.push_back({state_.listener.get(), POLLIN, 0});
  for (const Arrival& arrival : state_.arrivals) {
    if (arrival.greeted) {
      retry = true;  // its answer didn't get out
    } else {
      watched.push_back({arrival.socket.get(), POLLIN, 0});
    }
  }
  if (retry) most_ms = std::min(most_ms, kRetryMs);
  poll(watched.data(), watched.size(), static_cast<int>(most_ms));  // errors: the loop looks again anyway
}

Result<std::shared_ptr<Peer>> Connector::Meeting::make_peer(Descriptor socket, const PeerCredentials& credentials,
                                                            Descriptor region, size_t limit) {
  Result<std::shared_ptr<MappedRegion>> mapped = MappedRegion::map(region.release(), limit);
  if (!mapped.is_ok()) return mapped.take_status();
  std::shared_ptr<Peer> peer(new Peer);
  peer->creator_ = getpid();
  peer->process_ = open_peer_process(socket.get(), credentials);
  peer->socket_ = socket.release();
  peer->region_ = mapped.take();
  return peer;
}

void Connector::Meeting::admit(Guest& guest, std::shared_ptr<Peer> peer) {
  peer->address_ = guest.address;
  peer->meeting_ = number_;
  state_.peers[identity_of(guest.address)] = std::move(peer);
  guest.step = Step::kDone;
}

Status Connector::Meeting::timed_out(int64_t timeout_ms) const {
  size_t missing = 0;
  const Guest* first = nullptr;
  for (const Guest& guest : guests_) {
    if (guest.step == Step::kDone) continue;
    if (first == nullptr) first = &guest;
    ++missing;
  }
  std::string sentence = "Process " + std::to_string(first->address.process) + " did not answer within " +
                         std::to_string(timeout_ms) + " ms";
  if (missing > 1) sentence += " (nor did " + std::to_string(missing - 1) + " more)";
  return {Code::kTimeout, sentence};
}

}  // namespace hocket::platform
