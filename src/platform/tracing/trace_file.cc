// SPDX-License-Identifier: BSD-3-Clause
#include "platform/tracing/trace_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <iterator>

#include "base/whole_write.h"

namespace hocket::platform {
namespace {

constexpr std::string_view kHead = R"({"otherData":{"written by":"hocket","job":")";
constexpr std::string_view kBetweenNumbers = R"(","base_ns":")";
constexpr std::string_view kBehindNumbers = R"("},"displayTimeUnit":"ns","traceEvents":[)";
constexpr std::string_view kEnd = "\n]}\n";
constexpr std::string_view kBetween = ",\n";
constexpr size_t kJobDigits = 16;
constexpr size_t kBaseDigits = 20;
constexpr size_t kBasePlace = kHead.size() + kJobDigits + kBetweenNumbers.size();
constexpr size_t kHeadBytes = kBasePlace + kBaseDigits + kBehindNumbers.size();
// Of others that write: some hundred megabytes each, to a slow disk.
constexpr int kLockTries = 6000;
constexpr timespec kLockPause{0, 10'000'000};

std::string head_of(uint64_t job, uint64_t base_ns) {
  char job_digits[kJobDigits + 1], base_digits[kBaseDigits + 1];
  std::snprintf(job_digits, sizeof job_digits, "%016llx", static_cast<unsigned long long>(job));
  std::snprintf(base_digits, sizeof base_digits, "%020llu", static_cast<unsigned long long>(base_ns));
  std::string head(kHead);
  for (const std::string_view part :
       {std::string_view(job_digits), kBetweenNumbers, std::string_view(base_digits), kBehindNumbers})
    head += part;
  return head;
}

// 0: there is none.
uint64_t base_of(std::string_view head) {
  if (head.size() != kHeadBytes) return 0;
  const std::string_view digits = head.substr(kBasePlace, kBaseDigits);
  uint64_t base_ns = 0;
  std::from_chars(digits.begin(), digits.end(), base_ns);
  return base_ns;
}

}  // namespace

Status TraceFile::failure(const char* what, int error) const {
  const char* const remedy = error == ENOENT ? "make its folder, or name a file in one that is there"
                                             : "name a file on a disk with room, which this process may write";
  return {Code::kSystem,
          "HOCKET_TRACE: " + std::string(what) + " " + name_ + ": " + std::strerror(error) + "; " + remedy};
}

Status TraceFile::check_kind() const {
  struct stat facts{};
  if (fstat(file_.get(), &facts) != 0) return failure("looking at", errno);
  if (!S_ISREG(facts.st_mode))
    return {Code::kInvalidArgument, "HOCKET_TRACE: " + name_ + " is not a regular file; name one"};
  return Status::ok();
}

Status TraceFile::foreign() const {
  return {Code::kInvalidArgument,
          "HOCKET_TRACE: " + name_ + " is no trace of hocket's and stays as it is; name a new file, or remove it"};
}

Status TraceFile::check(const std::string& name) {
  const TraceFile file(name, Descriptor(::open(name.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK)));
  if (file.file_.get() >= 0) {
    HOCKET_TRY(file.check_kind());
    char text[kHead.size()] = {};
    const ssize_t got = pread(file.file_.get(), text, sizeof text, 0);
    if (got < 0) return file.failure("reading", errno);
    return got == 0 || std::string_view(text, static_cast<size_t>(got)) == kHead ? Status::ok() : file.foreign();
  }
  if (errno != ENOENT) return file.failure("opening", errno);
  const size_t slash = name.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : name.substr(0, slash + 1);
  if (faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0) return file.failure("making", errno);
  return Status::ok();
}

Result<TraceFile> TraceFile::open(const std::string& name, uint64_t job, uint64_t base_ns) {
  Descriptor descriptor(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644));
  TraceFile file(name, std::move(descriptor));
  if (file.file_.get() < 0) return file.failure("opening", errno);
  HOCKET_TRY(file.check_kind());
  HOCKET_TRY(file.lock());
  HOCKET_TRY(file.find_end(job, base_ns));
  file.is_open_ = true;
  return file;
}

Status TraceFile::lock() const {
  for (int tries = 0; tries < kLockTries; ++tries) {
    if (flock(file_.get(), LOCK_EX | LOCK_NB) == 0) return Status::ok();
    if (errno != EWOULDBLOCK && errno != EINTR)
      return {Code::kSystem, "HOCKET_TRACE: " + name_ + " can't be locked: " + std::strerror(errno) +
                                 "; name a file on a local disk, with %h in its name for one a node"};
    nanosleep(&kLockPause, nullptr);
  }
  return {Code::kTimeout, "HOCKET_TRACE: another process has written to " + name_ +
                              " for a minute; name a file on a faster disk, with %h in its name for one a node"};
}

Status TraceFile::find_end(uint64_t job, uint64_t base_ns) {
  const off_t bytes = lseek(file_.get(), 0, SEEK_END);
  if (bytes < 0) return failure("reading", errno);
  char text[kHeadBytes] = {};
  if (bytes == 0) return begin_anew(job, base_ns);
  const ssize_t got = pread(file_.get(), text, sizeof text, 0);
  if (got < 0) return failure("reading", errno);
  const std::string_view found(text, static_cast<size_t>(got));
  if (found.substr(0, kHead.size()) != kHead) return foreign();
  base_ns_ = base_of(found);
  if (base_ns_ == 0 || found != head_of(job, base_ns_)) return begin_anew(job, base_ns);
  return find_last_line(static_cast<uint64_t>(bytes));
}

Status TraceFile::begin_anew(uint64_t job, uint64_t base_ns) {
  if (ftruncate(file_.get(), 0) != 0) return failure("emptying", errno);
  is_open_ = true;
  HOCKET_TRY(write(head_of(job, base_ns)));
  base_ns_ = base_ns;
  kept_ = end_;
  return Status::ok();
}

Status TraceFile::find_last_line(uint64_t bytes) {
  constexpr uint64_t kMostBytes = 64 * 1024;  // many lines
  std::string text(std::min(bytes - kHeadBytes, kMostBytes), '\0');
  const uint64_t from = bytes - text.size();
  if (pread(file_.get(), text.data(), text.size(), static_cast<off_t>(from)) != static_cast<ssize_t>(text.size()))
    return failure("reading", errno);
  size_t place = text.size();
  if (text.ends_with(kEnd)) {
    place -= kEnd.size();
  } else {
    const size_t found = text.rfind(kBetween);
    place = found == std::string::npos ? 0 : found;
  }
  kept_ = end_ = from + place;
  has_lines_ = kept_ > kHeadBytes;
  return Status::ok();
}

Status TraceFile::write(std::string_view text) {
  const WithoutSignal quiet(SIGXFSZ);
  while (!text.empty()) {
    const ssize_t written = pwrite(file_.get(), text.data(), text.size(), static_cast<off_t>(end_));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return restore(failure("writing", written < 0 ? errno : ENOSPC));
    end_ += static_cast<uint64_t>(written);
    text.remove_prefix(static_cast<size_t>(written));
  }
  return Status::ok();
}

// Its end has room where it was before.
Status TraceFile::restore(Status why) {
  is_open_ = false;
  const bool is_restored = ftruncate(file_.get(), static_cast<off_t>(kept_)) == 0 &&
                           (kept_ == 0 || pwrite(file_.get(), kEnd.data(), kEnd.size(), static_cast<off_t>(kept_)) ==
                                              static_cast<ssize_t>(kEnd.size()));
  return is_restored ? std::move(why) : Status(why.code(), std::string(why.message()) + "; the file is not whole");
}

Status TraceFile::add(std::string_view lines) {
  if (lines.empty() || !is_open_) return Status::ok();
  lines.remove_suffix(kBetween.size());
  HOCKET_TRY(write(has_lines_ ? kBetween : kBetween.substr(1)));
  has_lines_ = true;
  return write(lines);
}

Status TraceFile::close() {
  if (!is_open_) return Status::ok();
  HOCKET_TRY(write(kEnd));
  is_open_ = false;
  if (ftruncate(file_.get(), static_cast<off_t>(end_)) != 0) return failure("ending", errno);
  return Status::ok();
}

}  // namespace hocket::platform
