// SPDX-License-Identifier: BSD-3-Clause
// Reading tuning tables.
#include "selection/table.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "schedule/collective_names.h"
#include "selection/cost_model.h"
#include "selection/shipped_table.h"
#include "selection/text.h"

namespace hocket::selection {
namespace {

constexpr std::string_view kMagic = "hocket-table";
constexpr std::string_view kVersion = "1";
constexpr std::string_view kModel = "model";
// A table of hundreds of thousands of lines is not one; and every call's choice reads it from the top.
constexpr size_t kMaxTableBytes = 1 << 20;

Status no_table(std::string message) { return Status(Code::kInvalidArgument, std::move(message)); }

// Cuts the next word off `text`; empty when there is none.
std::string_view next_word(std::string_view& text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  size_t begin = 0;
  while (begin < text.size() && is_blank(text[begin])) ++begin;
  size_t end = begin;
  while (end < text.size() && !is_blank(text[end])) ++end;
  const std::string_view word = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return word;
}

// `text` after `prefix`, if it begins so.
std::optional<std::string_view> after(std::string_view text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix) return std::nullopt;
  return text.substr(prefix.size());
}

Result<Interval> parse_interval(std::string_view text) {
  Interval interval;
  const size_t dots = text.find("..");
  const std::string_view first = text.substr(0, dots);
  const std::string_view last = dots == std::string_view::npos ? first : text.substr(dots + 2);
  if (dots == std::string_view::npos || !first.empty()) {
    Result<uint64_t> value = parse_size(first);
    if (!value.is_ok()) return value.take_status();
    interval.first = value.value();
  }
  if (dots == std::string_view::npos || !last.empty()) {
    Result<uint64_t> value = parse_size(last);
    if (!value.is_ok()) return value.take_status();
    interval.last = value.value();
  }
  if (interval.first > interval.last) return no_table("the range " + std::string(text) + " is empty");
  return interval;
}

// From 0 on.
std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value < 0)
    return std::nullopt;
  return value;
}

}  // namespace

bool is_wire_name(std::string_view text) {
  const auto may_stand = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), may_stand);
}

bool names_wire(std::string_view asked, std::string_view wire) {
  if (asked.empty() || asked == wire) return true;
  return wire.size() > asked.size() && wire.substr(0, asked.size()) == asked && wire[asked.size()] == '-';
}

namespace {

class LineParser {
 public:
  // `words`: the line without its comment.
  Status parse(std::string_view words, Rule& rule) {
    const std::string_view collective = next_word(words);
    const auto found = schedule::find_any_collective(collective);
    if (!found) return no_table(schedule::not_any_collective(collective));
    rule.collective = *found;
    for (std::string_view word = next_word(words); !word.empty(); word = next_word(words))
      HOCKET_TRY(rule.spec.is_there() ? measurement(word, rule) : condition_or_spec(word, rule));
    if (!rule.spec.is_there()) return no_table("the line names no algorithm");
    return Status::ok();
  }

 private:
  Status condition_or_spec(std::string_view word, Rule& rule) {
    if (const auto ranks = after(word, "ranks=")) return interval(*ranks, "ranks", seen_ranks_, rule.ranks);
    if (const auto nodes = after(word, "nodes=")) return interval(*nodes, "nodes", seen_nodes_, rule.nodes);
    if (const auto ranks = after(word, "ppn=")) return interval(*ranks, "ppn", seen_ppn_, rule.ranks_a_node);
    if (const auto wire = after(word, "wire=")) {
      if (!rule.wire.empty()) return no_table("wire= is given twice");
      if (!is_wire_name(*wire))
        return no_table(quoted(*wire) + " is no wire's name: lower-case letters, digits, - and _");
      rule.wire = *wire;
      return Status::ok();
    }
    if (const auto bytes = after(word, "bytes=")) {
      if (!schedule::lengths_are_agreed(rule.collective))
        return no_table(std::string(name(rule.collective)) +
                        " can't be chosen by bytes=: its ranks see different lengths, and must choose alike");
      return interval(*bytes, "bytes", seen_bytes_, rule.bytes);
    }
    if (word == "crowded" || word == "uncrowded") {
      if (rule.when != When::kAlways) return no_table("crowded or uncrowded: once, and one of them");
      rule.when = word == "crowded" ? When::kOversubscribed : When::kNotOversubscribed;
      return Status::ok();
    }
    Result<Spec> spec = parse_spec(rule.collective, word);
    if (!spec.is_ok()) return spec.take_status();
    rule.spec = spec.value();
    return Status::ok();
  }

  static Status interval(std::string_view text, const char* what, bool& seen, Interval& interval) {
    if (seen) return no_table(std::string(what) + "= is given twice");
    seen = true;
    Result<Interval> parsed = parse_interval(text);
    if (!parsed.is_ok()) return parsed.take_status();
    interval = parsed.value();
    return Status::ok();
  }

  static Status time(std::string_view text, double& us) {
    const std::optional<double> parsed = parse_number(text);
    if (!parsed) return no_table(quoted(text) + " is not a time in microseconds");
    us = *parsed;
    return Status::ok();
  }

  static Status measurement(std::string_view word, Rule& rule) {
    if (const auto us = after(word, "us=")) return time(*us, rule.median_us);
    if (const auto us = after(word, "next_us=")) return time(*us, rule.next_us);
    if (const auto next = after(word, "next=")) {
      Result<Spec> spec = parse_spec(rule.collective, *next);
      if (!spec.is_ok()) return spec.take_status();
      rule.next = *next;
      return Status::ok();
    }
    return no_table(quoted(word) + " after the algorithm: only us=, next=, next_us= and a # comment may follow");
  }

  bool seen_ranks_ = false;
  bool seen_bytes_ = false;
  bool seen_nodes_ = false;
  bool seen_ppn_ = false;
};

// The words after `model`.
class ModelParser {
 public:
  static Status parse(std::string_view words, CostParameters& parameters) {
    ModelParser parser(parameters);
    for (std::string_view word = next_word(words); !word.empty(); word = next_word(words))
      HOCKET_TRY(parser.parameter(word));
    return Status::ok();
  }

 private:
  explicit ModelParser(CostParameters& parameters) : parameters_(parameters) {}

  Status parameter(std::string_view word) {
    const size_t equals = word.find('=');
    for (size_t i = 0; i < std::size(kCostParameters) && equals != std::string_view::npos; ++i) {
      const CostParameter& one = kCostParameters[i];
      if (word.substr(0, equals) != one.name) continue;
      const std::string_view text = word.substr(equals + 1);
      const bool is_again = std::exchange(seen_[i], true);
      return one.price != nullptr ? set_price(one, is_again, word, text) : set_number(one, is_again, word, text);
    }
    std::string known;
    for (const CostParameter& one : kCostParameters)
      known.append(known.empty() ? "" : ", ").append(one.name).append("=");
    return no_table(quoted(word) + " is no parameter of the model: there are " + known);
  }

  Status set_number(const CostParameter& one, bool is_again, std::string_view word, std::string_view text) {
    Result<uint64_t> value = parse_size(text);
    if (is_again || !value.is_ok() || value.value() < one.first || value.value() > one.last)
      return no_table(quoted(word) + ": " + one.name + "= is a number from " + std::to_string(one.first) + " to " +
                      std::to_string(one.last) + ", given once");
    parameters_.*one.number = static_cast<uint32_t>(value.value());
    return Status::ok();
  }

  Status set_price(const CostParameter& one, bool is_again, std::string_view word, std::string_view text) {
    if (is_again) return no_table(std::string(one.name) + "= is given twice");
    const std::optional<double> value = parse_number(text);
    if (!value)
      return no_table(quoted(word) + ": " + std::string(one.name) +
                      "= is a number from 0 on without a unit, such as 0.05 or 16384");
    parameters_.*one.price = *value;
    return Status::ok();
  }

  CostParameters& parameters_;
  bool seen_[std::size(kCostParameters)] = {};
};

// Splits the comment off; it is given without '#' and blanks.
std::string_view without_comment(std::string_view line, std::string& note) {
  const size_t hash = line.find('#');
  if (hash == std::string_view::npos) return line;
  std::string_view comment = line.substr(hash + 1);
  while (!comment.empty() && comment.front() == ' ') comment.remove_prefix(1);
  while (!comment.empty() && (comment.back() == ' ' || comment.back() == '\r')) comment.remove_suffix(1);
  note = comment;
  return line.substr(0, hash);
}

Status check_header(std::string_view line) {
  if (next_word(line) != kMagic) return no_table("not a tuning table: the first line must be `hocket-table 1`");
  const std::string_view version = next_word(line);
  if (version != kVersion)
    return no_table("a table of format version " + quoted(version) + ", but this hocket reads version 1");
  if (!next_word(line).empty()) return no_table("the first line must be `hocket-table 1` and nothing else");
  return Status::ok();
}

Status located(const std::string& source, uint32_t line, const Status& status) {
  return Status(status.code(), source + ":" + std::to_string(line) + ": " + status.message());
}

}  // namespace

Table::Table(const CostParameters& model) : model_(model), kept_predictions_(std::make_shared<KeptPredictions>()) {}

Result<Table> Table::parse(std::string_view text, std::string source) {
  Table table;
  table.source_ = std::move(source);
  table.kept_predictions_ = std::make_shared<KeptPredictions>();
  if (text.size() > kMaxTableBytes || text.find('\0') != std::string_view::npos)
    return no_table(table.source_ + ": not a tuning table: binary, or longer than 1 MiB");
  std::vector<Rule> rules;
  uint32_t number = 0;
  while (number == 0 || !text.empty()) {
    ++number;
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    Status status;
    if (number == 1) {
      status = check_header(line);
    } else {
      Rule rule;
      rule.line = number;
      std::string_view words = without_comment(line, rule.note);
      std::string_view probe = words;
      const std::string_view first = next_word(probe);
      if (first.empty()) continue;
      if (first == kModel) {
        status = table.model_line_ == 0 ? ModelParser::parse(probe, table.model_) : no_table("a second `model` line");
        table.model_line_ = number;
      } else {
        status = LineParser().parse(words, rule);
        if (status.is_ok()) rules.push_back(std::move(rule));
      }
    }
    if (!status.is_ok()) return located(table.source_, number, status);
  }
  std::vector<Rule> of_mpi;
  std::copy_if(rules.begin(), rules.end(), std::back_inserter(of_mpi),
               [](const Rule& one) { return one.spec.is_mpis; });
  table.rules_of_mpi_ = std::make_shared<const std::vector<Rule>>(std::move(of_mpi));
  table.rules_ = std::make_shared<const std::vector<Rule>>(std::move(rules));
  return table;
}

Result<Table> Table::load(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Status::system("cannot open the tuning table " + path, errno);
  std::string text(kMaxTableBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return Status::system("cannot read the tuning table " + path, errno);
  text.resize(static_cast<size_t>(file.gcount()));
  return parse(text, path);
}

Table Table::under(std::string_view wire) && {
  wire_ = wire;
  return std::move(*this);
}

Table Table::with_model(const CostParameters& model) const {
  Table table = *this;
  table.model_ = model;
  table.kept_predictions_ = std::make_shared<KeptPredictions>();
  return table;
}

namespace {

// Only a broken build could make parsing fail, and a unit test reads them; then the registry's order decides.
// Never destroyed: communicators may be set up by destructors of the program's.
const std::vector<Table>& all_shipped() {
  static const auto* const tables = [] {
    auto* parsed = new std::vector<Table>;
    for (const ShippedTable& one : kShippedTables) {
      Result<Table> table = Table::parse(one.text, std::string(one.name));
      parsed->push_back(table.is_ok() ? table.take() : Table());
    }
    return parsed;
  }();
  return *tables;
}

}  // namespace

const Table& Table::shipped() { return all_shipped().front(); }

const Table& Table::shipped_for(uint32_t cores) { return best_for(cores, all_shipped()); }

const Table& best_for(uint32_t cores, std::span<const Table> tables) {
  const Table* best = &tables.front();
  for (const Table& table : tables) {
    const uint32_t known = table.model().cores;
    const uint32_t before = best->model().cores;
    if (before > cores ? known < before : known <= cores && known > before) best = &table;
  }
  return *best;
}

}  // namespace hocket::selection
