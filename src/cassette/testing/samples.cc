#include "cassette/testing/samples.h"

#include <utility>

namespace verbatim::cassette::testing {

std::string good_text() {
  return R"(provider:
  name: dynamo
turns:
- filename: t1
  request:
    method: POST
    path: /v1/responses
    query_params: {}
    headers:
      content-type: application/json
    body:
      model: m
      input: hello
  response:
    status_code: 200
    headers:
      content-type: application/json
    body:
      id: resp_1
- filename: t2
  request:
    method: POST
    path: /v1/responses
    query_params: {}
    headers: {}
    body:
      stream: true
  response:
    status_code: 200
    headers:
      content-type: text/event-stream
    sse:
    - "event: response.completed\n"
    - "data: {\"type\": \"response.completed\"}\n"
    - "\n"
)";
}

namespace {
RecordedTurn asked(std::string name, std::string body) {
  RecordedTurn turn;
  turn.filename = std::move(name);
  turn.request = {
      "POST", "/v1/responses", {}, {{"content-type", "application/json"}}, std::move(body)};
  turn.response.status = 200;
  return turn;
}
}  // namespace

RecordedTurn whole_turn(std::string name, std::string body, std::string answer) {
  auto turn = asked(std::move(name), std::move(body));
  turn.response.headers = {{"content-type", "application/json"}};
  turn.response.body = std::move(answer);
  return turn;
}

RecordedTurn streamed_turn(std::string name, std::string body,
                           const std::vector<std::string>& data) {
  auto turn = asked(std::move(name), std::move(body));
  turn.response.headers = {{"content-type", "text/event-stream"}};
  turn.response.sse.emplace();
  for (const auto& each : data) {
    turn.response.sse->push_back("data: " + each + "\n");
    turn.response.sse->push_back("\n");
  }
  return turn;
}

}  // namespace verbatim::cassette::testing
