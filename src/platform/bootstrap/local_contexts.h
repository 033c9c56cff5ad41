// SPDX-License-Identifier: BSD-3-Clause
// The contexts of this very process, by identity. It is the one table of the process that this library keeps: ranks
// that are threads find each other's region here and so share one mapping.
//
// Thread safety: any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "platform/memory/shared_region.h"

namespace hocket::platform {

using Identity = std::array<uint64_t, 2>;

struct LocalContext {
  std::shared_ptr<SharedRegion> region;  // null: no such context here
  std::shared_ptr<const std::atomic<bool>> alive;
};

// `alive` must be true until remove_local_context.
void add_local_context(const Identity& identity, const std::shared_ptr<SharedRegion>& region,
                       std::shared_ptr<const std::atomic<bool>> alive);
void remove_local_context(const Identity& identity);
// What a forked child has inherited of its parent's contexts is not found.
LocalContext find_local_context(const Identity& identity);

}  // namespace hocket::platform
