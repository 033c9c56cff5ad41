// SPDX-License-Identifier: BSD-3-Clause
#include "shim/lifetime/lifetime.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/log.h"
#include "c_api/internal/cores.h"
#include "c_api/internal/early.h"
#include "c_api/internal/node_label.h"
#include "c_api/internal/timing/call_times.h"
#include "c_api/internal/timing/trace.h"
#include "core/awaited_progress.h"
#include "core/call_times.h"
#include "core/communicator.h"
#include "core/devices/device_memory.h"
#include "core/endpoint.h"
#include "core/last_words.h"
#include "core/mpi_settings.h"
#include "core/mpi_wait.h"
#include "core/progress/under_way.h"
#include "core/wake.h"
#include "shim/communicators/asking.h"
#include "shim/communicators/communicators.h"
#include "shim/communicators/exchange.h"
#include "shim/communicators/late_in_mpi.h"
#include "shim/communicators/lineage.h"
#include "shim/communicators/nodes.h"
#include "shim/job/job.h"
#include "shim/lifetime/clocks.h"
#include "shim/lifetime/report.h"
#include "shim/lifetime/sessions.h"
#include "shim/requests/started_call.h"
#include "shim/types/operations.h"
#include "shim/types/types.h"
#include "shim/underneath/handles.h"
#include "shim/underneath/progress_hook.h"
#include "shim/underneath/wire.h"

namespace hocket::interposer {
namespace {

using internal::job;

std::atomic<bool> has_started{false};  // relaxed: orders nothing

// Never destroyed: calls may come after static destruction.
MpiSettings& mpi_settings() {
  static auto* const settings = new MpiSettings;
  return *settings;
}

// Keeps the MPI underneath moving: a peer may be in a send to this rank that can't end without it.
void progress(void*) {
  progress_mpi();
  if (has_under_way()) advance_started();
}

void sleep_in_child() {
  internal::mode.store(Mode::kAsleep, std::memory_order_release);
  end_mpi_waits();
  forget_board();
  end_hook();
  forget_progress_thread();
}

bool agree_on_settings() {
  if (job.rank == 0) job.settings = read_settings();
  const int error = next_pmpi().Bcast(&job.settings, static_cast<int>(sizeof job.settings), handles.byte, 0, job.world);
  job.settings_digest = digest_of(job.settings);
  return error == MPI_SUCCESS && is_sound(job.settings);
}

bool open_hidden_comm() {
  if (is_job_of_sessions()) {
    job.hidden_comm = job.world;
    return true;
  }
  job.has_hidden_comm = next_pmpi().Comm_dup(job.world, &job.hidden_comm) == MPI_SUCCESS;
  return job.has_hidden_comm && next_pmpi().Comm_set_errhandler(job.hidden_comm, handles.errors_return) == MPI_SUCCESS;
}

// By this rank's own environment; rank 0's counts for all, as soon as they know it.
bool is_disabled_here() {
  const Result<bool> off = environment::get_flag("HOCKET_DISABLE");
  return off.is_ok() && off.value();
}

// What ranks tell each other before anything else.
struct StartFacts {
  uint8_t understood = 0;          // rank 0's settings
  uint8_t has_wrong_settings = 0;  // its own environment asks for what can't be understood
  uint8_t may_keep_lineage = 0;
  uint8_t is_by_threads = 0;  // the program may be in several calls of the MPI at a time
  uint8_t is_hooked = 0;
  uint8_t has_sessions = 0;
  uint8_t is_traced = 0;
  uint8_t cannot_be_traced = 0;  // it should be
  uint64_t job_number = 0;       // rank 0's tells the job from others, in traces too
  uint64_t node = 0;
  platform::CoreClaim claim = {};
  platform::WakeAddress wake = {};
};

// Empty where the MPI fails.
std::vector<StartFacts> facts_of_all(const StartFacts& mine) {
  std::vector<StartFacts> all(static_cast<size_t>(job.size));
  const int bytes = static_cast<int>(sizeof mine);
  const int error = next_pmpi().Allgather(&mine, bytes, handles.byte, all.data(), bytes, handles.byte, job.world);
  if (error != MPI_SUCCESS) all.clear();
  return all;
}

// What one rank's environment asks for and can't be understood is an error of every call on all ranks. The first of
// these tells it.
bool find_wrong_settings(const Status& mine, const std::vector<StartFacts>& all) {
  const auto first =
      std::find_if(all.begin(), all.end(), [](const StartFacts& one) { return one.has_wrong_settings != 0; });
  if (first == all.end()) return false;
  if (first - all.begin() == job.rank) {
    HOCKET_LOG_ERROR("the environment of rank %d of %d: %s", job.rank, job.size, mine.message());
    let_last_words_out();
  }
  // The error ends the job, as a rule: no rank raises it before it is written.
  (void)do_all_say(job.world, true);
  return true;
}

// The first of the ranks that can't write their trace says so for all.
void tell_untraced(const Status& mine, const std::vector<StartFacts>& all) {
  const auto is_untraced = [](const StartFacts& one) { return one.cannot_be_traced != 0; };
  const auto first = std::find_if(all.begin(), all.end(), is_untraced);
  if (first == all.end() || first - all.begin() != job.rank) return;
  HOCKET_LOG_WARN("rank %d of %d: %s; the job goes on, and %d of its ranks without a trace", job.rank, job.size,
                  mine.message(), static_cast<int>(std::count_if(first, all.end(), is_untraced)));
}

// Opens the board of this rank's node.
void open_board_of(const std::vector<StartFacts>& all) {
  std::vector<platform::WakeAddress> here;
  for (const StartFacts& one : all)
    here.push_back(one.node == all[static_cast<size_t>(job.rank)].node ? one.wake : platform::WakeAddress());
  open_board(here, job.rank);
}

// On any machine of the job.
bool ranks_share_cores(const std::vector<StartFacts>& all) {
  std::vector<platform::CoreClaim> claims;
  for (const StartFacts& one : all) claims.push_back(one.claim);
  return platform::ranks_share_cores(claims);
}

// One for each rank, and one more.
bool have_spare_cores(const std::vector<StartFacts>& all) {
  std::vector<platform::CoreClaim> claims;
  for (const StartFacts& one : all) claims.insert(claims.end(), 2, one.claim);
  return !platform::ranks_share_cores(claims);
}

constexpr uint32_t kLooksOfMpich = 16;

// A tool that is loaded behind this library would see other calls than the program makes.
bool is_watched() {
  const CaughtFunctions &mpi = next_mpi(), &pmpi = next_pmpi();
  return mpi.Recv != pmpi.Recv || mpi.Send != pmpi.Send || mpi.Ssend != pmpi.Ssend || mpi.Rsend != pmpi.Rsend ||
         mpi.Mrecv != pmpi.Mrecv || mpi.Sendrecv != pmpi.Sendrecv || mpi.Probe != pmpi.Probe ||
         mpi.Mprobe != pmpi.Mprobe || mpi.Wait != pmpi.Wait || mpi.Waitall != pmpi.Waitall ||
         mpi.Waitany != pmpi.Waitany || mpi.Waitsome != pmpi.Waitsome;
}

Looks hook_waits(Hook hook) {
  return hook_progress(hook) ? Looks::kByHook : is_watched() ? Looks::kByMpi : Looks::kByTests;
}

// From here on ranks wait in the MPI as `looks` says, by what is known of their cores.
void begin_waits(Hook hook, Looks looks, bool share_cores) {
  MpiWaitPolicy policy{.looks = looks, .wait = {.mode = c_api::wait_mode()}, .long_wait = note_long_wait};
  policy.wait.oversubscribed = share_cores;
  policy.wait.spin_ns = policy.wait.mode == platform::WaitMode::kSleep ? 0 : platform::kAwakeInLibraryNs;
  // Open MPI polls eight times before it calls the hook. MPICH 5 yields by itself after some looks; a yield before
  // each costs half of a halo exchange.
  policy.wait.library = {.is_polled = true,
                         .looks_before_yield = hook == Hook::kInMpich ? kLooksOfMpich : 0,
                         .looks_between_sleeps = looks == Looks::kByHook && hook == Hook::kInOpenMpi
                                                     ? 1
                                                     : platform::kLibraryPollsBetweenSleeps};
  begin_mpi_waits(policy);
}

// The waits of this process in the MPI, from MPI_Init on: ranks that share cores would otherwise take slices of these
// from each other in all that is exchanged before the job begins.
class Waits {
 public:
  Waits() {
    // Each session has a level of its own.
    int threads = MPI_THREAD_MULTIPLE;
    if (!is_job_of_sessions() && !are_sessions_open()) next_pmpi().Query_thread(&threads);
    awaited_progress.share_among_threads(threads == MPI_THREAD_MULTIPLE);
    if (is_disabled_here() || c_api::wait_mode() == platform::WaitMode::kSpin || job.size == 1) return;
    are_ours_ = true;
    // A thread that sleeps in the hook may hold a lock of the MPI that others wait for.
    hook_ = threads == MPI_THREAD_MULTIPLE ? Hook::kNone : available_;
    looks_ = hook_waits(hook_);
    const std::optional<uint32_t> ranks = ranks_on_this_node();
    begin_waits(hook_, looks_, ranks && *ranks > c_api::cores_of_node());
  }
  // All of the MPI's waits call hocket.
  bool are_hooked() const { return looks_ == Looks::kByHook; }
  // All ranks have told which cores are theirs.
  void settle(bool share_cores) const {
    begin_waits(hook_, looks_, share_cores);
    if (!are_ours_) return;
    // The user's own choice stands.
    const Result<bool> may_set = environment::get_flag("HOCKET_MPI_SETTINGS");
    if (yields_in_mpi() && may_set.is_ok() && may_set.value() && getenv("OMPI_MCA_mpi_yield_when_idle") == nullptr)
      let_mpi_yield();
    const bool yields_itself = hook_ == Hook::kInOpenMpi || (hook_ == Hook::kInMpich && mpi_settings().have_effect());
    if (yields_itself && looks_ == Looks::kByHook) leave_yields_to_mpi();
  }

 private:
  bool are_ours_ = false;  // not the MPI's own affair
  const Hook available_ = find_hook();
  Hook hook_ = Hook::kNone;  // in use
  Looks looks_ = Looks::kByMpi;
};

void end_waits() {
  end_mpi_waits();
  unhook_progress();
}

// Clocks are compared where all ranks trace.
void begin_trace(const std::vector<StartFacts>& all, const std::vector<uint64_t>& nodes) {
  const bool do_all = std::all_of(all.begin(), all.end(), [](const StartFacts& one) { return one.is_traced != 0; });
  const int64_t offset_ns = do_all ? clock_offset_ns(nodes) : 0;
  c_api::set_trace_job({all[0].job_number, static_cast<uint32_t>(job.rank), true, offset_ns});
}

bool start_serving(const std::vector<StartFacts>& all) {
  bool able = open_hidden_comm();
  fill_types();
  fill_operations();
  const bool has_lineage =
      std::all_of(all.begin(), all.end(), [](const StartFacts& one) { return one.may_keep_lineage != 0; });
  const bool are_by_threads =
      std::any_of(all.begin(), all.end(), [](const StartFacts& one) { return one.is_by_threads != 0; });
  able = able && watch_communicators() && watch_types() && (!has_lineage || keep_lineage());
  note_threads(are_by_threads);
  // Ranks that decided by what each of them finds alone would not meet in the same calls.
  if (!do_all_say(job.world, able)) return false;
  std::vector<uint64_t> nodes;
  for (const StartFacts& one : all) nodes.push_back(one.node);
  begin_trace(all, nodes);
  // On one node it is not needed, and communicators are not to be had without end.
  if (note_nodes(std::move(nodes)) && !do_all_say(job.world, open_wire(job.world))) {
    close_wire();
    return false;
  }
  set_progress(progress, nullptr, spins() && !mpi_settings().have_effect());
  set_job(job.size, static_cast<uint32_t>(all[0].job_number >> 32));
  set_mpi_name(mpi_name());
  set_wire(the_wire());
  device::begin(static_cast<device::Wish>(job.settings.device), find_object);
  return true;
}

}  // namespace

void prepare_job() {
  if (is_disabled_here()) return;
  c_api::prepare_early();
  if (c_api::is_single_threaded()) mpi_settings().set(kFamilies);
}

void withdraw_settings() { mpi_settings().withdraw(); }

bool has_started_job() { return has_started.load(std::memory_order_relaxed); }

void begin_job() {
  handles = native_handles();
  begin_job_of(handles.comm_world);
}

void begin_job_of(MPI_Comm world) {
  const NestedCall nested;
  has_started.store(true, std::memory_order_relaxed);
  job.world = world;
  next_pmpi().Comm_rank(job.world, &job.rank);
  next_pmpi().Comm_size(job.world, &job.size);
  const Waits waits;
  const MpiWait wait;
  const bool understood = agree_on_settings();
  if (!understood) {
    HOCKET_LOG_ERROR("rank %d does not understand rank 0's settings: is the same version preloaded everywhere?",
                     job.rank);
  }
  const bool is_wanted = understood && job.settings.disable == 0;
  if (is_wanted) keep_record(job.rank, job.size, mpi_name());
  Status environment, trace;
  StartFacts mine;
  mine.understood = uint8_t{understood};
  if (is_wanted) {
    environment = environment::check_process();
    if (environment.is_ok()) environment = c_api::begin_trace(trace);
    mine.is_traced = uint8_t{c_api::is_traced()};
    mine.cannot_be_traced = uint8_t{!trace.is_ok()};
    mine.job_number = c_api::new_trace_job();
    mine.has_wrong_settings = uint8_t{!environment.is_ok()};
    mine.may_keep_lineage = uint8_t{may_keep_lineage()};
    mine.is_by_threads = uint8_t{awaited_progress.is_shared_among_threads()};
    mine.is_hooked = uint8_t{waits.are_hooked()};
    // In this order: who begins a job of sessions holds their mutex.
    mine.has_sessions = uint8_t{is_job_of_sessions() || are_sessions_open()};
    mine.node = c_api::node_label();
    mine.claim = c_api::core_claim();
    mine.wake = wake_address();
  }
  const std::vector<StartFacts> all = facts_of_all(mine);
  if (all.empty() || std::any_of(all.begin(), all.end(), [](const StartFacts& one) { return one.understood == 0; }))
    return end_waits();
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(nullptr, nullptr, sleep_in_child); });
  if (is_wanted) {
    open_board_of(all);
    const bool share_cores = ranks_share_cores(all);
    waits.settle(share_cores);
    const bool are_hooked =
        std::all_of(all.begin(), all.end(), [](const StartFacts& one) { return one.is_hooked != 0; });
    begin_progress({static_cast<ProgressBy>(job.settings.progress), are_hooked, have_spare_cores(all), share_cores});
  }
  job.may_be_younger = std::any_of(all.begin(), all.end(), [](const StartFacts& one) { return one.has_sessions != 0; });
  tell_untraced(trace, all);
  job.has_wrong_settings = is_wanted && find_wrong_settings(environment, all);
  const bool serving = is_wanted && start_serving(all);
  if (!serving) {
    end_lineage();
    end_waits();
  }
  if (!serving && is_wanted && job.rank == 0) {
    HOCKET_LOG_WARN("all calls are passed through: a rank could not prepare itself");
  }
  if (job.settings.statistics != 0) {
    begin_report();
    call_times.begin_job(job.size);
    c_api::time_calls(true);
  }
  internal::mode.store(serving ? Mode::kServing : Mode::kDisabled, std::memory_order_release);
}

void end_job() {
  {
    const NestedCall nested;
    const MpiWait wait;
    const bool served = mode() == Mode::kServing;
    internal::mode.store(Mode::kAsleep, std::memory_order_release);
    drain_started(nullptr);
    end_progress();
    end_meeting();
    if (served) end_asking();
    if (served) close_all(progress_mpi);
    device::end();
    if (job.settings.statistics != 0) report_job();
    if (served) {
      end_lineage();
      unwatch_communicators();
      unwatch_types();
      close_endpoint();
      c_api::end_trace();
    }
    platform::end_record();
    close_wire();
    free_requests();
    if (job.has_hidden_comm) next_pmpi().Comm_free(&job.hidden_comm);
    job.has_hidden_comm = false;
    if (served) end_waits();
  }
  // The last wait on it has ended.
  close_board();
}

}  // namespace hocket::interposer
