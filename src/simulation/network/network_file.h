// SPDX-License-Identifier: BSD-3-Clause
// Networks as files:
//
//   hocket-network 1
//   # Myrinet with LANai-XP cards, 8 nodes
//   like two-cores                  # begins with another one's numbers; before all others
//   nic_send_us 1.59                # where it is from
//
// A number stands behind its name and has no unit but what the name ends in; bytes may be 4K, 1G. Each name stands
// once. docs/networks.md has all names, and the networks that are built in.
//
// Thread safety: pure functions.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "simulation/network/network.h"

namespace hocket::simulation {

struct BuiltInNetwork {
  std::string_view name;
  std::string_view text;
};
extern const std::span<const BuiltInNetwork> kBuiltInNetworks;

// `where`: the file's name, for errors; the network's is what stands before its ending.
Result<Network> parse_network(std::string_view text, std::string_view where);
// One that is built in, or a file: a word with a `/` or with the ending `.network`.
Result<Network> find_network(const std::string& word);

// A file that parse_network() makes this network of. `head`: its comment, of a line or several. `source`: where the
// number of that name is from, of one line; "" leaves out what is the default.
std::string network_to_text(const Network& network, std::string_view head,
                            const std::function<std::string(std::string_view name)>& source);

}  // namespace hocket::simulation
