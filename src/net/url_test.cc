#include "net/url.h"

#include <gtest/gtest.h>

namespace verbatim::net {
namespace {

TEST(Url, an_address_is_taken_apart) {
  auto url = parse_url("http://127.0.0.1:30000");
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(url->endpoint, (base::Endpoint{"127.0.0.1", 30000, false}));
  EXPECT_EQ(url->base_path, "");
  url = parse_url("HTTPS://example.org/v1/");
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(url->endpoint, (base::Endpoint{"example.org", 443, true}));
  EXPECT_EQ(url->base_path, "/v1");
  url = parse_url("http://[::1]:8/");
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(url->endpoint, (base::Endpoint{"::1", 8, false}));
  EXPECT_EQ(url->base_path, "");
}

TEST(Url, errors_name_what_is_wrong) {
  const auto message = [](const char* text) {
    auto url = parse_url(text);
    return url.ok() ? std::string("accepted") : url.error().message;
  };
  EXPECT_NE(message("localhost:8000").find("starts with http://"), std::string::npos);
  EXPECT_NE(message("ftp://a").find("scheme \"ftp\""), std::string::npos);
  EXPECT_NE(message("http://").find("host is missing"), std::string::npos);
  EXPECT_NE(message("http://:80").find("host is missing"), std::string::npos);
  EXPECT_NE(message("http://a:").find("port"), std::string::npos);
  EXPECT_NE(message("http://a:0").find("port"), std::string::npos);
  EXPECT_NE(message("http://a:65536").find("port"), std::string::npos);
  EXPECT_NE(message("http://a:8x").find("port \"8x\""), std::string::npos);
  EXPECT_NE(message("http://u:p@a").find("user and password"), std::string::npos);
  EXPECT_NE(message("http://a/b?c").find("query"), std::string::npos);
  EXPECT_NE(message("http://a/#c").find("fragment"), std::string::npos);
  EXPECT_NE(message("http://[::1").find("no \"]\""), std::string::npos);
  EXPECT_NE(message("http://a b/").find("character"), std::string::npos);
  EXPECT_NE(message("http://a/\xc3\xa9").find("percent-encoded"), std::string::npos);
}

TEST(Url, the_host_field_names_the_port_where_it_is_not_the_schemes) {
  EXPECT_EQ(host_field({"a", 80, false}), "a");
  EXPECT_EQ(host_field({"a", 443, true}), "a");
  EXPECT_EQ(host_field({"a", 443, false}), "a:443");
  EXPECT_EQ(host_field({"::1", 80, false}), "[::1]");
}

TEST(Url, escapes_are_decoded_or_refused) {
  EXPECT_EQ(percent_decode("a%41%2fb").value(), "aA/b");
  EXPECT_EQ(percent_decode("%e2%82%ac").value(), "\xe2\x82\xac");
  EXPECT_EQ(percent_decode("a+b").value(), "a+b");
  EXPECT_FALSE(percent_decode("%").ok());
  EXPECT_FALSE(percent_decode("%4").ok());
  EXPECT_FALSE(percent_decode("%4g").ok());
  EXPECT_FALSE(percent_decode("%00").ok());
}

}  // namespace
}  // namespace verbatim::net
