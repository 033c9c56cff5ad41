// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <functional>
#include <limits>
#include <optional>

#include "simulation/goal/goal.h"

namespace hocket::simulation {
namespace {

constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Words, numbers and what is between them. Only skip_lines() passes the end of a line, and what is in comments.
class Words {
 public:
  explicit Words(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  uint32_t line() const { return line_; }
  bool is_at_end() const { return at_ == end_; }
  char next() const { return at_ == end_ ? '\0' : *at_; }

  void skip_blanks() {
    for (; at_ != end_; ++at_) {
      if (*at_ == '/' ? !skip_comment() : *at_ != ' ' && *at_ != '\t' && *at_ != '\r') return;
    }
  }
  void skip_lines() {
    for (skip_blanks(); next() == '\n'; skip_blanks()) {
      ++at_;
      ++line_;
    }
  }
  bool take(char c) {
    skip_blanks();
    if (next() != c || is_at_end()) return false;
    ++at_;
    return true;
  }
  // Letters, and digits behind the first; may be empty.
  std::string_view word() {
    skip_blanks();
    const char* const begin = at_;
    if (is_letter(next()))
      while (at_ != end_ && (is_letter(*at_) || is_digit(*at_))) ++at_;
    return {begin, static_cast<size_t>(at_ - begin)};
  }
  // A whole number up to `most`, else nothing, and then the position is where it was.
  std::optional<uint64_t> number(uint64_t most) {
    skip_blanks();
    const char* const begin = at_;
    uint64_t value = 0;
    for (; at_ != end_ && is_digit(*at_); ++at_) {
      const auto digit = static_cast<uint64_t>(*at_ - '0');
      if (digit > most || value > (most - digit) / 10) {
        at_ = begin;
        return {};
      }
      value = value * 10 + digit;
    }
    if (at_ == begin) return {};
    return value;
  }
  // What stands here, for a message.
  std::string what_is_here() const {
    if (is_at_end()) return "the end of the text";
    if (*at_ == '\n') return "the end of the line";
    constexpr size_t kMost = 30;
    std::string here;
    for (const char* c = at_; c != end_ && *c != '\n' && here.size() < kMost; ++c)
      here += *c >= ' ' && *c <= '~' ? *c : '?';
    return "`" + here + "`";
  }
  void back_to(std::string_view word) { at_ = word.data(); }

 private:
  // Leaves the position on the last character of a comment; of one that doesn't end, on the end of the text. Of a
  // line's the last one is that before the line's end.
  bool skip_comment() {
    const size_t left = static_cast<size_t>(end_ - at_);
    const std::string_view rest(at_, left);
    if (rest.starts_with("//")) {
      const size_t length = std::min(rest.find('\n'), left);
      at_ += length - 1;
      return true;
    }
    if (!rest.starts_with("/*")) return false;
    const size_t close = rest.find("*/", 2);
    const std::string_view comment = rest.substr(0, close);
    for (const char c : comment) line_ += c == '\n';
    at_ += close == std::string_view::npos ? left - 1 : close + 1;
    return true;
  }

  const char* at_;
  const char* end_;
  uint32_t line_ = 1;
};

// The labels of the rank that is being read. What is left of earlier ranks counts as empty, so that nothing must be
// cleared between a million small ranks.
class Labels {
 public:
  explicit Labels(Goal& goal) : goal_(goal) { goal.labels.assign(1, '\0'); }

  void begin_rank() {
    first_ = static_cast<uint32_t>(goal_.operations.size());
    count_ = 0;
  }
  // The operation of this label; nothing if there is none.
  std::optional<uint32_t> find(std::string_view label) const {
    const uint32_t operation = slots_[slot_of(label)];
    if (!is_used(operation)) return {};
    return operation;
  }
  // Names the last operation, by a label that is new.
  void add(std::string_view label) {
    goal_.operations.back().label = static_cast<uint32_t>(goal_.labels.size());
    goal_.labels.append(label).append(1, '\0');
    if (2 * ++count_ > slots_.size()) return grow();
    slots_[slot_of(label)] = static_cast<uint32_t>(goal_.operations.size() - 1);
  }

 private:
  static constexpr uint32_t kEmpty = ~uint32_t{0};

  bool is_used(uint32_t operation) const { return operation != kEmpty && operation >= first_; }
  std::string_view label_of(uint32_t operation) const {
    return goal_.labels.c_str() + goal_.operations[operation].label;
  }
  size_t slot_of(std::string_view label) const {
    size_t slot = std::hash<std::string_view>{}(label) & (slots_.size() - 1);
    while (is_used(slots_[slot]) && label_of(slots_[slot]) != label) slot = (slot + 1) & (slots_.size() - 1);
    return slot;
  }
  void grow() {
    slots_.assign(2 * slots_.size(), kEmpty);
    for (uint32_t i = first_; i < goal_.operations.size(); ++i)
      if (goal_.operations[i].label != 0) slots_[slot_of(label_of(i))] = i;
  }

  Goal& goal_;
  uint32_t first_ = 0;  // operation of this rank
  size_t count_ = 0;
  std::vector<uint32_t> slots_ = std::vector<uint32_t>(16, kEmpty);  // a power of 2, at most half of them full
};

class GoalParser {
 public:
  GoalParser(std::string_view text, std::string_view name) : words_(text), labels_(goal_) { goal_.name = name; }

  Result<Goal> parse() {
    HOCKET_TRY(head());
    for (uint32_t rank = 0; rank < goal_.ranks; ++rank) HOCKET_TRY(one_rank(rank));
    words_.skip_lines();
    if (!words_.is_at_end()) return wrong("nothing more: num_ranks is " + std::to_string(goal_.ranks));
    const size_t count = goal_.operations.size();
    goal_.after_end = Dependents(count, after_end_);
    goal_.after_start = Dependents(count, after_start_);
    goal_.awaits.assign(count, 0);
    for (const std::vector<Dependents::Pair>* pairs : {&after_end_, &after_start_})
      for (const Dependents::Pair& pair : *pairs) ++goal_.awaits[pair.waiting];
    return std::move(goal_);
  }

 private:
  // What stands here is something else than what is due.
  Status wrong(const std::string& due) const { return refused(words_.what_is_here() + " stands where is due: " + due); }
  Status refused(const std::string& why) const {
    return {Code::kInvalidArgument, goal_.name + ":" + std::to_string(words_.line()) + ": " + why};
  }
  bool word_is(std::string_view due) {
    const std::string_view word = words_.word();
    if (word == due) return true;
    words_.back_to(word);
    return false;
  }

  Status head() {
    words_.skip_lines();
    if (!word_is("num_ranks")) return wrong("num_ranks and how many ranks there are");
    const std::optional<uint64_t> ranks = words_.number(kAny - 1);
    if (!ranks || *ranks == 0) return wrong("the number of ranks, from 1");
    goal_.ranks = static_cast<uint32_t>(*ranks);
    return Status::ok();
  }

  Status one_rank(uint32_t rank) {
    words_.skip_lines();
    const std::string_view word = words_.word();
    if (word != "rank" || words_.number(rank) != rank || !words_.take('{')) {
      words_.back_to(word);
      return wrong("`rank " + std::to_string(rank) + " {`, since each of the " + std::to_string(goal_.ranks) +
                   " ranks stands there once, in their order");
    }
    rank_ = rank;
    labels_.begin_rank();
    for (words_.skip_lines(); !words_.take('}'); words_.skip_lines()) HOCKET_TRY(one_line());
    return Status::ok();
  }

  // An operation or a dependency.
  Status one_line() {
    std::string_view first = words_.word();
    if (first.empty()) return wrong("send, recv, calc, a label, or } after the last line of a rank");
    std::string_view label;
    if (words_.take(':')) {
      label = first;
      if (labels_.find(label))
        return refused("the label `" + std::string(label) + "` is there already in rank " + std::to_string(rank_) +
                       "; give each operation another");
      first = words_.word();
    } else if (words_.next() != '\n' && first != "send" && first != "recv" && first != "calc") {
      return dependency(first);
    }
    HOCKET_TRY(operation(first));
    if (!label.empty()) labels_.add(label);
    return end_of_line();
  }

  Status end_of_line() {
    words_.skip_blanks();
    if (words_.is_at_end() || words_.next() == '\n' || words_.next() == '}') return Status::ok();
    return wrong("the end of the line");
  }

  Status operation(std::string_view word) {
    GoalOperation operation;
    operation.rank = rank_;
    operation.line = words_.line();
    if (word == "calc") {
      const std::optional<uint64_t> ns = words_.number(std::numeric_limits<uint64_t>::max());
      if (!ns) return wrong("a number of nanoseconds");
      operation.amount = *ns;
    } else if (word == "send" || word == "recv") {
      operation.kind = word == "send" ? GoalKind::kSend : GoalKind::kReceive;
      HOCKET_TRY(message(operation));
    } else {
      words_.back_to(word);
      return wrong("send, recv or calc");
    }
    HOCKET_TRY(options(operation));
    goal_.operations.push_back(operation);
    return Status::ok();
  }

  // `8b to 3`
  Status message(GoalOperation& operation) {
    const bool is_send = operation.kind == GoalKind::kSend;
    const std::optional<uint64_t> bytes = words_.number(std::numeric_limits<uint64_t>::max());
    if (!bytes || !words_.take('b')) return wrong("a number of bytes such as 8b");
    operation.amount = *bytes;
    if (!word_is(is_send ? "to" : "from")) return wrong(is_send ? "to and a rank" : "from and a rank, or -1 for any");
    if (!is_send && words_.take('-')) {
      if (words_.number(1) != 1u) return wrong("1, since -1 means any rank");
      operation.peer = kAny;
      return Status::ok();
    }
    const std::optional<uint64_t> peer = words_.number(goal_.ranks - 1);
    if (!peer) return wrong("a rank from 0 to " + std::to_string(goal_.ranks - 1));
    operation.peer = static_cast<uint32_t>(*peer);
    return Status::ok();
  }

  // `tag 3 cpu 0 nic 1`
  Status options(GoalOperation& operation) {
    bool has_tag = operation.kind == GoalKind::kCalculation, has_cpu = false, has_nic = has_tag;
    for (words_.skip_blanks(); is_letter(words_.next()); words_.skip_blanks()) {
      if (!has_tag && word_is("tag")) {
        has_tag = true;
        HOCKET_TRY(tag(operation));
      } else if (!has_cpu && word_is("cpu")) {
        has_cpu = true;
        HOCKET_TRY(small_number(operation.cpu));
      } else if (!has_nic && word_is("nic")) {
        has_nic = true;
        HOCKET_TRY(small_number(operation.nic));
      } else {
        return wrong(operation.kind == GoalKind::kCalculation ? "cpu, once, or the end of the line"
                                                              : "tag, cpu or nic, each once, or the end of the line");
      }
    }
    return Status::ok();
  }

  Status tag(GoalOperation& operation) {
    if (operation.kind == GoalKind::kReceive && words_.take('-')) {
      if (words_.number(1) != 1u) return wrong("1, since -1 means any tag");
      operation.tag = kAny;
      return Status::ok();
    }
    const std::optional<uint64_t> tag = words_.number(kAny - 1);
    if (!tag) return wrong("a tag from 0 to 4294967294");
    operation.tag = static_cast<uint32_t>(*tag);
    return Status::ok();
  }

  Status small_number(uint8_t& number) {
    const std::optional<uint64_t> found = words_.number(255);
    if (!found) return wrong("a number from 0 to 255");
    number = static_cast<uint8_t>(*found);
    return Status::ok();
  }

  // `a requires b`, of which `a` is read.
  Status dependency(std::string_view waiting) {
    const std::string_view verb = words_.word();
    if (verb != "requires" && verb != "irequires") {
      words_.back_to(verb);
      return wrong("`:` and an operation, or requires or irequires, after the label `" + std::string(waiting) + "`");
    }
    const std::string_view awaited = words_.word();
    if (awaited.empty()) return wrong("the label of an operation");
    Dependents::Pair pair{};
    HOCKET_TRY(operation_of(waiting, pair.waiting));
    HOCKET_TRY(operation_of(awaited, pair.awaited));
    (verb == "requires" ? after_end_ : after_start_).push_back(pair);
    return end_of_line();
  }

  Status operation_of(std::string_view label, uint32_t& operation) const {
    const std::optional<uint32_t> found = labels_.find(label);
    if (!found)
      return refused("no operation above this line has the label `" + std::string(label) + "` in rank " +
                     std::to_string(rank_) + "; write operations before what depends on them");
    operation = *found;
    return Status::ok();
  }

  Goal goal_;
  Words words_;
  Labels labels_;
  uint32_t rank_ = 0;
  std::vector<Dependents::Pair> after_end_;
  std::vector<Dependents::Pair> after_start_;
};

}  // namespace

Result<Goal> parse_goal(std::string_view text, std::string_view name) {
  if (text.size() > kMostGoalBytes)
    return Status(Code::kInvalidArgument, std::string(name) + ": it has " + std::to_string(text.size()) +
                                              " bytes; schedules of up to 4 GiB are read");
  return GoalParser(text, name).parse();
}

}  // namespace hocket::simulation
