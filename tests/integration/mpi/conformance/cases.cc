// SPDX-License-Identifier: BSD-3-Clause
#include "cases.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "flaws.h"
#include "random.h"

namespace conformance {
namespace {

// Bytes of one buffer, at most, gaps not counted.
constexpr int64_t kMostBytes = 1 << 21;

Family family_of(const Element& element, int64_t length) { return Family(static_cast<size_t>(length), &element); }

// As of a struct with an int, a double, three chars and a short.
Family record() {
  const Element& character = element("CHAR");
  return {&element("INT"), &element("DOUBLE"), &character, &character, &character, &element("SHORT")};
}

int64_t bytes_of(const Family& family) {
  int64_t sum = 0;
  for (const Element* element : family) sum += static_cast<int64_t>(element->size);
  return std::max<int64_t>(sum, 1);
}

constexpr bool has_persistent() { return HOCKET_TEST_HAS_PERSISTENT != 0; }

// Numbers that programs use, and those around which a message changes its way.
int64_t draw_sequences(Random& random, int64_t bytes) {
  static const int64_t numbers[] = {0, 1, 1, 2, 3, 7, 12, 100, 1000};
  static const int64_t borders[] = {48, 64, 512, 4096, 16384, 65536, 262144};
  const uint64_t way = random.below(100);
  if (way < 60) return random.any(numbers);
  if (way < 64) return 20000;
  if (way < 90) return std::max<int64_t>(0, random.any(borders) / bytes + static_cast<int64_t>(random.below(3)) - 1);
  return static_cast<int64_t>(random.below(300));
}

}  // namespace

const char* mpi_name(Collective collective) {
  static const char* const names[kCollectives] = {
      "Barrier",        "Bcast",     "Reduce",     "Allreduce", "Gather",    "Gatherv",   "Scatter",
      "Scatterv",       "Allgather", "Allgatherv", "Alltoall",  "Alltoallv", "Alltoallw", "Reduce_scatter_block",
      "Reduce_scatter", "Scan",      "Exscan"};
  return names[static_cast<int>(collective)];
}

std::string function_name(Form form, Collective collective) {
  std::string name = mpi_name(collective);
  if (form == Form::kStarted) {
    name[0] = static_cast<char>(std::tolower(name[0]));
    return "I" + name;
  }
  return form == Form::kPersistent ? name + "_init" : name;
}

bool is_reduction(Collective collective) {
  switch (collective) {
    case Collective::kReduce:
    case Collective::kAllreduce:
    case Collective::kReduceScatterBlock:
    case Collective::kReduceScatter:
    case Collective::kScan:
    case Collective::kExscan:
      return true;
    default:
      return false;
  }
}

bool is_rooted(Collective collective) {
  switch (collective) {
    case Collective::kBcast:
    case Collective::kReduce:
    case Collective::kGather:
    case Collective::kGatherv:
    case Collective::kScatter:
    case Collective::kScatterv:
      return true;
    default:
      return false;
  }
}

bool has_in_place(Collective collective) {
  return collective != Collective::kBarrier && collective != Collective::kBcast;
}

bool is_vector(Collective collective) {
  switch (collective) {
    case Collective::kGatherv:
    case Collective::kScatterv:
    case Collective::kAllgatherv:
    case Collective::kAlltoallv:
    case Collective::kAlltoallw:
    case Collective::kReduceScatter:
      return true;
    default:
      return false;
  }
}

Cases::Cases(uint64_t seed, const std::vector<Communicator>& communicators, int most_ranks)
    : seed_(seed), communicators_(communicators.size()), ranks_(most_ranks) {
  add_core();
  add_core_operations();
}

void Cases::add_core() {
  static const int64_t lengths[] = {0, 1, 7, 1000};
  for (int c = 0; c < kCollectives; ++c) {
    Case one;
    one.collective = static_cast<Collective>(c);
    const int roots = is_rooted(one.collective) ? ranks_ : 1;
    for (int root = 0; root < roots; ++root) {
      for (const int64_t length : lengths) {
        for (int in_place = 0; in_place <= (has_in_place(one.collective) ? 1 : 0); ++in_place) {
          one.root = static_cast<uint64_t>(root);
          one.sequences = length;
          one.is_in_place = in_place != 0;
          one.pattern = Pattern::kRandom;
          one.family = {&element("DOUBLE")};
          if (is_reduction(one.collective)) {
            one.operation = &operation("sum");
          } else if (length == 7) {
            one.family = family_of(element("INT"), 4);
            one.shape = Shape::kVector;
          }
          core_.push_back(one);
        }
      }
    }
  }
}

void Cases::add_core_operations() {
  static const Collective reductions[] = {Collective::kAllreduce, Collective::kReduce,
                                          Collective::kScan,      Collective::kReduceScatterBlock,
                                          Collective::kExscan,    Collective::kReduceScatter};
  for (const Operation& each : operations()) {
    for (const Element& element : elements()) {
      if (!each.fits(element)) continue;
      Case one;
      one.collective = reductions[core_.size() % 6];
      one.family = {&element};
      one.operation = &each;
      one.sequences = 1 + static_cast<int64_t>(core_.size() % 50);
      one.root = core_.size();
      one.pattern = Pattern::kRandom;
      core_.push_back(one);
    }
  }
}

Case Cases::make(uint64_t number) const {
  Case result = number < core_.size() ? core_[number] : draw(number);
  result.seed = seed_;
  result.number = number;
  result.salt = hash(seed_, number);
  result.is_hocket_first = result.salt % 2 == 0;
  if (must_types_be_few()) result.is_fresh = true;
  result.sequences = std::min(result.sequences, limit(result));
  return result;
}

int64_t Cases::limit(const Case& result) const {
  const bool has_many_blocks =
      result.collective >= Collective::kGather && result.collective <= Collective::kReduceScatter;
  return std::max<int64_t>(1, kMostBytes / bytes_of(result.family) / (has_many_blocks ? ranks_ : 1));
}

Case Cases::draw(uint64_t number) const {
  Random random(hash(seed_, number, 1));
  Case result;
  result.collective = static_cast<Collective>(random.below(kCollectives));
  // There is little to vary about a barrier.
  if (result.collective == Collective::kBarrier)
    result.collective = static_cast<Collective>(random.below(kCollectives));
  // The world as often as three others.
  result.communicator = random.below(communicators_ + 2);
  if (result.communicator >= communicators_) result.communicator = 0;
  result.root = random.below(static_cast<uint64_t>(ranks_));
  result.is_in_place = has_in_place(result.collective) && random.chance(30);
  result.is_permuted = random.chance(50);
  result.is_nonsense = random.chance(30);
  result.is_fresh = random.chance(30);
#if MPI_VERSION >= 4
  result.is_large = random.chance(40);
#endif
  static const Pattern patterns[] = {Pattern::kEqual,  Pattern::kRandom,  Pattern::kRandom,  Pattern::kRandom,
                                     Pattern::kSparse, Pattern::kOnlyOne, Pattern::kUnequal, Pattern::kNone};
  result.pattern = random.any(patterns);
  result.input = static_cast<Memory>(random.below(kMemories));
  result.output = static_cast<Memory>(random.below(kMemories));
  if (is_reduction(result.collective)) {
    draw_operation(result, random);
  } else {
    draw_data(result, random);
  }
  result.sequences = draw_sequences(random, bytes_of(result.family));
  return result;
}

void Cases::draw_data(Case& result, Random& random) const {
  static const int64_t lengths[] = {1, 1, 2, 3, 4, 6, 12, 500};
  const uint64_t way = random.below(100);
  if (way < 3) {
    result.family = {};
    result.shape = Shape::kContiguous;
  } else if (way < 15) {
    result.family = record();
    result.shape = static_cast<Shape>(random.below(kShapes));
    result.is_mixed = random.chance(50);
  } else if (way < 35) {
    result.family = {&elements()[random.below(elements().size())]};
  } else {
    result.family = family_of(elements()[random.below(elements().size())], random.any(lengths));
    result.shape = static_cast<Shape>(random.below(kShapes));
    result.is_mixed = random.chance(50);
  }
}

void Cases::draw_operation(Case& result, Random& random) const {
  static const int64_t lengths[] = {1, 1, 2, 3, 4, 6};
  static const char* const operands[] = {"INT", "UNSIGNED", "INT64_T", "UNSIGNED_LONG", "DOUBLE", "FLOAT"};
  // Predefined ones more often, as there are more pairs with a type.
  do {
    result.operation = &operations()[random.below(operations().size())];
  } while (!result.operation->is_predefined() && random.chance(40));
  if (result.operation->is_predefined()) {
    const Element* chosen = nullptr;
    do {
      chosen = &elements()[random.below(elements().size())];
    } while (!result.operation->fits(*chosen));
    result.family = {chosen};
    return;
  }
  result.shape = static_cast<Shape>(random.below(kShapes));
  result.family = family_of(element(random.any(operands)), random.any(lengths));
  if (result.operation->is_matrix) {
    result.family = family_of(element("UINT32_T"), 4);
    if (result.shape == Shape::kPlain) result.shape = Shape::kContiguous;
  }
}

std::vector<Form> forms_of(const Case& which, Forms forms) {
  if (forms == Forms::kStarted) return {Form::kStarted};
  if (forms == Forms::kPersistent) return has_persistent() ? std::vector<Form>{Form::kPersistent} : std::vector<Form>{};
  const uint64_t any = hash(which.salt, 70) % 4;
  if (forms == Forms::kAll && any == 0) return {Form::kBlocking, Form::kStarted};
  if (forms == Forms::kAll && any == 1 && has_persistent()) return {Form::kBlocking, Form::kPersistent};
  return {Form::kBlocking};
}

Case in_form(const Case& which, Form form) {
  Case result = which;
  result.form = form;
  result.frees_types = false;
  if (form == Form::kBlocking) return result;
  Random random(hash(which.salt, 71));
  result.end = static_cast<End>(random.below(kEnds));
  result.has_company = random.chance(30);
  result.has_statuses = random.chance(50);
  // An operation would meet another type than the one that it is shown.
  result.frees_types = random.chance(30) && which.operation == nullptr;
  if (form == Form::kPersistent) result.starts = 2 + static_cast<int>(random.below(2));
  return result;
}

bool is_passed_by_design(const Case& which, const Communicator& communicator) {
  if (which.form == Form::kBlocking) return false;
  if (communicator.size == 1) return which.form == Form::kPersistent && leaves_persistent_of_one_rank(which);
  if (which.operation == nullptr) return false;
  return !which.operation->is_predefined() || is_operation_the_hosts(which);
}

std::string description(const Case& which, const Communicator& communicator) {
  static const char* const patterns[] = {"equal", "random", "sparse", "only one", "unequal", "none"};
  static const char* const ends[] = {
      "Wait", "Test", "Request_get_status", "Waitall", "Waitany", "Waitsome", "Testall", "Testany", "Testsome"};
  static const char* const forms[] = {"blocking", "started", "persistent"};
  std::string text = "MPI_" + function_name(which.form, which.collective) + (which.is_large ? "_c" : "");
  if (which.collective != Collective::kBarrier) {
    const size_t length = which.family.size();
    const bool is_uniform = length > 0 && std::count(which.family.begin(), which.family.end(), which.family[0]) ==
                                              static_cast<std::ptrdiff_t>(length);
    text += " " + (is_uniform ? std::string(which.family[0]->name) : length == 0 ? "nothing" : "record");
    text += " x " + std::to_string(length) + (which.is_mixed ? " mixed" : "") + (which.is_fresh ? " fresh " : " ") +
            shape_name(fitting(which.shape, which.family));
    if (which.operation != nullptr) text += std::string(" op ") + which.operation->name;
    text += " count " + std::to_string(which.sequences);
    if (is_vector(which.collective)) text += std::string(" lengths ") + patterns[static_cast<int>(which.pattern)];
    if (which.is_permuted) text += " permuted";
    if (which.is_in_place) text += " in place";
    if (which.is_nonsense) text += " nonsense";
    text += std::string(" from ") + memory_name(which.input) + " to " + memory_name(which.output);
  }
  text += " on " + communicator.name + " of " + std::to_string(communicator.size);
  if (is_rooted(which.collective) && communicator.size > 0)
    text += " root " + std::to_string(which.root % static_cast<uint64_t>(communicator.size));
  if (which.form != Form::kBlocking) {
    text += std::string(" ended by ") + ends[static_cast<int>(which.end)];
    if (which.has_company) text += " in company";
    if (which.frees_types) text += " types freed";
    if (which.round != 0) text += " on changed data";
  }
  return text + " (--seed " + std::to_string(which.seed) + " --first " + std::to_string(which.number) +
         " --cases 1 --forms " + forms[static_cast<int>(which.form)] + ")";
}

}  // namespace conformance
