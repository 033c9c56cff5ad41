// SPDX-License-Identifier: BSD-3-Clause
// A process moves into a node of a lab.
//
// Thread safety: for processes with one thread.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "lab/lab.h"

namespace hocket::lab {

struct NodeView {
  std::string shared_memory;  // the folder that becomes /dev/shm; "": the node's own
  bool new_proc = false;      // the process is in a process namespace of its own, which /proc has to show
};

// From here on this process sees the node's network, host name, /etc/hosts, /dev/shm and message objects, and of
// /sys the node's interfaces; everything else, bpffs too, stays as it is. There is no way back.
Status enter_node(const Lab& lab, int node, const NodeView& view);

// The command in place of this process. Returns the exit code of a shell, having said why, where it can't be run.
int become(const std::vector<std::string>& command);

}  // namespace hocket::lab
