// SPDX-License-Identifier: BSD-3-Clause
// What the authors' simulator LogGOPSim (Hoefler, Schneider, Lumsdaine, LogGOPSim: Simulating Large-Scale Applications
// in the LogGOPS Model, HPDC 2010; network LogGP, no noise) computes for schedules as `hocket schedule --format goal`
// writes them, under three sets of parameters.
//
// Thread safety: constants.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "schedule/plan.h"

namespace hocket::simulation {

inline constexpr std::string_view kSimulatedParameters[] = {
    "L=2500,o=1500,g=1000,G=6,O=0,S=65535",
    "L=25000,o=3000,g=1000,G=1,O=0,S=1000000",
    "L=1200,o=400,g=700,G=2,O=1,S=16384",
};

struct SimulatedTimes {
  uint64_t maximum_ns;
  std::vector<uint64_t> finish_ns;  // of each rank; one: of all of them; none: LogGOPSim tells the last one's only
};

struct SimulatedSchedule {
  schedule::Collective collective;
  std::string_view algorithm;
  uint32_t ranks;
  uint64_t count;
  uint32_t degree;
  uint32_t segments;
  uint64_t hash;  // of the schedule in GOAL without its comments: the one that LogGOPSim was given
  uint64_t events;
  SimulatedTimes times[3];  // for kSimulatedParameters
};

inline const SimulatedSchedule kSimulatedSchedules[] = {
    {schedule::Collective::kBarrier,
     "dissemination",
     16,
     16,
     0,
     1,
     0x23aa3342a3a6e234,
     320,
     {{22000, {22000}}, {124000, {124000}}, {8000, {8000}}}},
    {schedule::Collective::kBarrier,
     "dissemination",
     64,
     16,
     0,
     1,
     0x896fa5dbd3d08eeb,
     1920,
     {{33000, {}}, {186000, {}}, {12000, {}}}},
    {schedule::Collective::kBroadcast,
     "tree_mm",
     16,
     1,
     2,
     1,
     0x2a976adba9d869a6,
     64,
     {{22168,
       {6000, 10042, 10042, 14084, 10042, 14084, 14084, 18126, 10042, 14084, 14084, 18126, 14084, 18126, 18126, 22168}},
      {124028,
       {12000, 40007, 40007, 68014, 40007, 68014, 68014, 96021, 40007, 68014, 68014, 96021, 68014, 96021, 96021,
        124028}},
      {8056, {2549, 4156, 3849, 5456, 3849, 5456, 5149, 6756, 3849, 5456, 5149, 6756, 5149, 6756, 6449, 8056}}}},
    {schedule::Collective::kBroadcast,
     "pipeline",
     8,
     8192,
     0,
     8,
     0x252105509b4accb5,
     280,
     {{1504234, {352522, 615752, 824336, 982274, 1138212, 1294150, 1450088, 1504234}},
      {822696, {67337, 184865, 302393, 419921, 537449, 654977, 772505, 822696}},
      {306285, {128165, 204584, 222966, 241348, 259730, 278112, 296494, 306285}}}},
    {schedule::Collective::kReduce,
     "tree_mm",
     16,
     128,
     2,
     1,
     0xa37fd4e567040b78,
     60,
     {{46960, {46960, 1500, 13240, 1500, 24980, 1500, 13240, 1500, 36720, 1500, 13240, 1500, 24980, 1500, 13240, 1500}},
      {128500,
       {128500, 3000, 35125, 3000, 67250, 3000, 35125, 3000, 99375, 3000, 35125, 3000, 67250, 3000, 35125, 3000}},
      {16592, {16592, 1423, 5571, 1423, 9719, 1423, 5571, 1423, 13867, 1423, 5571, 1423, 9719, 1423, 5571, 1423}}}},
    {schedule::Collective::kAllreduce,
     "recursive_doubling",
     16,
     64,
     0,
     1,
     0x35808ba37d9f77a0,
     320,
     {{34468, {34468}}, {126248, {126248}}, {12292, {12292}}}},
    {schedule::Collective::kAllreduce,
     "ring",
     12,
     4096,
     0,
     1,
     0xec18b4a0acf16ae0,
     1320,
     {{485023, {485023, 483956, 483956, 485023, 483956, 483956, 485023, 483956, 483956, 485023, 483956, 483956}},
      {745173, {745173, 744986, 744986, 745173, 744986, 744986, 745173, 744986, 744986, 745173, 744986, 744986}},
      {200762, {200762, 200746, 200753, 200762, 200746, 200753, 200762, 200746, 200753, 200762, 200746, 200753}}}},
    {schedule::Collective::kAllgather,
     "bruck",
     16,
     64,
     0,
     1,
     0x63e079ed8ff1a886,
     382,
     {{68490,
       {68490, 68490, 68490, 68489, 68490, 68490, 68490, 68490, 68489, 68490, 68490, 68490, 68490, 68489, 68490,
        68490}},
      {132110,
       {132110, 132110, 132110, 132109, 132110, 132110, 132110, 132110, 132109, 132110, 132110, 132110, 132110, 132109,
        132110, 132110}},
      {27528,
       {27528, 27528, 27528, 27527, 27528, 27528, 27528, 27528, 27527, 27528, 27528, 27528, 27528, 27527, 27528,
        27528}}}},
    {schedule::Collective::kAllgather,
     "ring",
     10,
     512,
     0,
     1,
     0x924c9dff2272e957,
     460,
     {{270834, {270834}}, {316059, {316059}}, {117969, {117969}}}},
    {schedule::Collective::kAlltoall,
     "pairwise",
     16,
     256,
     0,
     1,
     0xb1be487d415eb0b4,
     1216,
     {{266832, {266832}}, {495807, {495807}}, {104217, {104217}}}},
    {schedule::Collective::kAlltoall,
     "linear",
     12,
     16,
     0,
     1,
     0x1a520e55dc7dc304,
     552,
     {{41906, {41906}}, {67403, {67403}}, {13956, {13956}}}},
};

}  // namespace hocket::simulation
