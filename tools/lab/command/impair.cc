// SPDX-License-Identifier: BSD-3-Clause
// hocket lab loss, delay and the like of the table of impairments, cut, heal, reset: what happens to packets.
#include <CLI/CLI.hpp>
#include <optional>

#include "command/command.h"
#include "lab/command/parts.h"
#include "lab/lab.h"
#include "lab/packets/impairment.h"
#include "lab/words.h"

namespace hocket::command {
namespace {

using lab::ImpairmentKind;

constexpr const char* kLabImpairFooter = R"(
Examples:
  hocket lab loss all 1%            of all packets, each judged once, on its way to its receiver
  hocket lab loss n2 5% --seed 7    of those from n2 and of those to it
  hocket lab loss all 50% --only multicast   each receiver of a multicast misses it or not, whatever the others do
  hocket lab delay all 1ms --jitter 200us
  hocket lab cut n1                 n1 hears nobody and nobody hears it, until `hocket lab heal n1`
  hocket lab loss all 0             ends it; `hocket lab reset` ends everything of the kind
Which packets are hit depends on the seed and on their number on the link only, so a run can be repeated. Each of these
commands begins to number the packets of its links anew.)";

struct ImpairmentWords {
  std::string name;
  std::string first;         // the node, or the value where there is no second word
  std::string second;        // the value
  std::string more = "0";    // the further time
  std::string only = "any";  // --only
  std::optional<uint64_t> seed;
};

// The lab, with its lock held.
struct Opened {
  lab::Lab lab;
  lab::Lock lock;
};

Result<Opened> open_lab(const std::string& name) {
  HOCKET_TRY(lab::need_root());
  // Before the lock, which makes the folder of labs where there is none.
  Result<lab::Lab> found = lab::find(name);
  if (!found.is_ok()) return found.take_status();
  Result<lab::Lock> lock = lab::Lock::take();
  if (!lock.is_ok()) return lock.take_status();
  found = lab::find(found.value().name);  // as it is now that no other process changes it
  if (!found.is_ok()) return found.take_status();
  return Opened{found.take(), lock.take()};
}

int impose(const ImpairmentWords& words, ImpairmentKind kind) {
  lab::Impairment impairment;
  impairment.kind = kind;
  impairment.seed = words.seed;
  impairment.only_multicast = words.only == "multicast";
  const Result<uint64_t> value = lab::parse_value(kind, words.second.empty() ? words.first : words.second);
  if (!value.is_ok()) return fail(kUsage, value.status().message());
  impairment.value = value.value();
  const Result<uint64_t> more = lab::parse_duration_ns(words.more);
  if (!more.is_ok()) return fail(kUsage, more.status().message());
  const lab::FurtherTime* further = lab::further_time_of(kind);
  const bool is_detail = further != nullptr && further->role == lab::Role::kDetail;
  impairment.more_ns = is_detail && impairment.value == 0 ? 0 : more.value();
  const Result<Opened> opened = open_lab(words.name);
  if (!opened.is_ok()) return fail(kFailure, opened.status().message());
  const std::string node_word = words.second.empty() ? "all" : words.first;
  const Result<int> node = lab::parse_node(node_word, opened.value().lab.nodes);
  if (!node.is_ok()) return fail(kUsage, node.status().message());
  impairment.node = node.value();
  const Status status = lab::impose(opened.value().lab, impairment);
  return status.is_ok() ? kSuccess : fail(kFailure, status.message());
}

int cut_or_heal(const std::string& name, const std::string& node_word, bool is_cut) {
  const Result<Opened> opened = open_lab(name);
  if (!opened.is_ok()) return fail(kFailure, opened.status().message());
  const Result<int> node = lab::parse_node(node_word, opened.value().lab.nodes);
  if (!node.is_ok()) return fail(kUsage, node.status().message());
  lab::Impairment impairment;
  impairment.kind = ImpairmentKind::kCut;
  impairment.node = node.value();
  impairment.value = is_cut ? 1 : 0;
  const Status status = lab::impose(opened.value().lab, impairment);
  return status.is_ok() ? kSuccess : fail(kFailure, status.message());
}

int reset(const std::string& name) {
  const Result<Opened> opened = open_lab(name);
  if (!opened.is_ok()) return fail(kFailure, opened.status().message());
  const Status status = lab::reset_impairments(opened.value().lab);
  return status.is_ok() ? kSuccess : fail(kFailure, status.message());
}

// The subcommand of an impairment that has a value.
void add_verb(CLI::App& lab_command, Invocation& invocation, const lab::ImpairmentFacts& facts) {
  auto words = std::make_shared<ImpairmentWords>();
  auto* sub = lab_command.add_subcommand(facts.name, facts.help);
  sub->footer(kLabImpairFooter);
  add_lab_name(*sub, words->name);
  sub->add_option("node", words->first, "n0, n1, ... or all, which is meant where none is named")
      ->required()
      ->type_name("NODE");
  sub->add_option("value", words->second, "0 ends it")
      ->type_name(facts.measure == lab::Measure::kTime ? "TIME" : "PERCENT");
  sub->add_option("--seed", words->seed, "which packets are hit (default: as before, 1 at first)");
  if (const lab::FurtherTime* further = lab::further_time_of(facts.kind)) {
    words->more = further->preset;
    sub->add_option(further->option, words->more, further->help)->type_name("TIME");
  }
  if (facts.kind == ImpairmentKind::kLoss) {
    sub->add_option("--only", words->only, "any (default), or multicast: nothing else is lost, IGMP neither")
        ->check(CLI::IsMember({"any", "multicast"}));
  }
  sub->callback([=, &invocation, kind = facts.kind] { invocation.run = [=] { return impose(*words, kind); }; });
}

}  // namespace

void add_lab_impairments(CLI::App& lab_command, Invocation& invocation) {
  for (const lab::ImpairmentFacts& facts : lab::kImpairments) {
    if (facts.measure != lab::Measure::kSwitch) add_verb(lab_command, invocation, facts);
  }
  auto name = std::make_shared<std::string>();
  for (const bool is_cut : {true, false}) {
    auto node = std::make_shared<std::string>("all");
    auto* sub = lab_command.add_subcommand(
        is_cut ? "cut" : "heal", is_cut ? lab::facts_of(ImpairmentKind::kCut).help : "End what `cut` has done");
    sub->footer(kLabImpairFooter);
    add_lab_name(*sub, *name);
    auto* option = sub->add_option("node", *node, is_cut ? "n0, n1, ... or all" : "n0, n1, ... or all (default)");
    option->type_name("NODE")->required(is_cut);
    sub->callback([=, &invocation] { invocation.run = [=] { return cut_or_heal(*name, *node, is_cut); }; });
  }
  auto* sub = lab_command.add_subcommand("reset", "End all that happens to packets");
  add_lab_name(*sub, *name);
  sub->callback([=, &invocation] { invocation.run = [=] { return reset(*name); }; });
}

}  // namespace hocket::command
