// SPDX-License-Identifier: BSD-3-Clause
#include "selection/parts.h"

#include <algorithm>
#include <vector>

namespace hocket::selection {
namespace {

std::shared_ptr<const schedule::Nodes> one_rank_a_node(uint32_t nodes) {
  return std::make_shared<const schedule::Nodes>(schedule::Nodes::in_blocks(std::vector<uint32_t>(nodes, 1)));
}

Spec spec_of(const PartSpec& part) {
  Spec spec;
  spec.algorithm = part.algorithm;
  spec.degree = part.degree;
  return spec;
}

}  // namespace

PartQuery query_of_part(const Query& query, const Spec& spec, uint32_t index) {
  const algorithms::Part& part = spec.algorithm->parts[index];
  const schedule::Nodes* over = query.composed_over();
  const schedule::Nodes one_node(over == nullptr ? query.ranks : 1);
  const algorithms::PartCall call = algorithms::call_of_part(*spec.algorithm, index, over == nullptr ? one_node : *over,
                                                             query.bytes, degree_of(query, spec));
  PartQuery asked;
  if (part.family == algorithms::Family::kAcross && call.ranks > 1) asked.nodes = one_rank_a_node(call.ranks);
  Query& inner = asked.query;
  inner = query;
  inner.collective = part.collective;
  inner.bytes = call.bytes;
  inner.row_bytes = 0;
  inner.ranks = call.ranks;
  inner.nodes = asked.nodes.get();
  inner.domains = nullptr;
  inner.caches = nullptr;
  inner.sockets = nullptr;
  inner.composition = spec.algorithm;
  inner.is_of_mpi = false;
  inner.part = index;
  const bool varies = schedule::is_vector(query.collective) && schedule::has_block_a_rank(part.collective);
  inner.limits = {.unequal_blocks = call.unequal_blocks || varies,
                  .within_domains = query.node_count() == 1 && over != nullptr,
                  .lengths_are_apart = varies && !schedule::lengths_are_agreed(query.collective)};
  // Parts of the message are rounded at both ends, and segments of them once more.
  inner.slot_bytes -= std::min<uint64_t>(inner.slot_bytes / 2, uint64_t{2} * query.element_bytes);
  return asked;
}

PartMatch match_part(const Query& query, const Table& table, const Spec& spec, uint32_t index) {
  PartMatch found;
  found.asked = query_of_part(query, spec, index);
  const PartSpec& named = spec.parts[index];
  if (found.asked.query.ranks == 0) return found;
  if (named.algorithm == nullptr && found.asked.query.ranks == 1) return found;
  const Spec forced = spec_of(named);
  found.match = find_match(found.asked.query, table, named.algorithm == nullptr ? nullptr : &forced);
  return found;
}

std::string why_not_of_parts(const Query& query, const Spec& spec) {
  for (uint32_t i = 0; i < spec.algorithm->parts.size(); ++i) {
    if (spec.parts[i].algorithm == nullptr) continue;
    const PartQuery asked = query_of_part(query, spec, i);
    if (asked.query.ranks == 0) continue;
    if (const std::string why = why_not(asked.query, spec_of(spec.parts[i])); !why.empty())
      return std::string(spec.algorithm->parts[i].name) + "=" + to_text(spec.parts[i]) + ": " + why;
  }
  return {};
}

}  // namespace hocket::selection
