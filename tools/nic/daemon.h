// SPDX-License-Identifier: BSD-3-Clause
// The service of an interface's engine as a process of its own.
//
// Thread safety: one thread.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "nic/engine.h"
#include "nic/service.h"

namespace hocket::nic {

struct DaemonOptions {
  EngineOptions engine;
  bool is_agent = false;  // works in this process, not in the kernel
  Guests guests;
  bool stays = false;  // in the foreground: this process becomes the service, until it is ended
};

// Returns when the service is ready or, if it stays, when it has ended.
Status start_daemon(const DaemonOptions& options);

}  // namespace hocket::nic
