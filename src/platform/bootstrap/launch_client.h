// SPDX-License-Identifier: BSD-3-Clause
// A rank's way to the others that `hocket run` started with it: an all-gather through the launcher.
//
// The first connection of each rank meets the first ones of the others, the second the second, and so on: so the ranks
// may meet as often as they like, each time anew.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/status.h"
#include "platform/bootstrap/launch_place.h"
#include "platform/descriptor.h"

namespace hocket::platform {

class LaunchClient {
 public:
  // Does not wait for other ranks. `timeout_ms`: how long each all-gather waits for them.
  static Result<std::unique_ptr<LaunchClient>> join(const LaunchPlace& place, int64_t timeout_ms);

  // Blocking: the same number of bytes from every rank arrive in `receive`, rank i's at i times that number. It fails
  // on all ranks that wait, with the reason, as soon as one has ended or left, or when time is over. After a failure it
  // fails again.
  Status allgather(std::span<const std::byte> send, std::byte* receive);

 private:
  LaunchClient(Descriptor socket, const LaunchPlace& place, int64_t timeout_ms)
      : socket_(std::move(socket)), place_(place), timeout_ms_(timeout_ms) {}
  Status round(std::span<const std::byte> send, std::span<std::byte> gathered, int64_t deadline_ms);
  Status send_message(std::span<const std::byte> message, int64_t deadline_ms);
  Status receive_message(std::span<std::byte> buffer, size_t& length, int64_t deadline_ms);
  Status wait_for(short events, int64_t deadline_ms);

  Descriptor socket_;
  LaunchPlace place_;
  int64_t timeout_ms_;
  Status failure_;
};

}  // namespace hocket::platform
