// SPDX-License-Identifier: BSD-3-Clause
#include "platform/whereabouts/observer.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <new>
#include <utility>

#include "platform/descriptor.h"

namespace hocket::platform {
namespace {

// The names in a folder of /proc that are numbers, in their order.
std::vector<int> numbers_in(const std::string& folder) {
  std::vector<int> numbers;
  DIR* const open = opendir(folder.c_str());
  if (open == nullptr) return numbers;
  while (const dirent* entry = readdir(open)) {
    char* end = nullptr;
    const long number = std::strtol(entry->d_name, &end, 10);
    if (end != entry->d_name && *end == 0 && number >= 0 && number <= INT_MAX)
      numbers.push_back(static_cast<int>(number));
  }
  closedir(open);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

// A process that opens more means to fill its observers' memory.
constexpr size_t kMostRecords = 4;

// Where memfd is refused the file has no name of its own.
bool may_be_record(const std::string& link) {
  char target[PATH_MAX];
  const ssize_t bytes = readlink(link.c_str(), target, sizeof target);
  if (bytes < 0) return false;
  const std::string_view text(target, static_cast<size_t>(bytes));
  return text.starts_with("/memfd:hocket-record") ||
         (text.ends_with(" (deleted)") && (text.find("/hocket-") != text.npos || text.find("/#") != text.npos));
}

// A process that has only inherited the file isn't its owner. One in a container names itself otherwise.
bool is_owner(int process, const Record& record) {
  if (record.process == static_cast<uint32_t>(process)) return true;
  char line[PATH_MAX];
  std::FILE* const status = std::fopen(("/proc/" + std::to_string(process) + "/status").c_str(), "re");
  if (status == nullptr) return false;
  bool is = false;
  while (std::fgets(line, sizeof line, status) != nullptr) {
    std::string_view text(line);
    if (!text.starts_with("NSpid:")) continue;
    while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
    is = text.substr(text.rfind('\t') + 1) == std::to_string(record.process);
  }
  std::fclose(status);
  return is;
}

bool is_record(const Record& record) {
  return record.magic.load(std::memory_order_relaxed) == Record::kMagic && record.bytes == sizeof(Record);
}

// nullptr: it is none, or one of another version.
std::unique_ptr<Record> read_record(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return nullptr;
  std::unique_ptr<Record> record(new (std::nothrow) Record);
  if (record == nullptr || pread(file.get(), record.get(), sizeof(Record), 0) != sizeof(Record)) return nullptr;
  if (!is_record(*record)) return nullptr;
  return record;
}

// 0: unknown.
uint64_t process_namespace_of(int process) {
  struct stat name{};
  return stat(("/proc/" + std::to_string(process) + "/ns/pid").c_str(), &name) == 0 ? name.st_ino : 0;
}

// What a thread that has ended did last says nothing of what its process does. In a container threads have other
// numbers, by which they aren't found.
void forget_ended_threads(int process, Record& record) {
  if (record.process != static_cast<uint32_t>(process)) return;
  const std::string folder = "/proc/" + std::to_string(process) + "/task/";
  for (ThreadLine& line : record.threads) {
    const uint32_t thread = line.thread.load(std::memory_order_relaxed);
    if (thread != 0 && access((folder + std::to_string(thread)).c_str(), F_OK) != 0 && errno == ENOENT)
      line.thread.store(0, std::memory_order_relaxed);
  }
}

// One that is just being made, or inherited, isn't.
bool is_of_other_version(const std::string& link) {
  char target[PATH_MAX];
  const ssize_t length = readlink(link.c_str(), target, sizeof target);
  if (length < 0 || !std::string_view(target, static_cast<size_t>(length)).starts_with("/memfd:hocket-record"))
    return false;
  struct {
    uint64_t magic = 0;
    uint32_t bytes = 0;
  } begin;
  const Descriptor file(open(link.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0 || pread(file.get(), &begin, sizeof begin, 0) != sizeof begin || begin.magic == 0) return false;
  return begin.magic != Record::kMagic || begin.bytes != sizeof(Record);
}

uint64_t last_stamp(const ThreadLine& line) {
  return std::max(line.other.since_ns.load(std::memory_order_relaxed),
                  line.collective.since_ns.load(std::memory_order_relaxed));
}

}  // namespace

std::string_view SeenRecord::function(uint32_t number) const {
  return number < Record::kFunctions ? text(record_->functions[number]) : std::string_view();
}

std::string_view SeenRecord::algorithm(uint32_t number) const {
  return number < Record::kAlgorithms ? text(record_->algorithms[number]) : std::string_view();
}

const CommunicatorName* find_communicator(const Record& record, uint64_t number) {
  const auto* const end = std::end(record.communicators);
  const auto* const found = std::find_if(std::begin(record.communicators), end, [number](const CommunicatorName& one) {
    return number != 0 && one.number.load(std::memory_order_relaxed) == number;
  });
  return found == end ? nullptr : found;
}

std::vector<SeenRecord> records_of(int process) {
  std::vector<SeenRecord> seen;
  const std::string folder = "/proc/" + std::to_string(process) + "/fd/";
  for (const int descriptor : numbers_in(folder)) {
    const std::string link = folder + std::to_string(descriptor);
    if (seen.size() == kMostRecords || !may_be_record(link)) continue;
    std::unique_ptr<Record> record = read_record(link);
    if (record == nullptr || !is_owner(process, *record)) continue;
    forget_ended_threads(process, *record);
    seen.emplace_back(process, std::move(record), process_namespace_of(process));
  }
  return seen;
}

RecordAccess access_to(int process) {
  if (!records_of(process).empty()) return RecordAccess::kHasOne;
  const std::string folder = "/proc/" + std::to_string(process) + "/fd/";
  const Descriptor open_folder(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (open_folder.get() < 0) {
    const int error = errno;
    return error == EACCES || error == EPERM ? RecordAccess::kNotPermitted : RecordAccess::kNoProcess;
  }
  for (const int descriptor : numbers_in(folder))
    if (is_of_other_version(folder + std::to_string(descriptor))) return RecordAccess::kOtherVersion;
  return RecordAccess::kHasNone;
}

std::vector<SeenRecord> all_records() {
  std::vector<SeenRecord> all;
  for (const int process : numbers_in("/proc"))
    for (SeenRecord& one : records_of(process)) all.push_back(std::move(one));
  return all;
}

std::vector<SeenRecord> records_of_own_job(std::string_view job) {
  return records_of_own_job(job, numbers_in("/proc"));
}

std::vector<SeenRecord> records_of_own_job(std::string_view job, const std::vector<int>& processes) {
  std::vector<SeenRecord> found;
  for (const int process : processes) {
    struct stat facts{};
    if (stat(("/proc/" + std::to_string(process)).c_str(), &facts) != 0 || facts.st_uid != geteuid()) continue;
    for (SeenRecord& one : records_of(process))
      if (one.job() == job) found.push_back(std::move(one));
  }
  return found;
}

bool has_come_to_left_call(const SeenRecord& record, uint64_t communicator, uint64_t number) {
  const CommunicatorName* const noted = record.communicator(communicator);
  if (noted != nullptr) return noted->calls.load(std::memory_order_relaxed) >= number;
  return record->unlisted.load(std::memory_order_relaxed) != 0 ||
         record->gone_communicators.load(std::memory_order_relaxed) > Record::kGone ||
         std::any_of(std::begin(record->gone), std::end(record->gone), [&](const std::atomic<uint64_t>& one) {
           return one.load(std::memory_order_relaxed) == communicator;
         });
}

// One that is in a collective rather than one that isn't, whatever it does beside, and one that came to its last call
// last.
const ThreadLine* telling_line(const Record& record) {
  const ThreadLine* best = nullptr;
  std::pair<int, uint64_t> best_rank;
  for (const ThreadLine& line : record.threads) {
    if (line.thread.load(std::memory_order_relaxed) == 0 || last_stamp(line) == 0) continue;
    const std::pair<int, uint64_t> rank{line.collective.is_in() ? 2 : line.other.is_in() ? 1 : 0, last_stamp(line)};
    if (best == nullptr || rank > best_rank) best = &line;
    if (best == &line) best_rank = rank;
  }
  return best;
}

// What was written in an earlier call may still be there. Ends of waits and calls are taken from a coarse clock.
uint64_t waits_since_ns(const ThreadLine& line) {
  constexpr uint64_t kCoarseNs = 20'000'000;
  const uint64_t since_ns = line.waits_since_ns.load(std::memory_order_relaxed);
  const FunctionStamp& stamp = line.collective.is_in() ? line.collective : line.other;
  const bool is_of_now = stamp.is_in() && since_ns + kCoarseNs >= stamp.since_ns.load(std::memory_order_relaxed);
  return is_of_now ? since_ns : 0;
}

int32_t awaited_peer(const ThreadLine& line, uint64_t now_ns) {
  const FunctionStamp& stamp = line.other;
  const bool waits = !line.collective.is_in() && stamp.is_in() && stamp.has_peer();
  const bool has_lasted = stamp.since_ns.load(std::memory_order_relaxed) + kShortestWaitNs <= now_ns;
  return waits && has_lasted ? stamp.of_all.load(std::memory_order_relaxed) : FunctionStamp::kUnknown;
}

}  // namespace hocket::platform
