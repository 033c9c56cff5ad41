// SPDX-License-Identifier: BSD-3-Clause
#include "platform/whereabouts/own_record.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "platform/machine/process_stat.h"
#include "platform/memory/memory_file.h"

namespace hocket::platform {
namespace {

static_assert(sizeof(Record) <= size_t{36} << 10, "as docs/late-ranks.md says");

// Never destroyed: threads may outlive static destruction.
std::mutex& record_mutex() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}

std::atomic<int> open_descriptor{-1};  // relaxed: written before the record is there

// What terminals take for commands is none of a name.
template <size_t N>
void write_text(char (&place)[N], std::string_view text) {
  const size_t bytes = text.copy(place, N - 1);
  place[bytes] = 0;
  std::replace_if(place, place + bytes, [](unsigned char one) { return one < ' ' || one == 0x7f; }, '?');
}

// The child's thread is a copy of the one that forked.
void forget_in_child() {
  internal::record.store(nullptr, std::memory_order_relaxed);
  internal::own_line = nullptr;
}

Record* make_record() {
  Result<int> made = create_memory_file("hocket-record");
  if (!made.is_ok()) return nullptr;
  const int descriptor = made.value();
  void* memory = MAP_FAILED;
  if (extend_file(descriptor, 0, sizeof(Record)).is_ok())
    memory = mmap(nullptr, sizeof(Record), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED || pthread_atfork(nullptr, nullptr, forget_in_child) != 0) {
    close(descriptor);
    return nullptr;
  }
  // It stays open: by it others find the record.
  open_descriptor.store(descriptor, std::memory_order_relaxed);
  return static_cast<Record*>(memory);
}

bool is_alive(uint32_t thread) { return syscall(SYS_tgkill, getpid(), thread, 0) == 0 || errno != ESRCH; }

// Of lines that belong to nobody, or to a thread that has ended. nullptr: there is none.
template <typename Lines>
ThreadLine* find_free(Lines& lines) {
  const auto holder = [](const ThreadLine& line) { return line.thread.load(std::memory_order_relaxed); };
  const auto end = std::end(lines);
  auto line = std::find_if(std::begin(lines), end, [&](const ThreadLine& one) { return holder(one) == 0; });
  if (line == end)
    line = std::find_if(std::begin(lines), end, [&](const ThreadLine& one) { return !is_alive(holder(one)); });
  return line == end ? nullptr : &*line;
}

// Of a process: what it is called, its parent, and when it was started, in the kernel's ticks.
struct Ancestor {
  std::string name;
  int parent = 0;
  std::string started;
};

Ancestor ancestor_of(int process) {
  std::optional<ProcessStat> stat = stat_of_process(process);
  if (!stat) return {};
  return {std::move(stat->name), stat->parent, std::to_string(stat->started)};
}

// The nearest ancestor that starts ranks, or the parent: scripts may lie in between.
std::string launcher_label() {
  constexpr int kMostGenerations = 16;
  constexpr std::string_view kLaunchers[] = {"hydra_pmi_proxy", "hydra_bstrap_pr", "mpiexec", "mpirun",    "prterun",
                                             "prted",           "orted",           "hocket",  "slurmstepd"};
  const int parent = getppid();
  int process = parent;
  for (int i = 0; i < kMostGenerations && process > 1; ++i) {
    const Ancestor one = ancestor_of(process);
    const bool is_launcher = std::any_of(std::begin(kLaunchers), std::end(kLaunchers),
                                         [&](std::string_view name) { return one.name.starts_with(name); });
    if (is_launcher) return one.name + " " + std::to_string(process) + "." + one.started;
    process = one.parent;
  }
  const Ancestor one = ancestor_of(parent);
  return one.name + " " + std::to_string(parent) + "." + one.started;
}

std::string make_job_label() {
  // PMIx' name of the job; Slurm's numbers, and what has started it, as a step may start several.
  if (const char* name = std::getenv("PMIX_NAMESPACE"); name != nullptr && *name != 0) return name;
  const char *const job = std::getenv("SLURM_JOB_ID"), *const step = std::getenv("SLURM_STEP_ID");
  if (job != nullptr && step != nullptr) return "slurm " + std::string(job) + "." + step + ", " + launcher_label();
  return launcher_label();
}

}  // namespace

std::string_view job_label() {
  // As long as a record has room for.
  static const auto* const label = new std::string(make_job_label().substr(0, Record::kTextBytes - 1));
  return *label;
}

Record* begin_record(const RecordOwner& owner) {
  const std::lock_guard lock(record_mutex());
  Record* record = internal::record.load(std::memory_order_relaxed);
  const bool is_new = record == nullptr;
  if (is_new) record = make_record();
  if (record == nullptr) return nullptr;
  if (owner.rank >= 0 || is_new) {
    record->rank = owner.rank;
    record->ranks = owner.ranks;
    write_text(record->library, owner.library);
  }
  record->ended.store(0, std::memory_order_relaxed);
  if (!is_new) return record;
  record->bytes = sizeof(Record);
  record->process = static_cast<uint32_t>(getpid());
  write_text(record->job, job_label());
  gethostname(record->host, sizeof record->host - 1);
  record->magic.store(Record::kMagic, std::memory_order_release);
  internal::record.store(record, std::memory_order_release);
  return record;
}

int record_descriptor() { return own_record() == nullptr ? -1 : open_descriptor.load(std::memory_order_relaxed); }

void end_record() {
  Record* const record = own_record();
  if (record != nullptr) record->ended.store(1, std::memory_order_relaxed);
}

ThreadLine* internal::claim_line(Record& record) {
  const std::lock_guard lock(record_mutex());
  ThreadLine* line = find_free(record.threads);
  if (line == nullptr) {
    // Never destroyed: as above.
    static auto* const unlisted = new std::deque<ThreadLine>;
    line = find_free(*unlisted);
    if (line == nullptr) line = &unlisted->emplace_back();
    record.unlisted_threads.store(unlisted->size(), std::memory_order_relaxed);
  }
  // Of another thread's that had it.
  line->other.what.store(0, std::memory_order_relaxed);
  line->collective.what.store(0, std::memory_order_relaxed);
  line->waits_since_ns.store(0, std::memory_order_relaxed);
  line->thread.store(static_cast<uint32_t>(syscall(SYS_gettid)), std::memory_order_relaxed);
  internal::own_line = line;
  return line;
}

CommunicatorName* note_communicator(uint64_t number, uint32_t rank, uint32_t size, std::string_view name) {
  Record* const record = own_record();
  if (record == nullptr || number == 0) return nullptr;
  const std::lock_guard lock(record_mutex());
  CommunicatorName* const place =
      std::find_if(std::begin(record->communicators), std::end(record->communicators),
                   [](const CommunicatorName& one) { return one.number.load(std::memory_order_relaxed) == 0; });
  if (place == std::end(record->communicators)) {
    record->unlisted.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  place->rank = rank;
  place->size = size;
  place->calls.store(0, std::memory_order_relaxed);
  write_text(place->text, name);
  place->number.store(number, std::memory_order_release);
  return place;
}

std::string_view name_in(const CommunicatorName* place) {
  const std::string_view all =
      place == nullptr ? std::string_view() : std::string_view(place->text, sizeof place->text);
  return all.substr(0, all.find('\0'));
}

void rename_communicator(CommunicatorName* place, std::string_view name) {
  if (place == nullptr) return;
  const std::lock_guard lock(record_mutex());
  write_text(place->text, name);
}

void forget_communicator(CommunicatorName* place) {
  Record* const record = own_record();
  if (place == nullptr || record == nullptr) return;
  const std::lock_guard lock(record_mutex());
  const uint64_t count = record->gone_communicators.load(std::memory_order_relaxed);
  record->gone[count % Record::kGone].store(place->number.load(std::memory_order_relaxed), std::memory_order_relaxed);
  record->gone_communicators.store(count + 1, std::memory_order_relaxed);
  place->number.store(0, std::memory_order_release);
}

void name_function(uint32_t number, std::string_view name) {
  Record* const record = own_record();
  if (record != nullptr && number < Record::kFunctions) write_text(record->functions[number], name);
}

void name_algorithm(uint32_t number, std::string_view name) {
  Record* const record = own_record();
  if (record != nullptr && number < Record::kAlgorithms) write_text(record->algorithms[number], name);
}

}  // namespace hocket::platform
