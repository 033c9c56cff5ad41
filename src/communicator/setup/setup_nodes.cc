// SPDX-License-Identifier: BSD-3-Clause
// What the ranks' introductions say of nodes, NUMA domains, caches and shared cores.
#include <algorithm>

#include "communicator/setup/setup.h"
#include "platform/machine/topology.h"

namespace hocket::communicator {

// Judged by what everybody has heard, so that all come to the same answer without asking again.
Status Setup::find_nodes() {
  std::vector<uint64_t> labels;
  for (const Introduction& one : all_) labels.push_back(platform::label_of_node(one.address));
  auto nodes = std::make_unique<const schedule::Nodes>(labels);
  if (nodes->count() == 1) {
    find_places();
    return Status::ok();
  }
  Participants& participants = parts_.participants;
  participants.nodes = std::move(nodes);
  HOCKET_TRY(check_wire());
  WirePart& wire = participants.wire;
  wire.wire = context_.wire();
  for (const Introduction& one : all_) {
    wire.addresses.push_back(one.wire_rank);
    wire.places.push_back("process " + std::to_string(one.address.process) + " on host " + one.host);
  }
  wire.first_tag = all_[0].tag;
  wire.marks = context_.tags()->marks();
  wire.reports_tag = context_.tags()->reports(all_[0].tag);
  wire.unique_number = uint64_t{all_[0].wire_rank + 1} << 32 | all_[0].serial;
  return Status::ok();
}

void Setup::find_places() {
  std::vector<RankPlace> ranks;
  for (const Introduction& one : all_) ranks.push_back(one.place);
  Places places = places_of(ranks);
  Participants& participants = parts_.participants;
  participants.domains = std::move(places.domains);
  participants.caches = std::move(places.caches);
  participants.sockets = std::move(places.sockets);
}

std::string Setup::describe_wire(const Introduction& one) {
  return std::to_string(one.wire_tags) + " tags for " + std::to_string(one.wire_size) + " processes";
}

Status Setup::check_wire() const {
  const auto without =
      std::find_if(all_.begin(), all_.end(), [](const Introduction& one) { return one.wire_size == 0; });
  if (without == all_.end()) {
    const auto other = std::find_if(all_.begin(), all_.end(), [this](const Introduction& one) {
      return one.wire_tags != all_[0].wire_tags || one.wire_size != all_[0].wire_size;
    });
    if (other != all_.end())
      return {Code::kMismatch, "the wire of rank 0 has " + describe_wire(all_[0]) + ", that of rank " +
                                   std::to_string(other - all_.begin()) + " " + describe_wire(*other) +
                                   "; it must be the same on all ranks"};
    if (all_[0].has_tag != 0) return Status::ok();
    const std::string wire = "the wire's " + describe_wire(all_[0]);
    const uint64_t least = uint64_t{kLeastTags} * all_[0].wire_size;
    if (all_[0].wire_tags < least)
      return {Code::kNotSupported, wire + " are not enough for a communicator; it takes " + std::to_string(least)};
    return {Code::kNotSupported, "rank 0 has opened as many communicators of several nodes as " + wire +
                                     " are enough for; destroy one first"};
  }
  const platform::Address& first = all_[0].address;
  const schedule::Nodes& nodes = *parts_.participants.nodes;
  uint32_t other = 1;
  while (nodes.together(0, other)) ++other;
  const std::string apart =
      "ranks 0 and " + std::to_string(other) + " " + platform::why_apart(first, all_[other].address);
  if (!is_within_job()) return {Code::kNotSupported, apart + ", and are of several jobs"};
  // An MPI's job without a wire was on one node.
  if (context_.vocabulary() == Vocabulary::kMpi)
    return {Code::kNotSupported,
            apart + ", which was not so in MPI_Init: users and namespaces must not change after it"};
  return {Code::kNotSupported, apart + ", and rank " + std::to_string(without - all_.begin()) +
                                   " has no wire to other nodes; pass one in hocket_context_options_t"};
}

uint32_t Setup::cores_of_ranks() const {
  std::vector<platform::CoreClaim> claims;
  for (const Introduction& one : all_) claims.push_back({one.address.boot_hash, {one.cpus[0], one.cpus[1]}, one.quota});
  return platform::cores_of(claims);
}

bool Setup::find_oversubscribed() const {
  std::vector<platform::CoreClaim> claims;
  for (const Introduction& one : all_) {
    if (one.oversubscribed != 0) return true;  // more ranks of the job are here than this communicator has
    claims.push_back({one.address.boot_hash, {one.cpus[0], one.cpus[1]}, one.quota});
  }
  return platform::ranks_share_cores(claims);
}

bool Setup::has_other_nodes_here() const {
  if (!parts_.participants.span_nodes()) return false;
  const schedule::Nodes& nodes = *parts_.participants.nodes;
  const uint64_t machine = all_[bootstrap_.rank].address.boot_hash;
  for (uint32_t rank = 0; rank < bootstrap_.size; ++rank)
    if (all_[rank].address.boot_hash == machine && !nodes.together(rank, bootstrap_.rank)) return true;
  return false;
}

}  // namespace hocket::communicator
