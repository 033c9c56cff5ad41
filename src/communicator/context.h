// SPDX-License-Identifier: BSD-3-Clause
// One rank's endpoint: the memory that peers map, the address by which they find it, and how it waits.
//
// Thread safety: the members named so; the rest is fixed once created.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/status.h"
#include "carriers/engine.h"
#include "communicator/attention.h"
#include "communicator/calls/call_words.h"
#include "communicator/failure/late.h"
#include "communicator/setup/places.h"
#include "communicator/setup/tags.h"
#include "engines/wire/wire.h"
#include "platform/bootstrap/connector.h"
#include "platform/machine/topology.h"
#include "platform/memory/shared_region.h"
#include "platform/waiting/waiting.h"

namespace hocket::communicator {

struct ContextOptions {
  void (*progress)(void* user) = nullptr;  // called now and then while a call waits
  void* progress_user = nullptr;
  size_t memory_limit = 0;
  std::shared_ptr<engines::wire::Wire> wire;  // to ranks on other nodes; nullptr: there is none
  uint64_t node = 0;                          // ranks with different ones share no memory, though they could
  carriers::EngineTypes (*engines)() = carriers::all_engines;  // between nodes; the same on all ranks
};

class Context {
 public:
  ~Context();
  static Result<std::unique_ptr<Context>> create(const ContextOptions& options);

  platform::SharedRegion& region() const { return *region_; }
  const std::shared_ptr<platform::SharedRegion>& shared_region() const { return region_; }
  platform::Connector& connector() const { return *connector_; }
  // Held while connecting: one communicator at a time is set up.
  std::mutex& setup_mutex() { return setup_mutex_; }

  const platform::CpuBudget& cpus() const { return cpus_; }
  platform::WaitMode wait_mode() const { return wait_mode_; }
  int64_t slice_ns() const { return slice_ns_; }
  bool asymmetric_barrier() const { return asymmetric_barrier_; }
  int64_t setup_timeout_ms() const { return setup_timeout_ms_; }
  const LatePolicy& late_policy() const { return late_policy_; }

  engines::wire::Wire* wire() const { return options_.wire.get(); }
  // Where this process is bound.
  const RankPlace& place() const { return place_; }
  // Of the communicators whose rank 0 this is; nullptr where there is no wire.
  Tags* tags() { return tags_ ? &*tags_ : nullptr; }

  const carriers::EngineTypes& engine_types() const { return engine_types_; }

  void progress() const {
    if (options_.progress != nullptr)
      options_.progress(options_.progress_user);
    else if (wire() != nullptr)
      (void)wire()->test(0, nullptr, nullptr).is_ok();  // peers may wait for what this process has sent
  }
  // The reasons outlive the context.
  void attend(const Attention::Occasion& occasion) { occasion_ = occasion; }
  const Attention::Occasion& occasion() const { return occasion_; }
  // Warns, once, of names in the environment that look like settings and are none. For rank 0 to call: one is enough.
  void report_doubts();
  // Numbers set-ups, so that their meetings are told apart. Relaxed: it orders nothing.
  uint64_t next_set_up() { return set_ups_.fetch_add(1, std::memory_order_relaxed); }
  // How many set-ups there are between their first round and their end. Relaxed: read under setup_mutex, which those
  // that connect have had since.
  void set_up_begins() { set_ups_under_way_.fetch_add(1, std::memory_order_relaxed); }
  void set_up_ends() { set_ups_under_way_.fetch_sub(1, std::memory_order_relaxed); }
  uint32_t set_ups_under_way() const { return set_ups_under_way_.load(std::memory_order_relaxed); }
  // How many communicators use this context. Relaxed, all: communicators() is asked when the context is destroyed,
  // which the program orders behind the end of its communicators, whatever their threads.
  void communicator_made() { communicators_.fetch_add(1, std::memory_order_relaxed); }
  void communicator_gone() { communicators_.fetch_sub(1, std::memory_order_relaxed); }
  // Another one each time. Relaxed: it orders nothing.
  uint32_t next_serial() { return serials_.fetch_add(1, std::memory_order_relaxed); }
  uint32_t communicators() const { return communicators_.load(std::memory_order_relaxed); }
  // False in a child of fork(): its parent's objects are not its own.
  bool is_owner() const { return *owner_mark_ != 0; }

  // Whether peers' memory should be read directly: "" or why not; unknown before the first communicator.
  // Under setup_mutex.
  std::optional<std::string>& cross_memory_verdict() { return cross_memory_verdict_; }
  // Of how many ranks the job is, 0: unknown; and its number, which no other job has.
  void expect_ranks(uint32_t ranks, uint32_t job = 0) {
    expected_ranks_ = ranks;
    job_ = job;
    region_->share_among(ranks);
  }
  uint32_t expected_ranks() const { return expected_ranks_; }
  uint32_t job() const { return job_; }
  // Once a communicator of all ranks of the job was set up, and all are on one node: then any of them has any other's
  // memory mapped, and this is whether they read it directly. Under setup_mutex.
  std::optional<bool>& met_all() { return met_all_; }
  // What this process has written for ranks of communicators of which it is rank 0. Under setup_mutex.
  struct WrittenSettings {
    std::string text;
    std::optional<uint64_t> offset;  // in the region; there is none yet
  };
  WrittenSettings& written_settings() { return written_settings_; }
  // In whose words sentences name calls. Set before the first communicator is made.
  Vocabulary vocabulary() const { return vocabulary_; }
  void come_through_mpi(const char* name) {
    vocabulary_ = Vocabulary::kMpi;
    mpi_name_ = name;
  }
  // As tables name the MPI that calls come through; "": none.
  const std::string& mpi_name() const { return mpi_name_; }

  // Whether a communicator of this process was found to have more ranks than cores: then all of them have.
  // Relaxed: a hint that stands for itself.
  bool oversubscribed() const { return oversubscribed_.load(std::memory_order_relaxed); }
  void set_oversubscribed() { oversubscribed_.store(true, std::memory_order_relaxed); }

 private:
  Context() = default;
  Status mark_owner();
  ContextOptions options_;
  std::shared_ptr<platform::SharedRegion> region_;
  std::unique_ptr<platform::Connector> connector_;
  std::optional<Tags> tags_;
  RankPlace place_;
  std::mutex setup_mutex_;
  std::optional<std::string> cross_memory_verdict_;
  std::optional<bool> met_all_;
  WrittenSettings written_settings_;
  uint32_t expected_ranks_ = 0;
  uint32_t job_ = 0;
  carriers::EngineTypes engine_types_;
  platform::CpuBudget cpus_;
  int64_t slice_ns_ = 0;
  platform::WaitMode wait_mode_ = platform::WaitMode::kAutomatic;
  bool asymmetric_barrier_ = false;
  Vocabulary vocabulary_ = Vocabulary::kHocket;
  std::string mpi_name_;
  std::atomic<bool> oversubscribed_{false};
  std::atomic<uint64_t> set_ups_{0};
  std::atomic<uint32_t> set_ups_under_way_{0};
  std::atomic<uint32_t> communicators_{0};
  std::atomic<uint32_t> serials_{0};
  std::atomic<bool> reported_doubts_{false};
  int64_t setup_timeout_ms_ = 0;
  LatePolicy late_policy_;
  Attention::Occasion occasion_;
  volatile uint8_t* owner_mark_ = nullptr;  // a page that a forked child finds wiped: cheaper than asking for the pid
  bool has_metrics_ = false;                // it takes part in writing them
};

}  // namespace hocket::communicator
