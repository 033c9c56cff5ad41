// SPDX-License-Identifier: BSD-3-Clause
// hocket info: what there is, what is possible, and what would run.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "base/environment.h"
#include "base/nearest_word.h"
#include "base/size_text.h"
#include "command/command.h"
#include "command/info/coverage.h"
#include "command/layout.h"
#include "command/report.h"
#include "engines/nic/call_size.h"
#include "engines/nic/port.h"
#include "hocket/hocket.h"
#include "mpi_launch/mpi_library.h"
#include "platform/machine/topology.h"
#include "schedule/collective_names.h"
#include "selection/among_neighbours.h"
#include "selection/choice.h"
#include "words/collective_names.h"
#include "words/configuration.h"
#include "words/words.h"

namespace hocket::command {
namespace {

constexpr const char* kInfoFooter = R"(
Examples:
  hocket info                                           what hocket finds on this machine
  hocket info --json                                    the same for a program to read
  hocket info --coverage                                which of MPI's collectives hocket carries out
  hocket info --explain allreduce 8B --ranks 8          which algorithm such a call gets here, and why
  hocket info --explain reduce 1M --ranks 2 --oversubscribed no --op non-commutative
  hocket info --explain neighbor_alltoall 512 --grid 4x4x2 --stencil full     among all 26 neighbours on a torus
  hocket info --explain alltoall 512 --nodes 8x4 --oversubscribed no      on a cluster of eight nodes of four ranks
Settings: `hocket info` lists all of them with the values in effect; docs/environment.md says what is accepted.)";

struct InfoOptions {
  bool json = false;
  bool coverage = false;
  std::vector<std::string> explain;
  std::string wire;
  uint32_t ranks = 0;
  LayoutOptions layout;
  GridWords grid;
  std::string oversubscribed = "auto";
  std::string operation = "commutative";
  uint32_t element_bytes = 8;
};

std::string json_key(std::string text) {
  for (char& c : text)
    if (c == ' ') c = '_';
  return text;
}

void print_text(const std::vector<Section>& sections) {
  const bool colour = wants_colour(1);
  std::printf("hocket %s\n", hocket_version());
  for (const Section& section : sections) {
    std::printf("\n%s%s%s\n", colour ? "\033[1m" : "", section.title.c_str(), colour ? "\033[0m" : "");
    size_t width = 17;
    for (const Fact& fact : section.facts) width = std::max(width, fact.key.size());
    for (const Fact& fact : section.facts)
      std::printf("  %-*s %s\n", static_cast<int>(width), fact.key.c_str(), fact.text.c_str());
  }
}

void print_json(const std::vector<Section>& sections) {
  static const char* const kNames[] = {"machine", "possible", "mpi", "settings"};
  nlohmann::ordered_json all = {{"version", hocket_version()}};
  for (size_t i = 0; i < sections.size(); ++i) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (const Fact& fact : sections[i].facts) object[json_key(fact.key)] = fact.value;
    all[kNames[i]] = object;
  }
  std::printf("%s\n", all.dump(2).c_str());
}

int show(const InfoOptions& options) {
  const std::vector<Section> sections = {machine_section(), possible_section(), mpi_section(), settings_section()};
  options.json ? print_json(sections) : print_text(sections);
  return kSuccess;
}

// What a query names.
struct Named {
  std::optional<schedule::Nodes> nodes;
  std::shared_ptr<const schedule::Neighbours> neighbours;  // of a collective among them
};

Result<selection::Query> query_of(const InfoOptions& options, Named& found) {
  selection::Query query;
  const Result<schedule::Collective> named = read_collective_of_form(options.explain[0]);
  if (!named.is_ok()) return Status(named.status().code(), named.status().message());
  const schedule::Collective collective = named.value();
  query.collective = collective;
  if (options.explain.size() > 1) {
    Result<uint64_t> bytes = parse_size(options.explain[1]);
    if (!bytes.is_ok()) return bytes.take_status();
    // Where ranks see different lengths, nothing is chosen by them.
    query.bytes = schedule::lengths_are_agreed(collective) ? bytes.value() : 0;
  } else if (collective != schedule::Collective::kBarrier && schedule::lengths_are_agreed(collective)) {
    return Status(Code::kInvalidArgument, "how many bytes? For example: --explain " + options.explain[0] + " 8B");
  }
  const uint32_t cores = platform::read_cpu_budget().usable();
  query.why_no_multicast = why_no_multicast();
  query.ranks = options.ranks;
  Result<std::optional<schedule::Nodes>> layout = layout_of(options.layout, query.ranks);
  if (!layout.is_ok()) return layout.take_status();
  found.nodes = layout.take();
  if (found.nodes) query.nodes = &*found.nodes;
  auto neighbours = neighbours_of(collective, options.grid, cores, query.ranks);
  if (!neighbours.is_ok()) return neighbours.take_status();
  found.neighbours = neighbours.take();
  if (query.node_count() == 1) query.why_no_multicast = selection::kWithinANode;
  if (query.ranks == 0) query.ranks = cores;
  if (schedule::is_vector(collective)) query.row_bytes = query.bytes * query.ranks;
  query.oversubscribed =
      options.oversubscribed == "auto" ? query.ranks_a_node() > cores : options.oversubscribed == "yes";
  query.has_cores = !query.oversubscribed;
  query.commutative = options.operation == "commutative";
  query.element_bytes = options.element_bytes;
  if (query.element_bytes > query.bytes && query.bytes > 0) query.element_bytes = static_cast<uint32_t>(query.bytes);
  return query;
}

// Whether short calls between nodes would go by this machine's NIC engine, and a sentence on that.
bool has_nic_engine(std::string& sentence) {
  const Result<std::string> wish = environment::get_text("HOCKET_NIC");
  const Result<std::string> interface = environment::get_text("HOCKET_NIC_INTERFACE");
  if (!wish.is_ok() || !interface.is_ok() || wish.value() == "off") {
    sentence = "not used: HOCKET_NIC=off";
    return false;
  }
  const Result<std::unique_ptr<engines::nic::NicPort>> port = engines::nic::NicPort::open(interface.value());
  if (!port.is_ok()) {
    sentence = std::string("not used: ") + port.status().message();
    return false;
  }
  if (port.value()->engine() == "agent" && wish.value() != "on") {
    sentence = "not used: the engine on " + port.value()->interface() +
               " is an agent, which is slower than messages as a rule; HOCKET_NIC=on uses it";
    return false;
  }
  sentence = "the " + port.value()->engine() + "'s on " + port.value()->interface() +
             " is used if the other nodes have one, too";
  return true;
}

// A program's own wire may have any name; what no rule knows would be answered as if it had none.
std::string problem_of_wire(const std::string& wire, const selection::Table& table) {
  std::vector<std::string_view> known = {"openmpi", "mpich", "intel", "nic"};
  for (const selection::Rule& rule : table.rules())
    if (!rule.wire.empty() && std::find(known.begin(), known.end(), rule.wire) == known.end())
      known.emplace_back(rule.wire);
  const bool is_known =
      std::any_of(known.begin(), known.end(), [&](std::string_view name) { return selection::names_wire(name, wire); });
  if (wire.empty() || is_known) return {};
  std::string listed;
  for (const std::string_view name : known) listed.append(listed.empty() ? "" : ", ").append(name);
  return "--wire " + wire + ": neither an MPI nor a rule of " + table.source() +
         " has that name: " + question_after(nearest_word(wire, known)) + "there are " + listed;
}

int explain_neighbours(const selection::Query& query, const schedule::Neighbours& neighbours,
                       const selection::Table& table, const selection::Spec* spec) {
  std::printf("%s", selection::explain_among_neighbours(query, neighbours, table, spec).c_str());
  if (spec != nullptr) std::printf("  forced by %s\n", selection::forcing_variable(query.collective).c_str());
  return selection::choose_among_neighbours(query, neighbours, table, spec).is_ok() ? kSuccess : kFailure;
}

int explain(const InfoOptions& options) {
  // A program in this environment would be refused, too.
  if (const Status status = environment::check_process(); !status.is_ok()) return fail(kFailure, status.message());
  Named named;
  Result<selection::Query> query = query_of(options, named);
  if (!query.is_ok()) return fail(kUsage, query.status().message());
  Result<selection::Table> table = table_in_use();
  if (!table.is_ok()) return fail(kFailure, table.status().message());
  Result<selection::Spec> forced = forced_spec(query.value().collective);
  if (!forced.is_ok()) return fail(kFailure, forced.status().message());
  const selection::Spec* spec = forced.value().is_there() ? &forced.value() : nullptr;
  const std::string variable = selection::forcing_variable(query.value().collective);
  if (named.neighbours != nullptr) return explain_neighbours(query.value(), *named.neighbours, table.value(), spec);
  std::string passed_over;
  if (spec != nullptr)
    passed_over = selection::why_not_meant(query.value().collective, *spec, query.value().ranks, query.value().nodes);
  if (!passed_over.empty()) spec = nullptr;
  const bool asks_nic = query.value().node_count() > 1 &&
                        engines::nic::is_short(query.value().collective, query.value().bytes, *query.value().nodes);
  std::string nic;
  const bool uses_nic = asks_nic && has_nic_engine(nic) && options.wire.empty();
  if (const std::string problem = problem_of_wire(options.wire, table.value()); !problem.empty())
    return fail(kUsage, problem);
  query.value().is_of_mpi = !options.wire.empty() && options.wire != "nic";
  const selection::Table rules = table.value().under(uses_nic ? "nic" : options.wire);
  const Result<selection::Choice> choice = selection::choose(query.value(), rules, spec);
  std::printf("%s", selection::explain(query.value(), rules, spec, true).c_str());
  if (spec != nullptr) std::printf("  forced by %s\n", variable.c_str());
  if (!passed_over.empty())
    std::printf("  %s is not meant for this communicator, so the table chooses: %s\n", variable.c_str(),
                passed_over.c_str());
  if (asks_nic) std::printf("  NIC       engine: %s\n", nic.c_str());
  return choice.is_ok() ? kSuccess : kFailure;
}

}  // namespace

Section mpi_section() {
  Section section{"MPIs on PATH", {}};
  for (const Mpi& mpi : installed_mpis()) {
    Result<std::string> shim = find_shim(mpi.family);
    const std::string served =
        shim.is_ok() ? "served by " + shim.value() : "not served: " + std::string(shim.status().message());
    const std::string hook = progress_hook_of(mpi);
    std::string text = mpi.launcher + ", " + (mpi.library.empty() ? "its libmpi was not found" : mpi.library);
    text.append("; ").append(served);
    if (!mpi.library.empty())
      text.append("; ranks that wait in it: by ").append(hook.empty() ? "tests of requests" : hook);
    section.add(mpi.title, std::move(text),
                {{"launcher", mpi.launcher},
                 {"library", mpi.library},
                 {"family", family_name(mpi.family)},
                 {"progress_hook", hook.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(hook)},
                 {"shim", shim.is_ok() ? nlohmann::ordered_json(shim.value()) : nlohmann::ordered_json(nullptr)}});
  }
  if (section.facts.empty()) section.add("none", "no mpiexec or mpirun was found", nullptr);
  return section;
}

Section settings_section() {
  Section section{"Settings", {}};
  constexpr size_t kValueWidth = 25;  // of the longest default
  for (const environment::Setting& setting : environment::settings()) {
    const bool is_set = environment::is_set(setting.name);
    Result<std::string> text = environment::get_text(setting.name);
    std::string value = text.is_ok() ? text.take() : std::getenv(setting.name);
    // Behind the rank stands the key of the job, which is for its ranks only.
    if (std::string_view(setting.name) == "HOCKET_RUN") value = value.substr(0, value.find(':'));
    std::string shown = value.empty() ? "-" : value;
    if (!is_set && !value.empty()) shown += " (default)";
    shown.resize(std::max(shown.size(), kValueWidth), ' ');
    section.add(setting.name, shown + "  " + setting.help,
                {{"value", value.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(value)},
                 {"is_set", is_set},
                 {"meaning", setting.help}});
  }
  const environment::Problems found = environment::problems();
  std::vector<std::string> problems = found.errors;
  problems.insert(problems.end(), found.doubts.begin(), found.doubts.end());
  if (const Status status = check_configuration(); !status.is_ok()) problems.emplace_back(status.message());
  for (const std::string& problem : problems) section.add("problem", problem, problems);
  return section;
}

void add_info(CLI::App& app, Invocation& invocation) {
  auto* sub = app.add_subcommand("info", "Show what hocket finds on this machine, or explain a choice");
  sub->footer(kInfoFooter);
  auto options = std::make_shared<InfoOptions>();
  sub->add_flag("--json", options->json, "an object instead of text");
  auto* coverage_option = sub->add_flag("--coverage", options->coverage,
                                        "each collective of MPI: who carries it out, and under which conditions");
  auto* explain_option =
      sub->add_option("--explain", options->explain,
                      "a collective and the bytes of its message (or of a block): what would run, and why");
  explain_option->expected(1, 2)->type_name("COLLECTIVE [BYTES]")->excludes("--json")->excludes(coverage_option);
  sub->add_option("--ranks", options->ranks, "of the communicator (default: the usable cores)")
      ->check(CLI::Range(1u, 1u << 20))
      ->needs(explain_option);
  add_layout(*sub, options->layout);
  add_grid(*sub, options->grid);
  for (const char* name : {"--nodes", "--order", "--grid", "--periodic", "--stencil"})
    sub->get_option(name)->needs(explain_option);
  sub->add_option(
         "--wire", options->wire,
         "what joins the nodes: openmpi, mpich, intel (openmpi-5: of that version), or nic (default: NIC engines if\n"
         "here is one); on one node, the MPI that calls come through")
      ->needs(explain_option);
  sub->add_option("--oversubscribed,--crowded", options->oversubscribed,
                  "more ranks than cores? (default: as on this machine)")
      ->check(CLI::IsMember({"auto", "yes", "no"}))
      ->needs(explain_option);
  sub->add_option("--op", options->operation, "the operation's nature (default: commutative)")
      ->check(CLI::IsMember({"commutative", "non-commutative"}))
      ->needs(explain_option);
  sub->add_option("--element", options->element_bytes, "bytes of an element (default: 8)")
      ->check(CLI::Range(1u, 1u << 30))
      ->needs(explain_option);
  sub->callback([=, &invocation] {
    invocation.run = [=] {
      if (options->coverage) return show_coverage(options->json);
      return options->explain.empty() ? show(*options) : explain(*options);
    };
  });
}

}  // namespace hocket::command
