#pragma once

#include <coroutine>
#include <memory>
#include <vector>

#include "net/client_connection.h"

namespace verbatim::net {

// The connections of one HttpClient, by endpoint. The one used last is taken first: the server has
// had the least time to give it up. Life and thread: the client's; empty after stop(), before which
// it must not be destroyed.
class ClientPool {
 public:
  ClientPool(base::Runtime& runtime, ClientOptions options)
      : runtime_(runtime), options_(std::move(options)) {}
  ClientPool(const ClientPool&) = delete;
  ~ClientPool();

  base::Task<base::Result<ClientResponse>> request(const ClientRequest& request,
                                                   base::MonoTime deadline);
  // Ends idle connections, refuses new ones, waits for those in use.
  base::Task<void> stop();
  // A response is done with its connection.
  void give_back(std::unique_ptr<ClientConnection> connection);
  // An idle connection ended, or was idle for too long.
  void drop_idle(ClientConnection& connection);
  [[nodiscard]] std::size_t idle() const;

 private:
  struct Host {
    base::Endpoint endpoint;
    std::vector<std::unique_ptr<ClientConnection>> idle;
    std::size_t open = 0;  // idle, in use, or being connected or closed
  };
  using Connection = base::Result<std::unique_ptr<ClientConnection>>;

  Host& host(const base::Endpoint& endpoint);
  std::unique_ptr<ClientConnection> take_idle(Host& host);
  base::Task<Connection> connect(const base::Endpoint& endpoint, base::MonoTime deadline);
  void retire(std::unique_ptr<ClientConnection> connection);
  base::Task<void> close(std::unique_ptr<ClientConnection> connection);
  void closed(const base::Endpoint& endpoint);

  struct UntilEmpty;
  base::Runtime& runtime_;
  ClientOptions options_;
  std::vector<std::unique_ptr<Host>> hosts_;  // those with open connections
  std::vector<std::coroutine_handle<>> stoppers_;
  bool stopping_ = false;
};

}  // namespace verbatim::net
