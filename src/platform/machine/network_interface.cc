// SPDX-License-Identifier: BSD-3-Clause
#include "platform/machine/network_interface.h"

#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "platform/descriptor.h"

namespace hocket::platform {

Result<NetworkInterface> find_network_interface(const std::string& name) {
  ifreq request{};
  const auto refuse = [&] {
    return Status(Code::kInvalidArgument, "interface `" + name + "` doesn't exist; `ip address` shows what there is");
  };
  if (name.empty() || name.size() >= sizeof request.ifr_name) return refuse();
  const Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) return Status::system("can't make a socket", errno);
  std::memcpy(request.ifr_name, name.c_str(), name.size() + 1);
  const auto ask = [&](unsigned long what) { return ioctl(socket.get(), what, &request) == 0; };

  NetworkInterface found;
  found.name = name;
  if (!ask(SIOCGIFINDEX)) return refuse();
  found.index = static_cast<uint32_t>(request.ifr_ifindex);
  if (!ask(SIOCGIFFLAGS)) return Status::system("can't ask for the flags of interface " + name, errno);
  found.flags = static_cast<unsigned short>(request.ifr_flags);
  if (!ask(SIOCGIFMTU)) return Status::system("can't ask for the MTU of interface " + name, errno);
  found.mtu = static_cast<uint32_t>(request.ifr_mtu);
  found.is_ethernet = ask(SIOCGIFHWADDR) && request.ifr_hwaddr.sa_family == ARPHRD_ETHER;
  if (found.is_ethernet) std::memcpy(found.mac.data(), request.ifr_hwaddr.sa_data, found.mac.size());
  request.ifr_addr.sa_family = AF_INET;
  if (ask(SIOCGIFADDR)) {
    sockaddr_in address;
    std::memcpy(&address, &request.ifr_addr, sizeof address);
    found.ip = address.sin_addr.s_addr;
  }
  return found;
}

}  // namespace hocket::platform
