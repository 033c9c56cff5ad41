// SPDX-License-Identifier: BSD-3-Clause
// The engine in the kernel's data path: programs on an interface do the work, this looks after what they don't see,
// time and processes that end.
//
// Thread safety: one thread at a time.
#pragma once

#include <memory>

#include "nic/engine.h"

namespace hocket::nic {

// kNotSupported: built without BPF programs.
Result<std::unique_ptr<Engine>> make_kernel_engine(const EngineOptions& options);

}  // namespace hocket::nic
