#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/runtime.h"
#include "cassette/recording.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "net/url.h"

namespace verbatim::cassette {

// Stands between a client and an engine, passes all on as it comes, streams piece by piece, and
// records it. An answer is recorded before its last byte is passed on: a client that has it whole
// finds it in the file. What can't be recorded is passed on all the same, and told. A client that
// hangs up ends the engine's answer, and its turn is left out. Life: created, start()ed, stop()ped
// to the end, destroyed; on one executor.
class RecordingProxy {
 public:
  struct Options {
    net::Url engine;
    Recording::Options recording;
    // Keeps the text of the file, after each turn. Runs on the runtime's worker, one call at a
    // time.
    std::function<base::Status(const std::string& text)> keep;
    // Is told what was not recorded, and why; on the executor.
    std::function<void(const std::string& what)> problem;
  };
  RecordingProxy(base::Runtime& runtime, Options options);
  RecordingProxy(const RecordingProxy&) = delete;
  ~RecordingProxy();

  base::Result<std::uint16_t> start(const std::string& host, std::uint16_t port);
  base::Task<void> stop();
  [[nodiscard]] const Recording& recording() const { return recording_; }

 private:
  struct Passing;
  base::Task<void> serve(const net::Request& request, net::Responder& responder,
                         base::CancelSignal& cancel);
  base::Task<void> pass_back(net::ClientResponse& answer, net::Responder& responder,
                             Passing& passing);
  base::Task<void> record(const Passing& passing);

  base::Runtime& runtime_;
  Options options_;
  Recording recording_;
  net::HttpClient client_;
  std::unique_ptr<net::HttpServer> server_;
};

}  // namespace verbatim::cassette
