#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/stream.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}

namespace verbatim::cli {

// Exit codes of the binary.
enum class Exit : int {
  kOk = 0,
  kFailed = 1,  // the work failed; stderr says why and what to do
  kUsage = 2,   // options that can't be
};

// Adds a subcommand to the program. What is returned runs it, once its options are read.
using Run = std::function<Exit()>;
using AddCommand = Run (*)(CLI::App& program);

// All that commands tell people goes through these: what comes from outside is printed with its
// control characters escaped (base::for_terminal). A line on stderr: "verbatim: <what>".
void say(std::string_view what);
// The same on stdout, at once: that a server listens, for whoever started it.
void announce(std::string_view what);
// A line on stdout as it is, without the name of the program.
void print_line(std::string_view line);

// A line of a log, whose letters are plain already, on stderr.
void print_log_line(std::string_view line);

// Bytes that were asked for, on stdout, as they are. False: they could not be written.
bool print_data(std::string_view bytes);

// Says an error.
Exit fail(const base::Error& error, Exit exit = Exit::kFailed);
Exit usage(const std::string& what);

// The error of a server that can't listen, with the options to change.
base::Error cannot_listen(base::Error error);
// Threads share the port among themselves, and the kernel would let another gateway of the same
// user join in and take half of the requests: only an exclusive listener sees that it is taken.
base::Status check_port(base::Network& network, const std::string& host, std::uint16_t port);

Run add_serve(CLI::App& program);
Run add_sim(CLI::App& program);
Run add_encode(CLI::App& program);
Run add_decode(CLI::App& program);
Run add_render(CLI::App& program);
Run add_parse(CLI::App& program);
Run add_export(CLI::App& program);
Run add_audit(CLI::App& program);
Run add_demo(CLI::App& program);
Run add_doctor(CLI::App& program);
Run add_store(CLI::App& program);
Run add_cassette(CLI::App& program);

}  // namespace verbatim::cli
