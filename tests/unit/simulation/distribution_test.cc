// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/core/distribution.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hocket::simulation {
namespace {

struct Moments {
  double mean_us = 0;
  double deviation_us = 0;
  double least_us = 1e30;
  double most_us = 0;
};

Moments moments_of(const char* text) {
  const Distribution distribution = Distribution::parse(text).take();
  constexpr int kDraws = 40000;
  Moments found;
  double squares = 0;
  for (uint64_t i = 0; i < kDraws; ++i) {
    const double us = to_us(distribution.draw(5, Purpose::kSkew, i));
    found.mean_us += us / kDraws;
    squares += us * us / kDraws;
    found.least_us = std::min(found.least_us, us);
    found.most_us = std::max(found.most_us, us);
  }
  found.deviation_us = std::sqrt(squares - found.mean_us * found.mean_us);
  return found;
}

TEST(Distribution, DrawsWhatItSays) {
  const Moments uniform = moments_of("uniform:100..300us");
  EXPECT_NEAR(uniform.mean_us, 200, 2);
  EXPECT_NEAR(uniform.deviation_us, 200 / std::sqrt(12.0), 2);
  EXPECT_GE(uniform.least_us, 100);
  EXPECT_LE(uniform.most_us, 300);
  const Moments exponential = moments_of("exponential:0.05ms");
  EXPECT_NEAR(exponential.mean_us, 50, 1.5);
  EXPECT_NEAR(exponential.deviation_us, 50, 2.5);
  const Moments normal = moments_of("normal:100,20us");
  EXPECT_NEAR(normal.mean_us, 100, 1);
  EXPECT_NEAR(normal.deviation_us, 20, 1);
  EXPECT_EQ(moments_of("2500ns").least_us, 2.5);
  EXPECT_EQ(moments_of("2500ns").most_us, 2.5);
}

TEST(Distribution, DrawsTheSameForTheSameAndOthersForOthers) {
  const Distribution distribution = Distribution::parse("uniform:0..1s").take();
  EXPECT_EQ(distribution.draw(1, Purpose::kSkew, 9), distribution.draw(1, Purpose::kSkew, 9));
  EXPECT_NE(distribution.draw(1, Purpose::kSkew, 9), distribution.draw(2, Purpose::kSkew, 9));
  EXPECT_NE(distribution.draw(1, Purpose::kSkew, 9), distribution.draw(1, Purpose::kNoise, 9));
  EXPECT_NE(distribution.draw(1, Purpose::kSkew, 9), distribution.draw(1, Purpose::kSkew, 10));
  EXPECT_NE(distribution.draw(1, Purpose::kSkew, 9), distribution.draw(1, Purpose::kSkew, 9, 1));
}

TEST(Distribution, SaysWhatItIsInWordsThatItReads) {
  for (const char* text : {"0us", "12.5us", "uniform:1us..1000us", "exponential:20us", "normal:100us,20us"}) {
    const Result<Distribution> parsed = Distribution::parse(text);
    ASSERT_TRUE(parsed.is_ok()) << text;
    EXPECT_EQ(parsed.value().text(), text);
  }
  EXPECT_TRUE(Distribution::parse("0").value().is_nothing());
}

TEST(Distribution, RefusesWhatIsNone) {
  for (const char* text : {"", "us", "-3", "3 bananas", "uniform:3", "uniform:5..2", "uniform:..2", "normal:4",
                           "gauss:1,2", "nan", "inf", "exponential:", "1e300"}) {
    const Result<Distribution> parsed = Distribution::parse(text);
    ASSERT_FALSE(parsed.is_ok()) << text;
    EXPECT_NE(std::string(parsed.status().message()).find("`" + std::string(text) + "`"), std::string::npos);
  }
}

}  // namespace
}  // namespace hocket::simulation
