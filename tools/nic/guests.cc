// SPDX-License-Identifier: BSD-3-Clause
#include "nic/guests.h"

#include <linux/capability.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <string>

namespace hocket::nic {
namespace {

constexpr int kHexadecimal = 16;

bool has_capability(const std::string& process, uint32_t capability) {
  const std::string wanted = "CapEff:";
  std::ifstream status(process + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.compare(0, wanted.size(), wanted) != 0) continue;
    return (std::strtoull(line.c_str() + wanted.size(), nullptr, kHexadecimal) >> capability & 1) != 0;
  }
  return false;
}

bool is_same_file(const std::string& one, const std::string& other) {
  struct stat first{};
  struct stat second{};
  return stat(one.c_str(), &first) == 0 && stat(other.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

}  // namespace

bool may_enter(const ucred& who, int socket, const Guests& guests) {
  if (who.uid == 0 || who.uid == geteuid() || guests.everybody) return true;
  if (std::find(guests.users.begin(), guests.users.end(), who.uid) != guests.users.end()) return true;
  std::array<gid_t, 256> groups{};
  socklen_t length = sizeof groups;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &length) != 0) length = 0;
  std::vector<gid_t> all(groups.begin(), groups.begin() + length / sizeof(gid_t));
  all.push_back(who.gid);
  return std::any_of(all.begin(), all.end(), [&](gid_t group) {
    return std::find(guests.groups.begin(), guests.groups.end(), group) != guests.groups.end();
  });
}

bool may_send_raw(const ucred& who) {
  if (who.uid != 0 || who.pid <= 0) return false;
  // A container's root has the number, and often no such right; one of a user namespace has the right, but elsewhere.
  const std::string process = "/proc/" + std::to_string(who.pid);
  return has_capability(process, CAP_NET_RAW) && is_same_file(process + "/ns/user", "/proc/self/ns/user");
}

}  // namespace hocket::nic
