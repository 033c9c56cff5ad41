// SPDX-License-Identifier: BSD-3-Clause
// What a rank of a local benchmark has of hocket: a context, a communicator, buffers, and its algorithms as variants.
// All through the public C API: it is what users get that is measured.
//
// Thread safety: none; everything belongs to one rank.
#pragma once

#include <memory>
#include <string>

#include "bench/bench.h"
#include "command/local_ranks.h"
#include "hocket/hocket.h"

namespace hocket::command {

// One rank's context, communicator and buffers.
class Endpoint {
 public:
  explicit Endpoint(LocalWorld& world) : world_(world) {}
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // Collective. False after having said on stderr what went wrong.
  bool open(const bench::Options& options);
  // A communicator besides the first, with the settings that the environment has now. nullptr after a complaint.
  hocket_comm_t* open_another();

  hocket_comm_t* comm() { return comms_.front(); }
  const bench::Buffers& buffers() const { return buffers_; }

 private:
  bool make_buffers(const bench::Options& options);

  struct Free {
    void operator()(std::byte* memory) const;
  };
  LocalWorld& world_;
  hocket_context_t* context_ = nullptr;
  std::vector<hocket_comm_t*> comms_;
  std::unique_ptr<std::byte, Free> plain_;
  bench::Buffers buffers_;
};

// hocket's own choice on that communicator where `spec` is empty, else that algorithm.
class HocketVariant : public bench::Variant {
 public:
  HocketVariant(hocket_comm_t* comm, const bench::Options& options, std::string spec, std::string name = {});

  std::string name() const override { return name_; }
  std::string activate(bench::Collective collective) override;
  int run(const bench::Call& call) override;
  std::string error(int code) const override;
  // Forcing throws the plans away that were made before.
  bool starts_cold() const override { return forces_; }
  // The communicator is nobody else's, and nothing was ever forced on it.
  void never_forces() { forces_ = false; }

 private:
  hocket_comm_t* comm_;
  hocket_type_t type_;
  hocket_op_t op_;
  std::string spec_;
  std::string name_;
  bool forces_ = true;
};

}  // namespace hocket::command
