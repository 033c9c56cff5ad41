// SPDX-License-Identifier: BSD-3-Clause
// What a call will probably cost, for choices that have not been measured.
//
// The schedule itself is priced: it is simulated (simulation/engine/engine.h), each step costing what its kind and its
// bytes say, each wait ending when what it waits for has been done. Where cores are short, ranks share them as real
// ones do: a rank that has to wait hands its core to the next in the row.
//
// A prediction is a pure function of the query, the way it is cut and the parameters, in arithmetic that doesn't depend
// on the machine's state: all ranks of a job predict the same. It is made to put algorithms in an order; as a time it
// may be off by a factor.
//
// Thread safety: pure functions; a PricedCall does not change once made.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "selection/choice.h"
#include "simulation/network/cost_parameters.h"

namespace hocket::selection {

// A call of more ranks is priced as if it had this many, because the cost of pricing grows with their square.
inline constexpr uint32_t kMaxPricedRanks = 64;

// How ranks that share cores stand in the row in the beginning is chance: so many orders are simulated.
inline constexpr uint64_t kOrdersOfSharing = 3;

// How closely a call is looked at.
struct Closeness {
  uint32_t most_ranks = kMaxPricedRanks;
  // Whether it is found out what is read that an interface has written, which only wire_miss_us_per_kib asks for.
  bool finds_misses = true;
};

// The schedule of one chunk of a call, ready to be priced with any parameters.
class PricedCall {
 public:
  // `choice`: what choose() says for the query, by whatever ground.
  PricedCall(const Query& query, const Choice& choice, const Closeness& closeness = {});
  ~PricedCall();
  PricedCall(PricedCall&&) noexcept;
  PricedCall& operator=(PricedCall&&) noexcept;

  // False where the shared-memory engine can't run the schedule (multicast).
  bool can_run() const;
  // All calls that the message is cut into, until the last rank is done.
  double us(const CostParameters& parameters) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

struct Prediction {
  Spec spec;
  double us = 0;
};

// What all ranks of the fullest node have in the call's buffers, those that aren't priced, too.
double buffers_kib(const Query& query);

// Whether ranks share cores, those of their node or of the one machine that the nodes are parts of.
bool shares_cores(const Query& query, const CostParameters& parameters);

// The parameters with what they leave out (0) of more than two ranks of a node that have a core each: assumed, by what
// a line takes that another core has changed, and by where the ranks are.
CostParameters assumed(const CostParameters& said, const Query& query);

// Everything that can serve the query (each algorithm with the degrees that are worth trying), the cheapest first;
// equally cheap ones in the registry's order. Parts of compositions are chosen by the same parameters.
std::vector<Prediction> predict(const Query& query, const CostParameters& parameters);

// What the table's parameters predict. The table keeps it: sizes between two powers of two count as the smaller one,
// elements as single bytes, so that the few schedules that a program needs are priced once.
std::vector<Prediction> predict(const Query& query, const Table& table);

// The same for a single one, parts that it names included; negative: it can't serve.
double predict_one(const Query& query, const Table& table, const Spec& spec);

// What has been predicted with one table's parameters.
//
// Thread safety: any thread.
class KeptPredictions {
 public:
  std::vector<Prediction> of(const Query& query, const Table& table);

 private:
  // The node of each rank stands for the nodes, on one node its domain, cache and socket for these; the wire, and
  // whether multicast gets through (the last), decide by which rules parts are chosen.
  using Key = std::tuple<schedule::Collective, bool, bool, uint32_t, uint64_t, uint64_t, uint64_t, uint32_t,
                         const algorithms::Algorithm*, uint32_t, algorithms::PartLimits, std::vector<uint32_t>,
                         std::string, bool, bool>;
  static Key key_of(const Query& query, const Table& table);
  std::mutex mutex_;
  std::map<Key, std::vector<Prediction>> kept_;
};

}  // namespace hocket::selection
