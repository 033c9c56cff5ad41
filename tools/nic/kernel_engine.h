// SPDX-License-Identifier: BSD-3-Clause
// The engine in the kernel's data path: programs on an interface do the work, this looks after what they don't see,
// time and processes that end.
//
// Thread safety: one thread at a time.
#pragma once

#include <memory>

#include "nic/engine.h"
#include "nic/hook.h"
#include "nic/next_hop.h"
#include "protocol/watch.h"

namespace hocket::nic {

struct EngineOptions {
  Interface interface;
  std::string name;  // the interface's
  uint16_t port = NIC_DEFAULT_PORT;
  Hook hook = Hook::kAutomatic;  // of a kernel's engine
  nic_patience patience = {.ask_ns = 1'000'000, .most_ns = 64'000'000, .silence_ns = 10'000'000'000};
};

// kNotSupported: built without BPF programs.
Result<std::unique_ptr<Engine>> make_kernel_engine(const EngineOptions& options);

}  // namespace hocket::nic
