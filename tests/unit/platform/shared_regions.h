// SPDX-License-Identifier: BSD-3-Clause
// Regions for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>

#include "platform/memory/shared_region.h"

namespace hocket::platform {

inline constexpr size_t kMiB = size_t{1} << 20;

inline std::shared_ptr<SharedRegion> make_region(size_t limit) {
  auto region = SharedRegion::create(limit);
  EXPECT_TRUE(region.is_ok()) << region.status().message();
  return region.take();
}

}  // namespace hocket::platform
