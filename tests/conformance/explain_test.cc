// SPDX-License-Identifier: BSD-3-Clause
// hocket_explain(): what would run, through the public API.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "support/team.h"

namespace hocket::test {
namespace {

constexpr const char* kCollectives[] = {
#define HOCKET_COLLECTIVE(constant, name, ...) #name,
#include "base/collectives.def"
};

bool text_has(const std::string& what) { return std::strstr(hocket_error_text(), what.c_str()) != nullptr; }

std::string explained(const Rank& me, const char* collective, size_t bytes) {
  char text[8192];
  EXPECT_EQ(hocket_explain(me.comm, collective, bytes, text, sizeof(text)), HOCKET_OK) << hocket_error_text();
  return text;
}

TEST(Explain, NamesWhatWouldRunForEveryCollective) {
  run_threads(3, [](Rank& me) {
    for (const char* collective : kCollectives) {
      const std::string text = explained(me, collective, 4096);
      EXPECT_EQ(text.find(collective), 0u) << text;
      EXPECT_NE(text.find("runs "), std::string::npos) << text;
    }
    EXPECT_NE(explained(me, "allreduce", 8).find("allreduce of 8 bytes on 3 ranks"), std::string::npos);
    EXPECT_NE(explained(me, "broadcast", 7).find("broadcast of 7 bytes on 3 ranks"), std::string::npos);
    EXPECT_NE(explained(me, "allgatherv", 12).find("of 12 bytes a block"), std::string::npos);
  });
}

TEST(Explain, AndForceTakeMpisNamesToo) {
  run_threads(2, [](Rank& me) {
    EXPECT_EQ(explained(me, "MPI_Bcast", 8), explained(me, "broadcast", 8));
    EXPECT_EQ(hocket_force(me.comm, "bcast", "tree_mm"), HOCKET_OK) << hocket_error_text();
    EXPECT_NE(explained(me, "broadcast", 8).find("tree_mm"), std::string::npos);
    EXPECT_EQ(hocket_force(me.comm, "MPI_Bcast", nullptr), HOCKET_OK) << hocket_error_text();
    EXPECT_EQ(hocket_force(me.comm, "alreduce", "ring"), HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_TRUE(text_has("did you mean `allreduce`?")) << hocket_error_text();
  });
}

TEST(Explain, WhereRanksSeeDifferentLengthsBytesDoNotMatter) {
  run_threads(2, [](Rank& me) {
    for (const char* collective : {"barrier", "gatherv", "scatterv", "alltoallv"}) {
      EXPECT_EQ(explained(me, collective, 0), explained(me, collective, 1 << 30)) << collective;
    }
  });
}

TEST(Explain, ATextThatIsTooLongIsCutOffAndTheErrorNamesTheRoom) {
  run_threads(1, [](Rank& me) {
    const std::string whole = explained(me, "allreduce", 8);
    std::string text(whole.size() + 1, 'x');
    EXPECT_EQ(hocket_explain(me.comm, "allreduce", 8, text.data(), text.size()), HOCKET_OK);
    EXPECT_EQ(text.c_str(), whole);
    std::fill(text.begin(), text.end(), 'x');
    EXPECT_EQ(hocket_explain(me.comm, "allreduce", 8, text.data(), 10), HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_TRUE(text_has(std::to_string(whole.size() + 1))) << hocket_error_text();
    EXPECT_EQ(text.c_str(), whole.substr(0, 9));
    EXPECT_EQ(text[10], 'x') << "nothing is written beyond the room";
    EXPECT_EQ(hocket_explain(me.comm, "allreduce", 8, text.data(), whole.size()), HOCKET_ERR_INVALID_ARGUMENT);
  });
}

TEST(Explain, AnUnknownNameIsAnErrorThatListsAll) {
  run_threads(1, [](Rank& me) {
    char text[64] = "";
    EXPECT_EQ(hocket_explain(me.comm, "allreducing", 8, text, sizeof(text)), HOCKET_ERR_INVALID_ARGUMENT);
    for (const char* collective : kCollectives) EXPECT_TRUE(text_has(collective)) << hocket_error_text();
    EXPECT_EQ(hocket_force(me.comm, "allreducing", nullptr), HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_TRUE(text_has("exscan")) << hocket_error_text();
    EXPECT_EQ(hocket_explain(me.comm, "allreduce", 8, text, 0), HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(hocket_explain(nullptr, "allreduce", 8, text, sizeof(text)), HOCKET_ERR_INVALID_ARGUMENT);
  });
}

}  // namespace
}  // namespace hocket::test
