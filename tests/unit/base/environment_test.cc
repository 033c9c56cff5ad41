// SPDX-License-Identifier: BSD-3-Clause
#include "base/environment.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>

namespace hocket::environment {
namespace {

// Sets a variable for the length of a scope.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

TEST(Environment, EveryDefaultIsAValueOfItsSetting) {
  for (const Setting& setting : settings()) {
    EXPECT_TRUE(check(setting, "").is_ok()) << setting.name;
    EXPECT_TRUE(check(setting, setting.default_value).is_ok()) << setting.name;
  }
}

TEST(Environment, NamesAreUniqueAndBeginWithThePrefix) {
  std::set<std::string> names;
  for (const Setting& setting : settings()) {
    EXPECT_TRUE(names.insert(setting.name).second) << setting.name;
    EXPECT_EQ(std::string(setting.name).rfind("HOCKET_", 0), 0u) << setting.name;
    EXPECT_EQ(std::string(setting.help).find('\n'), std::string::npos) << setting.name;
  }
}

TEST(Environment, UnsetAndEmptyMeanTheDefault) {
  unsetenv("HOCKET_SETUP_TIMEOUT_S");
  EXPECT_EQ(get_integer("HOCKET_SETUP_TIMEOUT_S").value(), 60);
  EXPECT_FALSE(is_set("HOCKET_SETUP_TIMEOUT_S"));
  const Variable empty("HOCKET_SETUP_TIMEOUT_S", "");
  EXPECT_EQ(get_integer("HOCKET_SETUP_TIMEOUT_S").value(), 60);
  EXPECT_FALSE(is_set("HOCKET_SETUP_TIMEOUT_S"));
}

TEST(Environment, MulticastGoesOverSocketsUnlessVerbsAreNamed) {
  EXPECT_EQ(get_enum("HOCKET_MULTICAST_OVER").value(), 0);
  {
    const Variable udp("HOCKET_MULTICAST_OVER", "udp");
    EXPECT_EQ(get_enum("HOCKET_MULTICAST_OVER").value(), 0);
  }
  {
    const Variable verbs("HOCKET_MULTICAST_OVER", "verbs");
    EXPECT_EQ(get_enum("HOCKET_MULTICAST_OVER").value(), 1);
  }
  const Variable other("HOCKET_MULTICAST_OVER", "roce");
  const Result<int> refused = get_enum("HOCKET_MULTICAST_OVER");
  ASSERT_FALSE(refused.is_ok());
  EXPECT_NE(std::string(refused.status().message()).find("verbs"), std::string::npos);
}

TEST(Environment, FlagsKnowTheUsualWords) {
  for (const char* yes : {"1", "on", "yes", "true"}) {
    const Variable variable("HOCKET_STATS", yes);
    EXPECT_TRUE(get_flag("HOCKET_STATS").value()) << yes;
  }
  for (const char* no : {"0", "off", "no", "false"}) {
    const Variable variable("HOCKET_STATS", no);
    EXPECT_FALSE(get_flag("HOCKET_STATS").value()) << no;
  }
  const Variable variable("HOCKET_STATS", "maybe");
  EXPECT_FALSE(get_flag("HOCKET_STATS").is_ok());
}

TEST(Environment, AFlagMayNameAFileWhereItsSettingSaysSo) {
  for (const char* file : {"a.json", "/tmp/.json", "results/job 7.json", "%h.100%%.json"}) {
    const Variable variable("HOCKET_STATS", file);
    EXPECT_TRUE(get_flag("HOCKET_STATS").value()) << file;
    EXPECT_EQ(get_text("HOCKET_STATS").value(), file);
    EXPECT_FALSE(parse_flag(*find("HOCKET_CHECK"), file).is_ok()) << file;
  }
  for (const char* pattern : {"a.%p.json", "%.json"}) {
    const Variable variable("HOCKET_STATS", pattern);
    const Result<bool> refused = get_flag("HOCKET_STATS");
    ASSERT_FALSE(refused.is_ok()) << pattern;
    EXPECT_NE(std::string(refused.status().message()).find("stands for nothing; in a file's name %h"),
              std::string::npos)
        << refused.status().message();
  }
  for (const char* none : {".json", "a.jsonl", "json", "a.json/"}) {
    const Variable variable("HOCKET_STATS", none);
    const Result<bool> refused = get_flag("HOCKET_STATS");
    ASSERT_FALSE(refused.is_ok()) << none;
    EXPECT_NE(std::string(refused.status().message()).find(".json"), std::string::npos);
  }
}

TEST(Environment, SizesTakeSuffixes) {
  const Setting& setting = *find("HOCKET_MEMORY");
  EXPECT_EQ(parse_size(setting, "4096").value(), 4096u);
  EXPECT_EQ(parse_size(setting, "64K").value(), 65536u);
  EXPECT_EQ(parse_size(setting, "16m").value(), 16u << 20);
  EXPECT_EQ(parse_size(setting, "3GiB").value(), uint64_t{3} << 30);
  EXPECT_EQ(parse_size(setting, "9223372036854775807").value(), uint64_t{9223372036854775807});
  for (const char* bad : {"K", "64KBit", "-1", "1.5M", "9223372036854775808", "9223372036854775807K",
                          "99999999999999999999", " 1", "0x10"}) {
    EXPECT_EQ(parse_size(setting, bad).status().code(), Code::kInvalidArgument) << bad;
  }
}

TEST(Environment, IntegersKeepTheirBounds) {
  const Setting& setting = *find("HOCKET_SETUP_TIMEOUT_S");
  EXPECT_EQ(parse_integer(setting, "1").value(), 1);
  for (const char* bad : {"0", "86401", "-5", "ten", "10s"}) EXPECT_FALSE(parse_integer(setting, bad).is_ok()) << bad;
}

TEST(Environment, ChoicesAreFoundByPlaceAndByWord) {
  const Variable variable("HOCKET_WAIT", "sleep");
  EXPECT_EQ(get_enum("HOCKET_WAIT").value(), 3);
  EXPECT_EQ(get_text("HOCKET_WAIT").value(), "sleep");
  EXPECT_FALSE(parse_enum(*find("HOCKET_WAIT"), "slee").is_ok());
  EXPECT_FALSE(parse_enum(*find("HOCKET_WAIT"), "spin|yield").is_ok());
}

TEST(Environment, ABadValueIsNamedWithWhatIsAccepted) {
  const Variable variable("HOCKET_WAIT", "snooze");
  EXPECT_STREQ(get_enum("HOCKET_WAIT").status().message(),
               "HOCKET_WAIT=snooze can't be understood; accepted is one of auto|spin|yield|sleep");
}

TEST(Environment, AskingForTheWrongKindOrNameIsAnError) {
  EXPECT_EQ(get_flag("HOCKET_MEMORY").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(get_text("HOCKET_NOTHING").status().code(), Code::kInvalidArgument);
}

TEST(Environment, UnknownNamesGetTheNearestKnownOne) {
  EXPECT_EQ(unknown_name("HOCKET_ALREDUCE"),
            "`HOCKET_ALREDUCE` is not a setting of hocket; did you mean HOCKET_ALLREDUCE?");
  EXPECT_EQ(unknown_name("HOCKET_SETUP_TIMEOUT"),
            "`HOCKET_SETUP_TIMEOUT` is not a setting of hocket; did you mean HOCKET_SETUP_TIMEOUT_S?");
  EXPECT_EQ(unknown_name("HOCKET_BCAST"), "`HOCKET_BCAST` is not a setting of hocket; did you mean HOCKET_BROADCAST?");
  EXPECT_EQ(unknown_name("HOCKET_ZEPPELIN"),
            "`HOCKET_ZEPPELIN` is not a setting of hocket; `hocket info` lists those that are");
}

TEST(Environment, ProblemsNamesWhatIsWrongAndNothingElse) {
  EXPECT_TRUE(problems().errors.empty());
  EXPECT_TRUE(problems().doubts.empty());
  EXPECT_TRUE(check_process().is_ok());
  const Variable good("HOCKET_CMA", "off");
  const Variable misspelt("HOCKET_ALREDUCE", "ring");
  const Variable bad("HOCKET_MEMORY", "plenty");
  EXPECT_EQ(problems().errors.size(), 2u);
  EXPECT_TRUE(problems().doubts.empty());
  const Status status = check_process();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  const std::string both = status.message();
  EXPECT_NE(both.find("did you mean HOCKET_ALLREDUCE?"), std::string::npos) << both;
  EXPECT_NE(both.find("HOCKET_MEMORY=plenty"), std::string::npos) << both;
  EXPECT_NE(both.find("64K"), std::string::npos) << both;
}

TEST(Environment, NamesThatOthersMaySetAreDoubtsAndNotErrors) {
  for (const char* name : {"HOCKET_ROOT", "HOCKET_HOME", "HOCKET_DIR", "HOCKET_LIB", "HOCKET_STATUS", "HOCKET_CMD",
                           "HOCKET_COMM", "HOCKET_MAIN", "HOCKET_LOCK", "HOCKET_ENABLE", "HOCKET_SERVICE_HOST"}) {
    const Variable variable(name, "/somewhere");
    EXPECT_TRUE(check_process().is_ok()) << check_process().message();
    ASSERT_EQ(problems().doubts.size(), 1u) << name;
    EXPECT_EQ(problems().doubts[0],
              "`" + std::string(name) + "` is not a setting of hocket; `hocket info` lists those that are");
  }
  for (const char* name : {"HOCKET_WIAT", "HOCKET_CMAA", "HOCKET_SETUP_TIMEOUT"}) {
    const Variable variable(name, "1");
    EXPECT_FALSE(check_process().is_ok()) << name;
  }
}

TEST(Environment, EveryKindOfSettingIsRefusedAlike) {
  for (const Setting& setting : settings()) {
    if (setting.kind == Kind::kText) continue;  // of which the one who reads it judges
    const Variable variable(setting.name, "typo");
    const std::string message = check_process().message();
    EXPECT_EQ(message.find(std::string(setting.name) + "=typo can't be understood; accepted is "), 0u) << message;
  }
}

}  // namespace
}  // namespace hocket::environment
