// SPDX-License-Identifier: BSD-3-Clause
// The process's record of where it is, as the interposer writes it: the numbers of functions there, collectives first.
//
// Thread safety: any thread.
#pragma once

#include "core/statistics.h"
#include "platform/whereabouts/own_record.h"

namespace hocket::interposer {

using platform::InFunction;

// Where the thread writes what it is in; nullptr: nowhere.
inline platform::FunctionStamp* collective_stamp() {
  platform::ThreadLine* const line = platform::own_line();
  return line == nullptr ? nullptr : &line->collective;
}
inline platform::FunctionStamp* other_stamp() {
  platform::ThreadLine* const line = platform::own_line();
  return line == nullptr ? nullptr : &line->other;
}

constexpr uint32_t number_of(Collective collective) { return static_cast<uint32_t>(collective); }
constexpr uint32_t number_of_other(size_t number) { return static_cast<uint32_t>(kCollectives + number); }

}  // namespace hocket::interposer
