// SPDX-License-Identifier: BSD-3-Clause
#include "engines/multicast/address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <vector>

#include "platform/descriptor.h"

namespace hocket::engines::multicast {
namespace {

constexpr uint16_t kFirstDynamicPort = 49152;
constexpr const char* kInterfaceSetting = "HOCKET_MULTICAST_INTERFACE";

bool is_group(const GroupAddress& address) {
  return address.family == Family::kIpv4 ? address.bytes[0] >> 4 == 0xe : address.bytes[0] == 0xff;
}

uint16_t port_of(const uint8_t (&bytes)[16]) {
  uint32_t sum = 0;
  for (const uint8_t byte : bytes) sum = sum * 31 + byte;
  return static_cast<uint16_t>(kFirstDynamicPort + sum % (65536 - kFirstDynamicPort));
}

struct Candidate {
  std::string name;
  uint32_t ip = 0;
  unsigned flags = 0;
};

// With an address of the family.
Result<std::vector<Candidate>> candidates(Family family) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return Status::system("can't list the network's interfaces", errno);
  std::vector<Candidate> found;
  const int wanted = family == Family::kIpv4 ? AF_INET : AF_INET6;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != wanted) continue;
    const auto is_same = [&](const Candidate& other) { return other.name == one->ifa_name; };
    if (std::any_of(found.begin(), found.end(), is_same)) continue;
    Candidate candidate{one->ifa_name, 0, one->ifa_flags};
    if (family == Family::kIpv4) {
      sockaddr_in address{};
      std::memcpy(&address, one->ifa_addr, sizeof address);
      candidate.ip = address.sin_addr.s_addr;
    }
    found.push_back(std::move(candidate));
  }
  freeifaddrs(list);
  return found;
}

// The address from which the routes would send to some group; 0: there is no route.
uint32_t routed_from() {
  const platform::Descriptor probe(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(kFirstDynamicPort);
  to.sin_addr.s_addr = htonl(0xefc00001);  // 239.192.0.1
  sockaddr_in from{};
  socklen_t length = sizeof from;
  if (probe.get() < 0 || connect(probe.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) return 0;
  return getsockname(probe.get(), reinterpret_cast<sockaddr*>(&from), &length) == 0 ? from.sin_addr.s_addr : 0;
}

// Its address is the one that was listed.
Result<Interface> describe(const Candidate& candidate) {
  Result<Interface> interface = platform::find_network_interface(candidate.name);
  if (interface.is_ok()) interface.value().ip = candidate.ip;
  return interface;
}

const char* name_of(Family family) { return family == Family::kIpv4 ? "IPv4" : "IPv6"; }

}  // namespace

Result<GroupAddress> draw_address(Family family) {
  uint8_t random[18];
  if (getrandom(random, sizeof random, 0) != sizeof random)
    return Status::system("can't draw an address for a multicast group", errno);
  GroupAddress address;
  address.family = family;
  uint16_t port = 0;
  std::memcpy(&port, random + 16, sizeof port);
  address.port = static_cast<uint16_t>(kFirstDynamicPort + port % (65536 - kFirstDynamicPort));
  if (family == Family::kIpv4) {
    std::memcpy(address.bytes, random, 4);
    address.bytes[0] = 239;
    address.bytes[1] = static_cast<uint8_t>(192 | (random[1] & 3));
  } else {
    std::memcpy(address.bytes, random, sizeof address.bytes);
    address.bytes[0] = 0xff;
    address.bytes[1] = 0x15;
  }
  return address;
}

Result<GroupAddress> parse_address(std::string_view text) {
  const Status bad(
      Code::kInvalidArgument,
      "`" + std::string(text) + "` is not a multicast address; say something like 239.192.1.2:5000 or [ff15::1]:5000");
  const auto refuse = [&] { return Status(bad.code(), bad.message()); };
  GroupAddress address;
  std::string host(text);
  std::string port;
  const bool has_brackets = !host.empty() && host.front() == '[';
  const size_t end = has_brackets ? host.find(']') : host.find(':');
  address.family = has_brackets || (end != std::string::npos && host.find(':', end + 1) != std::string::npos)
                       ? Family::kIpv6
                       : Family::kIpv4;
  if (has_brackets) {
    if (end == std::string::npos || (end + 1 < host.size() && host[end + 1] != ':')) return refuse();
    if (end + 1 < host.size()) port = host.substr(end + 2);
    host = host.substr(1, end - 1);
    if (end + 1 < text.size() && port.empty()) return refuse();
  } else if (address.family == Family::kIpv4 && end != std::string::npos) {
    port = host.substr(end + 1);
    host.resize(end);
    if (port.empty()) return refuse();
  }
  if (inet_pton(address.family == Family::kIpv4 ? AF_INET : AF_INET6, host.c_str(), address.bytes) != 1 ||
      !is_group(address))
    return refuse();
  address.port = port_of(address.bytes);
  if (port.empty()) return address;
  const auto [last, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (error != std::errc() || last != port.data() + port.size() || address.port == 0) return refuse();
  return address;
}

std::string to_text(const GroupAddress& address) {
  char text[INET6_ADDRSTRLEN] = {};
  const bool is_ipv4 = address.family == Family::kIpv4;
  inet_ntop(is_ipv4 ? AF_INET : AF_INET6, address.bytes, text, sizeof text);
  return (is_ipv4 ? std::string(text) : "[" + std::string(text) + "]") + ":" + std::to_string(address.port);
}

Result<Interface> find_interface(const std::string& name, Family family) {
  const Result<std::vector<Candidate>> listed = candidates(family);
  if (!listed.is_ok()) return Status(listed.status().code(), listed.status().message());
  std::vector<Candidate> usable;
  for (const Candidate& one : listed.value()) {
    if (one.name == name) return describe(one);
    if ((one.flags & IFF_UP) != 0 && (one.flags & IFF_MULTICAST) != 0 && (one.flags & IFF_LOOPBACK) == 0)
      usable.push_back(one);
  }
  if (!name.empty())
    return Status(Code::kInvalidArgument, std::string(kInterfaceSetting) + "=" + name +
                                              ": there is no such interface with an address of " + name_of(family));
  if (usable.empty())
    return Status(Code::kNotSupported,
                  std::string("no interface that is up takes multicast and has an address of ") + name_of(family));
  if (usable.size() == 1) return describe(usable.front());
  const uint32_t source = family == Family::kIpv4 ? routed_from() : 0;
  for (const Candidate& one : usable)
    if (source != 0 && one.ip == source) return describe(one);
  std::string names = usable.front().name;
  for (size_t i = 1; i < usable.size(); ++i) names += ", " + usable[i].name;
  return Status(Code::kNotSupported,
                "several interfaces take multicast (" + names + "); name one by " + std::string(kInterfaceSetting));
}

}  // namespace hocket::engines::multicast
