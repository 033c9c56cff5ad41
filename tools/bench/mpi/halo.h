// SPDX-License-Identifier: BSD-3-Clause
// A benchmark's calls among neighbours, of an MPI: on a Cartesian communicator, or on one with a graph.
//
// Thread safety: none.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "bench/bench.h"
#include "bench/vector_blocks.h"

namespace hocket::bench {

class MpiTopology {
 public:
  MpiTopology() = default;
  ~MpiTopology() {
    if (is_there()) MPI_Comm_free(&comm_);
  }
  MpiTopology(const MpiTopology&) = delete;
  MpiTopology& operator=(const MpiTopology&) = delete;

  // Collective. What is carried out on it is decided as for any other communicator.
  void make(MPI_Comm comm, const Halo& halo, int rank) {
    const auto self = static_cast<uint32_t>(rank);
    const std::vector<int> sources = as_ints(halo.neighbours->sources(self));
    const std::vector<int> destinations = as_ints(halo.neighbours->destinations(self));
    if (halo.form == Halo::Form::kGrid) {
      const schedule::Grid& grid = *halo.neighbours->grid();
      const std::vector<int> lengths = as_ints(grid.lengths);
      const std::vector<int> periodic(grid.is_periodic.begin(), grid.is_periodic.end());
      MPI_Cart_create(comm, static_cast<int>(lengths.size()), lengths.data(), periodic.data(), 0, &comm_);
    } else {
      const std::vector<int> weights(std::max(sources.size(), destinations.size()), 1);
      MPI_Dist_graph_create_adjacent(comm, static_cast<int>(sources.size()), sources.data(), weights.data(),
                                     static_cast<int>(destinations.size()), destinations.data(), weights.data(),
                                     MPI_INFO_NULL, 0, &comm_);
    }
    blocks_ = std::make_unique<VectorBlocks<int>>(Lengths::kEqual, 0, most_blocks(halo, rank));
  }
  bool is_there() const { return comm_ != MPI_COMM_NULL; }
  MPI_Comm comm() const { return comm_; }

  int run(const Call& call) {
    if (schedule::is_vector(call.collective)) blocks_->set(call.count);
    const int count = static_cast<int>(call.count);
    const int* counts = blocks_->counts();
    const int* begins = blocks_->displacements();
    switch (call.collective) {
      case Collective::kNeighborAllgather:
        return MPI_Neighbor_allgather(call.input, count, MPI_BYTE, call.output, count, MPI_BYTE, comm_);
      case Collective::kNeighborAllgatherv:
        return MPI_Neighbor_allgatherv(call.input, count, MPI_BYTE, call.output, counts, begins, MPI_BYTE, comm_);
      case Collective::kNeighborAlltoall:
        return MPI_Neighbor_alltoall(call.input, count, MPI_BYTE, call.output, count, MPI_BYTE, comm_);
      case Collective::kNeighborAlltoallv:
        return MPI_Neighbor_alltoallv(call.input, counts, begins, MPI_BYTE, call.output, counts, begins, MPI_BYTE,
                                      comm_);
      default:
        return MPI_ERR_ARG;
    }
  }

 private:
  static std::vector<int> as_ints(std::span<const uint32_t> numbers) { return {numbers.begin(), numbers.end()}; }

  MPI_Comm comm_ = MPI_COMM_NULL;
  std::unique_ptr<VectorBlocks<int>> blocks_;
};

}  // namespace hocket::bench
