// SPDX-License-Identifier: BSD-3-Clause
// Operations on types that NIC engines know, in a byte that schedules and caches can carry.
//
// Thread safety: pure.
#pragma once

#include <cstdint>

#include "protocol/operation.h"
#include "reduction/reduction.h"
#include "schedule/collective.h"

namespace hocket::engines::nic {

constexpr uint8_t operation_name(nic_operation operation, nic_type type) {
  return static_cast<uint8_t>(operation << 4 | type);
}
constexpr uint8_t operation_of(uint8_t name) { return name >> 4; }
constexpr uint8_t type_of(uint8_t name) { return name & 15; }

// For what is only copied.
constexpr uint8_t kCopies = operation_name(NIC_BIT_OR, NIC_UINT64);

// Of a call; 0: engines can't do it.
uint8_t operation_name(schedule::Collective collective, reduction::Operation operation, reduction::Type type);

}  // namespace hocket::engines::nic
