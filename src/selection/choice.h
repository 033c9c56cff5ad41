// SPDX-License-Identifier: BSD-3-Clause
// Which algorithm serves a call, cut into how many segments and calls, and why.
//
// Everything asked in a Query is the same on all ranks of a call, so all ranks come to the same choice, as long as
// they use the same table and the same forced spec.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "algorithms/algorithm.h"
#include "schedule/nodes.h"
#include "selection/table.h"

namespace hocket::selection {

struct Query {
  schedule::Collective collective = schedule::Collective::kBarrier;
  // Of the whole message: count * element_bytes. Where there is a block a rank, of one block, the longest if they
  // differ; 0 where ranks see different lengths.
  uint64_t bytes = 0;
  uint64_t row_bytes = 0;  // of all blocks together, where they differ and all ranks see them
  uint32_t ranks = 1;
  // Which ranks share memory; outlives what is asked. nullptr: all of them.
  const schedule::Nodes* nodes = nullptr;
  // On one node: NUMA domains, over which what heeds nodes goes that is asked for there; nullptr: unknown.
  const schedule::Nodes* domains = nullptr;
  // On one node: which ranks share a cache of the last level, and which a socket; nullptr: all do, or it is unknown.
  const schedule::Nodes* caches = nullptr;
  const schedule::Nodes* sockets = nullptr;
  // Each rank has a core of its own, and what a table does not say of such is assumed (assumed() in cost_model.h).
  // False also where a table is to be taken as it stands.
  bool has_cores = false;
  // "": ranks on different nodes reach each other by multicast.
  std::string_view why_no_multicast = "nobody has tried whether multicast gets from node to node";
  // It comes through an MPI, to which it may be left.
  bool is_of_mpi = false;
  bool oversubscribed = false;  // more ranks than cores, on the fullest machine
  bool commutative = true;      // if not, operands must be combined in rank order (Shape::keep_order)
  uint32_t element_bytes = 1;
  uint64_t slot_bytes = 64 * 1024;  // a slot's staging buffer
  // How long plans may get: beyond, a message is cut into several calls, so that a program stays within some thousand
  // instructions.
  uint32_t max_segments = 32;
  // Of a part of a composition, whose algorithm is asked for: which part of which (nullptr: the query is a whole
  // call's), and what it has to put up with there. A part is never cut into several calls.
  const algorithms::Algorithm* composition = nullptr;
  uint32_t part = 0;
  algorithms::PartLimits limits = {};

  // What a composition is made over: nodes or, on one node, domains; nullptr: neither is known.
  const schedule::Nodes* composed_over() const { return node_count() > 1 ? nodes : domains; }
  uint32_t node_count() const { return nodes == nullptr ? 1 : nodes->count(); }
  uint32_t ranks_a_node() const { return nodes == nullptr ? ranks : nodes->most(); }
};

struct PartChoice {
  const algorithms::Algorithm* algorithm = nullptr;  // nullptr: nothing is left to do there, or the default
  uint32_t degree = 0;
  uint32_t segments = 1;
  std::string reason;
};

struct Choice {
  const algorithms::Algorithm* algorithm = nullptr;  // nullptr: left to the MPI, and nothing else is said
  uint32_t degree = 0;                               // for Shape::degree
  uint64_t segment_bytes = 0;                        // the longest segment
  // For Shape::segments: 1 .. max_segments, and such that ceil(chunk_elements / segments) elements fit into a slot if
  // the algorithm uses slots.
  uint32_t segments = 1;
  // A message too long for one plan is cut into `calls` calls of `chunk_elements` (the last may be shorter).
  // calls == 1: one call of the whole count. Where there is a block a rank, a call is a part of every block.
  uint64_t calls = 1;
  uint64_t chunk_elements = 0;
  std::string reason;  // "shipped table, line 12"
  PartChoice parts[schedule::kMaxParts];

  // Writes what a plan depends on; nodes, rank, root and the rest are the caller's to fill in.
  void fill(schedule::Shape& shape) const;
};

// Whether both have the same schedule, for one number of elements.
bool is_same(const Choice& one, const Choice& other);

// `forced` (nullptr: none) overrides the table. A forced spec that can't be honoured is an error that says why:
// a substitute is never chosen silently. Without one, a rule whose algorithm can't serve the call is passed over, and
// when no rule is left the cost model chooses (cost_model.h), with the table's parameters.
Result<Choice> choose(const Query& query, const Table& table, const Spec* forced = nullptr);

// Whether they, or a part of them, go by multicast.
bool multicasts(const Spec& spec);
bool multicasts(const Choice& choice);
// A variable forces its choice on all communicators of a program. Those that it can't be meant for pass it over, and
// the table chooses: within a node nothing multicasts and nobody passes on blocks that differ, and a tree that is given
// is one of so many ranks. "", or why.
std::string why_not_meant(schedule::Collective collective, const Spec& spec, uint32_t ranks,
                          const schedule::Nodes* nodes);
// A Query's why_no_multicast within a node.
inline constexpr std::string_view kWithinANode = "it goes between nodes, and all ranks are on one";

// Why `spec` can't serve the call, or "".
std::string why_not(const Query& query, const Spec& spec);

// Whether it is something else than others already are: a composition is on several nodes of several ranks only, and a
// tree that is given nobody's but who gives one. On others it can be forced.
bool is_worth_trying(const Query& query, const algorithms::Algorithm& algorithm);
// The degrees worth trying, of which 0 (of an algorithm that has none) may be the only one.
std::vector<uint32_t> degrees_worth_trying(const Query& query, const algorithms::Algorithm& algorithm);

// What stands for a spec among these: they name every degree but as many as there can be, unasked.
Spec with_degree(Spec spec);

// The choice and its grounds as text of several lines: the rule and its place, what was measured, the runner-up, how
// the message is cut, and which rules and algorithms were refused and why. `simulates`: of more ranks than are priced
// when choosing, where nothing was measured, also what a simulation of all of them says, which takes seconds.
std::string explain(const Query& query, const Table& table, const Spec* forced = nullptr, bool simulates = false);

}  // namespace hocket::selection
