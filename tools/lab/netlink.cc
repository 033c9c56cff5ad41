// SPDX-License-Identifier: BSD-3-Clause
#include "lab/netlink.h"

#include <arpa/inet.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <type_traits>
#include <vector>

namespace hocket::lab {

// A request and its attributes, as they go over the wire.
class Message {
 public:
  Message(uint16_t type, uint16_t flags) {
    nlmsghdr header{};
    header.nlmsg_type = type;
    header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
    add(header);
  }

  template <typename T>
  void add(const T& part) {
    static_assert(std::is_trivially_copyable_v<T>);
    put(&part, sizeof part);
  }
  void attribute(uint16_t type, const void* value, size_t length) {
    add(rtattr{static_cast<uint16_t>(RTA_LENGTH(length)), type});
    put(value, length);
  }
  template <typename T>
  void attribute(uint16_t type, const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    attribute(type, &value, sizeof value);
  }
  void attribute(uint16_t type, const std::string& value) { attribute(type, value.c_str(), value.size() + 1); }

  // An attribute that holds others, until end() with what begin() gave.
  size_t begin(uint16_t type) {
    const size_t place = bytes_.size();
    add(rtattr{0, type});
    return place;
  }
  void end(size_t place) {
    const auto length = static_cast<uint16_t>(bytes_.size() - place);
    std::memcpy(bytes_.data() + place + offsetof(rtattr, rta_len), &length, sizeof length);
  }

  const std::vector<char>& finish(uint32_t sequence) {
    const auto length = static_cast<uint32_t>(bytes_.size());
    std::memcpy(bytes_.data() + offsetof(nlmsghdr, nlmsg_len), &length, sizeof length);
    std::memcpy(bytes_.data() + offsetof(nlmsghdr, nlmsg_seq), &sequence, sizeof sequence);
    return bytes_;
  }

 private:
  void put(const void* data, size_t length) {
    const char* first = static_cast<const char*>(data);
    bytes_.insert(bytes_.end(), first, first + length);
    bytes_.resize(NLMSG_ALIGN(bytes_.size()));
  }

  std::vector<char> bytes_;
};

namespace {

ifinfomsg link_of(int index) {
  ifinfomsg link{};
  link.ifi_family = AF_UNSPEC;
  link.ifi_index = index;
  return link;
}

// But for its address.
Message neighbour(unsigned char family, int index, const MacAddress& hardware) {
  Message message(RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE);
  ndmsg header{};
  header.ndm_family = family;
  header.ndm_ifindex = index;
  header.ndm_state = NUD_PERMANENT;
  message.add(header);
  message.attribute(NDA_LLADDR, hardware);
  return message;
}

}  // namespace

Result<Netlink> Netlink::open() {
  platform::Descriptor socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (socket.get() < 0) return Status::system("can't speak to the kernel's network (netlink)", errno);
  return Netlink(std::move(socket));
}

Status Netlink::ask(Message& message, const std::string& what, int* number) {
  const std::vector<char>& bytes = message.finish(++sequence_);
  if (send(socket_.get(), bytes.data(), bytes.size(), 0) < 0) return Status::system(what, errno);
  alignas(nlmsghdr) char answer[8192];
  for (;;) {
    const ssize_t length = recv(socket_.get(), answer, sizeof answer, 0);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return Status::system(what, errno);
    nlmsghdr header;
    nlmsgerr error;
    if (static_cast<size_t>(length) < NLMSG_HDRLEN + sizeof error) continue;
    std::memcpy(&header, answer, sizeof header);
    if (header.nlmsg_type != NLMSG_ERROR || header.nlmsg_seq != sequence_) continue;
    std::memcpy(&error, answer + NLMSG_HDRLEN, sizeof error);
    if (number != nullptr) *number = -error.error;
    return error.error == 0 ? Status::ok() : Status::system(what, -error.error);
  }
}

Status Netlink::add_bridge(const std::string& name, int index) {
  Message message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
  message.add(link_of(index));
  message.attribute(IFLA_IFNAME, name);
  const size_t info = message.begin(IFLA_LINKINFO);
  message.attribute(IFLA_INFO_KIND, std::string("bridge"));
  const size_t data = message.begin(IFLA_INFO_DATA);
  message.attribute(IFLA_BR_MCAST_SNOOPING, uint8_t{0});
  message.attribute(IFLA_BR_STP_STATE, uint32_t{0});
  message.end(data);
  message.end(info);
  return ask(message, "can't make the bridge " + name + " (is the kernel's CONFIG_BRIDGE there?)");
}

Status Netlink::add_veth(const VethPair& pair) {
  Message message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
  message.add(link_of(pair.index));
  message.attribute(IFLA_IFNAME, pair.name);
  message.attribute(IFLA_GROUP, pair.group);
  if (pair.master != 0) message.attribute(IFLA_MASTER, static_cast<uint32_t>(pair.master));
  const size_t info = message.begin(IFLA_LINKINFO);
  message.attribute(IFLA_INFO_KIND, std::string("veth"));
  const size_t data = message.begin(IFLA_INFO_DATA);
  const size_t peer = message.begin(VETH_INFO_PEER);
  message.add(link_of(pair.peer_index));
  message.attribute(IFLA_IFNAME, pair.peer_name);
  message.attribute(IFLA_ADDRESS, pair.peer_address);
  message.attribute(IFLA_NET_NS_FD, static_cast<uint32_t>(pair.peer_namespace));
  message.end(peer);
  message.end(data);
  message.end(info);
  return ask(message, "can't make the link of port " + pair.name + " (is the kernel's CONFIG_VETH there?)");
}

Status Netlink::set_up(int index) {
  Message message(RTM_NEWLINK, 0);
  ifinfomsg link = link_of(index);
  link.ifi_flags = IFF_UP;
  link.ifi_change = IFF_UP;
  message.add(link);
  return ask(message, "can't set interface " + std::to_string(index) + " up");
}

Status Netlink::set_queue_length(int index, uint32_t packets) {
  Message message(RTM_NEWLINK, 0);
  message.add(link_of(index));
  message.attribute(IFLA_TXQLEN, packets);
  return ask(message, "can't set the queue of interface " + std::to_string(index));
}

Status Netlink::add_address(int index, uint32_t address, int prefix_length) {
  Message message(RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE);
  ifaddrmsg header{};
  header.ifa_family = AF_INET;
  header.ifa_prefixlen = static_cast<uint8_t>(prefix_length);
  header.ifa_index = static_cast<uint32_t>(index);
  message.add(header);
  const uint32_t all_hosts = prefix_length == 0 ? ~uint32_t{0} : (uint32_t{1} << (32 - prefix_length)) - 1;
  message.attribute(IFA_LOCAL, htonl(address));
  message.attribute(IFA_ADDRESS, htonl(address));
  message.attribute(IFA_BROADCAST, htonl(address | all_hosts));
  return ask(message, "can't give an address to interface " + std::to_string(index));
}

Status Netlink::add_address(int index, const Ipv6Address& address, int prefix_length) {
  Message message(RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE);
  ifaddrmsg header{};
  header.ifa_family = AF_INET6;
  header.ifa_prefixlen = static_cast<uint8_t>(prefix_length);
  header.ifa_flags = IFA_F_NODAD;
  header.ifa_index = static_cast<uint32_t>(index);
  message.add(header);
  message.attribute(IFA_LOCAL, address);
  message.attribute(IFA_ADDRESS, address);
  return ask(message, "can't give an IPv6 address to interface " + std::to_string(index));
}

Status Netlink::add_neighbour(int index, uint32_t address, const MacAddress& hardware) {
  Message message = neighbour(AF_INET, index, hardware);
  message.attribute(NDA_DST, htonl(address));
  return ask(message, "can't name a neighbour on interface " + std::to_string(index));
}

Status Netlink::add_neighbour(int index, const Ipv6Address& address, const MacAddress& hardware) {
  Message message = neighbour(AF_INET6, index, hardware);
  message.attribute(NDA_DST, address);
  return ask(message, "can't name a neighbour over IPv6 on interface " + std::to_string(index));
}

Status Netlink::add_forwarding(int port, const MacAddress& hardware) {
  Message message(RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE);
  ndmsg header{};
  header.ndm_family = AF_BRIDGE;
  header.ndm_ifindex = port;
  header.ndm_state = NUD_NOARP;
  header.ndm_flags = NTF_MASTER;
  message.add(header);
  message.attribute(NDA_LLADDR, hardware);
  return ask(message, "can't tell the bridge who is behind port " + std::to_string(port));
}

Status Netlink::add_route(int index, uint32_t destination, int prefix_length) {
  Message message(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE);
  rtmsg header{};
  header.rtm_family = AF_INET;
  header.rtm_dst_len = static_cast<uint8_t>(prefix_length);
  header.rtm_table = RT_TABLE_MAIN;
  header.rtm_protocol = RTPROT_STATIC;
  header.rtm_scope = RT_SCOPE_LINK;
  header.rtm_type = RTN_UNICAST;
  message.add(header);
  message.attribute(RTA_DST, htonl(destination));
  message.attribute(RTA_OIF, static_cast<uint32_t>(index));
  return ask(message, "can't add a route by interface " + std::to_string(index));
}

Status Netlink::delete_group(uint32_t group) {
  Message message(RTM_DELLINK, 0);
  message.add(link_of(0));
  message.attribute(IFLA_GROUP, group);
  int number = 0;
  Status status = ask(message, "can't remove the ports of the switch", &number);
  if (number == ENODEV) return Status::ok();  // the kernel's word for an empty group
  return status;
}

}  // namespace hocket::lab
