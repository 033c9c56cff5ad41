// SPDX-License-Identifier: BSD-3-Clause
// What librdmacm does for a port: it finds the device behind an interface's address, and is a member of a multicast
// group for as long as it lives.
//
// Thread safety: one thread at a time.
#pragma once

#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>

#include <memory>
#include <string>

#include "base/status.h"
#include "engines/multicast/verbs_port.h"

namespace hocket::engines::multicast_verbs {

class Membership {
 public:
  // What datagrams to the group need.
  struct Destination {
    ibv_ah_attr address = {};
    uint32_t queue_pair = 0;
    uint32_t key = 0;
  };

  // On the device of the interface; not in the group yet.
  static Result<std::unique_ptr<Membership>> bind(const multicast::VerbsOptions& options);
  ~Membership();
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  ibv_context* device() const { return id_->verbs; }
  uint8_t port() const { return id_->port_num; }
  // "device rxe0, port 1"
  std::string name() const;

  // Ready to send and to receive when this has succeeded.
  Result<ibv_qp*> create_queue_pair(ibv_pd* domain, ibv_qp_init_attr& wanted);
  // After that: datagrams of the group come to the queue pair.
  Result<Destination> join();
  // Leaves the group and ends the queue pair, so that its queues may go.
  void end();

 private:
  explicit Membership(const multicast::VerbsOptions& options) : options_(options) {}
  Result<Destination> await_join();
  Status failed(const char* what, int error_number) const;

  multicast::VerbsOptions options_;
  sockaddr_in group_ = {};
  rdma_event_channel* channel_ = nullptr;
  rdma_cm_id* id_ = nullptr;
  bool has_joined_ = false;
};

}  // namespace hocket::engines::multicast_verbs
