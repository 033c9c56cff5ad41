// SPDX-License-Identifier: BSD-3-Clause
// Finding MPIs: from a launcher or a program to the library that its ranks load, and to hocket's shim for it.
//
// Thread safety: for processes with one thread, as other programs are started.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"

namespace hocket::command {

// By binary interface, which is what a shim is made for. kStandard is that of MPI 5, which an MPI offers beside its
// own.
enum class MpiFamily { kMpich, kOpenMpi, kStandard };

struct Mpi {
  MpiFamily family = MpiFamily::kMpich;
  std::string title;     // "Open MPI 5.0.11", "MPICH 4.0.2 (Hydra)", "Intel MPI ..."
  std::string launcher;  // path, links resolved; "" if unknown
  std::string library;   // libmpi as ranks load it; "" if not found
};

// "mpich", "openmpi", "abi": as in the shims' file names.
const char* family_name(MpiFamily family);

// Absolute path of a program as the shell would find it, or "".
std::string find_program(const std::string& name);
// What execvp() would leave in errno, as far as can be told without running it; 0: nothing, it is there.
int error_of_running(const std::string& name);
// All programs of that name on PATH, without duplicates after resolving links.
std::vector<std::string> find_programs(const std::string& name);

// Asks the launcher itself (--version). Errors say what was seen and what to do.
Result<Mpi> identify_launcher(const std::string& launcher);

// What the program's dynamic section says it needs, directly or through libraries of its own: libmpi's soname, or ""
// (a script, a static program, no MPI program).
std::string needed_mpi(const std::string& program);
std::optional<MpiFamily> family_of_soname(const std::string& soname);

// The mpi4py that a Python would import, or a script that names one in its first line. Runs that Python.
struct Mpi4py {
  std::string soname;      // of the libmpi that it was linked with or will load; "" if there is no mpi4py
  bool is_linked = false;  // false: made for several MPIs; it loads the one that it finds then
};
enum class Scripts { kToo, kNot };
Mpi4py mpi4py_of(const std::string& program, Scripts scripts);

// The MPI under which this process was started as a rank (by its environment and its ancestors), if any.
std::optional<Mpi> surrounding_mpi();
// Whether the environment is that of an MPI rank.
bool is_mpi_rank();

// Directory of the running hocket command, and what belongs to it.
std::string own_path();
// hocket's shim for the family: where it was installed or next to the command. An error names the places searched, or
// the path that LD_PRELOAD can't hold.
Result<std::string> find_shim(MpiFamily family);
// The benchmark's part for the family (loaded by `hocket bench`).
Result<std::string> find_bench_module(MpiFamily family);

// The function by which hocket takes part in the MPI's own progress while a rank waits in it ("PMPIX_Async_start"), as
// far as its files tell; "": it has none.
std::string progress_hook_of(const Mpi& mpi);

// Every distinct MPI whose launcher is on PATH.
std::vector<Mpi> installed_mpis();

// `text` as the first entry of LD_PRELOAD's value `before`, without repeating itself.
std::string with_preload(const std::string& text, const char* before);

}  // namespace hocket::command
