// SPDX-License-Identifier: BSD-3-Clause
#include "bench/lab/bench_lab.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/lab/passing_ports.h"
#include "engines/nic/port.h"
#include "lab/building/build.h"
#include "lab/building/remove.h"
#include "lab/namespaces.h"
#include "lab/packets/impairment.h"
#include "lab/words.h"
#include "nic/daemon.h"
#include "supervision/daemon.h"

namespace hocket::lab_bench {

using engines::nic::NicPort;

// What is lost by it, where a word has it, are multicasts only.
static constexpr std::string_view kLostMulticasts = "lost-multicasts";

std::string words_of_impairments() {
  std::string shares, times;
  for (const lab::ImpairmentFacts& facts : lab::kImpairments) {
    const std::string word = std::string(facts.name) + "=";
    if (facts.measure == lab::Measure::kTime) times += ", " + word + "1ms";
    if (facts.measure != lab::Measure::kShare) continue;
    shares += (shares.empty() ? "" : ", ") + word + "1%";
    if (facts.kind == lab::ImpairmentKind::kLoss) shares += ", " + std::string(kLostMulticasts) + "=1%";
  }
  return shares + times;
}

bool only_delays(std::string_view text) {
  const auto is_delay = [](std::string_view word) {
    return std::any_of(std::begin(lab::kImpairments), std::end(lab::kImpairments), [&](const auto& facts) {
      return facts.measure == lab::Measure::kTime && word.substr(0, word.find('=')) == facts.name;
    });
  };
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    if (!is_delay(text.substr(0, end))) return false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

namespace {

Result<lab::Impairment> parse_impairment(const std::string& word) {
  const size_t equals = word.find('=');
  const std::string name = word.substr(0, equals);
  const bool only_multicast = name == kLostMulticasts;
  for (const lab::ImpairmentFacts& facts : lab::kImpairments) {
    const bool is_meant = only_multicast ? facts.kind == lab::ImpairmentKind::kLoss : name == facts.name;
    if (equals == std::string::npos || !is_meant || facts.measure == lab::Measure::kSwitch) continue;
    lab::Impairment impairment;
    impairment.kind = facts.kind;
    impairment.only_multicast = only_multicast;
    if (const lab::FurtherTime* further = lab::further_time_of(facts.kind)) {
      Result<uint64_t> preset = lab::parse_duration_ns(further->preset);
      if (!preset.is_ok()) return preset.take_status();
      impairment.more_ns = preset.value();
    }
    Result<uint64_t> read = lab::parse_value(facts.kind, word.substr(equals + 1));
    if (!read.is_ok()) return read.take_status();
    impairment.value = read.value();
    return impairment;
  }
  return Status(Code::kInvalidArgument, "`" + word + "` is no impairment; such are " + words_of_impairments());
}

void take_away(const std::string& name) {
  const Result<lab::Lock> lock = lab::Lock::take();
  if (!lock.is_ok()) return;
  (void)lab::remove(name).is_ok();
  lock.value().tidy_up();
}

// A process that takes the lab away if this one is ended before it has done so itself.
void outlive(const std::string& name) {
  const platform::Descriptor own(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  if (own.get() < 0 || fork() != 0) return;
  const platform::Descriptor kept = supervision::become_daemon(own.get(), "lab-bench-end");
  pollfd ended = {kept.get(), POLLIN, 0};
  while (poll(&ended, 1, -1) < 0 && errno == EINTR) continue;
  if (lab::load(name).is_ok()) take_away(name);
  _exit(0);
}

}  // namespace

BenchLab::BenchLab(lab::Lab lab) : lab_(std::move(lab)) {}

BenchLab::BenchLab(BenchLab&& other) noexcept
    : lab_(std::exchange(other.lab_, std::nullopt)), engines_(std::exchange(other.engines_, Engines::kNone)) {}

BenchLab::~BenchLab() {
  if (!lab_) return;
  // A service would end with its interface, but a little later.
  (void)use(Engines::kNone).is_ok();
  take_away(lab_->name);
}

Result<BenchLab> BenchLab::build(int nodes, lab::SwitchKind kind) {
  lab::BuildOptions options;
  options.name = "bench-" + std::to_string(getpid());
  options.nodes = nodes;
  options.switch_kind = kind;
  outlive(options.name);
  Result<lab::Lab> built = lab::build(options);
  if (!built.is_ok()) return built.take_status();
  return BenchLab(built.take());
}

Status BenchLab::use(Engines engines) {
  if (engines == engines_) return Status::ok();
  passing_.clear();
  if (engines_ != Engines::kNone) {
    engines_ = Engines::kNone;
    for (int node = 0; node < lab_->nodes; ++node) HOCKET_TRY(end(node));
  }
  if (engines == Engines::kNone) return Status::ok();
  if (engines == Engines::kDriver) {
    Result<std::vector<platform::Descriptor>> passing = let_ports_pass(*lab_);
    if (!passing.is_ok()) return passing.take_status();
    passing_ = passing.take();
  }
  engines_ = engines;
  for (int node = 0; node < lab_->nodes; ++node) HOCKET_TRY(start(node));
  return Status::ok();
}

// Each node finds out where the others are, while nothing is lost: the kernel asks again after a second only.
Status BenchLab::introduce() const {
  std::vector<nic::Interface> interfaces;
  for (int node = 0; node < 2 * lab_->nodes; ++node) {
    Result<lab::NetworkVisit> visit = lab::NetworkVisit::enter(lab_->node_network(node % lab_->nodes));
    if (!visit.is_ok()) return visit.take_status();
    Result<nic::Interface> own = nic::engine_interface(lab::kNodeInterface);
    if (!own.is_ok()) return own.take_status();
    if (node < lab_->nodes) interfaces.push_back(own.value());
    for (const nic::Interface& other : interfaces) {
      if (node < lab_->nodes || other.ip == own.value().ip) continue;
      const Result<std::array<uint8_t, 6>> hop = nic::next_hop(own.value(), other.ip);
      if (!hop.is_ok()) return {hop.status().code(), hop.status().message()};
    }
  }
  return Status::ok();
}

Status BenchLab::impair(const std::string& text) const {
  HOCKET_TRY(introduce());
  const Result<lab::Lock> lock = lab::Lock::take();
  if (!lock.is_ok()) return {lock.status().code(), lock.status().message()};
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    Result<lab::Impairment> impairment = parse_impairment(text.substr(begin, end - begin));
    if (!impairment.is_ok()) return impairment.take_status();
    HOCKET_TRY(lab::impose(*lab_, impairment.value()));
    begin = end + 1;
  }
  return Status::ok();
}

Status BenchLab::start(int node) const {
  Result<lab::NetworkVisit> visit = lab::NetworkVisit::enter(lab_->node_network(node));
  if (!visit.is_ok()) return visit.take_status();
  Result<nic::Interface> interface = nic::engine_interface(lab::kNodeInterface);
  if (!interface.is_ok()) return interface.take_status();
  nic::DaemonOptions options;
  options.engine.interface = interface.value();
  options.engine.name = lab::kNodeInterface;
  if (engines_ == Engines::kDriver) options.engine.hook = nic::Hook::kXdp;
  options.is_agent = engines_ == Engines::kAgent || (engines_ == Engines::kMixed && node % 2 == 1);
  return nic::start_daemon(options);
}

Status BenchLab::end(int node) const {
  Result<lab::NetworkVisit> visit = lab::NetworkVisit::enter(lab_->node_network(node));
  if (!visit.is_ok()) return visit.take_status();
  Result<std::unique_ptr<NicPort>> port = NicPort::open(lab::kNodeInterface);
  if (!port.is_ok()) return port.take_status();
  return port.value()->end_service();
}

}  // namespace hocket::lab_bench
