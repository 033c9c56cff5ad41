// SPDX-License-Identifier: BSD-3-Clause
#include "mpi_launch/mpi_of_command.h"

namespace hocket::command {
namespace {

// The program among the words of the command line: the first that was linked with an MPI, or a Python with mpi4py.
struct Program {
  std::string path;
  std::string soname;
  bool is_certain = true;  // that ranks will load this one
};

Program find_mpi_program(const std::vector<std::string>& command) {
  for (const std::string& word : command) {
    const std::string path = find_program(word);
    if (path.empty()) continue;
    if (std::string soname = needed_mpi(path); !soname.empty()) return {path, soname, true};
    // A script in the first place may be a launcher.
    const Mpi4py mpi4py = mpi4py_of(path, &word == &command.front() ? Scripts::kNot : Scripts::kToo);
    if (!mpi4py.soname.empty()) return {path, mpi4py.soname, mpi4py.is_linked};
  }
  return {};
}

Result<Mpi> mpi_of_program(const Program& program, const std::string& objection) {
  if (program.soname.empty())
    return Status(
        Code::kInvalidArgument,
        objection + ", and no program on the line was linked with an MPI: say which with --mpi mpich|openmpi|abi");
  const auto family = family_of_soname(program.soname);
  if (!family)
    return Status(Code::kNotSupported, program.path + " was linked with " + program.soname +
                                           ", an MPI interface that hocket has no library for");
  return Mpi{*family, program.soname, "", ""};
}

}  // namespace

Result<Mpi> mpi_of_command(const std::string& asked, const std::vector<std::string>& command) {
  for (const MpiFamily family : {MpiFamily::kMpich, MpiFamily::kOpenMpi, MpiFamily::kStandard})
    if (asked == family_name(family)) return Mpi{family, asked, "", ""};
  const Program program = find_mpi_program(command);
  // The program itself, started alone: it isn't asked for its version, that would run it.
  const bool alone = !program.path.empty() && program.path == find_program(command[0]);
  if (alone) return mpi_of_program(program, "");
  Result<Mpi> launcher = identify_launcher(command[0]);
  if (!launcher.is_ok()) return mpi_of_program(program, launcher.status().message());
  const auto family = family_of_soname(program.soname);
  // Any launcher's MPI may offer it.
  if (family == MpiFamily::kStandard) return mpi_of_program(program, "");
  if (!program.soname.empty() && program.is_certain && family != launcher.value().family)
    return Status(Code::kInvalidArgument, command[0] + " belongs to " + launcher.value().title + ", but " +
                                              program.path + " was linked with " + program.soname +
                                              " of another MPI: use the launcher that comes with it, or say --mpi");
  return launcher;
}

}  // namespace hocket::command
