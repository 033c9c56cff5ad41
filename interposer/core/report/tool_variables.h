// SPDX-License-Identifier: BSD-3-Clause
// What tools read of hocket by MPI_T: performance variables behind the MPI's own, of class counter, in this process.
//
// MPI has no function by which a library adds variables: the shim answers for these, and passes on what is asked of the
// MPI's. Their numbers begin where the MPI's ended when they were first counted; those that the MPI adds afterwards
// come behind them.
//
// Thread safety: any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hocket::interposer {

struct ToolVariable {
  const char* name;
  const char* description;
};
int tool_variables();  // how many
ToolVariable tool_variable(int which);
int find_tool_variable(const char* name);  // -1: none
uint64_t read_tool_variable(int which);

// What a tool holds to read one. While any is held, calls are timed.
struct ToolHandle;
ToolHandle* make_tool_handle(int which);  // nullptr: too many are held
void free_tool_handle(ToolHandle* handle);
// Whether it is one of these, and not the MPI's; and of which variable.
bool is_tool_handle(const void* handle);
int variable_of(const ToolHandle* handle);

// Between the program's numbers and the MPI's.
class ToolNumbers {
 public:
  explicit ToolNumbers(int of_mpi) : of_mpi_(of_mpi) {}
  // Of hocket's; -1: the MPI's.
  int own(int number) const { return number >= of_mpi_ && number - of_mpi_ < tool_variables() ? number - of_mpi_ : -1; }
  int of_own(int which) const { return of_mpi_ + which; }
  int to_mpi(int number) const { return number < of_mpi_ ? number : number - tool_variables(); }
  int from_mpi(int number) const { return number < of_mpi_ ? number : number + tool_variables(); }

 private:
  int of_mpi_;
};

// As MPI_T gives texts: no more than *length characters, with the 0 behind them; *length becomes what the whole text
// needs. Either may be nullptr.
void copy_tool_text(const char* text, char* to, int* length);

}  // namespace hocket::interposer
