#include "base/timestamp.h"

#include <gtest/gtest.h>

namespace verbatim::base {
namespace {

TEST(Timestamp, has_all_its_digits) {
  EXPECT_EQ(timestamp(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(timestamp(951'786'061'007), "2000-02-29T01:01:01.007Z");
  EXPECT_EQ(timestamp(1'796'078'467'123), "2026-11-30T22:41:07.123Z");
}

}  // namespace
}  // namespace verbatim::base
