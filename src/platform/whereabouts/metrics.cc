// SPDX-License-Identifier: BSD-3-Clause
#include "platform/whereabouts/metrics.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/file_pattern.h"
#include "base/log.h"
#include "base/whole_write.h"
#include "platform/descriptor.h"
#include "platform/machine/process_stat.h"
#include "platform/whereabouts/own_record.h"
#include "platform/whereabouts/printable.h"

namespace hocket::platform {
namespace {

constexpr uint64_t kIntervalNs = 10 * kNanosecondsPerSecond;
// Of its time a rank spends at most this part on it.
constexpr uint64_t kLeastPauses = 200;
// Nobody has written it for so long, and its writer is gone.
constexpr int64_t kStaleS = 60;
// More than so many are not looked through.
constexpr int kMostFiles = 1000;
constexpr std::string_view kPrefix = "hocket-job-", kSuffix = ".prom";
constexpr std::string_view kOwner = "# written by process ";

struct Metric {
  const char *name, *type, *help;
  double (*value)(const JobMetrics&);
};

constexpr Metric kMetrics[] = {
    {"hocket_ranks", "gauge", "Ranks of the job on this machine.",
     [](const JobMetrics& job) { return static_cast<double>(job.ranks); }},
    {"hocket_ranks_waiting", "gauge", "Ranks that wait in a collective for others, for a tenth of a second at least.",
     [](const JobMetrics& job) { return static_cast<double>(job.waiting); }},
    {"hocket_longest_wait_seconds", "gauge", "How long the longest of these waits has lasted.",
     [](const JobMetrics& job) { return job.longest_wait_s; }},
    {"hocket_waited_seconds_total", "counter", "Time that all ranks have waited in collectives.",
     [](const JobMetrics& job) { return job.waited_s; }},
    {"hocket_late_lines_total", "counter", "Lines about late ranks that ranks have printed.",
     [](const JobMetrics& job) { return static_cast<double>(job.late_lines); }},
    {"hocket_late_calls_ended_total", "counter", "Calls that such a line was about and that have ended after all.",
     [](const JobMetrics& job) { return static_cast<double>(job.came_after_all); }},
};

// Held for moments only, never while a file is written: a folder may not answer.
std::mutex& users_mutex() {
  static auto* const mutex = new std::mutex;  // never destroyed: threads may outlive static destruction
  return *mutex;
}
int users_of_metrics = 0;
// Never destroyed, nor changed: another thread may be reading it. Release in start_metrics(), acquire where it is read.
std::atomic<const std::string*> own_folder{nullptr};

std::string label_text(std::string_view text) {
  std::string shown = "\"";
  for (const char letter : printable(text)) {
    if (letter == '"' || letter == '\\') shown += '\\';
    shown += letter;
  }
  return shown + '"';
}

std::string number_text(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.15g", value);
  return text;
}

std::string first_line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// With its number, a process for good. "": there is none.
std::string start_of(int process) {
  const std::optional<ProcessStat> stat = stat_of_process(process);
  return stat ? std::to_string(stat->started) : std::string();
}

std::string owner_text(int process, std::string_view host) {
  return std::string(kOwner.substr(2)) + std::to_string(process) + " of " + std::string(host) + ", started at tick " +
         start_of(process);
}

int64_t age_s(const struct stat& file) { return std::time(nullptr) - file.st_mtim.tv_sec; }

// What a job that was killed has left.
bool is_stale(const std::string& path, std::string_view host) {
  struct stat file{};
  if (stat(path.c_str(), &file) != 0 || file.st_uid != geteuid() || age_s(file) < kStaleS) return false;
  const std::string line = first_line_of(path);
  if (!line.starts_with(kOwner)) return false;
  const int process = std::atoi(line.c_str() + kOwner.size());
  const bool is_here = line.find(" of " + std::string(host) + ",") != line.npos;
  return is_here && line != "# " + owner_text(process, host);
}

void remove_stale(const std::string& folder, std::string_view host) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()), closedir);
  if (open == nullptr) return;
  int looked_at = 0;
  while (const dirent* entry = readdir(open.get())) {
    const std::string_view name(entry->d_name);
    if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) continue;
    if (++looked_at > kMostFiles) return;
    const std::string path = folder + "/" + std::string(name);
    if (is_stale(path, host)) unlink(path.c_str());
  }
}

template <size_t N>
std::string_view text_in(const char (&place)[N]) {
  const std::string_view all(place, N);
  return all.substr(0, all.find('\0'));
}

bool is_first(const std::vector<SeenRecord>& records, const Record& own) {
  return std::all_of(records.begin(), records.end(), [&](const SeenRecord& one) {
    return std::pair(one->rank, one->process) >= std::pair(own.rank, own.process);
  });
}

int64_t age_of_file_s(const std::string& path) {
  struct stat file{};
  return stat(path.c_str(), &file) == 0 ? age_s(file) : INT64_MAX;
}

double seconds_of_wait(const ThreadLine& line, uint64_t now_ns) {
  const uint64_t since_ns = line.thread.load(std::memory_order_relaxed) == 0 ? 0 : waits_since_ns(line);
  return since_ns != 0 && now_ns > since_ns ? static_cast<double>(now_ns - since_ns) / 1e9 : 0;
}

// Once a process, and by one of a job's on a machine: the folder may be there for others.
Status cannot_write(const std::string& name, int error) {
  return {Code::kSystem, "can't write metrics to `" + name + "`: " + std::strerror(error) +
                             "; name a folder that is there, in which this process may write"};
}

void complain(const Status& status, const Record& own) {
  static std::atomic<bool> has_complained{false};
  if (has_complained.exchange(true, std::memory_order_relaxed) || !is_first(records_of_own_job(text_in(own.job)), own))
    return;
  HOCKET_LOG_WARN("HOCKET_METRICS: %s", status.message());
}

}  // namespace

double waited_s(const SeenRecord& record, uint64_t now_ns) {
  double sum = static_cast<double>(record->waited_ns.load(std::memory_order_relaxed)) / 1e9;
  for (const ThreadLine& line : record->threads) sum += seconds_of_wait(line, now_ns);
  return sum;
}

JobMetrics metrics_of(const std::vector<SeenRecord>& records, uint64_t now_ns) {
  JobMetrics sum;
  int last_process = -1;
  bool has_waiting = false;  // of the process's records, one
  for (const SeenRecord& record : records) {
    if (sum.job.empty()) {
      sum.job = record.job();
      sum.library = record.library();
    }
    if (record.process() != std::exchange(last_process, record.process())) {
      ++sum.ranks;
      has_waiting = false;
    }
    double waits_s = 0;
    for (const ThreadLine& line : record->threads) waits_s = std::max(waits_s, seconds_of_wait(line, now_ns));
    if (waits_s > 0 && !std::exchange(has_waiting, true)) ++sum.waiting;
    sum.longest_wait_s = std::max(sum.longest_wait_s, waits_s);
    sum.waited_s += waited_s(record, now_ns);
    sum.late_lines += record->late_lines.load(std::memory_order_relaxed);
    sum.came_after_all += record->came_after_all.load(std::memory_order_relaxed);
  }
  return sum;
}

std::string metrics_text(const std::vector<JobMetrics>& jobs, const std::string& comment) {
  std::string text = "# " + comment + "\n";
  for (const Metric& metric : kMetrics) {
    const std::string name = metric.name;
    text += "# HELP " + name;
    text += std::string(" ") + metric.help + "\n# TYPE " + name;
    text += std::string(" ") + metric.type + "\n";
    for (const JobMetrics& job : jobs) {
      text += name;
      text += "{job=" + label_text(job.job) + ",user=\"" + std::to_string(job.user) + "\"";
      text += ",program=" + label_text(job.program) + ",library=" + label_text(job.library) + "} ";
      text += number_text(metric.value(job)) + "\n";
    }
  }
  return text;
}

Result<bool> write_metrics(const std::string& folder, const std::string& file, const TextOf& text_of) {
  const std::string path = folder + "/" + file;
  const std::string draft = folder + "/." + file + ".new";
  constexpr int kHow = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  constexpr mode_t kForAllToRead = 0644;
  Descriptor open_draft(open(draft.c_str(), kHow, kForAllToRead));
  if (open_draft.get() < 0 && errno == EEXIST) {
    // Another writes it now, or was killed doing so.
    struct stat left{};
    if (lstat(draft.c_str(), &left) == 0 && age_s(left) >= kStaleS) unlink(draft.c_str());
    return false;
  }
  if (open_draft.get() < 0) return cannot_write(folder, errno);
  const std::string text = text_of();
  if (text.empty()) {
    unlink(draft.c_str());
    return false;
  }
  int error = write_whole(open_draft.get(), text);
  if (error == 0 && rename(draft.c_str(), path.c_str()) == 0) return true;
  if (error == 0) error = errno;
  unlink(draft.c_str());
  return cannot_write(path, error);
}

std::string metrics_file_of(std::string_view job, uint32_t user) {
  uint64_t hash = 0xcbf29ce484222325ull ^ user;  // FNV-1a
  for (const char letter : job) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3ull;
  char number[20];
  std::snprintf(number, sizeof number, "%016" PRIx64, hash);
  return std::string(kPrefix) + number + std::string(kSuffix);
}

bool start_metrics(std::string folder) {
  if (folder.empty()) return false;
  folder = whole_path(folder);
  const std::lock_guard lock(users_mutex());
  if (users_of_metrics++ != 0) return true;
  const std::string* const known = own_folder.load(std::memory_order_relaxed);
  if (known == nullptr || *known != folder) own_folder.store(new std::string(std::move(folder)));
  internal::metrics_due_ns.store(coarse_now_ns() + kNanosecondsPerSecond, std::memory_order_release);
  return true;
}

void internal::write_own_metrics() {
  const Record* const own = own_record();
  const uint64_t now = coarse_now_ns();
  uint64_t due = metrics_due_ns.load(std::memory_order_acquire);
  // One thread at a time.
  if (own == nullptr || now < due || !metrics_due_ns.compare_exchange_strong(due, now + kIntervalNs)) return;
  due = now + kIntervalNs;
  // Not where metrics have ended meanwhile.
  const auto put_off = [&due](uint64_t until) { metrics_due_ns.compare_exchange_strong(due, until); };
  const std::string& folder = *own_folder.load(std::memory_order_acquire);
  const std::string file = metrics_file_of(text_in(own->job), geteuid()), path = folder + "/" + file;
  constexpr auto kIntervalS = static_cast<int64_t>(kIntervalNs / kNanosecondsPerSecond);
  const auto left_s = [&path] {
    const int64_t age = age_of_file_s(path);
    return age >= 0 && age < kIntervalS ? static_cast<uint64_t>(kIntervalS - age) : 0;
  };
  if (const uint64_t left = left_s(); left != 0) return put_off(now + left * kNanosecondsPerSecond);
  const std::string_view host = text_in(own->host);
  // Only who writes it looks through all of /proc.
  const Result<bool> done = write_metrics(folder, file, [&] {
    if (left_s() != 0) return std::string();  // another was quicker
    JobMetrics metrics = metrics_of(records_of_own_job(text_in(own->job)), now);
    metrics.user = geteuid();
    metrics.program = first_line_of("/proc/self/comm");
    return metrics_text({metrics}, owner_text(getpid(), host));
  });
  if (!done.is_ok()) complain(done.status(), *own);
  if (done.is_ok() && done.value()) remove_stale(folder, host);
  // Who has ended them has taken the file away, perhaps before it was written.
  if (!has_metrics()) unlink(path.c_str());
  const uint64_t took = coarse_now_ns() - now;
  if (took * kLeastPauses > kIntervalNs) put_off(now + took * kLeastPauses);
}

// Ranks that are still there write it again.
void end_metrics() {
  const Record* const own = own_record();
  const std::lock_guard lock(users_mutex());
  if (--users_of_metrics != 0) return;
  internal::metrics_due_ns.store(UINT64_MAX);
  if (own != nullptr) unlink((*own_folder.load() + "/" + metrics_file_of(text_in(own->job), geteuid())).c_str());
}

}  // namespace hocket::platform
