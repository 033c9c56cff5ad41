// SPDX-License-Identifier: BSD-3-Clause
// Lets jobs in to a NIC engine: one process an interface, which owns the engine and answers by a socket.
//
// The credentials that the kernel gives decide which clients may connect: root, the service's own user, and whom the
// options name. A process that ends without having left its groups has broken them.
//
// Thread safety: one thread.
#pragma once

#include <string>

#include "base/status.h"
#include "nic/engine.h"
#include "nic/guests.h"

namespace hocket::nic {

// Takes the socket: an error if the interface has a service.
Result<platform::Descriptor> open_service(const std::string& interface);

// Until it is asked to end, a signal (SIGTERM, SIGINT, blocked by the caller) comes, or the interface has gone.
Status run_service(Engine& engine, const platform::Descriptor& listener, const Guests& guests);

}  // namespace hocket::nic
