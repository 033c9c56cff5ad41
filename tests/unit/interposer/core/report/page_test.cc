// SPDX-License-Identifier: BSD-3-Clause
#include "core/report/page.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/report/json.h"

namespace hocket::interposer {
namespace {

constexpr uint64_t kSecond = 1'000'000;

PlacedSite site_of(Collective collective, uint64_t offset, uint64_t us, uint64_t waited_us) {
  PlacedSite site;
  std::strcpy(site.object, "/x/solver");
  std::strcpy(site.function, "step");
  site.offset = offset;
  site.calls = 8;
  site.us = us;
  site.waited_us = waited_us;
  site.collective = collective;
  return site;
}

// Two ranks, ten seconds each; rank 1 is late.
JobReport small_report() {
  JobReport report;
  report.ranks = 2;
  report.calls[counter_index(Collective::kBarrier, Outcome::kCarriedOut)] = 16;
  report.calls[counter_index(Collective::kBroadcast, Outcome::kNotSetUp)] = 2;
  report.times[static_cast<size_t>(Collective::kBarrier)] = 9 * kSecond;
  report.times[static_cast<size_t>(Collective::kBroadcast)] = kSecond;
  report.times[kCollectives] = 20 * kSecond;
  report.timed_us = 9 * kSecond;
  report.waited_us = 8 * kSecond;
  report.late = {{1, 7 * kSecond}, {0, kSecond}};
  report.sites.places[0] = site_of(Collective::kBarrier, 0x11b2, 9 * kSecond, 8 * kSecond);
  report.sites.places[1] = site_of(Collective::kBroadcast, 0x12, kSecond, 0);
  report.sites.used = 2;
  report.lines = {{"main", "/src/solver.c", 31}, {}};
  return report;
}

TEST(Page, TellsWhereTimeWentForWhomAndInWhichLines) {
  EXPECT_EQ(page_text(small_report(), {}),
            R"(
time of a rank, the mean of all                          seconds    share
  from MPI_Init to MPI_Finalize                           10.000  100.0 %  ########################
  in collectives                                           5.000   50.0 %  ############
    waiting for late ranks                                 4.000   40.0 %  ##########
    moving bytes, and the rest                             0.500    5.0 %  #
    by the MPI: not told apart                             0.500    5.0 %  #

waited for most, by all others together                  seconds    share
  rank 1                                                   7.000   87.5 %  #####################
  rank 0                                                   1.000   12.5 %  ###

call sites where it went, a rank                         seconds    share  waiting
  MPI_Barrier      main, solver.c:31                       4.500   90.0 %   88.9 %  ######################
  MPI_Bcast        step, solver+0x12                       0.500   10.0 %    0.0 %  ##
)");
}

ChoiceTimes choice_of(const char* algorithm, uint64_t bytes, uint64_t ns) {
  ChoiceTimes choice;
  choice.key = {Collective::kAllreduce, algorithm, bytes, 2};
  choice.calls = 1000;
  choice.ns = ns;
  return choice;
}

TEST(Page, SetsWhatRanBesideTheBestThatWasMeasured) {
  JobReport report = small_report();
  report.choices = {choice_of("ring", 65536, 90'000'000), choice_of("direct", 8, 5'210'000),
                    choice_of("direct", 1, 4'000'000)};
  report.choices[0].best = "pieces:segment=32K";
  report.choices[0].best_us = 61.25;
  report.choices[0].best_bytes = 65536;
  report.choices[1].best = "direct";
  report.choices[1].best_us = 3.1;
  report.choices[1].best_bytes = 64;
  const std::string text = page_text(report, {});
  EXPECT_NE(text.find(R"(
hocket's choice, a call without its waits                us here  us best that was measured
  MPI_Allreduce    ring, 65536 bytes, 2 ranks             90.000   61.250 pieces:segment=32K
  MPI_Allreduce    direct, 8 bytes, 2 ranks                5.210    3.100 direct, 64 bytes
)"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("1 byte,"), std::string::npos) << "less than a twentieth: " << text;
  EXPECT_EQ(text.find("hocket tune"), std::string::npos) << text;
  report.choices[1].calls = 99;
  EXPECT_EQ(page_text(report, {}).find("direct, 8"), std::string::npos) << "chance: " << page_text(report, {});
  report.choices[1].calls = 1000;
  report.choices[0].best_is_shipped = true;
  EXPECT_NE(page_text(report, {}).find("on another machine"), std::string::npos);
  report.choices[1].best.clear();
  EXPECT_NE(page_text(report, {}).find("  5.210        -\n"), std::string::npos) << page_text(report, {});
  EXPECT_NE(page_text(report, {}).find("nothing was measured"), std::string::npos);
}

TEST(Choices, AreKeptByCallAndLookedUpOnce) {
  static Choices choices;  // lives as long as the process: it gives nothing back
  int asked = 0;
  const auto find_best = [&](ChoiceTimes& choice) {
    ++asked;
    choice.best = "ring";
  };
  for (int i = 0; i < 3; ++i) choices.add({Collective::kReduce, "tree", 8, 2}, 10, find_best);
  choices.add({Collective::kReduce, "tree", 16, 2}, 100, find_best);
  choices.add({Collective::kReduce, "tree", 16, 3}, 1, find_best);
  const std::vector<ChoiceTimes> read = choices.read();
  ASSERT_EQ(read.size(), 3u);
  EXPECT_EQ(read[0].key.bytes, 16u);
  EXPECT_EQ(read[1].calls, 3u);
  EXPECT_EQ(read[1].ns, 30u);
  EXPECT_EQ(read[2].key.ranks, 3u);
  EXPECT_EQ(read[2].best, "ring");
  EXPECT_EQ(asked, 3);
  for (uint64_t bytes = 0; bytes < 200; ++bytes) choices.add({Collective::kScan, "linear", bytes, 2}, 1, find_best);
  EXPECT_EQ(choices.read().size(), Choices::kMost);
}

TEST(Page, IsEmptyWithoutCalls) {
  EXPECT_EQ(page_text(JobReport(), {}), "");
  JobReport report = small_report();
  report.times = {};
  EXPECT_EQ(page_text(report, {}), "");
}

TEST(Page, SaysNothingOfWaitsThatNobodyMeasured) {
  JobReport report = small_report();
  report.timed_us = report.waited_us = 0;
  report.late.clear();
  EXPECT_EQ(page_text(report, {}).find("wait"), std::string::npos) << page_text(report, {});
}

TEST(Page, FitsOnAScreenWhateverThereIs) {
  JobReport report = small_report();
  std::vector<uint64_t> late(1000, kSecond);
  keep_latest(report, late);
  report.sites.used = SiteTable::kMost;
  for (PlacedSite& place : report.sites.places) place = site_of(Collective::kNeighborAlltoallwInit, 1, kSecond, 0);
  report.lines.assign(SiteTable::kMost, {std::string(300, 'f'), "/src/" + std::string(200, 'x') + ".c", 123456});
  std::istringstream text(page_text(report, {true, true}));
  int lines = 0;
  for (std::string line; std::getline(text, line); ++lines) {
    size_t columns = 0;
    bool is_escape = false;
    for (const char letter : line) {
      if (letter == '\033') is_escape = true;
      if (!is_escape && (letter & 0xc0) != 0x80) ++columns;
      if (letter == 'm') is_escape = false;
    }
    EXPECT_LE(columns, 120u) << line;
  }
  EXPECT_LE(lines, 35);
}

// The rows below the heading that begins with `title`.
std::vector<std::string> rows_below(const std::string& page, const std::string& title) {
  std::istringstream text(page.substr(std::min(page.find("\n" + title), page.size() - 1) + 1));
  std::vector<std::string> rows;
  std::string line;
  std::getline(text, line);
  while (std::getline(text, line) && !line.empty()) rows.push_back(line);
  return rows;
}

JobReport late_report(size_t ranks, uint64_t least_us, uint64_t more_us) {
  JobReport report = small_report();
  report.ranks = static_cast<int>(ranks);
  std::vector<uint64_t> us(ranks);
  for (size_t rank = 0; rank < ranks; ++rank) us[rank] = least_us + rank * more_us;
  keep_latest(report, us);
  return report;
}

TEST(Page, TellsOfHoweverManyRanksInOneHundredPerCent) {
  for (const size_t ranks : {1, 3, 20, 1000, 100'000}) {
    // From seconds to the two hundred years that such a job may wait in a day.
    for (const uint64_t us : {uint64_t{10}, kSecond, 60'000 * kSecond}) {
      const std::vector<std::string> rows = rows_below(page_text(late_report(ranks, us, us / 1000), {}), "waited for");
      ASSERT_FALSE(rows.empty());
      ASSERT_LE(rows.size(), 11u);
      double percent = 0;
      for (const std::string& row : rows) {
        EXPECT_EQ(row.find(" %"), 71u) << "out of line: " << row;
        percent += std::stod(row.substr(64, 7));
      }
      EXPECT_NEAR(percent, 100, 0.6) << ranks;
    }
  }
  EXPECT_EQ(rows_below(page_text(late_report(20, kSecond, 0), {}), "waited for").back(),
            "  10 others                                               10.000   50.0 %  ############");
  EXPECT_EQ(rows_below(page_text(late_report(11, kSecond, 0), {}), "waited for").back().substr(0, 12), "  1 other   ");
  EXPECT_TRUE(rows_below(page_text(late_report(5000, kSecond, 0), {}), "waited for")[0].starts_with("  5000 others "));
}

TEST(Page, NamesWhatIsNotToldApart) {
  const auto with = [](std::initializer_list<std::pair<Collective, Outcome>> calls) {
    JobReport report = small_report();
    report.calls = {};
    report.calls[static_cast<size_t>(counter_index(Collective::kBarrier, Outcome::kCarriedOut))] = 5;
    for (const auto& [collective, outcome] : calls)
      report.calls[static_cast<size_t>(counter_index(collective, outcome))] = 1;
    const std::string text = page_text(report, {});
    const size_t end = text.find(" told apart");
    const size_t begin = text.rfind('\n', end) + 5;
    return text.substr(begin, end - begin);
  };
  EXPECT_EQ(with({{Collective::kIbarrier, Outcome::kCarriedOut}}), "started: not");
  EXPECT_EQ(with({{Collective::kBarrierInit, Outcome::kNotByEngines}}), "started: not");
  EXPECT_EQ(with({{Collective::kBroadcast, Outcome::kNotSetUp}}), "by the MPI: not");
  EXPECT_EQ(with({{Collective::kNeighborAlltoall, Outcome::kCarriedOut}}), "among neighbours: not");
  EXPECT_EQ(with({{Collective::kIneighborAlltoall, Outcome::kCarriedOut}, {Collective::kReduce, Outcome::kMpisOwn}}),
            "started, or by the MPI: not");
  EXPECT_EQ(with({{Collective::kReduce, Outcome::kSingleRank}}), "not");
  JobReport report = small_report();
  report.timed_us = report.within_us();
  EXPECT_EQ(page_text(report, {}).find("told apart"), std::string::npos);
}

TEST(JobReport, HasNoPartLongerThanItsWhole) {
  JobReport report = small_report();
  report.timed_us = 11 * kSecond;
  report.waited_us = 12 * kSecond;
  EXPECT_EQ(report.moving_us(), 0u);
  EXPECT_EQ(report.not_told_apart_us(), 0u);
  keep_parts_within(report);
  EXPECT_EQ(report.timed_us, 10 * kSecond);
  EXPECT_EQ(report.waited_us, 10 * kSecond);
}

TEST(JobReport, KeepsTheTenThatWereWaitedForMost) {
  JobReport report;
  std::vector<uint64_t> us(1000, 1);
  us[700] = 50;
  us[3] = 60;
  us[4] = 0;
  keep_latest(report, us);
  ASSERT_EQ(report.late.size(), 10u);
  EXPECT_EQ(report.late[0].rank, 3u);
  EXPECT_EQ(report.late[1].rank, 700u);
  EXPECT_EQ(report.late[2].rank, 0u);
  EXPECT_EQ(report.other_late, 997u - 8u);
  EXPECT_EQ(report.other_late_us, 997u - 8u);
}

TEST(JobReport, JoinsCallsOfOneLineLongestFirst) {
  JobReport report = small_report();
  report.sites.places[2] = site_of(Collective::kBroadcast, 0x99, 2 * kSecond, 1);
  report.sites.places[3] = site_of(Collective::kBroadcast, 0xa9, 9 * kSecond, 2);
  report.sites.places[4] = site_of(Collective::kBroadcast, 0xb9, 1, 0);
  report.sites.used = 5;
  report.lines = {{"f", "a.c", 1}, {}, {"f", "a.c", 1}, {"f", "a.c", 1}, {}};
  merge_lines(report);
  ASSERT_EQ(report.sites.used, 4u);
  ASSERT_EQ(report.lines.size(), 4u);
  EXPECT_EQ(report.sites.places[0].collective, Collective::kBroadcast);
  EXPECT_EQ(report.sites.places[0].us, 11 * kSecond);
  EXPECT_EQ(report.sites.places[0].calls, 16u);
  EXPECT_EQ(report.sites.places[0].waited_us, 3u);
  EXPECT_EQ(report.lines[0].line, 1u);
  EXPECT_EQ(report.sites.places[1].collective, Collective::kBarrier) << "another collective of that line";
  EXPECT_EQ(report.sites.places[2].offset, 0x12u) << "of no known line";
  EXPECT_EQ(report.lines[2].line, 0u);
}

TEST(Terminal, FitsTextOfAnyLetters) {
  EXPECT_EQ(fit_text("abc", 5), "abc  ");
  EXPECT_EQ(fit_text("äöü", 5), "äöü  ");
  EXPECT_EQ(fit_text("abcdefghij", 6), "ab..ij");
  EXPECT_EQ(fit_text("äbcdefghiü", 5), "ä..iü");
  EXPECT_EQ(fit_text("a\n\033[1m\x7f", 8), "a??[1m? ");
  EXPECT_EQ(fit_text("abc", 1), ".");
  EXPECT_EQ(fit_text("abc", 0), "");
}

TEST(Terminal, DrawsBarsOfTheirShare) {
  EXPECT_EQ(bar_text(0, 8, false), "");
  EXPECT_EQ(bar_text(0.001, 8, false), "#");
  EXPECT_EQ(bar_text(0.5, 8, false), "####");
  EXPECT_EQ(bar_text(7, 8, false), "########");
  EXPECT_EQ(bar_text(0.5, 3, true), "█▌");
  EXPECT_EQ(bar_text(1, 3, true), "███");
  EXPECT_EQ(bar_text(0.0001, 3, true), "▏");
}

TEST(Json, HasTheNumbersOfTheJob) {
  const std::string text = json_text(small_report());
  for (const char* part :
       {R"("ranks": 2)",
        R"("seconds": {"job": 20.000000, "collectives": 10.000000, "waiting": 8.000000, )"
        R"("moving": 1.000000, "not_told_apart": 1.000000})",
        R"("MPI_Bcast": {"carried_out": 0, "passed_through": 2, "outcomes": {"not yet set up": 2}, )"
        R"("seconds": 1.000000})",
        R"("waited_for": [{"rank": 1, "seconds": 7.000000}, {"rank": 0, "seconds": 1.000000}])",
        R"({"collective": "MPI_Barrier", "function": "main", "file": "/src/solver.c", "line": 31, )"
        R"("object": "/x/solver", "offset": 4530, "calls": 8, "seconds": 9.000000, "waiting": 8.000000})",
        R"("function": "step", "file": null, "line": null,)"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(Json, QuotesWhatFilesMayBeCalled) {
  EXPECT_EQ(json_string("a\"b\\c\n\x01"), R"("a\"b\\c\u000a\u0001")");
  EXPECT_EQ(json_string("ä€"), "\"ä€\"");
  EXPECT_EQ(json_string("\xff\xc3"), "\"??\"");
  EXPECT_EQ(json_string("\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf\xed\x9f\xbf"),
            "\"\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf\xed\x9f\xbf\"");
  for (const char* wrong :
       {"\xc0\x80", "\xe0\x80\x80", "\xf0\x8f\xbf\xbf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80"})
    EXPECT_EQ(json_string(wrong), "\"" + std::string(std::strlen(wrong), '?') + "\"");
}

TEST(Json, IsWrittenWholeOrNotAtAll) {
  const std::string path = testing::TempDir() + "report_test.json";
  ASSERT_TRUE(write_file(path, "one").is_ok());
  ASSERT_TRUE(write_file(path, "two").is_ok());
  std::ifstream file(path);
  std::string text;
  file >> text;
  EXPECT_EQ(text, "two");
  std::remove(path.c_str());
  const Status failed = write_file("/no/such/folder/a.json", "one");
  ASSERT_FALSE(failed.is_ok());
  EXPECT_NE(std::string(failed.message()).find("/no/such/folder/a.json"), std::string::npos);
  EXPECT_FALSE(write_file(testing::TempDir(), "one").is_ok());
}

TEST(Json, FilesAreTriedBeforeTheyAreWritten) {
  const std::string folder = testing::TempDir() + "report_test";
  std::filesystem::create_directories(folder + "/folder.json");
  std::ofstream(folder + "/there.json") << "kept";
  EXPECT_TRUE(try_file(folder + "/new.json").is_ok());
  EXPECT_TRUE(try_file(folder + "/there.json").is_ok());
  EXPECT_FALSE(try_file(folder + "/folder.json").is_ok());
  const Status failed = try_file(folder + "/none/a.json");
  ASSERT_FALSE(failed.is_ok());
  EXPECT_EQ(std::string(failed.message()),
            "HOCKET_STATS: " + folder + "/none/a.json can't be written: No such file or directory");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 2) << "something is left";
  std::string text;
  std::ifstream(folder + "/there.json") >> text;
  EXPECT_EQ(text, "kept");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace hocket::interposer
