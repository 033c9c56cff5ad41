// SPDX-License-Identifier: BSD-3-Clause
// Takeovers that this rank is through with, one way or the other, and that peers may still look at.
//
// Thread safety: any thread.
#pragma once

#include <cstddef>
#include <memory>

#include "c_api/internal/takeover.h"

namespace hocket::interposer {

// It has been left.
void keep_takeover(std::unique_ptr<c_api::Takeover> takeover);
// Looks at so many of them, and drops those that nobody looks at any more.
void collect_takeovers(size_t looks);
// All, before the job's communicator goes.
void drop_takeovers();

}  // namespace hocket::interposer
