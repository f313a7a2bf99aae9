#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/runtime.h"
#include "cassette/tape.h"
#include "net/http_server.h"

namespace verbatim::cassette {

// Serves a tape as the engine it was recorded from. A request that is not the next one, nor a
// standing one, is answered 409 with a JSON error that says where it differs. Streams go out an
// event at a time; a turn whose transport failed breaks off where it did. Life: created, start()ed,
// stop()ped to the end, destroyed; on one executor.
class ReplayServer {
 public:
  struct Asked {
    std::string_view method;
    std::string_view target;
    std::string_view body;
    const Tape::Found& found;
  };
  // `seen` is told of each request before it is answered; may be empty.
  ReplayServer(base::Runtime& runtime, Tape tape, std::function<void(const Asked&)> seen);
  ReplayServer(const ReplayServer&) = delete;
  ~ReplayServer();

  base::Result<std::uint16_t> start(const std::string& host, std::uint16_t port);
  base::Task<void> stop();
  [[nodiscard]] const Tape& tape() const { return tape_; }

 private:
  base::Task<void> serve(const net::Request& request, net::Responder& responder);

  Tape tape_;
  std::function<void(const Asked&)> seen_;
  std::unique_ptr<net::HttpServer> server_;
};

}  // namespace verbatim::cassette
