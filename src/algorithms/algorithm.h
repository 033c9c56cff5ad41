// SPDX-License-Identifier: BSD-3-Clause
// An algorithm: a pure function from a shape to a plan, and what must be said to choose it, beside what plans show by
// themselves (facts.h).
//
// Adding one is one file that defines `const Algorithm <name>` and one line in algorithms.def.
// Algorithms know no engine, no operating system and no clock.
//
// Thread safety: algorithms are constants, and everything here is pure; a builder belongs to one thread.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "schedule/builder.h"

namespace hocket::algorithms {

// As a degree: as many as there can be, whatever the number of ranks. In a tree all others are children of the root.
inline constexpr uint32_t kFlat = 0xffffffffu;

// Whose work a part of a composition is.
enum class Family : uint8_t {
  kNode,    // of all ranks of a node, in every node
  kAcross,  // of ranks that stand for their nodes, one a node: groups of whom there may be several
};

// What an algorithm of a part has to put up with.
struct PartLimits {
  bool unequal_blocks = false;     // blocks differ in length
  bool within_domains = false;     // its ranks are those of a NUMA domain, not all of the node
  bool lengths_are_apart = false;  // ranks know the lengths of some blocks only

  auto operator<=>(const PartLimits&) const = default;
};

// What is left to do for a part, where it has most: what its algorithm is chosen by. All ranks know it alike.
struct PartCall {
  uint64_t bytes = 0;  // of its message, or of its longest block where there is a block a rank
  uint32_t ranks = 1;  // 0: nowhere is anything left to do
  bool unequal_blocks = false;
};

// A part of a composition: a collective of some ranks, for which an algorithm of its own is chosen.
struct Part {
  std::string_view name;  // as in `send_aggregation:across=bruck`
  schedule::Collective collective;
  Family family;
  // `bytes`: of the composition's message, or of a block; `degree` is never 0 where the algorithm has one.
  PartCall (*call)(const schedule::Nodes& nodes, uint64_t bytes, uint32_t degree);
  // Its ranks are one of each node, all in one group: what may be done by multicast.
  bool reaches_all_nodes = false;
};

// How ranks come to know the lengths of blocks that they pass on: by an alltoall of numbers, of the same algorithm,
// among neighbours of its own.
struct LengthsTold {
  std::shared_ptr<const schedule::Neighbours> among;  // nullptr: no block is passed on
  // Of each destination there: which of the rank's own destinations it is whose length is told. The same on all ranks.
  std::vector<uint32_t> of;
};

struct Algorithm {
  schedule::Collective collective;
  std::string_view name;       // as in the environment and the tables: "dissemination", "tree", ...
  std::string_view summary;    // one line for --help and docs
  std::string_view reference;  // the paper or book
  // Writes the plan of shape.rank. Called with root 0 for root-relative algorithms.
  void (*build)(schedule::Builder& builder);

  // The plan is written for root 0 and turned: rank r plays (r - root) mod size. If not, `build` heeds the root.
  bool root_relative = true;
  // Operands are combined in rank order when shape.keep_order asks for it (and the root is 0, if root-relative).
  // Without it the algorithm is for commutative operations only.
  bool can_keep_order = false;
  // May be cut into several segments; if not, `segments` is always 1.
  bool segmented = false;
  // Serves the vector versions too, and messages cut into several calls where there is a block a rank: no slice goes
  // beyond a block (but those of reduce_scatter_block, whose blocks always lie densely), and no scratch area stands for
  // blocks of an alltoall. A composition serves the vector versions over several nodes: it heeds Shape::varies, keeps
  // blocks in rows (block_row.h) and numbers those of an alltoall source * size + destination, others by their ranks.
  bool takes_vectors = false;
  // Of such a composition, where ranks see the lengths of their own blocks only: the ranks of a node that pass on those
  // of its others, and so must be told how long they are.
  std::vector<uint32_t> (*passes_on)(const schedule::Nodes& nodes, uint32_t node, uint32_t root,
                                     uint32_t degree) = nullptr;
  // What it publishes are whole rows, a block for each rank: a row must fit into a slot.
  bool publishes_rows = false;
  // Asks for input_block() and output_block() wherever it means a block, so that in a group blocks may differ in
  // length, and be missing.
  bool takes_unequal_blocks = false;
  // Degrees worth trying, the first being the default; empty: the algorithm has none.
  std::span<const uint32_t> degrees = {};
  // More of them, for ranks on several nodes.
  std::span<const uint32_t> degrees_over_nodes = {};
  // The degree where none is asked for and the length is known: of a message, or of the longest block where there is a
  // block a rank. Without it that is the first of `degrees`.
  uint32_t (*degree_by_length)(uint32_t ranks, uint64_t bytes) = nullptr;
  // The degree is how many pieces a segment is cut into, so that it may be had from the least that a piece shall have.
  bool has_pieces = false;
  // What the degree is called, where the field has another word for it, and the word for as many as there can be.
  std::string_view degree_name = "degree";
  std::string_view degree_most = "flat";
  // Its degree is the number of a tree that is given (given_tree.h): it is chosen only by who names one.
  bool takes_tree = false;
  // What a composition is made of, in the order of Shape::parts; empty: it is none. A composition serves any nodes, and
  // itself takes no steps that need shared memory.
  std::span<const Part> parts = {};
  // Of a collective among neighbours: why it can't serve these, on these nodes (nullptr: one), or "". nullptr: it
  // serves all.
  std::string_view (*why_not_among)(const schedule::Neighbours& neighbours, const schedule::Nodes* nodes) = nullptr;
  // Of one among neighbours that passes on blocks whose lengths only their own ranks see: how it is told them.
  LengthsTold (*tells_lengths)(const schedule::Neighbours& neighbours) = nullptr;
  // Sizes it can serve.
  uint32_t min_size = 1;
  uint32_t max_size = 1u << 20;
};

// All registered algorithms, in the order of algorithms.def; those of collectives among neighbours by themselves.
std::span<const Algorithm* const> all();
std::span<const Algorithm* const> all_among_neighbors();
// From 1: its place in the first list, or behind that in the second.
uint32_t number_of(const Algorithm& algorithm);
// Those among which the algorithms of a collective are.
std::span<const Algorithm* const> all_of(schedule::Collective collective);
// Of a vector version, those of the collective that it is a version of.
const Algorithm* find(schedule::Collective collective, std::string_view name);

// The degree that is meant: the default where none is named, which is 0.
inline uint32_t degree_meant(const Algorithm& algorithm, uint32_t degree) {
  return degree == 0 && !algorithm.degrees.empty() ? algorithm.degrees.front() : degree;
}
// What is left to do for part `index` of a composition; `degree` as in the shape, 0 for the default.
inline PartCall call_of_part(const Algorithm& composition, uint32_t index, const schedule::Nodes& nodes, uint64_t bytes,
                             uint32_t degree) {
  return composition.parts[index].call(nodes, bytes, degree_meant(composition, degree));
}
inline bool is_composition(const Algorithm& algorithm) { return !algorithm.parts.empty(); }
// The plan of `rank` in the caller's numbering: turned to the root where the algorithm is root-relative.
// In the result, peers are real ranks.
schedule::Plan make_plan(const Algorithm& algorithm, const schedule::Shape& shape);

}  // namespace hocket::algorithms
