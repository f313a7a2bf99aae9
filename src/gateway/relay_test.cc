#include "gateway/relay.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace verbatim::gateway {
namespace {

enum class Goes { kBoth, kDown, kNeither };

TEST(Relay, fields_go_on_or_stay_by_a_table) {
  struct Row {
    const char* name;
    Goes goes;
  };
  for (const Row& row : {Row{"Content-Type", Goes::kBoth},
                         Row{"X-Request-Id", Goes::kBoth},
                         Row{"traceparent", Goes::kBoth},
                         Row{"tracestate", Goes::kBoth},
                         Row{"OpenAI-Organization", Goes::kBoth},
                         Row{"Content-Encoding", Goes::kBoth},
                         Row{"Accept-Encoding", Goes::kBoth},
                         Row{"Cookie", Goes::kBoth},
                         Row{"WWW-Authenticate", Goes::kBoth},
                         Row{"Authorization", Goes::kDown},
                         Row{"X-API-Key", Goes::kDown},
                         Row{"api-key", Goes::kDown},
                         Row{"Connection", Goes::kNeither},
                         Row{"Keep-Alive", Goes::kNeither},
                         Row{"TE", Goes::kNeither},
                         Row{"Transfer-Encoding", Goes::kNeither},
                         Row{"Content-Length", Goes::kNeither},
                         Row{"Upgrade", Goes::kNeither},
                         Row{"Proxy-Authorization", Goes::kNeither},
                         Row{"X-Named", Goes::kNeither}}) {
    net::Headers headers;
    headers.add("Connection", "close, x-named").add(row.name, "v");
    EXPECT_EQ(relayed_up(headers).has(row.name), row.goes == Goes::kBoth) << row.name;
    EXPECT_EQ(relayed_down(headers).has(row.name),
              row.goes == Goes::kBoth || row.goes == Goes::kDown)
        << row.name;
  }
}

TEST(Relay, fields_keep_their_order_spelling_and_number) {
  net::Headers headers;
  headers.add("B", "1").add("a", " x").add("B", "2").add("TE", "x").add("b", "");
  for (const auto& kept : {relayed_up(headers), relayed_down(headers)}) {
    std::string text;
    for (const auto field : kept) text.append(field.name).append("=").append(field.value) += ';';
    EXPECT_EQ(text, "B=1;a= x;B=2;b=;");
  }
}

}  // namespace
}  // namespace verbatim::gateway
