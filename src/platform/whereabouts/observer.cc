// SPDX-License-Identifier: BSD-3-Clause
#include "platform/whereabouts/observer.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
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

// nullptr: it is none, or one of another version.
std::unique_ptr<const Record> read_record(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return nullptr;
  std::unique_ptr<Record> record(new (std::nothrow) Record);
  if (record == nullptr || pread(file.get(), record.get(), sizeof(Record), 0) != sizeof(Record)) return nullptr;
  if (record->magic.load(std::memory_order_relaxed) != Record::kMagic || record->bytes != sizeof(Record))
    return nullptr;
  return record;
}

uint64_t last_stamp(const ThreadLine& line) {
  return std::max(line.other.since_ns.load(std::memory_order_relaxed),
                  line.collective.since_ns.load(std::memory_order_relaxed));
}

bool is_in(const FunctionStamp& stamp) {
  return (stamp.what.load(std::memory_order_relaxed) & FunctionStamp::kIsIn) != 0;
}

}  // namespace

std::string_view SeenRecord::function(uint32_t number) const {
  return number < Record::kFunctions ? text(record_->functions[number]) : std::string_view();
}

const CommunicatorName* SeenRecord::communicator(uint64_t number) const {
  const auto* const end = std::end(record_->communicators);
  const auto* const found =
      std::find_if(std::begin(record_->communicators), end, [number](const CommunicatorName& one) {
        return number != 0 && one.number.load(std::memory_order_relaxed) == number;
      });
  return found == end ? nullptr : found;
}

std::vector<SeenRecord> records_of(int process) {
  std::vector<SeenRecord> seen;
  const std::string folder = "/proc/" + std::to_string(process) + "/fd/";
  for (const int descriptor : numbers_in(folder)) {
    const std::string link = folder + std::to_string(descriptor);
    if (!may_be_record(link)) continue;
    std::unique_ptr<const Record> record = read_record(link);
    if (record != nullptr && is_owner(process, *record)) seen.emplace_back(process, std::move(record));
  }
  return seen;
}

std::vector<SeenRecord> all_records(std::string_view job) {
  std::vector<SeenRecord> all;
  for (const int process : numbers_in("/proc"))
    for (SeenRecord& one : records_of(process))
      if (job.empty() || one.job() == job) all.push_back(std::move(one));
  return all;
}

// One that is in a collective rather than one that isn't, whatever it does beside, and one that came to its last call
// last.
const ThreadLine* telling_line(const Record& record) {
  const ThreadLine* best = nullptr;
  std::pair<int, uint64_t> best_rank;
  for (const ThreadLine& line : record.threads) {
    if (line.thread.load(std::memory_order_relaxed) == 0 || last_stamp(line) == 0) continue;
    const std::pair<int, uint64_t> rank{is_in(line.collective) ? 2 : is_in(line.other) ? 1 : 0, last_stamp(line)};
    if (best == nullptr || rank > best_rank) best = &line;
    if (best == &line) best_rank = rank;
  }
  return best;
}

}  // namespace hocket::platform
