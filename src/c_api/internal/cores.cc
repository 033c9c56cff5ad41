// SPDX-License-Identifier: BSD-3-Clause
#include "c_api/internal/cores.h"

#include <unistd.h>

#include <algorithm>

#include "base/environment.h"
#include "platform/bootstrap/connector.h"

namespace hocket::c_api {

platform::CoreClaim core_claim() {
  const platform::CpuBudget budget = platform::read_cpu_budget();
  return {platform::address_here(0).boot_hash, {budget.allowed_bits[0], budget.allowed_bits[1]}, budget.quota};
}

uint32_t cores_of_node() {
  const platform::CpuBudget budget = platform::read_cpu_budget();
  const auto online = static_cast<double>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L));
  const double cores = budget.quota > 0 ? std::min(budget.quota, online) : online;
  return std::max(1u, static_cast<uint32_t>(cores));
}

platform::WaitMode wait_mode() {
  const Result<int> mode = environment::get_enum("HOCKET_WAIT");
  return mode.is_ok() ? static_cast<platform::WaitMode>(mode.value()) : platform::WaitMode::kAutomatic;
}

}  // namespace hocket::c_api
