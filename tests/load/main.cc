#include <cstdio>
#include <ctime>
#include <optional>

#include <CLI/CLI.hpp>

#include "json/writer.h"
#include "load/crowd.h"
#include "net/asio_loop.h"
#include "net/asio_network.h"

namespace verbatim::load {
namespace {

// CPU seconds of a process, all its threads.
double cpu_seconds(pid_t pid) {
  clockid_t clock{};
  timespec now{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &now) != 0) return 0;
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct Options {
  std::string url;
  pid_t watched = 0;
  Shape shape;
  Plan plan;
};

class Reporter {
 public:
  Reporter(const base::Clock& clock, pid_t watched) : clock_(clock), watched_(watched) {}

  void tell(const Progress& progress, bool done) const {
    json::Writer w;
    w.begin_object();
    if (progress.turn) w.field("turn", std::uint64_t{*progress.turn});
    w.field("answered", progress.answered).field("ended", progress.ended);
    w.field("seconds", static_cast<double>((clock_.now() - begun_).count()) * 1e-6);
    if (watched_ != 0) w.field("cpu", cpu_seconds(watched_) - cpu_);
    w.field("tokens", progress.tokens).field("text_bytes", progress.text_bytes);
    w.field("body_bytes", progress.body_bytes).field("done", done).end_object();
    std::puts(w.text().c_str());
    std::fflush(stdout);
  }

 private:
  const base::Clock& clock_;
  pid_t watched_;
  base::MonoTime begun_ = clock_.now();
  double cpu_ = watched_ == 0 ? 0 : cpu_seconds(watched_);
};

int run(const Options& options) {
  auto url = net::parse_url(options.url);
  if (!url) {
    std::fprintf(stderr, "load: --url: %s\n", url.error().message.c_str());
    return 2;
  }
  net::AsioLoop loop;
  const auto network = net::asio_network(loop);
  const auto random = base::system_random();
  const auto files = base::system_files();
  const auto worker = base::thread_worker("files");
  base::Runtime runtime{loop, *network, *random, *files, *worker};
  Gateway gateway(runtime, std::move(*url));
  const Reporter reporter(runtime.clock(), options.watched);
  Crowd crowd(gateway, options.shape, options.plan,
              [&](const Progress& progress) { reporter.tell(progress, false); });
  base::Status status;
  const auto all = [&]() -> base::Task<void> {
    status = co_await crowd.run();
    reporter.tell(crowd.progress(), status.ok());
    co_await gateway.stop();
    loop.stop();
  };
  loop.post([&] { base::spawn(all()); });
  loop.run();
  if (status.ok()) return 0;
  std::fprintf(stderr, "load: %s\n", status.error().message.c_str());
  return 1;
}

}  // namespace
}  // namespace verbatim::load

int main(int argc, char** argv) {
  using namespace verbatim::load;
  CLI::App program{
      "load: many agents at once on a gateway's sessions over HTTP, at little cost of their own. "
      "Prints lines of JSON: turns answered, seconds, CPU seconds of a process that is watched"};
  Options options;
  auto& plan = options.plan;
  auto& shape = options.shape;
  program.add_option("--url", options.url, "of the gateway")->required();
  program.add_option("--watch", options.watched, "id of the process whose CPU time is told");
  program.add_option("--sessions", plan.sessions, "in all")->capture_default_str();
  program.add_option("--turns", plan.turns, "of each session")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  program.add_flag("--uneven", plan.uneven, "from 1 to twice as many turns instead");
  program.add_option("--open", plan.open, "sessions under way at a time (default: all)");
  program.add_option("--connections", plan.connections, "requests at a time")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  program.add_option("--revisit", plan.revisit,
                     "behind each end, the session that ended so many before has one more turn");
  program.add_flag("--in-step", plan.in_step,
                   "a turn of all sessions, then the next; a line for each");
  program.add_option("--every", plan.every, "a line each so many turns");
  program.add_option("--model", shape.model, "that is asked for")->capture_default_str();
  program.add_option("--words", shape.words, "of each question")->capture_default_str();
  program.add_option("--max-tokens", shape.max_tokens, "that may be sampled in a turn")
      ->capture_default_str();
  program.add_flag("--check", shape.checked,
                   "each session is looked at in the end: all turns in one line");
  program.add_flag("--delete", shape.deleted, "each session is deleted in the end");
  program.footer("Example: load --url http://127.0.0.1:8080 --sessions 1000 --turns 10 --check");
  CLI11_PARSE(program, argc, argv);
  return run(options);
}
