// SPDX-License-Identifier: BSD-3-Clause
#include "c_api/internal/node_label.h"

#include <string>

#include "base/environment.h"
#include "platform/bootstrap/connector.h"

namespace hocket::c_api {

uint64_t node_label() {
  const Result<std::string> node = environment::get_text("HOCKET_NODE");
  return platform::label_of_node(platform::address_here(platform::hash_of(node.is_ok() ? node.value() : "")));
}

}  // namespace hocket::c_api
