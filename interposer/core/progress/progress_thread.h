// SPDX-License-Identifier: BSD-3-Clause
// The thread that moves non-blocking calls while the program's threads don't look after them: one a process, started
// with the first call that needs it. It looks at intervals whether anybody has looked meanwhile, and only where nobody
// has does it move calls; when no call has been under way for a while it sleeps until it is called again.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>

namespace hocket::interposer {

// What it takes to look.
enum class Core : uint8_t {
  kSpare,     // nothing: it looks at short intervals, and is woken for long calls
  kOfRank,    // the time of its own rank
  kOfSeveral  // that of ranks that share the core, and that pass it on to each other: it interrupts them as it wakes
};

struct ThreadsTask {
  bool is_eager;  // moves calls whoever looks
  Core core;
  bool is_long;
};

// What a look has come to: no call is under way, none has come further, or some have.
enum class Moves : uint8_t { kNone, kNothing, kSomething };

struct ThreadsWork {
  Moves (*advance)();
  void (*rest)();  // nothing has been under way for a while
};

void call_progress_thread(const ThreadsTask& task, const ThreadsWork& work);
// It has ended when this returns.
void stop_progress_thread();
// In a forked child, where there is none.
void forget_thread();

}  // namespace hocket::interposer
