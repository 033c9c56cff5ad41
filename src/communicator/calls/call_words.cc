// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/calls/call_words.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "reduction/reduction.h"

namespace hocket::communicator {
namespace {

using schedule::Collective;

constexpr std::array<const char*, schedule::kAllCollectives> kMpiNames = {
#define HOCKET_COLLECTIVE(constant, name, setting, function, others, ...) #function others,
#define HOCKET_NEIGHBOR_COLLECTIVE(constant, name, setting, function, others, ...) #function others,
#include "base/collectives.def"
};

// In the order of reduction::Type. MPI has several names for most of them, depending on the language.
constexpr std::array<const char*, static_cast<size_t>(reduction::Type::kCount)> kTypes = {
    "element",
    "8-bit integer",
    "16-bit integer",
    "32-bit integer",
    "64-bit integer",
    "unsigned 8-bit integer",
    "unsigned 16-bit integer",
    "unsigned 32-bit integer",
    "unsigned 64-bit integer",
    "float",
    "double",
    "long double",
    "complex float",
    "complex double",
    "complex long double",
    "bool",
    "logical",
    "byte",
    "float and int",
    "double and int",
    "long and int",
    "int and int",
    "short and int",
    "long double and int",
    "float and float",
    "double and double",
};

constexpr uint32_t kOpaque = uint32_t{1} << 31;

Collective collective_of(const CallSignature& signature) { return static_cast<Collective>(signature.what & 0xff); }
bool keeps_order(const CallSignature& signature) { return (signature.what >> 8 & 1) != 0; }
uint32_t root_of(const CallSignature& signature) { return static_cast<uint32_t>(signature.what >> 16); }
uint32_t type_of(const CallSignature& signature) { return static_cast<uint32_t>(signature.operation); }
reduction::Operation operation_of(const CallSignature& signature) {
  return static_cast<reduction::Operation>(signature.operation >> 32);
}

uint64_t size_of(uint32_t type) {
  return (type & kOpaque) != 0 ? type & ~kOpaque : reduction::size_of(static_cast<reduction::Type>(type));
}

std::string name_of(reduction::Operation operation, bool keeps_order, Vocabulary vocabulary) {
  if (operation == reduction::Operation::kNone) {
    const std::string own = vocabulary == Vocabulary::kMpi ? "an operation of the MPI's or the program's own"
                                                           : "an operation of the program's own";
    return keeps_order ? own + " that does not commute" : own;
  }
  if (vocabulary == Vocabulary::kHocket) return std::string(reduction::name(operation));
  if (operation == reduction::Operation::kSumSaturating) return "MPI_SUM";
  std::string text("MPI_");
  for (const char letter : reduction::name(operation)) text += static_cast<char>(std::toupper(letter));
  return text;
}

std::string describe_length(const CallSignature& signature) {
  const uint64_t element = size_of(type_of(signature));
  if (signature.operation == 0 || element == 0) return std::to_string(signature.bytes) + " bytes";
  return std::to_string(signature.bytes / element) + " x " + describe_type(type_of(signature));
}

const char* what_differs(const CallSignature& a, const CallSignature& b) {
  if (collective_of(a) != collective_of(b)) return engines::shared_memory::kSameCalls;
  if (root_of(a) != root_of(b)) {
    return schedule::is_among_neighbors(collective_of(a)) ? "the neighbourhoods of the two ranks don't match"
                                                          : "the roots of the two ranks don't match";
  }
  if (a.bytes != b.bytes) return "the counts of the two ranks don't match";
  if (operation_of(a) == operation_of(b) && type_of(a) != type_of(b)) return "the types of the two ranks don't match";
  return "the operations of the two ranks don't match";
}

}  // namespace

std::string name_of(Collective collective, Vocabulary vocabulary) {
  if (vocabulary == Vocabulary::kMpi) return kMpiNames[static_cast<size_t>(collective)];
  return std::string(schedule::name(collective));
}

std::string describe_type(uint32_t type) {
  if ((type & kOpaque) != 0) return "element of " + std::to_string(type & ~kOpaque) + " bytes";
  return kTypes[std::min<size_t>(type, kTypes.size()) % kTypes.size()];
}

std::string describe(const CallSignature& signature, Vocabulary vocabulary) {
  const Collective collective = collective_of(signature);
  std::string name = name_of(collective, vocabulary);
  if (collective == Collective::kBarrier) return name;
  std::string text;
  const auto add = [&text](const std::string& part) { text += text.empty() ? part : ", " + part; };
  if (schedule::lengths_are_agreed(collective)) add(describe_length(signature));
  if (schedule::combines(collective)) add(name_of(operation_of(signature), keeps_order(signature), vocabulary));
  if (schedule::has_root(collective)) add("root " + std::to_string(root_of(signature)));
  if (!text.empty()) name += "(" + text + ")";
  return name;
}

std::string describe_difference(uint32_t rank, const CallSignature& signature, uint32_t other_rank,
                                const CallSignature& other, Vocabulary vocabulary) {
  return "rank " + std::to_string(rank) + " calls " + describe(signature, vocabulary) + " where rank " +
         std::to_string(other_rank) + " calls " + describe(other, vocabulary) + "; " + what_differs(signature, other);
}

}  // namespace hocket::communicator
