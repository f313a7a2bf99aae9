#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/sim/sim_world.h"
#include "net/http_client.h"
#include "sim/sim_engine.h"

namespace verbatim::sim::testing {

struct Answered {
  int status = 0;
  std::string content_type;
  std::string body;
  bool cut = false;
};

// A simulated engine and a client on a simulated network.
struct Scene {
  base::sim::SimWorld world{11};
  SimOptions options;  // before run()
  std::unique_ptr<net::HttpClient> client;
  std::unique_ptr<SimEngine> engine;
  std::uint16_t port = 0;

  Scene();  // the toy vocabulary

  // Whether the scene came to its end.
  [[nodiscard]] bool run(const std::function<base::Task<void>(Scene&)>& body);
  // JSON, as far as headers go.
  base::Task<base::Result<net::ClientResponse>> send(std::string method, std::string path,
                                                     std::string body,
                                                     base::MonoTime deadline = base::kNever);
  base::Task<Answered> call(std::string method, std::string path, std::string body = "");
  base::Task<Answered> call(std::string method, std::string path, std::string body,
                            std::vector<std::pair<std::string, std::string>> headers);
  // A request whose client hangs up after `time`.
  base::Task<void> leave(std::string path, std::string body, base::Duration time);
};

// One request to an engine set up by `set`.
Answered answer_to(const std::function<void(SimOptions&)>& set, const std::string& path,
                   const std::string& body);

// A script, which must be one.
Script script(std::string_view text);

}  // namespace verbatim::sim::testing
