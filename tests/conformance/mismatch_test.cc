// SPDX-License-Identifier: BSD-3-Clause
// Ranks that call different collectives, or the same with other roots, operations or lengths: an error on all of them,
// in the same words, without being asked for.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "support/long_tests.h"
#include "support/team.h"

namespace hocket::test {
namespace {

// What may differ. Numbers of elements are those of a block.
struct Call {
  const char* name;
  int root = 0;
  size_t count = 4;
  hocket_op_t op = HOCKET_SUM;
  const char* algorithm = nullptr;
};

constexpr const char* kNames[] = {
#define HOCKET_COLLECTIVE(constant, name, ...) #name,
#include "base/collectives.def"
    "alltoallw",
};

class Buffers {
 public:
  Buffers(const Rank& me, const Call& call)
      : input_(call.count * static_cast<size_t>(me.size), me.rank + 1),
        output_(input_.size()),
        counts_(static_cast<size_t>(me.size), call.count),
        places_(counts_.size()),
        types_(counts_.size(), HOCKET_INT64) {
    counts_.back() += 1;  // not all alike, so that vector versions are what they say
    counts_.front() -= 1;
    for (size_t i = 1; i < places_.size(); ++i) places_[i] = places_[i - 1] + counts_[i - 1] * sizeof(int64_t);
  }

  hocket_status_t run_blocks(const Rank& me, const Call& call) {
    const std::string name = call.name;
    const auto own = counts_[static_cast<size_t>(me.rank)];
    int64_t* in = input_.data();
    int64_t* out = output_.data();
    const size_t* counts = counts_.data();
    if (name == "gather") return hocket_gather(me.comm, in, out, call.count, HOCKET_INT64, call.root);
    if (name == "scatter") return hocket_scatter(me.comm, in, out, call.count, HOCKET_INT64, call.root);
    if (name == "allgather") return hocket_allgather(me.comm, in, out, call.count, HOCKET_INT64);
    if (name == "alltoall") return hocket_alltoall(me.comm, in, out, call.count, HOCKET_INT64);
    if (name == "gatherv") return hocket_gatherv(me.comm, in, own, out, counts, nullptr, HOCKET_INT64, call.root);
    if (name == "scatterv") return hocket_scatterv(me.comm, in, counts, nullptr, out, own, HOCKET_INT64, call.root);
    if (name == "allgatherv") return hocket_allgatherv(me.comm, in, out, counts, nullptr, HOCKET_INT64);
    // Between any two the same, whichever way.
    const std::vector<size_t> equal(counts_.size(), call.count);
    if (name == "alltoallv")
      return hocket_alltoallv(me.comm, in, equal.data(), nullptr, out, equal.data(), nullptr, HOCKET_INT64);
    for (size_t i = 0; i < places_.size(); ++i) places_[i] = i * call.count * sizeof(int64_t);
    return hocket_alltoallw(me.comm, in, equal.data(), places_.data(), types_.data(), out, equal.data(), places_.data(),
                            types_.data());
  }

  hocket_status_t run(const Rank& me, const Call& call) {
    const std::string name = call.name;
    int64_t* in = input_.data();
    int64_t* out = output_.data();
    if (call.algorithm != nullptr) hocket_force(me.comm, call.name, call.algorithm);
    if (name == "barrier") return hocket_barrier(me.comm);
    if (name == "broadcast") return hocket_broadcast(me.comm, out, call.count, HOCKET_INT64, call.root);
    if (name == "reduce") return hocket_reduce(me.comm, in, out, call.count, HOCKET_INT64, call.op, call.root);
    if (name == "allreduce") return hocket_allreduce(me.comm, in, out, call.count, HOCKET_INT64, call.op);
    if (name == "scan") return hocket_scan(me.comm, in, out, call.count, HOCKET_INT64, call.op);
    if (name == "exscan") return hocket_exscan(me.comm, in, out, call.count, HOCKET_INT64, call.op);
    if (name == "reduce_scatter_block")
      return hocket_reduce_scatter_block(me.comm, in, out, call.count, HOCKET_INT64, call.op);
    if (name == "reduce_scatter") return hocket_reduce_scatter(me.comm, in, out, counts_.data(), HOCKET_INT64, call.op);
    return run_blocks(me, call);
  }

 private:
  std::vector<int64_t> input_, output_;
  std::vector<size_t> counts_, places_;
  std::vector<hocket_type_t> types_;
};

hocket_status_t run(const Rank& me, const Call& call) { return Buffers(me, call).run(me, call); }

// All ranks but `odd` call one, and that one another. What every rank was told in the end, which must be one sentence.
std::string reported_by_all(int size, int odd, const Call& usual, const Call& other, const Call& then = {"allreduce"}) {
  std::mutex mutex;
  std::set<std::string> reported;
  run_threads(size, [&](Rank& me) {
    ASSERT_EQ(run(me, usual), HOCKET_OK) << hocket_error_text();
    hocket_status_t status = run(me, me.rank == odd ? other : usual);
    // A rank may end its part before a peer has started; it hears of it in its next call, and that may be a late one.
    for (int later = 0; later < 3 && status == HOCKET_OK; ++later) status = run(me, then);
    EXPECT_EQ(status, HOCKET_ERR_MISMATCH) << hocket_error_text();
    const std::string text = hocket_error_text();
    EXPECT_EQ(hocket_barrier(me.comm), HOCKET_ERR_BROKEN);
    EXPECT_EQ(hocket_error_text(), text);
    const std::scoped_lock lock(mutex);
    reported.insert(text);
  });
  EXPECT_EQ(reported.size(), 1u);
  return reported.empty() ? "" : *reported.begin();
}

// Whether the sentence is of `odd` and somebody else, and says what each has called.
void expect_both(const std::string& text, int odd, const std::string& usual, const std::string& other) {
  EXPECT_NE(text.find("calls " + usual), std::string::npos) << text << "\n  lacks " << usual;
  EXPECT_NE(text.find("rank " + std::to_string(odd) + " calls " + other), std::string::npos)
      << text << "\n  lacks " << other;
}

class Groups : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Sizes, Groups, testing::Values(2, 3, 5), testing::PrintToStringParamName());

TEST_P(Groups, TellOfRootsThatDiffer) {
  for (const char* name : {"broadcast", "reduce", "gather", "scatter", "gatherv", "scatterv"}) {
    SCOPED_TRACE(name);
    const int odd = GetParam() - 1;
    const std::string text = reported_by_all(GetParam(), odd, {name, 0}, {name, 1});
    const std::string called = std::string(name) + "(";
    expect_both(text, odd, called, called);
    EXPECT_NE(text.find("root 0)"), std::string::npos) << text;
    EXPECT_NE(text.find("root 1)"), std::string::npos) << text;
    EXPECT_NE(text.find("the roots of the two ranks don't match"), std::string::npos) << text;
  }
}

// Of those that both take themselves for the root neither waits for anything, and barriers carry no data: by counters
// of one rank, of all, of each, or by messages.
TEST_P(Groups, TellOfRootsThatDifferInBarriersAfter) {
  for (const char* algorithm : {"signal", "tree", "one_to_all", "linear", "dissemination"}) {
    for (const char* name : {"broadcast", "scatter", "scatterv"}) {
      SCOPED_TRACE(std::string(name) + ", then " + algorithm);
      const Call then{.name = "barrier", .algorithm = algorithm};
      const std::string text = reported_by_all(GetParam(), 1, {name, 0}, {name, 1}, then);
      expect_both(text, 1, std::string(name) + "(", std::string(name) + "(");
      EXPECT_NE(text.find("the roots of the two ranks don't match"), std::string::npos) << text;
      if (!is_long_tier()) break;
    }
  }
}

TEST_P(Groups, TellOfOperationsThatDiffer) {
  for (const char* name : {"reduce", "allreduce", "scan", "exscan", "reduce_scatter_block", "reduce_scatter"}) {
    SCOPED_TRACE(name);
    const std::string text = reported_by_all(GetParam(), 0, {name}, {.name = name, .op = HOCKET_MAX});
    const std::string called = std::string(name) + "(" + (text.find(" 4 x") == std::string::npos ? "" : "4 x");
    EXPECT_NE(text.find(" x 64-bit integer, sum"), std::string::npos) << text;
    EXPECT_NE(text.find(" x 64-bit integer, max"), std::string::npos) << text;
    EXPECT_NE(text.find("rank 0 calls " + called), std::string::npos) << text;
    EXPECT_NE(text.find("the operations of the two ranks don't match"), std::string::npos) << text;
  }
}

TEST_P(Groups, TellOfLengthsThatDiffer) {
  for (const char* name :
       {"broadcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall", "scan", "allgatherv"}) {
    for (const size_t count : {size_t{3}, size_t{5}, size_t{3000}}) {
      SCOPED_TRACE(std::string(name) + " of " + std::to_string(count));
      const std::string text = reported_by_all(GetParam(), 1, {name}, {.name = name, .count = count});
      EXPECT_NE(text.find("rank 1 calls " + std::string(name) + "("), std::string::npos) << text;
      EXPECT_NE(text.find("the counts of the two ranks don't match"), std::string::npos) << text;
    }
  }
}

// alltoallv and alltoallw are one, but for what they are called by.
bool are_one(const std::string& a, const std::string& b) {
  return (a == "alltoallv" || a == "alltoallw") && (b == "alltoallv" || b == "alltoallw");
}

TEST_P(Groups, TellOfCollectivesThatDiffer) {
  std::vector<std::pair<const char*, const char*>> pairs;
  for (const char* usual : kNames) {
    for (const char* other : kNames) {
      if (usual != other && !are_one(usual, other)) pairs.emplace_back(usual, other);
    }
  }
  std::mt19937 random(20'260);
  std::shuffle(pairs.begin(), pairs.end(), random);
  if (!is_long_tier()) pairs.resize(12);
  for (const auto& [usual, other] : pairs) {
    const int odd = static_cast<int>(random() % static_cast<unsigned>(GetParam()));
    SCOPED_TRACE(std::string(usual) + " but on rank " + std::to_string(odd) + " " + other);
    const auto as_reported = [](const std::string& name) { return name == "alltoallw" ? "alltoallv" : name; };
    expect_both(reported_by_all(GetParam(), odd, {usual}, {other}), odd, as_reported(usual), as_reported(other));
  }
}

// Ranks on nodes of a layout while it lives.
class OnNodes {
 public:
  explicit OnNodes(const char* layout) { setenv("TEST_NODES", layout, 1); }
  ~OnNodes() { unsetenv("TEST_NODES"); }
  OnNodes(const OnNodes&) = delete;
  OnNodes& operator=(const OnNodes&) = delete;
};

TEST(Nodes, HearWhichCallsOfOneNodeDiffer) {
  const OnNodes nodes("blocks");
  for (const int size : {4, 5}) {
    const std::string text = reported_by_all(size, 1, {"allreduce"}, {.name = "allreduce", .op = HOCKET_MAX});
    expect_both(text, 1, "allreduce(4 x 64-bit integer, sum)", "allreduce(4 x 64-bit integer, max)");
  }
}

TEST(Nodes, TakeLateRanksForNothingElse) {
  const OnNodes nodes("blocks");
  // Later than the first question, and than two looks for messages of other calls.
  constexpr useconds_t kLateUs[] = {1'500'000, 4'500'000};
  run_threads(4, [&](Rank& me) {
    for (int round = 0; round < 2; ++round) {
      if (me.rank == round) usleep(kLateUs[round]);
      for (const char* name : {"broadcast", "allreduce", "gather", "alltoallv"})
        ASSERT_EQ(run(me, {name}), HOCKET_OK) << hocket_error_text();
    }
  });
}

// No line of another call comes, and no message at all: only what ranks tell whom they wait for.
TEST(Nodes, TellEachOtherWhatTheyWaitIn) {
  const OnNodes nodes("apart");
  expect_both(reported_by_all(2, 1, {"broadcast", 1}, {"broadcast", 0}), 1, "broadcast(32 bytes, root 1)",
              "broadcast(32 bytes, root 0)");
  expect_both(reported_by_all(2, 1, {"reduce"}, {"scatter"}), 1, "reduce(4 x 64-bit integer, sum, root 0)",
              "scatter(32 bytes, root 0)");
  expect_both(reported_by_all(2, 0, {"scatterv"}, {"gather"}), 0, "scatterv(root 0)", "gather(32 bytes, root 0)");
  // Of two that both take themselves for the root none waits, and a barrier's messages are all alike.
  expect_both(reported_by_all(2, 1, {"broadcast", 0}, {"broadcast", 1}, {"barrier"}), 1, "broadcast(32 bytes, root 0)",
              "broadcast(32 bytes, root 1)");
}

TEST(Nodes, TakeNothingThatIsOfAnotherCall) {
  const OnNodes nodes("apart");
  expect_both(reported_by_all(2, 1, {"allreduce"}, {.name = "allreduce", .op = HOCKET_MAX}), 1,
              "allreduce(4 x 64-bit integer, sum)", "allreduce(4 x 64-bit integer, max)");
  expect_both(reported_by_all(2, 1, {"gather"}, {"reduce"}), 1, "gather(32 bytes, root 0)",
              "reduce(4 x 64-bit integer, sum, root 0)");
}

// Who has sent it is in no call any more, and hears no word.
TEST(Nodes, HearOfACallThatAnotherHasLeft) {
  const OnNodes nodes("apart");
  std::atomic<bool> is_known{false};
  run_threads(2, [&](Rank& me) {
    ASSERT_EQ(run(me, {"barrier"}), HOCKET_OK) << hocket_error_text();
    if (me.rank == 1) {
      EXPECT_EQ(run(me, {"reduce"}), HOCKET_OK) << hocket_error_text();
      while (!is_known) usleep(10'000);
      EXPECT_EQ(run(me, {"allreduce"}), HOCKET_ERR_MISMATCH);
    } else {
      EXPECT_EQ(run(me, {"gather"}), HOCKET_ERR_MISMATCH);
      EXPECT_STREQ(hocket_error_text(),
                   "rank 1 is in another call than rank 0, or was before; all ranks must call the same collectives in "
                   "the same order");
      is_known = true;
    }
  });
}

}  // namespace
}  // namespace hocket::test
