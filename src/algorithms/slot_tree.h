// SPDX-License-Identifier: BSD-3-Clause
// Broadcast down and reduction up a tree, segment by segment through slots. Shared by the trees and the pipelines.
//
// Thread safety: none; like the builder they write to.
#pragma once

#include "algorithms/shapes.h"

namespace hocket::algorithms {

// From rank 0's output to everybody's.
void broadcast_through_slots(schedule::Builder& builder, const Tree& tree);

// From everybody's input to rank 0's output, in rank order. Other ranks' outputs are left alone.
void reduce_through_slots(schedule::Builder& builder, const Tree& tree);

}  // namespace hocket::algorithms
