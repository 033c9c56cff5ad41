// SPDX-License-Identifier: BSD-3-Clause
// Starts the ranks of `hocket run`, lets them find each other, passes on what they write, and sees to their end.
//
// It runs in a process of its own, between the launcher, which people see and kill, and the ranks. It adopts what ranks
// leave behind, so all that descends from them ends with it, whatever becomes of the launcher. Should this process be
// killed instead, the kernel kills the ranks, and the launcher, which then is the next ancestor, whatever they started.
//
// Thread safety: one thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "platform/bootstrap/launch_hub.h"
#include "platform/descriptor.h"
#include "run/limits.h"
#include "run/options.h"
#include "supervision/output.h"
#include "supervision/signals.h"

namespace hocket::command {

class Supervisor {
 public:
  // `control`: a socket on which the launcher writes Interruptions, and which ends with it.
  Supervisor(const RunOptions& options, const supervision::Signals& signals, const DescriptorLimit& descriptors,
             platform::Descriptor control)
      : options_(options), signals_(signals), descriptors_(descriptors), control_(std::move(control)) {}
  // Until nothing of the job is left. The exit code.
  int run();

 private:
  enum class Phase : uint8_t {
    kRunning,
    kEnding,    // asked to end; until kill_at_ms_
    kKilling,   // killed again and again, for what is forked meanwhile; until give_up_at_ms_
    kDraining,  // none is left; their last lines are written
    kOver,
  };
  struct Ended {
    int rank;
    pid_t process;
    int status;
  };

  std::string prepare();
  bool is_starting() const { return phase_ == Phase::kRunning && next_rank_ < options_.ranks; }
  void start_next();
  void turn();
  int64_t next_look_ms(int64_t now) const;
  void receive_from_launcher();
  void interrupt(const supervision::Interruption& interruption);
  void reap();
  void report_ended(std::vector<Ended> ended);
  void step(int64_t now);
  // Asks all that is left to end by `signal` (0: they have been asked) and remembers the exit code, unless one is
  // known.
  void end_all(int code, int signal);
  void kill_all(int64_t now);
  void say(const std::string& text);

  const RunOptions& options_;
  const supervision::Signals& signals_;
  const DescriptorLimit& descriptors_;
  platform::Descriptor control_;
  platform::Descriptor signal_file_;
  std::unique_ptr<platform::LaunchHub> hub_;
  supervision::Output output_;
  int next_rank_ = 0;           // to be started
  std::map<pid_t, int> ranks_;  // those that run
  Phase phase_ = Phase::kRunning;
  bool has_children_ = true;
  bool was_asked_ = false;  // to end, by a signal or by --timeout
  int result_ = 0;
  int64_t timeout_at_ms_ = INT64_MAX;
  int64_t kill_at_ms_ = INT64_MAX;
  int64_t give_up_at_ms_ = INT64_MAX;
};

}  // namespace hocket::command
