// SPDX-License-Identifier: BSD-3-Clause
#include "core/mpi_settings.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>

#include "base/environment.h"
#include "base/log.h"
#include "c_api/internal/cores.h"

namespace hocket::interposer {
namespace {

struct Variable {
  MpiFamily family;
  const char* name;
  const char* value;
};
// MPICH 5: a wait yields after each look in vain. Open MPI: the same. Intel MPI: waits yield to any other process.
constexpr Variable kVariables[] = {
    {MpiFamily::kMpich, "MPIR_CVAR_CH4_PROGRESS_THROTTLE", "1"},
    {MpiFamily::kMpich, "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT", "1"},
    {MpiFamily::kOpenMpi, "OMPI_MCA_mpi_yield_when_idle", "1"},
    {MpiFamily::kIntel, "I_MPI_THREAD_YIELD", "2"},
};

std::optional<uint32_t> number(std::string_view text) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value == 0) return std::nullopt;
  return value;
}

}  // namespace

std::optional<uint32_t> most_tasks(std::string_view text) {
  uint32_t most = 0;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const std::optional<uint32_t> tasks = number(one.substr(0, one.find('(')));
    if (!tasks) return std::nullopt;
    most = std::max(most, *tasks);
  }
  return most == 0 ? std::nullopt : std::optional(most);
}

std::optional<uint32_t> ranks_on_this_node() {
  // Of Hydra (MPICH, Intel MPI), Open MPI's mpirun, and srun.
  for (const char* name : {"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE"}) {
    if (const char* text = std::getenv(name); text != nullptr) return number(text);
  }
  const char* tasks = std::getenv("SLURM_STEP_TASKS_PER_NODE");
  return tasks != nullptr ? most_tasks(tasks) : std::nullopt;
}

void MpiSettings::set(std::span<const MpiFamily> families) {
  const Result<bool> wanted = environment::get_flag("HOCKET_MPI_SETTINGS");
  if (!wanted.is_ok() || !wanted.value()) return;
  const std::optional<uint32_t> ranks = ranks_on_this_node();
  if (!ranks || *ranks <= c_api::cores_of_node()) return;
  std::string said;
  for (const MpiFamily family : families) {
    const auto is_set = [&](const Variable& one) { return one.family == family && std::getenv(one.name) != nullptr; };
    if (std::any_of(std::begin(kVariables), std::end(kVariables), is_set)) {
      const auto is_other = [&](const Variable& one) {
        const char* const value = std::getenv(one.name);
        return one.family == family && (value == nullptr || std::string_view(value) != one.value);
      };
      have_effect_ = have_effect_ || std::none_of(std::begin(kVariables), std::end(kVariables), is_other);
      continue;
    }
    for (const Variable& one : kVariables) {
      if (one.family != family || setenv(one.name, one.value, 1) != 0) continue;
      set_.push_back(one.name);
      have_effect_ = true;
      said += std::string(" ") + one.name + "=" + one.value;
    }
  }
  const char* rank = std::getenv("PMI_RANK") != nullptr ? std::getenv("PMI_RANK") : std::getenv("PMIX_RANK");
  if (!said.empty() && (rank == nullptr || std::string_view(rank) == "0"))
    HOCKET_LOG_INFO("%u ranks of this node share %u cores: the MPI starts with%s (HOCKET_MPI_SETTINGS=0: without)",
                    *ranks, c_api::cores_of_node(), said.c_str());
}

void MpiSettings::withdraw() {
  for (const char* name : set_) unsetenv(name);
  set_.clear();
}

}  // namespace hocket::interposer
