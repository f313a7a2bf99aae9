#include "cli/cassette_servers.h"

#include <memory>
#include <utility>

#include "cassette/cassette_files.h"
#include "cassette/recording_proxy.h"
#include "cassette/replay_server.h"
#include "json/writer.h"
#include "net/asio_network.h"
#include "net/url.h"

namespace verbatim::cli {
namespace {

using base::Result;
using base::Task;

// The real seams on one loop.
struct Place {
  net::AsioLoop loop;
  std::unique_ptr<base::Network> network = net::asio_network(loop);
  std::unique_ptr<base::Random> random = base::system_random();
  std::unique_ptr<base::Files> files = base::system_files();
  std::unique_ptr<base::Worker> worker = base::thread_worker("files");
  base::Runtime runtime{loop, *network, *random, *files, *worker};
};

template <class Server>
Task<void> shut_down(Server& server, net::AsioLoop& loop) {
  co_await server.stop();
  loop.stop();
}

template <class Server>
void run_until_told(Server& server, net::AsioLoop& loop) {
  bool stopping = false;
  loop.on_terminate([&](int) {
    if (!std::exchange(stopping, true)) base::spawn(shut_down(server, loop));
  });
  loop.run();
}

std::string at(const std::string& host, std::uint16_t port) {
  return net::url_text({{host, port, false}, ""});
}

Result<std::string> provider_of(const std::vector<std::string>& pairs) {
  if (pairs.empty()) return std::string();
  json::Writer w;
  w.begin_object();
  for (const auto& pair : pairs) {
    const auto equals = pair.find('=');
    if (equals == std::string::npos || equals == 0)
      return base::invalid("--provider", "found \"" + pair + "\", expected NAME=VALUE");
    w.field(pair.substr(0, equals), pair.substr(equals + 1));
  }
  w.end_object();
  return w.take();
}

Result<std::vector<cassette::RecordedTurn>> turns_of(base::Files& files,
                                                     const std::vector<std::string>& paths) {
  std::vector<cassette::RecordedTurn> out;
  for (const auto& path : paths) {
    const auto found = cassette::find_cassettes(files, path);
    if (!found) return found.error();
    for (const auto& each : *found) {
      auto loaded = cassette::load_cassette(files, each);
      if (!loaded) return std::move(loaded).error();
      for (auto& turn : loaded->turns) out.push_back(std::move(turn));
    }
  }
  return out;
}

std::string log_line(const cassette::ReplayServer::Asked& asked) {
  json::Writer w;
  w.begin_object().field("method", asked.method).field("target", asked.target);
  w.field("body", asked.body).key("turn");
  asked.found.turn == nullptr ? w.null() : w.string(asked.found.turn->filename);
  w.field("standing", asked.found.standing).field("why", asked.found.why).end_object();
  return w.take() + "\n";
}

}  // namespace

Exit record_cassette(const RecordCassetteOptions& options) {
  Place place;
  auto engine = net::parse_url(options.engine);
  if (!engine) return usage("--engine: " + engine.error().message);
  auto provider = provider_of(options.provider);
  if (!provider) return fail(provider.error(), Exit::kUsage);
  if (place.files->exists(options.file)) {
    return usage(options.file +
                 " is there: recordings are never overwritten; name another file, or "
                 "move it away");
  }
  cassette::RecordingProxy::Options proxy;
  proxy.engine = std::move(*engine);
  proxy.recording.provider = std::move(*provider);
  proxy.recording.posts_only = !options.all_methods;
  proxy.recording.once = options.once;
  proxy.keep = [&](const std::string& text) { return place.files->replace(options.file, text); };
  std::size_t problems = 0;
  proxy.problem = [&problems](const std::string& what) {
    ++problems;
    say(what);
  };
  cassette::RecordingProxy server(place.runtime, std::move(proxy));
  const auto port = server.start(options.host, options.port);
  if (!port) return fail(cannot_listen(port.error()));
  announce("recording on " + at(options.host, *port) + ", in front of " + options.engine);
  run_until_told(server, place.loop);
  const auto turns = server.recording().size();
  say(options.file + ": " + std::to_string(turns) + " turns" +
      (turns == 0 ? "; nothing was recorded, so there is no file" : ""));
  return problems == 0 && turns != 0 ? Exit::kOk : Exit::kFailed;
}

Exit replay_cassettes(const ReplayCassetteOptions& options) {
  Place place;
  auto turns = turns_of(*place.files, options.cassettes);
  if (!turns) return fail(turns.error(), Exit::kUsage);
  auto standing = turns_of(*place.files, options.standing);
  if (!standing) return fail(standing.error(), Exit::kUsage);
  auto tape = cassette::Tape::make({std::move(*turns), std::move(*standing), options.ignored});
  if (!tape) return fail(tape.error(), Exit::kUsage);
  std::unique_ptr<base::AppendFile> log;
  if (!options.log.empty()) {
    auto opened = place.files->open_append(options.log);
    if (!opened) return fail(opened.error(), Exit::kUsage);
    log = std::move(*opened);
  }
  const auto seen = [&log](const cassette::ReplayServer::Asked& asked) {
    if (asked.found.turn == nullptr) say("unexpected: " + asked.found.why);
    if (log == nullptr) return;
    if (auto status = log->append(log_line(asked)); !status.ok())
      say("--log: " + status.error().message);
  };
  cassette::ReplayServer server(place.runtime, std::move(*tape), seen);
  const auto port = server.start(options.host, options.port);
  if (!port) return fail(cannot_listen(port.error()));
  announce("replaying " + std::to_string(server.tape().size()) + " turns on " +
           at(options.host, *port));
  run_until_told(server, place.loop);
  const auto report = server.tape().report();
  for (const auto& line : report) say(line);
  say(std::to_string(server.tape().taken()) + " of " + std::to_string(server.tape().size()) +
      " turns replayed");
  return report.empty() ? Exit::kOk : Exit::kFailed;
}

}  // namespace verbatim::cli
