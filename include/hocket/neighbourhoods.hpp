// SPDX-License-Identifier: BSD-3-Clause
// Collectives among neighbours for C++20, over neighbourhoods.h as hocket.hpp is over hocket.h.
//
//   auto halo = hocket::Neighbourhood::grid(world, std::array{4, 2}, std::array{1, 1});
//   halo.alltoall(std::span<const double>(edges), std::span(ghosts), 100);   // 4 blocks of 100 each
//
// Spans hold a block of `elements` for every destination or source, or as `Blocks` say.
//
// hocket_neighbor_alltoallw() is in C only.
//
// Errors: hocket::Error. Thread safety: as in neighbourhoods.h.
#pragma once

#include <hocket/neighbourhoods.h>
#include <hocket/hocket.hpp>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace hocket {

// Moved, not copied; may go before its calls are complete.
class Neighbourhood {
 public:
  Neighbourhood(Comm& comm, std::span<const int> sources, std::span<const int> destinations) : comm_(comm.get()) {
    check(hocket_neighbourhood_create(comm_, static_cast<int>(sources.size()), sources.data(),
                                      static_cast<int>(destinations.size()), destinations.data(), &made_));
  }
  // `periodic`: 0 or 1 for each dimension.
  static Neighbourhood grid(Comm& comm, std::span<const int> lengths, std::span<const int> periodic) {
    as_many(periodic.size(), lengths.size());
    Neighbourhood grid(comm.get());
    check(hocket_neighbourhood_create_grid(comm.get(), static_cast<int>(lengths.size()), lengths.data(),
                                           periodic.data(), &grid.made_));
    return grid;
  }
  // `offsets`: a number for each dimension, neighbour by neighbour.
  static Neighbourhood stencil(Comm& comm, std::span<const int> lengths, std::span<const int> periodic,
                               std::span<const int> offsets) {
    as_many(periodic.size(), lengths.size());
    const size_t neighbours = lengths.empty() ? 0 : offsets.size() / lengths.size();
    as_many(offsets.size(), neighbours * lengths.size());
    Neighbourhood stencil(comm.get());
    check(hocket_neighbourhood_create_stencil(comm.get(), static_cast<int>(lengths.size()), lengths.data(),
                                              periodic.data(), static_cast<int>(neighbours), offsets.data(),
                                              &stencil.made_));
    return stencil;
  }
  ~Neighbourhood() { hocket_neighbourhood_destroy(made_); }
  Neighbourhood(Neighbourhood&& other) noexcept : comm_(other.comm_), made_(std::exchange(other.made_, nullptr)) {}
  Neighbourhood& operator=(Neighbourhood&& other) noexcept {
    std::swap(comm_, other.comm_);
    std::swap(made_, other.made_);
    return *this;
  }
  hocket_neighbourhood_t* get() const noexcept { return made_; }
  // The communicator's.
  hocket_comm_t* comm() const noexcept { return comm_; }

  std::vector<int> sources() const {
    std::vector<int> ranks(count(true));
    check(hocket_neighbourhood_ranks(made_, ranks.data(), nullptr));
    return ranks;
  }
  std::vector<int> destinations() const {
    std::vector<int> ranks(count(false));
    check(hocket_neighbourhood_ranks(made_, nullptr, ranks.data()));
    return ranks;
  }

  template <typename T>
  void allgather(std::span<const T> input, std::span<T> output) {
    as_many(output.size(), input.size() * count(true));
    check(hocket_neighbor_allgather(made_, input.data(), output.data(), input.size(), type_of<T>()));
  }
  template <typename T>
  [[nodiscard]] Request allgather_start(std::span<const T> input, std::span<T> output) {
    as_many(output.size(), input.size() * count(true));
    return started([&](hocket_request_t** request) {
      return hocket_neighbor_allgather_start(made_, input.data(), output.data(), input.size(), type_of<T>(), request);
    });
  }
  template <typename T>
  void allgatherv(std::span<const T> input, std::span<T> output, const Blocks& blocks) {
    fits(blocks, count(true), output.size());
    check(hocket_neighbor_allgatherv(made_, input.data(), input.size(), output.data(), blocks.counts.data(),
                                     begins(blocks), type_of<T>()));
  }
  template <typename T>
  [[nodiscard]] Request allgatherv_start(std::span<const T> input, std::span<T> output, const Blocks& blocks) {
    fits(blocks, count(true), output.size());
    return started([&](hocket_request_t** request) {
      return hocket_neighbor_allgatherv_start(made_, input.data(), input.size(), output.data(), blocks.counts.data(),
                                              begins(blocks), type_of<T>(), request);
    });
  }
  // `elements`: in a block.
  template <typename T>
  void alltoall(std::span<const T> input, std::span<T> output, size_t elements) {
    as_many(input.size(), elements * count(false));
    as_many(output.size(), elements * count(true));
    check(hocket_neighbor_alltoall(made_, input.data(), output.data(), elements, type_of<T>()));
  }
  template <typename T>
  [[nodiscard]] Request alltoall_start(std::span<const T> input, std::span<T> output, size_t elements) {
    as_many(input.size(), elements * count(false));
    as_many(output.size(), elements * count(true));
    return started([&](hocket_request_t** request) {
      return hocket_neighbor_alltoall_start(made_, input.data(), output.data(), elements, type_of<T>(), request);
    });
  }
  template <typename T>
  void alltoallv(std::span<const T> input, const Blocks& given, std::span<T> output, const Blocks& taken) {
    fits(given, count(false), input.size());
    fits(taken, count(true), output.size());
    check(hocket_neighbor_alltoallv(made_, input.data(), given.counts.data(), begins(given), output.data(),
                                    taken.counts.data(), begins(taken), type_of<T>()));
  }
  template <typename T>
  [[nodiscard]] Request alltoallv_start(std::span<const T> input, const Blocks& given, std::span<T> output,
                                        const Blocks& taken) {
    fits(given, count(false), input.size());
    fits(taken, count(true), output.size());
    return started([&](hocket_request_t** request) {
      return hocket_neighbor_alltoallv_start(made_, input.data(), given.counts.data(), begins(given), output.data(),
                                             taken.counts.data(), begins(taken), type_of<T>(), request);
    });
  }

 private:
  explicit Neighbourhood(hocket_comm_t* comm) : comm_(comm) {}

  size_t count(bool of_sources) const {
    int sources = 0;
    int destinations = 0;
    check(hocket_neighbourhood_counts(made_, &sources, &destinations));
    return static_cast<size_t>(of_sources ? sources : destinations);
  }
  template <typename Start>
  Request started(const Start& start) {
    hocket_request_t* request = nullptr;
    check(start(&request));
    return Request(comm_, request);
  }
  static void as_many(size_t one, size_t other) { detail::same(one, other); }
  static void fits(const Blocks& blocks, size_t neighbours, size_t elements) {
    detail::fits(blocks, neighbours, "neighbour", elements);
  }
  static const size_t* begins(const Blocks& blocks) { return detail::displacements(blocks); }

  hocket_comm_t* comm_ = nullptr;
  hocket_neighbourhood_t* made_ = nullptr;
};

}  // namespace hocket
