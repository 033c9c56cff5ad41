// SPDX-License-Identifier: BSD-3-Clause
// What a host has its NIC engine do.
//
// Thread safety: a value.
#pragma once

#include <cstdint>

#include "protocol/packet.h"

namespace hocket::engines::nic {

// What an operation is to do. A barrier has a program only.
struct NicCall {
  uint32_t program = 0;
  uint32_t root = 0;
  uint8_t operation = 0;  // enum nic_operation, and below nic_type
  uint8_t type = 0;
  uint8_t words = 0;                     // of an operand, the same on all members
  const nic_operand* operand = nullptr;  // of this member, read at once; nullptr where it gives none
};

}  // namespace hocket::engines::nic
