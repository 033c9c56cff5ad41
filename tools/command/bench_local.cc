// SPDX-License-Identifier: BSD-3-Clause
#include "command/bench_local.h"

#include <cstdio>
#include <cstdlib>

#include "algorithms/algorithm.h"
#include "command/local_ranks.h"
#include "command/ping_pong.h"
#include "hocket/hocket.h"

namespace hocket::command {
namespace {

hocket_type_t type_of(bench::Element element) {
  switch (element) {
    case bench::Element::kInt32:
      return HOCKET_INT32;
    case bench::Element::kInt64:
      return HOCKET_INT64;
    case bench::Element::kFloat:
      return HOCKET_FLOAT;
    case bench::Element::kDouble:
      break;
  }
  return HOCKET_DOUBLE;
}

hocket_op_t op_of(bench::Operation operation) {
  if (operation == bench::Operation::kMin) return HOCKET_MIN;
  if (operation == bench::Operation::kMax) return HOCKET_MAX;
  return HOCKET_SUM;
}

// hocket's own choice where `spec` is empty, else that algorithm.
class HocketVariant : public bench::Variant {
 public:
  HocketVariant(hocket_comm_t* comm, const bench::Options& options, std::string spec)
      : comm_(comm), type_(type_of(options.element)), op_(op_of(options.operation)), spec_(std::move(spec)) {}

  std::string name() const override { return spec_.empty() ? "hocket" : spec_; }

  std::string activate(bench::Collective collective) override {
    const std::string collective_name(bench::name(collective));
    const char* forced = spec_.empty() ? nullptr : spec_.c_str();
    return hocket_force(comm_, collective_name.c_str(), forced) == HOCKET_OK ? "" : hocket_error_text();
  }

  int run(const bench::Call& call) override {
    switch (call.collective) {
      case bench::Collective::kBarrier:
        return hocket_barrier(comm_);
      case bench::Collective::kBroadcast:
        return hocket_broadcast(comm_, call.output, call.count, HOCKET_BYTE, call.root);
      case bench::Collective::kReduce:
        return hocket_reduce(comm_, call.input, call.output, call.count, type_, op_, call.root);
      case bench::Collective::kAllreduce:
        break;
    }
    return hocket_allreduce(comm_, call.input, call.output, call.count, type_, op_);
  }

  std::string error(int) const override { return hocket_error_text(); }
  // Forcing throws the plans away that were made before.
  bool starts_cold() const override { return true; }

 private:
  hocket_comm_t* comm_;
  hocket_type_t type_;
  hocket_op_t op_;
  std::string spec_;
};

// One rank's context, communicator and buffers.
class Endpoint {
 public:
  explicit Endpoint(LocalWorld& world) : world_(world) {}
  ~Endpoint() {
    if (comm_ != nullptr) hocket_comm_destroy(comm_);
    if (context_ != nullptr) hocket_context_destroy(context_);
  }
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  bool open(const bench::Options& options) {
    if (hocket_context_create(nullptr, &context_) != HOCKET_OK) return complain();
    const hocket_bootstrap_t bootstrap{world_.rank(), world_.size(),
                                       [](const void* send, void* receive, size_t bytes, void* user) {
                                         static_cast<LocalWorld*>(user)->allgather(send, receive, bytes);
                                         return 0;
                                       },
                                       &world_};
    if (hocket_comm_create(context_, &bootstrap, &comm_) != HOCKET_OK) return complain();
    return make_buffers(options);
  }

  hocket_comm_t* comm() { return comm_; }
  const bench::Buffers& buffers() const { return buffers_; }

 private:
  static bool complain() {
    std::fprintf(stderr, "hocket bench: %s\n", hocket_error_text());
    return false;
  }

  bool make_buffers(const bench::Options& options) {
    const size_t bytes = bench::buffer_bytes(options);
    if (options.shared_memory) {
      void* memory = nullptr;
      if (hocket_alloc(context_, 2 * bytes, &memory) != HOCKET_OK) return complain();
      buffers_ = {static_cast<std::byte*>(memory), static_cast<std::byte*>(memory) + bytes};
      return true;
    }
    plain_.reset(static_cast<std::byte*>(std::aligned_alloc(64, 2 * bytes)));
    buffers_ = {plain_.get(), plain_.get() + bytes};
    return plain_ != nullptr;
  }

  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  LocalWorld& world_;
  hocket_context_t* context_ = nullptr;
  hocket_comm_t* comm_ = nullptr;
  std::unique_ptr<std::byte, Free> plain_;
  bench::Buffers buffers_;
};

std::vector<std::string> specs_for(const bench::Options& options, bench::Collective collective) {
  std::vector<std::string> specs;
  if (!options.variants.empty()) {
    for (const std::string& variant : options.variants) specs.push_back(variant == "hocket" ? "" : variant);
    return specs;
  }
  specs.emplace_back();
  for (const algorithms::Algorithm* algorithm : algorithms::all())
    if (schedule::name(algorithm->collective) == bench::name(collective)) specs.emplace_back(algorithm->name);
  return specs;
}

int run_rank(LocalWorld& world, const bench::Options& options, const std::vector<bench::Row>& before) {
  Endpoint endpoint(world);
  if (!endpoint.open(options)) return 1;
  std::string title = "hocket on " + std::to_string(world.size()) + " ranks of this machine; ratio: hocket / variant";
  // Each collective has algorithms of its own; the JSON rows of all of them belong together.
  bench::Suite suite(options, world, endpoint.buffers(), title);
  for (const bench::Row& row : before) suite.add(row);
  for (bench::Collective collective : options.collectives) {
    std::vector<std::unique_ptr<HocketVariant>> variants;
    std::vector<bench::Variant*> pointers;
    for (const std::string& spec : specs_for(options, collective)) {
      variants.push_back(std::make_unique<HocketVariant>(endpoint.comm(), options, spec));
      pointers.push_back(variants.back().get());
    }
    if (!suite.run(collective, pointers)) return 1;
  }
  HocketVariant automatic(endpoint.comm(), options, "");
  bench::Variant* const waiting[] = {&automatic};
  if (options.wait && !suite.run_wait(waiting)) return 1;
  return suite.finish();
}

}  // namespace

int bench_local(const LocalOptions& local, const bench::Options& options) {
  start_load(local.load);
  std::vector<bench::Row> before;
  if (options.pingpong) {
    before.push_back(ping_pong(options));
    if (before.back().summary.iterations == 0) {
      std::fprintf(stderr, "hocket bench: %s\n", before.back().summary.why_not.c_str());
      return 1;
    }
  }
  SharedBoard board(local.ranks);
  if (!board.ok()) {
    std::perror("hocket bench: no shared memory for the ranks");
    return 1;
  }
  return fork_ranks(local.ranks, [&](int rank) {
    if (local.bind) bind_to_core(rank);
    LocalWorld world(board, rank);
    return run_rank(world, options, before);
  });
}

}  // namespace hocket::command
