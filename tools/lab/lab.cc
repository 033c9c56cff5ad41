// SPDX-License-Identifier: BSD-3-Clause
#include "lab/lab.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <mntent.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/environment.h"
#include "lab/words.h"

namespace hocket::lab {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr uint32_t kNetwork = (10u << 24) | (77u << 16);

std::string state_file(const std::string& name) { return directory_of(name) + "/state.json"; }

Status damaged(const std::string& name) {
  return {Code::kSystem,
          "lab " + name + " is stale: half built or half removed. Remove it by `hocket lab down " + name + "`"};
}

std::string list_text(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

const char* switch_name(SwitchKind kind) { return kind == SwitchKind::kBridge ? "bridge" : "redirect"; }

bool has_ipv6() {
  std::error_code error;
  return fs::exists("/proc/sys/net/ipv6", error);
}

std::string node_name(int node) { return "n" + std::to_string(node); }

std::string address_text(uint32_t address) {
  return std::to_string(address >> 24) + "." + std::to_string(address >> 16 & 255) + "." +
         std::to_string(address >> 8 & 255) + "." + std::to_string(address & 255);
}

std::string Lab::directory() const { return directory_of(name); }
std::string Lab::node_directory(int node) const { return directory() + "/" + node_name(node); }
uint32_t Lab::network() const { return kNetwork | static_cast<uint32_t>(subnet) << (32 - kPrefixLength); }
uint32_t Lab::address(int node) const { return network() + static_cast<uint32_t>(node + 1); }
std::string Lab::address_text(int node) const { return lab::address_text(address(node)); }
std::string Lab::subnet_text() const { return lab::address_text(network()) + "/" + std::to_string(kPrefixLength); }
Ipv6Address Lab::ipv6_address(int node) const {
  const auto high = static_cast<uint8_t>((node + 1) >> 8), low = static_cast<uint8_t>(node + 1);
  return {0xfd, 0x0a, 0, 0x4d, 0, 0, 0, static_cast<uint8_t>(subnet), 0, 0, 0, 0, 0, 0, high, low};
}
std::string Lab::ipv6_address_text(int node) const {
  char text[INET6_ADDRSTRLEN] = "";
  (void)inet_ntop(AF_INET6, ipv6_address(node).data(), text, sizeof text);
  return text;
}
MacAddress Lab::mac_address(int node) const {
  // Locally administered; "hk".
  return {0x02, 0x68, 0x6b, static_cast<uint8_t>(subnet), static_cast<uint8_t>(node >> 8), static_cast<uint8_t>(node)};
}

std::vector<int> Lab::cores_of(int node) const {
  const auto count = static_cast<int>(cores.size());
  if (count == 0) return {};
  if (count <= nodes) return {cores[static_cast<size_t>(node % count)]};
  return {cores.begin() + node * count / nodes, cores.begin() + (node + 1) * count / nodes};
}

std::string root() {
  Result<std::string> folder = environment::get_text("HOCKET_LAB_DIRECTORY");
  if (!folder.is_ok()) return {};
  // Helpers have working folders of their own.
  std::error_code error;
  const fs::path absolute = fs::absolute(folder.value(), error).lexically_normal();
  return error ? folder.take() : absolute.string();
}

bool is_home(const std::string& folder) {
  FILE* mounts = setmntent("/proc/self/mounts", "r");
  if (mounts == nullptr) return false;
  bool found = false;
  while (const mntent* one = getmntent(mounts))
    found |= folder == one->mnt_dir && std::strcmp(one->mnt_fsname, kHomeSource) == 0;
  endmntent(mounts);
  return found;
}

std::string directory_of(const std::string& name) { return root() + "/" + name; }

std::vector<std::string> names() {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root(), error)) {
    const std::string name = entry.path().filename();
    if (!check_name(name).is_ok() || !entry.is_directory(error)) continue;
    // An empty one is left of a lab that was being made or removed; what else there is, is not ours.
    if (is_home(entry.path()) || fs::is_empty(entry.path(), error)) found.push_back(name);
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool exists(const std::string& name) {
  std::error_code error;
  return fs::exists(directory_of(name), error);
}

Result<Lab> load(const std::string& name) {
  HOCKET_TRY(check_name(name));
  if (!exists(name)) {
    const std::vector<std::string> known = names();
    return Status(Code::kInvalidArgument, "there is no lab `" + name + "`; " +
                                              (known.empty() ? "there is none at all: `hocket lab up 4` makes one"
                                                             : "there are " + list_text(known)));
  }
  std::ifstream file(state_file(name));
  const json state = json::parse(file, nullptr, false);
  if (!state.is_object()) return damaged(name);
  Lab lab;
  lab.name = name;
  lab.nodes = state.value("nodes", 0);
  lab.subnet = state.value("subnet", -1);
  lab.ranks_per_node = state.value("ranks_per_node", 1);
  lab.cores = state.value("cores", std::vector<int>());
  lab.switch_kind = state.value("switch", "bridge") == "redirect" ? SwitchKind::kRedirect : SwitchKind::kBridge;
  lab.is_complete = state.value("complete", false);
  if (lab.nodes < 1 || lab.nodes > kMostNodes || lab.subnet < 0 || lab.subnet >= kMostSubnets) return damaged(name);
  return lab;
}

Status save(const Lab& lab) {
  const json state = {{"nodes", lab.nodes},
                      {"subnet", lab.subnet},
                      {"ranks_per_node", lab.ranks_per_node},
                      {"cores", lab.cores},
                      {"switch", switch_name(lab.switch_kind)},
                      {"complete", lab.is_complete}};
  const std::string file = state_file(lab.name);
  const std::string unfinished = file + ".new";
  std::ofstream out(unfinished);
  out << state.dump(2) << "\n";
  out.close();
  if (!out || std::rename(unfinished.c_str(), file.c_str()) != 0) return Status::system("can't write " + file, errno);
  return Status::ok();
}

Result<Lab> find(const std::string& name) {
  std::string wanted = name;
  if (wanted.empty()) {
    const std::vector<std::string> known = names();
    if (known.empty()) return Status(Code::kInvalidArgument, "there is no lab: `hocket lab up 4` makes one");
    if (known.size() > 1)
      return Status(Code::kInvalidArgument, "which lab? There are " + list_text(known) + ": say --name");
    wanted = known[0];
  }
  Result<Lab> lab = load(wanted);
  if (lab.is_ok() && !lab.value().is_complete) return damaged(wanted);
  return lab;
}

Result<Lock> Lock::take() {
  const std::string folder = root();
  for (;;) {
    std::error_code error;
    fs::create_directories(folder, error);
    platform::Descriptor opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (opened.get() < 0) return Status::system("can't make the folder of labs, " + folder, errno);
    while (flock(opened.get(), LOCK_EX) != 0) {
      if (errno != EINTR) return Status::system("can't lock " + folder, errno);
    }
    // The process that had it before may have removed the folder.
    struct stat ours{};
    struct stat present{};
    if (fstat(opened.get(), &ours) == 0 && stat(folder.c_str(), &present) == 0 && ours.st_ino == present.st_ino &&
        ours.st_dev == present.st_dev) {
      return Lock(std::move(opened));
    }
  }
}

void Lock::tidy_up() const {
  const fs::path folder = root();
  if (rmdir(folder.c_str()) != 0 || environment::is_set("HOCKET_LAB_DIRECTORY")) return;
  rmdir(folder.parent_path().c_str());  // /run/hocket, ours too
}

Status need_root() {
  if (geteuid() == 0) return Status::ok();
  return {Code::kNotSupported, "a lab is made of network namespaces, which needs root: run it by sudo"};
}

}  // namespace hocket::lab
