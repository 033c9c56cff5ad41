// SPDX-License-Identifier: BSD-3-Clause
#include "engines/nic/operation_name.h"

namespace hocket::engines::nic {
namespace {

nic_type type_named(reduction::Type type) {
  switch (type) {
    case reduction::Type::kInt64:
      return NIC_INT64;
    case reduction::Type::kUint64:
      return NIC_UINT64;
    case reduction::Type::kDouble:
      return NIC_DOUBLE;
    case reduction::Type::kInt32:
      return NIC_INT32;
    case reduction::Type::kUint32:
      return NIC_UINT32;
    case reduction::Type::kFloat:
      return NIC_FLOAT;
    default:
      return NIC_TYPES_END;
  }
}

nic_operation operation_named(reduction::Operation operation) {
  switch (operation) {
    case reduction::Operation::kBitAnd:
      return NIC_BIT_AND;
    case reduction::Operation::kBitOr:
      return NIC_BIT_OR;
    case reduction::Operation::kBitXor:
      return NIC_BIT_XOR;
    case reduction::Operation::kSum:
      return NIC_SUM;
    case reduction::Operation::kMin:
      return NIC_MIN;
    case reduction::Operation::kMax:
      return NIC_MAX;
    default:
      return NIC_OPERATIONS_END;
  }
}

}  // namespace

uint8_t operation_name(schedule::Collective collective, reduction::Operation operation, reduction::Type type) {
  using schedule::Collective;
  if (collective == Collective::kBroadcast || collective == Collective::kAllgather ||
      collective == Collective::kAlltoall)
    return kCopies;
  if (!schedule::combines(collective)) return 0;
  const nic_type of_type = type_named(type);
  const nic_operation combines = operation_named(operation);
  return nic_can_combine(combines, of_type) != 0 ? operation_name(combines, of_type) : uint8_t{0};
}

}  // namespace hocket::engines::nic
