#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/task.h"
#include "gateway/answer_form.h"
#include "gateway/model.h"
#include "gateway/plan.h"
#include "gateway/session_options.h"
#include "protocol/chat_answer.h"
#include "protocol/chat_request.h"
#include "store/store.h"

namespace verbatim::gateway {

// One request for turns in the protocol of its client: how it is read, and how it is answered. In
// between it is what chat would ask for. Life: one per request; read(), pin() where a session lays
// something down, resolve(), fill(), then answer() for each that gets it.
class Exchange {
 public:
  virtual ~Exchange() = default;

  // Reads the body. It lives as long as the exchange.
  virtual base::Status read(const std::string& body) = 0;
  // Reads it again with the session's values in it.
  virtual base::Status pin(const SessionOptions& options) = 0;
  // The conversation that its turns are in, once it is read; empty: none.
  [[nodiscard]] virtual std::string_view conversation() const { return {}; }
  // Looks up what the request names. Errors are the client's, or the store's.
  virtual base::Task<base::Status> resolve(TurnRequest& /*turn*/, store::Store& /*store*/) {
    co_return base::Status();
  }
  // The same for one that gets the answer `id` again: what went before may have changed since.
  virtual base::Task<base::Status> resolve_repeat(TurnRequest& turn, store::Store& store,
                                                  std::string /*id*/) {
    return resolve(turn, store);
  }
  // What the request says of its turn. `reads_chat`: the engine reads the chat request beside the
  // ids. Takes the request's parts.
  virtual void fill(TurnRequest& turn, bool reads_chat) = 0;
  // Before the id of an answer.
  [[nodiscard]] virtual std::string_view id_prefix() const = 0;
  [[nodiscard]] virtual std::unique_ptr<AnswerForm> answer(const protocol::ChatHead& head) = 0;
  // What records an answer that nobody may read, see AnswerForm::record(); null: nothing of it is
  // kept.
  [[nodiscard]] virtual std::unique_ptr<AnswerForm> keeper(const protocol::ChatHead& /*head*/) {
    return nullptr;
  }
  // The error with the names that fields have in this protocol.
  [[nodiscard]] virtual base::Error in_words(base::Error error) const { return error; }

  protocol::ChatRequest request;
};

// What of the request is the same in all protocols.
void fill_in(protocol::ChatRequest& request, TurnRequest& turn);

// By messages, what is not served here is the engine's to serve.
protocol::ChatReadOptions reading(const Model& model);

// POST /v1/chat/completions.
class ChatExchange final : public Exchange {
 public:
  explicit ChatExchange(const Model& model) : model_(model) {}
  base::Status read(const std::string& body) override;
  base::Status pin(const SessionOptions& options) override;
  void fill(TurnRequest& turn, bool reads_chat) override;
  [[nodiscard]] std::string_view id_prefix() const override { return "chatcmpl-"; }
  [[nodiscard]] std::unique_ptr<AnswerForm> answer(const protocol::ChatHead& head) override;

 private:
  const Model& model_;
  const std::string* body_ = nullptr;
  std::string patched_;  // with the session's values in it; empty: as it came
};

}  // namespace verbatim::gateway
