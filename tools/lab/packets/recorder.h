// SPDX-License-Identifier: BSD-3-Clause
// A recording of a lab's NIC engines by a process of its own, so that whoever starts it may start others and wait for
// them. It ends with the process that has started it, and nothing of it stays but the file.
//
// Thread safety: of a process with one thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/status.h"
#include "lab/lab.h"
#include "platform/descriptor.h"

namespace hocket::lab {

class Recorder {
 public:
  // From its return on everything is recorded. `about` is added to the file's first line.
  static Result<Recorder> start(const Lab& lab, const std::string& file, const nlohmann::ordered_json& about);
  // One that was not stopped leaves a file without a last line.
  ~Recorder();
  Recorder(Recorder&& other) noexcept
      : lab_(std::move(other.lab_)), process_(std::exchange(other.process_, 0)), control_(std::move(other.control_)) {}
  Recorder& operator=(Recorder&&) = delete;

  // An error where the file lacks anything.
  Status stop();

 private:
  Recorder(const Lab& lab, pid_t process, platform::Descriptor control)
      : lab_(lab), process_(process), control_(std::move(control)) {}
  void end();

  Lab lab_;
  pid_t process_;
  platform::Descriptor control_;
};

// The process that records a lab; 0 where there is none.
pid_t recording_process(const Lab& lab);

}  // namespace hocket::lab
