// SPDX-License-Identifier: BSD-3-Clause
// New communicators out of the ranks of one that exists.
//
// The bootstrap's all-gathers of the new ones travel over the parent, in rounds in which all its ranks take part: those
// of other colors, and those that have finished or failed, too, until the last one is done. So the parent's calls stay
// the same on all ranks, whatever becomes of any color.
//
// Thread safety: a call on `parent` like any other: one thread at a time.
#pragma once

#include <memory>

#include "base/status.h"
#include "communicator/communicator.h"

namespace hocket::communicator {

// Collective over `parent`; requests on it go on meanwhile. Ranks of one color, ordered by key and then by their ranks
// in `parent`, get a communicator or all the reason why there is none; a negative color gets nullptr. Without memory
// for the rounds themselves it throws std::bad_alloc, after which `parent` can't be used.
Result<std::unique_ptr<Communicator>> split(Communicator& parent, int color, int key);

}  // namespace hocket::communicator
