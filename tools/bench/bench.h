// SPDX-License-Identifier: BSD-3-Clause
// What a benchmark is made of, whatever provides the ranks: forked processes (local/) or an MPI (mpi/).
//
//   variant   a way to carry out a collective: the MPI's own, hocket's choice, one of hocket's algorithms
//   cell      a collective, a size and a timing: all variants are measured in it, their batches interleaved
//   timing    isolated: ranks wait for each other before every call, the slowest rank's time of each; back-to-back:
//             calls one after the other, the root moving on, the slowest rank's time of a batch divided by its calls
//
// Thread safety: one thread of each rank, and what it has is its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reduction/reduction.h"
#include "schedule/collective.h"
#include "schedule/neighbours.h"
#include "schedule/nodes.h"

namespace hocket::bench {

using schedule::Collective;
using schedule::name;
enum class Element : uint8_t { kInt32, kInt64, kFloat, kDouble };
using reduction::Operation;
enum class Timing : uint8_t { kIsolated, kBackToBack };

// Of an alltoallv's blocks, where a cell says how long they are at most: all of that; a third empty, most of the others
// a twentieth of it or shorter, some up to all; one in sixteen, the others empty. The same in every run.
enum class Lengths : uint8_t { kEqual, kUneven, kSparse };

std::string_view name(Timing timing);
size_t bytes_of(Element element);

// kShared: from hocket_alloc or MPI_Alloc_mem; the others from MPI_Win_allocate and MPI_Win_allocate_shared.
enum class Memory { kPlain, kShared, kWindow, kSharedWindow };

// Who are neighbours in collectives among them.
struct Halo {
  enum class Form : uint8_t { kGrid, kStencil, kLists };
  Form form = Form::kGrid;  // as what they are given to the library
  std::shared_ptr<const schedule::Neighbours> neighbours;
  // As on the command line, and in rows: "4x2", "yes", "faces".
  std::string grid;
  std::string periodic;
  std::string stencil;
};
// How many blocks a rank has on the fuller side.
inline int most_blocks(const Halo& halo, int rank) {
  const auto self = static_cast<uint32_t>(rank);
  return static_cast<int>(std::max(halo.neighbours->sources(self).size(), halo.neighbours->destinations(self).size()));
}

struct Options {
  std::vector<Collective> collectives;
  Halo halo;  // where some of these are among neighbours
  bool pingpong = false;
  bool wait = false;
  std::vector<uint64_t> sizes;  // bytes of the message; of one block, where there is a block a rank
  std::vector<Timing> timings = {Timing::kIsolated, Timing::kBackToBack};
  Element element = Element::kDouble;
  Operation operation = Operation::kSum;
  double budget_s = 0.2;        // of each variant in each cell
  uint64_t iterations = 20000;  // of each variant in each cell, at most
  // A batch of back-to-back calls takes about so long: long against the clock and the skew at its beginning, short
  // against the machine's moods.
  double batch_us = 1000;
  std::vector<std::string> variants;  // empty: the usual ones
  std::vector<std::string> printed;   // of these, empty: all
  Lengths lengths = Lengths::kEqual;
  Memory memory = Memory::kPlain;  // of the buffers
  double late_s = 1;               // wait: how late the late rank is
  std::string json;                // path, "" for none
  bool colour = false;
  bool progress = false;
};

struct Cell {
  Collective collective = Collective::kBarrier;
  uint64_t count = 0;  // elements; bytes where nothing is combined. Of one block, where there is a block a rank
  uint64_t bytes = 0;  // of the same
  Timing timing = Timing::kIsolated;
};
// The cell nearest to that many bytes and not above; count 0: an element is longer than that.
Cell cell_of(const Options& options, Collective collective, uint64_t bytes, Timing timing);
// Elements of the block that `from` has for `to`, of a call of `count`.
uint64_t length_between(Lengths lengths, uint64_t count, int from, int to);
// Bytes that one of a call's `count` elements has: 1 where nothing is combined.
size_t unit_bytes(const Options& options, Collective collective);

struct Call {
  Collective collective = Collective::kBarrier;
  const void* input = nullptr;
  void* output = nullptr;
  size_t count = 0;
  int root = 0;
};

// The ranks of a benchmark, and how they agree. The means are not those that are measured.
class World {
 public:
  virtual ~World() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // Which ranks share memory, as hocket sees it.
  virtual const schedule::Nodes& placement() const = 0;
  virtual void synchronize() = 0;
  // The same for a rank that expects to wait for long: it sleeps most of the time, and leaves the cores to others.
  virtual void rest() { synchronize(); }
  // Every value becomes the largest that any rank gave.
  virtual void maximum(std::span<double> values) = 0;
  // `bytes` from `send` of each rank; rank i's arrive at i * bytes of `receive`.
  virtual void allgather(const void* send, void* receive, size_t bytes) = 0;
};

class Variant {
 public:
  virtual ~Variant() = default;
  virtual std::string name() const = 0;
  // What comes is carried out by this variant. "" or why it can't be; the same on all ranks.
  virtual std::string activate(Collective collective) = 0;
  // 0, or what error() puts in words.
  virtual int run(const Call& call) = 0;
  // The same in two halves, where there are non-blocking calls; else the first does all. One is under way at a time.
  virtual int begin(const Call& call) { return run(call); }
  virtual int complete() { return 0; }
  virtual std::string error(int code) const = 0;
  // After calls since activate(): "" or why they were not carried out by this variant after all; the same on all ranks.
  virtual std::string doubt() { return {}; }
  // Whether the first calls after activate() are slower than the rest: they are then made before the clock runs.
  virtual bool starts_cold() const { return false; }
};

struct Summary {
  double median_us = 0;
  double p10_us = 0;
  double p90_us = 0;
  double p99_us = 0;
  double max_us = 0;
  uint64_t iterations = 0;  // calls behind the numbers; 0: not measured
  std::string why_not;      // then
};
Summary summarize(std::vector<double> samples_us, uint64_t iterations);

struct Row {
  std::string collective;
  int ranks = 0;
  int nodes = 1;
  int ranks_a_node = 0;  // the most
  uint64_t bytes = 0;
  std::string grid;  // among neighbours, as the next two
  std::string periodic;
  std::string stencil;
  std::string variant;
  std::string timing;
  Summary summary;
  double cpu_percent = -1;  // wait: of a core, used by a waiting rank; negative: not measured
};

// --- buffers (buffers.cc) ----------------------------------------------------------------------------------------

// Values that sum to small integers, so that every order of combining gives the same.
struct Buffers {
  std::byte* input = nullptr;
  std::byte* output = nullptr;
};
void fill(const Options& options, const Cell& cell, const World& world, int root, const Buffers& buffers);
// "" or what is wrong: which element, what it is and should be.
std::string check(const Options& options, const Cell& cell, const World& world, int root, const Buffers& buffers);

// --- measuring (measure.cc) --------------------------------------------------------------------------------

// Every variant in `variants`, interleaved. Collective over the world. Throws std::runtime_error on wrong results.
std::vector<Summary> measure(const Options& options, const Cell& cell, World& world, const Buffers& buffers,
                             std::span<Variant* const> variants);

// How long buffers must be for the options.
size_t buffer_bytes(const Options& options, int ranks);

// --- waiting for a late rank (wait.cc) -------------------------------------------------------------------------------

Row measure_wait(const Options& options, World& world, Variant& variant);

// --- output (report.cc) ----------------------------------------------------------------------------------------------

// Lines of the same collective and timing under one head.
class Reporter {
 public:
  Reporter(const Options& options, bool speaks, std::string title);
  void progress(const std::string& text);
  // The rows of one cell, the first being what the others are compared with.
  void cell(std::span<const Row> rows);
  bool has_rows() const { return !rows_.empty(); }
  // Writes the JSON file. "" or why it could not.
  std::string finish();

 private:
  void head(const Row& row, size_t variants);
  void pair(const Row& reference, const Row& row);
  void list(std::span<const Row> rows);
  bool is_printed(const Row& row) const;
  void clear_progress();
  std::string ratio_text(double ratio) const;

  const Options& options_;
  bool speaks_;
  std::string title_;
  std::string last_head_;
  bool progress_shown_ = false;
  std::vector<Row> rows_;
};

// --- all of it (suite.cc) --------------------------------------------------------------------------------------------

// Runs cells and reports them on rank 0. Collective over the world. After a false answer only finish() may follow
// on ranks that still run: the others may be stuck in a call.
class Suite {
 public:
  // `title`: what is compared, the table's first line.
  Suite(const Options& options, World& world, const Buffers& buffers, std::string title)
      : options_(options), world_(world), buffers_(buffers), reporter_(options, world.rank() == 0, std::move(title)) {}

  // The first variant is what the others are compared with.
  bool run(Collective collective, std::span<Variant* const> variants);
  bool run_wait(std::span<Variant* const> variants);
  void add(const Row& row) { reporter_.cell({&row, 1}); }
  // The exit code.
  int finish();

 private:
  const Options& options_;
  World& world_;
  Buffers buffers_;
  Reporter reporter_;
};

}  // namespace hocket::bench
