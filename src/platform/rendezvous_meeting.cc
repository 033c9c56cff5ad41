// SPDX-License-Identifier: BSD-3-Clause
// Many connections at once, both ways, without a deadlock: no call here blocks but the one poll, and whoever waits
// for an answer goes on answering others.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "platform/rendezvous_state.h"

namespace hocket::platform {
namespace {

constexpr int64_t kRetryMs = 2;     // a peer's queue was full
constexpr int64_t kLookMs = 200;    // when to look whether those we wait for still exist; then ever more rarely
constexpr size_t kArrivals = 1024;  // connections kept that nobody has asked for; beyond, the oldest goes

std::span<const std::byte> bytes_of(const Hello& hello) { return std::as_bytes(std::span(&hello, 1)); }

void log_dropped(const PeerCredentials& credentials, const char* why) {
  HOCKET_LOG_WARN("dropped a connection from process %d of user %u: %s", credentials.process, credentials.user, why);
}

Status ended(const Address& address) {
  return {Code::kPeerFailed, "Process " + std::to_string(address.process) + " has ended"};
}

bool same_nonce(const uint64_t (&one)[2], const uint64_t (&other)[2]) {
  return ((one[0] ^ other[0]) | (one[1] ^ other[1])) == 0;
}

bool is_from(const Hello& hello, const Address& address) {
  return hello.identity[0] == address.identity[0] && hello.identity[1] == address.identity[1];
}

}  // namespace

void Rendezvous::Meeting::expect(const Address& other) {
  const bool listed = std::any_of(guests_.begin(), guests_.end(),
                                  [&](const Guest& guest) { return identity_of(guest.address) == identity_of(other); });
  if (listed) return;
  const bool we_connect = identity_of(own_) < identity_of(other);
  guests_.push_back({other, we_connect ? Step::kConnect : Step::kAwaitGreeting, Descriptor(), {}});
}

Hello Rendezvous::Meeting::hello_for(const Address& other) const {
  Hello hello;
  std::copy(std::begin(own_.identity), std::end(own_.identity), hello.identity);
  std::copy(std::begin(other.nonce), std::end(other.nonce), hello.nonce);
  hello.limit = state_.region->limit();
  return hello;
}

Status Rendezvous::Meeting::run(int64_t timeout_ms) {
  const int64_t deadline_ms = static_cast<int64_t>(now_ns() / 1'000'000) + std::max<int64_t>(timeout_ms, 0);
  int64_t look_after_ms = kLookMs;
  int64_t look_at_ms = deadline_ms - std::max<int64_t>(timeout_ms, 0) + look_after_ms;
  while (true) {
    HOCKET_TRY(take_arrivals());
    HOCKET_TRY(match_arrivals());
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

Status Rendezvous::Meeting::advance(Guest& guest) {
  if (guest.step == Step::kConnect) HOCKET_TRY(connect(guest));
  if (guest.step == Step::kGreet) HOCKET_TRY(greet(guest));
  if (guest.step == Step::kHearAnswer) HOCKET_TRY(hear_answer(guest));
  return Status::ok();
}

Status Rendezvous::Meeting::connect(Guest& guest) {
  int socket = -1;
  Result<Progress> connected = connect_abstract(socket_name(identity_of(guest.address)), &socket);
  if (!connected.is_ok()) return connected.take_status();
  if (connected.value() == Progress::kEnded) return ended(guest.address);
  if (connected.value() == Progress::kTryLater) return Status::ok();
  guest.socket = Descriptor(socket);
  Result<PeerCredentials> credentials = peer_credentials(socket);
  if (!credentials.is_ok()) return credentials.take_status();
  guest.credentials = credentials.value();
  if (guest.credentials.user != own_.user) {
    // The nonce is not told to a stranger who has taken a dead peer's name.
    return {Code::kMismatch, "The socket of process " + std::to_string(guest.address.process) + " belongs to user " +
                                 std::to_string(guest.credentials.user)};
  }
  guest.step = Step::kGreet;
  return Status::ok();
}

Status Rendezvous::Meeting::greet(Guest& guest) {
  const Hello hello = hello_for(guest.address);
  Result<Progress> sent = send_with_descriptor(guest.socket.get(), bytes_of(hello), state_.region->descriptor());
  if (!sent.is_ok()) return sent.take_status();
  if (sent.value() == Progress::kEnded) return ended(guest.address);
  if (sent.value() == Progress::kDone) guest.step = Step::kHearAnswer;
  return Status::ok();
}

Status Rendezvous::Meeting::hear_answer(Guest& guest) {
  std::array<std::byte, sizeof(Hello)> buffer;
  size_t length = 0;
  int passed = -1;
  Result<Progress> heard = receive_with_descriptor(guest.socket.get(), buffer, &length, &passed);
  if (!heard.is_ok()) return heard.take_status();
  Descriptor region(passed);
  if (heard.value() == Progress::kEnded) return ended(guest.address);
  if (heard.value() == Progress::kTryLater) return Status::ok();
  const std::string who = "Process " + std::to_string(guest.address.process);
  if (length > buffer.size()) return {Code::kMismatch, who + " answered with too many bytes"};
  Result<Hello> hello = parse_hello(std::span(buffer).first(length));
  if (!hello.is_ok()) return {Code::kMismatch, who + " answered with " + hello.status().message()};
  if (!is_from(hello.value(), guest.address) || !same_nonce(hello.value().nonce, own_.nonce)) {
    return {Code::kMismatch, who + " answered as somebody else"};
  }
  if (region.get() < 0) return {Code::kMismatch, who + " passed no memory"};
  return admit(guest, std::move(guest.socket), guest.credentials, std::move(region), hello.value().limit);
}

Status Rendezvous::Meeting::take_arrivals() {
  while (true) {
    int socket = -1;
    Result<Progress> accepted = accept_connection(state_.listener.get(), &socket);
    if (!accepted.is_ok()) return accepted.take_status();
    if (accepted.value() != Progress::kDone) break;
    Arrival arrival;
    arrival.socket = Descriptor(socket);
    Result<PeerCredentials> credentials = peer_credentials(socket);
    if (!credentials.is_ok()) continue;
    arrival.credentials = credentials.value();
    if (arrival.credentials.user != own_.user) {
      log_dropped(arrival.credentials, "it is another user's");
      continue;
    }
    if (state_.arrivals.size() >= kArrivals) {
      log_dropped(state_.arrivals.front().credentials, "too many that nobody asked for");
      state_.arrivals.erase(state_.arrivals.begin());
    }
    state_.arrivals.push_back(std::move(arrival));
  }
  std::erase_if(state_.arrivals, [&](Arrival& arrival) { return !arrival.greeted && !hear_greeting(arrival); });
  return Status::ok();
}

// False: drop it.
bool Rendezvous::Meeting::hear_greeting(Arrival& arrival) {
  std::array<std::byte, sizeof(Hello)> buffer;
  size_t length = 0;
  int passed = -1;
  Result<Progress> heard = receive_with_descriptor(arrival.socket.get(), buffer, &length, &passed);
  if (!heard.is_ok()) {
    log_dropped(arrival.credentials, heard.status().message());
    return false;
  }
  arrival.region = Descriptor(passed);
  if (heard.value() == Progress::kEnded) return false;  // only looked whether we exist
  if (heard.value() == Progress::kTryLater) return true;
  Result<Hello> hello = length > buffer.size() ? Result<Hello>(Status(Code::kMismatch, "too long a greeting"))
                                               : parse_hello(std::span(buffer).first(length));
  if (!hello.is_ok()) {
    log_dropped(arrival.credentials, hello.status().message());
    return false;
  }
  if (!same_nonce(hello.value().nonce, own_.nonce)) {
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

// Answers those whom this meeting waits for.
Status Rendezvous::Meeting::match_arrivals() {
  for (Guest& guest : guests_) {
    if (guest.step != Step::kAwaitGreeting) continue;
    const auto found = std::find_if(state_.arrivals.begin(), state_.arrivals.end(), [&](const Arrival& arrival) {
      return arrival.greeted && is_from(arrival.hello, guest.address);
    });
    if (found == state_.arrivals.end()) continue;
    const Hello hello = hello_for(guest.address);
    Result<Progress> sent = send_with_descriptor(found->socket.get(), bytes_of(hello), state_.region->descriptor());
    if (!sent.is_ok()) return sent.take_status();
    if (sent.value() == Progress::kTryLater) continue;
    Arrival arrival = std::move(*found);
    state_.arrivals.erase(found);
    // It gave up an earlier meeting. If it has died, check_awaited finds out.
    if (sent.value() == Progress::kEnded) continue;
    HOCKET_TRY(
        admit(guest, std::move(arrival.socket), arrival.credentials, std::move(arrival.region), arrival.hello.limit));
  }
  return Status::ok();
}

// Of a peer that should connect with us and has died instead nothing is ever heard, but its name is gone.
Status Rendezvous::Meeting::check_awaited() {
  for (const Guest& guest : guests_) {
    if (guest.step != Step::kAwaitGreeting) continue;
    int socket = -1;
    Result<Progress> connected = connect_abstract(socket_name(identity_of(guest.address)), &socket);
    const Descriptor closes_at_once(socket);
    if (!connected.is_ok()) return connected.take_status();
    if (connected.value() == Progress::kEnded) return ended(guest.address);
  }
  return Status::ok();
}

void Rendezvous::Meeting::wait(int64_t most_ms) {
  std::vector<pollfd> watched;
  bool retry = false;
  for (const Guest& guest : guests_) {
    if (guest.step == Step::kHearAnswer) watched.push_back({guest.socket.get(), POLLIN, 0});
    if (guest.step == Step::kConnect || guest.step == Step::kGreet) retry = true;
  }
  watched.push_back({state_.listener.get(), POLLIN, 0});
  for (const Arrival& arrival : state_.arrivals) {
    if (!arrival.greeted) {
      watched.push_back({arrival.socket.get(), POLLIN, 0});
      continue;
    }
    // It is heard and yet here: either of no concern to this meeting, or its answer didn't get out.
    retry = retry || std::any_of(guests_.begin(), guests_.end(), [&](const Guest& guest) {
              return guest.step == Step::kAwaitGreeting && is_from(arrival.hello, guest.address);
            });
  }
  if (retry) most_ms = std::min(most_ms, kRetryMs);
  poll(watched.data(), watched.size(), static_cast<int>(most_ms));  // errors: the loop looks again anyway
}

Status Rendezvous::Meeting::admit(Guest& guest, Descriptor socket, const PeerCredentials& credentials,
                                  Descriptor region, size_t limit) {
  Result<std::shared_ptr<MappedRegion>> mapped = MappedRegion::map(region.release(), limit);
  if (!mapped.is_ok()) return mapped.take_status();
  std::shared_ptr<Peer> peer(new Peer);
  peer->address_ = guest.address;
  peer->creator_ = getpid();
  peer->process_ = open_peer_process(socket.get(), credentials);
  peer->socket_ = socket.release();
  peer->region_ = mapped.take();
  state_.peers[identity_of(guest.address)] = std::move(peer);
  guest.step = Step::kDone;
  return Status::ok();
}

Status Rendezvous::Meeting::timed_out(int64_t timeout_ms) const {
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
