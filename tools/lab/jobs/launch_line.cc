// SPDX-License-Identifier: BSD-3-Clause
#include "lab/jobs/launch_line.h"

#include "lab/lab.h"

namespace hocket::lab {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

class Line {
 public:
  explicit Line(std::string first) : words_{std::move(first)} {}
  template <typename... Words>
  void add(Words&&... words) {
    (words_.emplace_back(std::forward<Words>(words)), ...);
  }
  void add_all(const std::vector<std::string>& words) { words_.insert(words_.end(), words.begin(), words.end()); }
  std::vector<std::string> take() { return std::move(words_); }

 private:
  std::vector<std::string> words_;
};

// "n0:2,n1:2", or "n0,n1" where `slots` is 0.
std::string host_list(int nodes, int slots) {
  std::string list;
  for (int node = 0; node < nodes; ++node) {
    list += (node == 0 ? "" : ",") + node_name(node);
    if (slots > 0) list += ":" + std::to_string(slots);
  }
  return list;
}

// Within a node MPICH 5 uses shared memory of its own, MPICH 4 as Debian builds it that of UCX (sm), which does not
// reach other nodes because they have message objects (IPC namespaces) of their own. Between nodes nothing but TCP is
// left.
Variables mpich_variables(const Launch& launch) {
  Variables all = {{"UCX_TLS", "tcp,self,sm"},
                   {"UCX_NET_DEVICES", kNodeInterface},
                   {"FI_PROVIDER", "tcp"},
                   {"FI_TCP_IFACE", kNodeInterface}};
  if (launch.has_more_ranks_than_cores) {
    all.emplace_back("MPIR_CVAR_CH4_PROGRESS_THROTTLE", "1");
    all.emplace_back("MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT", "1");
  }
  return all;
}

Variables intel_variables(const Launch& launch) {
  Variables all = {{"I_MPI_FABRICS", "shm:ofi"},
                   {"I_MPI_OFI_PROVIDER", "tcp"},
                   {"FI_PROVIDER", "tcp"},
                   {"FI_TCP_IFACE", kNodeInterface},
                   {"I_MPI_PIN", "0"}};
  if (launch.has_more_ranks_than_cores) {
    all.emplace_back("I_MPI_THREAD_YIELD", "2");
    // Without these, two ranks a core hand over by whole time slices: milliseconds a call.
    all.emplace_back("I_MPI_WAIT_MODE", "1");
    all.emplace_back("I_MPI_SPIN_COUNT", "1");
  }
  return all;
}

std::vector<std::string> hydra_line(const Launch& launch) {
  const bool is_intel = launch.kind == MpiKind::kIntel;
  Line line(launch.launcher);
  line.add(is_intel ? "-bootstrap" : "-launcher", "ssh", is_intel ? "-bootstrap-exec" : "-launcher-exec", launch.agent);
  line.add("-hosts", host_list(launch.nodes, 0));
  line.add("-ppn", std::to_string(launch.mapping == Mapping::kBlock ? launch.ranks_per_node : 1));
  line.add("-n", std::to_string(launch.ranks));
  Variables variables = is_intel ? intel_variables(launch) : mpich_variables(launch);
  variables.insert(variables.end(), launch.variables.begin(), launch.variables.end());
  for (const auto& [name, value] : variables) line.add("-genv", name, value);
  line.add_all(launch.launcher_options);
  line.add_all(launch.program);
  return line.take();
}

std::vector<std::string> open_mpi_line(const Launch& launch) {
  const bool is_5 = launch.kind == MpiKind::kOpenMpi5;
  const char* runtime = is_5 ? "--prtemca" : "--mca";  // whom settings of the launcher itself are for
  Line line(launch.launcher);
  line.add("--allow-run-as-root");
  line.add(runtime, "plm", is_5 ? "ssh" : "rsh", runtime, is_5 ? "plm_ssh_agent" : "plm_rsh_agent", launch.agent);
  line.add(runtime, is_5 ? "prte_if_include" : "oob_tcp_if_include", kNodeInterface);
  line.add("--mca", "pml", "ob1", "--mca", "btl", is_5 ? "tcp,self,sm" : "tcp,self,vader");
  line.add("--mca", "btl_tcp_if_include", kNodeInterface);
  if (launch.has_more_ranks_than_cores) line.add("--mca", "mpi_yield_when_idle", "1");
  line.add("--bind-to", "none", "--map-by", launch.mapping == Mapping::kBlock ? "slot" : "node");
  line.add("--host", host_list(launch.nodes, launch.ranks_per_node), "-n", std::to_string(launch.ranks));
  for (const auto& [name, value] : launch.variables) {
    std::string assignment = name;
    line.add("-x", assignment.append("=").append(value));
  }
  line.add_all(launch.launcher_options);
  line.add_all(launch.program);
  return line.take();
}

}  // namespace

std::vector<std::string> launch_line(const Launch& launch) {
  const bool is_hydra = launch.kind == MpiKind::kMpich || launch.kind == MpiKind::kIntel;
  return is_hydra ? hydra_line(launch) : open_mpi_line(launch);
}

Result<Placement> place(const Placement& asked, int nodes, int usual_ranks_per_node) {
  Placement chosen = asked;
  if (chosen.ranks_per_node == 0) {
    chosen.ranks_per_node = usual_ranks_per_node;
    // As many as give all a place.
    if (chosen.ranks > nodes * chosen.ranks_per_node) chosen.ranks_per_node = (chosen.ranks + nodes - 1) / nodes;
  }
  if (chosen.ranks == 0) chosen.ranks = nodes * chosen.ranks_per_node;
  if (chosen.ranks > nodes * chosen.ranks_per_node)
    return Status(Code::kInvalidArgument, std::to_string(chosen.ranks) + " ranks don't fit on " +
                                              std::to_string(nodes) + " nodes with " +
                                              std::to_string(chosen.ranks_per_node) + " ranks each: leave --ppn out");
  return chosen;
}

}  // namespace hocket::lab
