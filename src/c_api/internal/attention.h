// SPDX-License-Identifier: BSD-3-Clause
// For code that is built with the library and not only against its header: when to look after the library underneath.
//
// Thread safety: before the context's first communicator is made; the reasons may be counted by any thread.
#pragma once

#include <hocket/hocket.h>

#include <atomic>
#include <cstdint>

namespace hocket::c_api {

// While `*reasons` isn't 0, calls that wait call `progress` of the context's options at each look, and hardly sleep.
// `library_spins`: what is underneath keeps the cores that it gets.
void attend_while(hocket_context_t* context, const std::atomic<uint64_t>* reasons, bool library_spins);

}  // namespace hocket::c_api
