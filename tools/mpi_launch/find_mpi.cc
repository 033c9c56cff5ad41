// SPDX-License-Identifier: BSD-3-Clause
// From launchers to MPIs, and from there to hocket's own files.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "mpi_launch/mpi_library.h"
#include "mpi_launch/output_of.h"

namespace hocket::command {
namespace {

namespace fs = std::filesystem;

fs::path resolved(const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? path : real;
}

bool is_executable(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

std::vector<std::string> path_directories() {
  const char* path = std::getenv("PATH");
  std::vector<std::string> directories;
  std::istringstream stream(path == nullptr ? "" : path);
  for (std::string directory; std::getline(stream, directory, ':');)
    directories.push_back(directory.empty() ? "." : directory);
  return directories;
}

// Where an MPI installed under `prefix` may keep its libraries.
std::vector<fs::path> library_directories(const fs::path& prefix) {
  std::vector<fs::path> directories = {prefix / "lib", prefix / "lib64", prefix / "lib" / "release"};
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(prefix / "lib", error))
    if (entry.path().filename().string().ends_with("-linux-gnu")) directories.push_back(entry.path());
  return directories;
}

std::string find_library(MpiFamily family, const fs::path& launcher) {
  static const std::vector<const char*> kMpichNames = {"libmpi.so.12", "libmpich.so.12"};
  static const std::vector<const char*> kOpenMpiNames = {"libmpi.so.40", "libmpi.so.80"};
  const fs::path prefix = launcher.parent_path().parent_path();
  std::error_code error;
  for (const fs::path& directory : library_directories(prefix))
    for (const char* name : family == MpiFamily::kMpich ? kMpichNames : kOpenMpiNames)
      if (fs::exists(directory / name, error)) return resolved(directory / name);
  return {};
}

std::string first_line_with(const std::string& text, const std::string& word) {
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (line.find(word) != std::string::npos) return line;
  return {};
}

std::string last_word(const std::string& line) {
  const size_t end = line.find_last_not_of(" \t\r");
  if (end == std::string::npos) return {};
  const size_t blank = line.find_last_of(" \t", end);
  return line.substr(blank == std::string::npos ? 0 : blank + 1, end - (blank == std::string::npos ? -1 : blank));
}

// Launchers by the name of their program, as found among a rank's ancestors.
std::optional<MpiFamily> family_of_program(const std::string& name) {
  for (const char* known : {"orterun", "orted", "prterun", "prted", "prte"})
    if (name == known) return MpiFamily::kOpenMpi;
  for (const char* known : {"hydra_pmi_proxy", "mpiexec.hydra", "hydra_bstrap_proxy"})
    if (name == known) return MpiFamily::kMpich;
  return std::nullopt;
}

int parent_of(int process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("PPid:")) return std::atoi(line.c_str() + 5);
  return 0;
}

// From the command's directory: where CMakeLists.txt has it installed, and in a build folder. An installation over one
// of an older layout leaves the older files in the second.
const char* const kOwnPlaces[] = {HOCKET_PRIVATE_LIBRARIES, "../lib"};

Result<std::string> find_own(const std::string& file, const char* what) {
  const fs::path here = fs::path(own_path()).parent_path();
  std::string searched;
  for (const char* place : kOwnPlaces) {
    const fs::path candidate = (here / place / file).lexically_normal();
    std::error_code error;
    if (fs::exists(candidate, error)) return resolved(candidate).string();
    if (searched == candidate) continue;
    searched += (searched.empty() ? "" : ", ") + candidate.string();
  }
  return Status(Code::kSystem, std::string(what) + " is missing; searched " + searched +
                                   ". Build or install hocket on a machine where that MPI's headers are found");
}

struct HookPlace {
  std::string_view family;
  std::string library;  // "": libmpi
  std::string function;
};
const HookPlace kHookPlaces[] = {
#define HOCKET_MPI_HOOK(constant, family, library, function) {family, library, function},
#include "base/mpi_hooks.def"
};

// In a table of names, each of which ends with a zero byte.
bool has_name(const fs::path& library, const std::string& name) {
  std::ifstream file(library, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  const std::string whole = '\0' + name + '\0';
  return bytes.str().find(whole) != std::string::npos;
}

// Debian has Open MPI's own library one or two folders above libmpi.
fs::path find_beside(const fs::path& library, const std::string& name) {
  constexpr int kFolders = 3;
  fs::path folder = library.parent_path();
  for (int i = 0; i < kFolders; ++i, folder = folder.parent_path()) {
    std::error_code error;
    if (fs::exists(folder / name, error)) return folder / name;
  }
  return {};
}

}  // namespace

const char* family_name(MpiFamily family) {
  switch (family) {
    case MpiFamily::kMpich:
      return "mpich";
    case MpiFamily::kOpenMpi:
      return "openmpi";
    case MpiFamily::kStandard:
      return "abi";
  }
  return "?";
}

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return is_executable(name) ? fs::absolute(name).string() : std::string();
  for (const std::string& directory : path_directories())
    if (is_executable(fs::path(directory) / name)) return fs::absolute(fs::path(directory) / name).string();
  return {};
}

int error_of_running(const std::string& name) {
  if (!find_program(name).empty()) return 0;
  if (name.find('/') != std::string::npos) return access(name.c_str(), F_OK) == 0 ? EACCES : errno;
  std::error_code error;
  for (const std::string& directory : path_directories())
    if (fs::is_regular_file(fs::path(directory) / name, error)) return EACCES;
  return ENOENT;
}

std::vector<std::string> find_programs(const std::string& name) {
  std::vector<std::string> found;
  for (const std::string& directory : path_directories()) {
    const fs::path candidate = fs::path(directory) / name;
    if (!is_executable(candidate)) continue;
    const std::string real = resolved(candidate);
    if (std::find(found.begin(), found.end(), real) == found.end()) found.push_back(real);
  }
  return found;
}

Result<Mpi> identify_launcher(const std::string& launcher) {
  const std::string path = find_program(launcher);
  if (path.empty()) return Status(Code::kInvalidArgument, "there is no program `" + launcher + "`");
  Mpi mpi;
  mpi.launcher = resolved(path);
  const std::string text = output_of({path, "--version"});
  if (std::string line = first_line_with(text, "Open MPI"); !line.empty()) {
    mpi.family = MpiFamily::kOpenMpi;
    mpi.title = "Open MPI " + last_word(line);
  } else if (line = first_line_with(text, "OpenRTE"); !line.empty()) {  // Open MPI 4 and before
    mpi.family = MpiFamily::kOpenMpi;
    mpi.title = "Open MPI " + last_word(line);
  } else if (line = first_line_with(text, "Intel(R) MPI"); !line.empty()) {
    mpi.title = line;
  } else if (text.find("HYDRA") != std::string::npos) {
    mpi.title = "MPICH " + last_word(first_line_with(text, "Version:"));
  } else {
    std::string problem = "`" + launcher + " --version` names no MPI that hocket knows";
    if (path.ends_with("/hocket"))
      problem += "; in a lab, the launcher comes first: hocket lab mpirun ... hocket bench ...";
    return Status(Code::kNotSupported, std::move(problem));
  }
  mpi.library = find_library(mpi.family, mpi.launcher);
  return mpi;
}

bool is_mpi_rank() {
  for (const char* variable : {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK"})
    if (std::getenv(variable) != nullptr) return true;
  return false;
}

std::optional<Mpi> surrounding_mpi() {
  for (int process = parent_of(getpid()); process > 1; process = parent_of(process)) {
    const fs::path program = resolved("/proc/" + std::to_string(process) + "/exe");
    const auto family = family_of_program(program.filename());
    if (!family) continue;
    return Mpi{*family, *family == MpiFamily::kMpich ? "MPICH" : "Open MPI", program, find_library(*family, program)};
  }
  return std::nullopt;
}

std::string own_path() { return resolved("/proc/self/exe"); }

Result<std::string> find_shim(MpiFamily family) {
  const std::string file = std::string("libhocket-mpi-") + family_name(family) + ".so";
  Result<std::string> shim = find_own(file, "hocket's library for this MPI");
  if (!shim.is_ok()) return shim;
  // The dynamic linker splits LD_PRELOAD at both, goes on without the file, and the program is served by nobody.
  if (shim.value().find_first_of(" :") == std::string::npos) return shim;
  return Status(Code::kNotSupported, "`" + shim.value() +
                                         "` can't be preloaded: its path has a space or a colon, where LD_PRELOAD is "
                                         "split; install hocket below a path without them");
}

Result<std::string> find_bench_module(MpiFamily family) {
  const std::string file = std::string("libhocket-bench-") + family_name(family) + ".so";
  return find_own(file, "the benchmark for this MPI");
}

std::string progress_hook_of(const Mpi& mpi) {
  if (mpi.library.empty()) return {};
  for (const HookPlace& place : kHookPlaces) {
    if (place.family != family_name(mpi.family)) continue;
    const fs::path library = place.library.empty() ? fs::path(mpi.library) : find_beside(mpi.library, place.library);
    if (!library.empty() && has_name(library, place.function)) return place.function;
  }
  return {};
}

std::vector<Mpi> installed_mpis() {
  std::vector<Mpi> found;
  for (const char* name : {"mpiexec", "mpirun", "mpiexec.mpich", "mpirun.openmpi", "mpiexec.hydra"})
    for (const std::string& launcher : find_programs(name)) {
      Result<Mpi> mpi = identify_launcher(launcher);
      if (!mpi.is_ok()) continue;
      const auto same = [&](const Mpi& other) {
        return other.library == mpi.value().library && other.title == mpi.value().title;
      };
      if (std::none_of(found.begin(), found.end(), same)) found.push_back(mpi.take());
    }
  return found;
}

std::string with_preload(const std::string& text, const char* before) {
  std::string result = text;
  std::istringstream stream(before == nullptr ? "" : before);
  for (std::string entry; std::getline(stream, entry, ':');)
    if (!entry.empty() && entry != text) result += ":" + entry;
  return result;
}

}  // namespace hocket::command
