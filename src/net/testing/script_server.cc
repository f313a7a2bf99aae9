#include "net/testing/script_server.h"

#include <utility>

#include "base/timer.h"

namespace verbatim::net::testing {

using std::chrono::milliseconds;

ScriptServer::ScriptServer(base::Runtime& runtime, std::vector<Script> scripts)
    : runtime_(runtime), scripts_(std::move(scripts)) {
  listener_ =
      std::move(*runtime.network.listen("127.0.0.1", 0, base::Network::PortUse::kExclusive));
  base::spawn(serve());
}

base::Task<void> ScriptServer::stop() {
  listener_->close();
  stopping_ = true;
  if (stream_ != nullptr) stream_->close();
  while (!done_) co_await base::sleep_for(runtime_.executor, milliseconds(1));
}

base::Task<void> ScriptServer::serve() {
  std::size_t at = 0;
  while (at < scripts_.size() && !stopping_) {
    auto stream = co_await listener_->accept();
    if (!stream.ok()) break;
    stream_ = std::move(*stream);
    ++connections;
    std::string unread;
    bool open = true;
    while (open && at < scripts_.size()) {
      const Script& script = scripts_[at++];
      open = co_await play(script, unread);
    }
    stream_->close();
    co_await base::sleep_for(runtime_.executor, milliseconds(1));
    stream_.reset();
  }
  done_ = true;
}

base::Task<bool> ScriptServer::play(const Script& script, std::string& unread) {
  char buffer[1000];
  while (unread.find(script.wait_for) == std::string::npos) {
    auto got = co_await base::read_some(*stream_, buffer);
    if (!got.ok() || *got == 0) co_return false;
    unread.append(buffer, *got);
    received.append(buffer, *got);
  }
  unread.erase(0, unread.find(script.wait_for) + script.wait_for.size());
  const std::string_view pieces[] = {script.answer};
  auto written = co_await base::write_all(*stream_, pieces);
  if (!written.ok()) co_return false;
  if (script.then == Script::Then::kSilence) {
    auto got = co_await base::read_some(*stream_, buffer);
    (void)got;
  }
  co_return script.then == Script::Then::kNextInSameConnection;
}

}  // namespace verbatim::net::testing
