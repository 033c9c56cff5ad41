// SPDX-License-Identifier: BSD-3-Clause
// The ranks of an MPI communicator, as a benchmark sees them. Whatever is measured, ranks agree by the MPI's own means,
// on communicators of their own.
//
// Thread safety: none.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/environment.h"
#include "bench/meeting.h"
#include "bench/mpi/ranks.h"
#include "bench/mpi/shim.h"
#include "hocket/mpi_wire.h"
#include "platform/bootstrap/connector.h"

namespace hocket::bench {

class MpiWorld : public World {
 public:
  // Collective. `comm` is not used for anything later.
  MpiWorld(MPI_Comm comm, Shim& shim) : shim_(shim) {
    const Shim::Pause pause(shim_);
    MPI_Comm_dup(comm, &agreeing_);
    MPI_Comm_rank(agreeing_, &rank_);
    MPI_Comm_size(agreeing_, &size_);
    hocket_mpi_wire_open(&hockets_wire_, comm);
    hocket_mpi_wire_open(&own_wire_, comm);
    find_places();
  }
  ~MpiWorld() override {
    const Shim::Pause pause(shim_);
    meeting_.reset();
    hocket_mpi_wire_close(&own_wire_);
    hocket_mpi_wire_close(&hockets_wire_);
    MPI_Comm_free(&agreeing_);
  }
  MpiWorld(const MpiWorld&) = delete;
  MpiWorld& operator=(const MpiWorld&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  const schedule::Nodes& placement() const override { return *placement_; }
  void synchronize() override { meet(Meeting::Waiting::kReady); }
  void rest() override { meet(Meeting::Waiting::kAsleep); }
  void maximum(std::span<double> values) override {
    const Shim::Pause pause(shim_);
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_MAX, agreeing_);
  }
  void allgather(const void* send, void* receive, size_t bytes) override {
    const Shim::Pause pause(shim_);
    MPI_Allgather(send, static_cast<int>(bytes), MPI_BYTE, receive, static_cast<int>(bytes), MPI_BYTE, agreeing_);
  }

  const hocket_wire_t& hockets_wire() const { return hockets_wire_.wire; }
  const hocket_wire_t& own_wire() const { return own_wire_.wire; }
  uint32_t machines() const { return machines_; }

 private:
  void meet(Meeting::Waiting waiting) {
    const Shim::Pause pause(shim_);
    meeting_->meet(waiting);
  }

  // Nodes as hocket's contexts will find them.
  void find_places() {
    const Result<std::string> node = environment::get_text("HOCKET_NODE");
    const platform::Address own = platform::address_here(platform::hash_of(node.is_ok() ? node.value() : ""));
    std::vector<platform::Address> all(static_cast<size_t>(size_));
    const Gather gather = [this](const void* send, void* receive, size_t bytes) { allgather(send, receive, bytes); };
    gather(&own, all.data(), sizeof own);
    std::vector<uint64_t> nodes;
    std::vector<uint64_t> machines;
    for (const platform::Address& one : all) {
      nodes.push_back(platform::label_of_node(one));
      machines.push_back(one.boot_hash);
    }
    machines_ = static_cast<uint32_t>(std::set<uint64_t>(machines.begin(), machines.end()).size());
    placement_ = std::make_unique<schedule::Nodes>(nodes);
    meeting_ = std::make_unique<Meeting>(rank_, machines, own_wire_.wire, gather);
  }

  Shim& shim_;
  MPI_Comm agreeing_ = MPI_COMM_NULL;
  hocket_mpi_wire_t hockets_wire_ = {};
  hocket_mpi_wire_t own_wire_ = {};
  int rank_ = 0;
  int size_ = 1;
  uint32_t machines_ = 1;
  std::unique_ptr<schedule::Nodes> placement_;
  std::unique_ptr<Meeting> meeting_;
};

}  // namespace hocket::bench
