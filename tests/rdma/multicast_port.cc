// SPDX-License-Identifier: BSD-3-Clause
// Multicast over verbs between interfaces of this machine, a process each: one sends, the others count what comes and
// check every byte. Prints a line for each thing that it has tried, PASS or FAIL.
//   multicast_port loss LIBRARY_DIRECTORY LEAST_PERCENT MOST_PERCENT SENDER RECEIVER...
//   multicast_port turns LIBRARY_DIRECTORY SENDER RECEIVER...   one datagram at a time, receivers sleep until it comes
//   multicast_port full LIBRARY_DIRECTORY SENDER RECEIVER...    more than receivers have room for
//   multicast_port again LIBRARY_DIRECTORY INTERFACE            opened and closed many times
//   multicast_port refused LIBRARY_DIRECTORY INTERFACE          which belongs to no device
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "engines/multicast/verbs_port.h"

namespace {

using hocket::Result;
using hocket::Status;
using namespace hocket::engines::multicast;
using Bytes = std::vector<std::byte>;

constexpr uint32_t kDatagrams = 240;
constexpr uint32_t kTurns = 100;
constexpr int kTimeoutMs = 20'000;  // emulated processors are slow
constexpr int kSilenceMs = 500;
constexpr uint32_t kHead = 40;  // sent as one piece, what follows as another

struct Counts {
  uint32_t come = 0;      // different ones
  uint32_t wrong = 0;     // content or length
  uint32_t repeated = 0;  // the same again
  uint32_t most_bytes = 0;
  uint64_t room = 0;
};

struct Place {
  uint32_t number;
  uint32_t bytes;
};

std::byte byte_of(uint32_t number, size_t at) { return static_cast<std::byte>(number * 7 + at * 3 + at / 251); }

Bytes datagram(uint32_t number, uint32_t bytes) {
  Bytes made(bytes);
  for (size_t at = sizeof(Place); at < bytes; ++at) made[at] = byte_of(number, at);
  const Place place{number, bytes};
  std::memcpy(made.data(), &place, sizeof place);
  return made;
}

// The shortest, the longest, and lengths between.
uint32_t length_of(uint32_t number, uint32_t most) {
  if (number % 5 == 0) return most;
  if (number % 5 == 1) return sizeof(Place);
  return sizeof(Place) + (number * 7919) % (most - sizeof(Place));
}

bool is_right(std::span<const std::byte> come, uint32_t& number) {
  Place place{};
  if (come.size() < sizeof place) return false;
  std::memcpy(&place, come.data(), sizeof place);
  number = place.number;
  if (place.bytes != come.size()) return false;
  for (size_t at = sizeof place; at < come.size(); ++at)
    if (come[at] != byte_of(number, at)) return false;
  return true;
}

bool say(bool is_good, const std::string& what) {
  std::printf("%s %s\n", is_good ? "PASS" : "FAIL", what.c_str());
  std::fflush(stdout);
  return is_good;
}

Result<std::unique_ptr<MulticastPort>> open_port(const std::string& directory, const std::string& name) {
  Result<Interface> interface = find_interface(name, Family::kIpv4);
  if (!interface.is_ok()) return interface.take_status();
  Result<GroupAddress> group = parse_address("239.192.5.6:5000");
  return open_verbs_port({.group = group.value(), .interface = interface.value()}, directory);
}

std::unique_ptr<MulticastPort> open_or_end(const std::string& directory, const std::string& name) {
  Result<std::unique_ptr<MulticastPort>> port = open_port(directory, name);
  if (port.is_ok()) return port.take();
  say(false, "opening a port on " + name + ": " + port.status().message());
  std::_Exit(1);
}

// --- who receives ---------------------------------------------------------------------------------------------------

struct Receiver {
  std::string interface;
  int to;  // a socket to the process
  pid_t process;
};

// What goes between the processes: a byte to say something, counts as an answer. A receiver answers kListen by
// kReceived when it has taken what had room.
enum Word : char { kReady, kReceived, kListen, kCount };

void report(int to, Word word) {
  if (write(to, &word, 1) != 1) std::_Exit(1);
}

void take(MulticastPort& port, Counts& counts, std::set<uint32_t>& seen) {
  for (auto come = port.receive(); !come.empty(); come = port.receive()) {
    uint32_t number = 0;
    if (!is_right(come, number)) {
      ++counts.wrong;
    } else if (!seen.insert(number).second) {
      ++counts.repeated;
    }
  }
  counts.come = static_cast<uint32_t>(seen.size());
}

// Sleeps until something comes; says so of each one when they come in turns. `listens`: at once, or when it is told to.
[[noreturn]] void receive_all(const std::string& directory, const std::string& interface, int parent, bool in_turns,
                              bool listens) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const std::unique_ptr<MulticastPort> port = open_or_end(directory, interface);
  Counts counts{.most_bytes = port->most_bytes(), .room = port->room()};
  std::set<uint32_t> seen;
  report(parent, kReady);
  for (bool has_ended = false; !has_ended;) {
    bool begins_to_listen = false;
    pollfd both[2] = {{parent, POLLIN, 0}, {listens ? port->descriptor() : -1, POLLIN, 0}};
    if (poll(both, 2, -1) < 0) std::_Exit(1);
    if ((both[0].revents & POLLIN) != 0) {
      char word = 0;
      if (read(parent, &word, 1) != 1) std::_Exit(1);
      has_ended = word == kCount;
      begins_to_listen = word == kListen;
      listens = true;
    }
    const uint32_t before = counts.come;
    if (listens) take(*port, counts, seen);
    for (uint32_t i = before; in_turns && i < counts.come; ++i) report(parent, kReceived);
    if (begins_to_listen) report(parent, kReceived);
  }
  // What is still under way.
  for (pollfd one{port->descriptor(), POLLIN, 0}; poll(&one, 1, kSilenceMs) > 0;) take(*port, counts, seen);
  if (write(parent, &counts, sizeof counts) != sizeof counts) std::_Exit(1);
  std::_Exit(0);
}

bool reader(const Receiver& receiver, Word wanted) {
  pollfd one{receiver.to, POLLIN, 0};
  char word = 0;
  return poll(&one, 1, kTimeoutMs) > 0 && read(receiver.to, &word, 1) == 1 && word == wanted;
}

std::vector<Receiver> start_receivers(const std::string& directory, std::span<char* const> names, bool in_turns,
                                      bool listen) {
  std::vector<Receiver> receivers;
  for (const char* name : names) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) std::_Exit(1);
    const pid_t process = fork();
    if (process == 0) {
      close(ends[0]);
      receive_all(directory, name, ends[1], in_turns, listen);
    }
    close(ends[1]);
    receivers.push_back({name, ends[0], process});
  }
  for (const Receiver& one : receivers) {
    if (reader(one, kReady)) continue;
    say(false, "the receiver on " + one.interface + " is not ready");
    std::exit(1);
  }
  return receivers;
}

Counts end(const Receiver& receiver) {
  report(receiver.to, kCount);
  Counts counts;
  pollfd one{receiver.to, POLLIN, 0};
  if (poll(&one, 1, kTimeoutMs) <= 0 || read(receiver.to, &counts, sizeof counts) != sizeof counts) {
    say(false, "the receiver on " + receiver.interface + " gives no counts");
    std::exit(1);
  }
  (void)waitpid(receiver.process, nullptr, 0);
  close(receiver.to);
  return counts;
}

// --- who sends ------------------------------------------------------------------------------------------------------

bool send_one(MulticastPort& port, uint32_t number) {
  const Bytes made = datagram(number, length_of(number, port.most_bytes()));
  const auto all = std::span<const std::byte>(made);
  const size_t cut = std::min<size_t>(kHead, all.size());
  const Status sent = port.send(all.first(cut), all.subspan(cut));
  return sent.is_ok() || say(false, std::string("sending: ") + sent.message());
}

// These pauses are no wait for something: they are the rate of sending. What comes faster than the emulated network
// passes it on is lost on the way, where no end can see it, and it is not such losses that are counted here.
void keep_pace(uint32_t number, useconds_t pause_us) {
  if (number % 16 == 15) usleep(pause_us);
}

std::string in_words(const Receiver& receiver, const Counts& counts, uint32_t sent) {
  return receiver.interface + " has received " + std::to_string(counts.come) + " of " + std::to_string(sent) +
         " datagrams of up to " + std::to_string(counts.most_bytes) + " bytes, " + std::to_string(counts.wrong) +
         " wrong, " + std::to_string(counts.repeated) + " twice";
}

bool with_loss(const std::string& directory, uint32_t least, uint32_t most, std::span<char* const> names) {
  const std::vector<Receiver> receivers = start_receivers(directory, names.subspan(1), false, true);
  const std::unique_ptr<MulticastPort> port = open_or_end(directory, names[0]);
  for (uint32_t number = 0; number < kDatagrams; ++number) {
    if (!send_one(*port, number)) return false;
    // Own ones, if any come back, take no room.
    while (!port->receive().empty()) continue;
    keep_pace(number, 5000);
  }
  bool is_good = true;
  for (const Receiver& one : receivers) {
    const Counts counts = end(one);
    const uint32_t percent = counts.come * 100 / kDatagrams;
    is_good &= say(percent >= least && percent <= most && counts.wrong == 0 && counts.repeated == 0,
                   in_words(one, counts, kDatagrams) + " (wanted: " + std::to_string(least) + " to " +
                       std::to_string(most) + " %)");
  }
  return is_good;
}

// A wake-up that is lost is a receiver that never hears its turn.
bool in_turns(const std::string& directory, std::span<char* const> names) {
  const std::vector<Receiver> receivers = start_receivers(directory, names.subspan(1), true, true);
  const std::unique_ptr<MulticastPort> port = open_or_end(directory, names[0]);
  for (uint32_t number = 0; number < kTurns; ++number) {
    if (!send_one(*port, number)) return false;
    for (const Receiver& one : receivers)
      if (!reader(one, kReceived)) return say(false, one.interface + " was not woken by " + std::to_string(number));
  }
  for (const Receiver& one : receivers) (void)end(one);
  return say(true, std::to_string(receivers.size()) + " receivers that slept were woken by each of " +
                       std::to_string(kTurns) + " datagrams");
}

// Nobody listens while more is sent than there is room for: the rest is lost, and then all goes on.
bool when_full(const std::string& directory, std::span<char* const> names) {
  const std::vector<Receiver> receivers = start_receivers(directory, names.subspan(1), false, false);
  const std::unique_ptr<MulticastPort> port = open_or_end(directory, names[0]);
  const auto fit = static_cast<uint32_t>(port->room() / port->most_bytes());
  const uint32_t sent = 2 * fit;
  for (uint32_t number = 0; number < sent + kTurns; ++number) {
    if (number == sent) {
      for (const Receiver& one : receivers) report(one.to, kListen);
      for (const Receiver& one : receivers)
        if (!reader(one, kReceived)) return say(false, one.interface + " has not taken what it had room for");
    }
    if (!send_one(*port, number)) return false;
    while (!port->receive().empty()) continue;
    keep_pace(number, 2000);
  }
  bool is_good = true;
  for (const Receiver& one : receivers) {
    const Counts counts = end(one);
    const bool is_as_wanted = counts.come > fit && counts.come <= fit + kTurns;
    is_good &= say(
        is_as_wanted && counts.wrong == 0 && counts.repeated == 0,
        in_words(one, counts, sent + kTurns) + ", with room for " + std::to_string(fit) + " while it did not listen");
  }
  return is_good;
}

size_t open_descriptors() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& one : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

bool again_and_again(const std::string& directory, const char* name) {
  open_or_end(directory, name).reset();  // librdmacm keeps its devices
  const size_t before = open_descriptors();
  for (int i = 0; i < 20; ++i) open_or_end(directory, name).reset();
  const size_t after = open_descriptors();
  return say(before == after, "a port opened and closed 20 times leaves " + std::to_string(after) + " descriptors of " +
                                  std::to_string(before));
}

bool refused(const std::string& directory, const char* name) {
  const Result<std::unique_ptr<MulticastPort>> port = open_port(directory, name);
  if (port.is_ok()) return say(false, std::string(name) + " was taken");
  return say(std::strstr(port.status().message(), "belongs to no RDMA device") != nullptr,
             std::string("refused: ") + port.status().message());
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<char*> words(argv + 1, argv + argc);
  const std::string what = argc > 3 ? words[0] : "";
  const std::span<char* const> rest = std::span(words).subspan(std::min<size_t>(words.size(), 2));
  bool is_good = false;
  if (what == "loss" && rest.size() > 3) {
    is_good = with_loss(words[1], static_cast<uint32_t>(std::atoi(rest[0])), static_cast<uint32_t>(std::atoi(rest[1])),
                        rest.subspan(2));
  } else if (what == "turns" && rest.size() > 1) {
    is_good = in_turns(words[1], rest);
  } else if (what == "full" && rest.size() > 1) {
    is_good = when_full(words[1], rest);
  } else if (what == "again") {
    is_good = again_and_again(words[1], rest[0]);
  } else if (what == "refused") {
    is_good = refused(words[1], rest[0]);
  } else {
    std::fprintf(stderr, "how to use it stands at the top of %s\n", __FILE__);
  }
  return is_good ? 0 : 1;
}
