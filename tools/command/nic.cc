// SPDX-License-Identifier: BSD-3-Clause
// hocket nic: the engine in an interface's data path.
#include <grp.h>
#include <pwd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "command/nic_command.h"
#include "command/number_range.h"
#include "engines/nic/port.h"
#include "nic/daemon.h"

namespace hocket::command {
namespace {

using engines::nic::NicPort;
using nlohmann::ordered_json;

constexpr const char* kNicFooter = R"(
Examples:
  hocket nic up eth0                    from now on short collectives of jobs that use eth0 run in the packet path
  hocket nic up eth0 --user alice       and alice's jobs may use it
  hocket nic status                     groups, and what has become of every packet
  hocket nic top                        the same as it happens
  hocket nic down eth0                  and nothing is left
`up` needs root, once a machine; jobs don't. Where nobody is root: `hocket nic agent eth0`.)";

struct UpOptions {
  bool is_agent = false;
  nic::Hook hook = nic::Hook::kAutomatic;
  std::string interface;
  std::vector<std::string> users;
  std::vector<std::string> groups;
  bool everybody = false;
  bool stays = false;
  uint32_t groups_per_user = nic::Guests().groups_per_user;
  int port = NIC_DEFAULT_PORT;
  double ask_ms = 1;
  double silence_s = 10;
  int unexpected = nic::EngineOptions().unexpected;
};

int bring_up(const UpOptions& options) {
  nic::DaemonOptions daemon;
  if (!std::isfinite(options.ask_ms) || !std::isfinite(options.silence_s))
    return fail(kUsage, "--ask-ms and --silence-s: numbers are needed");
  if (options.silence_s * 1000 < 2 * options.ask_ms)
    return fail(kUsage, "--silence-s " + std::to_string(options.silence_s) +
                            " is over before a machine has been asked " + "twice: at least two of --ask-ms");
  // Other users' jobs would have to tell it their keys, and trust root and themselves only.
  if (options.is_agent && geteuid() != 0 && (options.everybody || !options.users.empty() || !options.groups.empty()))
    return fail(kUsage, "--user, --group and --everybody are for root: an agent that user " +
                            std::to_string(geteuid()) + " keeps serves that user's jobs only");
  const Result<nic::Interface> interface = nic::engine_interface(options.interface);
  if (!interface.is_ok()) return fail(kUsage, interface.status().message());
  for (const std::string& user : options.users) {
    const passwd* known = getpwnam(user.c_str());
    if (known == nullptr) return fail(kUsage, "there is no user `" + user + "`");
    daemon.guests.users.push_back(known->pw_uid);
  }
  for (const std::string& group : options.groups) {
    const struct group* known = getgrnam(group.c_str());
    if (known == nullptr) return fail(kUsage, "there is no group `" + group + "`");
    daemon.guests.groups.push_back(known->gr_gid);
  }
  constexpr double kNsPerMs = 1e6;
  constexpr double kNsPerS = 1e9;
  daemon.guests.everybody = options.everybody;
  daemon.guests.groups_per_user = options.groups_per_user;
  daemon.stays = options.stays;
  daemon.is_agent = options.is_agent;
  daemon.engine.interface = interface.value();
  daemon.engine.name = options.interface;
  daemon.engine.hook = options.hook;
  daemon.engine.port = static_cast<uint16_t>(options.port);
  daemon.engine.backoff.ask_ns = static_cast<uint64_t>(options.ask_ms * kNsPerMs);
  daemon.engine.backoff.silence_ns = static_cast<uint64_t>(options.silence_s * kNsPerS);
  daemon.engine.unexpected = static_cast<uint16_t>(options.unexpected);
  const Status status = nic::start_daemon(daemon);
  if (!status.is_ok()) return fail(kFailure, status.message());
  if (options.stays) return kSuccess;
  const Result<ordered_json> report = nic_report(options.interface);
  if (!report.is_ok()) return fail(kFailure, report.status().message());
  const ordered_json& about = report.value();
  std::printf("NIC engine on %s, %s: %s\n", options.interface.c_str(), about["address"].get<std::string>().c_str(),
              about["place"].get<std::string>().c_str());
  if (options.hook == nic::Hook::kXdp && nic::driver_of(interface.value()) == "veth")
    std::fprintf(stderr,
                 "hocket: %s is a veth, whose driver sends only if the other end has an XDP program or GRO; if it has "
                 "not, groups will break: --hook tc\n",
                 options.interface.c_str());
  return kSuccess;
}

int take_down(const std::string& interface) {
  Result<std::unique_ptr<NicPort>> port = NicPort::open_any(interface);
  if (!port.is_ok()) return fail(kFailure, port.status().message());
  const Status status = port.value()->end_service();
  return status.is_ok() ? kSuccess : fail(kFailure, status.message());
}

void print(const ordered_json& about) {
  std::printf("%s: %s engine, %s\n  %s\n", about["interface"].get<std::string>().c_str(),
              about["engine"].get<std::string>().c_str(), about["address"].get<std::string>().c_str(),
              about["place"].get<std::string>().c_str());
  if (!about["groups"].empty())
    std::printf("  %-17s %8s %7s %6s %12s %12s\n", "group", "user", "member", "size", "started", "completed");
  for (const ordered_json& group : about["groups"]) {
    std::printf("  %-17s %8u %7u %6u %12llu %12llu%s%s\n", group["id"].get<std::string>().c_str(),
                group["user"].get<unsigned>(), group["member"].get<unsigned>(), group["size"].get<unsigned>(),
                group["started"].get<unsigned long long>(), group["completed"].get<unsigned long long>(),
                group["is_broken"].get<bool>() ? "  broken" : "", group["is_leaving"].get<bool>() ? "  leaving" : "");
  }
  const char* separator = "  ";
  for (const auto& [name, value] : about["counters"].items()) {
    if (value.get<uint64_t>() == 0) continue;
    std::printf("%s%s %llu", separator, name.c_str(), static_cast<unsigned long long>(value.get<uint64_t>()));
    separator = ", ";
  }
  if (*separator == ',') std::printf("\n");
}

int show_status(const std::string& interface, bool as_json) {
  std::vector<std::string> interfaces = {interface};
  if (interface.empty()) interfaces = engines::nic::interfaces_with_service();
  ordered_json all = ordered_json::array();
  for (const std::string& one : interfaces) {
    const Result<ordered_json> report = nic_report(one, !interface.empty());
    if (!report.is_ok() && interface.empty()) {
      (void)fail(kFailure, report.status().message());
      continue;
    }
    if (!report.is_ok()) return fail(kFailure, report.status().message());
    all.push_back(report.value());
  }
  // Anybody may have taken a name: it is a failure only if there was nothing else.
  const int code = all.empty() && !interfaces.empty() ? kFailure : kSuccess;
  if (as_json) {
    std::printf("%s\n", all.dump(2).c_str());
    return code;
  }
  if (interfaces.empty()) std::printf("no NIC engine runs here; `hocket nic up INTERFACE` as root starts one\n");
  for (const ordered_json& about : all) print(about);
  return code;
}

void add_start(CLI::App& nic, Invocation& invocation, const char* name, const char* purpose, bool is_agent) {
  auto* up = nic.add_subcommand(name, purpose);
  auto options = std::make_shared<UpOptions>();
  options->is_agent = is_agent;
  up->add_option("interface", options->interface, "which, as in `ip link`")->required()->type_name("IFACE");
  up->add_option("--user", options->users, "whose jobs may use it, beside those of root and of the user who starts it")
      ->type_name("USER");
  up->add_option("--group", options->groups, "a group of users whose jobs may")->type_name("GROUP");
  up->add_flag("--everybody", options->everybody, "anybody's may");
  up->add_option(
        "--groups-per-user", options->groups_per_user,
        "so many at a time, of each user but root (default: " + std::to_string(nic::Guests().groups_per_user) + ")")
      ->check(CLI::Range(1, 65536));
  up->add_option("--port", options->port,
                 "UDP port, the same on all machines (default: " + std::to_string(NIC_DEFAULT_PORT) + ")")
      ->check(CLI::Range(1, 65535));
  up->add_option("--ask-ms", options->ask_ms, "the shortest time until a missing message is asked for (default: 1)")
      ->check(number_between(0.05, 10'000));
  up->add_option("--silence-s", options->silence_s, "a machine that is silent for so long is gone (default: 10)")
      ->check(number_between(0.01, 86'400));
  up->add_option(
        "--unexpected", options->unexpected,
        "so many operations ahead of a late process, what others send for it is kept; past them it is rejected "
        "and asked for again (default: all that can be under way, " +
            std::to_string(nic::EngineOptions().unexpected) + ")")
      ->check(CLI::Range(0, int{NIC_WINDOW}));
  const std::map<std::string, nic::Hook> hooks = {{"auto", nic::Hook::kAutomatic},
                                                  {"tc", nic::Hook::kTc},
                                                  {"clsact", nic::Hook::kClsact},
                                                  {"xdp", nic::Hook::kXdp}};
  if (!is_agent)
    up->add_option_function<std::string>(
          "--hook", [=](const std::string& word) { options->hook = hooks.at(word); },
          "where packets are met: tc, clsact (tc as kernels before 6.6 have it), xdp (in the driver), auto "
          "(default: auto)")
        ->check(CLI::IsMember({"auto", "tc", "clsact", "xdp"}))
        ->type_name("HOOK");
  up->add_flag("--foreground", options->stays, "don't become a daemon");
  up->callback([=, &invocation] { invocation.run = [=] { return bring_up(*options); }; });
}

}  // namespace

Result<ordered_json> nic_report(const std::string& interface, bool is_named) {
  // A name alone proves nothing, and the process that took it may never answer: only one that is given by name is
  // asked.
  Result<std::unique_ptr<NicPort>> port = is_named ? NicPort::open_any(interface) : NicPort::open(interface);
  if (!port.is_ok()) return port.take_status();
  Result<std::string> report = port.value()->report();
  if (!report.is_ok()) return report.take_status();
  return ordered_json::parse(report.value());
}

void add_nic(CLI::App& app, Invocation& invocation) {
  auto* sub = app.add_subcommand("nic", "Collectives in the kernel's packet path: start, show, end the engine");
  sub->footer(kNicFooter);
  sub->require_subcommand(1);
  add_start(*sub, invocation, "up", "Put the engine on an interface, into the kernel's packet path", false);
  add_start(*sub, invocation, "agent", "Run the engine as a process over UDP: no root, no BPF; groups may mix both",
            true);

  auto interface = std::make_shared<std::string>();
  auto* down = sub->add_subcommand("down", "End it; operations under way end in an error");
  down->add_option("interface", *interface, "which")->required()->type_name("IFACE");
  down->callback([=, &invocation] { invocation.run = [=] { return take_down(*interface); }; });

  auto* status = sub->add_subcommand("status", "Show engines, their groups and counters");
  auto as_json = std::make_shared<bool>(false);
  status->add_option("interface", *interface, "which (default: all)")->type_name("IFACE");
  status->add_flag("--json", *as_json, "for programs");
  add_nic_top(*sub, invocation);
  status->callback([=, &invocation] { invocation.run = [=] { return show_status(*interface, *as_json); }; });
}

}  // namespace hocket::command
