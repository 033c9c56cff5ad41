// SPDX-License-Identifier: BSD-3-Clause
// A lab ends: its processes, its links, its namespaces and its folder, in whatever state they are.
//
// Thread safety: one thread at a time. The caller holds the Lock.
#pragma once

#include <string>

#include "base/status.h"
#include "lab/lab.h"

namespace hocket::lab {

// An error where something can't be removed, which it names.
Status remove(const std::string& name);

}  // namespace hocket::lab
