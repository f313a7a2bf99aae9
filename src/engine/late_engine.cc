#include "engine/late_engine.h"

#include <utility>

#include "engine/request_fields.h"

namespace verbatim::engine {

using base::ErrorKind;
using base::MonoTime;
using base::Result;
using base::Status;
using base::Task;

std::string_view LateEngine::kind() const {
  return found_ ? found_->kind() : choice_.kind;
}

std::string_view LateEngine::mode() const {
  return found_ ? found_->mode() : choice_.mode;
}

bool LateEngine::matches_stop_strings() const {
  return !found_ || found_->matches_stop_strings();
}

bool LateEngine::reads_chat() const {
  return !found_ || found_->reads_chat();
}

Status LateEngine::check(const message::Sampling& sampling) const {
  return found_ ? found_->check(sampling) : check_sampling(sampling, choice_.vocab_size);
}

Status LateEngine::check_messages(const protocol::Conversation& asked) const {
  // What it demands will be known when it is.
  return found_ ? found_->check_messages(asked) : Status();
}

Task<Result<std::unique_ptr<TokenStream>>> LateEngine::generate(TokenRequest request) {
  if (!found_) co_return not_yet();
  auto stream = co_await found_->generate(std::move(request));
  co_return std::move(stream);
}

Task<Result<std::unique_ptr<TokenStream>>> LateEngine::complete(MessageRequest request) {
  if (!found_) co_return not_yet();
  auto stream = co_await found_->complete(std::move(request));
  co_return std::move(stream);
}

base::Error LateEngine::not_yet() const {
  return base::error(ErrorKind::kUnavailable, "engine " + net::host_field(choice_.url.endpoint) +
                                                  ": it has not answered yet");
}

Task<Status> LateEngine::find(MonoTime deadline) {
  auto inspected = co_await inspect(runtime_, choice_, deadline);
  if (!inspected.ok()) co_return std::move(inspected).error();
  if (!inspected->reached.ok()) co_return inspected->reached;
  const Status& fits = inspected->fits;
  if (inspected->engine == nullptr) co_return fits;
  // Another call may have been faster.
  if (found_ || (!fits.ok() && fits.error().kind == ErrorKind::kUnsupported)) {
    co_await inspected->engine->stop();
    co_return found_ ? Status() : fits;
  }
  found_ = std::move(inspected->engine);
  found_probe_ = std::move(inspected->probe);
  co_return Status();
}

Task<Result<Probe>> LateEngine::probe(MonoTime deadline) {
  if (!found_) {
    auto status = co_await find(deadline);
    if (!status.ok()) co_return std::move(status).error();
  }
  if (found_probe_) co_return *std::exchange(found_probe_, std::nullopt);
  auto probe = co_await found_->probe(deadline);
  co_return std::move(probe);
}

Task<Status> LateEngine::ready(MonoTime deadline) {
  if (!found_) {
    auto status = co_await find(deadline);
    if (!status.ok()) co_return status;
  }
  auto status = co_await found_->ready(deadline);
  co_return std::move(status);
}

Task<Status> LateEngine::samples(MonoTime deadline) {
  if (!found_) {
    auto status = co_await find(deadline);
    if (!status.ok()) co_return status;
  }
  auto status = co_await found_->samples(deadline);
  co_return std::move(status);
}

Task<void> LateEngine::stop() {
  if (found_) co_await found_->stop();
}

}  // namespace verbatim::engine
