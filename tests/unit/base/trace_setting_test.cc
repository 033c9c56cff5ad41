// SPDX-License-Identifier: BSD-3-Clause
#include "base/trace_setting.h"

#include <gtest/gtest.h>

#include <string>

namespace hocket {
namespace {

TEST(TraceSetting, IsAFileOrARing) {
  EXPECT_EQ(parse_trace_setting("").value().file, "");
  const auto all = parse_trace_setting("/tmp/trace.%h.json");
  ASSERT_TRUE(all.is_ok());
  EXPECT_EQ(all.value().file, "/tmp/trace.%h.json");
  EXPECT_EQ(all.value().events, TraceSetting::kAllEvents);
  EXPECT_FALSE(all.value().at_events);
  const auto ring = parse_trace_setting("ring:5000:a:b.json");
  ASSERT_TRUE(ring.is_ok());
  EXPECT_EQ(ring.value().file, "a:b.json");
  EXPECT_EQ(ring.value().events, 5000u);
  EXPECT_TRUE(ring.value().at_events);
}

TEST(TraceSetting, ErrorsNameValueAndRemedy) {
  for (const char* wrong : {"ring:", "ring:5", "ring:0:a", "ring:x:a", "ring:-1:a", "ring:5 :a", "ring:99999999999:a",
                            "ring:5:", "ring:5: ", " ", " \t", "folder/", "a%", "a%p", "%h%"}) {
    const auto setting = parse_trace_setting(wrong);
    ASSERT_FALSE(setting.is_ok()) << wrong;
    const std::string message = setting.status().message();
    EXPECT_NE(message.find("HOCKET_TRACE=" + std::string(wrong) + ":"), std::string::npos) << message;
    EXPECT_NE(message.find("ring:N:FILE"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace hocket
