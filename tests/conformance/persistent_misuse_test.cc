// SPDX-License-Identifier: BSD-3-Clause
// Requests of planned calls at the wrong time: each gets a clear error, and changes nothing; and what becomes of them
// when their communicator breaks or goes.
#include <gtest/gtest.h>
#include <hocket/persistent.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "support/team.h"

namespace hocket::test {
namespace {

bool text_says(const char* part) { return std::string(hocket_error_text()).find(part) != std::string::npos; }

#define EXPECT_REFUSED(call, words)                       \
  do {                                                    \
    EXPECT_EQ(call, HOCKET_ERR_INVALID_ARGUMENT);         \
    EXPECT_TRUE(text_says(words)) << hocket_error_text(); \
  } while (false)

TEST(PersistentRequests, AreStartedAndFreedOnlyWhenTheyAreNotUnderWay) {
  run_threads(3, [](Rank& me) {
    int64_t mine = me.rank, all = 0;
    hocket_request_t* sum = nullptr;
    ASSERT_EQ(hocket_allreduce_init(me.comm, &mine, &all, 1, HOCKET_INT64, HOCKET_SUM, &sum), HOCKET_OK);
    EXPECT_EQ(hocket_wait(&sum), HOCKET_OK) << "one that is not under way is complete";
    EXPECT_EQ(hocket_test(&sum), HOCKET_OK);
    for (int start = 0; start < 3; ++start) {
      ASSERT_EQ(hocket_start(sum), HOCKET_OK) << hocket_error_text();
      // Whether or not it has come to its end by now: nobody has heard of it.
      EXPECT_REFUSED(hocket_start(sum), "hocket_start: `request` can't be started: it is under way");
      EXPECT_REFUSED(hocket_request_free(&sum), "hocket_request_free: the request is under way");
      ASSERT_NE(sum, nullptr);
      ASSERT_EQ(hocket_wait(&sum), HOCKET_OK) << hocket_error_text();
      ASSERT_NE(sum, nullptr);
      EXPECT_EQ(all, 3);
    }
    ASSERT_EQ(hocket_request_free(&sum), HOCKET_OK) << hocket_error_text();
    EXPECT_EQ(sum, nullptr);
    EXPECT_EQ(hocket_request_free(&sum), HOCKET_OK);
    EXPECT_EQ(hocket_request_free(nullptr), HOCKET_OK);
  });
}

TEST(PersistentRequests, AreThoseOfAnInit) {
  run_threads(2, [](Rank& me) {
    EXPECT_REFUSED(hocket_start(nullptr), "NULL");
    hocket_request_t* started = nullptr;
    ASSERT_EQ(hocket_barrier_start(me.comm, &started), HOCKET_OK);
    EXPECT_REFUSED(hocket_start(started), "hocket_..._init makes requests that can be started again");
    EXPECT_REFUSED(hocket_request_free(&started), "started by a hocket_..._start");
    ASSERT_EQ(hocket_wait(&started), HOCKET_OK);
    EXPECT_EQ(started, nullptr);
    int64_t data[2] = {};
    hocket_request_t* request = nullptr;
    EXPECT_REFUSED(hocket_broadcast_init(me.comm, data, 2, HOCKET_INT64, 2, &request), "root 2");
    EXPECT_REFUSED(hocket_broadcast_init(me.comm, data, 2, HOCKET_INT64, 0, nullptr), "`request` is NULL");
    EXPECT_REFUSED(hocket_broadcast_init(nullptr, data, 2, HOCKET_INT64, 0, &request), "`comm` is NULL");
    EXPECT_REFUSED(hocket_neighbor_allgather_init(nullptr, data, data, 1, HOCKET_INT64, &request), "NULL");
    EXPECT_EQ(request, nullptr);
    EXPECT_EQ(hocket_barrier(me.comm), HOCKET_OK) << "none of this has harmed the communicator";
  });
}

TEST(PersistentRequests, AreStartedAllOrNone) {
  run_threads(2, [](Rank& me) {
    hocket_request_t* calls[3] = {};
    for (hocket_request_t*& call : calls) ASSERT_EQ(hocket_barrier_init(me.comm, &call), HOCKET_OK);
    hocket_request_t* const twice[] = {calls[0], calls[1], calls[0]};
    EXPECT_REFUSED(hocket_start_all(3, twice), "`requests[2]` can't be started, and none was: it is among them twice");
    hocket_request_t* const holed[] = {calls[0], calls[1], nullptr};
    EXPECT_REFUSED(hocket_start_all(3, holed), "`requests[2]` can't be started, and none was: it is NULL");
    EXPECT_REFUSED(hocket_start_all(1, nullptr), "`requests` is NULL");
    EXPECT_EQ(hocket_start_all(0, nullptr), HOCKET_OK);
    ASSERT_EQ(hocket_start(calls[2]), HOCKET_OK) << hocket_error_text();
    EXPECT_REFUSED(hocket_start_all(3, calls), "`requests[2]` can't be started, and none was: it is under way");
    ASSERT_EQ(hocket_wait(&calls[2]), HOCKET_OK);
    for (int round = 0; round < 3; ++round) {
      ASSERT_EQ(hocket_start_all(3, calls), HOCKET_OK) << hocket_error_text();
      for (const int i : {2, 0, 1}) ASSERT_EQ(hocket_wait(&calls[i]), HOCKET_OK) << hocket_error_text();
    }
    for (hocket_request_t*& call : calls) ASSERT_EQ(hocket_request_free(&call), HOCKET_OK);
  });
}

TEST(PersistentRequests, KeepTheirCommunicatorWhileUnderWayAndMayOutliveItOtherwise) {
  run_threads(2, [](Rank& me) {
    hocket_comm_t* twin = nullptr;
    ASSERT_EQ(hocket_comm_dup(me.comm, &twin), HOCKET_OK) << hocket_error_text();
    hocket_request_t *started = nullptr, *idle = nullptr;
    ASSERT_EQ(hocket_barrier_init(twin, &started), HOCKET_OK);
    ASSERT_EQ(hocket_barrier_init(twin, &idle), HOCKET_OK);
    ASSERT_EQ(hocket_start(started), HOCKET_OK);
    EXPECT_REFUSED(hocket_comm_destroy(twin), "1 requests that have not been tested or waited for");
    ASSERT_EQ(hocket_wait(&started), HOCKET_OK) << hocket_error_text();
    ASSERT_EQ(hocket_comm_destroy(twin), HOCKET_OK) << hocket_error_text();
    for (hocket_request_t* request : {started, idle}) {
      EXPECT_REFUSED(hocket_start(request), "its communicator has been destroyed; free it");
      EXPECT_REFUSED(hocket_start_all(1, &request), "its communicator has been destroyed; free it");
      EXPECT_EQ(hocket_wait(&request), HOCKET_OK);
      EXPECT_EQ(hocket_test(&request), HOCKET_OK);
      EXPECT_EQ(hocket_request_free(&request), HOCKET_OK) << hocket_error_text();
    }
  });
}

TEST(PersistentRequests, OfABrokenCommunicatorEndWithTheReasonAndStayToBeFreed) {
  run_threads(3, [](Rank& me) {
    hocket_request_t *started = nullptr, *idle = nullptr;
    ASSERT_EQ(hocket_barrier_init(me.comm, &started), HOCKET_OK);
    ASSERT_EQ(hocket_barrier_init(me.comm, &idle), HOCKET_OK);
    ASSERT_EQ(hocket_barrier(me.comm), HOCKET_OK);
    if (me.rank != 1) {
      ASSERT_EQ(hocket_start(started), HOCKET_OK) << hocket_error_text();
    } else {
      ASSERT_EQ(hocket_comm_abort(me.comm, "a test wants it"), HOCKET_OK);
    }
    EXPECT_EQ(hocket_wait(&started) == HOCKET_OK, me.rank == 1) << "where it wasn't started there is nothing to fail";
    ASSERT_NE(started, nullptr);
    EXPECT_EQ(hocket_wait(&started), HOCKET_OK) << "it has been told";
    EXPECT_EQ(hocket_start(idle), HOCKET_ERR_BROKEN);
    EXPECT_EQ(hocket_start(started), HOCKET_ERR_BROKEN);
    EXPECT_EQ(hocket_wait(&started), HOCKET_OK) << "it has not been started";
    EXPECT_EQ(hocket_request_free(&started), HOCKET_OK) << hocket_error_text();
    EXPECT_EQ(hocket_request_free(&idle), HOCKET_OK) << hocket_error_text();
  });
}

TEST(PersistentRequests, AreNotAForkedChilds) {
  if (has_several_nodes()) GTEST_SKIP() << "it is the same on all of them";
  EXPECT_EQ(run_processes(1,
                          [](Rank& me) {
                            hocket_request_t* request = nullptr;
                            ASSERT_EQ(hocket_barrier_init(me.comm, &request), HOCKET_OK);
                            const pid_t child = fork();
                            if (child == 0) {
                              const bool is_refused = hocket_start(request) == HOCKET_ERR_INVALID_ARGUMENT &&
                                                      text_says("forked") &&
                                                      hocket_request_free(&request) == HOCKET_ERR_INVALID_ARGUMENT;
                              _exit(is_refused ? 0 : 1);
                            }
                            int status = -1;
                            ASSERT_EQ(waitpid(child, &status, 0), child);
                            EXPECT_EQ(status, 0);
                            ASSERT_EQ(hocket_start(request), HOCKET_OK);
                            ASSERT_EQ(hocket_wait(&request), HOCKET_OK);
                            ASSERT_EQ(hocket_request_free(&request), HOCKET_OK);
                          }),
            0);
}

}  // namespace
}  // namespace hocket::test
