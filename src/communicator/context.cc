// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/context.h"

#include <sys/mman.h>

#include <cerrno>
#include <mutex>

#include "algorithms/algorithm.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/log.h"
#include "communicator/timing/call_times.h"
#include "platform/machine/core_place.h"
#include "platform/machine/memory_domain.h"
#include "platform/tracing/tracer.h"
#include "platform/waiting/parking.h"
#include "platform/waiting/time_slice.h"
#include "platform/whereabouts/metrics.h"
#include "platform/whereabouts/own_record.h"
#include "schedule/collective.h"

namespace hocket::communicator {
namespace {

constexpr int64_t kMillisecondsPerSecond = 1000;
constexpr int64_t kNanosecondsPerMicrosecond = 1000;
constexpr size_t kPageBytes = 4096;

template <typename T>
Status read(Result<T> setting, T& into) {
  if (!setting.is_ok()) return setting.take_status();
  into = setting.take();
  return Status::ok();
}

// Of where this process is; one that came through an MPI has made it before. Contexts may be made by several threads.
void keep_record() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (platform::own_record() == nullptr && platform::begin_record({.library = "hocket"}) != nullptr) {
      for (int i = 0; i < schedule::kAllCollectives; ++i) {
        const std::string name = "hocket_" + std::string(schedule::name(static_cast<schedule::Collective>(i)));
        platform::name_function(static_cast<uint32_t>(i), name);
      }
    }
    for (const auto list : {algorithms::all(), algorithms::all_among_neighbors()})
      for (const algorithms::Algorithm* algorithm : list)
        platform::name_algorithm(algorithms::number_of(*algorithm) - 1, algorithm->name);
  });
}

}  // namespace

Result<std::unique_ptr<Context>> Context::create(const ContextOptions& options) {
  std::unique_ptr<Context> context(new Context);
  context->options_ = options;
  context->engine_types_ = options.engines();
  // Also of settings that are read later, or by rank 0 alone: a user who sets one means it.
  HOCKET_TRY(environment::check_process());
  HOCKET_TRY(platform::Tracer::begin());
  if (platform::is_traced()) time_calls(TimesFor::kTrace, true);
  int wait_mode = 0;
  int64_t slice_us = 0;
  int64_t timeout_s = 0;
  int64_t late_s = 0;
  HOCKET_TRY(read(environment::get_enum("HOCKET_WAIT"), wait_mode));
  HOCKET_TRY(read(environment::get_integer("HOCKET_SLICE_US"), slice_us));
  HOCKET_TRY(read(environment::get_integer("HOCKET_SETUP_TIMEOUT_S"), timeout_s));
  int late_action = 0;
  HOCKET_TRY(read(environment::get_integer("HOCKET_LATE_S"), late_s));
  HOCKET_TRY(read(environment::get_enum("HOCKET_LATE_ACTION"), late_action));
  std::string node_name;
  HOCKET_TRY(read(environment::get_text("HOCKET_NODE"), node_name));
  const uint64_t node = platform::hash_of(node_name) ^ options.node;
  context->wait_mode_ = static_cast<platform::WaitMode>(wait_mode);
  context->slice_ns_ = slice_us * kNanosecondsPerMicrosecond;
  context->setup_timeout_ms_ = timeout_s * kMillisecondsPerSecond;
  context->late_policy_ = {late_s * static_cast<int64_t>(kNanosecondsPerSecond), late_action != 0};
  HOCKET_TRY(read(platform::SharedRegion::create(options.memory_limit), context->region_));
  HOCKET_TRY(read(platform::Connector::create(context->region_, node), context->connector_));
  if (options.wire != nullptr) context->tags_.emplace(*options.wire);
  context->cpus_ = platform::read_cpu_budget();
  int64_t domain = -1;
  HOCKET_TRY(read(environment::get_integer("HOCKET_DOMAIN"), domain));
  RankPlace& place = context->place_;
  place.names_domain = domain >= 0 ? 1 : 0;
  if (domain < 0) {
    const std::optional<uint32_t> found = platform::memory_domain_of(context->cpus_.allowed);
    domain = found ? *found : -1;
  }
  place.domain = static_cast<int32_t>(domain);
  // One that may run anywhere need not ask where.
  if (context->cpus_.allowed_count < sysconf(_SC_NPROCESSORS_ONLN)) {
    const platform::CorePlace core = platform::core_place_of(context->cpus_.allowed);
    if (core.cache) place.cache = static_cast<int32_t>(*core.cache);
    if (core.socket) place.socket = static_cast<int32_t>(*core.socket);
  }
  keep_record();
  std::string metrics_folder;
  HOCKET_TRY(read(environment::get_text("HOCKET_METRICS"), metrics_folder));
  context->has_metrics_ = platform::start_metrics(std::move(metrics_folder));
  context->asymmetric_barrier_ = platform::register_asymmetric_barrier();
  HOCKET_TRY(context->mark_owner());
  return context;
}

void Context::report_doubts() {
  // Relaxed: it guards messages only.
  if (reported_doubts_.exchange(true, std::memory_order_relaxed)) return;
  for (const std::string& doubt : environment::problems().doubts) HOCKET_LOG_WARN("%s", doubt.c_str());
}

Status Context::mark_owner() {
  void* page = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return Status::system("mapping a page", errno);
  owner_mark_ = static_cast<volatile uint8_t*>(page);
  if (madvise(page, kPageBytes, MADV_WIPEONFORK) != 0) return Status::system("marking a page for fork", errno);
  *owner_mark_ = 1;
  return Status::ok();
}

Context::~Context() {
  if (platform::Tracer* const tracer = platform::Tracer::current(); tracer != nullptr && is_owner())
    tracer->write_at_end();
  platform::restore_time_slice();
  if (has_metrics_) platform::end_metrics();
  if (owner_mark_ != nullptr) munmap(const_cast<uint8_t*>(owner_mark_), kPageBytes);
}

}  // namespace hocket::communicator
