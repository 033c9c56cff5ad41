// SPDX-License-Identifier: BSD-3-Clause
#include "shim/communicators/neighbour_graph.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include "base/log.h"
#include "c_api/internal/neighbourhood.h"
#include "shim/job/job.h"

namespace hocket::interposer {
namespace {

// What MPI tells a rank.
struct Topology {
  int kind = MPI_UNDEFINED;
  std::vector<int> lengths, periods;                  // of a grid
  std::vector<schedule::Neighbours::Lists> of_ranks;  // of a graph
  std::vector<int> sources, destinations;             // of this rank in a distributed graph
};

bool read_grid(MPI_Comm comm, Topology& topology) {
  int dimensions = 0;
  if (next_pmpi().Cartdim_get(comm, &dimensions) != MPI_SUCCESS) return false;
  topology.lengths.resize(static_cast<size_t>(dimensions) + 1);
  topology.periods = topology.lengths;
  std::vector<int> coordinates = topology.lengths;
  const int error =
      next_pmpi().Cart_get(comm, dimensions, topology.lengths.data(), topology.periods.data(), coordinates.data());
  topology.lengths.resize(static_cast<size_t>(dimensions));
  topology.periods.resize(static_cast<size_t>(dimensions));
  return error == MPI_SUCCESS;
}

bool read_graph(MPI_Comm comm, int size, Topology& topology) {
  std::vector<int> ranks;
  for (int rank = 0; rank < size; ++rank) {
    int neighbours = 0;
    if (next_pmpi().Graph_neighbors_count(comm, rank, &neighbours) != MPI_SUCCESS) return false;
    ranks.resize(static_cast<size_t>(neighbours));
    if (next_pmpi().Graph_neighbors(comm, rank, neighbours, ranks.data()) != MPI_SUCCESS) return false;
    const std::vector<uint32_t> both_ways(ranks.begin(), ranks.end());
    topology.of_ranks.push_back({both_ways, both_ways});
  }
  return true;
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
bool read_topology(MPI_Comm comm, int size, Topology& topology) {
  if (next_pmpi().Topo_test(comm, &topology.kind) != MPI_SUCCESS) return false;
  if (topology.kind == MPI_CART) return read_grid(comm, topology);
  if (topology.kind == MPI_GRAPH) return read_graph(comm, size, topology);
  return topology.kind == MPI_DIST_GRAPH && read_distributed_graph(comm, topology);
}

// Of whom blocks come and to whom they go.
struct Ranks {
  std::vector<int> sources, destinations;
};

hocket_status_t make(const Topology& topology, hocket_comm_t* comm, hocket_neighbourhood_t** handle) {
  if (topology.kind == MPI_CART) return c_api::make_grid_known(comm, topology.lengths, topology.periods, handle);
  if (topology.kind == MPI_GRAPH) return c_api::make_lists_known(comm, topology.of_ranks, handle);
  return hocket_neighbourhood_create(comm, static_cast<int>(topology.sources.size()), topology.sources.data(),
                                     static_cast<int>(topology.destinations.size()), topology.destinations.data(),
                                     handle);
}

Status make_together(const Topology& topology, Communicator& communicator, Neighbourhood& made, Ranks& ranks) {
  const std::lock_guard lock(communicator.lock);
  const hocket_status_t status = make(topology, communicator.comm, &made.handle);
  // The others would wait for this rank in hocket.
  if (status == HOCKET_ERR_NO_MEMORY) end_without_memory();
  if (status != HOCKET_OK) return Status(Code::kInvalidArgument, hocket_error_text());
  int sources = 0, destinations = 0;
  (void)hocket_neighbourhood_counts(made.handle, &sources, &destinations);
  ranks.sources.resize(static_cast<size_t>(sources));
  ranks.destinations.resize(static_cast<size_t>(destinations));
  (void)hocket_neighbourhood_ranks(made.handle, ranks.sources.data(), ranks.destinations.data());
  return Status::ok();
}

Status make_alone(const Topology& topology, Neighbourhood& made, Ranks& ranks) {
  using schedule::Neighbours;
  const Neighbours::Lists own{{topology.sources.begin(), topology.sources.end()},
                              {topology.destinations.begin(), topology.destinations.end()}};
  Result<std::shared_ptr<const Neighbours>> found =
      topology.kind == MPI_CART    ? Neighbours::of_grid({topology.lengths.begin(), topology.lengths.end()},
                                                         {topology.periods.begin(), topology.periods.end()}, 1)
      : topology.kind == MPI_GRAPH ? Neighbours::of_lists(topology.of_ranks)
                                   : Neighbours::of_lists({&own, 1});
  if (!found.is_ok()) return found.take_status();
  made.alone = found.take();
  ranks.sources.assign(made.alone->sources(0).begin(), made.alone->sources(0).end());
  ranks.destinations.assign(made.alone->destinations(0).begin(), made.alone->destinations(0).end());
  return Status::ok();
}

// Which of the ranks are some.
std::vector<uint8_t> are_there(const std::vector<int>& ranks) {
  std::vector<uint8_t> there(ranks.size());
  std::transform(ranks.begin(), ranks.end(), there.begin(), [](int rank) { return uint8_t{rank >= 0}; });
  return there;
}

}  // namespace

bool has_neighbours_to_tell(const Communicator& communicator, MPI_Comm handle) {
  int kind = MPI_UNDEFINED;
  return communicator.begins == Begins::kByRanks && next_pmpi().Topo_test(handle, &kind) == MPI_SUCCESS &&
         kind == MPI_DIST_GRAPH;
}

void make_neighbourhood(Communicator& communicator, MPI_Comm handle) {
  const NestedCall nested;
  if (communicator.phase == Phase::kOwing) communicator.phase = Phase::kReady;
  Topology topology;
  Ranks ranks;
  auto made = std::make_unique<Neighbourhood>();
  Status status(Code::kInvalidArgument, "it has no topology");
  if (read_topology(handle, communicator.size, topology))
    status = communicator.size == 1 ? make_alone(topology, *made, ranks)
                                    : make_together(topology, communicator, *made, ranks);
  if (!status.is_ok())
    HOCKET_LOG_INFO("collectives among neighbours are left to the MPI on a communicator of %d ranks: %s",
                    communicator.size, status.message());
  made->has_source = are_there(ranks.sources);
  made->has_destination = are_there(ranks.destinations);
  made->numbers.resize(2 *
                       (std::max<size_t>(ranks.sources.size(), 1) + std::max<size_t>(ranks.destinations.size(), 1)));
  communicator.neighbourhood = std::move(made);
}

}  // namespace hocket::interposer
