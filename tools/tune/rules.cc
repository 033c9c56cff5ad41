// SPDX-License-Identifier: BSD-3-Clause
#include "tune/rules.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <optional>
#include <set>

namespace hocket::command {
namespace {

using selection::Rule;

using BySize = std::map<uint64_t, Times>;

// Neighbouring sizes with one winner.
struct Stretch {
  std::string winner;
  std::vector<uint64_t> sizes;
};

double best_of(const Times& times) {
  double best = times.begin()->second;
  for (const auto& [name, us] : times) best = std::min(best, us);
  return best;
}

// A way to serve all sizes so far: the fewer stretches the better, then the less time is lost.
struct Way {
  size_t stretches = 0;
  double loss = 0;  // sum of the logarithms of time / best time
  std::string previous;

  bool operator<(const Way& other) const {
    return stretches != other.stretches ? stretches < other.stretches : loss < other.loss;
  }
};

// Ways that end with the given winner, one map a size.
std::vector<std::map<std::string, Way>> ways_through(const BySize& sizes, double noise) {
  std::vector<std::map<std::string, Way>> all;
  for (const auto& [bytes, times] : sizes) {
    std::map<std::string, Way> here;
    const double best = best_of(times);
    for (const auto& [name, us] : times) {
      if (us > best * noise) continue;
      const double loss = std::log(us / best);
      if (all.empty()) {
        here[name] = {1, loss, ""};
        continue;
      }
      std::optional<Way> found;
      for (const auto& [previous, way] : all.back()) {
        const Way longer{way.stretches + (previous == name ? 0 : 1), way.loss + loss, previous};
        if (!found || longer < *found) found = longer;
      }
      here[name] = *found;
    }
    all.push_back(std::move(here));
  }
  return all;
}

std::vector<Stretch> stretches_of(const BySize& sizes, double noise) {
  const std::vector<std::map<std::string, Way>> ways = ways_through(sizes, noise);
  const auto by_way = [](const auto& a, const auto& b) { return a.second < b.second; };
  std::string winner = std::min_element(ways.back().begin(), ways.back().end(), by_way)->first;
  std::vector<Stretch> stretches;
  auto size = sizes.rbegin();
  for (size_t i = ways.size(); i-- > 0; ++size) {
    if (stretches.empty() || stretches.back().winner != winner) stretches.push_back({winner, {}});
    stretches.back().sizes.push_back(size->first);
    winner = ways[i].at(winner).previous;
  }
  for (Stretch& stretch : stretches) std::reverse(stretch.sizes.begin(), stretch.sizes.end());
  std::reverse(stretches.begin(), stretches.end());
  return stretches;
}

// The first size in (a, b] that the later of two winners should serve: where lines through their times cross, both axes
// being logarithmic, as a power of two. Where times are missing, the smaller size's winner serves what lies between.
uint64_t border(const BySize& sizes, uint64_t a, uint64_t b, const std::string& before, const std::string& after) {
  const Times& at_a = sizes.at(a);
  const Times& at_b = sizes.at(b);
  if (a == 0 || !at_a.contains(after) || !at_b.contains(before)) return b;
  const double lead_a = std::log(at_a.at(after) / at_a.at(before));  // positive: `before` is ahead
  const double lead_b = std::log(at_b.at(before) / at_b.at(after));  // positive: `after` is ahead
  if (lead_a <= 0 || lead_b <= 0) return b;
  const double share = lead_a / (lead_a + lead_b);
  const double crossing = std::log2(a) + share * (std::log2(b) - std::log2(a));
  const uint64_t rounded = uint64_t{1} << static_cast<unsigned>(std::lround(crossing));
  return std::min(std::max(rounded, std::bit_ceil(a + 1)), b);
}

// `where`: "8 ranks".
Status fill_measurement(Rule& rule, const BySize& sizes, const Stretch& stretch, const std::string& where) {
  const uint64_t bytes = stretch.sizes[stretch.sizes.size() / 2];
  const Times& times = sizes.at(bytes);
  Result<selection::Spec> spec = selection::parse_spec(rule.collective, stretch.winner);
  if (!spec.is_ok()) return spec.take_status();
  rule.spec = spec.value();
  rule.median_us = times.at(stretch.winner);
  for (const auto& [name, us] : times) {
    if (name == stretch.winner || (!rule.next.empty() && us >= rule.next_us)) continue;
    rule.next = name;
    rule.next_us = us;
  }
  rule.note = "at " + (bytes == 0 ? "" : size_to_text(bytes) + ", ") + where;
  return Status::ok();
}

struct Group {
  schedule::Collective collective;
  bool oversubscribed;
  bool has_nodes;

  auto operator<=>(const Group&) const = default;
};

// `conditions`: a rule with all of them but bytes.
Status add_rules(const Rule& conditions, const std::string& where, const BySize& sizes, double noise,
                 std::vector<Rule>& rules) {
  const std::vector<Stretch> stretches = stretches_of(sizes, noise);
  uint64_t first = 0;
  for (size_t i = 0; i < stretches.size(); ++i) {
    Rule rule = conditions;
    rule.bytes.first = first;
    if (i + 1 < stretches.size()) {
      first = border(sizes, stretches[i].sizes.back(), stretches[i + 1].sizes.front(), stretches[i].winner,
                     stretches[i + 1].winner);
      rule.bytes.last = first - 1;
    }
    HOCKET_TRY(fill_measurement(rule, sizes, stretches[i], where));
    rules.push_back(std::move(rule));
  }
  return Status::ok();
}

using Spans = std::map<uint32_t, selection::Interval>;

// Each measured number stands for those nearest to it, from `first` on; the largest as if there were another, so many
// times as large.
template <typename Measured>
Spans spans_of(const std::map<uint32_t, Measured>& numbers, uint64_t first, uint32_t beyond) {
  Spans spans;
  for (auto here = numbers.begin(); here != numbers.end(); ++here) {
    const auto next = std::next(here);
    const uint64_t neighbour = next == numbers.end() ? uint64_t{beyond} * here->first : next->first;
    const uint64_t last = std::max<uint64_t>((here->first + neighbour + 1) / 2 - 1, here->first);
    spans[here->first] = {first, last};
    first = last + 1;
  }
  return spans;
}

// Of cells that all have a time.
Result<std::vector<Rule>> rules_of(std::span<const MeasuredCell> cells, double noise) {
  std::map<Group, std::map<uint32_t, std::map<uint32_t, BySize>>> groups;
  for (const MeasuredCell& cell : cells) {
    const Group group{cell.collective, cell.oversubscribed, cell.nodes > 1};
    groups[group][cell.nodes][group.has_nodes ? cell.ranks_a_node : cell.ranks][cell.bytes] = cell.us;
  }
  std::vector<Rule> rules;
  for (const auto& [group, by_nodes] : groups) {
    Rule rule;
    rule.collective = group.collective;
    rule.when = group.oversubscribed ? selection::When::kOversubscribed : selection::When::kNotOversubscribed;
    const Spans nodes = spans_of(by_nodes, group.has_nodes ? 2 : 1, 2);
    for (const auto& [count, by_ranks] : by_nodes) {
      if (group.has_nodes) rule.nodes = nodes.at(count);
      // Treats the largest measured number as if the next one were twice as large, or seven times where ranks of one
      // node are oversubscribed.
      const Spans ranks = spans_of(by_ranks, 0, group.oversubscribed && !group.has_nodes ? 7 : 2);
      for (const auto& [number, sizes] : by_ranks) {
        (group.has_nodes ? rule.ranks_a_node : rule.ranks) = ranks.at(number);
        const std::string where = (group.has_nodes ? std::to_string(count) + "x" : "") + std::to_string(number);
        Status status = add_rules(rule, where + " ranks", sizes, noise, rules);
        if (!status.is_ok()) return status;
      }
    }
  }
  return rules;
}

constexpr double kPassingThrough_us = 0.015;
const std::string kMpi(selection::kMpisOwn);

// The MPI's time and that of the best algorithm. What does not clearly win is level.
Times mpi_against_best(const Times& times, double noise) {
  Times others = times;
  others.erase(kMpi);
  if (others.empty() || !times.contains(kMpi)) return others;
  const auto best =
      std::min_element(others.begin(), others.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  constexpr double kLevel = 1.001;
  const double us = times.at(kMpi);
  const bool wins = us * noise + kPassingThrough_us < best->second;
  return {*best, {kMpi, wins ? us : std::max(us, best->second * kLevel)}};
}

// With what `change` leaves of their times, where it leaves any.
template <typename Change>
std::vector<MeasuredCell> changed(std::span<const MeasuredCell> cells, const Change& change) {
  std::vector<MeasuredCell> left;
  for (MeasuredCell cell : cells) {
    cell.us = change(cell.us);
    if (!cell.us.empty()) left.push_back(std::move(cell));
  }
  return left;
}

}  // namespace

Result<std::vector<Rule>> make_rules(std::span<const MeasuredCell> cells, double noise) {
  const auto without_mpi = [](Times times) {
    times.erase(kMpi);
    return times;
  };
  return rules_of(changed(cells, without_mpi), noise);
}

Result<std::vector<Rule>> make_rules_of_mpi(std::span<const MeasuredCell> cells, double noise,
                                            const std::string& wire) {
  const auto two_of = [&](const Times& times) { return mpi_against_best(times, noise); };
  Result<std::vector<Rule>> rules = rules_of(changed(cells, two_of), 1.0);
  if (!rules.is_ok()) return rules;
  std::erase_if(rules.value(), [](const Rule& rule) { return !rule.spec.is_mpis; });
  for (Rule& rule : rules.value()) rule.wire = wire;
  return rules;
}

std::string aligned_line(const Rule& rule) {
  // to_text() puts the columns in this order.
  std::string columns[5];
  std::string words = selection::to_text(rule);
  for (size_t begin = 0; begin < words.size();) {
    const size_t end = std::min(words.find(' ', begin), words.size());
    const std::string word = words.substr(begin, end - begin);
    const bool is_place = word.starts_with("ranks=") || word.starts_with("nodes=") || word.starts_with("ppn=") ||
                          word.starts_with("wire=");
    const int column = begin == 0                   ? 0
                       : is_place                   ? 1
                       : word.ends_with("crowded")  ? 2
                       : word.starts_with("bytes=") ? 3
                                                    : 4;
    columns[column] += (columns[column].empty() ? "" : " ") + word;
    begin = end + 1;
  }
  char line[256];
  std::snprintf(line, sizeof(line), "%-20s %-*s %-10s %-20s %-32s", columns[0].c_str(),
                columns[1].find("wire=") != std::string::npos ? 35
                : columns[1].starts_with("nodes=")            ? 22
                                                              : 13,
                columns[1].c_str(), columns[2].c_str(), columns[3].c_str(), columns[4].c_str());
  std::string text = line;
  if (rule.median_us > 0) text += " us=" + selection::us_to_text(rule.median_us);
  if (!rule.next.empty()) text += " next=" + rule.next + " next_us=" + selection::us_to_text(rule.next_us);
  if (!rule.note.empty()) text += "  # " + rule.note;
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

}  // namespace hocket::command
