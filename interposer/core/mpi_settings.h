// SPDX-License-Identifier: BSD-3-Clause
// Variables by which MPIs yield where ranks share cores. hocket sets them before MPI_Init reads them, where the
// launcher's variables say that ranks of this node share cores and the user has set none of the family, and unsets them
// after it, so that the program's children don't inherit them.
//
// Thread safety: set() while the process has one thread, withdraw() in MPI_Init.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace hocket::interposer {

enum class MpiFamily : uint8_t { kMpich, kOpenMpi, kIntel };

class MpiSettings {
 public:
  void set(std::span<const MpiFamily> families);
  void withdraw();
  // Whether the MPI has read any: by this object, or by the user.
  bool have_effect() const { return have_effect_; }

 private:
  bool have_effect_ = false;
  std::vector<const char*> set_;
};

// How many ranks the launcher has put on this node, as far as its variables tell.
std::optional<uint32_t> ranks_on_this_node();

// The most tasks of any node in Slurm's notation: "2(x3),4".
std::optional<uint32_t> most_tasks(std::string_view text);

}  // namespace hocket::interposer
