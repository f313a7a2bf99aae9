#include "sim/openai/face.h"

#include "json/writer.h"
#include "sim/openai/conversations.h"

namespace verbatim::sim::openai {
namespace {

using base::Task;

class OpenaiFace final : public Face {
 public:
  using Face::Face;

  Task<void> handle(const net::Request& request, net::Responder& answer,
                    base::CancelSignal& gone) override {
    const auto wire = wire_at(request.path, engine_.options);
    if (wire && request.method == "POST")
      return converse(engine_, *wire, dialect_, request, answer, gone);
    return other(request, answer);
  }

 private:
  Task<void> other(const net::Request& request, net::Responder& answer) {
    const bool lists = request.method == "GET" && request.path == "/v1/models";
    const std::string body =
        lists ? models() : error_body(protocol::Wire::kChat, 404, "Unknown request URL");
    (void)co_await answer.send(lists ? 200 : 404, "application/json", body);
  }

  [[nodiscard]] std::string models() const {
    json::Writer w;
    w.begin_object().field("object", "list").key("data").begin_array();
    if (engine_.options.healthy) {
      w.begin_object().field("id", engine_.options.model).field("object", "model");
      w.field("created", engine_.unix_time()).field("owned_by", "organization").end_object();
    }
    w.end_array().end_object();
    return w.take();
  }

  Dialect dialect_;
};

}  // namespace

std::unique_ptr<Face> make_face(SimEngine::Impl& engine) {
  return std::make_unique<OpenaiFace>(engine);
}

}  // namespace verbatim::sim::openai
