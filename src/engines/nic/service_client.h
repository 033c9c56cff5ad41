// SPDX-License-Identifier: BSD-3-Clause
// A connection to the service of a machine's NIC engine (protocol/service.h): questions, answers, and the descriptors
// that come with them.
//
// Thread safety: one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "platform/descriptor.h"
#include "protocol/service.h"

namespace hocket::engines::nic {

// Where an engine is reached from elsewhere.
struct Address {
  uint32_t ip = 0;  // big-endian, these two
  uint16_t port = 0;

  bool operator==(const Address&) const = default;
};

struct GroupDescription {
  uint64_t id = 0;  // not guessable, the same for all members
  nic_key key = {};
  uint32_t self = 0;
  std::vector<Address> members;
  std::vector<nic_program> programs;  // of `self`
  // For each of them, the one that does the same and lets no member go before all have started (Form::synchronizes);
  // its own number, if it is one. Empty: all are.
  std::vector<uint8_t> synchronizing;
  uint64_t silence_ns = 0;  // after which a member counts as gone; 0: the service's default
};

class ServiceClient {
 public:
  // What a group is made of, where the service sent it: descriptors that aren't there are negative.
  struct Joined {
    nic_joined answer = {};
    platform::Descriptor page;
    platform::Descriptor wakeup_socket;
    platform::Descriptor doorbell;

    // Ok: a doorbell's packet is what this library takes it for.
    Status check_packet() const;
  };

  // To the service of any user and any version. kNotSupported: there is none, and how to have one.
  static Result<ServiceClient> connect(const std::string& interface);

  const std::string& interface() const { return interface_; }
  // Ok: root's, or this user's own.
  Status check_keeper() const;
  // Whether it still answers: no service that has ended comes back, nor one that was asked and said nothing.
  bool is_alive() const;
  bool has_ended() const;
  // Until no process holds the other end any more, or it has been silent for long.
  void wait_for_end() const;

  // The engine, its interface's own name and its address. An error if it speaks another version.
  Result<nic_hello> greet();
  // Asks until the service has found the members' machines, or for a second. `has_doorbell`: this process has one for
  // all groups that share one.
  Result<Joined> join(const GroupDescription& description, bool has_doorbell);
  // Sends what has no answer; false: the service has ended.
  bool tell(std::span<const std::byte> request) const;
  // An answer of any length, which it gives.
  Result<size_t> exchange(std::span<const std::byte> request, std::span<std::byte> answer,
                          std::span<platform::Descriptor> descriptors = {});

 private:
  ServiceClient(platform::Descriptor socket, std::string interface)
      : socket_(std::move(socket)), interface_(std::move(interface)) {}
  // An answer of that length, or the error that it is. EAGAIN is none.
  Status ask(std::span<const std::byte> request, std::span<std::byte> answer,
             std::span<platform::Descriptor> descriptors);

  platform::Descriptor socket_;
  std::string interface_;
  bool is_out_of_step_ = false;  // an answer may still come to a request that was given up
};

// What an answer says: that it is of another version, or why something can't be done.
Status out_of(const nic_answer& answer);

template <typename T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}
template <typename T>
std::span<std::byte> writable_bytes_of(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

}  // namespace hocket::engines::nic
