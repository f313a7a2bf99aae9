#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/runtime.h"
#include "base/task.h"

namespace verbatim::net::testing {

// A server that answers the n-th connection with the n-th script: what to wait for, then the raw
// bytes to send, then how to go on.
struct Script {
  std::string wait_for = "\r\n\r\n";
  std::string answer;
  enum class Then { kClose, kNextInSameConnection, kSilence } then = Then::kClose;
};

class ScriptServer {
 public:
  ScriptServer(base::Runtime& runtime, std::vector<Script> scripts);
  [[nodiscard]] std::uint16_t port() const { return listener_->port(); }
  base::Task<void> stop();

  std::string received;
  int connections = 0;

 private:
  base::Task<void> serve();
  base::Task<bool> play(const Script& script, std::string& unread);

  base::Runtime& runtime_;
  std::vector<Script> scripts_;
  std::unique_ptr<base::Listener> listener_;
  std::unique_ptr<base::ByteStream> stream_;
  bool stopping_ = false;
  bool done_ = false;
};

}  // namespace verbatim::net::testing
