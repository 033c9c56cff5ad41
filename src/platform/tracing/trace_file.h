// SPDX-License-Identifier: BSD-3-Clause
// A file to which the processes of a job write their events, each when it ends: whole JSON before and after each time.
//
// Who writes has the file to itself by a lock of the file system. The file says of which job it is; who finds another
// one's begins anew. What is no trace of hocket's is left as it is. Where there is no room the file becomes what it was
// before.
//
// Thread safety: one thread at a time; any number of processes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "platform/descriptor.h"

namespace hocket::platform {

class TraceFile {
 public:
  // Why it could not be written to, as far as can be seen: nothing is made, emptied or locked.
  static Status check(const std::string& name);
  // Waits for others that write, but not for ever. The errors name the file and the remedy.
  // `base_ns`: for a new file, see base_ns().
  static Result<TraceFile> open(const std::string& name, uint64_t job, uint64_t base_ns);
  TraceFile(TraceFile&&) = default;

  // What times in the file count from: viewers read them as floating-point numbers of microseconds, which are too
  // coarse for those of a machine that has been up for months.
  uint64_t base_ns() const { return base_ns_; }

  // Lines that end with ",\n".
  Status add(std::string_view lines);
  // The file is whole again, and others may write. After a failure it is so already.
  Status close();

 private:
  TraceFile(std::string name, Descriptor file) : name_(std::move(name)), file_(std::move(file)) {}
  Status lock() const;
  Status find_end(uint64_t job, uint64_t base_ns);
  Status begin_anew(uint64_t job, uint64_t base_ns);
  // What a process left that was killed while it wrote ends with its last whole line.
  Status find_last_line(uint64_t bytes);
  Status write(std::string_view text);
  Status restore(Status why);
  Status check_kind() const;
  Status foreign() const;
  Status failure(const char* what, int error) const;

  std::string name_;
  Descriptor file_;
  uint64_t base_ns_ = 0;
  uint64_t kept_ = 0;       // bytes of the file as it was, without its end
  uint64_t end_ = 0;        // the same with what has been added
  bool has_lines_ = false;  // one is there: the next needs a comma before it
  bool is_open_ = false;    // lines may be added
};

}  // namespace hocket::platform
