// SPDX-License-Identifier: BSD-3-Clause
#include "shim/requests/neighbour_graph.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include "base/log.h"
#include "shim/job/job.h"

namespace hocket::interposer {
namespace {

// What MPI tells of one rank.
struct Topology {
  bool is_grid = false;
  std::vector<int> lengths, periods;       // of a grid
  std::vector<int> sources, destinations;  // of a graph
};

bool read_grid(MPI_Comm comm, Topology& topology) {
  int dimensions = 0;
  if (next_pmpi().Cartdim_get(comm, &dimensions) != MPI_SUCCESS) return false;
  topology.is_grid = true;
  topology.lengths.resize(static_cast<size_t>(dimensions) + 1);
  topology.periods = topology.lengths;
  std::vector<int> coordinates = topology.lengths;
  const int error =
      next_pmpi().Cart_get(comm, dimensions, topology.lengths.data(), topology.periods.data(), coordinates.data());
  topology.lengths.resize(static_cast<size_t>(dimensions));
  topology.periods.resize(static_cast<size_t>(dimensions));
  return error == MPI_SUCCESS;
}

bool read_graph(MPI_Comm comm, int rank, Topology& topology) {
  int neighbours = 0;
  if (next_pmpi().Graph_neighbors_count(comm, rank, &neighbours) != MPI_SUCCESS) return false;
  topology.sources.resize(static_cast<size_t>(neighbours));
  const int error = next_pmpi().Graph_neighbors(comm, rank, neighbours, topology.sources.data());
  topology.destinations = topology.sources;
  return error == MPI_SUCCESS;
}

bool read_distributed_graph(MPI_Comm comm, Topology& topology) {
  int sources = 0, destinations = 0, is_weighted = 0;
  if (next_pmpi().Dist_graph_neighbors_count(comm, &sources, &destinations, &is_weighted) != MPI_SUCCESS) return false;
  topology.sources.resize(static_cast<size_t>(sources));
  topology.destinations.resize(static_cast<size_t>(destinations));
  std::vector<int> source_weights(topology.sources.size() + 1), destination_weights(topology.destinations.size() + 1);
  return next_pmpi().Dist_graph_neighbors(comm, sources, topology.sources.data(), source_weights.data(), destinations,
                                          topology.destinations.data(), destination_weights.data()) == MPI_SUCCESS;
}

// False: there is none.
bool read_topology(MPI_Comm comm, int rank, Topology& topology) {
  int kind = MPI_UNDEFINED;
  if (next_pmpi().Topo_test(comm, &kind) != MPI_SUCCESS) return false;
  if (kind == MPI_CART) return read_grid(comm, topology);
  if (kind == MPI_GRAPH) return read_graph(comm, rank, topology);
  return kind == MPI_DIST_GRAPH && read_distributed_graph(comm, topology);
}

hocket_status_t make(const Topology& topology, hocket_comm_t* comm, hocket_neighbourhood_t** handle) {
  if (topology.is_grid)
    return hocket_neighbourhood_create_grid(comm, static_cast<int>(topology.lengths.size()), topology.lengths.data(),
                                            topology.periods.data(), handle);
  return hocket_neighbourhood_create(comm, static_cast<int>(topology.sources.size()), topology.sources.data(),
                                     static_cast<int>(topology.destinations.size()), topology.destinations.data(),
                                     handle);
}

// Which of the ranks are some.
std::vector<uint8_t> are_there(const std::vector<int>& ranks) {
  std::vector<uint8_t> there(ranks.size());
  std::transform(ranks.begin(), ranks.end(), there.begin(), [](int rank) { return uint8_t{rank >= 0}; });
  return there;
}

}  // namespace

void make_neighbourhood(Communicator& communicator, MPI_Comm handle) {
  const NestedCall nested;
  Topology topology;
  auto made = std::make_unique<Neighbourhood>();
  hocket_status_t status = HOCKET_ERR_INVALID_ARGUMENT;
  if (read_topology(handle, communicator.rank, topology)) {
    const std::lock_guard lock(communicator.lock);
    status = make(topology, communicator.comm, &made->handle);
  }
  if (status != HOCKET_OK) {
    HOCKET_LOG_INFO("collectives among neighbours are left to the MPI on a communicator of %d ranks: %s",
                    communicator.size, hocket_error_text());
    communicator.neighbourhood = std::move(made);
    return;
  }
  int sources = 0, destinations = 0;
  (void)hocket_neighbourhood_counts(made->handle, &sources, &destinations);
  std::vector<int> source_ranks(static_cast<size_t>(sources)), destination_ranks(static_cast<size_t>(destinations));
  (void)hocket_neighbourhood_ranks(made->handle, source_ranks.data(), destination_ranks.data());
  made->has_source = are_there(source_ranks);
  made->has_destination = are_there(destination_ranks);
  made->numbers.resize(2 * static_cast<size_t>(std::max(sources, 1) + std::max(destinations, 1)));
  communicator.neighbourhood = std::move(made);
}

}  // namespace hocket::interposer
