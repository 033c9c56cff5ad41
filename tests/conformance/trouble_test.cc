// SPDX-License-Identifier: BSD-3-Clause
// Bad input and trouble, through the public API: each gets a clear error, and nothing hangs.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "support/team.h"
#include "support/wire.h"

namespace hocket::test {
namespace {

bool text_has(const char* what) { return std::strstr(hocket_error_text(), what) != nullptr; }

TEST(BadArguments, AreNamedWithValueAndRemedy) {
  run_threads(2, [](Rank& me) {
    int64_t in[4] = {};
    int64_t out[4] = {};
    EXPECT_EQ(hocket_barrier(nullptr), HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_TRUE(text_has("comm")) << hocket_error_text();
    EXPECT_EQ(hocket_broadcast(me.comm, in, 4, HOCKET_INT64, 2), HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_TRUE(text_has("root 2")) << hocket_error_text();
    EXPECT_EQ(hocket_broadcast(me.comm, in, 4, HOCKET_INT64, -1), HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(hocket_broadcast(me.comm, nullptr, 4, HOCKET_INT64, 0), HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_TRUE(text_has("buffer")) << hocket_error_text();
    EXPECT_EQ(hocket_broadcast(me.comm, in, static_cast<size_t>(-3), HOCKET_INT64, 0), HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_TRUE(text_has("-3")) << hocket_error_text();
    EXPECT_EQ(hocket_allreduce(me.comm, in, out, 4, 999, HOCKET_SUM), HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_TRUE(text_has("999")) << hocket_error_text();
    EXPECT_EQ(hocket_allreduce(me.comm, in, out, 4, HOCKET_DOUBLE, HOCKET_BXOR), HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(hocket_allreduce(me.comm, in, in + 1, 3, HOCKET_INT64, HOCKET_SUM), HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_TRUE(text_has("overlap")) << hocket_error_text();
    EXPECT_EQ(hocket_reduce(me.comm, HOCKET_IN_PLACE, out, 4, HOCKET_INT64, HOCKET_SUM, 1 - me.rank),
              HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_TRUE(text_has("IN_PLACE")) << hocket_error_text();
    EXPECT_EQ(hocket_force(me.comm, "allreduce", "rings"), HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_TRUE(text_has("ring")) << hocket_error_text();
    EXPECT_EQ(hocket_force(me.comm, "allreducing", nullptr), HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(hocket_free(me.context, in), HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(hocket_context_destroy(me.context), HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_TRUE(text_has("communicators")) << hocket_error_text();
    // None of this has harmed the communicator.
    in[0] = me.rank + 1;
    EXPECT_EQ(hocket_allreduce(me.comm, in, out, 1, HOCKET_INT64, HOCKET_SUM), HOCKET_OK) << hocket_error_text();
    EXPECT_EQ(out[0], 3);
  });
}

TEST(DeadPeer, IsReportedToAllSurvivorsWithinSeconds) {
  constexpr int kRanks = 4;
  const int failed = run_bare_processes(kRanks, [](Rank& me) {
    hocket_context_t* context = nullptr;
    hocket_comm_t* comm = nullptr;
    ASSERT_EQ(hocket_context_create(nullptr, &context), HOCKET_OK);
    ASSERT_EQ(hocket_comm_create(context, &me.bootstrap, &comm), HOCKET_OK) << hocket_error_text();
    ASSERT_EQ(hocket_barrier(comm), HOCKET_OK);
    if (me.rank == 2) raise(SIGKILL);
    alarm(20);  // a hang is a failure
    int64_t in = 1;
    int64_t out = 0;
    hocket_status_t status = HOCKET_OK;
    // Eager calls may pass before the death is noticed.
    for (int call = 0; call < 100 && status == HOCKET_OK; ++call) {
      status = hocket_allreduce(comm, &in, &out, 1, HOCKET_INT64, HOCKET_SUM);
    }
    EXPECT_EQ(status, HOCKET_ERR_PEER_FAILED) << hocket_error_text();
    EXPECT_TRUE(text_has("rank 2")) << hocket_error_text();
    EXPECT_EQ(hocket_barrier(comm), HOCKET_ERR_BROKEN) << "a broken communicator stays broken";
    EXPECT_EQ(hocket_comm_destroy(comm), HOCKET_OK);
    EXPECT_EQ(hocket_context_destroy(context), HOCKET_OK);
  });
  EXPECT_EQ(failed, 1) << "only the rank that was killed";
}

TEST(DeadPeer, IsReportedToWhoOnlyTests) {
  const int failed = run_bare_processes(2, [](Rank& me) {
    hocket_context_t* context = nullptr;
    hocket_comm_t* comm = nullptr;
    ASSERT_EQ(hocket_context_create(nullptr, &context), HOCKET_OK);
    ASSERT_EQ(hocket_comm_create(context, &me.bootstrap, &comm), HOCKET_OK) << hocket_error_text();
    if (me.rank == 1) raise(SIGKILL);
    alarm(20);
    hocket_request_t* request = nullptr;
    ASSERT_EQ(hocket_barrier_start(comm, &request), HOCKET_OK);
    hocket_status_t status = HOCKET_IN_PROGRESS;
    while (status == HOCKET_IN_PROGRESS) status = hocket_test(&request);
    EXPECT_EQ(status, HOCKET_ERR_BROKEN) << hocket_error_text();
    EXPECT_TRUE(text_has("rank 1")) << hocket_error_text();
  });
  EXPECT_EQ(failed, 1) << "only the rank that was killed";
}

void add_first_bytes(const void* in, void* inout, size_t count, hocket_type_t type, void*) {
  const size_t bytes = type & ~HOCKET_TYPE_OPAQUE(0);
  for (size_t i = 0; i < count; ++i) {
    static_cast<uint8_t*>(inout)[i * bytes] += static_cast<const uint8_t*>(in)[i * bytes];
  }
}

TEST(LongElements, AreCombinedUpToTheLimitAndRefusedBeyond) {
  run_threads(3, [](Rank& me) {
    hocket_op_t op = nullptr;
    ASSERT_EQ(hocket_op_create(add_first_bytes, nullptr, 1, &op), HOCKET_OK);
    for (const size_t bytes : {size_t{49}, size_t{1000}, size_t{20'000}, size_t{HOCKET_MAX_COMBINED_BYTES}}) {
      for (const char* algorithm : {"ring", "recursive_doubling", "direct", "pieces"}) {
        const auto collective = schedule::Collective::kAllreduce;
        if (!serves_team(*algorithms::find(collective, algorithm), collective, me.size)) continue;
        ASSERT_EQ(hocket_force(me.comm, "allreduce", algorithm), HOCKET_OK);
        constexpr size_t kCount = 9;
        std::vector<uint8_t> in(kCount * bytes, static_cast<uint8_t>(me.rank + 1));
        std::vector<uint8_t> out(kCount * bytes);
        ASSERT_EQ(hocket_allreduce(me.comm, in.data(), out.data(), kCount, HOCKET_TYPE_OPAQUE(bytes), op), HOCKET_OK)
            << hocket_error_text();
        for (size_t i = 0; i < kCount; ++i) ASSERT_EQ(out[i * bytes], 6) << algorithm << " " << bytes;
      }
    }
    std::vector<uint8_t> in(HOCKET_MAX_COMBINED_BYTES + 1);
    std::vector<uint8_t> out(in.size());
    EXPECT_EQ(hocket_allreduce(me.comm, in.data(), out.data(), 1, HOCKET_TYPE_OPAQUE(in.size()), op),
              HOCKET_ERR_NOT_SUPPORTED);
    EXPECT_TRUE(text_has("32769")) << hocket_error_text();
    EXPECT_EQ(hocket_op_destroy(op), HOCKET_OK);
  });
}

TEST(Mismatch, IsFoundWhenAskedFor) {
  setenv("HOCKET_CHECK", "1", 1);
  const int failed = run_processes(3, [](Rank& me) {
    int64_t data[8] = {};
    ASSERT_EQ(hocket_broadcast(me.comm, data, 8, HOCKET_INT64, 1), HOCKET_OK) << hocket_error_text();
    EXPECT_EQ(hocket_broadcast(me.comm, data, me.rank == 2 ? 7 : 8, HOCKET_INT64, 1), HOCKET_ERR_MISMATCH);
    EXPECT_TRUE(text_has("call 2")) << hocket_error_text();
    EXPECT_TRUE(text_has("rank 0 calls broadcast(64 bytes, root 1) where rank 2 calls broadcast(56 bytes, root 1)"))
        << hocket_error_text();
  });
  EXPECT_EQ(failed, 0);
  const int other = run_processes(2, [](Rank& me) {
    int64_t in = 1;
    int64_t out = 0;
    EXPECT_EQ(hocket_reduce(me.comm, &in, &out, 1, HOCKET_INT64, HOCKET_SUM, me.rank), HOCKET_ERR_MISMATCH);
    EXPECT_TRUE(text_has("reduce(1 x 64-bit integer, sum, root 1)")) << hocket_error_text();
  });
  EXPECT_EQ(other, 0);
  const int types = run_processes(2, [](Rank& me) {
    int64_t in[2] = {};
    int64_t out[2] = {};
    const size_t counts[] = {1, 1};
    const size_t swapped[] = {me.rank == 0 ? size_t{2} : size_t{0}, me.rank == 0 ? size_t{0} : size_t{2}};
    const bool is_odd = me.rank == 1;
    EXPECT_EQ(hocket_alltoall(me.comm, in, out, is_odd ? 4 : 1, is_odd ? HOCKET_INT16 : HOCKET_DOUBLE),
              HOCKET_ERR_MISMATCH);
    EXPECT_TRUE(text_has("alltoall(8 bytes) with type double where rank 1 calls it with type 16-bit integer"))
        << hocket_error_text();
    hocket_comm_t* again = nullptr;
    ASSERT_EQ(hocket_comm_create(me.context, &me.bootstrap, &again), HOCKET_OK);
    EXPECT_EQ(hocket_allgatherv(again, in, out, is_odd ? swapped : counts, nullptr, HOCKET_INT64), HOCKET_ERR_MISMATCH);
    EXPECT_TRUE(text_has("all ranks must pass the same")) << hocket_error_text();
    EXPECT_EQ(hocket_comm_destroy(again), HOCKET_OK);
  });
  unsetenv("HOCKET_CHECK");
  EXPECT_EQ(types, 0);
}

TEST(RunAhead, ARankMayRunFarAheadOfALatePeer) {
  const int failed = run_processes(3, [](Rank& me) {
    if (me.rank == 2) usleep(200'000);
    for (int64_t call = 0; call < 3000; ++call) {
      int64_t value = me.rank == 0 ? call : -1;
      ASSERT_EQ(hocket_broadcast(me.comm, &value, 1, HOCKET_INT64, 0), HOCKET_OK);
      ASSERT_EQ(value, call);
    }
  });
  EXPECT_EQ(failed, 0);
}

TEST(ManyRanks, MeetOnFewCores) {
#ifdef HOCKET_SANITIZED
  constexpr int kRanks = 48;
#else
  constexpr int kRanks = 128;
#endif
  const int failed = run_processes(kRanks, [](Rank& me) {
    for (int64_t call = 0; call < 20; ++call) {
      int64_t in = me.rank + call;
      int64_t out = 0;
      ASSERT_EQ(hocket_allreduce(me.comm, &in, &out, 1, HOCKET_INT64, HOCKET_SUM), HOCKET_OK) << hocket_error_text();
      ASSERT_EQ(out, kRanks * (kRanks - 1) / 2 + kRanks * call);
      ASSERT_EQ(hocket_barrier(me.comm), HOCKET_OK);
    }
  });
  EXPECT_EQ(failed, 0);
}

TEST(NoMemory, IsAnErrorOnAllRanksAndNoSignal) {
  const int failed = run_bare_processes(2, [](Rank& me) {
    hocket_context_options_t options = {};
    options.struct_size = sizeof options;
    options.memory_limit = size_t{1} << 20;
    hocket_context_t* context = nullptr;
    ASSERT_EQ(hocket_context_create(&options, &context), HOCKET_OK) << hocket_error_text();
    // Rank 1 has nearly nothing left for a communicator.
    void* hoard = nullptr;
    if (me.rank == 1) {
      ASSERT_EQ(hocket_alloc(context, 900 << 10, &hoard), HOCKET_OK) << hocket_error_text();
    }
    hocket_comm_t* comm = nullptr;
    const hocket_status_t status = hocket_comm_create(context, &me.bootstrap, &comm);
    EXPECT_EQ(status, HOCKET_ERR_NO_MEMORY) << hocket_error_text();
    EXPECT_EQ(comm, nullptr);
    EXPECT_TRUE(text_has("rank 1")) << hocket_error_text();
    EXPECT_TRUE(text_has("HOCKET_MEMORY")) << hocket_error_text();
    void* memory = nullptr;
    if (me.rank == 1) {
      EXPECT_EQ(hocket_alloc(context, size_t{1} << 40, &memory), HOCKET_ERR_NO_MEMORY);
    }
    EXPECT_EQ(hocket_context_destroy(context), HOCKET_OK);
  });
  EXPECT_EQ(failed, 0);
}

TEST(FileSizeLimit, IsAnErrorAndNoSignal) {
  const int failed = run_bare_processes(2, [](Rank& me) {
    const rlimit limit{256 << 10, 256 << 10};
    if (me.rank == 0) {
      ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    }
    hocket_context_t* context = nullptr;
    ASSERT_EQ(hocket_context_create(nullptr, &context), HOCKET_OK) << hocket_error_text();
    hocket_comm_t* comm = nullptr;
    const hocket_status_t status = hocket_comm_create(context, &me.bootstrap, &comm);
    EXPECT_NE(status, HOCKET_OK);
    EXPECT_EQ(comm, nullptr);
    EXPECT_EQ(hocket_context_destroy(context), HOCKET_OK);
  });
  EXPECT_EQ(failed, 0);
}

TEST(Fork, AChildMayNotUseItsParentsCommunicator) {
  const int failed = run_processes(2, [](Rank& me) {
    ASSERT_EQ(hocket_barrier(me.comm), HOCKET_OK);
    const pid_t child = fork();
    if (child == 0) {
      const bool refused = hocket_barrier(me.comm) == HOCKET_ERR_INVALID_ARGUMENT && text_has("fork");
      _exit(refused ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ASSERT_EQ(hocket_barrier(me.comm), HOCKET_OK) << hocket_error_text();
  });
  EXPECT_EQ(failed, 0);
}

// Whether the kernel lets a process read the memory of another that is not its child, as ranks are to each other.
bool siblings_may_read() {
  int64_t word = 0;
  const pid_t owner = fork();
  if (owner == 0) {
    word = 42;
    raise(SIGSTOP);
    _exit(0);
  }
  int status = 0;
  waitpid(owner, &status, WUNTRACED);
  const pid_t reader = fork();
  if (reader == 0) {
    const iovec remote{&word, sizeof word};
    int64_t copy = 0;
    const iovec local{&copy, sizeof copy};
    _exit(process_vm_readv(owner, &local, 1, &remote, 1, 0) == sizeof copy && copy == 42 ? 0 : 1);
  }
  waitpid(reader, &status, 0);
  const bool may = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  kill(owner, SIGKILL);
  waitpid(owner, &status, 0);
  return may;
}

// Forced, it is either used, and right, or refused with the reason on all ranks where the kernel refuses it.
TEST(Wire, ThatCannotBeUsedIsAnError) {
  Network network(2, 1);
  const auto error_of = [&](const std::function<void(hocket_wire_t&)>& spoil) {
    hocket_wire_t wire = network.wire_of(0);
    spoil(wire);
    hocket_context_options_t options = {};
    options.struct_size = sizeof options;
    options.wire = &wire;
    hocket_context_t* context = nullptr;
    EXPECT_EQ(hocket_context_create(&options, &context), HOCKET_ERR_INVALID_ARGUMENT);
    return std::string(hocket_error_text());
  };
  EXPECT_NE(error_of([](hocket_wire_t& wire) { wire.test = nullptr; }).find("`wire->test` is NULL"), std::string::npos);
  EXPECT_NE(error_of([](hocket_wire_t& wire) { wire.rank = wire.size; }).find("wire->rank"), std::string::npos);
  EXPECT_NE(error_of([](hocket_wire_t& wire) { wire.struct_size = 8; }).find("struct_size"), std::string::npos);
  EXPECT_NE(error_of([](hocket_wire_t& wire) { std::strcpy(wire.name, "Open MPI"); }).find("`Open MPI`"),
            std::string::npos);
  EXPECT_NE(error_of([](hocket_wire_t& wire) { std::memset(wire.name, 'a', sizeof wire.name); }).find("ended by 0"),
            std::string::npos);
}

TEST(CrossMemory, GivesTheSameResultsOrSaysWhyItCannot) {
  const bool allowed = siblings_may_read();
  setenv("HOCKET_CMA", "on", 1);
  const int failed = run_bare_processes(3, [allowed](Rank& me) {
    hocket_context_t* context = nullptr;
    ASSERT_EQ(hocket_context_create(nullptr, &context), HOCKET_OK) << hocket_error_text();
    hocket_comm_t* comm = nullptr;
    const hocket_status_t made = hocket_comm_create(context, &me.bootstrap, &comm);
    EXPECT_EQ(made == HOCKET_OK, allowed) << hocket_error_text();
    if (made != HOCKET_OK) {
      EXPECT_EQ(made, HOCKET_ERR_INVALID_ARGUMENT);
      EXPECT_TRUE(text_has("HOCKET_CMA=on")) << hocket_error_text();
      return;
    }
    constexpr size_t kCount = 100'003;
    for (const char* algorithm : {"pieces", "ring", "recursive_doubling", "reduce_broadcast"}) {
      ASSERT_EQ(hocket_force(comm, "allreduce", algorithm), HOCKET_OK);
      std::vector<int64_t> in(kCount, me.rank + 1);
      std::vector<int64_t> out(kCount, -1);
      ASSERT_EQ(hocket_allreduce(comm, in.data(), out.data(), kCount, HOCKET_INT64, HOCKET_SUM), HOCKET_OK);
      ASSERT_EQ(out, std::vector<int64_t>(kCount, 6)) << algorithm;
      // The input is the caller's again: nobody may still be reading it.
      std::fill(in.begin(), in.end(), -77);
    }
    EXPECT_EQ(hocket_comm_destroy(comm), HOCKET_OK);
    EXPECT_EQ(hocket_context_destroy(context), HOCKET_OK);
  });
  unsetenv("HOCKET_CMA");
  EXPECT_EQ(failed, 0);
  if (!allowed) GTEST_SKIP() << "the kernel refuses process_vm_readv between ranks: refused rightly, but not tried";
}

TEST(Settings, WrongOnesAreNamedWithVariableValueAndRemedy) {
  const auto refusal = [](const char* name, const char* value) {
    setenv(name, value, 1);
    hocket_context_t* context = nullptr;
    EXPECT_EQ(hocket_context_create(nullptr, &context), HOCKET_ERR_INVALID_ARGUMENT) << name << "=" << value;
    EXPECT_EQ(context, nullptr);
    unsetenv(name);
    return std::string(hocket_error_text());
  };
  EXPECT_EQ(refusal("HOCKET_WAIT", "typo"),
            "HOCKET_WAIT=typo can't be understood; accepted is one of auto|spin|yield|sleep");
  EXPECT_EQ(refusal("HOCKET_MEMORY", "64Q").find("HOCKET_MEMORY=64Q can't be understood; accepted is a number of"), 0u);
  EXPECT_EQ(refusal("HOCKET_CHECK", "maybe").find("HOCKET_CHECK=maybe can't be understood; accepted is 1, on"), 0u);
  EXPECT_NE(refusal("HOCKET_ALREDUCE", "ring").find("did you mean HOCKET_ALLREDUCE?"), std::string::npos);
}

TEST(Communicators, ManyMayComeAndGo) {
  const int failed = run_processes(4, [](Rank& me) {
    for (int round = 0; round < 40; ++round) {
      const SplitBootstrap split(me.bootstrap, me.rank % (1 + round % 3));
      hocket_comm_t* part = nullptr;
      ASSERT_EQ(hocket_comm_create(me.context, &split.get(), &part), HOCKET_OK) << hocket_error_text();
      int64_t one = 1;
      int64_t sum = 0;
      ASSERT_EQ(hocket_allreduce(part, &one, &sum, 1, HOCKET_INT64, HOCKET_SUM), HOCKET_OK);
      ASSERT_EQ(sum, split.get().size);
      ASSERT_EQ(hocket_comm_destroy(part), HOCKET_OK);
    }
  });
  EXPECT_EQ(failed, 0);
}

TEST(Requests, CompleteInAnyOrderAlsoWhileBlockingCallsRun) {
  run_threads(3, [](Rank& me) {
    hocket_request_t* requests[7] = {};
    int64_t in[7];
    int64_t out[7] = {};
    for (int i = 0; i < 7; ++i) {
      in[i] = me.rank * 10 + i;
      ASSERT_EQ(hocket_allreduce_start(me.comm, &in[i], &out[i], 1, HOCKET_INT64, HOCKET_SUM, &requests[i]), HOCKET_OK);
    }
    ASSERT_EQ(hocket_barrier(me.comm), HOCKET_OK);
    for (int i = 6; i >= 0; --i) {
      ASSERT_EQ(hocket_wait(&requests[i]), HOCKET_OK);
      ASSERT_EQ(requests[i], nullptr);
      ASSERT_EQ(out[i], 30 + 3 * i);
    }
    hocket_request_t* open = nullptr;
    ASSERT_EQ(hocket_barrier_start(me.comm, &open), HOCKET_OK);
    ASSERT_EQ(hocket_comm_destroy(me.comm), HOCKET_ERR_INVALID_ARGUMENT);
    ASSERT_EQ(hocket_wait(&open), HOCKET_OK);
    hocket_request_t* none = nullptr;
    ASSERT_EQ(hocket_wait(&none), HOCKET_OK);
  });
}

}  // namespace
}  // namespace hocket::test
