// SPDX-License-Identifier: BSD-3-Clause
// hocket schedule: an algorithm's plans, to look at and to prove.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "algorithms/algorithm.h"
#include "command/command.h"
#include "command/layout.h"
#include "schedule/dumps/dump.h"
#include "schedule/verifier/verifier.h"
#include "selection/among_neighbours.h"
#include "selection/choice.h"
#include "words/collective_names.h"
#include "words/configuration.h"

namespace hocket::command {
namespace {

constexpr const char* kScheduleFooter = R"(
Examples:
  hocket schedule barrier dissemination --ranks 8
  hocket schedule reduce tree --ranks 13 --degree 3 --root 4 --format svg > tree.svg
  hocket schedule allreduce ring --ranks 6 --count 101 --verify
  hocket schedule broadcast pipeline --ranks 4 --segments 8 --format goal > pipeline.goal     (for LogGOPSim)
  hocket schedule neighbor_alltoall dimensions --grid 3x3x3 --stencil full --verify           (on a torus)
  hocket schedule alltoall send_aggregation:across=bruck --nodes 4x2 --order cyclic --verify  (on four nodes of two)
What the algorithms do: docs/algorithms.md. All names: hocket algorithms.)";

struct ScheduleOptions {
  std::string collective;
  std::string algorithm;
  uint32_t ranks = 0;
  LayoutOptions layout;
  GridWords grid;
  std::shared_ptr<const schedule::Neighbours> neighbours;  // of a collective among them
  std::optional<schedule::Nodes> nodes;
  uint32_t root = 0;
  uint32_t segments = 1;
  uint32_t degree = 0;
  uint64_t count = 16;
  uint32_t element_bytes = 8;
  std::string format = "text";
  bool keep_order = false;
  bool in_place = false;
  bool verify = false;
};

constexpr uint32_t kDefaultRanks = 4;
constexpr uint32_t kMostRanksLookedAt = 4096;  // proving takes memory with their square

Status settle(ScheduleOptions& options) {
  const Result<schedule::Collective> named = read_collective_of_form(options.collective);
  if (!named.is_ok()) return {named.status().code(), named.status().message()};
  options.collective = schedule::name(named.value());
  Result<std::optional<schedule::Nodes>> layout = layout_of(options.layout, options.ranks);
  if (!layout.is_ok()) return layout.take_status();
  options.nodes = layout.take();
  auto neighbours = neighbours_of(named.value(), options.grid, kDefaultRanks, options.ranks);
  if (!neighbours.is_ok()) return neighbours.take_status();
  options.neighbours = neighbours.take();
  if (options.ranks == 0) options.ranks = kDefaultRanks;
  if (options.ranks > kMostRanksLookedAt)
    return Status(Code::kInvalidArgument, "at most " + std::to_string(kMostRanksLookedAt) + " ranks can be looked at");
  return Status::ok();
}

// The algorithm with its degree and its parts, if it can do what is asked.
Result<selection::Choice> choose_algorithm(const ScheduleOptions& options) {
  const schedule::Collective collective = *schedule::collective_from_name(options.collective);
  std::string text = options.algorithm;
  if (options.degree != 0)
    text += (text.find(':') == std::string::npos ? ":degree=" : ",degree=") + std::to_string(options.degree);
  Result<selection::Spec> spec = selection::parse_spec(collective, text);
  if (!spec.is_ok()) return spec.take_status();
  if (spec.value().is_mpis) return Status(Code::kInvalidArgument, "mpi: the MPI's own algorithm is no schedule");
  const algorithms::Algorithm& algorithm = *spec.value().algorithm;
  if (options.root >= options.ranks)
    return Status(Code::kInvalidArgument, "root " + std::to_string(options.root) + " is not one of " +
                                              std::to_string(options.ranks) + " ranks, which count from 0");
  if (options.segments > 1 && !algorithm.segmented)
    return Status(Code::kInvalidArgument, options.algorithm + " is not cut into segments");
  if (options.in_place && options.neighbours != nullptr)
    return Status(Code::kInvalidArgument, options.collective + " takes no input in place");
  if (options.in_place && schedule::copies_input_in_place(collective))
    return Status(Code::kInvalidArgument,
                  options.collective + " in place copies its input first; its schedule is the same");
  selection::Query query{.collective = collective,
                         .bytes = 1,
                         .ranks = options.ranks,
                         .nodes = options.nodes ? &*options.nodes : nullptr,
                         .why_no_multicast = "",
                         .commutative = !options.keep_order};
  // How parts are cut depends on the message.
  if (algorithms::is_composition(algorithm)) query.bytes = options.count * options.element_bytes;
  if (algorithms::is_composition(algorithm)) query.element_bytes = options.element_bytes;
  const schedule::Neighbours* neighbours = options.neighbours.get();
  const std::string why = neighbours != nullptr ? selection::why_not_among_neighbours(query, *neighbours, spec.value())
                                                : selection::why_not(query, spec.value());
  if (!why.empty()) return Status(Code::kInvalidArgument, options.algorithm + ": " + why);
  Result<selection::Table> table = table_in_use();
  if (!table.is_ok()) return table.take_status();
  if (neighbours != nullptr)
    return selection::choose_among_neighbours(query, *neighbours, table.value(), &spec.value());
  return selection::choose(query, table.value(), &spec.value());
}

std::vector<schedule::Plan> make_plans(const selection::Choice& choice, const ScheduleOptions& options) {
  std::vector<schedule::Plan> plans;
  schedule::Shape shape;
  choice.fill(shape);
  shape.size = options.ranks;
  shape.nodes = options.nodes ? &*options.nodes : nullptr;
  shape.root = options.root;
  shape.segments = options.segments;
  shape.keep_order = options.keep_order;
  shape.in_place = options.in_place;
  shape.neighbours = options.neighbours.get();
  for (shape.rank = 0; shape.rank < options.ranks; ++shape.rank)
    plans.push_back(algorithms::make_plan(*choice.algorithm, shape));
  return plans;
}

int prove(const std::vector<schedule::Plan>& plans, const ScheduleOptions& options) {
  schedule::VerifyOptions verify;
  verify.count = options.collective == "barrier" ? 0 : options.count;
  verify.commutative = !options.keep_order;
  // Entering a barrier twice is entering it.
  verify.idempotent = options.collective == "barrier";
  const schedule::Report report = schedule::verify(plans, verify);
  if (!report.is_correct()) return fail(kFailure, "wrong:\n" + report.text());
  std::printf(
      "proved for %u ranks, root %u, %llu elements: every contribution once and where it belongs, no deadlock\n",
      options.ranks, options.root, static_cast<unsigned long long>(verify.count));
  std::printf("%llu messages, %llu signals, %llu elements moved, longest chain %u steps%s\n",
              static_cast<unsigned long long>(report.messages), static_cast<unsigned long long>(report.signals),
              static_cast<unsigned long long>(report.elements_moved), report.critical_path,
              report.synchronizing ? ", nobody ends before everybody has started" : "");
  return kSuccess;
}

Result<std::string> dump(const std::vector<schedule::Plan>& plans, const ScheduleOptions& options) {
  if (options.format == "goal") {
    schedule::GoalOptions goal;
    goal.count = options.count;
    goal.element_bytes = options.element_bytes;
    return schedule::dump_goal(plans, goal);
  }
  if (options.format == "svg")
    return schedule::dump_svg(
        plans, options.collective + " " + options.algorithm + ", " + std::to_string(options.ranks) + " ranks");
  return schedule::dump_text(plans);
}

int show(ScheduleOptions options) {
  if (const Status status = settle(options); !status.is_ok()) return fail(kUsage, status.message());
  Result<selection::Choice> choice = choose_algorithm(options);
  if (!choice.is_ok()) return fail(kUsage, choice.status().message());
  const std::vector<schedule::Plan> plans = make_plans(choice.value(), options);
  if (options.verify) return prove(plans, options);
  Result<std::string> text = dump(plans, options);
  if (!text.is_ok()) return fail(kFailure, text.status().message());
  std::fputs(text.value().c_str(), stdout);
  return kSuccess;
}

}  // namespace

void add_schedule(CLI::App& app, Invocation& invocation) {
  auto* sub = app.add_subcommand("schedule", "Print, draw or prove the schedule of an algorithm");
  sub->footer(kScheduleFooter);
  auto options = std::make_shared<ScheduleOptions>();
  sub->add_option("collective", options->collective, selection::names_of_collectives())
      ->required()
      ->type_name("COLLECTIVE");
  sub->add_option("algorithm", options->algorithm, "its name; of a composition with its parts, if you like")
      ->required()
      ->type_name("ALGORITHM");
  sub->add_option("--ranks", options->ranks, "of the communicator (default: 4)")
      ->check(CLI::Range(1u, kMostRanksLookedAt));
  add_layout(*sub, options->layout);
  add_grid(*sub, options->grid);
  sub->add_option("--root", options->root)->capture_default_str();
  sub->add_option("--segments", options->segments, "parts the message is cut into")
      ->check(CLI::Range(1u, 4096u))
      ->capture_default_str();
  sub->add_option("--degree", options->degree,
                  "of a tree; lanes, leaders, messages at a time (default: the algorithm's own)")
      ->check(CLI::Range(1u, 1u << 20));
  sub->add_option("--count", options->count, "elements: for goal and --verify, and how parts are chosen")
      ->check(CLI::Range(uint64_t{0}, uint64_t{1} << 20))
      ->capture_default_str();
  sub->add_option("--element", options->element_bytes, "bytes of an element: for goal, and how parts are chosen")
      ->check(CLI::Range(1u, 1u << 20))
      ->capture_default_str();
  sub->add_option("--format", options->format)->check(CLI::IsMember({"text", "goal", "svg"}))->capture_default_str();
  sub->add_flag("--keep-order", options->keep_order, "for an operation that does not commute");
  sub->add_flag("--in-place", options->in_place, "for a call whose output lies where its input does");
  sub->add_flag("--verify", options->verify, "prove it instead of printing it; code 1 if it is wrong");
  sub->callback([=, &invocation] { invocation.run = [=] { return show(*options); }; });
}

}  // namespace hocket::command
