// SPDX-License-Identifier: BSD-3-Clause
// What a run of MPI ranks has in the lab while it lasts: for each node a /dev/shm, a folder for temporary files, and
// the agent by which the MPI's launcher reaches other nodes, as it would by ssh.
//
// Jobs have these of their own because process numbers, by which MPIs name their files, begin anew in each.
//
// Thread safety: one thread.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "lab/lab.h"
#include "platform/descriptor.h"

namespace hocket::lab {

class Job {
 public:
  // `own_program`: the hocket command, which the agent calls. Removes what killed jobs have left.
  static Result<Job> create(const Lab& lab, const std::string& own_program);
  ~Job();
  Job(Job&& other) noexcept : folder_(std::move(other.folder_)), lock_(std::move(other.lock_)) {
    other.folder_.clear();
  }
  Job& operator=(Job&&) = delete;

  const std::string& folder() const { return folder_; }
  std::string agent() const { return folder_ + "/agent"; }
  std::string temporary_folder() const { return folder_ + "/tmp"; }

 private:
  Job(std::string folder, platform::Descriptor lock) : folder_(std::move(folder)), lock_(std::move(lock)) {}

  std::string folder_;
  platform::Descriptor lock_;  // tells others that the job is alive
};

// The node's /dev/shm within the job.
std::string shared_memory_of(const std::string& job_folder, int node);

// What the agent does with the words of ssh, "[-options] HOST COMMAND ...": runs the command by the shell on that
// node, in place of this process. Returns an exit code where it can't.
int run_agent(const Lab& lab, const std::string& job_folder, const std::vector<std::string>& words);

}  // namespace hocket::lab
