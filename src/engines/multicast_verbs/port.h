// SPDX-License-Identifier: BSD-3-Clause
// A port over verbs: one queue pair for unreliable datagrams, a ring of receives that are posted ahead, and a ring of
// sends.
//
// Invariant: each slot of the receive ring is the device's, or holds a datagram that has not been received yet, or is
// the one that receive() returned last.
//
// Thread safety: one thread at a time.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/status.h"
#include "engines/multicast/port.h"
#include "engines/multicast/verbs_port.h"
#include "engines/multicast_verbs/membership.h"

namespace hocket::engines::multicast_verbs {

template <auto End>
struct Ending {
  template <typename T>
  void operator()(T* one) const {
    (void)End(one);
  }
};
template <typename T, auto End>
using Owned = std::unique_ptr<T, Ending<End>>;

class VerbsPort final : public multicast::MulticastPort {
 public:
  static Result<std::unique_ptr<multicast::MulticastPort>> open(const multicast::VerbsOptions& options);

  ~VerbsPort() override;
  uint32_t most_bytes() const override { return most_bytes_; }
  uint64_t room() const override { return uint64_t{receives_} * most_bytes_; }
  Status send(std::span<const std::byte> head, std::span<const std::byte> body) override;
  std::span<const std::byte> receive() override;
  int descriptor() const override { return channel_->fd; }

 private:
  static constexpr uint32_t kBatch = 16;  // completions taken at a time

  VerbsPort() = default;
  Status set_up(const multicast::VerbsOptions& options);
  Status size_rings(const multicast::VerbsOptions& options);
  Status make_memory();
  Status make_queues();
  Status failed(const std::string& what, int error_number) const;
  std::byte* slot(uint32_t number) const { return memory_.get() + size_t{number} * slot_bytes_; }
  void post_receive(uint32_t number);
  void reap();
  bool look();
  bool take_wake_ups();

  uint32_t most_bytes_ = 0;
  uint32_t slot_bytes_ = 0;
  uint32_t receives_ = 0;  // slots 0 ... receives_ - 1
  uint32_t sends_ = 0;     // the slots after them, a ring: sends complete in order
  uint64_t sent_ = 0;
  uint64_t reaped_ = 0;
  bool has_broken_ = false;   // sends fail
  bool is_ethernet_ = false;  // RoCE

  // In the order in which they need each other; the queue pair is the membership's.
  std::unique_ptr<Membership> membership_;
  Owned<ibv_pd, ibv_dealloc_pd> domain_;
  std::unique_ptr<std::byte[]> memory_;
  Owned<ibv_mr, ibv_dereg_mr> registered_;
  Owned<ibv_comp_channel, ibv_destroy_comp_channel> channel_;
  Owned<ibv_cq, ibv_destroy_cq> come_;
  Owned<ibv_cq, ibv_destroy_cq> gone_;
  ibv_qp* pair_ = nullptr;
  Owned<ibv_ah, ibv_destroy_ah> to_;
  Membership::Destination destination_;

  std::array<ibv_wc, kBatch> batch_{};
  uint32_t batch_size_ = 0;
  uint32_t taken_ = 0;  // of the batch
};

}  // namespace hocket::engines::multicast_verbs
