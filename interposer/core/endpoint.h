// SPDX-License-Identifier: BSD-3-Clause
// This process's hocket context: made when first needed, gone at MPI_Finalize; the memory that MPI_Alloc_mem gives
// out of it, and what it is told of windows' memory.
//
// Thread safety: all functions from any thread, except close_endpoint, which is called when no other call runs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "c_api/internal/windows.h"
#include "hocket/hocket.h"

namespace hocket::interposer {

// Called while hocket waits, in the thread that waits: keeps the MPI underneath moving. `mpi_spins`: while it
// waits itself, it keeps its core. Set before the context is made.
void set_progress(void (*progress)(void*), void* user, bool mpi_spins);

// How many ranks may come to map each other's memory, and the job's number, which no other has. Set before the context
// is made.
void set_job(int ranks, uint32_t number);

// As tables name the MPI underneath. It is not copied. Set before the context is made.
void set_mpi_name(const char* name);

// To ranks on other nodes; outlives the context, before which it is set.
void set_wire(const hocket_wire_t* wire);
bool has_wire();

// nullptr where it can't be had; the reason has been logged.
hocket_context_t* endpoint();

// Memory that peers can map, or nullptr.
void* shared_allocate(size_t bytes);
// False: it isn't from shared_allocate.
bool shared_free(void* memory);

// A window, by its handle's bits, has memory in one place that the MPI has given it. No context is made for it: one
// that is made later is told of all windows that there are.
void window_comes(uint64_t window, const void* memory, size_t bytes);
// Before it is freed: gives a number by which it is known until then, as another thread may get another window with its
// handle as soon as the MPI has freed it; 0: it has no memory here, but peers may have asked for theirs. And
// afterwards, `has_gone`: whether the MPI has.
uint64_t window_closes(uint64_t window);
void window_closed(uint64_t number, bool has_gone);
c_api::WindowUses window_uses();

void close_endpoint();

}  // namespace hocket::interposer
