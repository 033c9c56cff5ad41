// SPDX-License-Identifier: BSD-3-Clause
// What is called: a case is the same on all ranks and follows from (seed, number) alone.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "buffers.h"
#include "communicators.h"
#include "elements.h"
#include "layouts.h"
#include "operations.h"

// Open MPI 5 has the persistent collectives of MPI 4, though it calls itself one of MPI 3.1.
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HOCKET_TEST_HAS_PERSISTENT 1
#else
#define HOCKET_TEST_HAS_PERSISTENT 0
#endif

namespace conformance {

enum class Collective {
  kBarrier,
  kBcast,
  kReduce,
  kAllreduce,
  kGather,
  kGatherv,
  kScatter,
  kScatterv,
  kAllgather,
  kAllgatherv,
  kAlltoall,
  kAlltoallv,
  kAlltoallw,
  kReduceScatterBlock,
  kReduceScatter,
  kScan,
  kExscan,
};
inline constexpr int kCollectives = 17;

const char* mpi_name(Collective collective);  // "Bcast"
bool is_reduction(Collective collective);
bool is_rooted(Collective collective);
bool has_in_place(Collective collective);
bool is_vector(Collective collective);  // blocks of different lengths

// How a call is made: MPI_Bcast, MPI_Ibcast or MPI_Bcast_init.
enum class Form { kBlocking, kStarted, kPersistent };
inline constexpr int kForms = 3;
// Which of them cases are run in; all: blocking, and some in another form besides.
enum class Forms { kBlocking, kStarted, kPersistent, kAll };

std::string function_name(Form form, Collective collective);  // "Ibcast"

// By which functions the program learns that a call is over.
enum class End { kWait, kTest, kAskedFirst, kWaitall, kWaitany, kWaitsome, kTestall, kTestany, kTestsome };
inline constexpr int kEnds = 9;

// How the lengths of a vector collective's blocks differ.
enum class Pattern { kEqual, kRandom, kSparse, kOnlyOne, kUnequal, kNone };

struct Case {
  uint64_t seed = 0;
  uint64_t number = 0;
  uint64_t salt = 0;  // all that is drawn at random within the case
  Collective collective = Collective::kBarrier;
  size_t communicator = 0;
  uint64_t root = 0;  // modulo the size of the communicator
  Family family;
  const Operation* operation = nullptr;
  int64_t sequences = 0;  // of one block; of vector collectives, the measure of blocks
  Pattern pattern = Pattern::kEqual;
  Shape shape = Shape::kPlain;
  bool is_mixed = false;     // ranks differ in their shapes
  bool is_permuted = false;  // blocks lie in another order than that of ranks, with gaps
  bool is_in_place = false;
  bool is_large = false;        // the _c function
  bool is_nonsense = false;     // arguments that don't count have no sense
  bool is_fresh = false;        // types are made for this case
  bool is_hocket_first = true;  // who of the two makes the call first
  Memory input = Memory::kHeap;
  Memory output = Memory::kHeap;
  // Of what is started. None of it has a part in what is called, or on which data.
  Form form = Form::kBlocking;
  End end = End::kWait;
  bool has_company = false;   // it is awaited together with a message of the rank's to itself
  bool has_statuses = false;  // the program looks at them
  bool frees_types = false;   // copies of the types, as soon as the call is started
  int starts = 1;             // of a persistent one
  uint64_t round = 0;         // other data than in round 0, by the same call
};

class Cases {
 public:
  Cases(uint64_t seed, const std::vector<Communicator>& communicators, int most_ranks);

  // Numbers below this are those of the systematic core: every collective at every root, in place and not, on little
  // and much; every operation on every type.
  uint64_t core() const { return core_.size(); }
  Case make(uint64_t number) const;

 private:
  void add_core();
  void add_core_operations();
  Case draw(uint64_t number) const;
  void draw_data(Case& result, class Random& random) const;
  void draw_operation(Case& result, class Random& random) const;
  int64_t limit(const Case& result) const;

  uint64_t seed_;
  size_t communicators_;
  int ranks_;
  std::vector<Case> core_;
};

// In which forms a case is run.
std::vector<Form> forms_of(const Case& which, Forms forms);
// The same call in another form.
Case in_form(const Case& which, Form form);
// Whether hocket hands it on by design, or may: operations that only the MPI can run, in a started call, and persistent
// calls of one rank where the MPI's own may be faster.
bool is_passed_by_design(const Case& which, const Communicator& communicator);

// On one line, all that tells this case from others.
std::string description(const Case& which, const Communicator& communicator);

}  // namespace conformance
