// SPDX-License-Identifier: BSD-3-Clause
// Which MPI a Python program will use: Python itself isn't linked with one, its module mpi4py is, or loads one.
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "mpi_launch/mpi_library.h"
#include "mpi_launch/output_of.h"

namespace hocket::command {
namespace {

// Finds the module as an import would, and imports only the package around it, which starts no MPI.
constexpr const char* kQuestion =
    "import importlib.util\n"
    "found = importlib.util.find_spec('mpi4py.MPI')\n"
    "print('mpi4py.MPI is', found.origin)\n";
constexpr const char* kAnswer = "mpi4py.MPI is ";

std::string file_name(const std::string& path) { return std::filesystem::path(path).filename(); }

// python, python3, python3.11
bool is_python(const std::string& path) {
  std::string name = file_name(path);
  if (!name.starts_with("python")) return false;
  for (const char c : name.substr(6))
    if (std::isdigit(static_cast<unsigned char>(c)) == 0 && c != '.') return false;
  return true;
}

// What runs a script, by its first line: a path, or a name behind "env". "" if it names nothing.
std::string interpreter_of(const std::string& script) {
  std::ifstream file(script, std::ios::binary);
  std::string line(256, '\0');
  file.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<size_t>(file.gcount()));
  if (!line.starts_with("#!")) return {};
  std::istringstream words(line.substr(2, line.find('\n') - 2));
  std::string word;
  words >> word;
  if (file_name(word) != "env") return find_program(word);
  while (words >> word)
    if (!word.starts_with("-") && word.find('=') == std::string::npos) return find_program(word);
  return {};
}

// A module that is made for one of several MPIs has it in its name.
std::string soname_in_name(const std::string& module) {
  const std::string name = file_name(module);
  if (name.find(".mpiabi.") != std::string::npos) return "libmpi_abi.so.1";
  if (name.find(".mpich.") != std::string::npos) return "libmpi.so.12";
  if (name.find(".openmpi.") != std::string::npos) return "libmpi.so.40";
  return {};
}

}  // namespace

Mpi4py mpi4py_of(const std::string& program, Scripts scripts) {
  std::string python = program;
  if (!is_python(program) && scripts == Scripts::kToo) python = interpreter_of(program);
  if (!is_python(python)) return {};
  std::istringstream answer(output_of({python, "-c", kQuestion}));
  for (std::string line; std::getline(answer, line);) {
    if (!line.starts_with(kAnswer)) continue;
    const std::string module = line.substr(std::string(kAnswer).size());
    if (std::string soname = needed_mpi(module); !soname.empty()) return {soname, true};
    return {soname_in_name(module), false};
  }
  return {};
}

}  // namespace hocket::command
