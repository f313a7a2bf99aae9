#include "base/base64.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace verbatim::base {
namespace {

// RFC 4648, section 10.
TEST(Base64, is_that_of_the_standard) {
  const std::pair<const char*, const char*> all[] = {{"", ""},
                                                     {"f", "Zg=="},
                                                     {"fo", "Zm8="},
                                                     {"foo", "Zm9v"},
                                                     {"foob", "Zm9vYg=="},
                                                     {"fooba", "Zm9vYmE="},
                                                     {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : all) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
}

TEST(Base64, any_bytes_come_back) {
  SeededRandom random(1);
  for (int i = 0; i < 1000; ++i) {
    std::string bytes;
    for (auto left = random.below(40); left > 0; --left)
      bytes += static_cast<char>(random.below(256));
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
  }
}

TEST(Base64, other_spellings_are_none) {
  for (const char* text : {"Zg", "Zg=", "Zh==", "Zm9=", "Z===", "====", "Zm 8", "Zm8\n",
                           "Zm9v=", "Zg==Zg==", "Zm-v", "=Zg="})
    EXPECT_FALSE(from_base64(text)) << text;
}

}  // namespace
}  // namespace verbatim::base
