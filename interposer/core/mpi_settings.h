// SPDX-License-Identifier: BSD-3-Clause
// What MPIs have of their own for more ranks than cores: variables that they read in MPI_Init. Set before it where the
// launcher's variables say that ranks of this node share cores, unless the user has set any of them, and taken away
// after it, so that the program's children don't inherit them.
//
// Thread safety: while the process has one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace hocket::interposer {

enum class MpiFamily : uint8_t { kMpich, kOpenMpi, kIntel };

// Of `families`; a look at each is all that it costs where ranks have a core each.
class MpiSettings {
 public:
  void set(std::span<const MpiFamily> families);
  void withdraw();

 private:
  std::vector<const char*> set_;
};

// How many ranks the launcher has put on this node, as far as its variables tell.
std::optional<uint32_t> ranks_on_this_node();

// The most tasks of any node in Slurm's notation: "2(x3),4".
std::optional<uint32_t> most_tasks(std::string_view text);

}  // namespace hocket::interposer
