// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "schedule/describe.h"
#include "schedule/dumps/dump.h"
#include "schedule/verifier/trace.h"

namespace hocket::schedule {
namespace {

// Every step gets one operation that stands for its end, labelled by its number, and further ones that the end waits
// for ("in") or that wait for it ("out").
class GoalWriter {
 public:
  GoalWriter(std::span<const Plan> plans, const GoalOptions& options) : plans_(plans), options_(options) {
    for (const Plan& plan : plans) {
      before_.emplace_back(plan.steps.size());
      after_.emplace_back(plan.steps.size());
    }
  }

  void add(const Link& link, size_t tag) {
    if (link.from.rank == link.to.rank) return;  // the order of stages says it
    if (link.kind == LinkKind::kMulticast) return;
    // A rank's later waits imply what its earlier ones did; one message tells it.
    if (link.kind == LinkKind::kSignal && !told_.insert({{link.from.rank, link.from.step}, link.to.rank}).second)
      return;
    const bool data = link.kind != LinkKind::kSignal && link.kind != LinkKind::kReady;
    const uint64_t bytes = data ? std::max<uint64_t>(1, link.elements * options_.element_bytes) : 1;
    const std::string size = std::to_string(bytes).append("b ");
    const std::string with_tag = " tag " + std::to_string(tag);
    after_[link.from.rank][link.from.step].push_back("send " + size + "to " + std::to_string(link.to.rank) + with_tag);
    before_[link.to.rank][link.to.step].push_back("recv " + size + "from " + std::to_string(link.from.rank) + with_tag);
  }

  std::string rank(uint32_t rank) {
    std::string text = "rank " + std::to_string(rank) + " {\n";
    std::vector<std::string> last_stage;
    std::vector<std::string> this_stage;
    for (uint32_t i = 0; i < plans_[rank].steps.size(); ++i) {
      write_step(text, rank, i, last_stage);
      this_stage.push_back(label_of(i));
      if (!plans_[rank].steps[i].ends_stage) continue;
      last_stage = join(text, std::move(this_stage), i);
      this_stage.clear();
    }
    return text.append("}\n");
  }

 private:
  using Operations = std::vector<std::vector<std::vector<std::string>>>;  // [rank][step]

  static std::string label_of(uint32_t step) { return std::string("l").append(std::to_string(step)); }
  static void require(std::string& text, const std::string& label, const std::vector<std::string>& others) {
    for (const std::string& other : others) text.append(label).append(" requires ").append(other).append("\n");
  }

  // Many steps to wait for become one, so that stages don't multiply.
  static std::vector<std::string> join(std::string& text, std::vector<std::string> labels, uint32_t step) {
    if (labels.size() < 2) return labels;
    const std::string label = label_of(step).append("_stage");
    text.append(label).append(": calc 0\n");
    require(text, label, labels);
    return {label};
  }

  uint64_t computation(uint32_t rank, uint32_t i) const {
    const Step& step = plans_[rank].steps[i];
    const double bytes = static_cast<double>(resolve(step.destination, options_.count).length) * options_.element_bytes;
    switch (step.kind) {
      case StepKind::kReceiveCombine:
      case StepKind::kCombineFrom:
      case StepKind::kCombine:
        return static_cast<uint64_t>(bytes * options_.combine_ns_per_byte);
      case StepKind::kCopy:
        return static_cast<uint64_t>(bytes * options_.copy_ns_per_byte);
      default:
        return 0;
    }
  }

  void write_step(std::string& text, uint32_t rank, uint32_t i, const std::vector<std::string>& last_stage) const {
    const Step& step = plans_[rank].steps[i];
    const std::string label = label_of(i);
    const std::vector<std::string>& in = before_[rank][i];
    const std::vector<std::string>& out = after_[rank][i];
    text.append("// ").append(describe(step)).append("\n");
    if (step.kind == StepKind::kSend && out.size() == 1) {
      text.append(label).append(": ").append(out[0]).append("\n");
      return require(text, label, last_stage);
    }
    std::vector<std::string> waits;
    for (size_t k = 0; k < in.size(); ++k) {
      waits.push_back(label + "_in" + std::to_string(k));
      text.append(waits.back()).append(": ").append(in[k]).append("\n");
      require(text, waits.back(), last_stage);
    }
    text.append(label).append(": calc ").append(std::to_string(computation(rank, i))).append("\n");
    require(text, label, waits.empty() ? last_stage : waits);
    for (size_t k = 0; k < out.size(); ++k) {
      const std::string sends = label + "_out" + std::to_string(k);
      text.append(sends).append(": ").append(out[k]).append("\n");
      require(text, sends, {label});
    }
  }

  std::span<const Plan> plans_;
  const GoalOptions& options_;
  Operations before_;
  Operations after_;
  std::set<std::pair<std::pair<uint32_t, uint32_t>, uint32_t>> told_;
};

}  // namespace

Result<std::string> dump_goal(std::span<const Plan> plans, const GoalOptions& options) {
  const Trace traced = trace(plans, options.count);
  if (!traced.report.is_correct()) return Status(Code::kInvalidArgument, traced.report.text());
  GoalWriter writer(plans, options);
  for (size_t i = 0; i < traced.links.size(); ++i) writer.add(traced.links[i], i);
  std::string text = "// " + std::string(name(plans[0].collective)) + " of " + std::to_string(options.count) +
                     " elements of " + std::to_string(options.element_bytes) + " bytes.\n";
  text.append("// Publications, puts and additions appear as messages to ranks that wait for them (signals: 1b).\n");
  if (traced.report.multicasts != 0)
    text.append("// Multicasts, which the format has not, are left out: all miss them.\n");
  text.append("num_ranks ").append(std::to_string(plans.size())).append("\n");
  for (uint32_t rank = 0; rank < plans.size(); ++rank) text.append("\n").append(writer.rank(rank));
  return text;
}

}  // namespace hocket::schedule
