// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/planner.h"

#include <algorithm>

#include "algorithms/algorithm.h"

namespace hocket::communicator {
namespace {

// When the programs kept exceed this, all are forgotten: a program is quick to make again.
constexpr size_t kMaxKeptInstructions = 1 << 20;
// What rules under wire=... call it.
constexpr const char* kNicWire = "nic";

}  // namespace

selection::Query Planner::query(const CallShape& shape) const {
  selection::Query query;
  query.collective = shape.collective;
  query.bytes = shape.count * shape.element_bytes;
  query.ranks = size_;
  query.nodes = nodes_;
  query.domains = domains_;
  query.crowded = crowded_;
  query.commutative = !shape.keep_order;
  query.element_bytes = static_cast<uint32_t>(shape.element_bytes);
  query.row_bytes = shape.row * shape.element_bytes;
  query.slot_bytes = slot_bytes_;
  query.why_no_multicast = why_no_multicast_;
  return query;
}

schedule::Shape Planner::shape_of(const selection::Choice& choice, const CallShape& shape) const {
  schedule::Shape wanted;
  choice.fill(wanted);
  wanted.size = size_;
  wanted.rank = rank_;
  wanted.root = shape.root;
  wanted.keep_order = shape.keep_order;
  wanted.in_place = shape.in_place;
  wanted.nodes = nodes_;
  wanted.domains = domains_;
  wanted.first_ranks_lead = selection::multicasts(choice);
  return wanted;
}

const selection::Spec* Planner::forced(schedule::Collective collective) const {
  const auto& spec = forced_[static_cast<size_t>(collective)];
  return spec.has_value() ? &*spec : nullptr;
}

void Planner::force(schedule::Collective collective, std::optional<selection::Spec> spec) {
  forced_[static_cast<size_t>(collective)] = spec;
  forget();
}

void Planner::forget() {
  recent_.fill(nullptr);
  kept_.clear();
  kept_instructions_ = 0;
}

std::string Planner::explain(const CallShape& shape) const {
  std::string text = selection::explain(query(shape), table_for(shape), forced(shape.collective));
  if (nodes_ == nullptr) return text;
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += multicast_.empty() ? "multicast: not used: " + why_no_multicast_ + "\n"
                             : "multicast: may be used: " + multicast_ + "\n";
  if (nic_ == nullptr) return text + "NIC engine: not used: " + why_no_nic_ + "\n";
  const Result<selection::Choice> choice = selection::choose(query(shape), table_for(shape), forced(shape.collective));
  return choice.is_ok() ? text + "NIC engine: " + nic_->explain(choice.value(), nic_call(shape)) + "\n" : text;
}

Result<selection::Choice> Planner::barrier_by_nic() const {
  const CallShape barrier{.collective = schedule::Collective::kBarrier};
  return selection::choose(query(barrier), table_.under(kNicWire), forced(barrier.collective));
}

void Planner::use(const NicPath* nic, std::string why_not) {
  nic_ = nic;
  why_no_nic_ = std::move(why_not);
  if (nic != nullptr) nic_table_ = table_.under(kNicWire);
  forget();
}

bool Planner::wants_multicast() const {
  if (nodes_ == nullptr) return false;
  if (std::any_of(forced_.begin(), forced_.end(),
                  [](const auto& spec) { return spec.has_value() && selection::multicasts(*spec); }))
    return true;
  // Whatever else it asks for: a rule of one rank a node may serve leaders, too.
  const auto rules = table_.rules();
  return std::any_of(rules.begin(), rules.end(), [&](const selection::Rule& rule) {
    return selection::multicasts(rule.spec) && rule.nodes.contains(nodes_->count()) &&
           (rule.wire.empty() || rule.wire == table_.wire());
  });
}

void Planner::use_multicast(std::string how, std::string why_not) {
  multicast_ = std::move(how);
  why_no_multicast_ = std::move(why_not);
  forget();
}

// Where ranks see different lengths there is none that they must agree on.
static CallSignature signature_of(const CallShape& shape) {
  const uint64_t elements = schedule::is_vector(shape.collective) ? shape.row : shape.count;
  return {what_of(shape.collective, shape.keep_order, shape.root), bytes_of(elements * shape.element_bytes)};
}

Result<std::shared_ptr<const Prepared>> Planner::make(const CallShape& shape) const {
  Result<selection::Choice> choice = selection::choose(query(shape), table_for(shape), forced(shape.collective));
  if (!choice.is_ok()) return choice.take_status();
  auto prepared = std::make_shared<Prepared>();
  prepared->shape = shape;
  prepared->size = size_;
  prepared->signature = signature_of(shape);
  prepared->signature_hash = engines::shared_memory::hash_of_shape(prepared->signature);
  prepared->has_block_a_rank = schedule::has_block_a_rank(shape.collective);
  prepared->choice = choice.take();
  const selection::Choice& chosen = prepared->choice;
  std::optional<schedule::Plan> by_nic;
  if (nic_ != nullptr && chosen.calls == 1) by_nic = nic_->plan(chosen, nic_call(shape), shape_of(chosen, shape));
  const bool by_nic_only = by_nic.has_value();
  schedule::Plan plan = by_nic ? std::move(*by_nic) : algorithms::make_plan(*chosen.algorithm, shape_of(chosen, shape));
  prepared->runs_by_itself = by_nic_only && nodes_->most() == 1;
  const bool cuts_blocks = chosen.calls > 1 && prepared->has_block_a_rank;
  if (schedule::is_vector(shape.collective) || cuts_blocks) {
    prepared->plan = std::move(plan);
    return std::shared_ptr<const Prepared>(std::move(prepared));
  }
  uint64_t last_count = shape.count;
  if (chosen.calls > 1) {
    prepared->chunk = engines::bind(plan, chosen.chunk_elements, shape.element_bytes);
    last_count -= (chosen.calls - 1) * chosen.chunk_elements;
  }
  prepared->last = engines::bind(plan, last_count, shape.element_bytes);
  return std::shared_ptr<const Prepared>(std::move(prepared));
}

Result<std::shared_ptr<const Prepared>> Planner::prepare(const CallShape& shape) {
  const Prepared*& recent = recent_[place_of(shape)];
  if (const auto found = kept_.find(shape); found != kept_.end()) {
    recent = found->second.get();
    return found->second;
  }
  Result<std::shared_ptr<const Prepared>> made = make(shape);
  if (!made.is_ok()) return made;
  if (kept_instructions_ > kMaxKeptInstructions) forget();
  constexpr size_t kOverhead = 32;  // of an entry, in instructions
  kept_instructions_ += kOverhead + made.value()->chunk.instructions.size() + made.value()->last.instructions.size() +
                        (made.value()->plan ? made.value()->plan->steps.size() : 0);
  kept_.emplace(shape, made.value());
  recent = made.value().get();
  return made;
}

}  // namespace hocket::communicator
