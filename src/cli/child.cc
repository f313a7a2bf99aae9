#include "cli/child.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace verbatim::cli {

base::Result<ChildExit> run_self(const std::vector<std::string>& arguments) {
  std::string name = "verbatim";
  std::vector<std::string> copies = arguments;
  std::vector<char*> argv{name.data()};
  for (auto& argument : copies) argv.push_back(argument.data());
  argv.push_back(nullptr);
  // What is printed so far comes before what the child prints.
  std::fflush(stdout);
  ChildExit child;
  const int code =
      ::posix_spawn(&child.pid, "/proc/self/exe", nullptr, nullptr, argv.data(), environ);
  if (code != 0)
    return base::error(base::ErrorKind::kUnavailable,
                       std::string("can't start a second process: ") + std::strerror(code));
  int status = 0;
  while (::waitpid(child.pid, &status, 0) < 0) {
    if (errno != EINTR)
      return base::error(base::ErrorKind::kUnavailable,
                         std::string("can't wait for a process: ") + std::strerror(errno));
  }
  child.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return child;
}

}  // namespace verbatim::cli
