#include "sim/testing/scene.h"

#include "sim/testing/toy_tokenizer.h"

namespace verbatim::sim::testing {
namespace {

using base::Task;

Task<void> play(Scene& scene, const std::function<Task<void>(Scene&)>& body) {
  scene.client = std::make_unique<net::HttpClient>(scene.world.runtime);
  scene.engine = std::make_unique<SimEngine>(scene.world.runtime, scene.options);
  scene.port = *scene.engine->start("engine", 0);
  co_await body(scene);
  co_await scene.client->stop();
  co_await scene.engine->stop();
}

Task<void> read(net::ClientResponse& response, Answered& answered) {
  answered.status = response.status();
  answered.content_type = response.headers().find("content-type");
  for (;;) {
    auto bytes = co_await response.read();
    answered.cut = !bytes.ok();
    if (!bytes.ok() || bytes->empty()) co_return;
    answered.body += *bytes;
  }
}

}  // namespace

Scene::Scene() {
  options.tokenizer = toy_tokenizer();
}

bool Scene::run(const std::function<Task<void>(Scene&)>& body) {
  return world.run(play(*this, body));
}

Task<base::Result<net::ClientResponse>> Scene::send(std::string method, std::string path,
                                                    std::string body, base::MonoTime deadline) {
  net::ClientRequest request;
  request.endpoint = {"engine", port, false};
  request.method = method;
  request.target = path;
  request.body = {body};
  request.headers.add("Content-Type", "application/json");
  auto response = co_await client->request(request, deadline);
  co_return std::move(response);
}

Task<Answered> Scene::call(std::string method, std::string path, std::string body) {
  return call(std::move(method), std::move(path), std::move(body), {});
}

Task<Answered> Scene::call(std::string method, std::string path, std::string body,
                           std::vector<std::pair<std::string, std::string>> headers) {
  net::ClientRequest request;
  request.endpoint = {"engine", port, false};
  request.method = method;
  request.target = path;
  request.body = {body};
  bool typed = method != "POST";
  for (const auto& [name, value] : headers) {
    request.headers.add(name, value);
    typed = typed || net::equals_ignoring_case(name, "content-type");
  }
  if (!typed) request.headers.add("Content-Type", "application/json");
  auto response = co_await client->request(request, base::kNever);
  Answered answered{0, {}, {}, true};
  if (response.ok()) co_await read(*response, answered);
  co_return answered;
}

Task<void> Scene::leave(std::string path, std::string body, base::Duration time) {
  base::CancelSignal cancel;
  base::Timer timer;
  timer.arm(world.executor.timers(), world.executor.clock().now() + time,
            [&] { cancel.fire("enough"); });
  net::ClientRequest request;
  request.endpoint = {"engine", port, false};
  request.method = "POST";
  request.target = path;
  request.body = {body};
  request.headers.add("Content-Type", "application/json");
  request.cancel = &cancel;
  (void)co_await client->request(request, base::kNever);
  co_await base::sleep_for(world.executor, std::chrono::milliseconds(5));
}

Answered answer_to(const std::function<void(SimOptions&)>& set, const std::string& path,
                   const std::string& body) {
  Scene scene;
  set(scene.options);
  Answered answered;
  const bool ended =
      scene.run([&](Scene& s) -> Task<void> { answered = co_await s.call("POST", path, body); });
  return ended ? answered : Answered{};
}

Script script(std::string_view text) {
  return Script::parse(text).value();
}

}  // namespace verbatim::sim::testing
