// SPDX-License-Identifier: BSD-3-Clause
// The engine as an ordinary process: the same protocol over a UDP socket, for machines where loading programs into the
// kernel is forbidden, and for interface cards that run Linux themselves. Groups may mix it with kernel engines.
//
// Thread safety: one thread at a time.
#pragma once

#include <memory>

#include "nic/engine.h"

namespace hocket::nic {

Result<std::unique_ptr<Engine>> make_agent_engine(const EngineOptions& options);

}  // namespace hocket::nic
