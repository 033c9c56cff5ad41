// SPDX-License-Identifier: BSD-3-Clause
// Internal to rendezvous*.cc: what a Rendezvous keeps between calls of connect_all.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "platform/hello.h"
#include "platform/local_contexts.h"
#include "platform/rendezvous.h"
#include "platform/unix_socket.h"

namespace hocket::platform {

// A descriptor with an owner.
class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : value_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  int get() const { return value_; }
  int release();

 private:
  int value_;
};

// A connection somebody made to us. Until `greeted` nothing about it is trusted but what the kernel says.
struct Arrival {
  Descriptor socket;
  PeerCredentials credentials;
  bool greeted = false;
  Hello hello;
  Descriptor region;
};

struct Rendezvous::State {
  std::shared_ptr<SharedRegion> region;
  std::shared_ptr<std::atomic<bool>> alive;
  Descriptor listener;
  int creator = 0;
  std::map<Identity, std::shared_ptr<Peer>> peers;
  std::vector<Arrival> arrivals;  // also of peers that a later connect_all will ask for
};

inline Identity identity_of(const Address& address) { return {address.identity[0], address.identity[1]}; }
std::string socket_name(const Identity& identity);

// One call of connect_all.
class Rendezvous::Meeting {
 public:
  Meeting(const Address& own, State& state) : own_(own), state_(state) {}
  void expect(const Address& other);
  // Until all that are expected are in state.peers.
  Status run(int64_t timeout_ms);

 private:
  enum class Step : uint8_t { kConnect, kGreet, kHearAnswer, kAwaitGreeting, kDone };
  struct Guest {
    Address address;
    Step step;
    Descriptor socket;
    PeerCredentials credentials;
  };

  Status connect(Guest& guest);
  Status greet(Guest& guest);
  Status hear_answer(Guest& guest);
  Status advance(Guest& guest);
  Status take_arrivals();
  bool hear_greeting(Arrival& arrival);
  Status match_arrivals();
  Status check_awaited();
  void wait(int64_t most_ms);
  Status admit(Guest& guest, Descriptor socket, const PeerCredentials& credentials, Descriptor region, size_t limit);
  Hello hello_for(const Address& other) const;
  Status timed_out(int64_t timeout_ms) const;

  const Address& own_;
  State& state_;
  std::vector<Guest> guests_;
};

}  // namespace hocket::platform
