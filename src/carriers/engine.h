// SPDX-License-Identifier: BSD-3-Clause
// What an engine between nodes is to a communicator. There is one table of them (engines.def); set-up, planner and
// tracks walk it and know none by name.
//
// An engine comes to be in three steps, each on all ranks of a communicator of several nodes: every rank offers what it
// has (EngineType::offer); by all offers, which all ranks see, an engine is proposed or not (EngineType::propose),
// alike on all ranks; and each rank joins (Engine::join). What all ranks report of that comes back to agree(). From
// then on the engine is the communicator's: it names the steps that it carries when plans are bound, may replace parts
// of plans by steps of its own, and gives each track a carrier.
//
// Thread safety: EngineType: offer() and propose() from any thread; Engine: one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/status.h"
#include "engines/executor/carrier.h"
#include "engines/wire/channel.h"
#include "reduction/reduction.h"
#include "schedule/nodes.h"
#include "selection/choice.h"

namespace hocket::carriers {

// What a rank says of itself to all others. Its meaning is the engine's.
struct EngineOffer {
  static constexpr size_t kBytes = 256;
  std::byte bytes[kBytes] = {};

  template <typename T>
  static EngineOffer of(const T& content) {
    static_assert(sizeof(T) <= kBytes && std::is_trivially_copyable_v<T>);
    EngineOffer offer;
    std::memcpy(offer.bytes, &content, sizeof content);
    return offer;
  }
  template <typename T>
  T as() const {
    static_assert(sizeof(T) <= kBytes && std::is_trivially_copyable_v<T>);
    T content;
    std::memcpy(&content, bytes, sizeof content);
    return content;
  }
};

// What is chosen for a communicator's calls.
class Choices {
 public:
  virtual ~Choices() = default;
  // For calls of up to `most` bytes, by the rules of the wire named so: each choice once, that of the shortest first.
  virtual std::vector<selection::Choice> of(schedule::Collective collective, uint64_t most, const char* wire) const = 0;
  // The algorithm that is forced ("tree_mm:degree=2"); "": none.
  virtual std::string forced(schedule::Collective collective) const = 0;
  // Whether something that is forced, or a rule of the table that fits the nodes, goes by multicast.
  virtual bool wants_multicast() const = 0;
};

// A round of set-up: all ranks give `bytes` and get everyone's.
class Rounds {
 public:
  virtual ~Rounds() = default;
  virtual Status gather(const void* mine, void* all, size_t bytes) = 0;

  template <typename T>
  Status gather(const T& mine, std::vector<T>& all) {
    return gather(&mine, all.data(), sizeof mine);
  }
};

// A communicator of several nodes that is being set up. Outlives the engine but for `choices`.
struct EngineMeeting {
  uint32_t rank = 0;
  uint32_t size = 1;
  const schedule::Nodes* nodes = nullptr;
  const Choices* choices = nullptr;
  int64_t timeout_ms = 0;
};

// A call as engines look at it, the same on all ranks.
struct EngineCall {
  schedule::Collective collective = schedule::Collective::kBarrier;
  // Of a collective that combines by one of hocket's kernels; else kNone.
  reduction::Operation operation = reduction::Operation::kNone;
  reduction::Type type = {};
  uint64_t bytes = 0;  // of a block, where there is one a rank
  uint32_t root = 0;
};

class Engine {
 public:
  static constexpr uint32_t kNoRank = ~uint32_t{0};
  virtual ~Engine() = default;

  // --- set-up --------------------------------------------------------------------------------------------------------
  virtual Status join() = 0;
  // A number for agree(), after join().
  virtual uint32_t report() const { return 0; }
  // All ranks have joined; reports[r]: rank r's. "": the engine is in use; else why not, the same on all ranks.
  // `channel`: messages between nodes. Not ok: the set-up has failed.
  virtual Result<std::string> agree(const std::vector<uint32_t>&, engines::wire::Channel&, Rounds&) {
    return std::string();
  }
  // One line about an engine that is in use.
  virtual std::string describe() const = 0;

  // --- planning ------------------------------------------------------------------------------------------------------
  // Whether a step that leaves the node's memory is this engine's; asked when a program has been bound, of a rank that
  // takes part.
  virtual bool carries(const engines::Instruction& step, const engines::Program& program) const = 0;
  // Whether this engine could carry out such a call itself, by whatever algorithm. Then the rules of wire=<wire()>
  // choose.
  virtual bool may_carry(const EngineCall&) const { return false; }
  virtual const char* wire() const { return ""; }
  // The plan of `shape` with steps of the engine's own in the place of messages between nodes; nullopt: it has none for
  // the choice.
  virtual std::optional<schedule::Plan> plan(const selection::Choice&, const EngineCall&,
                                             const schedule::Shape&) const {
    return std::nullopt;
  }
  // Other algorithms shall be chosen from now on, alike on all ranks; nothing is under way. Makes what is needed for
  // them, beside what there is. Not ok: it can't. Then adopt(), alike on all ranks: whether it is used.
  virtual Status prepare(const Choices&) { return Status::ok(); }
  virtual void adopt(bool) {}
  // Whether a call by plan() ends without this process, once each of its steps has started.
  virtual bool runs_by_itself() const { return false; }
  virtual std::string explain(const selection::Choice&, const EngineCall&) const {
    return "may be used: " + describe();
  }

  // --- running -------------------------------------------------------------------------------------------------------
  // Whether this rank does; else there are no steps for the engine in its plans.
  virtual bool takes_part() const = 0;
  // Of a track whose messages go by `channel`, of a rank that takes part. The engine keeps it. Asked once a track.
  virtual engines::Carrier& carrier(uint32_t track, engines::wire::Channel& channel) = 0;

  // --- failure -------------------------------------------------------------------------------------------------------
  // The rank whose engine or process has broken the engine's part of the communicator; kNoRank: none that is known.
  virtual uint32_t culprit() const { return kNoRank; }
  // Whether other nodes learn of a failure by this engine.
  virtual bool reports_failures() const { return false; }
  // Tells them. False: it can't.
  virtual bool report_failure() { return false; }
};

// A process's part of an engine: what its communicators share. One a context.
class EngineType {
 public:
  virtual ~EngineType() = default;
  // As logs and explanations call it.
  virtual const char* name() const = 0;
  // The setting that switches it on and off.
  virtual const char* setting() const = 0;
  // On all ranks of a communicator, so that settings that can't be understood are an error wherever they stand;
  // is_first: rank 0, which draws what is the same for all.
  virtual Result<EngineOffer> offer(bool is_first) = 0;
  // By all ranks' offers, and alike on all of them. nullptr: it isn't used, and `why_not` says why.
  virtual std::unique_ptr<Engine> propose(const std::vector<EngineOffer>& offers, const EngineMeeting& meeting,
                                          std::string& why_not) = 0;
  // Whether it is an error that it can't be used.
  virtual bool is_required(const std::vector<EngineOffer>& offers) const = 0;
  // Whether algorithms that multicast need this engine.
  virtual bool provides_multicast() const { return false; }
};

using EngineTypes = std::vector<std::unique_ptr<EngineType>>;
// How many a communicator may have.
inline constexpr size_t kMostEngines = 3;

// All of the table, in the order in which they are asked whether a step is theirs.
EngineTypes all_engines();

}  // namespace hocket::carriers
