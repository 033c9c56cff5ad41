// SPDX-License-Identifier: BSD-3-Clause
#include "platform/machine/network_interface.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <net/if.h>

#include <string>

namespace hocket::platform {
namespace {

TEST(NetworkInterface, LoopbackIsAsTheKernelHasIt) {
  const Result<NetworkInterface> found = find_network_interface("lo");
  ASSERT_TRUE(found.is_ok()) << found.status().message();
  EXPECT_EQ(found.value().name, "lo");
  EXPECT_EQ(found.value().index, if_nametoindex("lo"));
  EXPECT_NE(found.value().flags & IFF_LOOPBACK, 0U);
  EXPECT_GT(found.value().mtu, 1000U);
  EXPECT_FALSE(found.value().is_ethernet);
  if ((found.value().flags & IFF_UP) != 0) {
    EXPECT_EQ(found.value().ip, htonl(INADDR_LOOPBACK));
  }
}

TEST(NetworkInterface, OneThatIsNotThereIsNamedWithTheRemedy) {
  for (const std::string name : {"", "nowhere9", "a-name-that-is-longer-than-any"}) {
    const Result<NetworkInterface> found = find_network_interface(name);
    ASSERT_FALSE(found.is_ok()) << name;
    EXPECT_EQ(found.status().code(), Code::kInvalidArgument);
    const std::string why = found.status().message();
    EXPECT_NE(why.find("`" + name + "` doesn't exist; `ip address`"), std::string::npos) << why;
  }
}

}  // namespace
}  // namespace hocket::platform
