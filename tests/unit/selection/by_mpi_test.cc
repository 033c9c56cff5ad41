// SPDX-License-Identifier: BSD-3-Clause
#include "selection/by_mpi.h"

#include <gtest/gtest.h>

#include "selection/parsed_table.h"

namespace hocket::selection {
namespace {

using schedule::Collective;

Table openmpis_table(const std::string& lines) { return parsed_table(lines).under("openmpi"); }

Query four_ranks() { return {.ranks = 4, .is_of_mpi = true, .oversubscribed = true}; }

ByMpi by(const std::string& lines, const ByMpi::Forced& forced = {}) {
  const Table table = openmpis_table(lines);
  return {four_ranks(), &table, forced};
}

ByMpi::Forced forced(Collective collective, std::string_view text) {
  ByMpi::Forced all;
  Result<Spec> spec = parse_spec(collective, text);
  EXPECT_TRUE(spec.is_ok()) << spec.status().message();
  all.emplace(collective, spec.take());
  return all;
}

// What explain() says of the same call.
bool is_mpis_in_words(const std::string& lines, Collective collective, uint64_t bytes) {
  Query query = four_ranks();
  query.collective = collective;
  query.bytes = bytes;
  return explain(query, openmpis_table(lines)).find("runs      mpi:") != std::string::npos;
}

TEST(ByMpi, IsNothingWithoutALineThatSaysSo) {
  EXPECT_FALSE(by("allreduce direct\n").any());
  EXPECT_FALSE(ByMpi().any());
}

TEST(ByMpi, TakesTheLengthsOfItsLinesThatHoldHere) {
  const ByMpi found =
      by("scan wire=mpich mpi\n"
         "scan nodes=2 mpi\n"
         "scan uncrowded mpi\n"
         "scan ranks=4 wire=openmpi crowded bytes=8..64 mpi\n"
         "scan bytes=1K..2K mpi\n");
  EXPECT_TRUE(found.any());
  for (const uint64_t bytes : {8, 64, 1024, 2048}) EXPECT_TRUE(found.chosen(Collective::kScan, bytes)) << bytes;
  for (const uint64_t bytes : {0, 7, 65, 1023, 2049}) EXPECT_FALSE(found.chosen(Collective::kScan, bytes)) << bytes;
  EXPECT_FALSE(found.chosen(Collective::kExscan, 8));
}

TEST(ByMpi, HeedsTheVersionOfTheMpi) {
  const Table table = openmpis_table(
      "scan wire=openmpi-5 mpi\nexscan wire=openmpi mpi\nbarrier wire=openm mpi\nreduce wire=openmpi-51 mpi\n");
  const ByMpi of_five(four_ranks(), &static_cast<const Table&>(Table(table).under("openmpi-5")), {});
  EXPECT_TRUE(of_five.chosen(Collective::kScan, 8));
  EXPECT_TRUE(of_five.chosen(Collective::kExscan, 8));
  EXPECT_FALSE(of_five.chosen(Collective::kBarrier, 0));
  EXPECT_FALSE(of_five.chosen(Collective::kReduce, 8));
  const ByMpi of_any(four_ranks(), &table, {});
  EXPECT_FALSE(of_any.chosen(Collective::kScan, 8));
  EXPECT_TRUE(of_any.chosen(Collective::kExscan, 8));
}

TEST(ByMpi, LeavesWhatLinesBeforeCover) {
  const std::string lines =
      "scan bytes=16..31 direct\n"
      "scan bytes=..99 mpi\n"
      "scan bytes=90..200 linear\n"
      "scan mpi\n";
  const ByMpi found = by(lines);
  for (const uint64_t bytes : {0, 15, 16, 31, 32, 99, 100, 200, 201, 1 << 30})
    EXPECT_EQ(found.chosen(Collective::kScan, bytes), is_mpis_in_words(lines, Collective::kScan, bytes)) << bytes;
  EXPECT_TRUE(found.chosen(Collective::kScan, 99));
  EXPECT_FALSE(found.chosen(Collective::kScan, 100));
}

// Whether a line can serve may hang on more than lengths, which not all ranks of a call need to see alike.
TEST(ByMpi, LeavesWhatALineBeforeCoversAndCannotServe) {
  const std::string lines = "allreduce bytes=..64 multicast\nallreduce mpi\n";
  EXPECT_FALSE(by(lines).chosen(Collective::kAllreduce, 8));
  EXPECT_FALSE(is_mpis_in_words(lines, Collective::kAllreduce, 8));
  EXPECT_TRUE(by(lines).chosen(Collective::kAllreduce, 65));
  EXPECT_TRUE(is_mpis_in_words(lines, Collective::kAllreduce, 65));
}

TEST(ByMpi, IsForcedWithATableAndWithout) {
  const ByMpi::Forced mpis = forced(Collective::kBarrier, "mpi");
  EXPECT_TRUE(by("barrier signal\n", mpis).chosen(Collective::kBarrier, 0));
  EXPECT_TRUE(ByMpi(four_ranks(), nullptr, mpis).chosen(Collective::kBarrier, 0));
  EXPECT_FALSE(by("barrier mpi\n", forced(Collective::kBarrier, "signal")).any());
}

TEST(ByMpi, IsPassedOverWhereNoMpiIsBeneath) {
  const Table table = openmpis_table("allreduce mpi\nallreduce direct\n");
  Query query = four_ranks();
  query.collective = Collective::kAllreduce;
  query.bytes = 8;
  query.is_of_mpi = false;
  const Result<Choice> choice = choose(query, table);
  ASSERT_TRUE(choice.is_ok()) << choice.status().message();
  EXPECT_EQ(choice.value().algorithm->name, "direct");
  const Spec mpis = parse_spec(Collective::kAllreduce, "mpi").take();
  const Result<Choice> asked = choose(query, table, &mpis);
  ASSERT_FALSE(asked.is_ok());
  EXPECT_NE(std::string(asked.status().message()).find("does not come through an MPI"), std::string::npos);
  EXPECT_NE(explain(query, table, &mpis).find("runs      nothing"), std::string::npos);
}

TEST(ByMpi, HasNoParametersAndIsNoPart) {
  EXPECT_FALSE(parse_spec(Collective::kAllreduce, "mpi:degree=2").is_ok());
  EXPECT_FALSE(parse_spec(Collective::kAllreduce, "leader:across=mpi").is_ok());
  EXPECT_EQ(to_text(parse_spec(Collective::kAllreduce, "mpi").take()), "mpi");
}

}  // namespace
}  // namespace hocket::selection
