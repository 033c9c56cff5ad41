// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/calls/planner.h"

#include <algorithm>
#include <set>

#include "algorithms/algorithm.h"
#include "algorithms/told_lengths.h"
#include "selection/among_neighbours.h"
#include "selection/detours.h"

namespace hocket::communicator {
namespace {

// When the programs kept exceed this, all are forgotten: a program is quick to make again.
constexpr size_t kMaxKeptInstructions = 1 << 20;
// Between the lengths that of() asks about where no rule begins.
constexpr uint64_t kBetweenLengths = 8;

}  // namespace

selection::Query Planner::query(const CallShape& shape) const {
  selection::Query query;
  query.collective = shape.collective;
  query.bytes = shape.count * shape.element_bytes;
  query.ranks = size_;
  query.nodes = nodes_;
  query.domains = domains_;
  query.caches = caches_;
  query.sockets = sockets_;
  query.has_cores = !oversubscribed_;
  query.oversubscribed = oversubscribed_;
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
  wanted.varies = schedule::is_vector(shape.collective);
  return wanted;
}

const selection::Spec* Planner::forced_spec(schedule::Collective collective) const {
  const auto found = forced_.find(collective);
  return found == forced_.end() || (found->second.is_mpis && is_of_mpi_) ? nullptr : &found->second;
}

selection::ByMpi Planner::by_mpi(bool only_forced) const {
  if (!is_of_mpi_) return {};
  const bool by_table = !only_forced && (engines_ == nullptr || !engines_->have_rules());
  return {query({}), by_table ? &table_ : nullptr, forced_};
}

std::optional<selection::Spec> Planner::force(schedule::Collective collective, std::optional<selection::Spec> spec) {
  std::optional<selection::Spec> before;
  if (const auto found = forced_.find(collective); found != forced_.end()) before = found->second;
  forced_.erase(collective);
  if (spec) forced_.emplace(collective, *spec);
  forget();
  return before;
}

// In instructions.
static size_t size_of(const Prepared& prepared) {
  size_t size = prepared.chunk.instructions.size() + prepared.last.instructions.size();
  const auto add = [&](const schedule::Plan& plan) {
    size += plan.steps.size();
    for (const auto& row : plan.rows)
      if (row != nullptr) size += row->size() * sizeof(uint64_t) / sizeof(engines::Instruction);
  };
  if (prepared.plan) add(*prepared.plan);
  if (prepared.lengths) size += prepared.lengths->instructions.size();
  if (prepared.survey != nullptr) {
    add(prepared.survey->flat);
    size += prepared.survey->sum.instructions.size();
  }
  return size;
}

bool Planner::is_kept(const Prepared* prepared) const {
  return std::any_of(kept_.begin(), kept_.end(), [&](const auto& kept) { return kept.second.get() == prepared; });
}

void Planner::forget() {
  recent_.fill(nullptr);
  kept_.clear();
  kept_instructions_ = 0;
}

std::string Planner::explain(const CallShape& shape) const {
  const selection::Query asked = query(shape);
  if (schedule::is_among_neighbors(shape.collective)) {
    const Neighbourhoods::Shared neighbours = neighbourhoods_->find(shape.root);
    if (neighbours == nullptr) return "it is chosen for each neighbourhood by itself";
    return selection::explain_among_neighbours(asked, *neighbours, table_, forced_spec(shape.collective));
  }
  std::string text = selection::explain(asked, table_for(shape), forced_spec(shape.collective));
  if (engines_ == nullptr) return text;
  if (!text.empty() && text.back() != '\n') text += '\n';
  const Result<selection::Choice> choice = selection::choose(asked, table_for(shape), forced_spec(shape.collective));
  return text + engines_->explain(choice.is_ok() ? &choice.value() : nullptr, call_of(shape));
}

std::vector<selection::Choice> Planner::of(schedule::Collective collective, uint64_t most, const char* wire) const {
  const selection::Table table = table_.under(wire);
  std::set<uint64_t> lengths;
  for (uint64_t bytes = 1; bytes < most; bytes *= kBetweenLengths) lengths.insert(bytes);
  lengths.insert(most);
  // Where a rule begins, or the next one.
  for (const selection::Rule& rule : table.rules()) {
    if (rule.collective != collective) continue;
    if (rule.bytes.first <= most) lengths.insert(rule.bytes.first);
    if (rule.bytes.last < most) lengths.insert(rule.bytes.last + 1);
  }
  std::vector<selection::Choice> found;
  for (const uint64_t bytes : lengths) {
    Result<selection::Choice> choice =
        selection::choose(query({.collective = collective, .count = bytes}), table, forced_spec(collective));
    if (!choice.is_ok() || choice.value().algorithm == nullptr) continue;
    const auto is_same = [&](const selection::Choice& one) { return selection::is_same(one, choice.value()); };
    if (std::none_of(found.begin(), found.end(), is_same)) found.push_back(choice.take());
  }
  return found;
}

std::string Planner::forced(schedule::Collective collective) const {
  const selection::Spec* spec = forced_spec(collective);
  return spec == nullptr ? "" : selection::to_text(*spec);
}

void Planner::use(const carriers::Engines& engines) {
  engines_ = &engines;
  why_no_multicast_ = engines.why_no_multicast();
  forget();
}

const selection::Table& Planner::table_for(const CallShape& shape) const {
  const carriers::Engine* engine = candidate_for(shape);
  if (engine == nullptr) return table_;
  const auto found = engine_tables_.find(engine);
  return found != engine_tables_.end() ? found->second
                                       : engine_tables_.emplace(engine, table_.under(engine->wire())).first->second;
}

bool Planner::wants_multicast() const {
  if (nodes_ == nullptr) return false;
  if (std::any_of(forced_.begin(), forced_.end(), [](const auto& one) { return selection::multicasts(one.second); }))
    return true;
  // Whatever else it asks for: a rule of one rank a node may serve leaders, too.
  const auto rules = table_.rules();
  return std::any_of(rules.begin(), rules.end(), [&](const selection::Rule& rule) {
    return selection::multicasts(rule.spec) && rule.nodes.contains(nodes_->count()) &&
           selection::names_wire(rule.wire, table_.wire());
  });
}

// Where ranks see different lengths there is none that they must agree on.
static CallSignature signature_of(const CallShape& shape) {
  const uint64_t elements = schedule::is_vector(shape.collective) ? shape.row : shape.count;
  return {what_of(shape.collective, shape.keep_order, shape.root), bytes_of(elements * shape.element_bytes)};
}

engines::Program Planner::bind(const schedule::Plan& plan, uint64_t count, uint64_t element_bytes) const {
  engines::Program program = engines::bind(plan, count, element_bytes);
  if (engines_ != nullptr) engines_->assign(program);
  return program;
}

Status Planner::prepare_lengths(Prepared& prepared, const schedule::Plan& plan) const {
  const CallShape& shape = prepared.shape;
  const schedule::Plan lengths = algorithms::plan_of_lengths(*prepared.choice.algorithm, plan.shape);
  prepared.lengths = bind(lengths, algorithms::lengths_to_tell(plan.collective, size_), sizeof(uint64_t));
  prepared.longest_short = selection::longest_passed_on(plan.collective) / std::max<uint64_t>(shape.element_bytes, 1);
  if (plan.collective != schedule::Collective::kAlltoall || forced_spec(shape.collective) != nullptr)
    return Status::ok();
  const CallShape sum = {.collective = schedule::Collective::kAllreduce,
                         .count = 1,
                         .element_bytes = sizeof(int64_t),
                         .operation = reduction::Operation::kSum,
                         .type = reduction::Type::kInt64};
  // What is forced is meant for the program's own.
  Result<std::shared_ptr<const Prepared>> asking = make(sum, nullptr);
  if (!asking.is_ok()) return asking.take_status();
  schedule::Shape alone = plan.shape;
  alone.degree = 0;
  std::fill(std::begin(alone.parts), std::end(alone.parts), schedule::Part{});
  const uint64_t few = selection::most_few_messages(oversubscribed_) * size_;
  prepared.survey = std::make_unique<const Survey>(
      Survey{asking.value()->last, algorithms::make_plan(*algorithms::find(plan.collective, "linear"), alone), few});
  return Status::ok();
}

static std::vector<std::pair<uint64_t, uint32_t>> incoming_blocks(const schedule::Neighbours& neighbours,
                                                                  uint32_t rank) {
  std::vector<std::pair<uint64_t, uint32_t>> blocks;
  const auto sources = neighbours.sources(rank);
  for (uint32_t k = 0; k < sources.size(); ++k)
    if (sources[k] != schedule::kNoRank) blocks.emplace_back(neighbours.number_in(rank, k), k);
  std::sort(blocks.begin(), blocks.end());
  return blocks;
}

// The plan by which ranks are told the lengths of blocks that they pass on; nothing where none is.
static std::optional<schedule::Plan> plan_lengths_of_neighbours(Prepared& prepared, schedule::Shape shape) {
  const algorithms::Algorithm& algorithm = *prepared.choice.algorithm;
  if (algorithm.tells_lengths == nullptr) return std::nullopt;
  prepared.told = algorithm.tells_lengths(*prepared.neighbours);
  if (prepared.told.among == nullptr) return std::nullopt;
  const schedule::Neighbours& told = *prepared.told.among;
  shape.varies = false;
  shape.neighbours = &told;
  const auto sources = told.sources(shape.rank);
  const auto origins = told.origins(shape.rank);
  for (uint32_t place = 0; place < sources.size(); ++place)
    if (sources[place] != schedule::kNoRank)
      prepared.passed.emplace_back(prepared.neighbours->number_out(sources[place], prepared.told.of[origins[place]]),
                                   place);
  std::sort(prepared.passed.begin(), prepared.passed.end());
  return algorithms::make_plan(algorithm, shape);
}

Result<std::shared_ptr<const Prepared>> Planner::make_among_neighbours(const CallShape& shape,
                                                                       const selection::Spec* forced) const {
  auto prepared = std::make_shared<Prepared>();
  prepared->neighbours = neighbourhoods_->find(shape.root);
  if (prepared->neighbours == nullptr)
    return Status(Code::kInvalidArgument, "the neighbourhood has been destroyed, or is another communicator's");
  Result<selection::Choice> choice =
      selection::choose_among_neighbours(query(shape), *prepared->neighbours, table_, forced);
  if (!choice.is_ok()) return choice.take_status();
  prepared->shape = shape;
  prepared->size = size_;
  prepared->signature = signature_of(shape);
  prepared->signature_hash = engines::shared_memory::hash_of_shape(prepared->signature);
  prepared->choice = choice.take();
  if (prepared->choice.algorithm != nullptr)
    prepared->algorithm_number = algorithms::number_of(*prepared->choice.algorithm);
  prepared->engines = engines_;
  schedule::Shape wanted = shape_of(prepared->choice, shape);
  wanted.root = 0;
  wanted.neighbours = prepared->neighbours.get();
  schedule::Plan plan = algorithms::make_plan(*prepared->choice.algorithm, wanted);
  if (wanted.varies) {
    if (!plan.rows.empty()) prepared->incoming = incoming_blocks(*prepared->neighbours, rank_);
    if (const std::optional<schedule::Plan> lengths = plan_lengths_of_neighbours(*prepared, wanted))
      prepared->lengths = bind(*lengths, 1, sizeof(uint64_t));
    prepared->plan = std::move(plan);
  } else {
    prepared->last = bind(plan, shape.count, shape.element_bytes);
  }
  return std::shared_ptr<const Prepared>(std::move(prepared));
}

Result<std::shared_ptr<const Prepared>> Planner::make(const CallShape& shape, const selection::Spec* forced) const {
  if (schedule::is_among_neighbors(shape.collective)) return make_among_neighbours(shape, forced);
  Result<selection::Choice> choice = selection::choose(query(shape), table_for(shape), forced);
  if (!choice.is_ok()) return choice.take_status();
  auto prepared = std::make_shared<Prepared>();
  prepared->shape = shape;
  prepared->size = size_;
  prepared->signature = signature_of(shape);
  prepared->signature_hash = engines::shared_memory::hash_of_shape(prepared->signature);
  prepared->has_block_a_rank = schedule::has_block_a_rank(shape.collective);
  prepared->choice = choice.take();
  if (prepared->choice.algorithm != nullptr)
    prepared->algorithm_number = algorithms::number_of(*prepared->choice.algorithm);
  const selection::Choice& chosen = prepared->choice;
  prepared->engines = engines_;
  std::optional<carriers::Engines::EnginePlan> by_engine;
  if (engines_ != nullptr && chosen.calls == 1)
    by_engine = engines_->plan(chosen, call_of(shape), shape_of(chosen, shape));
  prepared->runs_by_itself = by_engine && by_engine->runs_by_itself;
  schedule::Plan plan =
      by_engine ? std::move(by_engine->plan) : algorithms::make_plan(*chosen.algorithm, shape_of(chosen, shape));
  const bool cuts_blocks = chosen.calls > 1 && prepared->has_block_a_rank;
  if (schedule::is_vector(shape.collective) || cuts_blocks) {
    if (plan.shape.varies && chosen.algorithm->passes_on != nullptr) HOCKET_TRY(prepare_lengths(*prepared, plan));
    prepared->plan = std::move(plan);
    return std::shared_ptr<const Prepared>(std::move(prepared));
  }
  uint64_t last_count = shape.count;
  if (chosen.calls > 1) {
    prepared->chunk = bind(plan, chosen.chunk_elements, shape.element_bytes);
    last_count -= (chosen.calls - 1) * chosen.chunk_elements;
  }
  prepared->last = bind(plan, last_count, shape.element_bytes);
  return std::shared_ptr<const Prepared>(std::move(prepared));
}

Result<std::shared_ptr<const Prepared>> Planner::prepare(const CallShape& shape) {
  const Prepared*& recent = recent_[place_of(shape)];
  if (const auto found = kept_.find(shape); found != kept_.end()) {
    recent = found->second.get();
    return found->second;
  }
  Result<std::shared_ptr<const Prepared>> made = make(shape, forced_spec(shape.collective));
  if (!made.is_ok()) return made;
  if (kept_instructions_ > kMaxKeptInstructions) forget();
  constexpr size_t kOverhead = 32;  // of an entry, in instructions
  kept_instructions_ += kOverhead + size_of(*made.value());
  kept_.emplace(shape, made.value());
  recent = made.value().get();
  return made;
}

}  // namespace hocket::communicator
