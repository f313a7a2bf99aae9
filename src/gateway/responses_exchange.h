#pragma once

#include <optional>
#include <string>

#include "base/random.h"
#include "gateway/exchange.h"
#include "protocol/responses_request.h"

namespace verbatim::gateway {

// POST /v1/responses: what was said before is looked up by previous_response_id, or in the
// conversation that it names.
class ResponsesExchange final : public Exchange {
 public:
  ResponsesExchange(const Model& model, base::Random& random) : model_(model), random_(random) {}

  base::Status read(const std::string& body) override;
  base::Status pin(const SessionOptions& options) override;
  [[nodiscard]] std::string_view conversation() const override { return asked_.conversation; }
  base::Task<base::Status> resolve(TurnRequest& turn, store::Store& store) override;
  base::Task<base::Status> resolve_repeat(TurnRequest& turn, store::Store& store,
                                          std::string id) override;
  void fill(TurnRequest& turn, bool reads_chat) override;
  [[nodiscard]] std::string_view id_prefix() const override { return "resp_"; }
  [[nodiscard]] std::unique_ptr<AnswerForm> answer(const protocol::ChatHead& head) override;
  [[nodiscard]] std::unique_ptr<AnswerForm> keeper(const protocol::ChatHead& head) override;
  [[nodiscard]] base::Error in_words(base::Error error) const override;

 private:
  base::Status read_chat(const std::string& chat);
  std::unique_ptr<AnswerForm> form(const protocol::ChatHead& head, bool stream);
  // `previous`: a JSON object with the members of a response that go on to hold.
  base::Status inherit(const std::string& previous);
  base::Status inherit_choice(const json::Value& choice);
  base::Task<base::Status> resolve_previous(const TurnRequest& turn, store::Store& store);
  base::Task<base::Status> resolve_conversation(store::Store& store);
  base::Status add_items(const std::vector<std::string>& before);
  void complete_input();
  [[nodiscard]] std::string carried() const;
  [[nodiscard]] std::string chat_body(const TurnRequest& turn) const;

  const Model& model_;
  base::Random& random_;
  protocol::ResponsesRequest asked_;
  trajectory::TurnPtr previous_;
  bool history_instructed_ = false;
  std::string chat_;  // as chat would ask, for engines that read it
  std::string owner_;
  std::string input_;                                  // what was added, an array
  std::shared_ptr<store::ConversationChange> change_;  // of the conversation; null: in none
};

}  // namespace verbatim::gateway
