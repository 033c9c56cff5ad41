// SPDX-License-Identifier: BSD-3-Clause
// Internal to connector*.cc: what a Connector keeps between calls of connect_all.
//
// Thread safety: as the Connector: one thread at a time.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "platform/bootstrap/connector.h"
#include "platform/bootstrap/hello.h"
#include "platform/bootstrap/local_contexts.h"
#include "platform/bootstrap/unix_socket.h"
#include "platform/descriptor.h"

namespace hocket::platform {

// A connection that another process made to us. Until `greeted` we trust only what the kernel says about it.
struct Arrival {
  Descriptor socket;
  PeerCredentials credentials;
  bool greeted = false;
  Hello hello;
  Descriptor region;
};

struct Connector::State {
  std::shared_ptr<SharedRegion> region;
  std::shared_ptr<std::atomic<bool>> alive;
  Descriptor listener;
  Descriptor spare;  // what no meeting has in reserve now
  int creator = 0;
  uint32_t user = 0;  // as the kernel tells this process of peers
  std::map<Identity, std::shared_ptr<Peer>> peers;
  std::map<Identity, std::shared_ptr<Peer>> early;  // connected with us before a connect_all has asked for them
  std::vector<Arrival> arrivals;                    // not answered yet
};

inline Identity identity_of(const Address& address) { return {address.identity[0], address.identity[1]}; }
std::string socket_name(const Identity& identity);
// Of the socket by which a context says that it has given up a meeting.
std::string farewell_name(const Identity& identity, uint64_t meeting);

// One call of connect_all.
class Connector::Meeting {
 public:
  Meeting(const Address& own, State& state, uint64_t number) : own_(own), state_(state), number_(number) {}
  void expect(const Address& other);
  // Until all that are expected are in state.peers.
  Status run(int64_t timeout_ms);

 private:
  enum class Step : uint8_t { kConnect, kGreet, kReceiveAnswer, kAwaitGreeting, kDone };
  struct Guest {
    Address address;
    Step step;
    Descriptor socket;
    PeerCredentials credentials;
  };

  Status connect(Guest& guest);
  Status greet(Guest& guest);
  Status receive_answer(Guest& guest);
  Status advance(Guest& guest);
  Status take_arrivals();
  Result<bool> receive_greeting(Arrival& arrival);
  Status answer_arrivals();
  Status answer(Arrival& arrival, bool& answered);
  Guest* awaited(const Identity& identity);
  Status check_awaited();
  Result<bool> has_given_up(const Guest& guest) const;
  void wait(int64_t most_ms);
  Result<std::shared_ptr<Peer>> make_peer(Descriptor socket, const PeerCredentials& credentials, Descriptor region,
                                          size_t limit);
  void admit(Guest& guest, std::shared_ptr<Peer> peer);
  Hello hello_with(uint64_t proof) const;
  Status timed_out(int64_t timeout_ms) const;

  const Address& own_;
  State& state_;
  const uint64_t number_;
  std::vector<Guest> guests_;
};

}  // namespace hocket::platform
