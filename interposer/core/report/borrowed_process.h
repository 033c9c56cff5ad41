// SPDX-License-Identifier: BSD-3-Clause
// A process of its own for what has to start programs and wait for them, in a program that has children of its own.
//
// Whoever starts a program directly becomes its parent: a handler for SIGCHLD would run, and a thread of the program in
// wait() would get a child that it doesn't know. So there is a process between: with this one's memory, as the child of
// vfork(2) has it, in which the calling thread does other work while it stands still here. Linux tells nobody of
// its end, and only who asks for such children (__WCLONE) can wait for it. No page is copied, as fork() would, and the
// descriptors that it closes and the limits that it sets are its own.
//
// Thread safety: any thread. The calling thread handles no signal meanwhile.
#pragma once

#include <cstdint>

namespace hocket::interposer {

// False: there is no such process, or it was ended at `end_ns`, wherever it was. Therefore `work` takes no memory and
// no lock, and throws nothing.
bool run_in_borrowed_process(void (*work)(void*), void* argument, uint64_t end_ns);

}  // namespace hocket::interposer
