#include "gateway/testing/toy_model.h"

#include "chat/parsers/parser.h"

namespace verbatim::gateway::testing {

std::unique_ptr<Model> toy_model(std::string_view family, tokenizer::EncodingPolicy policy) {
  auto model = std::make_unique<Model>();
  model->name = "toy";
  model->checkpoint = "toys/chat";
  model->renderer = chat::testing::toy_renderer(family, policy);
  model->markers = std::make_shared<chat::parsers::TokenMarkers>(
      model->renderer->tokenizer(),
      *chat::parsers::grammar_named(model->renderer->family().grammar),
      model->renderer->stop_ids());
  model->vocab_size = model->renderer->tokenizer().vocab_size();
  return model;
}

}  // namespace verbatim::gateway::testing
