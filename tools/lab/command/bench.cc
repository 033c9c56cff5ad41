// SPDX-License-Identifier: BSD-3-Clause
// hocket lab bench: the NIC engine's collectives against the host's and the MPIs', on the same wires.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/lab/cells.h"
#include "bench/lab/operations.h"
#include "bench/lab/run.h"
#include "bench/lab/variants.h"
#include "command/command.h"
#include "command/number_range.h"
#include "engines/nic/stage_table.h"
#include "lab/command/parts.h"
#include "lab/jobs/mpi.h"
#include "lab/namespaces.h"
#include "lab/words.h"
#include "protocol/packet.h"
#include "words/collective_names.h"

namespace hocket::command {
namespace {

using lab_bench::Timing;
using lab_bench::Variant;
using nlohmann::ordered_json;
using schedule::Collective;

constexpr const char* kLabBenchFooter = R"(
Ways to carry out a collective:
  nic                  the engine in the kernel's packet path, at tc      agent        the engine as a process
  nic-chain            the wire taken as reliable, nothing asked again    mixed        every other node an agent
  host-udp             the same messages by the rank itself               host-packet  over raw packets
  mpi:NAME             an MPI's own, as `hocket lab mpirun --mpi NAME` runs it
  hocket:NAME          the same program with hocket preloaded and engines on
  hocket:NAME:ALGORITHM   without engines and by an algorithm as settings name it: hocket:mpich:tree_mm:degree=2
  multicast, multicast:NAME   of broadcasts: hocket:mpich:multicast, hocket:NAME:multicast; with several ranks a node
                       hocket:NAME:leader:across=multicast
of reductions only:
  nic-arrival          operands combined in the order in which they come
and of barriers only:
  nic-direct           each message acknowledged                          nic-xdp     in the driver, where it can
  nic-broadcast        asks all by multicast; ALGORITHM if one is late    agent-broadcast
An allgather or alltoall has mpi:NAME, hocket:NAME and hocket:NAME:ALGORITHM only.

ALGORITHM of a barrier: dissemination (the default), pairwise_exchange, linear, gather_broadcast/DEGREE; of the others:
binomial (the default), chain, flat, tree_mm/DEGREE, recursive_doubling (allreduce), parents/0.0.0.1 (anybody's tree:
the parent of rank 0, which is the root, of rank 1, ...). An MPI chooses its own.

What is measured, --timing:
  back-to-back   of barriers (the default): one after the other
  latency        from when the last rank begins, all others being in the call, to when the last one that gets something
                 has it. In a reduction the last is the leaf that is farthest from the root, in a broadcast the root
  host-time      how long each rank is in the call, all of them having met and slept for 0 to --skew-us; with
                 --fetch-later without the waiting for the result. Of barriers: whose ranks come together
  overlap        a call, a computation of --compute-us, and both at once: which share of the call's time is saved
An MPI's calls are non-blocking ones with --fetch-later and for the overlap.

Examples:
  hocket lab bench barrier --nodes 4,8 --variants nic,host-udp,mpi:mpich
  hocket lab bench barrier --nodes 8 --switch redirect --impair loss=1% --variants nic,agent --check --json lossy.json
  hocket lab bench barrier --nodes 4 --switch redirect --variants nic --impair loss=5% --record run.jsonl
  hocket lab bench reduce --type double --elements 1,8,64 --variants nic,nic:chain,host-udp,mpi:openmpi
  hocket lab bench allreduce --elements 8 --timing overlap --compute-us 200 --variants hocket:mpich,mpi:mpich
  hocket lab bench broadcast --impair delay=500us --variants multicast,hocket:mpich:tree_mm:degree=2,mpi:mpich
  hocket lab bench broadcast --nodes 4,16 --bytes 2,1K,64K,1M --variants multicast,mpi:mpich,mpi:openmpi --rounds 300
  hocket lab bench alltoall --nodes 8 --ppn 4 --bytes 8,512 --variants hocket:mpich:leader,hocket:mpich:bruck,mpi:mpich
  hocket lab bench reduce --nodes 16 --timing host-time --skew-us 0,200,1000 --variants nic,host-udp,mpi:mpich
It makes a lab of its own and takes it away again. scripts/nic_report.py makes tables of the JSON of barriers,
scripts/nic_data_report.py those of the others, scripts/multicast_report.py those of broadcasts by MPIs.)";

constexpr const char* kBarriers[] = {
    "nic", "nic:pairwise_exchange", "nic:gather_broadcast", "nic-chain", "nic-direct", "host-udp", "host-packet"};
constexpr const char* kWithData[] = {"nic", "agent", "host-udp", "host-packet"};
// Broadcasts of bytes, or to several ranks a node.
constexpr const char* kUnderMpis[] = {"multicast", "hocket:mpich:tree_mm:degree=2", "hocket:mpich:tree_mm:degree=8",
                                      "mpi:mpich"};

Collective collective_of(const BenchOptions& options) { return *schedule::collective_from_name(options.collective); }

constexpr Collective kMeasured[] = {Collective::kBarrier,   Collective::kBroadcast, Collective::kReduce,
                                    Collective::kAllreduce, Collective::kAllgather, Collective::kAlltoall};

std::string measured(const char* between) {
  std::string names;
  for (const Collective one : kMeasured) names.append(names.empty() ? "" : between).append(schedule::name(one));
  return names;
}

Status settle_name(std::string& collective) {
  const Result<Collective> named = read_collective(collective);
  if (!named.is_ok()) return {named.status().code(), named.status().message()};
  if (std::find(std::begin(kMeasured), std::end(kMeasured), named.value()) == std::end(kMeasured))
    return {Code::kInvalidArgument, "`" + collective + "` is not measured here; there are " + measured(", ") +
                                        ". Of any, `hocket bench` under `hocket lab mpirun` compares MPIs with hocket"};
  collective = schedule::name(named.value());
  return Status::ok();
}

// Before nodes are made for it.
std::string why_engines_cannot(const std::string& text, const Variant& variant, const std::vector<int>& nodes) {
  for (const int count : nodes) {
    const auto size = static_cast<uint32_t>(count);
    if (variant.only_size != 0 && variant.only_size != size) continue;
    for (uint32_t rank = 0; rank < size; ++rank) {
      const Status status = engines::nic::can_hold(variant.plan_of(size, rank));
      if (status.is_ok()) continue;
      return text + " on " + std::to_string(size) + " nodes: " + status.message() +
             "; fewer --nodes, or another tree, such as " + variant.path + ":tree_mm/8";
    }
  }
  return "";
}

// Why it can't be measured so; "": it can.
std::string problem_of(const std::string& text, const Variant& variant, const BenchOptions& options) {
  const bool is_impaired = !options.impairment.empty();
  if (!options.record.empty() && variant.engines == lab_bench::Engines::kNone && !variant.has_hocket)
    return text + " has no NIC engines, whose packets --record writes down; nic, agent and hocket:NAME have";
  if (options.ranks_per_node > 1 && variant.mpi.empty())
    return text + " has one rank a node; --ppn goes with multicast, hocket:NAME and mpi:NAME";
  if (!options.bytes.empty() && variant.mpi.empty())
    return text + " carries operands; --bytes goes with multicast, hocket:NAME and mpi:NAME";
  if (variant.mpi.empty() && variant.engines == lab_bench::Engines::kNone &&
      !lab_bench::only_delays(options.impairment))
    return text +
           " makes no sure of its messages, and would wait for ever under --impair, but for a delay; --variants "
           "nic,nic-direct,agent do";
  if (is_impaired && variant.path == "host-packet")
    return text + " sends frames without IP, which --impair doesn't hit; host-udp";
  const auto& switches = options.switches;
  if (!is_impaired && variant.engines == lab_bench::Engines::kDriver &&
      std::find(switches.begin(), switches.end(), "redirect") != switches.end())
    return text +
           " would not be met by packets: the redirect switch hands them over behind the driver; --switch bridge";
  const int size = static_cast<int>(variant.only_size);
  if (size != 0 && std::find(options.nodes.begin(), options.nodes.end(), size) == options.nodes.end())
    return text + " is a tree of " + std::to_string(size) + " ranks; --nodes " + std::to_string(size);
  if (!variant.mpi.empty()) {
    const Result<LabMpi> mpi = find_lab_mpi(variant.mpi, {});
    return mpi.is_ok() ? "" : text + ": " + mpi.status().message();
  }
  return variant.engines == lab_bench::Engines::kNone || options.is_barrier()
             ? ""
             : why_engines_cannot(text, variant, options.nodes);
}

// The same, of what is asked of calls with blocks.
std::string problem_of_exchange(const BenchOptions& options, bool has_operands) {
  constexpr uint64_t kMostBytes = uint64_t{4} << 30;
  const auto most = static_cast<uint64_t>(*std::max_element(options.nodes.begin(), options.nodes.end()));
  const uint64_t ranks = most * static_cast<uint64_t>(options.ranks_per_node);
  if (has_operands) return "--type and --elements are of operands, and blocks have --bytes";
  if (options.timing == "overlap" || options.fetches_later)
    return "non-blocking calls of this collective stay the MPI's: --timing latency or host-time, without --fetch-later";
  for (const uint64_t bytes : options.bytes)
    if (bytes > kMostBytes / (2 * ranks * ranks))
      return "blocks of " + std::to_string(bytes) + " bytes of " + std::to_string(ranks) +
             " ranks for each other take more than 4 GiB; fewer --bytes or --nodes";
  return "";
}

// A recording is of one run.
std::string problem_of_recording(const BenchOptions& options) {
  std::string several;
  const auto look_at = [&](const char* option, size_t count) {
    if (count != 1) several += (several.empty() ? "" : ", ") + std::string(option);
  };
  look_at("--nodes", options.nodes.size());
  look_at("--switch", options.switches.size());
  look_at("--variants", options.variants.size());
  look_at("--slices", options.slices);
  if (!options.is_barrier() && options.bytes.empty()) {
    look_at("--type", options.types.size());
    look_at("--elements", options.elements.size());
  } else if (!options.is_barrier()) {
    look_at("--bytes", options.bytes.size());
  }
  look_at("--skew-us", options.skews_us.size());
  return several.empty() ? "" : "--record is of one run: one value is wanted of " + several;
}

// "": the options go together.
std::string problem_of(const BenchOptions& options) {
  if (!options.record.empty())
    if (std::string problem = problem_of_recording(options); !problem.empty()) return problem;
  const auto is_bad = [](double value) { return !std::isfinite(value); };
  const BenchOptions usual;
  const int most = *std::max_element(options.nodes.begin(), options.nodes.end());
  if (most * options.ranks_per_node > static_cast<int>(lab_bench::kMostRanks))
    return std::to_string(most) + " nodes of " + std::to_string(options.ranks_per_node) + " ranks are more than " +
           std::to_string(lab_bench::kMostRanks) + " ranks; fewer --nodes, or a smaller --ppn";
  if (options.is_barrier() && (options.types != usual.types || options.elements != usual.elements))
    return "--type and --elements are of collectives with data, and a barrier has none";
  const bool has_operands = options.types != usual.types || options.elements != usual.elements;
  if (lab_bench::has_blocks(collective_of(options))) {
    if (std::string problem = problem_of_exchange(options, has_operands); !problem.empty()) return problem;
  } else if (!options.bytes.empty() && (collective_of(options) != Collective::kBroadcast || has_operands ||
                                        timing_of(options) != Timing::kLatency))
    return "--bytes is of blocks and of broadcasts whose latency is measured, instead of --type and --elements";
  if (options.operation != usual.operation && !schedule::combines(collective_of(options)))
    return "--operation is of reductions";
  const auto operation = lab_bench::operation_named(options.operation);
  for (const std::string& type : options.types)
    if (!operation || !lab_bench::can_combine(*operation, lab_bench::type_named(type)))
      return "--operation " + options.operation + " is of integers: --type int64, not " + type;
  if (is_bad(options.compute_us)) return "--compute-us: a number is needed";
  if (std::any_of(options.skews_us.begin(), options.skews_us.end(), is_bad)) return "--skew-us: numbers are needed";
  const bool is_back_to_back = options.timing.empty() || options.timing == "back-to-back";
  if (options.is_barrier() && !is_back_to_back && options.timing != "host-time")
    return "--timing of barriers: back-to-back, host-time";
  if (!options.is_barrier() && options.timing == "back-to-back")
    return "--timing of this collective: latency, host-time, overlap";
  if (options.settle_us >= 0 && timing_of(options) != Timing::kLatency) return "--settle-us goes with --timing latency";
  if (options.fetches_later && (options.is_barrier() || options.timing != "host-time"))
    return "--fetch-later goes with --timing host-time, of collectives with results";
  const bool has_skew = options.skews_us.size() > 1 || options.skews_us[0] != 0;
  if (has_skew && options.timing != "host-time") return "--skew-us goes with --timing host-time";
  if (timing_of(options) == Timing::kOverlap && options.compute_us <= 0)
    return "--timing overlap: how long ranks compute is said by --compute-us";
  if (timing_of(options) == Timing::kOverlap && options.rounds_of_slice() < lab_bench::kOverlapParts)
    return "--timing overlap takes " + std::to_string(lab_bench::kOverlapParts) + " rounds a slice at least";
  if (timing_of(options) != Timing::kBackToBack && timing_of(options) != Timing::kOverlap && options.compute_us != 0)
    return "--compute-us is for barriers back-to-back and --timing overlap";
  if (options.compute != "burn" && timing_of(options) != Timing::kOverlap)
    return "--compute goes with --timing overlap";
  return "";
}

std::vector<std::string> usual_variants(const BenchOptions& options) {
  if (options.is_barrier()) return {std::begin(kBarriers), std::end(kBarriers)};
  if (lab_bench::has_blocks(collective_of(options)))
    return lab_bench::usual_exchanges(collective_of(options), options.nodes, options.ranks_per_node);
  const bool is_broadcast = collective_of(options) == Collective::kBroadcast;
  if (is_broadcast && (!options.bytes.empty() || options.ranks_per_node > 1))
    return {std::begin(kUnderMpis), std::end(kUnderMpis)};
  return {std::begin(kWithData), std::end(kWithData)};
}

// Of trees that are given, as they are of one number of ranks only.
void report_skipped(const BenchOptions& options, const std::vector<Variant>& variants) {
  for (const Variant& variant : variants) {
    if (variant.only_size == 0) continue;
    for (const int nodes : options.nodes)
      if (static_cast<uint32_t>(nodes) != variant.only_size)
        std::fprintf(stderr, "hocket: %s is a tree of %u ranks: it is not measured on %d nodes\n", variant.name.c_str(),
                     variant.only_size, nodes);
  }
}

int run_bench(BenchOptions options) {
  if (lab_bench::has_blocks(collective_of(options)) && options.bytes.empty()) options.bytes = {8, 1024, 16384};
  if (const std::string problem = problem_of(options); !problem.empty()) return fail(kUsage, problem);
  if (const Status status = lab::need_root(); !status.is_ok()) return fail(kFailure, status.message());
  const bool are_named = !options.variants.empty();
  std::vector<std::string> texts = options.variants;
  if (!are_named) texts = usual_variants(options);
  std::vector<Variant> variants;
  for (const std::string& text : texts) {
    Result<Variant> variant = lab_bench::parse_variant(text, collective_of(options), options.ranks_per_node);
    if (!variant.is_ok()) return fail(kUsage, variant.status().message());
    const std::string problem = problem_of(text, variant.value(), options);
    if (!problem.empty() && are_named) return fail(kUsage, problem);
    if (problem.empty()) variants.push_back(variant.take());
  }
  if (variants.empty()) return fail(kUsage, "none of the usual ways can be measured so; name some by --variants");
  // Before anything takes time; what is there stays until there is something else.
  if (!options.json.empty() && !std::ofstream(options.json, std::ios::app).good())
    return fail(kUsage, "can't write to `" + options.json + "`, as --json asks: " + std::strerror(errno));
  if (!options.record.empty() && !std::ofstream(options.record, std::ios::app).good())
    return fail(kUsage, "can't write to `" + options.record + "`, as --record asks: " + std::strerror(errno));
  report_skipped(options, variants);
  ordered_json rows = ordered_json::array();
  const int code = run_cells(options, variants, rows);
  if (options.json.empty() || is_plain_file(options.json)) return code;
  return save(options.json, rows) ? code : fail(kFailure, "can't write to `" + options.json + "`");
}

void add_what(CLI::App& sub, BenchOptions& options) {
  const auto settle = [](std::string& word) { return std::string(settle_name(word).message()); };
  sub.add_option("collective", options.collective, "MPI's names are taken, too")
      ->required()
      ->transform(CLI::Validator(settle, "{" + measured(",") + "}", ""));
  sub.add_option("--nodes", options.nodes, "how many (default: 2,4,8,16)")
      ->delimiter(',')
      ->check(CLI::Range(2, lab::kMostNodes));
  sub.add_option("--ppn", options.ranks_per_node, "ranks a node, more than one under MPIs only (default: 1)")
      ->check(CLI::Range(1, static_cast<int>(lab_bench::kMostRanks)));
  sub.add_option("--switch", options.switches, "bridge, redirect (default: both)")
      ->delimiter(',')
      ->check(CLI::IsMember({"bridge", "redirect"}));
  sub.add_option("--variants", options.variants,
                 "ways, each with :ALGORITHM or without (default: nic with each, and others that can be)")
      ->delimiter(',');
  sub.add_option("--type", options.types, "int64, double (default: int64)")
      ->delimiter(',')
      ->check(CLI::IsMember({"int64", "double"}));
  const std::vector<std::string> operations = lab_bench::names_of_operations();
  sub.add_option("--operation", options.operation,
                 "of reductions: " + CLI::detail::join(operations, ", ") + " (default: sum)")
      ->check(CLI::IsMember(operations));
  sub.add_option("--elements", options.elements, "how many (default: 1)")
      ->delimiter(',')
      ->check(CLI::Range(1, int{NIC_MOST_WORDS}));
  sub.add_option("--bytes", options.bytes,
                 "of broadcasts by MPIs, hocket under one included: instead (2, 1K, 1M); of an allgather or alltoall: "
                 "of each block (default: 8, 1K, 16K)")
      ->delimiter(',')
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 30));
}

void add_how(CLI::App& sub, BenchOptions& options) {
  sub.add_option("--timing", options.timing,
                 "latency (default), host-time, overlap; of barriers back-to-back (default), host-time")
      ->check(CLI::IsMember({"back-to-back", "latency", "host-time", "overlap"}));
  sub.add_option("--skew-us", options.skews_us, "host-time: ranks sleep up to so long before each call (default: 0)")
      ->delimiter(',')
      ->check(number_between(0, 1e6));
  sub.add_option("--settle-us", options.settle_us,
                 "latency: the last rank begins so long after the others (default: 25 for each node)")
      ->check(number_between(0, 1e6));
  sub.add_flag("--fetch-later", options.fetches_later, "host-time: results are waited for when the clock has stopped");
  sub.add_option("--rounds", options.rounds, "calls that are measured (default: 10000)")
      ->check(CLI::Range(1, 100'000'000));
  sub.add_option("--slices", options.slices, "in so many parts, all variants in turn (default: 5)")
      ->check(CLI::Range(1, 1000));
  sub.add_option("--impair", options.impairment, lab_bench::words_of_impairments() + ", several by commas");
  sub.add_option("--warm-up", options.warm_ups, "calls before (default: 100)");
  sub.add_option("--compute-us", options.compute_us,
                 "barriers: ranks compute up to so long before each (default: 0); overlap: so long")
      ->check(number_between(0, 1e6));
  sub.add_option("--compute", options.compute,
                 "overlap: burn (a core that others want, too) or sleep (as if each rank had one; default: burn)")
      ->check(CLI::IsMember({"burn", "sleep"}));
  sub.add_flag("--check", options.is_checked,
               "whether each barrier holds; the times are a little longer. Results of others are always looked at");
  sub.add_option("--cores", options.cores, "bind the ranks to the machine's first so many cores (default: to all)")
      ->check(CLI::Range(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  sub.add_option("--wait", options.wait, "spin (looks and yields) or sleep (default: spin)")
      ->check(CLI::IsMember({"spin", "sleep"}));
  sub.add_option("--seed", options.seed, "of the order of nodes, of what is computed and slept (default: 1)");
  sub.add_option("--json", options.json, "write an array of rows to this file")->type_name("FILE");
  sub.add_option("--record", options.record,
                 "write a line of JSON to this file for each packet that engines send: of one run")
      ->type_name("FILE");
}

}  // namespace

void add_lab_bench(CLI::App& lab_command, Invocation& invocation) {
  auto* sub = lab_command.add_subcommand("bench", "Compare the NIC engine's collectives with the host's");
  sub->footer(kLabBenchFooter);
  auto options = std::make_shared<BenchOptions>();
  add_what(*sub, *options);
  add_how(*sub, *options);
  sub->callback([=, &invocation] {
    if (!options->record.empty() && sub->count("--slices") == 0) options->slices = 1;
    options->command = "hocket";
    for (const std::string& word : invocation.own_arguments) options->command += " " + lab::quoted(word);
    invocation.run = [=] { return run_bench(*options); };
  });
}

}  // namespace hocket::command
