// SPDX-License-Identifier: BSD-3-Clause
// Collectives that are made ready once and started again and again, for C++20, over persistent.h as hocket.hpp is over
// hocket.h.
//
//   auto sum = hocket::allreduce_init(world, std::span<const double>(mine), std::span(all), HOCKET_SUM);
//   auto edges = hocket::alltoall_init(halo, std::span<const double>(out), std::span(in), 100);
//   for (...) {
//     hocket::start_all(edges, sum);       // or sum.start()
//     edges.wait();
//     sum.wait();
//   }
//
// The functions take what their namesakes of Comm and Neighbourhood take, which say what spans must fit and what is in
// place. Memory behind spans stays where it is as long as the request; arrays of Blocks may go.
//
// Errors: hocket::Error. Thread safety: as in persistent.h.
#pragma once

#include <hocket/persistent.h>
#include <hocket/hocket.hpp>
#include <hocket/neighbourhoods.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace hocket {

// Moved, not copied; may outlive its communicator, but not be started then. One that is under way when it goes is
// waited for, its error lost; if an exception ends its scope, its communicator is given up instead (hocket_comm_abort),
// for peers may never come.
class PersistentRequest {
 public:
  PersistentRequest() = default;
  PersistentRequest(hocket_comm_t* comm, hocket_request_t* request) : comm_(comm), request_(request) {}
  ~PersistentRequest() { end(); }
  PersistentRequest(PersistentRequest&& other) noexcept
      : comm_(other.comm_), request_(std::exchange(other.request_, nullptr)) {}
  PersistentRequest& operator=(PersistentRequest&& other) noexcept {
    if (this != &other) {
      end();
      comm_ = other.comm_;
      request_ = std::exchange(other.request_, nullptr);
    }
    return *this;
  }
  hocket_request_t* get() const noexcept { return request_; }

  void start() { check(hocket_start(request_)); }
  // True when it is complete, or has not been started.
  bool test() {
    const hocket_status_t status = hocket_test(&request_);
    check(status);
    return status == HOCKET_OK;
  }
  void wait() { check(hocket_wait(&request_)); }

 private:
  void end() noexcept {
    if (unwinding_ && hocket_test(&request_) == HOCKET_IN_PROGRESS) hocket_comm_abort(comm_, detail::kUnwinding);
    hocket_wait(&request_);
    hocket_request_free(&request_);
  }

  hocket_comm_t* comm_ = nullptr;
  hocket_request_t* request_ = nullptr;
  detail::Unwinding unwinding_;
};

// One after the other, in this order on all ranks; or none, if one can't be started.
template <std::same_as<PersistentRequest>... Requests>
void start_all(Requests&... requests) {
  const std::array<hocket_request_t*, sizeof...(requests)> handles = {requests.get()...};
  check(hocket_start_all(handles.size(), handles.data()));
}
inline void start_all(std::span<PersistentRequest> requests) {
  std::vector<hocket_request_t*> handles;
  for (const PersistentRequest& request : requests) handles.push_back(request.get());
  check(hocket_start_all(handles.size(), handles.data()));
}

namespace detail {

template <typename Init>
PersistentRequest planned(hocket_comm_t* comm, const Init& init) {
  hocket_request_t* request = nullptr;
  check(init(&request));
  return PersistentRequest(comm, request);
}

}  // namespace detail

// --- collectives of a communicator ---

[[nodiscard]] inline PersistentRequest barrier_init(Comm& comm) {
  return detail::planned(comm.get(),
                         [&](hocket_request_t** request) { return hocket_barrier_init(comm.get(), request); });
}
template <typename T>
[[nodiscard]] PersistentRequest broadcast_init(Comm& comm, std::span<T> buffer, int root) {
  return detail::planned(comm.get(), [&](hocket_request_t** request) {
    return hocket_broadcast_init(comm.get(), buffer.data(), buffer.size(), type_of<T>(), root, request);
  });
}
template <typename T>
[[nodiscard]] PersistentRequest reduce_init(Comm& comm, std::span<const T> input, std::span<T> output, hocket_op_t op,
                                            int root) {
  const detail::Place place(comm.get());
  if (place.is(root)) detail::same(input.size(), output.size());
  return detail::planned(comm.get(), [&](hocket_request_t** request) {
    return hocket_reduce_init(comm.get(), detail::from(input, place.is(root) ? output.data() : nullptr), output.data(),
                              input.size(), type_of<T>(), op, root, request);
  });
}
template <typename T>
[[nodiscard]] PersistentRequest allreduce_init(Comm& comm, std::span<const T> input, std::span<T> output,
                                               hocket_op_t op) {
  detail::same(input.size(), output.size());
  return detail::planned(comm.get(), [&](hocket_request_t** request) {
    return hocket_allreduce_init(comm.get(), detail::from(input, output.data()), output.data(), input.size(),
                                 type_of<T>(), op, request);
  });
}
template <typename T>
[[nodiscard]] PersistentRequest gather_init(Comm& comm, std::span<const T> input, std::span<T> output, int root) {
  const detail::Place place(comm.get());
  if (place.is(root)) detail::same(input.size(), place.block(output.size()));
  return detail::planned(comm.get(), [&](hocket_request_t** request) {
    return hocket_gather_init(comm.get(), detail::from(input, place.own(output, root)), output.data(), input.size(),
                              type_of<T>(), root, request);
  });
}
template <typename T>
[[nodiscard]] PersistentRequest gatherv_init(Comm& comm, std::span<const T> input, std::span<T> output,
                                             const Blocks& blocks, int root) {
  const detail::Place place(comm.get());
  if (place.is(root)) detail::fits(blocks, place.size(), "rank", output.size());
  return detail::planned(comm.get(), [&](hocket_request_t** request) {
    return hocket_gatherv_init(comm.get(), detail::from(input, place.own(output, blocks, root)), input.size(),
                               output.data(), blocks.counts.data(), detail::displacements(blocks), type_of<T>(), root,
                               request);
  });
}
template <typename T>
[[nodiscard]] PersistentRequest scatter_init(Comm& comm, std::span<const T> input, std::span<T> output, int root) {
  const detail::Place place(comm.get());
  if (place.is(root)) detail::same(place.block(input.size()), output.size());
  return detail::planned(comm.get(), [&](hocket_request_t** request) {
    return hocket_scatter_init(comm.get(), input.data(), detail::to(output, place.own(input, root)), output.size(),
                               type_of<T>(), root, request);
  });
}
template <typename T>
[[nodiscard]] PersistentRequest scatterv_init(Comm& comm, std::span<const T> input, const Blocks& blocks,
                                              std::span<T> output, int root) {
  const detail::Place place(comm.get());
  if (place.is(root)) detail::fits(blocks, place.size(), "rank", input.size());
  return detail::planned(comm.get(), [&](hocket_request_t** request) {
    return hocket_scatterv_init(comm.get(), input.data(), blocks.counts.data(), detail::displacements(blocks),
                                detail::to(output, place.own(input, blocks, root)), output.size(), type_of<T>(), root,
                                request);
  });
}
template <typename T>
[[nodiscard]] PersistentRequest allgather_init(Comm& comm, std::span<const T> input, std::span<T> output) {
  const detail::Place place(comm.get());
  detail::same(input.size(), place.block(output.size()));
  return detail::planned(comm.get(), [&](hocket_request_t** request) {
    return hocket_allgather_init(comm.get(), detail::from(input, place.own(output, place.rank())), output.data(),
                                 input.size(), type_of<T>(), request);
  });
}
template <typename T>
[[nodiscard]] PersistentRequest allgatherv_init(Comm& comm, std::span<const T> input, std::span<T> output,
                                                const Blocks& blocks) {
  const detail::Place place(comm.get());
  detail::fits(blocks, place.size(), "rank", output.size());
  detail::same(input.size(), blocks.counts[place.index()]);
  return detail::planned(comm.get(), [&](hocket_request_t** request) {
    return hocket_allgatherv_init(comm.get(), detail::from(input, place.own(output, blocks, place.rank())),
                                  output.data(), blocks.counts.data(), detail::displacements(blocks), type_of<T>(),
                                  request);
  });
}
template <typename T>
[[nodiscard]] PersistentRequest alltoall_init(Comm& comm, std::span<const T> input, std::span<T> output) {
  const detail::Place place(comm.get());
  detail::same(input.size(), output.size());
  return detail::planned(comm.get(), [&](hocket_request_t** request) {
    return hocket_alltoall_init(comm.get(), detail::from(input, output.data()), output.data(),
                                place.block(input.size()), type_of<T>(), request);
  });
}
template <typename T>
[[nodiscard]] PersistentRequest alltoallv_init(Comm& comm, std::span<const T> input, const Blocks& sent,
                                               std::span<T> output, const Blocks& received) {
  const detail::Place place(comm.get());
  detail::fits(sent, place.size(), "rank", input.size());
  detail::fits(received, place.size(), "rank", output.size());
  return detail::planned(comm.get(), [&](hocket_request_t** request) {
    return hocket_alltoallv_init(comm.get(), detail::from(input, output.data()), sent.counts.data(),
                                 detail::displacements(sent), output.data(), received.counts.data(),
                                 detail::displacements(received), type_of<T>(), request);
  });
}
template <typename T>
[[nodiscard]] PersistentRequest reduce_scatter_block_init(Comm& comm, std::span<const T> input, std::span<T> output,
                                                          hocket_op_t op) {
  const detail::Place place(comm.get());
  detail::same(place.block(input.size()), output.size());
  return detail::planned(comm.get(), [&](hocket_request_t** request) {
    return hocket_reduce_scatter_block_init(comm.get(), detail::from(input, output.data()), output.data(),
                                            output.size(), type_of<T>(), op, request);
  });
}
template <typename T>
[[nodiscard]] PersistentRequest reduce_scatter_init(Comm& comm, std::span<const T> input, std::span<T> output,
                                                    std::span<const size_t> counts, hocket_op_t op) {
  const detail::Place place(comm.get());
  detail::fits({counts, {}}, place.size(), "rank", input.size());
  detail::same(output.size(), counts[place.index()]);
  return detail::planned(comm.get(), [&](hocket_request_t** request) {
    return hocket_reduce_scatter_init(comm.get(), detail::from(input, output.data()), output.data(), counts.data(),
                                      type_of<T>(), op, request);
  });
}
template <typename T>
[[nodiscard]] PersistentRequest scan_init(Comm& comm, std::span<const T> input, std::span<T> output, hocket_op_t op) {
  detail::same(input.size(), output.size());
  return detail::planned(comm.get(), [&](hocket_request_t** request) {
    return hocket_scan_init(comm.get(), detail::from(input, output.data()), output.data(), input.size(), type_of<T>(),
                            op, request);
  });
}
template <typename T>
[[nodiscard]] PersistentRequest exscan_init(Comm& comm, std::span<const T> input, std::span<T> output, hocket_op_t op) {
  const detail::Place place(comm.get());
  if (!place.is(0)) detail::same(input.size(), output.size());
  return detail::planned(comm.get(), [&](hocket_request_t** request) {
    return hocket_exscan_init(comm.get(), detail::from(input, output.data()), output.data(), input.size(), type_of<T>(),
                              op, request);
  });
}

// --- collectives of a neighbourhood ---

template <typename T>
[[nodiscard]] PersistentRequest allgather_init(Neighbourhood& among, std::span<const T> input, std::span<T> output) {
  detail::same(output.size(), input.size() * among.sources().size());
  return detail::planned(among.comm(), [&](hocket_request_t** request) {
    return hocket_neighbor_allgather_init(among.get(), input.data(), output.data(), input.size(), type_of<T>(),
                                          request);
  });
}
template <typename T>
[[nodiscard]] PersistentRequest allgatherv_init(Neighbourhood& among, std::span<const T> input, std::span<T> output,
                                                const Blocks& blocks) {
  detail::fits(blocks, among.sources().size(), "neighbour", output.size());
  return detail::planned(among.comm(), [&](hocket_request_t** request) {
    return hocket_neighbor_allgatherv_init(among.get(), input.data(), input.size(), output.data(), blocks.counts.data(),
                                           detail::displacements(blocks), type_of<T>(), request);
  });
}
template <typename T>
[[nodiscard]] PersistentRequest alltoall_init(Neighbourhood& among, std::span<const T> input, std::span<T> output,
                                              size_t elements) {
  detail::same(input.size(), elements * among.destinations().size());
  detail::same(output.size(), elements * among.sources().size());
  return detail::planned(among.comm(), [&](hocket_request_t** request) {
    return hocket_neighbor_alltoall_init(among.get(), input.data(), output.data(), elements, type_of<T>(), request);
  });
}
template <typename T>
[[nodiscard]] PersistentRequest alltoallv_init(Neighbourhood& among, std::span<const T> input, const Blocks& given,
                                               std::span<T> output, const Blocks& taken) {
  detail::fits(given, among.destinations().size(), "neighbour", input.size());
  detail::fits(taken, among.sources().size(), "neighbour", output.size());
  return detail::planned(among.comm(), [&](hocket_request_t** request) {
    return hocket_neighbor_alltoallv_init(among.get(), input.data(), given.counts.data(), detail::displacements(given),
                                          output.data(), taken.counts.data(), detail::displacements(taken),
                                          type_of<T>(), request);
  });
}

}  // namespace hocket
