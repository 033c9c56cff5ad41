// SPDX-License-Identifier: BSD-3-Clause
#include "lab/jobs/mpi.h"

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "mpi_launch/mpi_library.h"

namespace hocket::command {
namespace {

namespace fs = std::filesystem;

struct KnownMpi {
  const char* word;
  const char* environment;  // its folder below .venv; nullptr: none
  std::vector<const char*> programs;
  const char* title;  // what the launcher calls itself begins with this
};

const std::vector<KnownMpi>& known_mpis() {
  static const std::vector<KnownMpi> kKnown = {
      {"mpich", "mpich", {"mpiexec", "mpirun", "mpiexec.mpich", "mpiexec.hydra"}, "MPICH"},
      {"mpich-abi", "mpich-abi", {}, "MPICH"},
      {"openmpi", "openmpi", {"mpirun", "mpiexec", "mpirun.openmpi"}, "Open MPI"},
      {"intel", "impi", {"mpiexec", "mpirun", "mpiexec.hydra"}, "Intel"},
      {"debian-mpich", nullptr, {"mpiexec.mpich"}, "MPICH"},
      {"debian-openmpi", nullptr, {"mpirun.openmpi"}, "Open MPI"},
  };
  return kKnown;
}

// Where `./dev setup` keeps its environments: in this folder, or beside the build folder of this command.
std::vector<std::string> launchers_of_environment(const char* environment) {
  std::vector<std::string> found;
  if (environment == nullptr) return found;
  std::error_code error;
  const fs::path own = fs::path(own_path()).parent_path() / "../../..";
  for (const fs::path& checkout : {fs::current_path(error), own.lexically_normal()}) {
    const std::string launcher = checkout / ".venv" / environment / "bin" / "mpiexec";
    if (!find_program(launcher).empty()) found.push_back(launcher);
  }
  return found;
}

Result<LabMpi> from_launcher(const std::string& launcher) {
  Result<Mpi> mpi = identify_launcher(launcher);
  if (!mpi.is_ok()) return mpi.take_status();
  LabMpi found;
  found.launcher = find_program(launcher);
  const std::string& title = mpi.value().title;
  if (mpi.value().family == MpiFamily::kOpenMpi) {
    const size_t version = title.find_first_of("0123456789");
    const int major = version == std::string::npos ? 0 : std::atoi(title.c_str() + version);
    found.kind = major >= 5 ? lab::MpiKind::kOpenMpi5 : lab::MpiKind::kOpenMpi4;
  } else if (title.find("Intel") != std::string::npos) {
    found.kind = lab::MpiKind::kIntel;
    // Its programs are linked with the names of its libraries only; its own scripts set this, too.
    if (!mpi.value().library.empty()) {
      const char* before = std::getenv("LD_LIBRARY_PATH");
      found.variables.emplace_back("LD_LIBRARY_PATH",
                                   with_preload(fs::path(mpi.value().library).parent_path(), before));
    }
  }
  return found;
}

Result<LabMpi> from_name(const KnownMpi& known) {
  std::vector<std::string> launchers = launchers_of_environment(known.environment);
  std::string searched = known.environment == nullptr ? "" : std::string(".venv/") + known.environment + "/bin/mpiexec";
  for (const char* program : known.programs) {
    for (const std::string& launcher : find_programs(program)) launchers.push_back(launcher);
    searched += (searched.empty() ? "" : ", ") + std::string(program);
  }
  for (const std::string& launcher : launchers) {
    const Result<Mpi> mpi = identify_launcher(launcher);
    if (mpi.is_ok() && mpi.value().title.starts_with(known.title)) return from_launcher(launcher);
  }
  return Status(Code::kInvalidArgument, std::string("no launcher of ") + known.word + " was found; searched " +
                                            searched + " (on PATH). Say --mpi PATH-OF-LAUNCHER");
}

// The first launcher on PATH whose MPI is that with which the program was linked.
Result<LabMpi> from_program(const std::vector<std::string>& program) {
  std::optional<MpiFamily> wanted;
  for (const std::string& word : program) {
    const std::string path = find_program(word);
    if (!path.empty() && !wanted) wanted = family_of_soname(needed_mpi(path));
  }
  for (const char* name : {"mpiexec", "mpirun", "mpiexec.mpich", "mpirun.openmpi", "mpiexec.hydra"}) {
    for (const std::string& launcher : find_programs(name)) {
      const Result<Mpi> mpi = identify_launcher(launcher);
      if (!mpi.is_ok()) continue;
      if (!wanted || *wanted == MpiFamily::kStandard || *wanted == mpi.value().family) return from_launcher(launcher);
    }
  }
  return Status(Code::kInvalidArgument, "no launcher on PATH fits the program: say which MPI by --mpi");
}

}  // namespace

Result<LabMpi> find_lab_mpi(const std::string& word, const std::vector<std::string>& program) {
  if (word == "auto") return from_program(program);
  for (const KnownMpi& known : known_mpis()) {
    if (word == known.word) return from_name(known);
  }
  if (!find_program(word).empty()) return from_launcher(word);
  return Status(Code::kInvalidArgument, "--mpi " + word +
                                            ": accepted is mpich, openmpi, intel, debian-mpich, debian-openmpi or the "
                                            "path of a launcher");
}

}  // namespace hocket::command
