#include "net/testing/server_on_sim.h"

namespace verbatim::net::testing {

std::string get(const std::string& path) {
  return "GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n";
}

std::string post(const std::string& body, const std::string& fields) {
  return "POST /p HTTP/1.1\r\nHost: a\r\n" + fields +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::size_t count_of(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

base::Task<void> echo(const Request& request, Responder& responder, base::CancelSignal&) {
  const std::string answer =
      std::string(request.method) + " " + std::string(request.path) + " " + request.body;
  auto status = co_await responder.send(200, "text/plain", answer);
  EXPECT_TRUE(status.ok());
}

}  // namespace verbatim::net::testing
