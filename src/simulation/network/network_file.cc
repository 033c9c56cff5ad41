// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/network/network_file.h"

#include <charconv>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>
#include <vector>

#include "base/nearest_word.h"
#include "base/size_text.h"

namespace hocket::simulation {
namespace {

constexpr double kMostOfOther = 1e12;

// A name's place in a network, and what may stand there.
struct Field {
  const char* name = "";
  double* price = nullptr;
  uint32_t* number = nullptr;
  double first = 0;
  double last = kMostOfOther;

  double value() const { return price != nullptr ? *price : *number; }
};

// Of prices: ten seconds, so that simulated times can be added up.
constexpr double kMostUs = 1e7;
constexpr double kMostWaitUs = 1e9;  // of engines before they ask, which some never do
constexpr double kMostCrowding = 1e4;

double most_of_price(std::string_view name) {
  if (name == "nic_ask_us" || name == "nic_tick_us") return kMostWaitUs;
  if (name.find("_us") != std::string_view::npos) return kMostUs;
  return name == "wire_crowding" ? kMostCrowding : kMostOfOther;
}

std::vector<Field> fields_of(Network& network) {
  std::vector<Field> fields;
  for (const CostParameter& one : kCostParameters) {
    Field field{.name = one.name};
    if (one.price != nullptr) field.price = &(network.costs.*one.price), field.last = most_of_price(one.name);
    if (one.number != nullptr)
      field.number = &(network.costs.*one.number), field.first = one.first, field.last = one.last;
    fields.push_back(field);
  }
  NetworkParameters& more = network.more;
#define HOCKET_NETWORK_PRICE(member, ...) \
  fields.push_back({.name = #member, .price = &more.member, .last = most_of_price(#member)});
#define HOCKET_NETWORK_DIFFERENCE(member, ...) \
  fields.push_back({.name = #member, .price = &more.member, .first = -kMostUs, .last = kMostUs});
#define HOCKET_NETWORK_SHARE(member, ...) fields.push_back({.name = #member, .price = &more.member, .last = 1});
#define HOCKET_NETWORK_NUMBER(member, default_value, least, most) \
  fields.push_back({.name = #member, .number = &more.member, .first = least, .last = most});
#include "simulation/network/network_parameters.def"
  return fields;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (size_t at = 0; at < line.size();) {
    const size_t begin = line.find_first_not_of(" \t\r", at);
    if (begin == std::string_view::npos || line[begin] == '#') break;
    const size_t end = std::min(line.find_first_of(" \t\r", begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    at = end;
  }
  return words;
}

class Reader {
 public:
  Reader(std::string_view where, Network& network) : where_(where), network_(network), fields_(fields_of(network)) {}

  Status read(std::string_view line) {
    ++line_;
    const std::vector<std::string_view> words = words_of(line);
    if (line_ == 1) {
      if (words.size() == 2 && words[0] == "hocket-network" && words[1] == "1") return Status::ok();
      return bad("a file of a network begins with the line `hocket-network 1`");
    }
    if (words.empty()) return Status::ok();
    if (words.size() != 2)
      return bad("a line has a name and a number, and behind a # where it is from; here stands `" + std::string(line) +
                 "`");
    if (words[0] == "like") return begin_like(words[1]);
    return set(words[0], words[1]);
  }
  Status end() const {
    if (line_ == 0) return bad("a file of a network begins with the line `hocket-network 1`");
    const CostParameters& costs = network_.costs;
    const NetworkParameters& more = network_.more;
    if (more.ranks_are_bound != 0 && costs.one_machine == 0) return bad("ranks_are_bound goes with one_machine 1");
    if (more.nic_on_ringing_core != 0 && (more.ranks_are_bound == 0 || more.nic_alpha_us > 0))
      return bad("nic_on_ringing_core goes with ranks_are_bound 1 and nic_alpha_us 0");
    return Status::ok();
  }

 private:
  Status bad(const std::string& sentence) const {
    return {Code::kInvalidArgument, std::string(where_) + ":" + std::to_string(line_) + ": " + sentence};
  }

  Status begin_like(std::string_view name) {
    if (!seen_.empty()) return bad("`like` stands before all numbers");
    for (const BuiltInNetwork& other : kBuiltInNetworks) {
      if (other.name != name || other.name == network_.name) continue;
      Result<Network> like = parse_network(other.text, std::string(other.name) + ".network");
      if (!like.is_ok()) return like.take_status();
      network_.costs = like.value().costs;
      network_.more = like.value().more;
      return Status::ok();
    }
    return bad("no other network that is built in is called `" + std::string(name) + "`");
  }

  Status set(std::string_view name, std::string_view text) {
    std::vector<std::string_view> names;
    for (const Field& field : fields_) {
      names.push_back(field.name);
      if (name != field.name) continue;
      if (!seen_.emplace(name).second) return bad("`" + std::string(name) + "` stands there twice");
      return set(field, text);
    }
    return bad("`" + std::string(name) + "` is no parameter of a network: " +
               question_after(nearest_word(name, names)) + "docs/networks.md has all");
  }

  Status set(const Field& field, std::string_view text) const {
    double value = 0;
    if (field.number != nullptr) {
      const Result<uint64_t> size = parse_size(text);
      value = size.is_ok() ? static_cast<double>(size.value()) : NAN;
    } else {
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) value = NAN;
    }
    if (!(value >= field.first) || value > field.last) {
      std::ostringstream limits;
      limits << field.first << " to " << field.last;
      return bad(std::string(field.name) + " is a number from " + limits.str() + ", not `" + std::string(text) + "`");
    }
    if (field.number != nullptr)
      *field.number = static_cast<uint32_t>(value);
    else
      *field.price = value;
    return Status::ok();
  }

  std::string_view where_;
  Network& network_;
  std::vector<Field> fields_;
  std::set<std::string, std::less<>> seen_;
  size_t line_ = 0;
};

std::string name_of(std::string_view where) {
  const size_t slash = where.rfind('/');
  if (slash != std::string_view::npos) where.remove_prefix(slash + 1);
  return std::string(where.substr(0, where.rfind(".network")));
}

}  // namespace

Result<Network> parse_network(std::string_view text, std::string_view where) {
  Network network;
  network.name = name_of(where);
  Reader reader(where, network);
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (Status status = reader.read(text.substr(at, end - at)); !status.is_ok()) return status;
    at = end + 1;
  }
  if (Status status = reader.end(); !status.is_ok()) return status;
  return network;
}

std::string network_to_text(const Network& network, std::string_view head,
                            const std::function<std::string(std::string_view name)>& source) {
  Network shown = network;
  Network usual;
  const std::vector<Field> usual_fields = fields_of(usual);
  std::string text = "hocket-network 1\n";
  for (size_t at = 0; at < head.size();) {
    const size_t end = std::min(head.find('\n', at), head.size());
    text.append("# ").append(head.substr(at, end - at)).append("\n");
    at = end + 1;
  }
  const std::vector<Field> fields = fields_of(shown);
  for (size_t i = 0; i < fields.size(); ++i) {
    const std::string from = source(fields[i].name);
    if (from.empty() && fields[i].value() == usual_fields[i].value()) continue;
    char number[32];
    const auto end = fields[i].number != nullptr ? std::to_chars(number, number + sizeof number, *fields[i].number).ptr
                                                 : std::to_chars(number, number + sizeof number, *fields[i].price).ptr;
    std::string line = fields[i].name;
    line.append(" ").append(number, end);
    constexpr size_t kColumn = 28;  // of comments
    if (!from.empty()) line.append(line.size() < kColumn ? kColumn - line.size() : 1, ' ').append("# ").append(from);
    text.append(line).append("\n");
  }
  return text;
}

Result<Network> find_network(const std::string& word) {
  if (word.find('/') != std::string::npos || word.ends_with(".network")) {
    std::ifstream stream(word);
    std::stringstream text;
    text << stream.rdbuf();
    if (!stream) return Status(Code::kInvalidArgument, "can't read the network " + word);
    return parse_network(text.str(), word);
  }
  std::vector<std::string_view> names;
  std::string all;
  for (const BuiltInNetwork& network : kBuiltInNetworks) {
    if (network.name == word) return parse_network(network.text, std::string(network.name) + ".network");
    names.push_back(network.name);
    all += (all.empty() ? "" : ", ") + std::string(network.name);
  }
  return Status(Code::kInvalidArgument,
                "`" + word + "` is no network that is built in: " + question_after(nearest_word(word, names)) +
                    "there are " + all + "; a file's name has a / or ends in .network");
}

}  // namespace hocket::simulation
