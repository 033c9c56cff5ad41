// SPDX-License-Identifier: BSD-3-Clause
#include "lab/building/survey.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "lab/namespaces.h"
#include "lab/words.h"

namespace hocket::lab {
namespace {

namespace fs = std::filesystem;

// "net:[4026532301]" -> 4026532301; 0 where the process has ended.
ino_t namespace_of(const fs::path& process, const char* kind) {
  std::error_code error;
  const std::string text = fs::read_symlink(process / "ns" / kind, error);
  const size_t bracket = text.find('[');
  if (error || bracket == std::string::npos) return 0;
  return std::strtoul(text.c_str() + bracket + 1, nullptr, 10);
}

std::string program_of(const fs::path& process) {
  std::ifstream file(process / "comm");
  std::string name;
  std::getline(file, name);
  return name;
}

// Interfaces by /proc/net/dev of the network in which the calling thread is.
Result<PortTraffic> read_traffic() {
  std::ifstream file("/proc/thread-self/net/dev");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const size_t begin = line.find_first_not_of(' ');
    if (line.substr(begin, colon - begin) != kNodeInterface) continue;
    std::istringstream numbers(line.substr(colon + 1));
    uint64_t skipped = 0;
    PortTraffic traffic;
    numbers >> traffic.bytes_to_node >> traffic.packets_to_node;
    for (int i = 0; i < 6; ++i) numbers >> skipped;
    numbers >> traffic.bytes_from_node >> traffic.packets_from_node;
    return traffic;
  }
  return Status(Code::kSystem, std::string("a node has lost its interface ") + kNodeInterface +
                                   ": remove the lab by `hocket lab down`");
}

bool has_port(const Lab& lab, int node) {
  const Result<NetworkVisit> visit = NetworkVisit::enter(lab.node_network(node));
  return visit.is_ok() && read_traffic().is_ok();
}

}  // namespace

std::vector<LabNamespace> namespaces_of(const std::string& name) {
  std::vector<LabNamespace> found;
  const auto add = [&](int node, const std::string& file) {
    if (const ino_t number = namespace_number(file); number != 0) found.push_back({node, number});
  };
  const std::string folder = directory_of(name);
  add(kSwitchNode, folder + "/switch/net");
  for (int node = 0; node < kMostNodes; ++node) {
    for (const NamespaceKind& kind : node_namespaces()) add(node, folder + "/" + node_name(node) + "/" + kind.name);
  }
  return found;
}

std::vector<LabProcess> processes_in(const std::vector<LabNamespace>& namespaces) {
  std::vector<LabProcess> found;
  std::error_code error;
  for (auto entry = fs::directory_iterator("/proc", error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const std::string number = entry->path().filename();
    pid_t process = 0;
    const auto [end, trouble] = std::from_chars(number.data(), number.data() + number.size(), process);
    if (trouble != std::errc() || end != number.data() + number.size()) continue;
    for (const NamespaceKind& kind : node_namespaces()) {
      const ino_t own = namespace_of(entry->path(), kind.name);
      const auto in = std::find_if(namespaces.begin(), namespaces.end(),
                                   [own](const LabNamespace& known) { return known.number == own; });
      if (own == 0 || in == namespaces.end()) continue;
      found.push_back({process, in->node, program_of(entry->path())});
      break;
    }
  }
  return found;
}

std::string what_is_missing(const std::string& name) {
  const Result<Lab> loaded = load(name);
  if (!loaded.is_ok()) return "its state can't be read";
  const Lab& lab = loaded.value();
  if (!lab.is_complete) return "building or removing it was ended halfway";
  if (namespace_number(lab.switch_network()) == 0) return "the switch's namespace";
  for (int node = 0; node < lab.nodes; ++node) {
    for (const NamespaceKind& kind : node_namespaces()) {
      if (namespace_number(lab.node_directory(node) + "/" + kind.name) == 0)
        return "the namespace " + std::string(kind.name) + " of " + node_name(node);
    }
    if (!has_port(lab, node)) return "the link of " + node_name(node);
  }
  return {};
}

Result<std::vector<PortTraffic>> traffic_of(const Lab& lab) {
  std::vector<PortTraffic> all;
  for (int node = 0; node < lab.nodes; ++node) {
    Result<NetworkVisit> visit = NetworkVisit::enter(lab.node_network(node));
    if (!visit.is_ok()) return visit.take_status();
    Result<PortTraffic> traffic = read_traffic();
    if (!traffic.is_ok()) return traffic.take_status();
    all.push_back(traffic.value());
  }
  return all;
}

}  // namespace hocket::lab
