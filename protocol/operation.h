/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What reductions do to operands, one 64-bit word at a time: one element of eight bytes, or two of four, the first in
 * the low half. left (op) right, in this order.
 *
 * Integers wrap. Of least and greatest the right operand is taken where neither is less: with a NaN on either side, and
 * between zeros of different sign, as hocket's own reductions have it.
 *
 * Thread safety: pure functions. */
#ifndef HOCKET_PROTOCOL_OPERATION_H
#define HOCKET_PROTOCOL_OPERATION_H

#include "protocol/floating.h"

enum nic_operation {
  NIC_BIT_AND = 1, /* these three of integers */
  NIC_BIT_OR,
  NIC_BIT_XOR,
  NIC_SUM,
  NIC_MIN,
  NIC_MAX,
  NIC_OPERATIONS_END,
};

enum nic_type {
  NIC_INT64 = 1,
  NIC_UINT64,
  NIC_DOUBLE,
  NIC_INT32,
  NIC_UINT32,
  NIC_FLOAT,
  NIC_TYPES_END,
};

NIC_INLINE int nic_is_floating(__u32 type) { return type == NIC_DOUBLE || type == NIC_FLOAT; }
NIC_INLINE int nic_has_two_in_a_word(__u32 type) { return type >= NIC_INT32; }

NIC_INLINE int nic_can_combine(__u32 operation, __u32 type) {
  if (operation == 0 || operation >= NIC_OPERATIONS_END || type == 0 || type >= NIC_TYPES_END) return 0;
  return operation >= NIC_SUM || !nic_is_floating(type);
}

/* Called rather than expanded in the kernel's programs: each is looked at once by the verifier. */
NIC_FUNCTION __u64 nic_add_double(__u64 left, __u64 right) { return nic_add_floating(left, right, 52, 11); }
NIC_FUNCTION __u64 nic_add_float(__u64 left, __u64 right) { return nic_add_floating(left, right, 23, 8); }

NIC_INLINE int nic_is_less(__u32 type, __u64 left, __u64 right) {
  switch (type) {
    case NIC_INT64:
      return (__s64)left < (__s64)right;
    case NIC_DOUBLE:
      return nic_is_less_floating(left, right, 52, 11);
    case NIC_INT32:
      return (__s32)left < (__s32)right;
    case NIC_FLOAT:
      return nic_is_less_floating(left, right, 23, 8);
    default:
      return left < right;
  }
}

/* One element; of four bytes, in the low half. */
NIC_FUNCTION __u64 nic_combine_element(__u32 operation, __u32 type, __u64 left, __u64 right) {
  switch (operation) {
    case NIC_BIT_AND:
      return left & right;
    case NIC_BIT_OR:
      return left | right;
    case NIC_BIT_XOR:
      return left ^ right;
    case NIC_SUM:
      if (type == NIC_DOUBLE) return nic_add_double(left, right);
      if (type == NIC_FLOAT) return nic_add_float(left, right);
      return left + right;
    case NIC_MIN:
      return nic_is_less(type, left, right) ? left : right;
    default:
      return nic_is_less(type, right, left) ? left : right;
  }
}

NIC_FUNCTION __u64 nic_combine_word(__u32 operation, __u32 type, __u64 left, __u64 right) {
  if (!nic_has_two_in_a_word(type)) return nic_combine_element(operation, type, left, right);
  const __u64 low = nic_combine_element(operation, type, (__u32)left, (__u32)right);
  const __u64 high = nic_combine_element(operation, type, left >> 32, right >> 32);
  return high << 32 | (__u32)low;
}

#endif
