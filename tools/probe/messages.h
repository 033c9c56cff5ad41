// SPDX-License-Identifier: BSD-3-Clause
// Messages over a wire, many at a time.
//
// Thread safety: none. Errors of the wire are thrown as std::runtime_error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hocket/hocket.h"

namespace hocket::probe {

class Messages {
 public:
  // `yields`: a rank that waits gives its core away between looks.
  Messages(const hocket_wire_t& wire, bool yields) : wire_(wire), yields_(yields) {}

  // Until wait_all() the memory is the wire's.
  void send(uint32_t to, const void* data, size_t bytes);
  void receive(uint32_t from, void* data, size_t bytes);
  // Looks once after what is under way; true when nothing is.
  bool test();
  void wait_all();

 private:
  const hocket_wire_t& wire_;
  bool yields_;
  std::vector<uint64_t> requests_;
  std::vector<size_t> received_;
};

}  // namespace hocket::probe
