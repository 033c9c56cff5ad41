// SPDX-License-Identifier: BSD-3-Clause
#include "command/info/coverage.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "command/report.h"
#include "words/say.h"

namespace hocket::command {
namespace {

enum class Form { kBlocking, kNonblocking, kPersistent, kNeighbourhood, kLocal };

struct FormText {
  Form form;
  const char* name;
  const char* conditions;
};
constexpr std::array kForms = {
    FormText{
        Form::kBlocking, "blocking",
        "communicators of ranks of one MPI_COMM_WORLD, from call number HOCKET_SETUP_CALLS in which all ranks wait "
        "for each other on, or after some tens or hundreds of those that wait for nobody; what a rule of the table "
        "leaves to "
        "the MPI is the MPI's"},
    FormText{
        Form::kNonblocking, "non-blocking",
        "on one node, on a communicator that a blocking or persistent collective has set up, or that has taken over "
        "after some tens or hundreds of calls, operations that hocket has itself; between nodes where NIC engines end "
        "them by "
        "themselves: one rank a node, up to 512 bytes"},
    FormText{Form::kPersistent, "persistent",
             "on one node, up to 60 at a time of a communicator, operations that hocket has itself, and the "
             "initialisation sets the communicator up; between nodes as non-blocking ones, up to 12 at a time, on a "
             "communicator that a blocking one has set up; of a single rank any number and any operation, but for Open "
             "MPI's own, which are faster where nothing is copied, or from gaps "
             "to gaps"},
    FormText{
        Form::kNeighbourhood, "neighbourhood",
        "on one node, on a communicator with a topology, set up as for others; non-blocking ones on a distributed "
        "graph after another collective in which all ranks wait; persistent ones up to 60 at a time; of a single rank "
        "from the first one on, and any number, but for Open MPI's own persistent ones without neighbours, which are "
        "faster"},
    FormText{Form::kLocal, "local", "types and operations that hocket has itself, in the host's memory"},
};

constexpr const char* kElsewhere =
    "Everything is the MPI's on intercommunicators (what MPI_Intercomm_merge makes of one may be hocket's), on "
    "communicators with ranks of another job (spawned or connected: hocket may not be loaded there; where it is, and "
    "they share memory, HOCKET_OTHER_JOBS=hocket), in programs that begin by MPI_Session_init before they have made a "
    "communicator of all processes, and with HOCKET_DISABLE=1.";

struct Covered {
  std::string function;
  Form form;
  bool on_one_node;
  const char* between_nodes;  // who
};

constexpr const char* kHocket = "hocket";
constexpr const char* kEngines = "NIC engines";
constexpr const char* kMpi = "the MPI";

bool is_by_engines(std::string_view function) {
  constexpr std::array<std::string_view, 8> kAll = {"Ibarrier",     "Ibcast",     "Ireduce",     "Iallreduce",
                                                    "Barrier_init", "Bcast_init", "Reduce_init", "Allreduce_init"};
  return std::find(kAll.begin(), kAll.end(), function) != kAll.end();
}

// Of one that shims catch: the form shows in its name.
Covered covered(std::string_view function) {
  const std::string name = "MPI_" + std::string(function);
  if (function.find("eighbor_") != std::string_view::npos) return {name, Form::kNeighbourhood, true, kMpi};
  if (function == "Reduce_local") return {name, Form::kLocal, true, kHocket};
  if (function.size() > 5 && function.substr(function.size() - 5) == "_init")
    return {name, Form::kPersistent, true, is_by_engines(function) ? kEngines : kMpi};
  if (function[0] == 'I') return {name, Form::kNonblocking, true, is_by_engines(function) ? kEngines : kMpi};
  return {name, Form::kBlocking, true, kHocket};
}

std::vector<Covered> all_covered() {
  std::vector<Covered> all;
  constexpr std::string_view kCaught[] = {
#define HOCKET_MPI_COLLECTIVE(constant, function) #function,
#define HOCKET_MPI_BARRIER(constant, function) #function,
#define HOCKET_MPI_PERSISTENT(constant, function) #function,
#define HOCKET_MPI_NEIGHBOR(constant, function) #function,
#include "base/collectives.def"
  };
  for (const std::string_view function : kCaught) all.push_back(covered(function));
  return all;
}

void print_wrapped(const char* indent, std::string_view text) {
  constexpr size_t kColumns = 96;
  while (text.size() > kColumns) {
    const size_t end = text.rfind(' ', kColumns);
    std::printf("%s%s\n", indent, std::string(text.substr(0, end)).c_str());
    text.remove_prefix(end + 1);
  }
  std::printf("%s%s\n", indent, std::string(text).c_str());
}

void print_coverage(const std::vector<Covered>& all) {
  const bool colour = wants_colour(1);
  std::printf("The collectives of MPI 4.1 and 5.0 under hocket, with their _c forms: who carries them out\n");
  for (const FormText& form : kForms) {
    std::printf("\n%s%s%s\n", colour ? "\033[1m" : "", form.name, colour ? "\033[0m" : "");
    print_wrapped("  ", form.conditions);
    std::printf("  %-34s %-14s %s\n", "", "on one node", "between nodes");
    for (const Covered& one : all)
      if (one.form == form.form)
        std::printf("  %-34s %-14s %s\n", one.function.c_str(), one.on_one_node ? kHocket : kMpi, one.between_nodes);
  }
  std::printf("\n");
  print_wrapped("", kElsewhere);
}

void print_coverage_json(const std::vector<Covered>& all) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Covered& one : all) {
    const auto form =
        std::find_if(kForms.begin(), kForms.end(), [&](const FormText& text) { return text.form == one.form; });
    list.push_back({{"function", one.function},
                    {"form", form->name},
                    {"on_one_node", one.on_one_node ? kHocket : kMpi},
                    {"between_nodes", one.between_nodes},
                    {"conditions", form->conditions}});
  }
  std::printf("%s\n", list.dump(2).c_str());
}

}  // namespace

int show_coverage(bool as_json) {
  const std::vector<Covered> all = all_covered();
  as_json ? print_coverage_json(all) : print_coverage(all);
  return kSuccess;
}

}  // namespace hocket::command
