// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/simulation.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>

#include "algorithms/algorithm.h"
#include "algorithms/triggered.h"
#include "base/size_text.h"
#include "pages/trace.h"
#include "selection/cost_model.h"
#include "simulate/triggered.h"

namespace hocket::command {
namespace {

using simulation::Job;
using simulation::kNothing;
using simulation::StepTimes;
using simulation::Time;
using simulation::to_us;
using simulation::Work;

// What is looked at in its steps; more would take more memory than the simulation itself.
constexpr size_t kMostSteps = 20'000'000;
// Times of more would not fit into the simulation's.
constexpr double kMostBytes = static_cast<double>(uint64_t{1} << 52);
constexpr double kMostUs = 1e12;

// What the dearest thing takes for a KiB that may be done to it.
double dearest_us_per_kib(const simulation::Network& network) {
  constexpr double kKib = 1024;
  const simulation::CostParameters& costs = network.costs;
  double most =
      network.more.multicast_bytes == 0 ? 0 : network.more.multicast_overhead_us * kKib / network.more.multicast_bytes;
  for (const double price : {costs.beta_us_per_kib, costs.gamma_us_per_kib, costs.source_us_per_kib,
                             costs.memory_us_per_kib, costs.other_cache_us_per_kib, costs.other_socket_us_per_kib,
                             costs.wire_beta_us_per_kib, costs.wire_miss_us_per_kib, network.more.udp_beta_us_per_kib})
    most = std::max(most, price);
  return most;
}

const char* word_of(Work work) {
  switch (work) {
    case Work::kSend:
      return "send";
    case Work::kTake:
      return "receive";
    case Work::kPublish:
      return "publish";
    case Work::kRead:
      return "get";
    case Work::kPut:
      return "put";
    case Work::kAdd:
      return "add";
    case Work::kWait:
      return "wait";
    case Work::kMulticast:
      return "multicast";
    case Work::kFirstOf:
      return "first_of";
    case Work::kTrigger:
      return "trigger";
    default:
      return "copy";
  }
}

// Keeps what led to what, and draws it if wanted.
class Looking : public simulation::Observer {
 public:
  Looking(const Job& job, pages::TraceWriter* trace)
      : job_(job), trace_(trace), times_(job.steps.size()), last_(job.ranks(), kNothing) {}

  void did(const StepTimes& times) override {
    const uint32_t rank = job_.steps[times.step].rank;
    Done& done = times_[times.step];
    // A step that rings and later looks is told of twice.
    if (!done.is_there) done.before = last_[rank];
    done.is_there = true;
    done.times = times;
    last_[rank] = times.step;
    if (times.cause != kNothing && job_.steps[times.cause].rank != rank)
      awaited_[job_.steps[times.cause].rank] += to_us(times.begin - times.waited);
    if (trace_ == nullptr) return;
    const pages::Argument arguments[] = {{"bytes", job_.steps[times.step].bytes}};
    trace_->add(pages::Activity{pages::rank_track(job_.node_of[rank], rank), word_of(job_.steps[times.step].work),
                                "step", times.begin, times.end - times.begin, arguments});
  }

  void carried(const simulation::MessageTimes& times) override {
    if (trace_ == nullptr || times.there == simulation::kNever) return;
    const uint32_t rank = job_.steps[times.step].rank;
    trace_->add(pages::Message{"message", "message", pages::rank_track(job_.node_of[rank], rank), times.left,
                               pages::rank_track(job_.node_of[times.receiver], times.receiver), times.there});
  }

  // Back from the step that ended last, by what each has waited for.
  void find_path(Simulated& found) const {
    uint32_t step = kNothing;
    for (uint32_t i = 0; i < times_.size(); ++i)
      if (step == kNothing || times_[i].times.end > times_[step].times.end) step = i;
    while (step != kNothing) {
      ++found.path_steps;
      const uint32_t cause = times_[step].times.cause;
      if (cause != kNothing) {
        const bool is_message = job_.steps[step].work == Work::kTake || job_.steps[step].work == Work::kFirstOf;
        found.path_messages += is_message ? 1 : 0;
        found.path_bytes += is_message ? job_.steps[step].bytes : 0;
        step = cause;
        continue;
      }
      step = times_[step].before;
    }
  }

  std::vector<Awaited> longest_awaited() const {
    std::vector<Awaited> all;
    for (const auto& [rank, us] : awaited_) all.push_back({rank, us});
    std::sort(all.begin(), all.end(),
              [](const Awaited& a, const Awaited& b) { return a.us > b.us || (a.us == b.us && a.rank < b.rank); });
    constexpr size_t kShown = 5;
    if (all.size() > kShown) all.resize(kShown);
    return all;
  }

 private:
  struct Done {
    StepTimes times = {};
    uint32_t before = kNothing;  // what the rank did before it
    bool is_there = false;
  };

  const Job& job_;
  pages::TraceWriter* trace_;
  std::vector<Done> times_;
  std::vector<uint32_t> last_;  // that each rank has done
  std::map<uint32_t, double> awaited_;
};

// Calls one after the other, whose messages are told apart by their order.
Status repeat(schedule::Plan& plan, uint32_t calls) {
  if (calls == 1) return Status::ok();
  const auto is_numbered = [](const schedule::Step& step) {
    return schedule::is_one_sided(step.kind) || schedule::is_publication(step.kind) ||
           schedule::is_counter(step.kind) || schedule::is_by_multicast(step.kind);
  };
  if (std::any_of(plan.steps.begin(), plan.steps.end(), is_numbered))
    return {Code::kNotSupported,
            "calls one after the other are simulated of algorithms by messages only; without --calls, or with another "
            "algorithm"};
  const size_t steps = plan.steps.size();
  if (steps > simulation::kMostSteps / calls)
    return {Code::kNotSupported, std::to_string(calls) + " calls have more than " +
                                     std::to_string(simulation::kMostSteps) + " steps; simulate fewer --calls"};
  plan.steps.reserve(steps * calls);
  for (uint32_t call = 1; call < calls; ++call)
    for (size_t step = 0; step < steps; ++step) plan.steps.push_back(plan.steps[step]);
  return Status::ok();
}

Result<Job> make_job(const SimulateOptions& options, const selection::Choice& choice) {
  const selection::Query& query = options.query;
  schedule::Shape shape;
  choice.fill(shape);
  shape.size = query.ranks;
  shape.nodes = query.node_count() > 1 ? query.nodes : nullptr;
  shape.root = options.root;
  shape.keep_order = !query.commutative;
  simulation::JobWriter writer(query.ranks, shape.nodes, choice.chunk_elements, query.element_bytes,
                               options.network.costs.wire_miss_us_per_kib > 0);
  for (shape.rank = 0; shape.rank < shape.size; ++shape.rank) {
    schedule::Plan plan = options.engine == SimulatedEngine::kNic ? algorithms::triggered_plan(*choice.algorithm, shape)
                                                                  : algorithms::make_plan(*choice.algorithm, shape);
    if (Status status = repeat(plan, options.calls); !status.is_ok()) return status;
    writer.add(plan);
    if (!writer.has_room())
      return Status(Code::kNotSupported, std::string(choice.algorithm->name) + " has more than " +
                                             std::to_string(simulation::kMostSteps) + " steps on " +
                                             std::to_string(shape.size) + " ranks; simulate it on fewer");
  }
  Job job = writer.finish();
  double bytes = 0;
  for (const simulation::Step& step : job.steps) bytes += static_cast<double>(step.bytes);
  if (bytes > kMostBytes || bytes / 1024 * dearest_us_per_kib(options.network) > kMostUs)
    return Status(Code::kNotSupported, std::string(choice.algorithm->name) + " moves too many bytes on " +
                                           std::to_string(shape.size) + " ranks; simulate fewer --bytes or ranks");
  job.buffers_kib = selection::buffers_kib(query);
  return job;
}

Result<simulation::EnginesCall> engines_call_of(const SimulateOptions& options, const selection::Choice& choice) {
  const schedule::Nodes one(options.query.ranks);
  const schedule::Nodes& nodes = options.query.nodes != nullptr ? *options.query.nodes : one;
  return engines_call(options.query, nodes, options.root,
                      {options.nic_mode, options.nic_asks_all, options.nic_on_arrival, options.is_floating}, choice);
}

// The ranks' own datagrams in place of the MPI's messages.
simulation::Network network_of(const SimulateOptions& options) {
  simulation::Network network = options.network;
  if (options.engine == SimulatedEngine::kNic) network.more.wire_look_us = network.more.nic_look_us;
  if (options.engine != SimulatedEngine::kUdp) return network;
  network.more.wire_look_us = network.more.udp_look_us;
  network.more.wire_receive_more_us = network.more.udp_receive_more_us;
  network.costs.wire_overhead_us = network.more.udp_overhead_us;
  network.costs.wire_alpha_us = network.more.udp_alpha_us;
  network.costs.wire_gap_us = network.more.udp_gap_us;
  network.costs.wire_beta_us_per_kib = network.more.udp_beta_us_per_kib;
  return network;
}

void add_times(const simulation::Outcome& outcome, const SimulateOptions& options, Simulated& found) {
  found.ends_us.push_back(to_us(outcome.end) / options.calls);
  found.rank_mean_us.resize(outcome.ended.size());
  for (size_t rank = 0; rank < outcome.ended.size(); ++rank)
    found.rank_mean_us[rank] += to_us(outcome.ended[rank] - outcome.began[rank]) / options.runs;
}

void keep(const simulation::Outcome& outcome, uint32_t calls, Simulated& found) {
  found.rank_us.clear();
  found.waited_us = 0;
  for (size_t rank = 0; rank < outcome.ended.size(); ++rank) {
    found.rank_us.push_back(to_us(outcome.ended[rank] - outcome.began[rank]) / calls);
    found.waited_us += to_us(outcome.waited[rank]) / calls / static_cast<double>(outcome.ended.size());
    found.last_come_us = std::max(found.last_come_us, to_us(outcome.began[rank]));
  }
  found.messages = outcome.messages;
  found.bytes = outcome.bytes;
  found.events = outcome.events;
  found.multicasts = outcome.multicasts;
  found.missed = outcome.missed;
  found.repeated = outcome.repeated;
}

}  // namespace

double Simulated::median_us() const {
  std::vector<double> sorted = ends_us;
  std::sort(sorted.begin(), sorted.end());
  return sorted.empty() ? 0 : sorted[sorted.size() / 2];
}

Result<Simulated> simulate_choice(const SimulateOptions& options, const selection::Choice& choice) {
  Simulated found;
  found.calls = choice.calls;
  std::optional<simulation::EnginesCall> call;
  if (options.engine == SimulatedEngine::kNic) {
    Result<simulation::EnginesCall> carried = engines_call_of(options, choice);
    if (!carried.is_ok()) return carried.take_status();
    call = carried.take();
  }
  Result<Job> made = make_job(options, choice);
  if (!made.is_ok()) return made.take_status();
  const Job job = made.take();
  const simulation::Network network = network_of(options);
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(nullptr, std::fclose);
  std::unique_ptr<pages::TraceWriter> trace;
  if (!options.trace.empty()) {
    file.reset(std::fopen(options.trace.c_str(), "w"));
    if (file == nullptr) return Status::system("can't write the timeline " + options.trace, errno);
    trace = std::make_unique<pages::TraceWriter>(file.get());
  }
  for (uint32_t run = 0; run < options.runs; ++run) {
    simulation::Situation situation = options.situation;
    situation.seed += run;
    situation.order = run;
    const bool is_last = run + 1 == options.runs;
    simulation::Engine engine(job, network, situation);
    std::unique_ptr<Looking> looking;
    if (is_last && job.steps.size() <= kMostSteps) looking = std::make_unique<Looking>(job, trace.get());
    engine.observe(looking.get());
    std::unique_ptr<simulation::JobEngines> engines;
    if (call) {
      auto group = simulation::JobEngines::make(engine, job, network, situation.seed, *call);
      if (!group.is_ok()) return group.take_status();
      engines = group.take();
    }
    const simulation::Outcome outcome = engine.run();
    if (!outcome.is_finished && call)
      return Status(
          Code::kBroken,
          "the simulated engines don't come to an end: what is lost is not asked for with --nic-mode chain, or "
          "nothing gets through; --nic-mode collective, or a smaller --loss");
    if (!outcome.is_finished)
      return Status(Code::kBroken, "the simulated ranks don't come to an end: some wait for what nobody sends");
    add_times(outcome, options, found);
    if (!is_last) continue;
    keep(outcome, options.calls, found);
    if (engines != nullptr) {
      for (const uint64_t sent : engines->counts().sent) found.packets += sent;
      found.asked = engines->counts().sent[NIC_NACK];
      found.repeated = engines->counts().repeated;
    }
    if (looking == nullptr) continue;
    looking->find_path(found);
    found.awaited = looking->longest_awaited();
  }
  if (trace != nullptr)
    if (Status status = trace->finish(); !status.is_ok()) return status;
  return found;
}

}  // namespace hocket::command
