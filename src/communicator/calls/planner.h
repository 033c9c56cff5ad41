// SPDX-License-Identifier: BSD-3-Clause
// From a call's arguments to programs ready to run: chosen, planned, bound, and kept.
//
// Thread safety: one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/assertion.h"
#include "base/status.h"
#include "carriers/engines.h"
#include "communicator/calls/call_words.h"
#include "communicator/calls/message_survey.h"
#include "communicator/calls/neighbourhoods.h"
#include "engines/executor/program.h"
#include "selection/by_mpi.h"
#include "selection/choice.h"
#include "selection/measured.h"

namespace hocket::communicator {

// What a program depends on, besides the communicator.
struct CallShape {
  schedule::Collective collective = schedule::Collective::kBarrier;
  bool keep_order = false;
  bool in_place = false;  // on this rank
  uint32_t root = 0;      // among neighbours, the number of the neighbourhood
  uint64_t count = 0;  // elements; of a block, where there is a block a rank: the longest, or 0 where no rank knows it
  uint64_t element_bytes = 1;
  uint64_t row = 0;  // elements of all blocks, where they differ and all ranks see them
  // Of several nodes, of a collective that combines: what engines may do themselves.
  reduction::Operation operation = reduction::Operation::kNone;
  reduction::Type type = reduction::Type::kNone;

  bool operator==(const CallShape&) const = default;
};

// What engines look at.
inline carriers::EngineCall call_of(const CallShape& shape) {
  return {shape.collective, shape.operation, shape.type, shape.count * shape.element_bytes, shape.root};
}

inline uint64_t hash_but_for_root(const CallShape& shape) {
  const uint64_t kind = static_cast<uint64_t>(shape.collective) << 2 | static_cast<uint64_t>(shape.keep_order) << 1 |
                        static_cast<uint64_t>(shape.in_place);
  uint64_t hash = (shape.count << 7 ^ kind) * 0x9e3779b97f4a7c15ull;
  hash ^= (shape.element_bytes << 32) * 0xc2b2ae3d27d4eb4full;
  return hash ^ hash >> 29;
}
inline uint64_t hash(const CallShape& shape) { return hash_but_for_root(shape) ^ shape.root * 0xc2b2ae3d27d4eb4full; }

// A call as a row of equal calls and a last one.
struct Prepared {
  CallShape shape;
  uint32_t size = 0;  // of the communicator
  // What all ranks must agree on, without the operation, and its part of the mark in lines.
  CallSignature signature;
  uint64_t signature_hash = 0;
  bool has_block_a_rank = false;
  selection::Choice choice;
  uint32_t algorithm_number = 0;  // 1 + its place among all of its kind; 0: there is none
  engines::Program chunk;         // empty when there is one call only
  engines::Program last;
  // Once this rank has started the call, an engine ends it, whatever this process does: no node has several ranks, and
  // nothing goes between nodes but what the engine carries out. The same on all ranks.
  bool runs_by_itself = false;
  // That carry steps; nullptr within a node.
  const carriers::Engines* engines = nullptr;
  // What ranks tell their neighbours of their blocks' lengths before the programs run, if the choice asks for it; and
  // the longest block, in elements, that is then passed on.
  std::optional<engines::Program> lengths;
  uint64_t longest_short = ~uint64_t{0};
  // Instead of programs, where the blocks differ or a call takes a part of each: bound anew for each call.
  std::optional<schedule::Plan> plan;
  // Where that plan is for many messages, and few would go by another.
  std::unique_ptr<const Survey> survey;
  // Of a call among neighbours: who they are, which its plan refers to.
  Neighbourhoods::Shared neighbours;
  // And, where its plan has rows: the numbers of the blocks that this rank gets, ascending, and which of its sources'
  // they are.
  std::vector<std::pair<uint64_t, uint32_t>> incoming;
  // Where it passes on blocks whose lengths it is told: by whom, whose lengths it tells, and the numbers of the blocks,
  // ascending, with the places at which these lengths come.
  algorithms::LengthsTold told;
  std::vector<std::pair<uint64_t, uint32_t>> passed;
};

class Planner final : public carriers::Choices {
 public:
  // `nodes` and `domains` as Shape has them; they outlive the planner and its programs.
  struct Place {
    uint32_t rank;
    uint32_t size;
    const schedule::Nodes* nodes;
    const schedule::Nodes* domains;
    bool is_of_mpi = false;  // calls come through an MPI
    // As a Query has them.
    const schedule::Nodes* caches = nullptr;
    const schedule::Nodes* sockets = nullptr;
  };
  Planner(const Place& place, bool oversubscribed, uint64_t slot_bytes, selection::Table table)
      : rank_(place.rank),
        size_(place.size),
        nodes_(place.nodes),
        domains_(place.domains),
        caches_(place.caches),
        sockets_(place.sockets),
        is_of_mpi_(place.is_of_mpi),
        oversubscribed_(oversubscribed),
        slot_bytes_(slot_bytes),
        table_(std::move(table)),
        why_no_multicast_(place.nodes == nullptr ? selection::kWithinANode : "it has not been tried yet") {}
  // From now on engines carry what they can between nodes. They outlive the planner.
  void use(const carriers::Engines& engines);

  // The programs of one of the last calls if this is another like it, else nullptr. Valid until the next prepare() or
  // force().
  const Prepared* recent(const CallShape& shape) const {
    const Prepared* found = recent_[place_of(shape)];
    HOCKET_ASSERT(found == nullptr || is_kept(found), "what is recent is kept");
    return found != nullptr && found->shape == shape ? found : nullptr;
  }
  Result<std::shared_ptr<const Prepared>> prepare(const CallShape& shape);

  // nullopt: by the table. Gives what was forced before.
  std::optional<selection::Spec> force(schedule::Collective collective, std::optional<selection::Spec> spec);
  std::string explain(const CallShape& shape) const;
  std::optional<selection::Measured> best_measured(const CallShape& shape) const {
    return selection::best_measured(query(shape), table_for(shape));
  }
  // What is left to the MPI before it comes here; such calls of the library's own are carried out all the same. By
  // force alone where an engine has rules of its own.
  selection::ByMpi by_mpi(bool only_forced) const;
  // The engine that could carry out such a call itself, by whatever algorithm; nullptr: none.
  const carriers::Engine* candidate_for(const CallShape& shape) const {
    return engines_ == nullptr ? nullptr : engines_->candidate(call_of(shape));
  }
  // For engines.
  std::vector<selection::Choice> of(schedule::Collective collective, uint64_t most, const char* wire) const override;
  std::string forced(schedule::Collective collective) const override;
  bool wants_multicast() const override;
  // More ranks than cores.
  bool is_oversubscribed() const { return oversubscribed_; }
  // Those of the communicator's calls. Who makes one may outlive the planner.
  const std::shared_ptr<Neighbourhoods>& neighbourhoods() const { return neighbourhoods_; }

 private:
  struct Hash {
    size_t operator()(const CallShape& shape) const { return hash(shape); }
  };
  // Neighbouring roots must not displace each other: a program that passes the root around meets all of them.
  static constexpr size_t kRecent = 64;
  static size_t place_of(const CallShape& shape) { return (hash_but_for_root(shape) >> 32 ^ shape.root) % kRecent; }
  bool is_kept(const Prepared* prepared) const;
  void forget();
  Result<std::shared_ptr<const Prepared>> make(const CallShape& shape, const selection::Spec* forced) const;
  Result<std::shared_ptr<const Prepared>> make_among_neighbours(const CallShape& shape,
                                                                const selection::Spec* forced) const;
  // What passes on blocks whose lengths only their own ranks see needs more than its plan.
  Status prepare_lengths(Prepared& prepared, const schedule::Plan& plan) const;
  engines::Program bind(const schedule::Plan& plan, uint64_t count, uint64_t element_bytes) const;
  selection::Query query(const CallShape& shape) const;
  schedule::Shape shape_of(const selection::Choice& choice, const CallShape& shape) const;
  const selection::Spec* forced_spec(schedule::Collective collective) const;
  // Of a call that an engine may carry out: rules under wire=<the engine's>.
  const selection::Table& table_for(const CallShape& shape) const;

  uint32_t rank_;
  uint32_t size_;
  const schedule::Nodes* nodes_;
  const schedule::Nodes* domains_;
  const schedule::Nodes* caches_;
  const schedule::Nodes* sockets_;
  bool is_of_mpi_;
  bool oversubscribed_;
  uint64_t slot_bytes_;
  selection::Table table_;
  std::string why_no_multicast_;
  const carriers::Engines* engines_ = nullptr;
  mutable std::unordered_map<const carriers::Engine*, selection::Table>
      engine_tables_;  // of those that have been asked for
  selection::ByMpi::Forced forced_;
  std::shared_ptr<Neighbourhoods> neighbourhoods_ = std::make_shared<Neighbourhoods>();
  std::array<const Prepared*, kRecent> recent_ = {};  // of kept_
  std::unordered_map<CallShape, std::shared_ptr<const Prepared>, Hash> kept_;
  size_t kept_instructions_ = 0;
};

}  // namespace hocket::communicator
