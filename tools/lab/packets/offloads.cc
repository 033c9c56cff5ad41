// SPDX-License-Identifier: BSD-3-Clause
#include "lab/packets/offloads.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "lab/namespaces.h"
#include "platform/descriptor.h"

namespace hocket::lab {

Status set_offloads(const Lab& lab, bool on) {
  for (int node = 0; node < lab.nodes; ++node) {
    Result<NetworkVisit> visit = NetworkVisit::enter(lab.node_network(node));
    if (!visit.is_ok()) return visit.take_status();
    const platform::Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (socket.get() < 0) return Status::system("can't make a socket in " + node_name(node), errno);
    for (const uint32_t command : {ETHTOOL_STXCSUM, ETHTOOL_SSG, ETHTOOL_STSO, ETHTOOL_SGSO}) {
      ethtool_value value{command, on ? 1U : 0U};
      ifreq request{};
      std::strncpy(request.ifr_name, kNodeInterface, IFNAMSIZ - 1);
      request.ifr_data = reinterpret_cast<char*>(&value);
      if (ioctl(socket.get(), SIOCETHTOOL, &request) != 0)
        return Status::system("can't set the offloads of " + node_name(node) + "'s interface", errno);
    }
  }
  return Status::ok();
}

}  // namespace hocket::lab
