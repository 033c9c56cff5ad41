// SPDX-License-Identifier: BSD-3-Clause
// Tuning tables: which algorithm serves which call, as text that people can read and programs can write.
//
//   hocket-table 1
//   # collective  conditions (all must hold)              algorithm[:parameters]  what was measured
//   allreduce     ranks=5.. crowded bytes=..4K            direct                  us=3.1 next=ring next_us=6.5  # why
//   reduce        ranks=2..16 uncrowded bytes=8K..        pieces:segment=32K
//   model         cores=2 alpha_us=0.1 beta_us_per_kib=0.0144 gamma_us_per_kib=0.0126 switch_us=0.95
//
// The first line whose conditions hold wins. Conditions: ranks= and bytes= (of the whole message) take a number or a
// range first..last, both ends included, either left out; `crowded` or `uncrowded`: more ranks than cores or not;
// none: always. Of gatherv, scatterv and alltoallv ranks see different lengths, so they can't be chosen by bytes=; of
// collectives with a block for each rank, bytes= is of one block, the longest where they differ. nodes= is how many
// nodes the ranks are on, and 1 where it is left out; ppn= the most ranks that a node has; wire= what carries messages
// between them, or the MPI that calls come through (names_wire()). Parameters: degree= (a
// number, or `flat`: every rank a child of the root), by another name where the algorithm says so, segment= and, of
// algorithms that cut segments into one piece a rank, piece=, the shortest of them (both in bytes),
// and of a composition its parts, PART=ALGORITHM[/DEGREE]. Sizes may end in K, M or G (powers of 1024). `mpi` in an
// algorithm's place: what comes through an MPI is left to the MPI's own (by_mpi.h); for other calls such a line does
// not stand there.
//
// One line, `model`, has the parameters of the cost model (cost_parameters.h), which chooses where no rule fits; those
// left out are the default's.
//
// Thread safety: a table does not change once made; any thread may read it.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/algorithm.h"
#include "base/size_text.h"
#include "base/status.h"
#include "schedule/collective.h"
#include "simulation/network/cost_parameters.h"

namespace hocket::selection {

using simulation::CostParameter;
using simulation::CostParameters;
using simulation::kCostParameters;

using algorithms::kFlat;

// What a part of a composition shall be: "bruck/4".
struct PartSpec {
  const algorithms::Algorithm* algorithm = nullptr;  // nullptr: what is best for the part's own call
  uint32_t degree = 0;                               // as of a Spec

  bool operator==(const PartSpec&) const = default;
};

// An algorithm with its parameters: "tree:degree=3,segment=16K", "send_aggregation:lanes=4,node=direct,across=bruck/4".
struct Spec {
  const algorithms::Algorithm* algorithm = nullptr;
  uint32_t degree = 0;         // 0: the algorithm's default; kFlat
  uint64_t segment_bytes = 0;  // 0: the default
  PartSpec parts[schedule::kMaxParts] = {};
  bool is_mpis = false;      // "mpi": the MPI's own; then there is no algorithm
  uint64_t piece_bytes = 0;  // the least that a piece of a segment shall have, in place of a degree; 0: not said

  bool is_there() const { return algorithm != nullptr || is_mpis; }
  bool operator==(const Spec&) const = default;
};
inline constexpr std::string_view kMpisOwn = "mpi";

// Unknown names (the answer lists the known ones), and parameters the algorithm doesn't have, are refused.
Result<Spec> parse_spec(schedule::Collective collective, std::string_view text);
std::string to_text(const Spec& spec);
// "tree/3", "parents/0.0.1", as behind a part's name. Refused as above.
Result<PartSpec> parse_part_spec(schedule::Collective collective, std::string_view text);
std::string to_text(const PartSpec& part);
// "barrier, broadcast, ...", to be listed in an error's text.
std::string names_of_collectives();
// "HOCKET_REDUCE_SCATTER": the variable of the environment that forces the algorithm of a collective.
std::string forcing_variable(schedule::Collective collective);

struct Interval {
  uint64_t first = 0;
  uint64_t last = std::numeric_limits<uint64_t>::max();

  bool contains(uint64_t value) const { return first <= value && value <= last; }
};

enum class When : uint8_t { kAlways, kOversubscribed, kNotOversubscribed };

struct Rule {
  schedule::Collective collective = schedule::Collective::kBarrier;
  Interval ranks;
  Interval bytes;
  Interval nodes = {1, 1};
  Interval ranks_a_node;  // the most
  std::string wire;       // the name of what carries messages between nodes; "": any
  When when = When::kAlways;
  Spec spec;
  // What the line says about its making; 0 and "" where it says nothing.
  double median_us = 0;
  std::string next;  // the runner-up, as a spec
  double next_us = 0;
  std::string note;   // the comment at the line's end
  uint32_t line = 0;  // in the table's text, from 1
};

// Lower-case letters, digits, - and _, at least one.
bool is_wire_name(std::string_view text);
// Whether a rule's wire= is there: "openmpi" names "openmpi-5", too, and "" any.
bool names_wire(std::string_view asked, std::string_view wire);

// As a line of a table, without note and measurements.
std::string to_text(const Rule& rule);
// Microseconds as tables and explain() have them: three digits, from 1000 on whole ones ("0.129", "18.8", "1138").
std::string us_to_text(double us);

class KeptPredictions;

class Table {
 public:
  Table() = default;
  // Without rules.
  explicit Table(const CostParameters& model);
  // The table that hocket was built with (shipped.table).
  static const Table& shipped();
  // Of all that hocket was built with, the one for ranks that may use so many cores of a node (best_for()).
  static const Table& shipped_for(uint32_t cores);
  // Errors name `source`, the line and what is wrong with it. A text without the header is refused as foreign.
  static Result<Table> parse(std::string_view text, std::string source);
  static Result<Table> load(const std::string& path);

  // The same for ranks between which messages go by that wire; a table without a wire serves any, by the rules that
  // name none.
  Table under(std::string_view wire) const& { return Table(*this).under(wire); }
  Table under(std::string_view wire) &&;
  const std::string& wire() const { return wire_; }
  // The same rules, and another's model.
  Table with_model(const CostParameters& model) const;

  std::span<const Rule> rules() const { return *rules_; }
  // Those of them that say `mpi`, again: each communicator asks, and mostly none of the others matters.
  std::span<const Rule> rules_of_mpi() const { return *rules_of_mpi_; }
  const std::string& source() const { return source_; }
  const CostParameters& model() const { return model_; }
  uint32_t model_line() const { return model_line_; }  // 0: the text has none, the defaults hold
  // Of this table and its copies; nullptr for one that was never parsed.
  KeptPredictions* kept_predictions() const { return kept_predictions_.get(); }

 private:
  std::string source_;
  std::string wire_;
  // Of its copies, too.
  std::shared_ptr<const std::vector<Rule>> rules_ = std::make_shared<const std::vector<Rule>>();
  std::shared_ptr<const std::vector<Rule>> rules_of_mpi_ = rules_;
  CostParameters model_;
  uint32_t model_line_ = 0;
  std::shared_ptr<KeptPredictions> kept_predictions_;
};

// That of the machine with most cores that are not more than these; if all have more, of the one with the fewest. Of
// equals the first; there is one at least.
const Table& best_for(uint32_t cores, std::span<const Table> tables);

}  // namespace hocket::selection
