// SPDX-License-Identifier: BSD-3-Clause
// hocket for C++20: the C API with element types taken from the arguments, objects that clean up after themselves, and
// exceptions instead of codes. Header only; link with hocket as for C.
//
//   hocket::Context context;
//   hocket::Comm world = hocket::Comm::world(context);      // the ranks of `hocket run`
//   std::vector<double> sums(100);
//   world.allreduce(std::span<const double>(mine), std::span(sums), HOCKET_SUM);
//   double norm = world.allreduce(local, HOCKET_SUM);
//   hocket::Request request = world.barrier_start();
//   request.wait();
//
// persistent.hpp makes calls ready once that are started again and again.
//
// What the functions do, units and limits are said in hocket.h, beside their namesakes. Spans give the lengths: what a
// rank contributes is `input.size()` elements; where a buffer holds a block of every rank, its length divided by the
// number of ranks is the block's, and it is an error if that leaves a rest. A call is in place if it passes the same
// memory twice: as input and output, or as its own block and where that lies among all (comm.gather(row.subspan(...),
// row, root)).
//
// Errors: hocket::Error. Thread safety: as in hocket.h.
#pragma once

#include <hocket/elements.hpp>
#include <hocket/lengths.hpp>
#include <hocket/objects.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace hocket {

// A group of ranks. Moved, not copied; destroying it is collective, unless an exception ends its scope: then it is
// given up (hocket_comm_abort), and the other ranks' calls on it end with an error.
class Comm {
 public:
  Comm(Context& context, const hocket_bootstrap_t& bootstrap) {
    check(hocket_comm_create(context.get(), &bootstrap, &comm_));
  }
  static Comm world(Context& context) {
    hocket_comm_t* comm = nullptr;
    check(hocket_comm_world(context.get(), &comm));
    return Comm(comm);
  }
  ~Comm() {
    if (comm_ == nullptr) return;
    if (unwinding_) hocket_comm_abort(comm_, detail::kUnwinding);
    hocket_comm_destroy(comm_);
  }
  Comm(Comm&& other) noexcept : comm_(std::exchange(other.comm_, nullptr)) {}
  Comm& operator=(Comm&& other) noexcept {
    std::swap(comm_, other.comm_);
    return *this;
  }
  hocket_comm_t* get() const noexcept { return comm_; }
  // False for what split() gives to ranks of a negative color.
  explicit operator bool() const noexcept { return comm_ != nullptr; }

  Comm split(int color, int key = 0) {
    hocket_comm_t* comm = nullptr;
    check(hocket_comm_split(comm_, color, key, &comm));
    return Comm(comm);
  }
  Comm duplicate() {
    hocket_comm_t* comm = nullptr;
    check(hocket_comm_dup(comm_, &comm));
    return Comm(comm);
  }
  int rank() const {
    int rank = 0;
    check(hocket_comm_rank(comm_, &rank));
    return rank;
  }
  int size() const {
    int size = 0;
    check(hocket_comm_size(comm_, &size));
    return size;
  }
  void force(const char* collective, const char* algorithm) { check(hocket_force(comm_, collective, algorithm)); }

  void barrier() { check(hocket_barrier(comm_)); }
  [[nodiscard]] Request barrier_start() {
    return started([&](hocket_request_t** request) { return hocket_barrier_start(comm_, request); });
  }
  template <typename T>
  void broadcast(std::span<T> buffer, int root) {
    check(hocket_broadcast(comm_, buffer.data(), buffer.size(), type_of<T>(), root));
  }
  template <typename T>
  [[nodiscard]] Request broadcast_start(std::span<T> buffer, int root) {
    return started([&](hocket_request_t** request) {
      return hocket_broadcast_start(comm_, buffer.data(), buffer.size(), type_of<T>(), root, request);
    });
  }
  // `output` may be empty but at the root.
  template <typename T>
  void reduce(std::span<const T> input, std::span<T> output, hocket_op_t op, int root) {
    if (rank() == root) same(input.size(), output.size());
    check(hocket_reduce(comm_, detail::from(input, rank() == root ? output.data() : nullptr), output.data(),
                        input.size(), type_of<T>(), op, root));
  }
  template <typename T>
  [[nodiscard]] Request reduce_start(std::span<const T> input, std::span<T> output, hocket_op_t op, int root) {
    if (rank() == root) same(input.size(), output.size());
    return started([&](hocket_request_t** request) {
      return hocket_reduce_start(comm_, detail::from(input, rank() == root ? output.data() : nullptr), output.data(),
                                 input.size(), type_of<T>(), op, root, request);
    });
  }
  template <typename T>
  void allreduce(std::span<const T> input, std::span<T> output, hocket_op_t op) {
    same(input.size(), output.size());
    check(hocket_allreduce(comm_, detail::from(input, output.data()), output.data(), input.size(), type_of<T>(), op));
  }
  template <typename T>
  [[nodiscard]] Request allreduce_start(std::span<const T> input, std::span<T> output, hocket_op_t op) {
    same(input.size(), output.size());
    return started([&](hocket_request_t** request) {
      return hocket_allreduce_start(comm_, detail::from(input, output.data()), output.data(), input.size(),
                                    type_of<T>(), op, request);
    });
  }
  template <typename T>
  void gather(std::span<const T> input, std::span<T> output, int root) {
    if (rank() == root) same(input.size(), block(output.size()));
    check(
        hocket_gather(comm_, detail::from(input, own(output, root)), output.data(), input.size(), type_of<T>(), root));
  }
  template <typename T>
  [[nodiscard]] Request gather_start(std::span<const T> input, std::span<T> output, int root) {
    if (rank() == root) same(input.size(), block(output.size()));
    return started([&](hocket_request_t** request) {
      return hocket_gather_start(comm_, detail::from(input, own(output, root)), output.data(), input.size(),
                                 type_of<T>(), root, request);
    });
  }
  // `output` and `blocks` may be empty but at the root.
  template <typename T>
  void gatherv(std::span<const T> input, std::span<T> output, const Blocks& blocks, int root) {
    if (rank() == root) fits(blocks, output.size());
    check(hocket_gatherv(comm_, detail::from(input, own(output, blocks, root)), input.size(), output.data(),
                         blocks.counts.data(), displacements(blocks), type_of<T>(), root));
  }
  template <typename T>
  [[nodiscard]] Request gatherv_start(std::span<const T> input, std::span<T> output, const Blocks& blocks, int root) {
    if (rank() == root) fits(blocks, output.size());
    return started([&](hocket_request_t** request) {
      return hocket_gatherv_start(comm_, detail::from(input, own(output, blocks, root)), input.size(), output.data(),
                                  blocks.counts.data(), displacements(blocks), type_of<T>(), root, request);
    });
  }
  template <typename T>
  void scatter(std::span<const T> input, std::span<T> output, int root) {
    if (rank() == root) same(block(input.size()), output.size());
    check(hocket_scatter(comm_, input.data(), detail::to(output, own(input, root)), output.size(), type_of<T>(), root));
  }
  template <typename T>
  [[nodiscard]] Request scatter_start(std::span<const T> input, std::span<T> output, int root) {
    if (rank() == root) same(block(input.size()), output.size());
    return started([&](hocket_request_t** request) {
      return hocket_scatter_start(comm_, input.data(), detail::to(output, own(input, root)), output.size(),
                                  type_of<T>(), root, request);
    });
  }
  template <typename T>
  void scatterv(std::span<const T> input, const Blocks& blocks, std::span<T> output, int root) {
    if (rank() == root) fits(blocks, input.size());
    check(hocket_scatterv(comm_, input.data(), blocks.counts.data(), displacements(blocks),
                          detail::to(output, own(input, blocks, root)), output.size(), type_of<T>(), root));
  }
  template <typename T>
  [[nodiscard]] Request scatterv_start(std::span<const T> input, const Blocks& blocks, std::span<T> output, int root) {
    if (rank() == root) fits(blocks, input.size());
    return started([&](hocket_request_t** request) {
      return hocket_scatterv_start(comm_, input.data(), blocks.counts.data(), displacements(blocks),
                                   detail::to(output, own(input, blocks, root)), output.size(), type_of<T>(), root,
                                   request);
    });
  }
  template <typename T>
  void allgather(std::span<const T> input, std::span<T> output) {
    same(input.size(), block(output.size()));
    check(hocket_allgather(comm_, detail::from(input, own(output, rank())), output.data(), input.size(), type_of<T>()));
  }
  template <typename T>
  [[nodiscard]] Request allgather_start(std::span<const T> input, std::span<T> output) {
    same(input.size(), block(output.size()));
    return started([&](hocket_request_t** request) {
      return hocket_allgather_start(comm_, detail::from(input, own(output, rank())), output.data(), input.size(),
                                    type_of<T>(), request);
    });
  }
  template <typename T>
  void allgatherv(std::span<const T> input, std::span<T> output, const Blocks& blocks) {
    fits(blocks, output.size());
    same(input.size(), blocks.counts[static_cast<size_t>(rank())]);
    check(hocket_allgatherv(comm_, detail::from(input, own(output, blocks, rank())), output.data(),
                            blocks.counts.data(), displacements(blocks), type_of<T>()));
  }
  template <typename T>
  [[nodiscard]] Request allgatherv_start(std::span<const T> input, std::span<T> output, const Blocks& blocks) {
    fits(blocks, output.size());
    same(input.size(), blocks.counts[static_cast<size_t>(rank())]);
    return started([&](hocket_request_t** request) {
      return hocket_allgatherv_start(comm_, detail::from(input, own(output, blocks, rank())), output.data(),
                                     blocks.counts.data(), displacements(blocks), type_of<T>(), request);
    });
  }
  template <typename T>
  void alltoall(std::span<const T> input, std::span<T> output) {
    same(input.size(), output.size());
    check(hocket_alltoall(comm_, detail::from(input, output.data()), output.data(), block(input.size()), type_of<T>()));
  }
  template <typename T>
  [[nodiscard]] Request alltoall_start(std::span<const T> input, std::span<T> output) {
    same(input.size(), output.size());
    return started([&](hocket_request_t** request) {
      return hocket_alltoall_start(comm_, detail::from(input, output.data()), output.data(), block(input.size()),
                                   type_of<T>(), request);
    });
  }
  template <typename T>
  void alltoallv(std::span<const T> input, const Blocks& sent, std::span<T> output, const Blocks& received) {
    fits(sent, input.size());
    fits(received, output.size());
    check(hocket_alltoallv(comm_, detail::from(input, output.data()), sent.counts.data(), displacements(sent),
                           output.data(), received.counts.data(), displacements(received), type_of<T>()));
  }
  template <typename T>
  [[nodiscard]] Request alltoallv_start(std::span<const T> input, const Blocks& sent, std::span<T> output,
                                        const Blocks& received) {
    fits(sent, input.size());
    fits(received, output.size());
    return started([&](hocket_request_t** request) {
      return hocket_alltoallv_start(comm_, detail::from(input, output.data()), sent.counts.data(), displacements(sent),
                                    output.data(), received.counts.data(), displacements(received), type_of<T>(),
                                    request);
    });
  }
  template <typename T>
  void reduce_scatter_block(std::span<const T> input, std::span<T> output, hocket_op_t op) {
    same(block(input.size()), output.size());
    check(hocket_reduce_scatter_block(comm_, detail::from(input, output.data()), output.data(), output.size(),
                                      type_of<T>(), op));
  }
  template <typename T>
  [[nodiscard]] Request reduce_scatter_block_start(std::span<const T> input, std::span<T> output, hocket_op_t op) {
    same(block(input.size()), output.size());
    return started([&](hocket_request_t** request) {
      return hocket_reduce_scatter_block_start(comm_, detail::from(input, output.data()), output.data(), output.size(),
                                               type_of<T>(), op, request);
    });
  }
  template <typename T>
  void reduce_scatter(std::span<const T> input, std::span<T> output, std::span<const size_t> counts, hocket_op_t op) {
    fits({counts, {}}, input.size());
    same(output.size(), counts[static_cast<size_t>(rank())]);
    check(hocket_reduce_scatter(comm_, detail::from(input, output.data()), output.data(), counts.data(), type_of<T>(),
                                op));
  }
  template <typename T>
  [[nodiscard]] Request reduce_scatter_start(std::span<const T> input, std::span<T> output,
                                             std::span<const size_t> counts, hocket_op_t op) {
    fits({counts, {}}, input.size());
    same(output.size(), counts[static_cast<size_t>(rank())]);
    return started([&](hocket_request_t** request) {
      return hocket_reduce_scatter_start(comm_, detail::from(input, output.data()), output.data(), counts.data(),
                                         type_of<T>(), op, request);
    });
  }
  template <typename T>
  void scan(std::span<const T> input, std::span<T> output, hocket_op_t op) {
    same(input.size(), output.size());
    check(hocket_scan(comm_, detail::from(input, output.data()), output.data(), input.size(), type_of<T>(), op));
  }
  template <typename T>
  [[nodiscard]] Request scan_start(std::span<const T> input, std::span<T> output, hocket_op_t op) {
    same(input.size(), output.size());
    return started([&](hocket_request_t** request) {
      return hocket_scan_start(comm_, detail::from(input, output.data()), output.data(), input.size(), type_of<T>(), op,
                               request);
    });
  }
  // `output` may be empty on rank 0.
  template <typename T>
  void exscan(std::span<const T> input, std::span<T> output, hocket_op_t op) {
    if (rank() > 0) same(input.size(), output.size());
    check(hocket_exscan(comm_, detail::from(input, output.data()), output.data(), input.size(), type_of<T>(), op));
  }
  template <typename T>
  [[nodiscard]] Request exscan_start(std::span<const T> input, std::span<T> output, hocket_op_t op) {
    if (rank() > 0) same(input.size(), output.size());
    return started([&](hocket_request_t** request) {
      return hocket_exscan_start(comm_, detail::from(input, output.data()), output.data(), input.size(), type_of<T>(),
                                 op, request);
    });
  }

  // One element.
  template <typename T>
  void broadcast(T& value, int root) {
    broadcast(std::span<T>(&value, 1), root);
  }
  template <typename T>
  [[nodiscard]] T allreduce(const T& value, hocket_op_t op) {
    T result{};
    allreduce(std::span<const T>(&value, 1), std::span<T>(&result, 1), op);
    return result;
  }

 private:
  explicit Comm(hocket_comm_t* comm) : comm_(comm) {}

  template <typename Start>
  Request started(const Start& start) const {
    hocket_request_t* request = nullptr;
    check(start(&request));
    return Request(comm_, request);
  }
  static void same(size_t one, size_t other) { detail::same(one, other); }
  size_t block(size_t row) const { return detail::Place(comm_).block(row); }
  void fits(const Blocks& blocks, size_t elements) const {
    detail::fits(blocks, static_cast<size_t>(size()), "rank", elements);
  }
  static const size_t* displacements(const Blocks& blocks) { return detail::displacements(blocks); }
  template <typename T>
  T* own(std::span<T> row, int root) const {
    return detail::Place(comm_).own(row, root);
  }
  template <typename T>
  T* own(std::span<T> row, const Blocks& blocks, int root) const {
    return detail::Place(comm_).own(row, blocks, root);
  }

  hocket_comm_t* comm_ = nullptr;
  detail::Unwinding unwinding_;
};

}  // namespace hocket
