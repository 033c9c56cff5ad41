// SPDX-License-Identifier: BSD-3-Clause
#include "probe/messages.h"

#include <sched.h>

#include <stdexcept>
#include <string>

namespace hocket::probe {
namespace {

constexpr uint32_t kTag = 1;

void check(int answer, const char* what) {
  if (answer < 0)
    throw std::runtime_error(std::string(what) +
                             " failed: " + hocket_status_name(static_cast<hocket_status_t>(answer)));
}

}  // namespace

void Messages::send(uint32_t to, const void* data, size_t bytes) {
  uint64_t request = 0;
  check(wire_.send(to, kTag, data, bytes, &request, wire_.user), "sending a message");
  if (request != 0) requests_.push_back(request);
}

void Messages::receive(uint32_t from, void* data, size_t bytes) {
  uint64_t request = 0;
  check(wire_.receive(from, kTag, data, bytes, &request, wire_.user), "receiving a message");
  if (request != 0) requests_.push_back(request);
}

bool Messages::test() {
  if (requests_.empty()) return true;
  received_.resize(requests_.size());
  check(wire_.test(requests_.size(), requests_.data(), received_.data(), wire_.user), "moving messages");
  std::erase(requests_, 0u);
  return requests_.empty();
}

void Messages::wait_all() {
  while (!test())
    if (yields_) sched_yield();
}

}  // namespace hocket::probe
