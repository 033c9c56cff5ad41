// SPDX-License-Identifier: BSD-3-Clause
#include "bench/halo.h"

#include <span>
#include <vector>

namespace hocket::bench {
namespace {

std::vector<int> as_ints(std::span<const uint32_t> numbers) { return {numbers.begin(), numbers.end()}; }

}  // namespace

std::string Neighbourhood::make(hocket_comm_t* comm, const Halo& halo, int rank) {
  hocket_neighbourhood_t* made = nullptr;
  const auto self = static_cast<uint32_t>(rank);
  hocket_status_t status = HOCKET_OK;
  if (halo.form == Halo::Form::kLists) {
    const std::vector<int> sources = as_ints(halo.neighbours->sources(self));
    const std::vector<int> destinations = as_ints(halo.neighbours->destinations(self));
    status = hocket_neighbourhood_create(comm, static_cast<int>(sources.size()), sources.data(),
                                         static_cast<int>(destinations.size()), destinations.data(), &made);
  } else {
    const schedule::Grid& grid = *halo.neighbours->grid();
    const std::vector<int> lengths = as_ints(grid.lengths);
    const std::vector<int> periodic(grid.is_periodic.begin(), grid.is_periodic.end());
    const int dimensions = static_cast<int>(lengths.size());
    status = halo.form == Halo::Form::kGrid
                 ? hocket_neighbourhood_create_grid(comm, dimensions, lengths.data(), periodic.data(), &made)
                 : hocket_neighbourhood_create_stencil(comm, dimensions, lengths.data(), periodic.data(),
                                                       static_cast<int>(grid.neighbours()), grid.offsets.data(), &made);
  }
  if (status != HOCKET_OK) return hocket_error_text();
  made_.reset(made);
  blocks_ = std::make_unique<VectorBlocks<size_t>>(Lengths::kEqual, 0, most_blocks(halo, rank));
  return {};
}

hocket_status_t Neighbourhood::run(const Call& call) {
  if (schedule::is_vector(call.collective)) blocks_->set(call.count);
  const size_t* counts = blocks_->counts();
  const size_t* begins = blocks_->displacements();
  hocket_neighbourhood_t* made = made_.get();
  switch (call.collective) {
    case Collective::kNeighborAllgather:
      return hocket_neighbor_allgather(made, call.input, call.output, call.count, HOCKET_BYTE);
    case Collective::kNeighborAllgatherv:
      return hocket_neighbor_allgatherv(made, call.input, call.count, call.output, counts, begins, HOCKET_BYTE);
    case Collective::kNeighborAlltoall:
      return hocket_neighbor_alltoall(made, call.input, call.output, call.count, HOCKET_BYTE);
    case Collective::kNeighborAlltoallv:
      return hocket_neighbor_alltoallv(made, call.input, counts, begins, call.output, counts, begins, HOCKET_BYTE);
    default:
      return HOCKET_ERR_INVALID_ARGUMENT;
  }
}

}  // namespace hocket::bench
