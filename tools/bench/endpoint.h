// SPDX-License-Identifier: BSD-3-Clause
// What a rank of a benchmark has of hocket: a context, a communicator, buffers, and its algorithms as variants.
// All through the public C API: it is what users get that is measured.
//
// Thread safety: none; everything belongs to one rank.
#pragma once

#include <memory>
#include <string>

#include "bench/bench.h"
#include "bench/halo.h"
#include "bench/vector_blocks.h"
#include "hocket/hocket.h"

namespace hocket::bench {

// One rank's context, communicator and buffers.
class Endpoint {
 public:
  // `wire`: to other nodes; nullptr where all ranks are on one. Outlives the endpoint.
  explicit Endpoint(World& world, const hocket_wire_t* wire = nullptr) : world_(world), wire_(wire) {}
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // Collective. False after having said on stderr what went wrong. With options: with buffers for all of them.
  bool open();
  bool open(const Options& options);
  // A communicator besides the first, with the settings that the environment has now. nullptr after a complaint.
  hocket_comm_t* open_another();

  // After a failure: ending communicators in order would take the other ranks.
  void abandon() {
    comms_.clear();
    context_ = nullptr;
  }

  int rank() const { return world_.rank(); }
  int ranks() const { return world_.size(); }
  hocket_comm_t* comm() { return comms_.front(); }
  const Buffers& buffers() const { return buffers_; }

 private:
  bool make_buffers(const Options& options);

  struct Free {
    void operator()(std::byte* memory) const;
  };
  World& world_;
  const hocket_wire_t* wire_;
  hocket_context_t* context_ = nullptr;
  std::vector<hocket_comm_t*> comms_;
  std::unique_ptr<std::byte, Free> plain_;
  Buffers buffers_;
};

// hocket's own choice on the endpoint's communicator, or on the one given, where `spec` is empty, else that algorithm.
class HocketVariant : public Variant {
 public:
  HocketVariant(Endpoint& endpoint, const Options& options, std::string spec, hocket_comm_t* comm = nullptr);

  std::string name() const override { return spec_.empty() ? "hocket" : spec_; }
  std::string activate(Collective collective) override;
  int run(const Call& call) override;
  std::string error(int code) const override;
  // Forcing throws the plans away that were made before.
  bool starts_cold() const override { return forces_; }
  // The communicator has no other user, and nothing was ever forced on it.
  void never_forces() { forces_ = false; }

 private:
  hocket_comm_t* comm_;
  hocket_type_t type_;
  hocket_op_t op_;
  std::string spec_;
  VectorBlocks<size_t> blocks_;
  Halo halo_;
  int rank_;
  Neighbourhood neighbourhood_;
  bool forces_ = true;
};

}  // namespace hocket::bench
