// SPDX-License-Identifier: BSD-3-Clause
#include "tune/written/output.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/unlike_parameters.h"

namespace hocket::command {
namespace {

TEST(TuneJson, HasEveryParameterOfTheModel) {
  Fit fit;
  fit.parameters = all_unlike_the_defaults();
  testing::internal::CaptureStdout();
  const Status status = deliver({"", true}, "", {}, fit);
  const std::string printed = testing::internal::GetCapturedStdout();
  ASSERT_TRUE(status.is_ok()) << status.message();
  const nlohmann::json model = nlohmann::json::parse(printed).at("model");
  for (const simulation::CostParameter& one : simulation::kCostParameters) {
    ASSERT_TRUE(model.contains(one.name)) << one.name;
    EXPECT_EQ(model[one.name].get<double>(), one.of(fit.parameters)) << one.name;
  }
}

}  // namespace
}  // namespace hocket::command
