// SPDX-License-Identifier: BSD-3-Clause
// libbpf's structures of options, which say how long they are. Its own macro for that is no C++.
//
// Thread safety: pure functions.
#pragma once

#include <cstring>

namespace hocket::bpf {

template <typename Options>
Options sized() {
  Options options;
  std::memset(&options, 0, sizeof options);
  options.sz = sizeof options;
  return options;
}

}  // namespace hocket::bpf
