// SPDX-License-Identifier: BSD-3-Clause
// A process that goes on after the command that has started it.
//
// Thread safety: of a process with one thread.
#pragma once

#include "platform/descriptor.h"

namespace hocket::supervision {

// To be called in a child: nothing of the command stays open but `writer`, the end of a pipe, which is given back under
// another number; no signals are blocked; `name` is what `ps` shows.
platform::Descriptor become_daemon(int writer, const char* name);

}  // namespace hocket::supervision
