// SPDX-License-Identifier: BSD-3-Clause
// Why an algorithm can't serve a call.
#include <algorithm>
#include <iterator>

#include "algorithms/composition.h"
#include "algorithms/facts.h"
#include "algorithms/given_tree.h"
#include "selection/choice.h"
#include "selection/matching.h"
#include "selection/parts.h"

namespace hocket::selection {
namespace {

using algorithms::Algorithm;

constexpr std::string_view kDetourWithinANode =
    "ranks pass on each other's blocks, which is worth their detours between nodes only";

std::string slot_of(const Query& query) { return "a slot of " + size_to_text(query.slot_bytes); }

std::string why_order_is_lost(const Query& query, const Algorithm& algorithm) {
  // A prefix keeps the order of ranks, whatever the operation.
  const bool is_prefix = schedule::is_prefix(query.collective);
  if (!schedule::combines(query.collective) || (query.commutative && !is_prefix)) return {};
  if (!query.commutative && !algorithm.can_keep_order)
    return "it combines operands in any order, and the operation does not commute";
  const schedule::Nodes* over = query.composed_over();
  if (!algorithms::is_composition(algorithm) || over == nullptr || over->is_in_blocks()) return {};
  const std::string within = query.node_count() > 1 ? "nodes" : "NUMA domains";
  return "it combines within " + within + " first, whose ranks are not neighbours here" +
         (is_prefix ? "" : ", and the operation does not commute");
}

std::string why_memory_is_apart(const Query& query, const Algorithm& algorithm) {
  if (query.node_count() == 1 || algorithms::runs_over_nodes(algorithm)) return {};
  return "it needs memory that all ranks share, and they are on " + std::to_string(query.node_count()) + " nodes";
}

std::string why_no_multicast(const Query& query, const Algorithm& algorithm) {
  if (!algorithms::facts_of(algorithm).multicasts) return {};
  if (query.ranks == 1) return {};  // it has no peer to send to
  if (query.composition == nullptr && query.node_count() > 1 && query.ranks_a_node() > 1)
    return "one rank a node takes part, and here are more; leader:across=" + std::string(algorithm.name) +
           " serves the others";
  return std::string(query.why_no_multicast);
}

std::string why_blocks_differ(const Query& query, const Spec& spec) {
  if (!schedule::is_vector(query.collective)) return {};
  if (algorithms::is_composition(*spec.algorithm) && query.node_count() == 1) return std::string(kDetourWithinANode);
  if (!spec.algorithm->takes_vectors) return "it moves several ranks' blocks at once, and here they may lie apart";
  if (schedule::lengths_are_agreed(query.collective)) return {};
  if (algorithms::facts_of(*spec.algorithm).uses_slots || spec.segment_bytes != 0)
    return "ranks see different lengths, so they can't agree on how to cut what is published";
  return {};
}

std::string why_it_does_not_fit(const Query& query, const Spec& spec) {
  const Algorithm& algorithm = *spec.algorithm;
  if (!algorithms::facts_of(algorithm).uses_slots) return {};
  if (query.element_bytes > query.slot_bytes)
    return "an element of " + size_to_text(query.element_bytes) + " bytes does not fit into " + slot_of(query);
  if (spec.segment_bytes > query.slot_bytes)
    return "segments of " + size_to_text(spec.segment_bytes) + " bytes do not fit into " + slot_of(query);
  const uint64_t row = query.row_bytes != 0 ? query.row_bytes : query.ranks * query.bytes;
  if (algorithm.publishes_rows && row > query.slot_bytes)
    return "a row of " + size_to_text(row) + " bytes does not fit into " + slot_of(query);
  return {};
}

// Where blocks of several ranks lie side by side, a part of every one of them does not.
std::string why_it_cannot_be_cut(const Query& query, const Spec& spec) {
  const bool has_blocks = schedule::has_block_a_rank(query.collective);
  const bool is_part = query.composition != nullptr;
  if ((!has_blocks && !is_part) || cut(query, spec).calls <= 1) return {};
  if (is_part)
    return size_to_text(query.bytes) + " bytes are too long for one call, and parts are not cut into several";
  const bool by_blocks = spec.algorithm->takes_vectors && !algorithms::is_composition(*spec.algorithm) &&
                         spec.algorithm->collective != schedule::Collective::kReduceScatterBlock;
  return by_blocks ? "" : "a block of " + size_to_text(query.bytes) + " bytes is too long for one call";
}

std::string why_no_part(const Query& query, const Algorithm& algorithm) {
  if (query.composition == nullptr) return {};
  return algorithms::why_no_part(*query.composition, query.part, algorithm, query.limits);
}

std::string why_tree_is_of_others(uint32_t ranks, const Algorithm& algorithm, uint32_t degree) {
  if (!algorithm.takes_tree || degree == 0 || algorithms::ranks_of_given_tree(degree) == ranks) return {};
  return "its tree is one of " + std::to_string(algorithms::ranks_of_given_tree(degree)) + " ranks, and here are " +
         std::to_string(ranks);
}

// A tree within nodes is one of as many ranks as each of them has.
std::string why_nodes_differ(const Query& query, const Spec& spec) {
  const schedule::Nodes* over = query.composed_over();
  if (over == nullptr || over->most() * over->count() == over->ranks()) return {};
  for (size_t i = 0; i < spec.algorithm->parts.size(); ++i) {
    const bool is_within = spec.algorithm->parts[i].family == algorithms::Family::kNode;
    if (is_within && spec.parts[i].algorithm != nullptr && spec.parts[i].algorithm->takes_tree &&
        spec.parts[i].degree != 0)
      return "nodes have different numbers of ranks, and " + std::string(spec.algorithm->parts[i].name) + "=" +
             to_text(spec.parts[i]) + " is one tree for all";
  }
  return {};
}

bool is_multicast(const Algorithm* algorithm) {
  return algorithm != nullptr && algorithms::facts_of(*algorithm).multicasts;
}

template <typename Chosen>
bool any_multicasts(const Chosen& chosen) {
  return is_multicast(chosen.algorithm) || std::any_of(std::begin(chosen.parts), std::end(chosen.parts),
                                                       [](const auto& part) { return is_multicast(part.algorithm); });
}

}  // namespace

bool multicasts(const Spec& spec) { return any_multicasts(spec); }
bool multicasts(const Choice& choice) { return any_multicasts(choice); }

std::string why_not_meant(schedule::Collective collective, const Spec& spec, uint32_t ranks,
                          const schedule::Nodes* nodes) {
  const uint32_t count = nodes == nullptr ? 1 : nodes->count();
  if (count == 1 && multicasts(spec)) return "it goes between nodes";
  if (spec.algorithm == nullptr) return {};
  if (count == 1 && schedule::is_vector(collective) && algorithms::is_composition(*spec.algorithm))
    return std::string(kDetourWithinANode);
  if (std::string why = why_tree_is_of_others(ranks, *spec.algorithm, spec.degree); !why.empty()) return why;
  for (size_t i = 0; i < spec.algorithm->parts.size(); ++i) {
    if (spec.parts[i].algorithm == nullptr) continue;
    const bool is_across = spec.algorithm->parts[i].family == algorithms::Family::kAcross;
    const uint32_t most = nodes == nullptr ? ranks : nodes->most();
    std::string why = why_tree_is_of_others(is_across ? count : most, *spec.parts[i].algorithm, spec.parts[i].degree);
    if (!why.empty()) return why;
  }
  return {};
}

std::string why_not(const Query& query, const Spec& spec) {
  if (spec.is_mpis) return query.is_of_mpi ? "" : "it is the MPI's own, and the call does not come through an MPI";
  const Algorithm& algorithm = *spec.algorithm;
  if (algorithm.collective != schedule::base_of(query.collective))
    return "it is an algorithm of " + std::string(schedule::name(algorithm.collective));
  if (query.ranks < algorithm.min_size) return "it needs at least " + std::to_string(algorithm.min_size) + " ranks";
  if (query.ranks > algorithm.max_size) return "it serves at most " + std::to_string(algorithm.max_size) + " ranks";
  for (std::string why :
       {why_memory_is_apart(query, algorithm), why_no_multicast(query, algorithm), why_no_part(query, algorithm),
        why_order_is_lost(query, algorithm), why_blocks_differ(query, spec), why_it_does_not_fit(query, spec),
        why_it_cannot_be_cut(query, spec), why_tree_is_of_others(query.ranks, algorithm, spec.degree),
        why_nodes_differ(query, spec)}) {
    if (!why.empty()) return why;
  }
  return why_not_of_parts(query, spec);
}

}  // namespace hocket::selection
