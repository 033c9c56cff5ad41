// SPDX-License-Identifier: BSD-3-Clause
// hocket nic top: what engines are doing now, a picture every so often.
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cinttypes>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "command/nic_command.h"
#include "command/number_range.h"
#include "engines/nic/port.h"

namespace hocket::command {
namespace {

using nlohmann::ordered_json;

struct TopOptions {
  std::string interface;
  double interval_s = 1;
  int pictures = 0;  // 0: until it is interrupted
};

// Of one interface, as it was last seen.
struct Seen {
  uint64_t at_ns = 0;
  std::map<std::string, uint64_t> counters;
  std::map<std::string, uint64_t> completed;  // by group
};

using Rates = std::map<std::string, double>;

Rates rates_of(const std::map<std::string, uint64_t>& before, const std::map<std::string, uint64_t>& after, double s) {
  Rates rates;
  for (const auto& [name, value] : after) {
    const auto found = before.find(name);
    if (found != before.end() && value >= found->second && s > 0)
      rates[name] = static_cast<double>(value - found->second) / s;
  }
  return rates;
}

Seen look_at(const ordered_json& about) {
  Seen seen;
  seen.at_ns = now_ns();
  for (const auto& [name, value] : about["counters"].items()) seen.counters[name] = value.get<uint64_t>();
  for (const ordered_json& group : about["groups"])
    seen.completed[group["id"].get<std::string>()] = group["completed"].get<uint64_t>();
  return seen;
}

void draw(const ordered_json& about, const Seen& before, const Seen& now) {
  const double s = static_cast<double>(now.at_ns - before.at_ns) / 1e9;
  std::printf("%s: %s engine, %s\n", about["interface"].get<std::string>().c_str(),
              about["engine"].get<std::string>().c_str(), about["address"].get<std::string>().c_str());
  const Rates groups = rates_of(before.completed, now.completed, s);
  if (!about["groups"].empty())
    std::printf("  %-17s %7s %6s %14s %12s\n", "group", "member", "size", "completed", "a second");
  for (const ordered_json& group : about["groups"]) {
    const auto id = group["id"].get<std::string>();
    if (group["is_leaving"].get<bool>()) continue;
    const auto rate = groups.find(id);
    std::printf("  %-17s %7u %6u %14" PRIu64 " %12.0f%s\n", id.c_str(), group["member"].get<unsigned>(),
                group["size"].get<unsigned>(), group["completed"].get<uint64_t>(),
                rate == groups.end() ? 0.0 : rate->second, group["is_broken"].get<bool>() ? "  broken" : "");
  }
  std::printf("  %-17s %14s %12s\n", "counter", "all", "a second");
  for (const auto& [name, rate] : rates_of(before.counters, now.counters, s)) {
    const uint64_t all = now.counters.at(name);
    if (all != 0) std::printf("  %-17s %14" PRIu64 " %12.0f\n", name.c_str(), all, rate);
  }
}

volatile sig_atomic_t is_interrupted = 0;

int show_top(const TopOptions& options) {
  struct sigaction interrupt{};
  interrupt.sa_handler = [](int) { is_interrupted = 1; };
  sigaction(SIGINT, &interrupt, nullptr);
  sigaction(SIGTERM, &interrupt, nullptr);
  const bool is_terminal = isatty(STDOUT_FILENO) != 0;
  std::map<std::string, Seen> seen;
  for (int picture = 0; is_interrupted == 0; ++picture) {
    std::vector<std::string> interfaces = {options.interface};
    if (options.interface.empty()) interfaces = engines::nic::interfaces_with_service();
    if (interfaces.empty())
      return fail(kFailure, "no NIC engine runs here; `hocket nic up INTERFACE` as root starts one");
    if (is_terminal && picture > 0) std::printf("\033[H\033[J");
    for (const std::string& interface : interfaces) {
      const Result<ordered_json> about = nic_report(interface, !options.interface.empty());
      if (!about.is_ok() && interfaces.size() > 1) continue;
      if (!about.is_ok()) return fail(kFailure, about.status().message());
      const Seen now = look_at(about.value());
      if (picture > 0) draw(about.value(), seen[interface], now);
      seen[interface] = now;
    }
    std::fflush(stdout);
    if (options.pictures != 0 && picture >= options.pictures) break;
    const auto whole = static_cast<time_t>(options.interval_s);
    const timespec pause = {whole, static_cast<long>((options.interval_s - static_cast<double>(whole)) * 1e9)};
    (void)nanosleep(&pause, nullptr);
  }
  return kSuccess;
}

}  // namespace

void add_nic_top(CLI::App& nic, Invocation& invocation) {
  auto* sub = nic.add_subcommand("top", "Show what engines are doing, again and again");
  auto options = std::make_shared<TopOptions>();
  sub->add_option("interface", options->interface, "which (default: all)")->type_name("IFACE");
  sub->add_option("--interval", options->interval_s, "seconds between two pictures (default: 1)")
      ->check(number_between(0.01, 3600));
  sub->add_option("--count", options->pictures, "so many pictures (default: until it is interrupted)")
      ->check(CLI::Range(1, 1 << 30));
  sub->callback([=, &invocation] { invocation.run = [=] { return show_top(*options); }; });
}

}  // namespace hocket::command
