// SPDX-License-Identifier: BSD-3-Clause
#include "lab/jobs/job.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "lab/jobs/node.h"
#include "lab/words.h"

namespace hocket::lab {
namespace {

namespace fs = std::filesystem;
using platform::Descriptor;

// As ssh has it for its own failures.
constexpr int kAgentFailed = 255;
// ssh's options that take a value in the next word.
constexpr std::string_view kOptionsWithValue = "BbcDEeFIiJLlmOopQRSWw";

Descriptor lock_folder(const std::string& folder) {
  Descriptor opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.get() >= 0 && flock(opened.get(), LOCK_EX | LOCK_NB) != 0) opened.reset();
  return opened;
}

// Those whose lock no process holds.
void remove_ended_jobs(const Lab& lab) {
  std::error_code error;
  std::vector<fs::path> ended;
  for (const auto& entry : fs::directory_iterator(lab.jobs_directory(), error)) {
    if (lock_folder(entry.path()).get() >= 0) ended.push_back(entry.path());
  }
  for (const fs::path& folder : ended) fs::remove_all(folder, error);
}

Status fill(const Lab& lab, const std::string& folder, const std::string& own_program) {
  const auto make_shared_folder = [](const std::string& path) {
    if (mkdir(path.c_str(), 01777) != 0 || chmod(path.c_str(), 01777) != 0)
      return Status::system("can't make " + path, errno);
    return Status::ok();
  };
  HOCKET_TRY(make_shared_folder(folder + "/tmp"));
  for (int node = 0; node < lab.nodes; ++node) HOCKET_TRY(make_shared_folder(shared_memory_of(folder, node)));
  const std::string agent = folder + "/agent";
  std::ofstream script(agent);
  script << "#!/bin/sh\n"
         << "# In place of ssh: agent [-options] NODE COMMAND ...\n"
         << "HOCKET_LAB_DIRECTORY=" << quoted(root()) << " exec " << quoted(own_program) << " lab agent "
         << quoted(lab.name) << " " << quoted(folder) << " \"$@\"\n";
  script.close();
  if (!script || chmod(agent.c_str(), 0755) != 0) return Status::system("can't write " + agent, errno);
  return Status::ok();
}

}  // namespace

std::string shared_memory_of(const std::string& job_folder, int node) { return job_folder + "/shm-" + node_name(node); }

Result<Job> Job::create(const Lab& lab, const std::string& own_program) {
  // Others that sweep meanwhile would take a folder whose lock is not yet held.
  Result<Lock> lock = Lock::take();
  if (!lock.is_ok()) return lock.take_status();
  remove_ended_jobs(lab);
  std::string folder = lab.jobs_directory() + "/XXXXXX";
  if (mkdtemp(folder.data()) == nullptr || chmod(folder.c_str(), 0755) != 0)
    return Status::system("can't make a folder for the job in " + lab.jobs_directory(), errno);
  Job job(folder, lock_folder(folder));
  HOCKET_TRY(fill(lab, folder, own_program));
  return job;
}

Job::~Job() {
  std::error_code error;
  if (!folder_.empty()) fs::remove_all(folder_, error);
}

int run_agent(const Lab& lab, const std::string& job_folder, const std::vector<std::string>& words) {
  size_t next = 0;
  while (next < words.size() && words[next].size() > 1 && words[next][0] == '-') {
    const bool takes_value =
        words[next].size() == 2 && kOptionsWithValue.find(words[next][1]) != std::string_view::npos;
    next += takes_value ? 2 : 1;
  }
  const auto complain = [](const std::string& text) {
    std::fprintf(stderr, "hocket lab agent: %s\n", text.c_str());
    return kAgentFailed;
  };
  if (next + 1 >= words.size()) return complain("a node and a command are wanted, as by ssh");
  const Result<int> node = parse_node(words[next], lab.nodes);
  if (!node.is_ok()) return complain(node.status().message());
  if (node.value() == kAllNodes) return complain("one node is wanted");
  std::string command;
  for (size_t i = next + 1; i < words.size(); ++i) command += (command.empty() ? "" : " ") + words[i];
  const Status status = enter_node(lab, node.value(), {shared_memory_of(job_folder, node.value()), true});
  if (!status.is_ok()) return complain(status.message());
  return become({"/bin/sh", "-c", command});
}

}  // namespace hocket::lab
