#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/timer.h"
#include "net/http_client.h"
#include "net/http_parser.h"
#include "net/read_pump.h"

namespace verbatim::net {

// One connection to a server, for one exchange at a time. Owned by the response that reads from it,
// or by the pool while idle. Ended by ClientPool::retire() only, because reads under way must end
// first.
class ClientConnection final : ReadPump::Observer {
 public:
  ClientConnection(ClientPool& pool, base::Executor& executor,
                   std::unique_ptr<base::ByteStream> stream, const base::Endpoint& endpoint,
                   const HttpLimits& limits);
  ClientConnection(const ClientConnection&) = delete;

  // Sends the request and reads the head of the response.
  base::Task<base::Status> exchange(const ClientRequest& request, std::string_view user_agent,
                                    base::MonoTime deadline);
  base::Task<base::Result<std::string_view>> read(base::MonoTime deadline);
  base::Task<base::Result<std::string_view>> read_arrived(base::MonoTime deadline);
  [[nodiscard]] bool arrived() const {
    return closed_ || parser_.body().done() || pump_.ended() || pump_.data().size() > held_;
  }
  void close();

  // After a failed exchange: the server closed a kept connection without a byte of answer ...
  [[nodiscard]] bool unanswered() const {
    return exchanges_ > 1 && !parser_.started() && !timed_out_ && !closed_;
  }
  // ... and before it had the whole request: bodies have a length, so it can't have begun with it.
  [[nodiscard]] bool unsent() const { return unanswered() && !written_; }
  // The response was read to its end and another request may follow.
  [[nodiscard]] bool reusable() const;
  // Of an idle one, at this moment: the server may have closed it since the last read was told.
  [[nodiscard]] bool dead() const {
    return closed_ || pump_.ended() || !pump_.data().empty() || stream_->unread();
  }
  void become_idle(base::Duration timeout);
  void leave_idle();

  [[nodiscard]] const ResponseParser& parser() const { return parser_; }
  [[nodiscard]] const base::Endpoint& endpoint() const { return endpoint_; }
  [[nodiscard]] ClientPool& pool() const { return pool_; }
  [[nodiscard]] ReadPump& pump() { return pump_; }

 private:
  base::Status build_head(const ClientRequest& request, std::string_view user_agent);
  base::Task<base::Status> read_head();
  std::string_view with_what_follows(std::string_view first);
  [[nodiscard]] base::Error why_ended(const char* otherwise, const char* code) const;
  void set_deadline(base::MonoTime deadline);
  void on_stream_end() override;

  ClientPool& pool_;
  base::Executor& executor_;
  const base::Endpoint endpoint_;
  std::unique_ptr<base::ByteStream> stream_;
  ReadPump pump_;
  ResponseParser parser_;
  base::Timer timer_;
  std::string head_;
  std::vector<std::string_view> pieces_;
  std::string joined_;    // pieces that did not lie together
  std::size_t held_ = 0;  // bytes of the pump that the caller still looks at
  unsigned exchanges_ = 0;
  bool idle_ = false;
  bool closed_ = false;
  bool timed_out_ = false;
  bool written_ = false;
};

}  // namespace verbatim::net
