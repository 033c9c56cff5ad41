// SPDX-License-Identifier: BSD-3-Clause
#include "mpi_launch/on_mpi.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>

#include "bench/local/ranks.h"
#include "mpi_launch/mpi_library.h"
#include "supervision/cannot_run.h"
#include "supervision/cores.h"
#include "words/say.h"

namespace hocket::command {
namespace {

int refuse_to_run(const std::string& program, int error) {
  const supervision::CannotRun refusal = supervision::cannot_run(program, error);
  return fail(refusal.exit_code, refusal.why);
}

int become_or_say(const std::vector<std::string>& command) {
  return refuse_to_run(command[0], supervision::become(command));
}

// What must be there for an MPI to be measured; found before anything is started.
struct Parts {
  std::string shim;
  std::string module;
};

Result<Parts> find_parts(const Mpi& mpi) {
  if (mpi.library.empty())
    return Status(Code::kSystem, "the library of " + mpi.title + " was not found beside " + mpi.launcher);
  Result<std::string> shim = find_shim(mpi.family);
  if (!shim.is_ok()) return shim.take_status();
  Result<std::string> module = find_bench_module(mpi.family);
  if (!module.is_ok()) return module.take_status();
  return Parts{shim.take(), module.take()};
}

// The rank's number on its node, as the launcher tells it before MPI_Init; 0 if it doesn't.
int local_rank() {
  for (const char* variable : {"MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK", "PMI_RANK"})
    if (const char* text = std::getenv(variable)) return std::atoi(text);
  return 0;
}

int become_launcher(const OnMpi& job) {
  if (const int error = error_of_running(job.launcher[0]); error != 0) return refuse_to_run(job.launcher[0], error);
  Result<Mpi> mpi = identify_launcher(job.launcher[0]);
  if (!mpi.is_ok()) return fail(kFailure, mpi.status().message());
  if (Result<Parts> parts = find_parts(mpi.value()); !parts.is_ok()) return fail(kFailure, parts.status().message());
  std::vector<std::string> command = job.launcher;
  command.push_back(own_path());
  command.insert(command.end(), job.own_arguments.begin(), job.own_arguments.end());
  return become_or_say(command);
}

int become_rank(const OnMpi& job) {
  const std::optional<Mpi> mpi = surrounding_mpi();
  if (!mpi) return fail(kFailure, "this is an MPI rank, but no MPI that hocket knows is its ancestor");
  Result<Parts> parts = find_parts(*mpi);
  if (!parts.is_ok()) return fail(kFailure, parts.status().message());
  if (job.bind) supervision::bind_to_core(local_rank());
  if (local_rank() == 0) start_load(job.load);
  // The shim first: what the benchmark calls must be what a user's program would call.
  std::string libraries = with_preload(mpi->library, std::getenv("LD_PRELOAD"));
  if (job.with_hocket) libraries = with_preload(parts.value().shim, libraries.c_str());
  setenv("LD_PRELOAD", libraries.c_str(), 1);
  std::vector<std::string> command = {own_path()};
  command.insert(command.end(), job.own_arguments.begin(), job.own_arguments.end());
  command.insert(command.end(), {"--inside-mpi", mpi->library});
  return become_or_say(command);
}

int run_as_rank(const OnMpi& job, const std::function<int(bench::MpiRanks&)>& body) {
  const auto family = family_of_soname(job.inside.substr(job.inside.find_last_of('/') + 1));
  if (!family) return fail(kFailure, job.inside + " is no MPI that hocket knows");
  Result<std::string> module = find_bench_module(*family);
  if (!module.is_ok()) return fail(kFailure, module.status().message());
  void* handle = dlopen(module.value().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return fail(kFailure, std::string("can't load the benchmark: ") + dlerror());
  const auto entry = reinterpret_cast<bench::MpiEntry>(dlsym(handle, bench::kMpiEntryName));
  if (entry == nullptr)
    return fail(kFailure, std::string("the benchmark's library is of another version of hocket: ") + dlerror());
  std::string why_not;
  const std::unique_ptr<bench::MpiRanks> ranks(entry(job.with_hocket, &why_not));
  if (ranks == nullptr) return fail(kUsage, "hocket " + std::string(job.command) + ": " + why_not);
  return body(*ranks);
}

}  // namespace

bool is_on_mpi(const OnMpi& job) { return !job.inside.empty() || !job.launcher.empty() || is_mpi_rank(); }

int run_on_mpi(const OnMpi& job, const std::function<int(bench::MpiRanks&)>& body) {
  if (!job.inside.empty()) return run_as_rank(job, body);
  return job.launcher.empty() ? become_rank(job) : become_launcher(job);
}

}  // namespace hocket::command
